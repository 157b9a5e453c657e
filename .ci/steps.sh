# Steps of the checks, for scripts in the root of the repository to source.

target=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target/venv
emulator=$target/emulator
# Every crate is compiled once here, from nothing: what serves the next compilation, and line numbers
# in backtraces, are a fourth of the compiler's time.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
declare -A begun # steps beside others, with their processes
trap 'kill $(jobs -pr) 2>/dev/null || true' EXIT
vtk_version=9.7.1
pynastran_version=1.4.1
cpylog_version=1.6.0
gmsh_version=4.15.2
# For the tests of the Python module.
python_packages=(numpy==2.4.6 scipy==1.17.1 pytest==9.2.0 mypy==2.4.1)

step() {
    local name=$1 start=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    "$@"
    printf '== %s: %d s\n' "$name" $((SECONDS - start))
}

# Begins a step beside those that follow.
begin() {
    local name=$1
    shift
    mkdir -p "$target"
    (step "$name" "$@") >"$target/$name.log" 2>&1 &
    begun[$name]=$!
}

# Leaves the processors to others.
yielding() {
    renice -n 19 "$BASHPID" >/dev/null || true
    "$@"
}

# Awaits a step that has begun, and fails with it.
await() {
    local name=$1 status=0
    wait "${begun[$name]}" || status=$?
    cat "$target/$name.log"
    return "$status"
}

