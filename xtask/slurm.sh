#!/bin/bash
# A sweep on a Slurm cluster of slurmctld, two slurmd and munged, which the script starts in a temporary directory on free
# ports, and removes whenever it ends. A task is killed in the middle, the unfinished points are submitted again, and the
# merged tables must be those of the same sweep without Slurm, byte for byte.
#
#   xtask/slurm.sh PROGRAM
#
# Debian's packages slurm-wlm and munge are installed where they are missing.
set -euo pipefail
unset "${!SLURM_@}" "${!SBATCH_@}"
program=$(realpath "$1")
root=$(mktemp -d /tmp/rowclone-sim-slurm.XXXXXX)
# A name whose characters a script has to quote.
work="$root/sweeps, 5% of all"
daemons=()

say() { echo "-- $*" >&2; }

fail() {
    say "failed: $*"
    for log in "$root"/log/*.log "$work"/out/slurm-logs/*.log; do
        [ -s "$log" ] && { echo "== $log"; tail -n 25 "$log"; } >&2
    done
    exit 1
}

# The tasks first, then each daemon that was started here, the last one first.
clean_up() {
    local code=$? at
    trap - EXIT INT TERM
    # The process that supervises a task ends after the task, and would otherwise remain: cancel the tasks first.
    if [ -n "${SLURM_CONF-}" ]; then
        timeout 15 scancel --me >/dev/null 2>&1 || true
        for _ in {1..100}; do
            [ -n "$(timeout 15 squeue --noheader 2>/dev/null)" ] || break
            sleep 0.2
        done
    fi
    for ((at = ${#daemons[@]} - 1; at >= 0; at--)); do
        kill "${daemons[at]}" 2>/dev/null || true
    done
    for ((at = ${#daemons[@]} - 1; at >= 0; at--)); do
        for _ in {1..100}; do
            kill -0 "${daemons[at]}" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "${daemons[at]}" 2>/dev/null || true
    done
    rm -rf "$root"
    exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

install_slurm() {
    local missing=()
    command -v slurmctld slurmd sbatch >/dev/null || missing+=(slurm-wlm)
    command -v munged >/dev/null || missing+=(munge)
    [ ${#missing[@]} -eq 0 ] && return
    say "installing ${missing[*]}"
    { apt-get update && apt-get install --yes --no-install-recommends "${missing[@]}"; } >"$root/apt.log" 2>&1 ||
        { cat "$root/apt.log" >&2; say "apt-get cannot install ${missing[*]}: install them by hand"; exit 1; }
}

# Waits until a command succeeds.
await() {
    local what=$1 seconds=$2
    shift 2
    for ((at = 0; at < seconds * 5; at++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.2
    done
    fail "$what: not after $seconds s"
}

# The first port, from a number on, on which no process listens.
free_port() {
    local port=$1
    while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        port=$((port + 1))
    done
    echo "$port"
}

# In a session of its own: Ctrl-C is for this script, which ends what it started in order.
start() {
    local name=$1
    shift
    setsid "$@" >"$root/log/$name.log" 2>&1 &
    daemons+=($!)
}

start_slurm() {
    local base host me
    mkdir -p "$root"/{log,munge,state,spool-n1,spool-n2}
    chmod 755 "$root" "$root/munge"
    host=$(hostname -s)
    me=$(id -un)
    base=$((20000 + $$ % 20000))
    local controller first second
    controller=$(free_port "$base")
    first=$(free_port $((controller + 1)))
    second=$(free_port $((first + 1)))

    (umask 077 && head -c 1024 /dev/urandom >"$root/munge/key")
    start munged munged --foreground --socket="$root/munge/socket" --key-file="$root/munge/key" \
        --pid-file="$root/munge/pid" --log-file="$root/munge/log" --seed-file="$root/munge/seed" --num-threads=2
    await "munged" 10 test -S "$root/munge/socket"

    cat >"$root/slurm.conf" <<CONF
ClusterName=rowclone-sim
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$root/munge/socket
SlurmctldPort=$controller
SlurmctldPidFile=$root/slurmctld.pid
SlurmdPidFile=$root/slurmd-%n.pid
StateSaveLocation=$root/state
SlurmdSpoolDir=$root/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
EnforcePartLimits=ALL
KillWait=2
MaxArraySize=13
SchedulerParameters=sched_min_interval=0,sched_interval=1,batch_sched_delay=1,bf_interval=1
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$host Port=$first CPUs=1 State=UNKNOWN
NodeName=n2 NodeAddr=127.0.0.1 NodeHostname=$host Port=$second CPUs=1 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=10 State=UP
CONF
    export SLURM_CONF="$root/slurm.conf"
    start slurmctld slurmctld -D -i -f "$SLURM_CONF"
    start slurmd-n1 slurmd -D -N n1 -f "$SLURM_CONF"
    start slurmd-n2 slurmd -D -N n2 -f "$SLURM_CONF"
    await "both nodes idle" 60 both_nodes_idle
}

both_nodes_idle() {
    [ "$(sinfo --noheader --Node --states=idle --format=%N | sort | tr '\n' ' ')" = "n1 n2 " ]
}

# The sweep, from the directory in which it lies.
submit() { (cd "$work" && "$program" sweep sweep.toml --out out --slurm --points-per-task 2 "$@"); }

collect() { (cd "$work" && "$program" sweep collect sweep.toml out --out merged --force); }

nothing_queued() {
    local queue
    queue=$(squeue --noheader) && [ -z "$queue" ]
}

# How many runs are finished.
finished() { cat "$work"/out/journal*.jsonl 2>/dev/null | grep --count --text --fixed-strings '"cells":' || true; }

some_finished() { [ "$(finished)" -ge "$1" ]; }

# Points of about a second, so that a task is in its middle for some seconds.
write_sweep() {
    mkdir "$work"
    cp -r configs traces "$work"
    cat >"$work/sweep.toml" <<'SWEEP'
scenario = "traces/page-copy.toml"
[[axis]]
name = "at_cycle"
key = "operation.1.at_cycle"
range = { from = 4_000_000_000, to = 4_000_000_023, step = 1 }
SWEEP
}

# Tests that Slurm refuses a submission with these options, and that the message has the remedy.
refuses() {
    local way_out=$1 said
    shift
    said=$(submit "$@" 2>&1) && fail "taken: $*"
    [[ $said == *"$way_out"* ]] || fail "not said: $way_out; but: $said"
}

# Whether no task of this number of a job is left.
task_gone() {
    local tasks
    tasks=$(squeue --noheader --array --me --format=%F_%K) && ! grep --quiet --line-regexp "$1_$2" <<<"$tasks"
}

main() {
    install_slurm
    write_sweep
    say "the sweep done here"
    (cd "$work" && "$program" sweep sweep.toml --out local)

    start_slurm
    say "what Slurm refuses is said with a way out"
    refuses "\`sinfo\` lists partitions" --partition nowhere
    refuses "\`sinfo\` lists partitions" --time 1-00:00:00

    say "submitted, and a task killed in the middle"
    local job killed before again
    job=$(submit --time 5)
    await "the first runs" 120 some_finished 2
    killed=$(squeue --noheader --array --states=running --job="$job" --format=%K | head -n 1)
    [ -n "$killed" ] || fail "no task is running any more"
    scancel --signal=KILL --full "${job}_$killed"
    await "the end of the killed task" 60 task_gone "$job" "$killed"
    before=$(finished)
    say "task $killed of job $job was killed, $before runs are finished"

    say "submitted again while the others wait and run"
    again=$(submit)
    [ "$again" -gt "$job" ] || fail "the killed task was not submitted again"
    grep --quiet "^#SBATCH --array=$killed\$" "$work/out/slurm.sh" || fail "the shard submitted again is not $killed"

    await "all tasks are over" 300 nothing_queued
    collect || fail "the results cannot be merged"
    for name in results.csv results.parquet; do
        cmp "$work/local/$name" "$work/merged/$name" || fail "$name is not that of the sweep done here"
    done
    [ "$(finished)" -eq "$(($(wc -l <"$work/local/results.csv") - 1))" ] || fail "a run was done twice"
    [[ $(submit 2>&1) == *"nothing to submit: every run is done"* ]] || fail "something is left"
    say "the merged tables are those of the sweep done here"
}

main
