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


class VectorStores(unittest.TestCase):
    def setUp(self):
        self.service = self.enterContext(client())
        self.store = self.service.vector_stores.create(name="Handbooks", metadata={"team": "service"})
        self.files = []

    def tearDown(self):
        self.service.vector_stores.delete(self.store.id)
        for file in self.files:
            self.assertTrue(self.service.files.delete(file).deleted)

    def handbook(self):
        return open("handbook.pdf", "rb")

    def test_file_is_uploaded_read_and_listed(self):
        with self.handbook() as file:
            created = self.service.files.create(file=file, purpose="user_data")
        self.files.append(created.id)
        self.assertEqual((created.object, created.filename, created.purpose), ("file", "handbook.pdf", "user_data"))
        done = self.service.files.wait_for_processing(created.id, poll_interval=0.2)
        self.assertEqual((done.status, done.purpose), ("processed", "user_data"))
        listed = [file.id for file in self.service.files.list(purpose="user_data", limit=1)]
        self.assertIn(created.id, listed)
        with self.handbook() as file:
            self.assertEqual(self.service.files.content(created.id).read(), file.read())

    def test_stream_without_a_name_is_found_by_its_content(self):
        with self.handbook() as file:
            created = self.service.files.create(file=file.read(), purpose="assistants")
        self.files.append(created.id)
        self.assertEqual(self.service.files.wait_for_processing(created.id, poll_interval=0.2).status, "processed")

    def test_attached_file_is_searched(self):
        with self.handbook() as file:
            attached = self.service.vector_stores.files.upload_and_poll(
                vector_store_id=self.store.id, file=file, attributes={"year": 2025}
            )
        self.files.append(attached.id)
        self.assertEqual((attached.status, attached.last_error, attached.attributes), ("completed", None, {"year": 2025}))
        query = "How long is the return period for pumps?"
        only = {"type": "gte", "key": "year", "value": 2025}
        page = self.service.vector_stores.search(self.store.id, query=query, filters=only, max_num_results=3)
        best = page.data[0]
        self.assertEqual((best.file_id, best.filename, best.attributes["year"]), (attached.id, "handbook.pdf", 2025))
        self.assertTrue(0 < best.score <= 1 and best.content[0].text)
        self.assertIn(f"&page={best.attributes['page']:.0f}", best.attributes["link"])
        none = {"type": "eq", "key": "year", "value": 1999}
        self.assertEqual(self.service.vector_stores.search(self.store.id, query=[query], filters=none).data, [])
        store = self.service.vector_stores.retrieve(self.store.id)
        self.assertEqual((store.status, store.file_counts.completed, store.metadata), ("completed", 1, {"team": "service"}))
        [text, *_] = self.service.vector_stores.files.content(attached.id, vector_store_id=self.store.id)
        self.assertTrue(text.text)
        changed = self.service.vector_stores.files.update(
            attached.id, vector_store_id=self.store.id, attributes={"year": 2026}
        )
        self.assertEqual(changed.attributes, {"year": 2026})
        self.service.vector_stores.files.delete(attached.id, vector_store_id=self.store.id)
        self.assertEqual(list(self.service.vector_stores.files.list(self.store.id)), [])
        self.assertEqual(self.service.files.retrieve(attached.id).status, "processed")

    def test_batch_of_files_is_uploaded(self):
        with self.handbook() as file:
            handbook = file.read()
        pair = [("first.pdf", handbook), ("second.pdf", handbook)]
        batch = self.service.vector_stores.file_batches.upload_and_poll(self.store.id, files=pair)
        self.assertEqual((batch.status, batch.file_counts.completed, batch.file_counts.total), ("completed", 2, 2))
        listed = self.service.vector_stores.file_batches.list_files(batch.id, vector_store_id=self.store.id, limit=1)
        files = list(listed)
        self.files.extend(file.id for file in files)
        self.assertEqual(sorted(file.status for file in files), ["completed", "completed"])

    def test_stores_are_changed_and_listed(self):
        after = {"anchor": "last_active_at", "days": 7}
        changed = self.service.vector_stores.update(self.store.id, name="Manuals", expires_after=after)
        self.assertEqual((changed.name, changed.expires_after.days), ("Manuals", 7))
        self.assertIn(self.store.id, [store.id for store in self.service.vector_stores.list(limit=1)])

    def test_wrong_requests_have_the_client_s_errors(self):
        with self.assertRaises(openai.NotFoundError):
            self.service.vector_stores.retrieve("vs_missing")
        with self.assertRaises(openai.BadRequestError) as refused:
            self.service.files.create(file=("a.pdf", b"%PDF-1.4"), purpose="batch")
        self.assertEqual(refused.exception.param, "purpose")


