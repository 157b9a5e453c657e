"""The world around a command: full and read-only disks, closed pipes, little memory, odd paths, two runs at once."""

import json
import os
import signal
import subprocess

import cases
import meshes
import results
from verdict import HANG, WRONG, require, sound, whole

NAMES = ["a\nb", "it's", 'quote"', "\u00fc\u6f22", b"\xff\xfe", "n" * 200, "n" * 300, "-", "--help", " ",
         "$(touch PWN)", "`touch PWN`", "%s%n", "a;touch PWN", "..x", "\u202etxt", "\U0001f4a9", "a\\b", "*", "~"]


def attempt(place, random, number):
    """The next of the scenarios, on a case of some elements."""
    prepare(place)
    SCENARIOS[number % len(SCENARIOS)](place, random)


def prepare(place, size=(8, 4, 4)):
    """A mesh and a case."""
    place.write("mesh.msh", meshes.msh(meshes.box(*size)))
    place.write("a.toml", cases.text(cases.simple("mesh.msh")))


def any_command(random, out):
    """A command that writes to the folder `out`; all but `run` read the results in `r`."""
    return random.choice((
        ["run", "a.toml", "-o", f"{out}/n"], ["export", "r", "-o", f"{out}/x.stl"],
        ["export", "r", "-o", f"{out}/x.3mf"], ["report", "r", "-o", f"{out}/x.html"],
        ["check", "a.toml", "--preview", f"{out}/x.vtu"],
        ["mesh", "cantilever", "--elements", "500", "-o", f"{out}/x.msh"]))


def is_root_with_mounts(place):
    """Whether small disks can be mounted; tried once."""
    folder = place.folder / "probe"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", folder]
    can = os.geteuid() == 0 and subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0
    if can:
        place.mounts.append(folder)
    return can


def disk(place, options):
    """A small disk as the folder `disk`."""
    folder = place.inside / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)
    place.mounts.append(folder)


def full_disk(place, random):
    """Writes to a disk that is too small."""
    if is_root_with_mounts(place):
        place.require("run", "a.toml", "-o", "r")
        disk(place, f"size={4 * random.randrange(1, 30)}k")
        done = place.run(*any_command(random, "disk"))
        sound(done)
        parts = [path.name for path in (place.inside / "disk").rglob("*.topopt-part*")]
        require(not parts, WRONG, f"left behind: {parts}")


def read_only_folder(place, random):
    """Writes into a folder that takes no files."""
    place.require("run", "a.toml", "-o", "r")
    if is_root_with_mounts(place):
        disk(place, "ro")
    elif os.geteuid() != 0:
        (place.inside / "disk").mkdir(mode=0o555)
    else:
        return
    sound(place.run(*any_command(random, "disk")), statuses=(1, 2), about=("disk",))


def closed_output(place, random):
    """Standard output or error that is full, or whose reader is gone."""
    place.require("run", "a.toml", "-o", "r")
    words = random.choice((
        ["run", "a.toml", "-o", "n"], ["run", "nope.toml"], ["info", "mesh.msh"], ["check", "a.toml"], ["verify", "r"],
        ["schema"], ["--help"], ["--nonsense"], ["info", "nope.msh"], ["run", "a.toml", "-o", "n", "--log", "json"]))
    if random.random() < 0.5:
        target = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, target = os.pipe()
        os.close(reader)
    names = random.choice((["stdout"], ["stderr"], ["stdout", "stderr"]))
    done = place.run(*words, **dict.fromkeys(names, target))
    os.close(target)
    sound(done, statuses=(0, 1, 2, -signal.SIGPIPE))


def little_memory(place, random):
    """An address space a little larger than what the program needs to start."""
    prepare(place, (20, 12, 12))
    shared = place.shared("memory", least_memory)
    floor = int((shared / "floor").read_text())
    words = random.choice((["run", "a.toml", "-o", "n"], ["check", "a.toml"], ["info", "mesh.msh"]))
    trace = {"RUST_BACKTRACE": "1"} if random.random() < 0.2 else {}
    done = place.run(*words, memory=floor + random.randrange(1 << 20, 60 << 20), environment=trace)
    sound(done)
    if words[0] == "run":
        whole(place.inside / "n", done)


