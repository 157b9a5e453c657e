"""Known defects around the program: programs that are run, files that are lost, streams, memory, signals."""

import os
import re
import resource
import signal
import time

import cases
import world
from verdict import CODE_RUN, HANG, UNCLEAR, WRONG, require, sound, whole

EVIL = '#!/bin/sh\ntouch "$(dirname "$0")/started"\nexit 1\n'


def evil(place):
    """A program that leaves a trace where it is run."""
    place.write("evil.sh", EVIL).chmod(0o755)
    return place.inside / "started"


def case_that_names_gmsh(place):
    """`check` does not run the program that a case names."""
    trace = evil(place)
    place.write("p.geo", "")
    place.write("a.toml", cases.text(cases.simple({"file": "p.geo", "gmsh": "./evil.sh"})))
    done = place.run("check", "a.toml")
    require(not trace.exists(), CODE_RUN, "`check` runs what `mesh.gmsh` names")
    sound(done, statuses=(1,))


def results_that_name_gmsh(place):
    """Nor does `verify`."""
    trace = evil(place)
    world.prepare(place)
    place.require("run", "a.toml", "-o", "r")
    place.write("p.geo", "")
    case = (place.inside / "r" / "case.toml").read_text()
    changed = re.sub(r'\nfile = ".*"', f'\nfile = "{place.inside}/p.geo"\ngmsh = "{place.inside}/evil.sh"', case)
    place.write("r/case.toml", changed)
    done = place.run("verify", "r")
    require(not trace.exists(), CODE_RUN, "`verify` runs what case.toml names")
    sound(done, statuses=(1, 2))


def geometry_with_commands(place):
    """A geometry with commands reaches no Gmsh unless it is trusted."""
    trace = evil(place)
    for text in ('SystemCall "touch x";', 'Printf("x") > "x";', 'Save "x.msh";', 'Physical Volume(GetEnv("HOME")) = {1};',
                 'x() = ListFromFile("/etc/hostname");', 'Merge "/etc/part.step";'):
        place.write("part.geo", f"SetFactory(\"OpenCASCADE\");\nBox(1) = {{0, 0, 0, 1, 1, 1}};\n{text}\n")
        done = place.run("info", "part.geo", environment={"GMSH": str(place.inside / "evil.sh")})
        require(not trace.exists(), CODE_RUN, f"Gmsh is given a geometry with {text}")
        sound(done, statuses=(1,))


def facets_that_bound_nothing(place):
    """STL files that enclose nothing reach no Gmsh, which works on them until its time is up."""
    trace = evil(place)
    corners = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"]
    closed = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    for vertex, facets in ((["nan 0 0", *corners[1:]], closed), (["1e30 0 0", *corners[1:]], closed),
                           ([*corners[:3], "1 1 0"], closed), (corners, closed[1:])):
        loops = ["".join(f"vertex {vertex[i]}\n" for i in facet) for facet in facets]
        facets = "".join(f"facet normal 0 0 0\nouter loop\n{loop}endloop\nendfacet\n" for loop in loops)
        place.write("part.stl", f"solid\n{facets}endsolid\n")
        done = place.run("info", "part.stl", environment={"GMSH": str(place.inside / "evil.sh")})
        require(not trace.exists(), HANG, "Gmsh is given facets that enclose nothing")
        sound(done, statuses=(1,))


def children_of_gmsh(place):
    """What Gmsh has started ends with it at the timeout."""
    program = place.write("slow.sh", '#!/bin/sh\nsleep 30 &\necho $! >"$(dirname "$0")/child"\nwait\n')
    program.chmod(0o755)
    place.write("part.geo", "Box(1) = {0, 0, 0, 1, 1, 1};\n")
    place.write("a.toml", cases.text(cases.simple({"file": "part.geo", "gmsh_timeout": 1.0})))
    done = place.run("check", "a.toml", environment={"GMSH": str(program)})
    sound(done, statuses=(1,))
    child = int((place.inside / "child").read_text())
    time.sleep(0.2)
    lives = os.path.exists(f"/proc/{child}") and "Z" not in open(f"/proc/{child}/stat").read().split()[2]
    if lives:
        os.kill(child, signal.SIGKILL)
    require(not lives, WRONG, "a child of Gmsh lives on")


