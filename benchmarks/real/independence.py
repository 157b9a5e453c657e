#!/usr/bin/env python3
"""One cantilever on four meshes of equal mean size, with both filters: how much the mesh decides.

    python3 benchmarks/real/independence.py PROGRAM FOLDER

Meshes: even; sizes of 1 and 5 in turn in all directions; random widths; tetrahedra cut into four (which needs the
Python package gmsh, or FOLDER/tetrahedra.msh). Prints compliances after 100 iterations, and those of the designs
interpolated to the even mesh and solved there.
"""

import json
import pathlib
import subprocess
import sys

CASE = """
[mesh]
file = "{mesh}"
[material]
youngs_modulus = 1.0
poissons_ratio = 0.3
[[select]]
name = "left"
kind = "faces"
plane = {{ point = [0, 0, 0], normal = [1, 0, 0] }}
[[select]]
name = "right"
kind = "faces"
plane = {{ point = [60, 0, 0], normal = [1, 0, 0] }}
[[supports]]
set = "left"
[[loads]]
set = "right"
total_force = [0, -1, 0]
[design]
style = "smooth"
keep_loaded = "free"
volume_fraction = 0.3
[filter]
kind = "{kind}"
radius = 4.0
[optimizer]
max_iterations = 100
change_tolerance = 0.0
compliance_tolerance = 0.0
[output]
vti_spacing = 0
"""
CELLS = (60, 30, 30)


def widths(kind, n):
    state, out = 7 * n, []
    for k in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append({"even": 1.0, "alternating": 1.0 if k % 2 else 5.0, "random": 0.4 + 1.2 * (state >> 11) / 2**53}[kind])
    return [w * n / sum(out) for w in out]


def grid(kind, path):
    lines = []
    for n in CELLS:
        line = [0.0]
        for w in widths(kind, n):
            line.append(line[-1] + w)
        line[-1] = float(n)
        lines.append(line)
    nx, ny, nz = (len(line) for line in lines)
    node = lambda i, j, k: 1 + i + nx * (j + ny * k)
    with open(path, "w") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{nx * ny * nz}\n")
        for k, z in enumerate(lines[2]):
            for j, y in enumerate(lines[1]):
                file.writelines(f"{node(i, j, k)} {x:.15g} {y:.15g} {z:.15g}\n" for i, x in enumerate(lines[0]))
        file.write(f"$EndNodes\n$Elements\n{(nx - 1) * (ny - 1) * (nz - 1)}\n")
        corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
        e = 0
        for k in range(nz - 1):
            for j in range(ny - 1):
                for i in range(nx - 1):
                    e += 1
                    nodes = " ".join(str(node(i + a, j + b, k + c)) for a, b, c in corners)
                    file.write(f"{e} 5 2 1 1 {nodes}\n")
        file.write("$EndElements\n")


def tetrahedra(path):
    import gmsh
    gmsh.initialize()
    gmsh.option.setNumber("General.Verbosity", 2)
    gmsh.model.occ.addBox(0, 0, 0, *CELLS)
    gmsh.model.occ.synchronize()
    gmsh.model.addPhysicalGroup(3, [1], name="body")
    for key, value in (("MeshSizeMax", 2.59), ("MeshSizeMin", 2.59), ("SubdivisionAlgorithm", 2), ("Algorithm3D", 10),
                       ("Binary", 1), ("MshFileVersion", 4.1)):
        gmsh.option.setNumber(f"Mesh.{key}", value)
    gmsh.model.mesh.generate(3)
    gmsh.write(str(path))


def density_on_grid(program, folder, result):
    """Densities on the even mesh, by a run of no steps that begins with the design."""
    case = folder / "on_even.toml"
    case.write_text(CASE.format(mesh=folder / "even.msh", kind="sensitivity"))
    out = folder / "on_even"
    subprocess.run([program, "run", case, "--start-from", result, "-o", out, "--overwrite", "--log", "quiet", "--set",
                    "optimizer.max_iterations=1", "--set", "output.compression=none"], check=True)
    return json.loads((out / "summary.json").read_text())["compliance"]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("even", "alternating", "random"):
        grid(kind, folder / f"{kind}.msh")
    if not (folder / "tetrahedra.msh").exists():
        tetrahedra(folder / "tetrahedra.msh")
    print("| filter | mesh | elements | compliance | over even | solved on the even mesh, over even | grey level |\n|" + "---|" * 7)
    for kind in ("sensitivity", "density", "sensitivity_unweighted"):
        even = on_even = None
        for mesh in ("even", "alternating", "random", "tetrahedra"):
            case, out = folder / f"{mesh}_{kind}.toml", folder / f"{mesh}_{kind}"
            case.write_text(CASE.format(mesh=folder / f"{mesh}.msh", kind=kind))
            subprocess.run([program, "run", case, "-o", out, "--overwrite", "--log", "quiet"], check=True)
            summary = json.loads((out / "summary.json").read_text())
            compliance, solved = summary["compliance"], density_on_grid(program, folder, out)
            even, on_even = even or compliance, on_even or solved
            print(f"| {kind} | {mesh} | {summary['elements']:,} | {compliance:.3f} | {compliance / even:.4f} "
                  f"| {solved / on_even:.4f} | {summary.get('grey_level', float('nan')):.3f} |", flush=True)


main()
