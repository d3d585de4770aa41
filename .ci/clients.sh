# shellcheck shell=bash
# What people plug in, against a running `docent dev`: `clients_check PROGRAM` installs the official clients of the OpenAI API, for Python
# and JavaScript, that of the Model Context Protocol, for Python, and an EventSource from their registries, and runs tests/clients with
# them and with curl; `documentation_check PROGRAM` goes through the documentation with them. Needs .ci/servers.sh.

# shellcheck source=service.sh
source "$(dirname "${BASH_SOURCE[0]}")/service.sh"

# Installs what tests/clients names into a folder that is called after it.
clients_install() {
    local folder=$1 missing=()
    command -v curl >/dev/null || missing+=(curl)
    command -v npm >/dev/null || missing+=(npm)
    packages_install "${missing[@]}" || return
    python_install "$folder/python" --requirement tests/clients/requirements.txt || return
    [[ ! -e $folder/installed ]] || return 0
    cp tests/clients/package.json tests/clients/package-lock.json "$folder" || return
    # npm knows which registry to ask. The runtime comes with it: Debian's is older than what the clients ask for.
    npm ci --silent --prefix "$folder" --cache "$folder/npm" || return
    rm -rf "$folder/npm" && touch "$folder/installed"
}

# Where they are installed, which it says, and installs them there.
clients_folder() {
    local folder
    folder=$(cat tests/clients/{requirements.txt,package-lock.json} | sha256sum | cut -c1-16)
    folder=$(realpath -m "${CARGO_TARGET_DIR:-target}/clients-$folder") || return
    mkdir -p "$folder" || return
    clients_install "$folder" >&2 || { echo "the clients could not be installed" >&2 && return 1; }
    echo "$folder"
}

clients_check() {
    local program=$1 folder key
    folder=$(clients_folder) || return
    service_start "$program" || return
    # The clients ask about the guide that a first start ingests before it says where the panel is.
    local log="$service_folder/docent.log"
    wait_for 'The sample guide' "$service_pid" "$log" grep -q 'admin panel' "$log" || return
    key=$("$program" apikeys create --dev --name clients --scopes read,chat --json "$service_email" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])') || return
    clients_weigh
    # Modules are looked for beside the tests.
    cp tests/clients/*.{py,mjs,sh} "$folder" || return
    (
        cd "$folder" || exit
        export DOCENT_TEST_SERVER=$service_base DOCENT_TEST_API_KEY=$key DOCENT_TEST_PROGRAM=$program
        bash curl.sh && node_modules/.bin/node --test && python/bin/python -m unittest
    ) || { tail -n 20 "$log" >&2 && return 1; }
}

# Prints what a browser loads for each page, in bytes.
clients_weigh() {
    local page asset
    for page in /chat /docs /admin/login; do
        echo "$page: $(curl -sf "$service_base$page" | wc -c)"
        curl -sf "$service_base$page" | grep -oE '(href|src)="[^"#]+"' | cut -d '"' -f 2 | while read -r asset; do
            [[ $asset != /* ]] || echo "  $asset: $(curl -sf "$service_base$asset" | wc -c)"
        done
    done
}

# Goes through the tutorial and the how-tos as a reader would. Needs the servers of .ci/servers.sh.
documentation_check() {
    local folder
    command -v jq >/dev/null || packages_install jq || return
    folder=$(clients_folder) || return
    PATH="$folder/python/bin:$folder/node_modules/.bin:$PATH" DOCENT_TEST_MODULES="$folder/node_modules" \
        python3 .ci/docs.py "$1" docs/tutorial.md docs/how-to/*.md
}
