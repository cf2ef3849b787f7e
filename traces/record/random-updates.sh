#!/usr/bin/env bash
# Random updates of a large table (the access pattern of the HPC Challenge benchmark RandomAccess).
# MEBIBYTES and UPDATES: bytes of the table, and updates.
source "$(dirname "$0")/common.sh"
compile random-updates
record random-updates ./random-updates "${MEBIBYTES:-64}" "${UPDATES:-800000}"
