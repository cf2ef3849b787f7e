#!/usr/bin/env bash
# The server of mariadb, in its mode for the first start: it loads a table, and reads it.
# ROWS: rows of the table.
source "$(dirname "$0")/common.sh"
needs mariadbd
{
    echo "CREATE DATABASE d;"
    echo "CREATE TABLE d.rows(id INT PRIMARY KEY, hash INT, name VARCHAR(40), KEY(hash));"
    seq "${ROWS:-200}" | awk '{ print "INSERT INTO d.rows VALUES(" $1 "," $1 * 7919 % 10007 ",\"row number " $1 "\");" }'
    echo "SELECT COUNT(*), SUM(hash) FROM d.rows WHERE hash BETWEEN 100 AND 900;"
} >load.sql
mkdir data
record mariadb mariadbd --no-defaults --user="$(id -un)" --datadir=./data --bootstrap --skip-innodb \
    --default-storage-engine=MyISAM --skip-grant-tables --skip-log-error <load.sql
