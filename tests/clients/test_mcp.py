"""The official MCP client for Python, over HTTP and over standard input and output."""

import contextlib
import os
import unittest

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

SERVER = os.environ["DOCENT_TEST_SERVER"]
KEY = os.environ["DOCENT_TEST_API_KEY"]
PROGRAM = os.environ["DOCENT_TEST_PROGRAM"]
GUIDE = "The Docent Guide.pdf"


@contextlib.asynccontextmanager
async def http(key=KEY):
    authority = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=authority, timeout=30) as connection:
        async with streamable_http_client(f"{SERVER}/mcp", http_client=connection) as streams:
            yield streams


def stdio(key=KEY):
    environment = {"DOCENT_SERVER": SERVER, "DOCENT_API_KEY": key}
    return StdioServerParameters(command=PROGRAM, args=["mcp"], env=environment)


class Tools(unittest.IsolatedAsyncioTestCase):
    async def journey(self, **connection):
        async with Client(raise_exceptions=True, **connection) as client:
            self.assertEqual(client.server_info.name, "docent")
            self.assertIn("search_docs", client.instructions)
            tools = {tool.name for tool in (await client.list_tools()).tools}
            self.assertEqual(tools, {"search_docs", "list_documents", "get_document_page", "search", "fetch"})
            listed = (await client.call_tool("list_documents", {})).structured_content["documents"]
            [guide] = [document for document in listed if document["title"] == GUIDE]
            found = await client.call_tool("search_docs", {"query": "How long does an access token last?"})
            self.assertFalse(found.is_error)
            best = found.structured_content["results"][0]
            self.assertEqual((best["document_id"], best["title"]), (guide["id"], GUIDE))
            self.assertIn("15 minutes", found.content[0].text)
            page = await client.call_tool("get_document_page", {"document_id": guide["id"], "page": 4})
            self.assertIn("15 minutes", page.structured_content["text"])
            [result, *_] = (await client.call_tool("search", {"query": "How long does an access token last?"})).structured_content["results"]
            fetched = (await client.call_tool("fetch", {"id": result["id"]})).structured_content
            self.assertEqual((fetched["id"], fetched["title"], fetched["url"]), (result["id"], GUIDE, result["url"]))
            self.assertTrue(result["url"].startswith(f"{SERVER}/chat#document={guide['id']}"), result)
            self.assertIn("15 minutes", fetched["text"])
            wrong = await client.call_tool("get_document_page", {"document_id": guide["id"], "page": 99})
            self.assertTrue(wrong.is_error)
            self.assertIn("there is no page 99", wrong.content[0].text)
            with self.assertRaises(MCPError):
                await client.call_tool("delete_everything", {})

    async def test_over_http(self):
        await self.journey(server=http())

    async def test_over_http_with_a_handshake(self):
        await self.journey(server=http(), mode="legacy")

    async def test_over_standard_input_and_output(self):
        await self.journey(server=stdio())

    async def test_over_standard_input_and_output_with_a_handshake(self):
        await self.journey(server=stdio(), mode="legacy")

    async def test_wrong_key_is_refused(self):
        for server in (http("dk_wrong"), stdio("dk_wrong")):
            with self.assertRaises(Exception):
                async with Client(server=server) as client:
                    await client.list_tools()


if __name__ == "__main__":
    unittest.main()
