#!/usr/bin/env bash
# memcached: inserts and reads.
# INSERTS: how many.
source "$(dirname "$0")/common.sh"
needs memcached perl
inserts=${INSERTS:-4000}
record memcached memcached -u "$(id -un)" -s socket -t 1 -m 64 -A &
server=$!
await test -S socket
perl -MIO::Socket::UNIX -e '
    my ($path, $inserts) = @ARGV;
    my $server = IO::Socket::UNIX->new(Peer => $path) or die "no connection: $!\n";
    for my $key (1 .. $inserts) {
        printf $server "set key:%d 0 0 100\r\n%s\r\n", $key, "v" x 100;
        <$server> eq "STORED\r\n" or die "not stored\n";
    }
    for my $key (1 .. $inserts / 2) {
        print $server "get key:$key\r\n";
        1 until <$server> eq "END\r\n";
    }
    print $server "shutdown\r\n";
' socket "$inserts"
wait "$server"
