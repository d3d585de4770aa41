# shellcheck shell=bash
# Sign-in at a real identity provider: `sign_in_check PROGRAM` installs oidc-provider from npm and runs tests/sign_in, which starts it and
# `docent dev`. Requires .ci/servers.sh.

# Installs the provider into a directory named after a hash of its versions, which later runs on this machine use too, and prints its
# path.
sign_in_folder() {
    local folder
    folder=$(sha256sum <tests/sign_in/package-lock.json | cut -c1-16)
    folder="${XDG_CACHE_HOME:-$HOME/.cache}/docent-sign-in-$folder"
    mkdir -p "$folder" || return
    if [[ ! -e $folder/installed ]]; then
        command -v npm >/dev/null || packages_install npm >&2 || return
        cp tests/sign_in/package.json tests/sign_in/package-lock.json "$folder" || return
        # npm uses the configured registry. Node.js is one of the packages, because Debian's version is too old for the provider.
        npm ci --silent --prefix "$folder" --cache "$folder/npm" >&2 || return
        rm -rf "$folder/npm" && touch "$folder/installed"
    fi
    echo "$folder"
}

sign_in_check() {
    local program folder
    program=$(realpath "$1") || return
    folder=$(sign_in_folder) || { echo "oidc-provider could not be installed" >&2 && return 1; }
    # Node.js looks for modules beside the tests.
    cp tests/sign_in/*.mjs "$folder" || return
    (cd "$folder" && DOCENT_TEST_PROGRAM=$program node_modules/.bin/node --test)
}
