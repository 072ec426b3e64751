"""The text of an alignment: its rates, then its sites.

Takes  a measured alignment.
Gives  lines, and the record that `--json` prints.
Never  shows a rate without its interval and the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from carrylens.discovery.alignment.joint_rates import MeasuredAlignment
from carrylens.evidence.rates import Rate


def alignment_lines(found: MeasuredAlignment, *, sites: bool = False) -> Iterator[str]:
    """What came out, a line each; with `sites` the nodes of every variable, too."""
    rates = found.rates
    yield f"Measured on {found.drawn.population} questions that no site was chosen with (looks: {found.looks}):"
    rows = [
        ("several variables interchanged at once, where that changes the answer", rates.interchange),
        ("  output by output: those that should change", rates.changed),
        ("  output by output: those that should stay", rates.kept),
        ("  the same with sites given to other variables, the best of several ways", rates.permuted),
        ("several variables interchanged and everything else resampled", rates.both),
        ("answers that are the algorithm's, untouched", rates.answers),
        *((f"{family}, one variable at a time", rate) for family, rate in rates.families.items()),
        *((f"untouched answers on {each.population} questions", each.agree) for each in found.populations),
        *((f"rival {each.hypothesis}: interchanged and resampled", each.both) for each in found.rivals),
    ]
    for what, rate in rows:
        yield f"  {_shown(rate)}  {what}"
    for carrier in found.rates.carriers if sites else ():
        where = " + ".join(carrier.nodes) or "no site"
        yield f"  {carrier.target}: {where}; hit {_shown(carrier.hit)}, null {_shown(carrier.null)}"


def alignment_record(found: MeasuredAlignment) -> dict[str, object]:
    """The same as one JSON object."""
    rates = found.rates
    return {
        "algorithm": found.alignment.algorithm,
        "population": found.drawn.population,
        "changed_outputs": _plain(rates.changed),
        "kept_outputs": _plain(rates.kept),
        "permuted": _plain(rates.permuted),
        "interchanged_and_scrubbed": _plain(rates.both),
        "answers": _plain(rates.answers),
        "families": {name: _plain(rate) for name, rate in rates.families.items()},
        "outputs": {name: _plain(rate) for name, rate in rates.outputs.items()},
        "classes": {name: _plain(rate) for name, rate in rates.classes.items()},
        "populations": {each.population: _plain(each.agree) for each in found.populations},
        "rivals": {each.hypothesis: _plain(each.both) for each in found.rivals},
        "carriers": [
            {
                "variable": each.target,
                "nodes": list(each.nodes),
                "hit": _plain(each.hit),
                "null": _plain(each.null),
            }
            for each in rates.carriers
        ],
    }


def _plain(rate: Rate) -> dict[str, float]:
    low, high = rate.interval
    return {"value": round(rate.value, 4), "low": round(low, 4), "high": round(high, 4), "n": rate.n}


def _shown(rate: Rate) -> str:
    low, high = rate.interval
    return f"{rate.value:.3f} ({low:.3f} to {high:.3f}) of {rate.n:,}"
