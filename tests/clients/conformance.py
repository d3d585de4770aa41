"""Compares Docent's OpenAPI document with OpenAI's description of files, vector stores and responses.

    python conformance.py docs/reference/openapi.json [DESCRIPTION]

DESCRIPTION is OpenAI's published document as JSON. Without it, the types of the installed Python client are used, which are generated from
that document. For each area the script prints the share of routes, parameters and fields of responses that Docent has too. It fails if a
share is below 90 %, if a difference has no reason in `conformance.txt`, or if a reason there has no difference. Types of items and tools
that Docent does not offer are not followed.
"""

import importlib
import inspect
import json
import pathlib
import re
import sys
import types
import typing

AREAS = {
    "files": ("/files", {"openai.resources.files": ["Files"]}),
    "vector stores": (
        "/vector_stores",
        {
            "openai.resources.vector_stores.vector_stores": ["VectorStores"],
            "openai.resources.vector_stores.files": ["Files"],
            "openai.resources.vector_stores.file_batches": ["FileBatches"],
        },
    ),
    "responses": (
        "/responses",
        {
            "openai.resources.responses.responses": ["Responses"],
            "openai.resources.responses.input_items": ["InputItems"],
            "openai.resources.responses.input_tokens": ["InputTokens"],
        },
    ),
}
MINIMUM = 0.9
# Types that are followed: others are of items and tools that Docent does not offer.
KINDS = {"message", "output_text", "file_citation", "file_search_call", "function_call", "static", "text"}
# Fields whose own fields are compared.
FOLLOWED = {"annotations", "chunking_strategy", "content", "data", "error", "expires_after", "file_counts", "incomplete_details"}
FOLLOWED |= {"input_tokens_details", "last_error", "output", "output_tokens_details", "results", "static", "usage"}
# Parameters of the client, not of the service.
CLIENT = {"self", "extra_headers", "extra_query", "extra_body", "timeout", "betas"}
METHODS = ("get", "post", "delete")


def fields(schema, document, path="", seen=()):
    """The names of the fields of a schema, with dots between those of fields within fields."""
    if "$ref" in schema:
        if schema["$ref"] in seen:
            return set()
        seen = (*seen, schema["$ref"])
        target = document
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return fields(target, document, path, seen)
    found = set()
    for variant in schema.get("allOf", []) + schema.get("anyOf", []) + schema.get("oneOf", []):
        found |= fields(variant, document, path, seen)
    if "items" in schema:
        found |= fields(schema["items"], document, path, seen)
    properties = schema.get("properties", {})
    kind = properties.get("type", {})
    kinds = {kind["const"]} if "const" in kind else set(kind.get("enum", []))
    if kinds and not kinds & KINDS and path:
        return found
    for name, of in properties.items():
        found.add(path + name)
        if name in FOLLOWED:
            found |= fields(of, document, f"{path}{name}.", seen)
    return found


def same(path):
    """A path whose parameters have no names."""
    return re.sub(r"\{[^}]*\}", "{}", path)


def of_document(document, prefix, start):
    """Operations of an OpenAPI document below a path: their parameters and the fields of their responses."""
    operations = {}
    for path, item in document["paths"].items():
        path = path.removeprefix(prefix)
        if path != start and not path.startswith(start + "/"):
            continue
        for method in METHODS:
            if method not in item:
                continue
            operation = item[method]
            parameters = {of["name"].removesuffix("[]") for of in operation.get("parameters", []) if of.get("in") == "query"}
            for body in operation.get("requestBody", {}).get("content", {}).values():
                parameters |= {name for name in fields(body["schema"], document) if "." not in name}
            answers = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
            operations[method, same(path)] = (parameters, fields(answers.get("schema", {}), document))
    return operations


def of_client(modules):
    """Operations of the Python client."""
    from pydantic import TypeAdapter

    operations = {}
    for module, classes in modules.items():
        module = importlib.import_module(module)
        for name, method in inspect.getmembers(getattr(module, classes[0]), inspect.isfunction):
            source = inspect.getsource(method)
            call = re.search(r"self\._(get|post|delete|get_api_list)\(\s*(?:path_template\(\s*)?f?\"([^\"]+)\"", source)
            if name.startswith("_") or not call or name in ("parse", "stream", "connect"):
                continue
            verb = "get" if call[1] == "get_api_list" else call[1]
            if 'method="post"' in source:
                verb = "post"
            path = call[2] if call[2].startswith("/") else "/" + call[2]
            inside = set(re.findall(r"\{(\w+)", path))
            parameters = set(inspect.signature(method).parameters) - CLIENT - inside
            hints = typing.get_type_hints(inspect.unwrap(method), vars(module))
            found = set()
            returned = hints["return"]
            is_union = typing.get_origin(returned) in (typing.Union, types.UnionType)
            for variant in typing.get_args(returned) if is_union else [returned]:
                found |= of_type(variant, TypeAdapter)
            known = operations.setdefault((verb, same(path)), (set(), set()))
            known[0].update(parameters)
            known[1].update(found)
    return operations


def of_type(kind, adapter):
    """The fields of an answer. Pages have those of the wire."""
    origin = typing.get_origin(kind) or kind
    if not inspect.isclass(origin) or origin.__name__ in ("Stream", "NoneType", "HttpxBinaryResponseContent"):
        return set()
    schema = adapter(kind).json_schema(by_alias=True)
    # The client does not show all fields of a page.
    envelope = {"object", "has_more"} if "Page" in origin.__name__ else set()
    return fields(schema, schema) | envelope


def differences(theirs, ours):
    """All routes, parameters and fields of OpenAI, and those that Docent has not."""
    everything, missing, asked, has = [], [], set(), set()
    for (method, path), (parameters, answers) in sorted(theirs.items()):
        route = f"{method.upper()} {path}"
        known = ours.get((method, path))
        everything.append(f"route {route}")
        if known is None:
            missing.append(f"route {route}")
            continue
        everything += [f"parameter {route} {name}" for name in parameters]
        missing += [f"parameter {route} {name}" for name in sorted(parameters - known[0])]
        # Several routes answer with the same objects.
        asked |= answers
        has |= known[1]
    everything += [f"field {name}" for name in asked]
    missing += [f"field {name}" for name in sorted(asked - has)]
    return everything, missing


def main(document, description=None):
    ours = json.loads(pathlib.Path(document).read_text())
    reasons = {}
    for line in pathlib.Path(__file__).with_suffix(".txt").read_text().splitlines():
        if line and not line.startswith("#"):
            what, _, reason = line.partition(": ")
            reasons[what] = reason
    failures, used = [], set()
    for area, (start, modules) in AREAS.items():
        if description:
            theirs = of_document(json.loads(pathlib.Path(description).read_text()), "", start)
        else:
            theirs = of_client(modules)
        everything, missing = differences(theirs, of_document(ours, "/v1", start))
        share = 1 - len(missing) / len(everything)
        print(f"{area}: {share:.1%} of {len(everything)} routes, parameters and fields")
        for what in missing:
            used.add(what)
            print(f"  {what}: {reasons.get(what, '?')}")
        failures += [f"{what}: no reason in conformance.txt" for what in missing if not reasons.get(what)]
        if share < MINIMUM:
            failures.append(f"{area}: below {MINIMUM:.0%}")
    if not description:
        failures += [f"{what}: no longer a difference" for what in reasons.keys() - used]
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
