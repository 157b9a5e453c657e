#!/usr/bin/env python3
"""Compiles the CUDA kernels of this folder to the PTX that the program embeds.

    python3 cuda/compile.py [KERNEL...]     write cuda/ptx/KERNEL.VARIANT.ptx
    python3 cuda/compile.py --check         fail unless cuda/ptx is what the sources give
    python3 cuda/compile.py --matrix [KERNEL...]
                                            compile for every architecture, show registers, and
                                            fail on a warning, a spill or an unlisted stack frame
    python3 cuda/compile.py --native FOLDER [KERNEL...]
                                            write FOLDER/sm_ARCHITECTURE/KERNEL.VARIANT.cubin,
                                            machine code made of cuda/ptx; a program that is built
                                            with TOPOPT_CUBINS=$PWD/FOLDER starts on a GPU without the
                                            seconds in which the driver compiles the PTX

Needs no CUDA installation. The compilers come as pinned Python packages, which pip puts below the
build folder once; TOPOPT_NVRTC_12_0 and TOPOPT_NVRTC_12_9 name folders that hold them already.

A source says in its first lines for which precisions it is compiled: `// precision: f64 f32`. The
name `real` then means double or float. One that computes elements of another formulation as well says
so: `// element: full modes`; for these BY_MODES is defined, and the variant is `modes.f64` in place of
`f64`. It may include "common/NAME.cuh" and no other header.
"""

import argparse
import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PTX = HERE / "ptx"
BUILD = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))

# The oldest compiler that knows all language used here, so that old drivers load its PTX.
EMBEDDED = "12.0"
EMBEDDED_ARCHITECTURE = 70
# The newest compiler that still knows the oldest architecture.
NATIVE = "12.9"
ARCHITECTURES = [70, 75, 80, 86, 89, 90, 100, 103, 120, 121]
# Machine code runs on later minor versions of its architecture: that of 86 is the same, instruction by
# instruction, as that of 89, and that of 120 as that of 121.
MACHINE_CODE = [80, 86, 90, 100, 120]
# What the machine code in a folder was made of: the first lines of the PTX. Empty until all of it
# is there.
MADE_OF = "made-of.txt"
PACKAGES = {
    "12.0": ["nvidia-cuda-nvrtc-cu12==12.0.140"],
    "12.9": ["nvidia-cuda-nvrtc-cu12==12.9.86", "nvidia-cuda-nvcc-cu12==12.9.86"],
}

PRECISIONS = {"f64": "double", "f32": "float"}
# Local memory that a kernel may use: lines of `KERNEL VARIANT BYTES REASON`; SOURCE:KERNEL where several
# sources have a kernel of that name.
STACK_LIST = HERE / "stack.txt"


class Failure(Exception):
    """What is wrong with the sources or the machine, for the person at the console."""


class Source:
    """A .cu file, the headers it includes and the variants it is compiled for."""

    def __init__(self, path: Path):
        self.name = path.stem
        self.text = path.read_text()
        head = "\n".join(self.text.split("\n")[:10])
        found = re.search(r"^// precision:((?: +\w+)+)$", head, re.M)
        precisions = found.group(1).split() if found else []
        if not precisions or not set(precisions) <= PRECISIONS.keys():
            raise Failure(f"{path}: one of the first ten lines must read `// precision: f64`"
                          " or `// precision: f64 f32`")
        by_modes = re.search(r"^// element: full modes$", head, re.M)
        self.variants = precisions + [f"modes.{p}" for p in precisions if by_modes]
        self.headers: dict[str, str] = {}
        self._include(path, self.text)

    def _include(self, path: Path, text: str) -> None:
        for name in re.findall(r"^\s*#\s*include\s*(\S+)", text, re.M):
            header = HERE / name.strip('"')
            if not re.fullmatch(r'"common/\w+\.cuh"', name) or not header.is_file():
                raise Failure(f"{path}: cannot include {name}; there are: "
                              + (", ".join(f'"common/{h.name}"' for h in HERE.glob("common/*.cuh"))
                                 or "no headers"))
            if name.strip('"') not in self.headers:
                self.headers[name.strip('"')] = header.read_text()
                self._include(header, header.read_text())

    def options(self, variant: str, architecture: int) -> list[str]:
        *element, precision = variant.split(".")
        return [f"--gpu-architecture=compute_{architecture}", "--std=c++17", "--fmad=true",
                f"--define-macro=real={PRECISIONS[precision]}", *["--define-macro=BY_MODES" for _ in element]]

    def embedded(self, nvrtc: "Nvrtc", variant: str) -> str:
        """The PTX as it is checked in: the first line tells what it was made from."""
        options = self.options(variant, EMBEDDED_ARCHITECTURE)
        made_from = "\0".join([*options, self.text, *(t for h in sorted(self.headers.items()) for t in h)])
        digest = hashlib.sha256(made_from.encode()).hexdigest()
        return f"// {self.name}.{variant} sha256 {digest}\n" + nvrtc.compile(self, options)


