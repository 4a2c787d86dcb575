#!/usr/bin/env bash
# Generate the TypeScript code of the wire from ../../proto.
#
#     ./generate.sh            write src/gen/, replacing what was there
#     ./generate.sh --check    compare with it instead, and fail where they differ
#
# Needs `npm install`, which brings the generator, and buf: $BUF, or that of the
# repository's environment (`make setup`), or that of `npm install --no-save @bufbuild/buf`.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
plugin=$here/node_modules/.bin/protoc-gen-ts_proto
# Oneofs are unions with a `$case`; 64-bit integers are numbers, and one that a number
# cannot hold exactly is an error; services are data: the library brings its own calls.
options=esModuleInterop=true,importSuffix=.js,oneof=unions,outputServices=generic-definitions
options+=,outputPartialMethods=false,outputTypeAnnotations=false
options+=,forceLong=number,unrecognizedEnum=false,useExactTypes=false,annotateFilesWithVersion=false

if [[ -z "${BUF:-}" ]]; then
    BUF=$here/../../.venv/bin/buf
    [[ -x "$BUF" ]] || BUF=$here/node_modules/.bin/buf
fi
if ! command -v "$BUF" >/dev/null; then
    echo "generate.sh: no buf; run make setup, or npm install --no-save @bufbuild/buf" >&2
    exit 1
fi
if [[ ! -x "$plugin" ]]; then
    echo "generate.sh: no generator; run npm install" >&2
    exit 1
fi

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
(
    cd ../..
    "$BUF" generate --template "$(
        cat <<END
{"version": "v2", "plugins": [{"local": "$plugin", "out": "$new", "opt": "$options"}]}
END
    )"
)

if [[ "${1:-}" == --check ]]; then
    diff --recursive src/gen "$new"
else
    rm -rf src/gen
    mkdir -p src
    cp -R "$new" src/gen
    # mktemp makes folders for the owner alone.
    chmod 755 src/gen
fi