# A Python package without those it depends on, into an environment of the checks' own.
install_package() {
    [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$1"
}

# VTK's own readers, for the tests that read the results back. Its readers need no other package.
install_vtk() {
    install_package "vtk==$vtk_version"
}

# pyNastran, for the test that reads a deck by it, with SciPy of the Python module's tests. It asks for NumPy
# below 2, and needs none of the other packages that it asks for.
install_pynastran() {
    install_package "cpylog==$cpylog_version"
    install_package "pyNastran==$pynastran_version"
}

# Packages with which the Python module is tested, with those they depend on.
install_python() {
    [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${python_packages[@]}"
}

# The Python module, tested as a folder: its library is compiled with all other crates, as the tests
# are. maturin would build it alone, with other features, and so compile all of them again; the wheel
# is built and tested by `.ci/release wheel`.
test_python() {
    cargo build --locked --workspace --lib
    rm -rf "$target/python"
    mkdir -p "$target/python"
    cp -r crates/topopt-python/python/topopt3d "$target/python"
    cp "$target/debug/lib_topopt3d.so" "$target/python/topopt3d/_topopt3d.abi3.so"
    PYTHONPATH=$target/python "$venv/bin/python" -m pytest -q -p no:cacheprovider crates/topopt-python/tests
}

# Gmsh, for the tests that mesh geometries. Its library needs the libraries of X and OpenGL, even
# where nothing is drawn: without them these tests are skipped. The program of the package starts
# Python, which takes 0.13 s of the processor, and the tests start Gmsh some hundred times.
install_gmsh() {
    install_package "gmsh==$gmsh_version"
    if compile_gmsh && "$target/gmsh" --version; then
        export GMSH=$target/gmsh TOPOPT_REQUIRE_GMSH=1
    else
        printf 'Gmsh cannot be started, its tests are skipped; Debian has the libraries in\n'
        printf 'libglu1-mesa libxcursor1 libxft2 libxinerama1\n'
    fi
}

compile_gmsh() {
    g++ -o "$target/gmsh" -x c++ - -x none "$venv"/lib/libgmsh.so.* -Wl,--allow-shlib-undefined \
        -Wl,-rpath,"$venv/lib" <<'END'
extern "C" void gmshInitialize(int, char**, int read_options, int run, int* error);

int main(int argc, char** argv) {
    int error = 0;
    gmshInitialize(argc, argv, 1, 1, &error);
    return error != 0;
}
END
}

# A browser for the report. Debian has it; where it cannot be had, its test is skipped.
install_chromium() {
    if ! command -v chromium >/dev/null && [[ $EUID == 0 ]] && command -v apt-get >/dev/null; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
            --no-install-recommends chromium >/dev/null || printf 'apt-get has failed\n'
    fi
    if command -v chromium; then
        export TOPOPT_REQUIRE_BROWSER=1
    else
        printf 'there is no Chromium: the test of the report in a browser is skipped\n'
    fi
}

# Open MPI and libclang, for a program with MPI.
install_mpi() {
    if ! has_mpi && [[ $EUID == 0 ]] && command -v apt-get >/dev/null; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
            --no-install-recommends openmpi-bin libopenmpi-dev libclang-dev >/dev/null ||
            printf 'apt-get has failed\n'
    fi
}

# Packages that tests need. Where one cannot be had, the step that asks for it says so.
install_packages() {
    install_vtk
    install_gmsh
    install_python
    install_pynastran
    install_chromium
    install_mpi
}

# Kernels as they are checked in, and the driver on which tests run them.
prepare_devices() {
    python3 cuda/compile.py --check
    cuda/emulator/build.sh "$emulator"
    cuda/emulator/selftest/run.sh "$emulator/selftest"
}

# Tells whether a program with MPI can be compiled and started here: Open MPI and libclang, each of which
# may be there without the other.
has_mpi() {
    command -v mpicc >/dev/null && command -v mpirun >/dev/null &&
        [[ -n ${LIBCLANG_PATH:-} || -n $(find /usr/lib /usr/local/lib \( -name 'libclang.so*' -o \
            -name 'libclang-[0-9]*.so*' \) -print -quit 2>/dev/null) ]]
}

# A program with MPI, for the tests that start it by mpirun; where Debian's packages cannot be had, these
# tests are skipped.
build_with_mpi() {
    if ! has_mpi; then
        printf 'there is no MPI or no libclang: the tests of ranks that are processes are skipped\n'
        return
    fi
    # Of the whole workspace and with a test, so that packages have the features that the tests give them,
    # and Cargo compiles again only what knows MPI.
    cargo build --locked --workspace --bin topopt --test documents --features topopt-cli/mpi
    mkdir -p "$target/mpi"
    cp "$target/debug/topopt" "$target/mpi/topopt"
    export TOPOPT_MPI=$target/mpi/topopt TOPOPT_REQUIRE_MPI=1
}

on_emulator() {
    LD_LIBRARY_PATH=$emulator cargo test --locked --workspace "$@"
}

# All kernels on the CPU, with threads in the `order` forward or reverse. A kernel that none of the
# tests has launched fails, and with it tests that find no device and skip. Always --workspace, as in
# the step before: for some packages alone Cargo chooses other features of their dependencies, and
# compiles nearly all of the workspace again.
test_kernels() {
    local order=$1 trace=$emulator/trace missing
    rm -f "$trace"
    export TOPOPT_EMULATOR_ORDER=$order TOPOPT_EMULATOR_TRACE=$trace
    on_emulator --test device --test operator_memory
    on_emulator --lib ebe_sym
    unset TOPOPT_EMULATOR_ORDER TOPOPT_EMULATOR_TRACE
    missing=$(comm -23 \
        <(cd cuda/ptx && grep -o '\.entry \w*' -- * | sed 's/\.ptx:\.entry//' | sort) \
        <(sed -nE 's/^launch (\S+ \w+) .*/\1/p' "$trace" | sort -u))
    [[ -z $missing ]] || { printf 'no test has launched: %s\n' "${missing//$'\n'/ }"; return 1; }
}

# A program with machine code: it is packed, and where the driver does not take it, as the emulated one,
# the PTX is loaded.
test_machine_code() {
    python3 cuda/compile.py --native "$target/cubins"
    TOPOPT_CUBINS=$target/cubins TOPOPT_EMULATOR_CAPABILITY=9.0 on_emulator --lib -- machine_code ebe_sym
}

# What besides kernels knows a device.
test_emulated() {
    test_kernels forward
    on_emulator --test device_memory --test device_gradients
    on_emulator --test program gpu
}