class Used(NamedTuple):
    """What one kernel takes of an architecture."""
    registers: int
    local: int  # bytes of stack frame or spilled, whichever is more


class Nvrtc:
    """NVIDIA's run-time compiler as a library, which makes PTX from text."""

    def __init__(self, version: str):
        self.library = ctypes.CDLL(str(find("libnvrtc.so.12", version)))
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        if f"{major.value}.{minor.value}" != version:
            raise Failure(f"found NVRTC {major.value}.{minor.value} in place of {version};"
                          f" check the folder named by {variable(version)}")

    def compile(self, source: Source, options: list[str]) -> str:
        texts = [t.encode() for t in source.headers.values()]
        names = [n.encode() for n in source.headers]
        strings = lambda values: (ctypes.c_char_p * len(values))(*values)
        program = ctypes.c_void_p()
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.text.encode(),
                   f"{source.name}.cu".encode(), len(texts), strings(texts), strings(names))
        try:
            status = self.library.nvrtcCompileProgram(
                program, len(options), strings([o.encode() for o in options]))
            # The oldest architecture is meant to be old.
            log = re.sub(r"nvrtc: warning: Architectures prior to .* are deprecated.*\n?", "",
                         self._text("ProgramLog", program)).strip("\0\n ")
            if status or log:
                raise Failure(f"{source.name}.cu does not compile without complaint"
                              f" ({' '.join(options)}):\n{log}")
            return self._text("PTX", program)
        finally:
            self._call("nvrtcDestroyProgram", ctypes.byref(program))

    def _text(self, what: str, program: ctypes.c_void_p) -> str:
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{what}", program, buffer)
        return buffer.value.decode()

    def _call(self, name: str, *arguments) -> None:
        status = getattr(self.library, name)(*arguments)
        if status:
            raise Failure(f"{name} failed: {self.library.nvrtcGetErrorString(status).decode()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kernel", nargs="*", help="names of .cu files without the ending; default: all")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="compare with cuda/ptx and write nothing")
    mode.add_argument("--matrix", action="store_true", help="compile for every architecture")
    mode.add_argument("--native", metavar="FOLDER", type=Path, help="write machine code of cuda/ptx for sm_"
                      + ", sm_".join(map(str, MACHINE_CODE)))
    arguments = parser.parse_args()
    try:
        every = sorted(HERE.glob("*.cu"))
        unknown = set(arguments.kernel) - {p.stem for p in every}
        if unknown:
            raise Failure(f"no {', '.join(sorted(unknown))} in cuda/; there are: "
                          + ", ".join(p.stem for p in every))
        chosen = [Source(p) for p in every if not arguments.kernel or p.stem in arguments.kernel]
        if arguments.matrix:
            matrix(chosen, complete=not arguments.kernel)
        elif arguments.native:
            native([PTX / f"{s.name}.{v}.ptx" for s in chosen for v in s.variants], arguments.native)
        else:
            embed(chosen, write=not arguments.check, complete=not arguments.kernel)
    except Failure as failure:
        sys.exit(f"cuda/compile.py: {failure}")


