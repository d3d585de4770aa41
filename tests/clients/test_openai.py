"""The official OpenAI client for Python against `/v1` of a running service."""

import os
import unittest

import openai

SERVER = os.environ["DOCENT_TEST_SERVER"]
KEY = os.environ["DOCENT_TEST_API_KEY"]
GUIDE = "The Docent Guide.pdf"
QUESTION = [{"role": "user", "content": "How long does an access token last?"}]


def client(**overrides):
    settings = {"base_url": f"{SERVER}/v1", "api_key": KEY, "max_retries": 0, **overrides}
    return openai.OpenAI(**settings)


class Chat(unittest.TestCase):
    def test_models_list_the_agents(self):
        with client() as service:
            self.assertEqual([model.id for model in service.models.list()], ["chat"])
            self.assertEqual(service.models.retrieve("chat").owned_by, "docent")

    def test_completion_has_sources(self):
        with client() as service:
            answer = service.chat.completions.create(model="chat", messages=QUESTION)
        [choice] = answer.choices
        self.assertEqual(choice.finish_reason, "stop")
        self.assertIn("15 minutes", choice.message.content)
        self.assert_cites_the_guide(choice.message.annotations, choice.message.content)
        self.assertGreater(answer.usage.completion_tokens, 0)

    def test_streamed_completion_has_sources_and_usage(self):
        options = {"include_usage": True}
        with client() as service:
            asked = service.chat.completions.create(model="chat", messages=QUESTION, stream=True, stream_options=options)
            chunks = list(asked)
        deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
        words = [delta.content for delta in deltas if delta.content]
        self.assertGreater(len(words), 1)
        self.assertIn("15 minutes", "".join(words))
        [cited] = [delta.annotations for delta in deltas if getattr(delta, "annotations", None)]
        self.assert_cites_the_guide(cited, "".join(words))
        self.assertEqual([chunk.usage is not None for chunk in chunks], [False] * (len(chunks) - 1) + [True])
        self.assertEqual(len({chunk.id for chunk in chunks}), 1)

    def test_stream_can_be_closed_early(self):
        with client() as service:
            with service.chat.completions.create(model="chat", messages=QUESTION, stream=True) as asked:
                self.assertEqual(next(iter(asked)).object, "chat.completion.chunk")

    def test_limits_end_the_text(self):
        with client() as service:
            ask = lambda **limits: service.chat.completions.create(model="chat", messages=QUESTION, **limits).choices[0]
            whole = ask().message.content
            cut = ask(max_completion_tokens=5)
            stopped = ask(stop=["15 minutes"])
        self.assertEqual((cut.finish_reason, whole.startswith(cut.message.content)), ("length", True))
        self.assertEqual((stopped.finish_reason, stopped.message.content), ("stop", whole[: whole.index("15 minutes")]))

    def assert_cites_the_guide(self, annotations, text):
        # In a stream the client has no type for them.
        [cited, *_] = [entry if isinstance(entry, dict) else entry.to_dict() for entry in annotations]
        self.assertEqual((cited["type"], cited["url_citation"]["title"]), ("url_citation", GUIDE))
        place = cited["url_citation"]
        self.assertEqual(text[place["start_index"] : place["end_index"]], f"{GUIDE}, page 4")
        document, page = cited["file_citation"]["file_id"], cited["file_citation"]["page"]
        self.assertEqual((page, place["url"]), (4, f"{SERVER}/chat#document={document}&page=4"))


class Errors(unittest.TestCase):
    def assert_refused(self, kind, code, **request):
        with client(api_key=request.pop("api_key", KEY)) as service, self.assertRaises(kind) as refused:
            service.chat.completions.create(**{"model": "chat", "messages": QUESTION, **request})
        self.assertEqual(refused.exception.code, code)
        return refused.exception

    def test_wrong_key_is_an_authentication_error(self):
        self.assert_refused(openai.AuthenticationError, "invalid_api_key", api_key="dk_wrong")

    def test_unknown_model_is_not_found(self):
        self.assert_refused(openai.NotFoundError, "model_not_found", model="gpt")

    def test_bad_request_names_its_parameter(self):
        self.assertEqual(self.assert_refused(openai.BadRequestError, None, n=2).param, "n")
        tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
        self.assertEqual(self.assert_refused(openai.BadRequestError, None, tools=tools).param, "tools")
        self.assert_refused(openai.BadRequestError, None, messages=[], stream=True)

    def test_builtin_model_has_no_embeddings(self):
        with client() as service, self.assertRaises(openai.BadRequestError) as refused:
            service.embeddings.create(model="builtin", input="warranty")
        self.assertIn(refused.exception.code, ("unsupported_model", "model_not_found"))


if __name__ == "__main__":
    unittest.main()
