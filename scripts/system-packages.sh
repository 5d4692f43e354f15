#!/usr/bin/env bash
# What the tests need beside Python: a browser and a PostgreSQL server. On Debian, as root, they are installed;
# elsewhere one sentence says which tests are left out, and how to bring them in. With CI set nothing is left out.
set -euo pipefail

missing=()
command -v chromium >/dev/null || missing+=(chromium)
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || missing+=(postgresql)
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing ${missing[*]} for the tests ..."
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}" fonts-dejavu-core; } >/dev/null
    exit 0
fi

echo "Not installed: ${missing[*]}. The tests that need them are left out; bring them with: sudo apt-get install ${missing[*]}"
[ -z "${CI:-}" ] || { echo "CI is set, and there nothing may be left out."; exit 1; }
