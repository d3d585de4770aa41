"""Python frameworks that use the OpenAI format: pydantic-ai, LangChain, LlamaIndex, LiteLLM and the Agents SDK, against `/v1` of a running
service: chat completions and responses."""

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
# The collection of everyone, which has the sample guide.
STORE = "vs_00000000000000000000000000000001"
SEARCH = {"type": "file_search", "vector_store_ids": [STORE]}
FOLLOW_UP = "How long does a refresh token last?"


class Sources(unittest.TestCase):
    def assert_cites_the_guide(self, annotations, text):
        [annotation, *_] = annotations
        cited = annotation["url_citation"]
        self.assertEqual((annotation["type"], cited["title"]), ("url_citation", GUIDE))
        self.assertRegex(cited["url"], rf"^{re.escape(SERVER)}/chat#document=[0-9a-f-]{{36}}&page=4$")
        self.assertEqual(text[cited["start_index"] : cited["end_index"]], f"{GUIDE}, page 4")

    def assert_cites_a_file(self, annotations, text):
        field = lambda name: annotations[0][name] if isinstance(annotations[0], dict) else getattr(annotations[0], name)
        self.assertEqual((field("type"), field("filename")), ("file_citation", GUIDE))
        self.assertTrue(text[field("index") :].startswith(f"{GUIDE}, page 4"))


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

    async def test_answer_with_functions_of_the_client(self):
        agent = self.agent()
        agent.tool_plain(lambda city: "Rain.", name="weather")
        self.assertIn("15 minutes", (await agent.run(QUESTION)).output)

    async def test_response(self):
        from pydantic_ai import Agent
        from pydantic_ai.models.openai import OpenAIResponsesModel
        from pydantic_ai.providers.openai import OpenAIProvider

        model = OpenAIResponsesModel("chat", provider=OpenAIProvider(base_url=BASE, api_key=KEY))
        self.assertIn("15 minutes", (await Agent(model).run(QUESTION)).output)


class AgentsSdk(Sources, unittest.IsolatedAsyncioTestCase):
    def agent(self):
        from agents import Agent, FileSearchTool, OpenAIResponsesModel, set_tracing_disabled
        from openai import AsyncOpenAI

        # Traces go to another service.
        set_tracing_disabled(True)
        model = OpenAIResponsesModel(model="chat", openai_client=AsyncOpenAI(base_url=BASE, api_key=KEY, max_retries=0))
        search = FileSearchTool(vector_store_ids=[STORE], max_num_results=3, include_search_results=True)
        return Agent(name="Guide", instructions="Be brief.", model=model, tools=[search])

    async def test_answer_has_a_search_and_sources(self):
        from agents import Runner

        answer = await Runner.run(self.agent(), QUESTION)
        self.assertIn("15 minutes", answer.final_output)
        [search, message] = [item.raw_item for item in answer.new_items]
        self.assertEqual(search.results[0].filename, GUIDE)
        self.assert_cites_a_file(message.content[0].annotations, answer.final_output)

    async def test_streamed_answer_continues(self):
        from agents import Runner

        first = Runner.run_streamed(self.agent(), QUESTION)
        deltas = [event async for event in first.stream_events() if event.type == "raw_response_event"]
        self.assertGreater(len(deltas), 2)
        self.assertIn("15 minutes", first.final_output)
        items = first.to_input_list() + [{"role": "user", "content": FOLLOW_UP}]
        self.assertIn("refresh token", (await Runner.run(self.agent(), items)).final_output)


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

    def test_answer_with_functions_of_the_client(self):
        def weather(city: str) -> str:
            """The weather of a city."""

        from langchain_core.messages import AIMessage, ToolMessage

        model = self.model().bind_tools([weather])
        self.assertIn("15 minutes", model.invoke(QUESTION).content)
        call = {"name": "weather", "args": {"city": "Rome"}, "id": "call-1"}
        turn = [("user", "Weather?"), AIMessage("", tool_calls=[call]), ToolMessage("Rain.", tool_call_id="call-1")]
        self.assertIn("15 minutes", model.invoke([*turn, AIMessage("It rains."), ("user", QUESTION)]).content)

    def test_response_has_sources_and_continues(self):
        model = self.model(use_responses_api=True).bind_tools([SEARCH])
        answer = model.invoke(QUESTION)
        [text] = [block for block in answer.content if block["type"] == "text"]
        self.assertIn("15 minutes", text["text"])
        # LangChain drops the position of a citation.
        self.assertEqual(text["annotations"][0]["filename"], GUIDE)
        self.assertIn("15 minutes", "".join(chunk.text for chunk in model.stream(QUESTION)))
        self.assertIn("refresh token", model.invoke([("user", QUESTION), answer, ("user", FOLLOW_UP)]).text)


class LlamaIndex(unittest.TestCase):
    def test_response_and_streamed_response(self):
        from llama_index.core.llms import ChatMessage
        from llama_index.llms.openai import OpenAIResponses

        settings = {"context_window": 16000, "built_in_tools": [SEARCH], "max_retries": 0}
        model = OpenAIResponses(model="chat", api_base=BASE, api_key=KEY, **settings)
        messages = [ChatMessage(role="user", content=QUESTION)]
        self.assertIn("15 minutes", model.chat(messages).message.content)
        self.assertIn("15 minutes", "".join(chunk.delta or "" for chunk in model.stream_chat(messages)))

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

    def test_response_has_sources(self):
        import litellm

        settings = {"model": "openai/chat", "api_base": BASE, "api_key": KEY, "input": QUESTION, "tools": [SEARCH]}
        text = litellm.responses(**settings).output[-1].content[0]
        self.assertIn("15 minutes", text.text)
        self.assert_cites_a_file(text.annotations, text.text)
        events = list(litellm.responses(**settings, stream=True))
        self.assertEqual(events[-1].type, "response.completed")
        self.assertIn("15 minutes", events[-1].response.output[-1].content[0].text)


if __name__ == "__main__":
    unittest.main()
