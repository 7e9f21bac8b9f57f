#!/bin/bash
# Builds and installs all contestants under $BENCH_DIR (default: out/ beside this
# file). Packages come by name from the usual registries, versions as pinned.
#   setup.sh            everything
#   setup.sh core       loadgen, floor and rmcp only
#   setup.sh sdk        the SDKs, no gateways
#   setup.sh gateways   core, and the gateways in Rust
set -euo pipefail
cd "$(dirname "$0")"
HERE=$PWD
B=${BENCH_DIR:-$HERE/out}
mkdir -p "$B"
export CARGO_TARGET_DIR=$B/target
build() { (cd "$HERE/$1" && cargo build --release); }
build loadgen
build servers/floor
build servers/rmcp
build servers/codec
[ "${1:-}" = core ] && exit 0
install() { CARGO_TARGET_DIR=$B/target-gw cargo install --quiet --root "$B/gw" "$@" || echo "left out: $*"; }
if [ "${1:-}" = gateways ]; then
  install mcp-hub@0.3.0
  install mcp-proxy@0.6.0 --no-default-features
  exit 0
fi
build servers/tower-mcp || echo "left out: tower-mcp"

py() { # name, packages..
  local n=$1; shift
  [ -x "$B/py-$n/bin/python" ] || python3 -m venv "$B/py-$n"
  "$B/py-$n/bin/pip" -q install "$@" || echo "left out: $n"
}
py mcp -r servers/python/requirements-mcp.txt
py fastmcp -r servers/python/requirements-fastmcp.txt
if [ "${1:-}" != sdk ]; then
py mcpproxy 'mcp-proxy==0.13.*'
py mcpo 'mcpo==0.0.20' 'mcp<2'  # 0.0.20 does not start with mcp 2, nor with a recent fastapi
py cf 'mcp-contextforge-gateway==1.0.7.*'
fi

for d in ts1 ts2; do
  mkdir -p "$B/$d" && cp servers/$d/package.json servers/$d/echo.mjs "$B/$d/" && (cd "$B/$d" && npm i --silent) || echo "left out: $d"
done
[ "${1:-}" = sdk ] && exit 0
mkdir -p "$B/supergw" && (cd "$B/supergw" && npm init -y >/dev/null && npm i --silent supergateway@4.0.0) || echo "left out: supergateway"

install mcpd@1.0.7
install mcp-hub@0.3.0
install mcp-proxy@0.6.0 --no-default-features
