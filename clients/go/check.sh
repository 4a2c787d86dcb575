#!/usr/bin/env bash
# Check the Go client: format, vet, staticcheck, modules, generated code.
#
#     ./check.sh
#
# staticcheck is installed from the module proxy into .tools. The generated code is
# compared where buf is found, see generate.sh.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
tool=honnef.co/go/tools/cmd/staticcheck@v0.7.0
bin=$here/.tools/check
if [[ "$(cat "$bin/versions" 2>/dev/null)" != "$tool" ]]; then
    rm -rf "$bin"
    (cd / && GOBIN="$bin" GOFLAGS=-mod=mod go install "$tool")
    echo "$tool" >"$bin/versions"
fi

unformatted=$(gofmt -s -l .)
if [[ -n "$unformatted" ]]; then
    printf 'check.sh: run gofmt -s -w on\n%s\n' "$unformatted" >&2
    exit 1
fi
go vet ./...
"$bin/staticcheck" -checks 'all,-ST1000' ./...
go mod tidy -diff
go mod verify >/dev/null
if command -v "${BUF:-../../.venv/bin/buf}" >/dev/null; then
    ./generate.sh --check
fi
