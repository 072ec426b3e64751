"""A family run on the terminal: what ended, what runs where, and how long it may still take.

Takes  the state of a run.
Gives  lines: of a step that ended, of all that is under way, and of the whole at the end.
Never  decides anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrylens.arithmetic.family.rows import STEP_NAMES, ModelRow
from carrylens.arithmetic.family.run_state import EndedStep, FamilyState, StepEnd
from carrylens.report.terminal.tables import align

_MOST_SHOWN = 24
_MARKS = {
    StepEnd.DONE: "done",
    StepEnd.THERE: "there",
    StepEnd.PASSED: "none",
    StepEnd.MISSED: "misses",
    StepEnd.STOPPED: "-",
    StepEnd.FAILED: "FAILED",
}


def ended_line(ended: EndedStep) -> str:
    """A step that ended."""
    took = f" after {duration(ended.seconds)}" if ended.seconds >= 1 else ""
    where = f" on {ended.where}" if ended.where else ""
    why = f": {ended.error}" if ended.error else ""
    return f"{ended.row} {ended.step} {ended.end.value}{took}{where}{why}"


def progress_lines(state: FamilyState, now: float) -> list[str]:
    """How far the whole is, then each step that is under way, and where."""
    left = state.seconds_left(now)
    when = "time left not known yet" if left is None else f"about {duration(left)} left"
    workers = f"{state.n_workers} worker{'' if state.n_workers == 1 else 's'}"
    first = f"{len(state.ended)} of {state.total} steps of {len(state.rows)} rows, {workers}, {when}"
    running = sorted(state.under_way.values(), key=lambda each: each.since)
    rows = [
        [each.row, each.step, f"{each.share:.0%}", duration(now - each.since), each.where, each.what]
        for each in running[:_MOST_SHOWN]
    ]
    more = [f"and {len(running) - _MOST_SHOWN} more"] if len(running) > _MOST_SHOWN else []
    head = ["row", "step", "done", "for", "where", "what"]
    return [first, *(align(head, rows) if rows else []), *more]


def summary_lines(state: FamilyState) -> list[str]:
    """What became of every step of every row."""
    table = align(["row", *STEP_NAMES], [_row(state, row) for row in state.rows])
    ends = ", ".join(f"{n} {end}" for end, n in sorted(state.counts().items(), key=lambda each: (-each[1], each[0])))
    absent = sorted({key[1] for key, each in state.ended.items() if each.end is StepEnd.PASSED}, key=STEP_NAMES.index)
    notes = [f"Passed over, because carrylens has no such step yet: {', '.join(absent)}."] if absent else []
    cpu = state.cpu_of_steps()
    shares = ", ".join(f"{step} {seconds:.0f}" for step, seconds in cpu.items())
    used = [f"CPU seconds for a row: {shares}; together {sum(cpu.values()):.0f}."] if cpu else []
    return [*table, f"Steps: {ends}.", *used, *notes]


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(4.2), duration(75), duration(7300), duration(200_000)
    ('4 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    whole = round(seconds)
    for small, large, names in ((60, 3600, ("min", "s")), (3600, 86400, ("h", "min")), (86400, 10**12, ("d", "h"))):
        if small <= whole < large:
            unit = {60: 1, 3600: 60, 86400: 3600}[small]
            return f"{whole // small} {names[0]} {whole % small // unit} {names[1]}"
    return f"{whole} s"


def _row(state: FamilyState, row: ModelRow) -> list[str]:
    ends: Sequence[EndedStep | None] = [state.ended.get((row.folder, step)) for step in STEP_NAMES]
    return [row.folder, *("" if each is None else _MARKS[each.end] for each in ends)]
