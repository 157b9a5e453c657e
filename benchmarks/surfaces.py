"""Exports designs in three qualities, and looks at the surfaces with other programs:

    python3 benchmarks/surfaces.py TOPOPT RESULT... [--pictures FOLDER]

TOPOPT is the program, a RESULT the folder of a finished run. Prints a row per surface: what pymeshlab finds to cross
itself, what trimesh finds closed and oriented, how far the volume is from that of the design, the smallest shell in
elements, the share of dihedral angles above 60 degrees away from the part's own faces, and how far vertices lie
outside of the part and off its faces, in element widths. Fails where a surface crosses itself, is open, or has
another volume. Needs numpy, pyvista, trimesh (with networkx and scipy) and pymeshlab.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pymeshlab
import pyvista as pv
import trimesh

QUALITIES = ("draft", "print", "show")
STEEP = np.radians(60)

# Nearer than this, in element widths, a vertex lies on a face of the part.
ON_FACE = 1e-4


def crossings(path):
    meshes = pymeshlab.MeshSet()
    meshes.load_new_mesh(str(path))
    meshes.meshing_merge_close_vertices(threshold=pymeshlab.PercentageValue(0))
    meshes.compute_selection_by_self_intersections_per_face()
    return meshes.current_mesh().selected_face_number()


def looked_at(path, part, width, volume):
    surface = trimesh.load(path)
    shells = [abs(shell.volume) / width**3 for shell in surface.split(only_watertight=False)]
    distance = pv.PolyData(surface.vertices).compute_implicit_distance(part)["implicit_distance"] / width

    is_on = np.abs(distance) < ON_FACE
    is_away = ~is_on[surface.face_adjacency_edges].any(axis=1)
    is_steep = surface.face_adjacency_angles > STEEP
    return {
        "triangles": len(surface.faces),
        "crossing": crossings(path),
        "closed": surface.is_watertight and surface.is_winding_consistent,
        "volume": surface.volume / volume - 1,
        "shells": len(shells),
        "smallest": min(shells),
        "steep": 100 * is_steep[is_away].mean(),
        "outside": max(distance.max(), 0.0) + 0.0,
        "off": np.abs(distance[is_on]).max(),
    }


def picture(path, target):
    plotter = pv.Plotter(off_screen=True, window_size=(900, 650))
    plotter.add_mesh(pv.read(path), color="#8db4dc", smooth_shading=True, split_sharp_edges=True, feature_angle=40)
    plotter.camera_position = "iso"
    plotter.screenshot(target)
    plotter.close()


def main():
    arguments = sys.argv[1:]
    pictures = None
    if "--pictures" in arguments:
        place = arguments.index("--pictures")
        pictures = Path(arguments[place + 1])
        del arguments[place : place + 2]
    program, results = arguments[0], [Path(result) for result in arguments[1:]]

    print("| design | quality | triangles | crossing | closed | volume | shells | smallest shell | steep % |"
          " outside | off a face |")
    print("|" + "---|" * 11)
    failed = False
    for result in results:
        design = pv.read(result / "design.vtu")
        sizes = design.compute_cell_sizes(length=False, area=False)["Volume"]
        volume = float(sizes @ design["density"])
        # The mean over the volume of the part, as the program has it.
        width = float(sizes @ np.cbrt(sizes) / sizes.sum())
        part = design.extract_surface(algorithm="dataset_surface").triangulate()
        with tempfile.TemporaryDirectory() as folder:
            for quality in QUALITIES:
                path = Path(folder) / "surface.stl"
                command = [program, "export", result, "--quality", quality, "-o", path]
                subprocess.run(command, check=True, capture_output=True)
                found = looked_at(path, part, width, volume)
                print(f"| {result.name} | {quality} | {found['triangles']} | {found['crossing']} |"
                      f" {'yes' if found['closed'] else 'no'} | {found['volume']:+.1e} | {found['shells']} |"
                      f" {found['smallest']:.2f} | {found['steep']:.3f} | {found['outside']:.1e} |"
                      f" {found['off']:.1e} |", flush=True)
                failed |= found["crossing"] > 0 or not found["closed"] or abs(found["volume"]) > 1e-3
                if pictures:
                    picture(path, pictures / f"{result.name}_{quality}.png")
    sys.exit(int(failed))


main()
