#!/usr/bin/env bash
# sqlite: a table loaded from text, with an index.
# ROWS: rows of the table.
source "$(dirname "$0")/common.sh"
needs sqlite3
seq "${ROWS:-4000}" | awk '{ print $1 "," $1 * 7919 % 10007 ",row number " $1 }' >rows.csv
cat >load.sql <<'SQL'
CREATE TABLE rows(id INTEGER PRIMARY KEY, hash INTEGER, name TEXT);
.mode csv
.import rows.csv rows
CREATE INDEX by_hash ON rows(hash);
SELECT count(*), sum(hash) FROM rows WHERE hash BETWEEN 100 AND 900;
SQL
record sqlite sqlite3 -init load.sql database.sqlite .quit
