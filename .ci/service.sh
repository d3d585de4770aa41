# shellcheck shell=bash
# A running `docent dev` for external test programs: `service_start PROGRAM [OPTIONS]` starts it on a free port with an account and a
# temporary data directory, and exports its settings, so that PROGRAM uses the same installation; `service_stop` stops it and removes
# the directory. `python_install` creates Python environments. Requires .ci/servers.sh.

service_email=user@example.org
service_password='a password for one run'

service_base=
service_folder=
service_pid=

service_start() {
    local program=$1 port log
    service_folder=$(mktemp -d) || return
    log="$service_folder/docent.log"
    port=$(free_port)
    service_base="http://127.0.0.1:$port"
    export DOCENT_BIND_ADDRESS="127.0.0.1:$port" DOCENT_DATA_DIR="$service_folder/data" DOCENT_AUTH_BACKENDS=jwt,api_key
    "$program" dev "${@:2}" >"$log" 2>&1 &
    service_pid=$!
    wait_for docent "$service_pid" "$log" "$program" healthcheck --dev || return
    "$program" users create --dev --password-stdin "$service_email" <<<"$service_password" >/dev/null
}

service_stop() {
    if [[ -n $service_pid ]]; then
        kill -TERM "$service_pid" 2>/dev/null || true
        wait "$service_pid" 2>/dev/null || true
    fi
    [[ -z $service_folder ]] || rm -rf "$service_folder"
    # shellcheck disable=SC2034 # Used by scripts that source this one.
    service_base=''
    service_pid='' service_folder=''
    unset DOCENT_BIND_ADDRESS DOCENT_DATA_DIR DOCENT_AUTH_BACKENDS
}

# Installs packages from PyPI into a Python environment, unless it exists already.
python_install() {
    local venv=$1
    [[ ! -e $venv/installed ]] || return 0
    python3 -c 'import ensurepip' 2>/dev/null || packages_install python3-venv || return
    rm -rf "$venv" && python3 -m venv "$venv" || return
    # pip uses the configured index.
    "$venv/bin/pip" install --quiet --disable-pip-version-check "${@:2}" || return
    touch "$venv/installed"
}
