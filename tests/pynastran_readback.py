#!/usr/bin/env python3
"""Reads a deck of OptiStruct by pyNastran and prints what it finds as JSON.

    python3 pynastran_readback.py FILE

{"nodes": N, "elements": {"PROPERTY": N}, "volumes": {"PROPERTY": volume}, "low": [...], "high": [...],
"material": [E, nu, rho], "held": {"COMPONENTS": [grids]},
"subcases": [{"label", "weight", "limits", "force", "moment"}], "objective": [sense, response], "limits": set,
"responses": {"NUMBER": [type, component, grids]}, "bounds": [[set, response, least, most]],
"demands": [[fields], ...]}
where "limits" are the sets of DESSUB and DESGLB, force and moment are sums, moments about the origin, and demands
are the lines of DTPL, which pyNastran passes over.

Exit status: 0 read; 1 unreadable, with the reason on stderr; 77 pyNastran cannot be imported.
"""

import json
import pathlib
import sys
import tempfile

try:
    import numpy

    # pyNastran 1.4.1 asks for NumPy below 2 and needs one name of it that later ones have no more.
    if not hasattr(numpy, "in1d"):
        numpy.in1d = numpy.isin
    from pyNastran.bdf.bdf import BDF
    from pyNastran.bdf.case_control_deck import CaseControlDeck
    from pyNastran.bdf.mesh_utils.loads import sum_forces_moments
except ImportError as error:
    print(f"pyNastran cannot be imported ({error}); install it with `pip install pyNastran`", file=sys.stderr)
    sys.exit(77)


def read(path):
    """The bulk data of the deck, and its control, which OptiStruct begins without SOL and CEND."""
    control, bulk = pathlib.Path(path).read_text().split("BEGIN BULK\n")
    model = BDF(debug=None)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "bulk.bdf")
        file.write_text(bulk)
        model.read_bdf(file, punch=True, xref=False)
    # pyNastran knows no such responses as VOLFRAC.
    model.cross_reference(xref_optimization=False)
    lines = [line for line in control.splitlines() if not line.startswith("$")]
    return model, CaseControlDeck(lines)


def by_property(model, value):
    """The sum of a value of elements by the number of their property."""
    sums = {}
    for element in model.elements.values():
        sums[element.pid] = sums.get(element.pid, 0) + value(element)
    return sums


def subcase(model, case):
    """Label, weight, limits and resultants of a subcase."""
    load, _ = case.get_parameter("LOAD")
    force, moment = sum_forces_moments(model, numpy.zeros(3), load, include_grav=False)
    keys = {"label": "LABEL", "weight": "WEIGHT", "limits": "DESSUB"}
    found = {name: case.get_parameter(key)[0] for name, key in keys.items() if key in case.params}
    return {**found, "force": list(force), "moment": list(moment)}


def numbers(model, control):
    """All that the JSON holds."""
    places = numpy.array([node.get_position() for node in model.nodes.values()])
    (material,) = model.materials.values()
    (constraints,) = model.spcs.values()
    held = {}
    for constraint in constraints:
        held.setdefault(constraint.components, []).extend(constraint.nodes)
    cases = [case for number, case in control.subcases.items() if number]
    objective, (sense, *_), _ = cases[0].params["DESOBJ"]
    (template,) = model.reject_lines
    lines = [line.rstrip() for line in template if line.strip()]
    return {
        "nodes": len(model.nodes),
        "elements": by_property(model, lambda element: 1),
        "volumes": by_property(model, lambda element: element.Volume()),
        "low": list(places.min(axis=0)),
        "high": list(places.max(axis=0)),
        "material": [material.e, material.nu, material.rho],
        "held": held,
        "subcases": [subcase(model, case) for case in cases],
        "objective": [sense, objective],
        "limits": cases[0].get_parameter("DESGLB")[0],
        "responses": {number: [it.response_type, it.atta, it.atti] for number, it in model.dresps.items()},
        "bounds": [[it.oid, it.dresp_id, it.lid, it.uid] for limits in model.dconstrs.values() for it in limits],
        "demands": [[line[i:i + 8].strip() for i in range(0, len(line), 8)] for line in lines],
    }


if __name__ == "__main__":
    json.dump(numbers(*read(sys.argv[1])), sys.stdout, default=lambda value: value.item())
