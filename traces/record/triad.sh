#!/usr/bin/env bash
# The triad of the benchmark STREAM: a[i] = b[i] + s * c[i].
# ELEMENTS: of each array.
source "$(dirname "$0")/common.sh"
compile triad
record triad ./triad "${ELEMENTS:-2000000}"
