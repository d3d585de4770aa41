# shellcheck shell=bash
# schemathesis against a running `docent dev`: `schemathesis_check PROGRAM` installs schemathesis from PyPI, starts the program, sends
# valid and invalid requests generated from its OpenAPI document, and fails on any response that the document does not describe and
# on every 5xx. Requires .ci/servers.sh.

# shellcheck source=service.sh
source "$(dirname "${BASH_SOURCE[0]}")/service.sh"

schemathesis_version=4.32.5
# Timeout in seconds; a run takes about 30.
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
    # Enables all documented routes, and lifts the rate limit.
    export DOCENT_METRICS_ENABLED=true DOCENT_RATE_LIMIT_REQUESTS=1000000
    export DOCENT_LIBRECHAT_JWT_SECRET='the secret of LibreChat for one run'
    service_start "$1" --no-sample || return
    token=$(schemathesis_token) || return
    export SCHEMATHESIS_HOOKS="$PWD/.ci/schemathesis_hooks.py"
    local command=("$venv/bin/schemathesis" --config-file "$config" run "$service_base/openapi.json")
    command+=(--no-color --checks all --seed 1 --header "Authorization: Bearer $token")
    # schemathesis writes files to the working directory.
    (cd "$service_folder" && timeout "$schemathesis_limit" "${command[@]}") || { tail -n 20 "$service_folder/docent.log" >&2 && return 1; }
    unset DOCENT_METRICS_ENABLED DOCENT_RATE_LIMIT_REQUESTS DOCENT_LIBRECHAT_JWT_SECRET SCHEMATHESIS_HOOKS
}
