# shellcheck shell=bash
# schemathesis against a running `docent dev`: `schemathesis_check PROGRAM` installs it from PyPI into a folder of its own,
# starts the program with an account, asks it all that its OpenAPI document allows and forbids, and fails on any answer
# that the document does not know, and on every 5xx; `schemathesis_stop` ends the program and removes what it wrote.
# Needs .ci/servers.sh.

schemathesis_version=4.32.5
# Seconds; a run takes some 30.
schemathesis_limit=300
schemathesis_email=schemathesis@example.org
schemathesis_password='a password for one run'

schemathesis_folder=
schemathesis_pid=

schemathesis_install() {
    local venv=$1
    [[ ! -x $venv/bin/schemathesis ]] || return 0
    python3 -c 'import ensurepip' 2>/dev/null || packages_install python3-venv || return
    rm -rf "$venv" && python3 -m venv "$venv" || return
    # pip knows which index to ask.
    "$venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$schemathesis_version"
}

# Starts the program on a free port, with an account. Its settings are exported.
schemathesis_serve() {
    local program=$1 port log="$schemathesis_folder/docent.log"
    port=$(free_port)
    export DOCENT_BIND_ADDRESS="127.0.0.1:$port" DOCENT_DATA_DIR="$schemathesis_folder/data"
    # All that the document tells of is there, and no limit ends the run.
    export DOCENT_AUTH_BACKENDS=jwt,api_key DOCENT_METRICS_ENABLED=true DOCENT_RATE_LIMIT_REQUESTS=1000000
    "$program" dev --no-sample >"$log" 2>&1 &
    schemathesis_pid=$!
    wait_for docent "$schemathesis_pid" "$log" "$program" healthcheck --dev || return
    "$program" users create --dev --password-stdin "$schemathesis_email" <<<"$schemathesis_password" >/dev/null
}

schemathesis_token() {
    python3 - "$1" "$schemathesis_email" "$schemathesis_password" <<'PYTHON'
import json, sys, urllib.request

base, email, password = sys.argv[1:]
body = json.dumps({"email": email, "password": password}).encode()
with urllib.request.urlopen(f"{base}/auth/token", body) as reply:
    print(json.load(reply)["access_token"])
PYTHON
}

schemathesis_check() {
    local venv base token config="$PWD/.ci/schemathesis.toml"
    venv=$(realpath -m "${CARGO_TARGET_DIR:-target}/schemathesis-$schemathesis_version") || return
    schemathesis_install "$venv" || { echo "schemathesis could not be installed" >&2 && return 1; }
    schemathesis_folder=$(mktemp -d) || return
    schemathesis_serve "$1" || return
    base="http://$DOCENT_BIND_ADDRESS"
    token=$(schemathesis_token "$base") || return
    local asking=("$venv/bin/schemathesis" --config-file "$config" run "$base/openapi.json")
    asking+=(--no-color --checks all --seed 1 --header "Authorization: Bearer $token")
    # It leaves notes where it is run.
    (cd "$schemathesis_folder" && timeout "$schemathesis_limit" "${asking[@]}") || { tail -n 20 "$schemathesis_folder/docent.log" >&2 && return 1; }
}

schemathesis_stop() {
    if [[ -n $schemathesis_pid ]]; then
        kill -TERM "$schemathesis_pid" 2>/dev/null || true
        wait "$schemathesis_pid" 2>/dev/null || true
    fi
    schemathesis_pid=
    [[ -z $schemathesis_folder ]] || rm -rf "$schemathesis_folder"
    schemathesis_folder=
    unset DOCENT_BIND_ADDRESS DOCENT_DATA_DIR DOCENT_AUTH_BACKENDS DOCENT_METRICS_ENABLED DOCENT_RATE_LIMIT_REQUESTS
}
