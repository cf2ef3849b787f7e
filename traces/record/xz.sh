#!/usr/bin/env bash
# xz: a compression of text.
# COUNT: numbers in the text.
source "$(dirname "$0")/common.sh"
needs xz
seq "${COUNT:-20000}" >text
record xz xz -0 -k text