def command_with_quotes(place):
    """The command to go on with holds for a folder whose name has quotes."""
    name = "y';touch PWN;'"
    world.prepare(place)
    place.require("run", "a.toml", "-o", name)
    (place.inside / name / "summary.json").unlink()
    done = place.run("report", name)
    sound(done)
    text = done.out + done.err + "".join(path.read_text() for path in place.inside.glob("y*/report.html"))
    bad = re.search(r"topopt run '?y';touch PWN;'", text)
    require(not bad, CODE_RUN, "the command to go on with runs `touch` when pasted")


def error_stream_that_is_full(place):
    """No place for the message."""
    with open("/dev/full", "wb") as full:
        sound(place.run("run", "nope.toml", stderr=full), statuses=(1,))


def error_stream_that_is_closed(place):
    """No reader for the message."""
    reader, writer = os.pipe()
    os.close(reader)
    done = place.run("run", "nope.toml", stderr=writer)
    os.close(writer)
    sound(done, statuses=(1, -signal.SIGPIPE))


def run_in_little_memory(place, **environment):
    """Out of memory is an error and no abort, with whole results or none, in steps below the need."""
    world.prepare(place, (20, 12, 12))
    floor = int((place.shared("memory", world.least_memory) / "floor").read_text())
    for more in range(2, 60, 8):
        done = place.run("run", "a.toml", "-o", f"r{more}", memory=floor + (more << 20), environment=environment,
                         limit=8)
        sound(done)
        whole(place.inside / f"r{more}", done)


def run_in_little_memory_with_backtrace(place):
    """The same where a backtrace is wanted."""
    run_in_little_memory(place, RUST_BACKTRACE="1")


def check_of_a_thousand_million_elements(place):
    """Refused by their number."""
    case = cases.simple({"generator": "cantilever", "elements": 10**9})
    place.write("a.toml", cases.text(case))
    sound(place.run("check", "a.toml"), statuses=(1,))


def term_while_waiting_for_a_pipe(place):
    """SIGTERM ends a command that waits for its input."""
    os.mkfifo(place.inside / "mesh.msh")
    done = place.run("info", "mesh.msh", sent=(0.3, signal.SIGTERM), limit=4)
    require(done.lag is None or done.lag < 1.0, HANG, "SIGTERM is not heard")


def file_size_limit(place):
    """A file larger than is allowed: an error, and no rest."""
    world.prepare(place, (20, 12, 12))
    done = place.run("run", "a.toml", "-o", "r", limits=[(resource.RLIMIT_FSIZE, 20 << 10)])
    sound(done, statuses=(1, 2))
    parts = [path.name for path in place.inside.rglob("*.topopt-part*")]
    require(not parts, WRONG, f"left behind: {parts}")


def deep_toml(place):
    """A case of too many levels is shown where that is."""
    text = cases.text({**cases.simple("mesh.msh"), "select": [{"name": "x", "kind": "nodes"}]})
    place.write("a.toml", f"{text}[select{'.not' * 200}]\nset = 'load'\n")
    done = place.run("check", "a.toml")
    sound(done, statuses=(1,))
    require("a.toml:1:1" not in done.err, UNCLEAR, "the message points at 1:1")


def checkpoint_that_is_a_folder(place):
    """The message names what is in the way."""
    world.prepare(place)
    (place.inside / "r" / "checkpoints" / "iteration_0011.ckpt").mkdir(parents=True)
    done = place.run("run", "a.toml", "-o", "r")
    sound(done, statuses=(1,))
    require("cannot remove the earlier results" not in done.err or "iteration_0011" in done.err, UNCLEAR, done.err)


INPUTS = [
    case_that_names_gmsh, results_that_name_gmsh, geometry_with_commands, facets_that_bound_nothing, error_stream_that_is_full,
    error_stream_that_is_closed, run_in_little_memory, check_of_a_thousand_million_elements,
    term_while_waiting_for_a_pipe, command_with_quotes, file_size_limit, children_of_gmsh, deep_toml,
    checkpoint_that_is_a_folder, run_in_little_memory_with_backtrace]
