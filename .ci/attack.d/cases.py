"""Case files as dictionaries, and their text."""

import json

EXACT = {"tolerance": 1e-9, "early_tolerance": 1e-9, "device": "cpu"}


def text(case):
    """The case file: tables of the first level, everything below inline."""
    lines = [f"{key(name)} = {value(item)}" for name, item in case.items() if not is_table(item)]
    for name, item in case.items():
        for table in item if isinstance(item, list) and is_table(item) else [item] * is_table(item):
            lines.append(f"[[{key(name)}]]" if isinstance(item, list) else f"[{key(name)}]")
            lines += [f"{key(k)} = {value(v)}" for k, v in table.items()]
    return "\n".join(lines) + "\n"


def is_table(item):
    """Whether an item is a table or an array of tables."""
    return isinstance(item, dict) or isinstance(item, list) and bool(item) and all(isinstance(i, dict) for i in item)


def key(name):
    """A key, quoted where it must be."""
    return name if name.replace("_", "a").isalnum() and name.isascii() else json.dumps(name)


def value(item):
    """A value of any kind, inline."""
    if isinstance(item, dict):
        return "{ " + ", ".join(f"{key(k)} = {value(v)}" for k, v in item.items()) + " }"
    if isinstance(item, list):
        return "[" + ", ".join(value(i) for i in item) + "]"
    if isinstance(item, str):
        return json.dumps(item).replace("\x7f", "\\u007f")
    return str(item).lower() if isinstance(item, bool) else repr(item)


def simple(mesh, iterations=2, fraction=0.3, **tables):
    """A case with supports `fixed` and a force on `load`; `mesh` is a file or a table."""
    case = {
        "mesh": {"file": mesh} if isinstance(mesh, str) else mesh,
        "material": {"youngs_modulus": 210e3, "poissons_ratio": 0.3},
        "supports": [{"set": "fixed"}],
        "loads": [{"set": "load", "force": [0.0, -10.0, 0.0]}],
        "design": {"style": "smooth", "volume_fraction": fraction},
        "filter": {"radius_in_elements": 1.5},
        "optimizer": {"max_iterations": iterations},
        "solver": {"device": "cpu"},
    }
    for name, table in tables.items():
        case[name] = {**case[name], **table} if isinstance(case.get(name), dict) else table
    return case
