"""Clients for embeddings against `/v1` of a service whose vectors are those of multilingual-e5-small, behind a server of its own."""

import os
import unittest

SERVER = os.environ["DOCENT_TEST_SERVER"]
KEY = os.environ["DOCENT_TEST_API_KEY"]
MODEL = os.environ["DOCENT_EMBEDDING_MODEL"]
BASE = f"{SERVER}/v1"
TEXTS = ["hello world", "How long does an access token last?", "Wie lange gilt ein Zugangstoken?"]
DIMENSIONS = 384


def cosine(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


class Embeddings(unittest.TestCase):
    def assert_close(self, vectors, expected):
        self.assertEqual([len(vector) for vector in vectors], [DIMENSIONS] * len(expected))
        for vector, other in zip(vectors, expected, strict=True):
            self.assertGreater(cosine(vector, other), 0.9999)

    def openai(self, texts, **settings):
        from openai import OpenAI

        with OpenAI(base_url=BASE, api_key=KEY, max_retries=0) as client:
            return [item.embedding for item in client.embeddings.create(model=MODEL, input=texts, **settings).data]

    def test_openai(self):
        vectors = self.openai(TEXTS, dimensions=DIMENSIONS)
        self.assert_close(vectors, self.openai(TEXTS, encoding_format="float"))
        [_, english, german] = vectors
        self.assertGreater(cosine(english, german), cosine(english, vectors[0]))
        # "hello world" in the vocabulary `cl100k_base`.
        self.assert_close(self.openai([[15339, 1917]]), vectors[:1])

    def test_model_is_listed(self):
        from openai import OpenAI

        with OpenAI(base_url=BASE, api_key=KEY, max_retries=0) as client:
            self.assertIn(MODEL, [model.id for model in client.models.list()])

    def test_langchain(self):
        from langchain_openai import OpenAIEmbeddings

        # Otherwise it downloads the vocabulary of its tokens.
        settings = {"check_embedding_ctx_length": False, "max_retries": 0}
        model = OpenAIEmbeddings(model=MODEL, base_url=BASE, api_key=KEY, **settings)
        self.assert_close([*model.embed_documents(TEXTS[:2]), model.embed_query(TEXTS[2])], self.openai(TEXTS))

    def test_llama_index(self):
        from llama_index.embeddings.openai import OpenAIEmbedding

        model = OpenAIEmbedding(model_name=MODEL, api_base=BASE, api_key=KEY, max_retries=0)
        vectors = [*model.get_text_embedding_batch(TEXTS[:2]), model.get_query_embedding(TEXTS[2])]
        self.assert_close(vectors, self.openai(TEXTS))

    def test_litellm(self):
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        import litellm

        settings = {"model": f"openai/{MODEL}", "api_base": BASE, "api_key": KEY, "encoding_format": "float"}
        vectors = [item["embedding"] for item in litellm.embedding(input=TEXTS, **settings).data]
        self.assert_close(vectors, self.openai(TEXTS))

    def test_question_in_another_language_finds_its_page(self):
        from openai import OpenAI

        with OpenAI(base_url=BASE, api_key=KEY, max_retries=0) as client:
            [best, *_] = client.vector_stores.search("vs_00000000000000000000000000000001", query=TEXTS[2]).data
        self.assertIn("access token", best.content[0].text)


if __name__ == "__main__":
    unittest.main()
