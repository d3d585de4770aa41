#!/usr/bin/env python3
"""Runs the commands of documentation pages and checks their documented output.

    .ci/docs.py PROGRAM PAGE…

Each page becomes one bash script, run in a temporary directory: its `sh` blocks in order, with PROGRAM as `docent`. Servers
come from the environment. A comment before a block changes its treatment:

    <!-- background: WORDS -->  runs in the background; the following blocks wait until it has printed WORDS
    <!-- file: NAME -->         is written to the file NAME
    <!-- prints -->             is the expected output of the previous block, in order; `…` matches anything
    <!-- reader: WHY -->        is not run

Other blocks are ignored; every `sh` block is run.
"""

import http.server
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from fnmatch import translate
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?:<!-- (?P<what>\w+)(?:: (?P<with>.*?))? -->\n+)?^ *```(?P<kind>\w*)[^\n]*\n(?P<text>.*?)^ *```$", re.M | re.S)
# Timeout of a page in seconds.
LIMIT = 180

PRELUDE = r"""
set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
await() {
    for ((n = 0; n < 300; n++)); do
        ! grep -qiFs -- "$1" "$2" || return 0
        sleep 0.1
    done
    echo "Not printed: $1" >&2
    return 1
}
"""


class Model(http.server.BaseHTTPRequestHandler):
    """A fake language model that searches once and then quotes the result."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer("application/json", json.dumps({"object": "list", "data": [{"id": "qwen3:8b", "object": "model"}]}))

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        last = [message for message in request["messages"] if message["role"] != "system"][-1]
        if last["role"] == "tool":
            deltas = [{"content": "By what I found: "}, {"content": last["content"][:60]}]
        else:
            query = json.dumps({"query": last["content"]})
            deltas = [{"tool_calls": [{"index": 0, "id": "1", "type": "function", "function": {"name": "search_docs", "arguments": query}}]}]
        reason = "tool_calls" if "tool_calls" in deltas[0] else "stop"
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": reason})
        events = [json.dumps({"object": "chat.completion.chunk", "choices": [choice]}) for choice in choices]
        self.answer("text/event-stream", "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]))

    def answer(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def free_port():
    with http.server.HTTPServer(("127.0.0.1", 0), Model) as server:
        return server.server_port


def build_script(text, replacements):
    """Returns the script of a page, and the expected outputs with the numbers of their blocks."""
    lines, expected = [PRELUDE], []
    last = None
    for number, block in enumerate(BLOCK.finditer(text)):
        what, content = block["what"], block["text"]
        if block.start("kind") and (indent := len(block[0].splitlines()[-1]) - 3):
            content = re.sub(f"^ {{{indent}}}", "", content, flags=re.M)
        for theirs, ours in replacements.items():
            content = content.replace(theirs, ours)
        if what == "reader":
            continue
        if what == "prints":
            expected.append((last, content))
        elif what == "file":
            lines.append(f"cat > {shlex.quote(block['with'])} <<'END OF FILE'\n{content}END OF FILE")
        elif what == "background":
            lines.append(f"(\n{content}) > printed.{number} 2>&1 &\nawait {shlex.quote(block['with'])} printed.{number}")
            last = number
        elif block["kind"] == "sh":
            # Braces instead of a subshell, so that exported variables remain for the following blocks.
            lines.append(f"{{\n{content}}} > printed.{number} 2>&1")
            last = number
    return "\n".join(lines), expected


def find_differences(expected, folder):
    for number, content in expected:
        printed = (folder / f"printed.{number}").read_text().splitlines()
        position = 0
        for line in filter(str.strip, content.splitlines()):
            # `…` matches anything; all other characters match themselves.
            pattern = re.compile(translate("*".join(re.sub(r"([*?[])", r"[\1]", part) for part in line.rstrip().split("…"))))
            found = next((n for n in range(position, len(printed)) if pattern.fullmatch(printed[n].rstrip())), None)
            if found is None:
                yield f"expected output is missing:\n  {line}\nactual output:\n  " + "\n  ".join(printed)
                break
            position = found + 1


def check_page(program, page):
    """Runs a page; returns its problems and the number of compared outputs."""
    with tempfile.TemporaryDirectory() as name, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model) as model:
        folder = Path(name)
        threading.Thread(target=model.serve_forever, daemon=True).start()
        for shared in ("tests", "deploy"):
            (folder / shared).symlink_to(ROOT / shared)
        (folder / "bin").mkdir()
        (folder / "bin" / "docent").symlink_to(program)
        if modules := os.environ.get("DOCENT_TEST_MODULES"):
            (folder / "node_modules").symlink_to(modules)
        address = f"127.0.0.1:{free_port()}"
        replacements = {"127.0.0.1:8000": address, "127.0.0.1:11434": f"127.0.0.1:{model.server_port}", "9000": str(free_port())}
        for theirs, variable in {
            "postgres://docent:PASSWORD@db.example.org/docent": "DOCENT_TEST_POSTGRES_URL",
            "redis://cache.example.org:6379/0": "DOCENT_TEST_REDIS_URL",
        }.items():
            if ours := os.environ.get(variable):
                replacements[theirs] = ours
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DOCENT_")}
        environment |= {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": name, "DOCENT_BIND_ADDRESS": address}
        # Pages that need tesseract say so.
        environment["DOCENT_OCR"] = "off"
        environment["DOCENT_SERVER"] = f"http://{address}"
        text = page.read_text()
        script, expected = build_script(text, replacements)
        result = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, timeout=LIMIT, stdin=subprocess.DEVNULL)
        problems = list(find_differences(expected, folder)) if result.returncode == 0 else [f"a command failed with exit code {result.returncode}"]
        if result.returncode:
            for output in sorted(folder.glob("printed.*")):
                problems.append(f"{output.name}:\n" + output.read_text()[-2000:])
        model.shutdown()
        return problems, len(expected)


def main():
    program, *pages = sys.argv[1:]
    has_failed = False
    for page in map(Path, pages):
        problems, compared = check_page(Path(program).resolve(), page)
        print(f"{page}: " + ("\n".join(problems) if problems else f"passed, {compared} outputs compared"))
        has_failed |= bool(problems)
    sys.exit(has_failed)


main()
