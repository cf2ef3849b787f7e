#!/usr/bin/env bash
# A Linux guest, from the end of the kernel's initialization over a few services and commands to power-off.
# KERNEL, MEMORY and FROM: image of the kernel, the guest's memory, and the function from which on it is recorded
# (`start_kernel`: the whole boot).
source "$(dirname "$0")/common.sh"
needs qemu-system-x86_64 busybox
shopt -s nullglob
kernels=(/boot/vmlinuz-*)
kernel=${KERNEL:-${kernels[-1]:-/boot/vmlinuz}}
OPTIONS="${OPTIONS:-} --kernel $kernel --memory ${MEMORY:-256MiB} --from ${FROM:-free_initmem}"
record boot sh -c 'hostname guest; ifconfig lo 127.0.0.1 up; syslogd; crond -c /tmp; ps; mount'
