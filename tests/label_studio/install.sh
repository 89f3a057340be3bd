#!/usr/bin/env bash
# Label Studio in a virtual environment of its own, with an empty database beside it, since making one takes a minute.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
venv="${LABEL_STUDIO_VENV:-$here/../../.venv-label-studio}"
done_mark="$venv/.installed"

if [ -e "$done_mark" ] && [ ! "$here/requirements.txt" -nt "$done_mark" ] && [ ! "$here/constraints.txt" -nt "$done_mark" ]; then
    exit 0
fi
rm -rf "$venv"
"${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --requirement "$here/requirements.txt" --constraint "$here/constraints.txt"
env HOME="$venv" LATEST_VERSION_CHECK=0 COLLECT_ANALYTICS=0 SENTRY_DSN= FRONTEND_SENTRY_DSN= \
    "$venv/bin/label-studio" version --data-dir "$venv/blank" >"$venv/blank.log" 2>&1
touch "$done_mark"
