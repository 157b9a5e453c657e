"""The classes of bad behavior, and what must hold for every command, whatever its input."""

import json
import math
import re
import unicodedata

import results

CLASSES = ["right", "wrong silently", "data lost", "code run", "unclear message", "hang", "abort"]
WRONG, LOST, CODE_RUN, UNCLEAR, HANG, ABORT = CLASSES[1:]


class Bad(Exception):
    """Something that must not be, of one of the classes."""

    def __init__(self, kind, words):
        super().__init__(words)
        self.kind = kind


def require(condition, kind, words):
    """Fails with the class and the words unless the condition holds."""
    if not condition:
        raise Bad(kind, words)


def sound(done, statuses=(0, 1, 2), about=()):
    """Ended by itself with one of the statuses, and said why if not 0, in text that is fit for a terminal.

    A message of an error must have one of the words of `about`.
    """
    shown = f"`{' '.join(done.arguments)[:200]}`"
    require(not done.timed_out, HANG, f"{shown} has not ended in {done.seconds:.0f} s")
    panics = "this is a bug" in done.err or "panicked at" in done.err or "memory allocation of" in done.err
    died = done.status < 0 or done.status >= 128 and done.status != 130
    died = died and done.status not in statuses
    require(not died and not panics, ABORT, f"{shown} ended with {done.status}: {done.err[-300:]}")
    require(done.status in statuses, UNCLEAR, f"{shown} ended with {done.status}: {done.err[-300:]}")
    text = done.out + done.err
    controls = {c for c in text if unicodedata.category(c) == "Cc" and c not in "\n\t"}
    require(not controls, UNCLEAR, f"{shown} writes control characters {sorted(controls)}")
    require(not re.search(r"\d{40}", text), UNCLEAR, f"{shown} writes a number of more than 40 digits")
    require(len(done.err) < 50_000, UNCLEAR, f"{shown} writes {len(done.err)} letters of errors")
    if done.status in (1, 2) and done.has_stderr:
        require(done.err.strip(), UNCLEAR, f"{shown} ended with {done.status} and no message")
        words = " ".join(done.err.replace("\n  | ", "\n").split())
        require(not about or any(word in words for word in about), UNCLEAR, f"{shown} does not say where: {done.err}")


def finite_text(done):
    """A command that succeeded has told no infinite number."""
    found = re.search(r"(?<![\w.\"'`])[-+]?(inf|infinity|nan)(?![\w.\"'`])", done.out, re.IGNORECASE)
    require(done.status != 0 or not found, UNCLEAR, f"`{' '.join(done.arguments)}` writes {found and found[0]}")


def whole(folder, done):
    """Results of a run are there as a whole or not at all, and finite where the run succeeded."""
    if done.status == 0:
        require((folder / "summary.json").exists(), WRONG, "a run succeeded and left no summary.json")
        finite_results(folder)
    elif done.status in (1, 2):
        half = (folder / "case.toml").exists() and not (folder / "summary.json").exists()
        require(not half, WRONG, f"status {done.status}, but case.toml without summary.json")
    parts = [str(path) for path in folder.rglob("*.topopt-part*")] if folder.is_dir() else []
    require(not parts, WRONG, f"left behind: {parts}")


def is_finite(text):
    """Whether a field of a table is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def finite_results(folder):
    """Numbers of the summary, the history and the design are finite, densities within their bounds."""
    summary = json.loads((folder / "summary.json").read_text())
    for name in ("compliance", "volume_fraction", "grey_level"):
        require(summary[name] is not None and math.isfinite(summary[name]), WRONG, f"{name} is {summary[name]}")
    rows = results.history(folder)
    values = [value for row in rows for name, value in row.items() if not name.endswith("seconds")]
    require(rows and all(map(is_finite, values)), WRONG, "history.csv: not all finite")
    density, displacement = results.arrays(folder / "design.vtu", "density", "displacement")
    least = summary["settings"]["density_min"]
    require(all(least - 1e-9 <= value <= 1 + 1e-9 for value in density), WRONG, "densities beyond their bounds")
    require(all(map(math.isfinite, displacement)), WRONG, "displacements are not finite")
