# shellcheck shell=bash
# PostgreSQL and Redis for the live tests: `servers_start` installs them from Debian packages if they are missing, starts
# both on free ports with a temporary directory, and exports DOCENT_TEST_POSTGRES_URL and DOCENT_TEST_REDIS_URL;
# `servers_stop` stops them and removes the directory.

servers_folder=
postgres_pid=
redis_pid=

# Prefix for running PostgreSQL's programs, which refuse to run as root.
as_postgres=(env LC_ALL=C)
if ((EUID == 0)); then
    as_postgres=(setpriv --reuid=nobody --regid=nogroup --clear-groups env LC_ALL=C)
fi

# Prints the directory of the server's programs: on Debian it is not in PATH, and there is one per version.
postgres_programs() {
    local initdb
    if [[ -n ${DOCENT_TEST_POSTGRES_PROGRAMS:-} ]]; then
        echo "$DOCENT_TEST_POSTGRES_PROGRAMS"
        return
    fi
    initdb=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)
    [[ -x $initdb ]] || initdb=$(command -v initdb) || return 1
    dirname "$initdb"
}

# Installs the given Debian packages, if any.
packages_install() {
    (($#)) || return 0
    local root=()
    ((EUID == 0)) || root=(sudo)
    # Prevents the packages from starting servers on the default ports.
    local policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee "$policy" >/dev/null
        "${root[@]}" chmod 755 "$policy"
    else
        policy=
    fi
    local installed=0
    "${root[@]}" apt-get update -q &&
        "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends "$@" || installed=$?
    [[ -z $policy ]] || "${root[@]}" rm -f "$policy"
    return "$installed"
}

# Tesseract for the tests of text recognition, with English and the detection of turned pages.
tesseract_install() {
    local languages
    if ! languages=$(tesseract --list-langs 2>/dev/null) || ! grep -qx eng <<<"$languages" ||
        ! grep -qx osd <<<"$languages"; then
        packages_install tesseract-ocr tesseract-ocr-eng tesseract-ocr-osd
    fi
    tesseract --version | head -n 1
}

servers_install() {
    local missing=()
    postgres_programs >/dev/null || missing+=(postgresql)
    command -v redis-server >/dev/null || missing+=(redis-server)
    packages_install "${missing[@]}"
}

# Prints an unused port.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

# Waits up to 30 s until a command succeeds; fails early if the process has ended.
wait_for() {
    local name=$1 pid=$2 log=$3
    shift 3
    for ((n = 0; n < 10 * ${wait_seconds:-30}; n++)); do
        ! "$@" >/dev/null 2>&1 || return 0
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    echo "$name did not start:" >&2
    cat "$log" >&2
    return 1
}

postgres_start() {
    local programs ready port folder="$servers_folder/postgres" log="$servers_folder/postgres.log"
    programs=$(postgres_programs) || return
    ready="$programs/pg_isready"
    [[ -x $ready ]] || ready=pg_isready
    mkdir "$folder" || return
    ((EUID != 0)) || chown nobody:nogroup "$folder" || return
    # A Unicode locale, so that case-insensitive comparisons are tested.
    "${as_postgres[@]}" "$programs/initdb" --pgdata "$folder/data" --username docent --auth trust \
        --encoding UTF8 --locale C.UTF-8 --no-sync >"$log" 2>&1 || { cat "$log" >&2 && return 1; }
    port=$(free_port)
    (cd "$folder" && exec "${as_postgres[@]}" "$programs/postgres" -D data -h 127.0.0.1 -p "$port" \
        -c unix_socket_directories= -c max_connections=300 -c fsync=off) >"$log" 2>&1 &
    postgres_pid=$!
    wait_for PostgreSQL "$postgres_pid" "$log" "$ready" -q -h 127.0.0.1 -p "$port" || return
    export DOCENT_TEST_POSTGRES_URL="postgres://docent@127.0.0.1:$port/postgres"
}

redis_start() {
    local port log="$servers_folder/redis.log"
    port=$(free_port)
    redis-server --bind 127.0.0.1 --port "$port" --save '' --dir "$servers_folder" >"$log" 2>&1 &
    redis_pid=$!
    wait_for Redis "$redis_pid" "$log" redis-cli -p "$port" ping || return
    export DOCENT_TEST_REDIS_URL="redis://127.0.0.1:$port/0"
}

servers_start() {
    servers_install || { echo "PostgreSQL and Redis could not be installed" >&2 && return 1; }
    servers_folder=$(mktemp -d) || return
    chmod 755 "$servers_folder" || return
    postgres_start && redis_start
}

servers_stop() {
    local pid
    for pid in $postgres_pid $redis_pid; do
        kill -INT "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    postgres_pid='' redis_pid=''
    [[ -z $servers_folder ]] || rm -rf "$servers_folder"
    servers_folder=
}
