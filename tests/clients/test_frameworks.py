"""Python frameworks that use the OpenAI format: pydantic-ai, LangChain, LlamaIndex and LiteLLM, against `/v1` of a running service."""

import os
import re
import unittest

# LiteLLM would download prices of models when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

SERVER = os.environ["DOCENT_TEST_SERVER"]
KEY = os.environ["DOCENT_TEST_API_KEY"]
GUIDE = "The Docent Guide.pdf"
QUESTION = "How long does an access token last?"
BASE = f"{SERVER}/v1"
MESSAGES = [{"role": "user", "content": QUESTION}]


class Sources(unittest.TestCase):
    def assert_cites_the_guide(self, annotations, text):
        [annotation, *_] = annotations
        cited = annotation["url_citation"]
        self.assertEqual((annotation["type"], cited["title"]), ("url_citation", GUIDE))
        self.assertRegex(cited["url"], rf"^{re.escape(SERVER)}/chat#document=[0-9a-f-]{{36}}&page=4$")
        self.assertEqual(text[cited["start_index"] : cited["end_index"]], f"{GUIDE}, page 4")


class PydanticAi(unittest.IsolatedAsyncioTestCase):
    def agent(self):
        from pydantic_ai import Agent
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return Agent(OpenAIChatModel("chat", provider=OpenAIProvider(base_url=BASE, api_key=KEY)))

    async def test_answer(self):
        self.assertIn("15 minutes", (await self.agent().run(QUESTION)).output)

    async def test_streamed_answer(self):
        async with self.agent().run_stream(QUESTION) as answer:
            words = [word async for word in answer.stream_text(delta=True)]
        self.assertIn("15 minutes", "".join(words))


class LangChain(unittest.TestCase):
    def model(self, **settings):
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(model="chat", base_url=BASE, api_key=KEY, max_retries=0, **settings)

    def test_answer(self):
        answer = self.model().invoke(QUESTION)
        self.assertIn("15 minutes", answer.content)
        self.assertEqual(answer.response_metadata["finish_reason"], "stop")

    def test_streamed_answer(self):
        self.assertIn("15 minutes", "".join(chunk.content for chunk in self.model().stream(QUESTION)))

    def test_limited_answer(self):
        answer = self.model(max_tokens=5).invoke(QUESTION)
        self.assertEqual(answer.response_metadata["finish_reason"], "length")
        self.assertNotIn("15 minutes", answer.content)


class LlamaIndex(unittest.TestCase):
    def test_answer_and_streamed_answer(self):
        from llama_index.core.llms import ChatMessage
        from llama_index.llms.openai_like import OpenAILike

        model = OpenAILike(model="chat", api_base=BASE, api_key=KEY, is_chat_model=True, max_retries=0)
        messages = [ChatMessage(role="user", content=QUESTION)]
        self.assertIn("15 minutes", model.chat(messages).message.content)
        self.assertIn("15 minutes", "".join(chunk.delta or "" for chunk in model.stream_chat(messages)))


class LiteLlm(Sources):
    def ask(self, **settings):
        import litellm

        return litellm.completion(model="openai/chat", api_base=BASE, api_key=KEY, messages=MESSAGES, **settings)

    def test_answer_has_sources(self):
        [choice] = self.ask().choices
        self.assertIn("15 minutes", choice.message.content)
        self.assert_cites_the_guide(choice.message.annotations, choice.message.content)

    def test_streamed_answer_has_sources(self):
        deltas = [choice.delta for chunk in self.ask(stream=True) for choice in chunk.choices]
        text = "".join(delta.content or "" for delta in deltas)
        self.assertIn("15 minutes", text)
        [cited] = [delta.annotations for delta in deltas if getattr(delta, "annotations", None)]
        self.assert_cites_the_guide(cited, text)

    def test_limited_answer(self):
        self.assertEqual(self.ask(max_tokens=5).choices[0].finish_reason, "length")


if __name__ == "__main__":
    unittest.main()
