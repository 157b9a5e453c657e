#!/usr/bin/env python3
"""Reads a .vtu, .pvtu, .vti or .pvd file by VTK's own readers and prints what it finds as JSON.

    python3 vtk_readback.py FILE

{"type": "vtu", "points": N, "cells": N, "bounds": [...], "point_data": [...], "cell_data": [...]}
with, for a .vti, also "dimensions", "origin" and "spacing". Each array is {"name", "type",
"components", "count", "min", "max", "sum", "first", "last"}: min, max and sum are lists by
component that leave NaN out ("nan" is their number); first and last are whole tuples.
A .pvd gives {"type": "pvd", "files": [{"time", "file", "data": as above}, ...]}.

Exit status: 0 read; 1 unreadable, with the reason on stderr; 77 VTK cannot be imported.
"""

import json
import math
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

try:
    from vtkmodules.vtkCommonCore import vtkLogger
    from vtkmodules.vtkIOXML import (
        vtkXMLImageDataReader,
        vtkXMLPUnstructuredGridReader,
        vtkXMLUnstructuredGridReader,
    )
except ImportError as error:
    print(f"VTK cannot be imported ({error}); install it with `pip install vtk`", file=sys.stderr)
    sys.exit(77)


def number(value):
    """A value that JSON can hold: NaN and infinities as text."""
    return value if math.isfinite(value) else repr(value)


def summary(array):
    components = array.GetNumberOfComponents()
    count = array.GetNumberOfTuples()
    columns = [[] for _ in range(components)]
    for i in range(count):
        for column, value in zip(columns, array.GetTuple(i)):
            if not math.isnan(value):
                column.append(value)
    return {
        "name": array.GetName(),
        "type": array.GetDataTypeAsString(),
        "components": components,
        "count": count,
        "nan": components * count - sum(map(len, columns)),
        "min": [number(min(c, default=math.nan)) for c in columns],
        "max": [number(max(c, default=math.nan)) for c in columns],
        "sum": [number(math.fsum(c)) for c in columns],
        "first": [number(v) for v in array.GetTuple(0)] if count else [],
        "last": [number(v) for v in array.GetTuple(count - 1)] if count else [],
    }


def arrays(attributes):
    return [summary(attributes.GetArray(i)) for i in range(attributes.GetNumberOfArrays())]


def read_data(path):
    readers = {
        ".vtu": vtkXMLUnstructuredGridReader,
        ".pvtu": vtkXMLPUnstructuredGridReader,
        ".vti": vtkXMLImageDataReader,
    }
    if path.suffix not in readers:
        sys.exit(f"{path}: not a .vtu, .pvtu, .vti or .pvd file")
    if not path.is_file():
        sys.exit(f"{path}: no such file")
    errors = []
    reader = readers[path.suffix]()
    reader.AddObserver("ErrorEvent", lambda _, event: errors.append(event))
    reader.SetFileName(str(path))
    reader.Update()
    if errors or reader.GetErrorCode():
        sys.exit(f"{path}: VTK's reader reports an error (code {reader.GetErrorCode()})")
    data = reader.GetOutput()
    found = {
        "type": path.suffix[1:],
        "points": data.GetNumberOfPoints(),
        "cells": data.GetNumberOfCells(),
        "bounds": list(data.GetBounds()),
        "point_data": arrays(data.GetPointData()),
        "cell_data": arrays(data.GetCellData()),
    }
    if path.suffix == ".vti":
        found["dimensions"] = list(data.GetDimensions())
        found["origin"] = list(data.GetOrigin())
        found["spacing"] = list(data.GetSpacing())
    elif data.GetNumberOfCells() > 0:
        types = data.GetDistinctCellTypesArray()
        found["cell_types"] = [types.GetValue(i) for i in range(types.GetNumberOfTuples())]
        last = data.GetCell(data.GetNumberOfCells() - 1)
        found["last_cell"] = [last.GetPointId(i) for i in range(last.GetNumberOfPoints())]
    return found


def read_series(path):
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        sys.exit(f"{path}: {error}")
    files = []
    for entry in root.iter("DataSet"):
        name = entry.get("file")
        data = read_data(path.parent / name)
        files.append({"time": float(entry.get("timestep")), "file": name, "data": data})
    return {"type": "pvd", "files": files}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
    path = pathlib.Path(sys.argv[1])
    found = read_series(path) if path.suffix == ".pvd" else read_data(path)
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
