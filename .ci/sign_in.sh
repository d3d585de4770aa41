# shellcheck shell=bash
# Sign-in at real identity providers: `sign_in_check PROGRAM` installs oidc-provider from npm and oidc-provider-mock from the package index
# of Python, and runs tests/sign_in, which starts them and `docent dev`. Requires .ci/servers.sh, .ci/service.sh, and a ChromeDriver that
# `browser_start` of .ci/browser.sh has started.

# Installs the providers into a directory named after a hash of their versions, which later runs on this machine use too, and prints its
# path.
sign_in_folder() {
    local folder
    folder=$(cat tests/sign_in/package-lock.json tests/sign_in/requirements.txt | sha256sum | cut -c1-16)
    folder="${XDG_CACHE_HOME:-$HOME/.cache}/docent-sign-in-$folder"
    mkdir -p "$folder" || return
    if [[ ! -e $folder/installed ]]; then
        command -v npm >/dev/null || packages_install npm >&2 || return
        cp tests/sign_in/package.json tests/sign_in/package-lock.json "$folder" || return
        # npm uses the configured registry. Node.js is one of the packages, because Debian's version is too old for the provider.
        npm ci --silent --prefix "$folder" --cache "$folder/npm" >&2 || return
        rm -rf "$folder/npm" && touch "$folder/installed"
    fi
    python_install "$folder/python" --no-deps --requirement tests/sign_in/requirements.txt >&2 || return
    echo "$folder"
}

sign_in_check() {
    local program folder
    program=$(realpath "$1") || return
    folder=$(sign_in_folder) || { echo "the identity providers could not be installed" >&2 && return 1; }
    # Node.js looks for modules beside the tests.
    cp tests/sign_in/*.mjs tests/clients/chromium.mjs "$folder" || return
    (cd "$folder" && DOCENT_TEST_PROGRAM=$program DOCENT_TEST_OIDC_PROVIDER_MOCK=$folder/python/bin/oidc-provider-mock \
        node_modules/.bin/node --test)
}
