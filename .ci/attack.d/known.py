"""Fixed inputs, each a defect that was found once, and is right where the program behaves as it says."""

import known_files
import known_inputs
import known_surroundings
from verdict import Bad

INPUTS = known_inputs.INPUTS + known_surroundings.INPUTS + known_files.INPUTS
COUNT = len(INPUTS)
SHARE = 4  # times the time of another kind


def attempt(place, random, number):
    """The input of that number."""
    make = INPUTS[number]
    try:
        make(place)
    except Bad as bad:
        raise Bad(bad.kind, f"{make.__name__}: {bad}") from None
