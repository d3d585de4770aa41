#!/usr/bin/env bash
# Checks the stream of `POST /agents/chat` at a running service with curl, line by line, and its metrics with promtool.
set -euo pipefail

question='{"messages": [{"role": "user", "content": "How long does an access token last?"}]}'
ask() {
    curl --silent --show-error --no-buffer --header 'Content-Type: application/json' --header "Authorization: Bearer $1" \
        --data "$question" "${@:2}" "$DOCENT_TEST_SERVER/agents/chat"
}
fail() {
    echo "curl: $1" >&2
    exit 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ask "$DOCENT_TEST_API_KEY" --fail --dump-header "$folder/head" >"$folder/stream"
grep -qi '^content-type: text/event-stream' "$folder/head" || fail "the stream has another type"
grep -qi '^x-stream-id:' "$folder/head" && fail "a stream without resumable has X-Stream-Id"
grep -qvE '^(data: ".*"|: ping|)$' "$folder/stream" && fail "a line is neither data, nor a ping, nor empty"
answer=$(sed -n 's/^data: "\(.*\)"$/\1/p' "$folder/stream" | tr -d '\n')
[[ $answer == *'15 minutes'* ]] || fail "the answer is: $answer"

status=$(ask dk_wrong --output "$folder/refused" --write-out '%{http_code}')
[[ $status == 401 ]] || fail "a wrong key returns $status"
grep -q '"detail"' "$folder/refused" || fail "the error has no detail"

metrics=$(curl --silent --show-error --fail "$DOCENT_TEST_SERVER/metrics")
found=$(promtool check metrics <<<"$metrics" 2>&1) || fail "promtool refuses the metrics: $found"
[[ -z $found ]] || fail "promtool finds faults of the metrics: $found"
echo 'curl: stream, error and metrics are as specified'
