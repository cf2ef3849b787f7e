#!/usr/bin/env bash
# The compiler proper of gcc, on a C file.
# OPTIMIZATION: `-O1` for all of the compiler; by default the front end alone.
source "$(dirname "$0")/common.sh"
needs gcc
cat >queue.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct queue { unsigned head, tail; int entries[64]; };
int push(struct queue *q, int entry)
{
    if (q->tail - q->head == 64)
        return 0;
    q->entries[q->tail++ % 64] = entry;
    return 1;
}
int pop(struct queue *q)
{
    return q->head == q->tail ? -1 : q->entries[q->head++ % 64];
}
int sum(const struct queue *q)
{
    int total = 0;
    for (unsigned i = q->head; i != q->tail; i++)
        total += q->entries[i % 64];
    return total;
}
C
gcc -E queue.c -o queue.i
record compiler "$(gcc -print-prog-name=cc1)" -quiet -fpreprocessed "${OPTIMIZATION:--fsyntax-only}" queue.i -o queue.s
