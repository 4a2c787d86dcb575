#!/usr/bin/env bash
# Generate the Python code of the wire from proto/**/*.proto.
#
#     proto/generate.sh            write framework/fritillary/api, replacing what was there
#     proto/generate.sh --check    compare with it instead, and fail where they differ
#
# The generator is older than the libraries it serves on purpose: code it writes runs
# with old and new protobuf alike. It therefore lives in an environment of its own.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=framework/fritillary/api
python=${PYTHON:-python3}
venv=.venv-proto
tools="grpcio-tools==1.80.0 mypy-protobuf==5.1.0"

protos=$(cd proto && find . -name '*.proto' | sed 's|^\./||' | LC_ALL=C sort)
if [[ -z "$protos" ]]; then
    echo "proto/generate.sh: no .proto file under proto, nothing to generate"
    exit 0
fi

if [[ "$(cat "$venv/.tools" 2>/dev/null)" != "$tools" ]]; then
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check $tools
    echo "$tools" >"$venv/.tools"
fi

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
(
    export PATH="$PWD/$venv/bin:$PATH"
    cd proto
    python -m grpc_tools.protoc -I. \
        --python_out="$new" --grpc_python_out="$new" \
        --mypy_out=quiet:"$new" --mypy_grpc_out=quiet:"$new" \
        $protos
)
echo '"""Generated code of the wire; written by proto/generate.sh, never edited."""' \
    >"$new/fritillary/api/__init__.py"
for folder in "$new"/fritillary/api/*/; do
    echo "\"\"\"Messages and services of fritillary.api.$(basename "$folder").\"\"\"" \
        >"$folder/__init__.py"
done

if [[ "${1:-}" == --check ]]; then
    diff --recursive --exclude=__pycache__ "$target" "$new/fritillary/api"
else
    rm -rf "$target"
    cp -R "$new/fritillary/api" "$target"
fi