class Responses(unittest.TestCase):
    # The collection of everyone, which has the sample guide.
    TOOLS = [{"type": "file_search", "vector_store_ids": ["vs_00000000000000000000000000000001"]}]

    def setUp(self):
        self.service = client()
        self.addCleanup(self.service.close)

    def ask(self, **settings):
        return {"model": "chat", "input": QUESTION, "tools": self.TOOLS, **settings}

    def assert_answers(self, response):
        self.assertEqual((response.status, response.output[0].type), ("completed", "file_search_call"))
        [text] = response.output[-1].content
        self.assertIn("15 minutes", text.text)
        citation = text.annotations[0]
        self.assertEqual((citation.type, citation.filename, citation.page), ("file_citation", GUIDE, 4))
        self.assertTrue(text.text[citation.index :].startswith(f"{GUIDE}, page 4"))
        document = f"{citation.file_id[5:13]}-{citation.file_id[13:17]}"
        self.assertTrue(citation.link.startswith(f"{SERVER}/chat#document={document}"))

    def test_response_has_results_and_citations_and_is_stored(self):
        include = ["file_search_call.results"]
        response = self.service.responses.create(**self.ask(include=include, metadata={"team": "service"}))
        self.assert_answers(response)
        [best, *_] = response.output[0].results
        self.assertEqual(best.filename, GUIDE)
        self.assertTrue(best.attributes["link"].endswith(f"&page={best.attributes['page']:.0f}"))
        self.assertEqual(self.service.responses.retrieve(response.id, include=include), response)
        self.assertIsNone(self.service.responses.retrieve(response.id).output[0].results)
        [item] = self.service.responses.input_items.list(response.id)
        self.assertEqual((item.role, item.content[0].text), ("user", QUESTION[0]["content"]))
        follow_up = "How long does a refresh token last?"
        again = self.service.responses.create(**self.ask(input=follow_up, previous_response_id=response.id))
        self.assertEqual((again.previous_response_id, "refresh token" in again.output_text), (response.id, True))
        with self.assertRaises(openai.BadRequestError):
            self.service.responses.cancel(response.id)
        self.service.responses.delete(response.id)
        with self.assertRaises(openai.NotFoundError):
            self.service.responses.retrieve(response.id)

    def test_stream_is_assembled_by_the_client(self):
        with self.service.responses.stream(**self.ask(store=False)) as stream:
            events = list(stream)
            self.assert_answers(stream.get_final_response())
        self.assertEqual([event.sequence_number for event in events], list(range(len(events))))
        self.assertEqual((events[0].type, events[-1].type), ("response.created", "response.completed"))

    def test_wrong_requests_name_the_parameter(self):
        for wrong, param in [({"background": True}, "background"), ({"reasoning": {"effort": "low"}}, "reasoning")]:
            with self.assertRaises(openai.BadRequestError) as refused:
                self.service.responses.create(**self.ask(**wrong))
            self.assertEqual(refused.exception.param, param)


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
        tools = [{"type": "function", "function": {"name": "search_docs", "parameters": {"type": "object"}}}]
        self.assertEqual(self.assert_refused(openai.BadRequestError, None, tools=tools).param, "tools")
        self.assert_refused(openai.BadRequestError, None, messages=[], stream=True)

    def test_builtin_model_has_no_embeddings(self):
        with client() as service, self.assertRaises(openai.BadRequestError) as refused:
            service.embeddings.create(model="builtin", input="warranty")
        self.assertIn(refused.exception.code, ("unsupported_model", "model_not_found"))


if __name__ == "__main__":
    unittest.main()
