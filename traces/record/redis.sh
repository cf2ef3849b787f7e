#!/usr/bin/env bash
# redis: inserts, and a snapshot by a forked child meanwhile.
# INSERTS: how many.
source "$(dirname "$0")/common.sh"
needs redis-server redis-cli
port=${PORT:-17379}
insert() {
    seq "$1" "$2" | sed 's/.*/SET key:& value-of-the-key-&/' | redis-cli -p "$port" >/dev/null
}
inserts=${INSERTS:-100}
record redis redis-server --port "$port" --save "" --maxmemory 16mb --daemonize no >server.log &
server=$!
await redis-cli -p "$port" ping
insert 1 "$inserts"
redis-cli -p "$port" bgsave >/dev/null
insert $((inserts / 2)) $((inserts + inserts / 2))
await sh -c "redis-cli -p $port info persistence | grep -q rdb_bgsave_in_progress:0"
redis-cli -p "$port" shutdown nosave || true
wait "$server"
