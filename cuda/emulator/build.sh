#!/usr/bin/env bash
# Builds libcuda.so.1 into the folder OUT: a CUDA driver that runs the kernels of cuda/ on the CPU.
#
#     cuda/emulator/build.sh OUT [SOURCES]
#     LD_LIBRARY_PATH=$PWD/OUT cargo test --workspace --test device
#
# SOURCES is cuda/, or a folder like it. Which kernels there are, is what its ptx/ says. Only what has
# changed is compiled.
set -euo pipefail
shopt -s nullglob
out=${1:?usage: build.sh OUT [SOURCES]}
mkdir -p "$out/generated/common"
out=$(cd "$out" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
cuda=$(cd "${2:-$here/..}" && pwd)

flags="-std=c++20 -O2 -fPIC -fvisibility=hidden"
# Found in kernels: array bounds, overflow, shifts, misaligned pointers.
checks=bounds-strict,signed-integer-overflow,shift,integer-divide-by-zero,alignment,null
kernel_flags="-I. -fsanitize=$checks -fno-sanitize-recover=all"

# A copy in which dynamic shared memory is a pointer, and names have the linkage of C++.
translate() {
    printf '#line 1 "%s"\n' "${1#"$cuda/"}"
    sed -E -e 's/extern "C"//' \
        -e 's/extern +__shared__ +(__align__\([0-9]+\) +)?(.*[^ ]) +(\w+) *\[\] *;/\2* const \3 = static_cast<\2*>(emulator::dynamic_shared());/' \
        "$1"
}

# One source in one variant, in its own namespace, with a line for each kernel.
wrapper() {
    local kernel=$1 variant=$2 name=$1_${2/./_} real=double
    [[ $variant == *f32 ]] && real=float
    printf '#define SHARED_SECTION "shared_%s"\n' "$name"
    printf '#include "%s/shim.h"\n#define real %s\n' "$here" "$real"
    [[ $variant == modes.* ]] && printf '#define BY_MODES\n'
    printf 'extern char __start_shared_%s[] __attribute__((weak));\n' "$name"
    printf 'extern char __stop_shared_%s[] __attribute__((weak));\n' "$name"
    printf 'namespace %s {\nnamespace {\n#include "%s.cu"\n' "$name" "$kernel"
    printf 'struct Register {\n    Register() {\n'
    sed -nE "s/.*\.entry (\w+)\(.*/        emulator::add<\1>(\"$kernel.$variant\", \"\1\", __start_shared_$name, __stop_shared_$name, \1);/p" \
        "$cuda/ptx/$kernel.$variant.ptx"
    printf '    }\n} const registered;\n}\n}\n'
}

# Keeps the old file, and with it its age, if nothing has changed.
update() {
    cmp -s "$1" "$1.new" && rm "$1.new" || mv "$1.new" "$1"
}

cd "$out/generated"
for source in "$cuda"/*.cu "$cuda"/common/*.cuh; do
    file=${source#"$cuda/"}
    translate "$source" >"$file.new"
    update "$file"
done
commands=() objects=()
compile() { # OBJECT SOURCE FLAGS HEADER...
    local object=$1 source=$2 options=$3 file
    objects+=("$object")
    for file in "$source" "${@:4}" "$here/build.sh"; do
        [[ $object -nt $file ]] || { commands+=("g++ $flags $options -c -o $object $source"); return; }
    done
}
for source in "$here"/*.cpp; do
    name=$(basename "$source" .cpp)
    compile "$name.o" "$source" '-Wall -Wextra' "$here"/*.h
done
for ptx in "$cuda"/ptx/*.ptx; do
    name=$(basename "$ptx" .ptx)
    wrapper "${name%%.*}" "${name#*.}" >"$name.cpp.new"
    update "$name.cpp"
    compile "$name.o" "$name.cpp" "$kernel_flags" "${name%%.*}.cu" common/*.cuh "$here"/{shim,block}.h
done
((${#commands[@]})) && printf '%s\0' "${commands[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c '{}'
g++ -shared -Wl,-soname,libcuda.so.1 -o "$out/libcuda.so.1" "${objects[@]}"
ln -sf libcuda.so.1 "$out/libcuda.so"
echo "$out/libcuda.so.1: ${#commands[@]} of ${#objects[@]} files compiled"
