#!/usr/bin/env python3
"""Says what of an exported part falls when it is printed without props: a check beside `topopt verify`.

    python3 benchmarks/printed_without_props.py PART.stl AXIS ANGLE [--down] [--width W] [--plate HEIGHT]

AXIS is x, y or z, upwards, or downwards with --down; ANGLE the largest one from upright, in degrees; W the width of an
element (by default 1). The part becomes cubes of W/8 in layers of W/4. A layer is held where it lies within
tan(ANGLE) W/4 of what is held in the layer below, and by bridges of half an element; what is held up by nothing
holds up nothing. Needs NumPy, SciPy and VTK.
"""

import argparse

import numpy as np
from scipy.ndimage import distance_transform_edt
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import VTK_UNSIGNED_CHAR
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkImagingStencil import vtkImageStencil, vtkPolyDataToImageStencil
from vtkmodules.vtkIOGeometry import vtkSTLReader


def cubes(path, axis, width):
    """Whether cubes are in the part, [layers][.][.], from the lowest layer on, and the edges of the layers."""
    reader = vtkSTLReader()
    reader.SetFileName(path)
    reader.Update()
    part = reader.GetOutput()
    low, high = np.array(part.GetBounds()).reshape(3, 2).T
    spacing = np.full(3, width / 8)
    spacing[axis] = width / 4
    origin = np.floor(low / width) * width
    shape = np.ceil((high - origin) / spacing).astype(int) + 1
    # A little off, so that no center lies in a face.
    centers = origin + 0.50005 * spacing
    stencil = vtkPolyDataToImageStencil()
    stencil.SetInputData(part)
    stencil.SetOutputSpacing(spacing)
    stencil.SetOutputOrigin(centers)
    stencil.SetOutputWholeExtent(*np.stack([0 * shape, shape - 1], 1).ravel())
    stencil.SetTolerance(0)
    image = vtkImageData()
    image.SetDimensions(shape)
    image.SetSpacing(spacing)
    image.SetOrigin(centers)
    image.AllocateScalars(VTK_UNSIGNED_CHAR, 1)
    vtk_to_numpy(image.GetPointData().GetScalars())[:] = 1
    cut = vtkImageStencil()
    cut.SetInputData(image)
    cut.SetStencilConnection(stencil.GetOutputPort())
    cut.SetBackgroundValue(0)
    cut.Update()
    values = vtk_to_numpy(cut.GetOutput().GetPointData().GetScalars())
    solid = values.reshape(shape[::-1]).T.astype(bool)
    return np.moveaxis(solid, axis, 0), origin[axis] + spacing[axis] * np.arange(shape[axis])


def closed(layer, reach, edge):
    """A layer with gaps of twice the reach closed."""
    if not layer.any():
        return layer
    room = int(np.ceil(reach / edge)) + 2
    grown = distance_transform_edt(~np.pad(layer, room), sampling=edge) <= reach
    return (distance_transform_edt(grown, sampling=edge) > reach)[room:-room, room:-room]


def held(solid, first, angle, width):
    """Whether cubes are held up, layer by layer from the `first` on."""
    edge, height = width / 8, width / 4
    reach, bridge = np.tan(np.radians(angle)) * height + edge / 2, width / 4 + edge / 2
    is_held = np.zeros_like(solid)
    is_held[: first + 1] = solid[: first + 1]
    for k in range(first + 1, len(solid)):
        below = is_held[k - 1]
        if below.any():
            near = solid[k] & (distance_transform_edt(~below, sampling=edge) <= reach)
            is_held[k] = solid[k] & (near | closed(near, bridge, edge) | closed(below, bridge, edge))
    return is_held


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part")
    parser.add_argument("axis", choices=["x", "y", "z"])
    parser.add_argument("angle", type=float)
    parser.add_argument("--down", action="store_true")
    parser.add_argument("--width", type=float, default=1.0)
    parser.add_argument("--plate", type=float)
    given = parser.parse_args()
    solid, edges = cubes(given.part, "xyz".index(given.axis), given.width)
    if given.down:
        solid, edges = solid[::-1], edges[::-1]
    first = int(np.argmax(solid.any((1, 2))))
    if given.plate is not None:
        first = int(np.argmin(np.abs(edges - given.plate)))
    lost = solid & ~held(solid, first, given.angle, given.width)
    print(f"{100 * lost.sum() / solid.sum():.2f} % of the part falls at {given.angle:g} degrees")


if __name__ == "__main__":
    main()
