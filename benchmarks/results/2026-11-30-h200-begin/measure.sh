#!/bin/bash
# measure.sh BEFORE AFTER CASE.toml [ROUNDS]: seconds of verify, report and export in turn, without
# a kept surface ("made") and with one ("kept"). Runs CASE once if the folder r is not there.
before=$1 after=$2 case=$3 rounds=${4:-2}
nproc; uname -m; grep -m1 "model name" /proc/cpuinfo
[ -d r ] || "$after" run "$case" --output r --log quiet
kept=$(ls -a r | grep -i surface)
timed() { # name, command
    local name=$1; shift
    local t0=$(date +%s.%N)
    "$@" > out.log 2>&1; local rc=$?
    local t1=$(date +%s.%N)
    python3 -c "print(\"$name %.2f s rc $rc\" % ($t1 - $t0))"
}
for round in $(seq $rounds); do
    for which in before after; do
        program=${!which}
        rm -f r/surface.* r/verify.*
        timed "$which export made" "$program" export r -o e_$which.stl
        cp out.log export_$which.log
        timed "$which export kept" "$program" export r -o e_$which.stl
        rm -f r/surface.*
        timed "$which verify made" "$program" verify r
        cp out.log verify_$which.log
        timed "$which verify kept" "$program" verify r
        timed "$which report kept" "$program" report r --output p_$which.html
    done
done
md5sum e_before.stl e_after.stl
diff export_before.log export_after.log
diff verify_before.log verify_after.log
