#!/usr/bin/env python3
"""Reads surfaces (.stl, .obj, .ply, .vtp, .3mf, .glb) and prints what VTK says of them as a JSON list.

    python3 surface_readback.py FILE...

[{"type": "stl", "points": N, "triangles": N, "other_cells": N, "bounds": [...], "open_edges": N,
  "nonmanifold_edges": N, "turned_edges": N, "regions": N, "volume": V, "signed_volume": V,
  "unit": "millimeter" or null}, ...]

Edges are counted by vtkFeatureEdges; `turned_edges` are directed edges that do not have their
reverse exactly once. `volume` is that of vtkMassProperties, `signed_volume` the divergence theorem,
positive where the triangles point outwards. A .3mf is unzipped and parsed by Python alone. Of a .glb
the nodes are applied, so that it is in meters with y upwards, and vertices at the same place are
made one again.

Exit status: 0 read; 1 unreadable, with the reason on stderr; 77 VTK cannot be imported.
"""

import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree
import zipfile

try:
    from vtkmodules.vtkCommonCore import vtkIdList, vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
    from vtkmodules.vtkFiltersCore import (
        vtkAppendPolyData,
        vtkCleanPolyData,
        vtkFeatureEdges,
        vtkMassProperties,
        vtkPolyDataConnectivityFilter,
    )
    from vtkmodules.vtkIOGeometry import vtkGLTFReader, vtkOBJReader, vtkSTLReader
    from vtkmodules.vtkIOPLY import vtkPLYReader
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
except ImportError as error:
    print(f"VTK cannot be imported ({error}); install it with `pip install vtk`", file=sys.stderr)
    sys.exit(77)

CORE = "{http://schemas.microsoft.com/3dmanufacturing/core/2015/02}"


def output_of_vtk(reader, path):
    reader.SetFileName(str(path))
    reader.Update()
    if reader.GetErrorCode():
        sys.exit(f"{path}: VTK's reader reports an error (code {reader.GetErrorCode()})")
    return reader.GetOutput()


def read_by_vtk(path):
    readers = {
        ".stl": vtkSTLReader,
        ".obj": vtkOBJReader,
        ".ply": vtkPLYReader,
        ".vtp": vtkXMLPolyDataReader,
    }
    return output_of_vtk(readers[path.suffix](), path), None


def read_glb(path):
    """All meshes of a scene, in the coordinates of the scene."""
    joined, merged = vtkAppendPolyData(), vtkCleanPolyData()
    leaves = output_of_vtk(vtkGLTFReader(), path).NewTreeIterator()
    while not leaves.IsDoneWithTraversal():
        joined.AddInputData(leaves.GetCurrentDataObject())
        leaves.GoToNextItem()
    merged.SetInputConnection(joined.GetOutputPort())
    merged.SetTolerance(0)
    merged.Update()
    return merged.GetOutput(), "meter"


def read_3mf(path):
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        if not {"[Content_Types].xml", "_rels/.rels"} <= names:
            sys.exit(f"{path}: no package: {sorted(names)}")
        relations = ElementTree.fromstring(archive.read("_rels/.rels"))
        target = next(iter(relations)).get("Target").lstrip("/")
        model = ElementTree.fromstring(archive.read(target))
    objects = model.findall(f"{CORE}resources/{CORE}object")
    items = model.findall(f"{CORE}build/{CORE}item")
    if len(objects) != 1 or [i.get("objectid") for i in items] != [objects[0].get("id")]:
        sys.exit(f"{path}: not one object that is built")
    points, polygons = vtkPoints(), vtkCellArray()
    points.SetDataTypeToDouble()
    for vertex in objects[0].iter(f"{CORE}vertex"):
        points.InsertNextPoint(*(float(vertex.get(axis)) for axis in "xyz"))
    for triangle in objects[0].iter(f"{CORE}triangle"):
        polygons.InsertNextCell(3)
        for corner in ("v1", "v2", "v3"):
            polygons.InsertCellPoint(int(triangle.get(corner)))
    data = vtkPolyData()
    data.SetPoints(points)
    data.SetPolys(polygons)
    return data, model.get("unit")


def count_edges(data, kind):
    edges = vtkFeatureEdges()
    edges.SetInputData(data)
    edges.FeatureEdgesOff()
    edges.ManifoldEdgesOff()
    edges.SetBoundaryEdges(kind == "boundary")
    edges.SetNonManifoldEdges(kind == "nonmanifold")
    edges.Update()
    return edges.GetOutput().GetNumberOfCells()


def triangles_of(data):
    cells = data.GetPolys()
    cells.InitTraversal()
    ids = vtkIdList()
    while cells.GetNextCell(ids):
        yield tuple(ids.GetId(i) for i in range(ids.GetNumberOfIds()))


def summary(path):
    data, unit = {".3mf": read_3mf, ".glb": read_glb}.get(path.suffix, read_by_vtk)(path)
    directed, signed = collections.Counter(), 0.0
    apex = data.GetPoint(0)
    for a, b, c in triangles_of(data):
        directed.update([(a, b), (b, c), (c, a)])
        p, q, r = ([x - o for x, o in zip(data.GetPoint(i), apex)] for i in (a, b, c))
        signed += p[0] * (q[1] * r[2] - q[2] * r[1]) / 6
        signed += p[1] * (q[2] * r[0] - q[0] * r[2]) / 6
        signed += p[2] * (q[0] * r[1] - q[1] * r[0]) / 6
    mass, regions = vtkMassProperties(), vtkPolyDataConnectivityFilter()
    for tool in (mass, regions):
        tool.SetInputData(data)
    regions.SetExtractionModeToAllRegions()
    regions.Update()
    return {
        "type": path.suffix[1:],
        "points": data.GetNumberOfPoints(),
        "triangles": data.GetNumberOfPolys(),
        "other_cells": data.GetNumberOfCells() - data.GetNumberOfPolys(),
        "bounds": list(data.GetBounds()),
        "open_edges": count_edges(data, "boundary"),
        "nonmanifold_edges": count_edges(data, "nonmanifold"),
        "turned_edges": sum(
            n != 1 or directed[(b, a)] != 1 for (a, b), n in list(directed.items())
        ),
        "regions": regions.GetNumberOfExtractedRegions(),
        "volume": mass.GetVolume(),
        "signed_volume": signed,
        "unit": unit,
    }


if __name__ == "__main__":
    print(json.dumps([summary(pathlib.Path(name)) for name in sys.argv[1:]], indent=1))
