#!/usr/bin/env bash
# A shell that runs find, ls and other programs.
# FOLDERS: how many folders they visit.
source "$(dirname "$0")/common.sh"
for folder in $(seq "${FOLDERS:-20}"); do
    mkdir "folder-$folder"
    touch "folder-$folder/"{a,b,c,d}.{c,h}
done
record shell sh -c 'find . -name "*.c" | wc -l; ls -lR . | tail -n 1; for f in folder-1/*; do wc -c <"$f"; done'
