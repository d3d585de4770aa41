# shellcheck shell=bash
# schemathesis against a running `docent dev`: `schemathesis_check PROGRAM` installs it from PyPI into a folder of its own, starts the
# program, asks it all that its OpenAPI document allows and forbids, and fails on any answer that the document does not know, and on
# every 5xx. Needs .ci/servers.sh.

# shellcheck source=service.sh
source "$(dirname "${BASH_SOURCE[0]}")/service.sh"

schemathesis_version=4.32.5
# Seconds; a run takes some 30.
schemathesis_limit=300

schemathesis_token() {
    python3 - "$service_base" "$service_email" "$service_password" <<'PYTHON'
import json, sys, urllib.request

base, email, password = sys.argv[1:]
body = json.dumps({"email": email, "password": password}).encode()
with urllib.request.urlopen(f"{base}/auth/token", body) as reply:
    print(json.load(reply)["access_token"])
PYTHON
}

schemathesis_check() {
    local venv token config="$PWD/.ci/schemathesis.toml"
    venv=$(realpath -m "${CARGO_TARGET_DIR:-target}/schemathesis-$schemathesis_version") || return
    python_install "$venv" "schemathesis==$schemathesis_version" || { echo "schemathesis could not be installed" >&2 && return 1; }
    # All that the document tells of is there, and no limit ends the run.
    export DOCENT_METRICS_ENABLED=true DOCENT_RATE_LIMIT_REQUESTS=1000000
    service_start "$1" --no-sample || return
    token=$(schemathesis_token) || return
    local asking=("$venv/bin/schemathesis" --config-file "$config" run "$service_base/openapi.json")
    asking+=(--no-color --checks all --seed 1 --header "Authorization: Bearer $token")
    # It leaves notes where it is run.
    (cd "$service_folder" && timeout "$schemathesis_limit" "${asking[@]}") || { tail -n 20 "$service_folder/docent.log" >&2 && return 1; }
    unset DOCENT_METRICS_ENABLED DOCENT_RATE_LIMIT_REQUESTS
}
