# Sourced by the scripts of this folder: `record NAME PROGRAM ARGS` records a program as NAME.rct.zst.
#
# ROWCLONE_SIM  the simulator [default: rowclone-sim of the release build of this repository]
# OUT           the folder for recordings [default: traces/recorded]
# OPTIONS       further options of `rowclone-sim record`: `--contents`, `--recorder perf`
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROWCLONE_SIM=${ROWCLONE_SIM:-$here/../../target/release/rowclone-sim}
OUT=${OUT:-$here/../recorded}
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)

# A folder for the program's files, which is also its working directory.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

needs() {
    for program in "$@"; do
        command -v "$program" >/dev/null || { echo "$0: $program is not installed" >&2; exit 2; }
    done
}

# Compression follows the recording: it would slow the program down, and servers act by time.
record() {
    local name=$1
    shift
    needs zstd
    # shellcheck disable=SC2086 # Options are words.
    "$ROWCLONE_SIM" record --force ${OPTIONS:-} -o "$name.rct" -- "$@"
    zstd -q -19 --long=27 -f "$name.rct" -o "$OUT/$name.rct.zst"
}

# Compiles a C program of this folder.
compile() {
    needs cc
    cc -O2 -o "$1" "$here/$1.c"
}

# Waits until a command succeeds.
await() {
    for _ in $(seq 300); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    echo "$0: no answer: $*" >&2
    exit 1
}
