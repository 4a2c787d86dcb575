#!/usr/bin/env bash
# Generate the Go code of the wire from ../../proto.
#
#     ./generate.sh            write api/, replacing what was there
#     ./generate.sh --check    compare with it instead, and fail where they differ
#
# Needs Go and buf: $BUF, or that of the repository's environment (`make setup`). The two
# plugins are installed from the module proxy into .tools; nothing else is fetched.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
buf=${BUF:-$here/../../.venv/bin/buf}
module=$(go list -m)
tools="google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.6
google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.5.1"

if ! command -v "$buf" >/dev/null; then
    echo "generate.sh: no buf at $buf; run make setup, or name one with BUF=..." >&2
    exit 1
fi
bin=$here/.tools/generate
if [[ "$(cat "$bin/versions" 2>/dev/null)" != "$tools" ]]; then
    rm -rf "$bin"
    for tool in $tools; do
        # They are no part of this module.
        (cd / && GOBIN="$bin" GOFLAGS=-mod=mod go install "$tool")
    done
    echo "$tools" >"$bin/versions"
fi

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
(
    cd ../..
    "$buf" generate --template "$(
        cat <<END
{"version": "v2", "plugins": [
  {"local": "$bin/protoc-gen-go", "out": "$new", "opt": "module=$module"},
  {"local": "$bin/protoc-gen-go-grpc", "out": "$new", "opt": "module=$module"}
]}
END
    )"
)

if [[ "${1:-}" == --check ]]; then
    diff --recursive api "$new/api"
else
    rm -rf api
    cp -R "$new/api" api
fi
