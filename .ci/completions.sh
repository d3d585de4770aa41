# shellcheck shell=bash
# Loads the completion scripts for zsh and fish: `completions_check PROGRAM` installs both shells from Debian packages if they
# are missing. The tests of the program check bash. Requires .ci/servers.sh.

completions_check() {
    local program=$1 missing=() shell folder loaded=0
    for shell in zsh fish; do
        command -v "$shell" >/dev/null || missing+=("$shell")
    done
    packages_install "${missing[@]}" || { echo "zsh and fish could not be installed" >&2 && return 1; }
    folder=$(mktemp -d) || return
    completions_load "$program" "$folder" || loaded=$?
    rm -rf "$folder"
    return "$loaded"
}

completions_load() {
    local program=$1 folder=$2 completed
    ln -s "$(realpath "$program")" "$folder/docent" || return
    "$program" completions zsh >"$folder/_docent" && "$program" completions fish >"$folder/docent.fish" || return
    # As a file of `fpath`, and read directly.
    # shellcheck disable=SC2016
    completed=$(zsh -f -c '
        fpath=($1 $fpath)
        autoload -Uz compinit && compinit -u -d $1/dump && [[ $_comps[docent] == _docent ]] &&
            autoload +X -Uz _docent && source $1/_docent && (( $+functions[_docent_values] )) && print $+functions[_docent]
    ' zsh "$folder" 2>&1)
    [[ $completed == 1 ]] || { echo "the completions for zsh do not load: ${completed:0:1000}" >&2 && return 1; }
    # shellcheck disable=SC2016
    completed=$(cd "$folder" && HOME=$folder PATH="$folder:$PATH" fish --no-config \
        -c 'source docent.fish; and complete -C "docent inges"' 2>&1)
    [[ $completed == ingest$'\t'* ]] || { echo "the completions for fish do not load: ${completed:0:1000}" >&2 && return 1; }
}
