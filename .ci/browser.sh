# shellcheck shell=bash
# Chromium and reverse proxies for the browser tests: `browser_start` installs Chromium, ChromeDriver, nginx and Caddy from Debian packages
# if they are missing, downloads axe-core, starts ChromeDriver on a free port, and exports DOCENT_TEST_CHROMEDRIVER_URL and
# DOCENT_TEST_AXE; `browser_stop` stops ChromeDriver and removes its files. Requires .ci/servers.sh.

axe_version=4.14.1
axe_sha512=1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5

browser_folder=
chromedriver_pid=

browser_install() {
    local missing=()
    command -v chromium >/dev/null && command -v chromedriver >/dev/null ||
        missing+=(chromium chromium-driver fonts-liberation)
    # npm uses the configured registry.
    [[ -f $1 ]] || command -v npm >/dev/null || missing+=(npm)
    # The tests start the proxies themselves.
    PATH="$PATH:/usr/sbin" command -v nginx >/dev/null || missing+=(nginx openssl)
    command -v caddy >/dev/null || missing+=(caddy)
    packages_install "${missing[@]}"
}

is_axe() {
    [[ -f $1 ]] && sha512sum --check --status <<<"$axe_sha512  $1"
}

# Downloads the axe-core archive once and verifies its checksum.
axe_fetch() {
    local archive=$1
    if ! is_axe "$archive"; then
        mkdir -p "$(dirname "$archive")" || return
        (cd "$browser_folder" && npm pack --silent --cache "$browser_folder/npm" "axe-core@$axe_version" >/dev/null) || return
        mv "$browser_folder/axe-core-$axe_version.tgz" "$archive" || return
        is_axe "$archive" || { echo "axe-core $axe_version has an unexpected checksum" >&2 && return 1; }
    fi
    tar -xzf "$archive" -C "$browser_folder" package/axe.min.js || return
    export DOCENT_TEST_AXE="$browser_folder/package/axe.min.js"
}

chromedriver_start() {
    local port log="$browser_folder/chromedriver.log"
    port=$(free_port)
    # Profiles and sockets of the browsers are stored in the directory too.
    TMPDIR="$browser_folder/tmp" HOME="$browser_folder/home" chromedriver --port="$port" >"$log" 2>&1 &
    chromedriver_pid=$!
    wait_for ChromeDriver "$chromedriver_pid" "$log" is_listening "$port" || return
    export DOCENT_TEST_CHROMEDRIVER_URL="http://127.0.0.1:$port"
}

# Whether a process listens on a port of this machine.
is_listening() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1")
}

browser_start() {
    local archive="${CARGO_TARGET_DIR:-target}/axe-core-$axe_version.tgz"
    browser_install "$archive" || { echo "Chromium and the proxies could not be installed" >&2 && return 1; }
    browser_folder=$(mktemp -d) || return
    mkdir "$browser_folder/tmp" "$browser_folder/home" || return
    axe_fetch "$archive" || { echo "axe-core could not be downloaded" >&2 && return 1; }
    chromedriver_start
}

browser_stop() {
    if [[ -n $chromedriver_pid ]]; then
        # ChromeDriver stops its browsers too.
        kill -TERM "$chromedriver_pid" 2>/dev/null || true
        wait "$chromedriver_pid" 2>/dev/null || true
    fi
    chromedriver_pid=
    # A stopping browser may still write files; the second attempt succeeds then.
    [[ -z $browser_folder ]] || rm -rf "$browser_folder" || rm -rf "$browser_folder" || true
    browser_folder=
}
