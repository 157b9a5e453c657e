#!/usr/bin/env bash
# Tests that the emulated driver computes right and finds the faults that it is there to find.
#
#     cuda/emulator/selftest/run.sh OUT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: run.sh OUT}
mkdir -p "$out/sources/ptx"
out=$(cd "$out" && pwd)

# All kernels have the same parameters, so their PTX need only name them.
ptx=$out/sources/ptx/faults.f64.ptx
cp -u "$here/faults.cu" "$out/sources/"
{
    printf '// faults.f64 by hand\n.version 8.0\n.target sm_70\n'
    sed -nE 's/.*__global__ void (\w+)\(.*/.visible .entry \1(.param .u64 x, .param .u32 n)/p' \
        "$here/faults.cu"
} >"$ptx"
"$here/../build.sh" "$out" "$out/sources"
g++ -std=c++20 -o "$out/launch" "$here/launch.cpp" "$out/libcuda.so.1"

expect() { # KERNEL TEXT
    local said
    said=$({ LD_LIBRARY_PATH=$out "$out/launch" "$ptx" "$1"; } 2>&1) || true
    [[ $said == *"$2"* ]] && return
    printf 'emulated driver: %s should say `%s`, and says `%s`\n' "$1" "$2" "$said" >&2
    exit 1
}
for order in forward reverse; do
    export TOPOPT_EMULATOR_ORDER=$order
    expect sum 'x[0] = 2080'
done
unset TOPOPT_EMULATOR_ORDER
expect missing_barrier 'x[0] = -nan'
expect unwritten 'x[0] = -nan'
expect write_past_end 'kernel write_past_end of faults.f64, wrote 0 bytes past the end of an allocation of 80 bytes'
expect copy_past_end "wrote 8 bytes past the end"
expect read_far 'thread (3,0,0), accessed 8000 bytes past the end of an allocation of 80 bytes'
expect outside_array 'an index outside its array at faults.cu:'
expect misaligned 'a null or misaligned pointer at faults.cu:'
expect divergent 'a barrier in divergent code'
expect deadlock 'deadlock: 10 of 32 threads wait at the barrier'
expect left_out 'a lane that its own mask leaves out'
TOPOPT_EMULATOR_DEVICES=0 expect sum 'gives 100'
TOPOPT_EMULATOR_DRIVER=11080 expect sum 'gives 222'
TOPOPT_EMULATOR_CAPABILITY=6.1 expect sum 'gives 209'
TOPOPT_EMULATOR_MEMORY=79 expect sum 'gives 2'
TOPOPT_EMULATOR_FAIL=sum expect sum 'cuMemcpyDtoH_v2(&first, x, sizeof first) gives 719'
echo 'emulated driver: all as expected'
