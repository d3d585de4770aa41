"""The OAuth client of the official Python library connects to `/mcp` by a link, with the consent given in Chromium."""

import asyncio
import concurrent.futures
import contextlib
import http.server
import json
import os
import threading
import time
import unittest
import urllib.parse
import urllib.request

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

SERVER = os.environ["DOCENT_TEST_SERVER"]
DRIVER = os.environ["DOCENT_TEST_CHROMEDRIVER_URL"]
EMAIL, PASSWORD = os.environ["DOCENT_TEST_EMAIL"], os.environ["DOCENT_TEST_PASSWORD"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
NAME = "Python client"


class Browser:
    """A window of Chromium."""

    def __init__(self):
        arguments = ["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"]
        capabilities = {"goog:chromeOptions": {"args": arguments}, "timeouts": {"implicit": 10_000}}
        self.session = ""
        self.session = "/session/" + self.send("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(DRIVER + self.session + path, data=data, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["value"]

    def close(self):
        self.send("DELETE", "")

    def goto(self, url):
        self.send("POST", "/url", {"url": url})

    def find(self, css):
        return self.send("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        self.send("POST", f"/element/{self.find(css)}/click", {})

    def fill(self, css, text):
        self.send("POST", f"/element/{self.find(css)}/value", {"text": text})

    def allow(self, url):
        """Opens the page that asks for access, after signing in, and allows it."""
        self.goto(url)
        self.fill("#email", EMAIL)
        self.fill("#password", PASSWORD)
        self.click("button[type=submit]")
        self.click("button[value=allow]")

    def disconnect(self, name):
        """Disconnects the application of this name that was connected last."""
        self.goto(f"{SERVER}/account/applications")
        self.click(f'a[aria-label="Disconnect {name}"]')
        self.click("button.danger")
        self.find(".flash")


class Storage:
    """Keeps what the library asks a program to keep."""

    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


class Callback(http.server.BaseHTTPRequestHandler):
    """Receives the browser that returns to the application."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        path, _, query = self.path.partition("?")
        if path == "/callback":
            self.server.answer.set_result(dict(urllib.parse.parse_qsl(query)))

    def log_message(self, *_):
        pass


class AskedAgain(Exception):
    """The application asks for access again."""


class Connection(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.callback = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Callback)
        self.callback.answer = concurrent.futures.Future()
        threading.Thread(target=self.callback.serve_forever, daemon=True).start()
        self.browser = Browser()

    def tearDown(self):
        self.browser.close()
        self.callback.shutdown()
        self.callback.server_close()

    def provider(self, storage, redirect):
        async def returned():
            answer = await asyncio.wrap_future(self.callback.answer)
            return AuthorizationCodeResult(code=answer["code"], state=answer["state"], iss=answer["iss"])

        metadata = OAuthClientMetadata(
            client_name=NAME,
            redirect_uris=[f"http://127.0.0.1:{self.callback.server_port}/callback"],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        )
        return OAuthClientProvider(f"{SERVER}/mcp", metadata, storage, redirect, returned)

    @contextlib.asynccontextmanager
    async def client(self, provider):
        async with httpx2.AsyncClient(auth=provider, timeout=30) as connection:
            async with Client(server=streamable_http_client(f"{SERVER}/mcp", http_client=connection)) as client:
                yield client

    async def test_application_is_connected_refreshes_its_tokens_and_is_disconnected(self):
        async def allow(url):
            await asyncio.to_thread(self.browser.allow, url)

        async def ask_again(_):
            raise AskedAgain

        storage = Storage()
        provider = self.provider(storage, allow)
        async with self.client(provider) as client:
            found = await client.call_tool("search_docs", {"query": "How long does an access token last?"})
            self.assertIn("15 minutes", found.content[0].text)
            before = storage.tokens
            provider.context.token_expiry_time = time.time() - 1
            self.assertEqual(len((await client.list_tools()).tools), 5)
            self.assertNotEqual(storage.tokens.access_token, before.access_token)
            self.assertNotEqual(storage.tokens.refresh_token, before.refresh_token)
        await asyncio.to_thread(self.browser.disconnect, NAME)
        with self.assertRaises(BaseException) as refused:
            async with self.client(self.provider(storage, ask_again)) as client:
                await client.list_tools()
        error = refused.exception
        while isinstance(error, BaseExceptionGroup):
            [error] = error.exceptions
        self.assertIsInstance(error, AskedAgain)


if __name__ == "__main__":
    unittest.main()