def least_memory(place):
    """The address space in which `--version` succeeds."""
    memory = 4 << 20
    while place.run("--version", memory=memory).status != 0:
        memory += 1 << 20
    place.write("floor", str(memory))


def two_at_once(place, random):
    """Two runs of different volume into one folder: one is refused, or waits, and the results are of one."""
    for name, fraction in (("one", 0.3), ("two", 0.6)):
        case = cases.simple("mesh.msh", iterations=60, fraction=fraction, optimizer={"change_tolerance": 1e-9})
        place.write(f"{name}.toml", cases.text({**case, "output": {"checkpoint_every": 1}}))
    runs = [place.start("run", "one.toml", "-o", "r")]
    try:
        runs[0].wait(random.uniform(0.0, 0.3))
    except subprocess.TimeoutExpired:
        pass
    runs.append(place.start("run", "two.toml", "-o", "r"))
    ended = [place.finish(run) for run in runs]
    for done in ended:
        sound(done)
    folder = place.inside / "r"
    require(any(done.status == 0 for done in ended), WRONG, "both runs failed")
    summary = json.loads((folder / "summary.json").read_text())
    fraction = summary["settings"]["volume_fraction"]
    require(f"volume_fraction = {fraction}" in (folder / "case.toml").read_text(), WRONG,
            f"the summary is of {fraction}, case.toml is not")
    require(b"\0" not in (folder / "history.csv").read_bytes(), WRONG, "history.csv has a hole")
    rows = results.history(folder)
    numbers = [int(row["iteration"]) for row in rows]
    require(numbers == list(range(1, summary["iterations"] + 1)), WRONG, f"history.csv has iterations {numbers}")
    mixed = any(abs(float(row["volume_fraction"]) - fraction) > 0.01 for row in rows)
    require(not mixed, WRONG, "history.csv has rows of both runs")


def odd_path(place, random):
    """Mesh, case and results with an odd name: if it can be run, all else works too."""
    name = os.fsencode(random.choice(NAMES))
    folder = os.path.join(os.fsencode(place.inside), b"x")
    os.mkdir(folder)
    plain = name.decode(errors="ignore").encode() or b"plain"
    case = cases.simple(f"{plain.decode()}.msh", iterations=8, fraction=0.6)
    for file, data in ((plain + b".msh", (place.inside / "mesh.msh").read_bytes()),
                       (name + b".toml", cases.text(case).encode())):
        try:
            with open(os.path.join(folder, file), "wb") as out:
                out.write(data)
        except OSError:  # too long a name: then it is not there
            pass
    before, out = place.state(), os.path.join(b"x", name)
    done = place.run("run", out + b".toml", "-o", out)
    sound(done)
    if done.status == 0:
        for words in (["report", out], ["verify", out], ["export", out, "-o", out + b".stl"],
                      ["run", os.path.join(out, b"case.toml"), "--resume"]):
            sound(place.run(*words), statuses=(0,))
    place.unchanged(before, but=[os.fsdecode(out), os.fsdecode(out) + ".stl"])


def endless_input(place, random):
    """A pipe or a device as a file: an error, or the end with the first SIGTERM."""
    os.mkfifo(place.inside / "pipe")
    target = random.choice(("pipe", "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/proc/self/mem", "."))
    file = random.choice(("y.msh", "y.toml", "y.vtu", "y.inp", "y.cdb"))
    os.symlink(target, place.inside / file)
    words = ["check", file] if file == "y.toml" else ["info", file]
    done = place.run(*words, sent=(0.3, signal.SIGTERM), limit=6)
    require(done.lag is None or done.lag <= 1.0, HANG, f"{words} on {target}: {done.lag or 0:.1f} s after SIGTERM")
    sound(done, statuses=(1,) if done.lag is None else (1, 130, 143, -signal.SIGTERM))


SCENARIOS = [full_disk, closed_output, odd_path, little_memory, two_at_once, read_only_folder, closed_output, odd_path,
             endless_input]
