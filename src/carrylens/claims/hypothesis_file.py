"""A user's own hypothesis, from a short Python file.

Takes  a file that defines `hypothesis(operation, digits)`.
Gives  the `Hypothesis` it states for a map's operation and digits.
Never  runs a file that the user did not name: it is Python, and does what it says.
"""

from __future__ import annotations

import runpy
from pathlib import Path

from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.claims.hypothesis import Hypothesis
from carrylens.errors import CarryLensError

_ASKED = 256  # questions on which every mechanism is run once
_ADVICE = "Define hypothesis(operation, digits) there, as docs/hypothesis.md shows."


def own_hypothesis(path: Path, operation: Operation, digits: int) -> Hypothesis:
    """What the file states for this operation and number of digits."""
    if not path.is_file():
        raise CarryLensError(f"{path} is no file. Give a Python file that states a hypothesis.")
    try:
        state = runpy.run_path(str(path)).get("hypothesis")
        stated = state(operation, digits) if callable(state) else None
        if isinstance(stated, Hypothesis):
            asked = Stream(StreamKind.ENRICHED, stated.model.operation, stated.model.digits, seed=0)
            stated.model.answers(asked.take(0, _ASKED))  # so that a mechanism that cannot run fails here
    except CarryLensError:
        raise
    except (Exception, SystemExit) as error:  # whatever goes wrong in the user's file is the user's to mend
        raise CarryLensError(f"{path} fails with {type(error).__name__}: {error}. {_ADVICE}") from error
    if not isinstance(stated, Hypothesis):
        raise CarryLensError(f"{path} states no hypothesis. {_ADVICE}")
    return stated
