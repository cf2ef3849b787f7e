#!/usr/bin/env bash
# A copy of a file through a pipe and by cp.
# MEBIBYTES: bytes of the file.
source "$(dirname "$0")/common.sh"
head -c "${MEBIBYTES:-32}M" /dev/urandom >file
record file-copy sh -c 'cat file | cat >copy-1; cp file copy-2; dd if=file of=copy-3 bs=64k status=none'
cmp file copy-1 && cmp file copy-2 && cmp file copy-3
