#!/usr/bin/env python3
"""Goes through pages of the documentation as a reader would.

    .ci/docs.py PROGRAM PAGE…

Each page is one script of bash in a folder of its own: its blocks `sh` in their order, with `docent` as PROGRAM. What it runs on
comes from the environment. A comment before a block says what else is to be done with it:

    <!-- background: WORDS -->  runs beside those that follow; these wait until it has printed WORDS
    <!-- file: NAME -->         is written to the file NAME
    <!-- prints -->             is what the block before printed: each line in its place, `…` for anything
    <!-- reader: WHY -->        is for the reader alone

All other blocks are there to be looked at, but every `sh` is run.
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
# Seconds that a page may take.
LIMIT = 180

PRELUDE = r"""
set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
await() {
    for ((n = 0; n < 300; n++)); do
        ! grep -qiFs -- "$1" "$2" || return 0
        sleep 0.1
    done
    echo "It did not print: $1" >&2
    return 1
}
"""


class Model(http.server.BaseHTTPRequestHandler):
    """A server of a language model that searches once, and then says what it found."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer("application/json", json.dumps({"object": "list", "data": [{"id": "qwen3:8b", "object": "model"}]}))

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        messages = asked["messages"]
        if messages[-1]["role"] == "tool":
            deltas = [{"content": "By what I found: "}, {"content": messages[-1]["content"][:60]}]
        else:
            query = json.dumps({"query": messages[-1]["content"]})
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


def script_of(text, replaced):
    """The script of a page, and the number of the block that each expectation is about."""
    lines, expected = [PRELUDE], []
    last = None
    for number, block in enumerate(BLOCK.finditer(text)):
        what, content = block["what"], block["text"]
        if block.start("kind") and (indent := len(block[0].splitlines()[-1]) - 3):
            content = re.sub(f"^ {{{indent}}}", "", content, flags=re.M)
        for theirs, ours in replaced.items():
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
            # In braces, what it exports is there for the blocks that follow.
            lines.append(f"{{\n{content}}} > printed.{number} 2>&1")
            last = number
    return "\n".join(lines), expected


def differences(expected, folder):
    for number, content in expected:
        printed = (folder / f"printed.{number}").read_text().splitlines()
        place = 0
        for line in filter(str.strip, content.splitlines()):
            # `…` stands for anything; all else is what it is.
            pattern = re.compile(translate("*".join(re.sub(r"([*?[])", r"[\1]", part) for part in line.rstrip().split("…"))))
            found = next((n for n in range(place, len(printed)) if pattern.fullmatch(printed[n].rstrip())), None)
            if found is None:
                yield f"this was not printed:\n  {line}\nbut:\n  " + "\n  ".join(printed)
                break
            place = found + 1


def walk(program, page):
    """Gives what is not as the page says, and how many outputs it speaks of."""
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
        replaced = {"127.0.0.1:8000": address, "127.0.0.1:11434": f"127.0.0.1:{model.server_port}", "9000": str(free_port())}
        for theirs, variable in {
            "postgres://docent:PASSWORD@db.example.org/docent": "DOCENT_TEST_POSTGRES_URL",
            "redis://cache.example.org:6379/0": "DOCENT_TEST_REDIS_URL",
        }.items():
            if ours := os.environ.get(variable):
                replaced[theirs] = ours
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DOCENT_")}
        environment |= {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": name, "DOCENT_BIND_ADDRESS": address}
        environment["DOCENT_SERVER"] = f"http://{address}"
        text = page.read_text()
        script, expected = script_of(text, replaced)
        ran = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, timeout=LIMIT, stdin=subprocess.DEVNULL)
        problems = list(differences(expected, folder)) if ran.returncode == 0 else [f"a command ended with {ran.returncode}"]
        if ran.returncode:
            for kept in sorted(folder.glob("printed.*")):
                problems.append(f"{kept.name}:\n" + kept.read_text()[-2000:])
        model.shutdown()
        return problems, len(expected)


def main():
    program, *pages = sys.argv[1:]
    has_failed = False
    for page in map(Path, pages):
        problems, compared = walk(Path(program).resolve(), page)
        print(f"{page}: " + ("\n".join(problems) if problems else f"as it says; {compared} outputs compared"))
        has_failed |= bool(problems)
    sys.exit(has_failed)


main()
