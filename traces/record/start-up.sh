#!/usr/bin/env bash
# Program start-up: interpreters and tools that do next to nothing.
source "$(dirname "$0")/common.sh"
needs perl
record start-up sh -c 'perl -e "print 1"; bash -c "echo 2"; ls --version | head -n 1; sort --version | head -n 1'
