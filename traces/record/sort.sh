#!/usr/bin/env bash
# sort: lines in a random order.
# COUNT: how many.
source "$(dirname "$0")/common.sh"
seq "${COUNT:-20000}" | shuf --random-source=<(yes) >lines
record sort env LC_ALL=C sort --parallel=1 -S 16M -o sorted lines