def embed(sources: list[Source], write: bool, complete: bool) -> None:
    """Writes the checked-in PTX, or compares it; `complete` if there may be no other files."""
    nvrtc = Nvrtc(EMBEDDED)
    made = {f"{s.name}.{v}.ptx": s.embedded(nvrtc, v) for s in sources for v in s.variants}
    stale = {p.name for p in PTX.glob("*")} - made.keys() if complete else set()
    differing = {n for n, text in made.items()
                 if not (PTX / n).is_file() or (PTX / n).read_bytes() != text.encode()}
    if not write and (stale or differing):
        raise Failure(f"cuda/ptx is not what the sources give: {', '.join(sorted(stale | differing))};"
                      " run `python3 cuda/compile.py`")
    for name in stale:
        (PTX / name).unlink()
    PTX.mkdir(exist_ok=True)
    for name in differing:
        (PTX / name).write_bytes(made[name].encode())
    print(f"cuda/ptx: {len(made)} files, {len(differing)} written, {len(stale)} removed")


def matrix(sources: list[Source], complete: bool) -> None:
    """Assembles, for every architecture, both the PTX that is checked in and that made for it."""
    embedded, native, ptxas = Nvrtc(EMBEDDED), Nvrtc(NATIVE), find("ptxas", NATIVE)

    def measure(source: Source, variant: str) -> dict[str, list[list[Used]]]:
        """By kernel and architecture, what the two ways of compiling it take."""
        portable = source.embedded(embedded, variant)
        kernels: dict[str, list[list[Used]]] = {}
        for architecture in ARCHITECTURES:
            own = native.compile(source, source.options(variant, architecture))
            ways = [assemble(ptxas, ptx, architecture, source.name) for ptx in [portable, own]]
            for kernel in ways[0]:
                kernels.setdefault(kernel, []).append([way[kernel] for way in ways])
        return kernels

    jobs = [(s, v) for s in sources for v in s.variants]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: measure(*job), jobs))
    shared = kernels_of_several_sources()
    report({(f"{source.name}:{kernel}" if kernel in shared else kernel, variant): row
            for (source, variant), kernels in zip(jobs, results) for kernel, row in kernels.items()},
           complete)


def native(paths: list[Path], folder: Path) -> None:
    """Assembles the PTX in the files at `paths` for the architectures of machine code."""
    ptxas, made_of = find("ptxas", NATIVE), folder / MADE_OF
    if folder.exists() and not (made_of.is_file() or folder.is_dir() and not any(folder.iterdir())):
        raise Failure(f"{folder} has no {MADE_OF}, so it is not machine code of a run before;"
                      " name a folder that is empty or does not exist")
    if missing := [path.name for path in paths if not path.is_file()]:
        raise Failure(f"cuda/ptx lacks {', '.join(missing)}; run `python3 cuda/compile.py`")
    folder.mkdir(parents=True, exist_ok=True)
    made_of.write_text("")
    for old in folder.glob("sm_*"):
        shutil.rmtree(old)

    def write(job: tuple[Path, int]) -> int:
        path, architecture = job
        cubin = folder / f"sm_{architecture}" / f"{path.stem}.cubin"
        cubin.parent.mkdir(exist_ok=True)
        run_ptxas(ptxas, path, architecture, cubin)
        return cubin.stat().st_size

    jobs = [(path, architecture) for architecture in MACHINE_CODE for path in paths]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        size = sum(pool.map(write, jobs))
    made_of.write_text("".join(path.open().readline() for path in paths))
    print(f"{len(jobs)} files, {size / 1e6:.1f} MB; pack them by TOPOPT_CUBINS={folder.resolve()}")


def kernels_of_several_sources() -> set[str]:
    """Names of kernels that sources have in common, as they come from a header of both."""
    names = Counter(name for ptx in PTX.glob("*.f64.ptx") if ".modes." not in ptx.name
                    for name in re.findall(r"\.entry (\w+)\(", ptx.read_text()))
    return {name for name, count in names.items() if count > 1}


