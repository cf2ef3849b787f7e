#!/usr/bin/env bash
# The fork benchmark of the RowClone paper.
# MEBIBYTES and PAGES: memory, and pages that the child updates.
source "$(dirname "$0")/common.sh"
compile fork-benchmark
record fork-benchmark ./fork-benchmark "${MEBIBYTES:-64}" "${PAGES:-1024}"
