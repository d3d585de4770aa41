# Frequent commands. Run `just` to list them; each also works without just.

_list:
    @just --list

# Run the service with everything built in
dev *ARGS:
    cargo run -- dev {{ARGS}}

# Run all tests that need no servers
test *ARGS:
    cargo test --workspace {{ARGS}}

# Format and lint
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets -- -D warnings

# Check the rules of the workspace
tidy:
    cargo xtask tidy

# Update the generated references
gen:
    cargo xtask gen

# Run a benchmark, for example `just bench http`
bench *ARGS:
    cargo xtask bench {{ARGS}}

# Run the full CI
ci:
    .ci/run
