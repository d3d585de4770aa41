"""The OpenAPI document describes streams of events as texts, which clients are generated from."""

import schemathesis


@schemathesis.deserializer("text/event-stream")
def read_stream(_context, response):
    return [response.text]