def report(rows: dict[tuple[str, str], list[list[Used]]], complete: bool) -> None:
    """Shows the table, and fails on local memory that is not listed."""
    print("Registers of a thread: of the checked-in PTX/compiled for the architecture, +bytes of"
          " local memory")
    print(f"{'kernel':47}" + "".join(f"{f'sm_{a}':>9}" for a in ARCHITECTURES))
    allowed, failures = stack_list(), []
    for (kernel, variant), row in rows.items():
        local = [max(used.local for used in ways) for ways in row]
        cells = ["/".join(dict.fromkeys(str(used.registers) for used in ways)) + (f"+{more}" if more else "")
                 for ways, more in zip(row, local)]
        print(f"{f'{kernel} {variant}':46}" + "".join(f" {c:>8}" for c in cells))
        too_much = [f"sm_{a}" for a, more in zip(ARCHITECTURES, local)
                    if more > allowed.get((kernel, variant), 0)]
        if too_much:
            failures.append(f"{kernel} {variant} takes up to {max(local)} bytes on {', '.join(too_much)}")
        if complete and not any(local) and allowed.pop((kernel, variant), None):
            failures.append(f"{kernel} {variant} is listed and needs none")
    if complete:
        failures += [f"{' '.join(key)} is listed and does not exist" for key in allowed.keys() - rows.keys()]
    if failures:
        raise Failure("local memory (stack frame, spills) is not as listed in cuda/stack.txt:\n  "
                      + "\n  ".join(failures))


def assemble(ptxas: Path, ptx: str, architecture: int, name: str) -> dict[str, Used]:
    """What each kernel in `ptx` takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.ptx")
        path.write_text(ptx)
        log = run_ptxas(ptxas, path, architecture, Path(folder, "cubin"))
    pattern = (r"Compiling entry function '(\w+)' for.*?(\d+) bytes stack frame, (\d+) bytes spill stores,"
               r" (\d+) bytes spill loads.*?Used (\d+) registers")
    return {kernel: Used(int(registers), max(map(int, local)))
            for kernel, *local, registers in re.findall(pattern, log, re.S)}


def run_ptxas(ptxas: Path, path: Path, architecture: int, cubin: Path) -> str:
    """Writes the machine code of the PTX at `path`, and returns what the assembler says."""
    done = subprocess.run([ptxas, f"-arch=sm_{architecture}", "-v", "-o", cubin, path],
                          capture_output=True, text=True)
    log = done.stdout + done.stderr
    complaints = [line for line in log.splitlines() if re.search(r"warning|error|fatal", line)]
    if done.returncode or complaints:
        raise Failure(f"{path.stem} for sm_{architecture}: ptxas complains:\n" + ("\n".join(complaints) or log))
    return log


def stack_list() -> dict[tuple[str, str], int]:
    lines = STACK_LIST.read_text().splitlines() if STACK_LIST.is_file() else []
    entries = {}
    for line in lines:
        if line and not line.startswith("#"):
            found = re.fullmatch(r"([\w:]+) +((?:modes\.)?(?:f64|f32)) +(\d+) +\S.*", line)
            if not found:
                raise Failure(f"{STACK_LIST}: `{line}` is not `KERNEL VARIANT BYTES REASON`")
            entries[found.group(1), found.group(2)] = int(found.group(3))
    return entries


def variable(version: str) -> str:
    return f"TOPOPT_NVRTC_{version.replace('.', '_')}"


def find(file: str, version: str) -> Path:
    """The file of the pinned packages, which are installed below the build folder if need be."""
    named = os.environ.get(variable(version))
    folder = Path(named) if named else BUILD / f"nvrtc-{version}"
    if not named and not folder.is_dir():
        install(version, folder)
    found = sorted(p for p in folder.rglob(file) if p.is_file())
    if not found:
        raise Failure(f"no {file} in {folder}; " + (f"check {variable(version)}" if named else "remove it"))
    return found[0]


def install(version: str, folder: Path) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as scratch:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                   "--no-deps", "--target", f"{scratch}/packages", *PACKAGES[version]]
        environment = os.environ | {"PIP_ROOT_USER_ACTION": "ignore"}
        if subprocess.run(command, env=environment).returncode:
            raise Failure(f"pip could not install {' '.join(PACKAGES[version])}; install it yourself and"
                          f" name its folder by {variable(version)}")
        os.replace(f"{scratch}/packages", folder)


if __name__ == "__main__":
    main()
