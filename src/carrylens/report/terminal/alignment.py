"""The text of an alignment: its rates, then its sites.

Takes  a measured alignment.
Gives  lines, and the record that `--json` prints.
Never  shows a rate without its interval and the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from carrylens.discovery.alignment.joint_rates import MeasuredAlignment
from carrylens.evidence.rates import Rate
from carrylens.nodes import print_nodes


def alignment_lines(found: MeasuredAlignment) -> Iterator[str]:
    """What came out, a line each."""
    rates = found.rates
    drawn = f"{found.drawn['population']} questions that it was not fitted on"
    yield f"{found.model}, aligned with {found.alignment.algorithm}, tested on {drawn}:"
    rows = [
        ("four variables interchanged at once, where that changes the answer", rates.interchange),
        ("  the same with every site given to another variable", rates.null),
        ("answers that stand with all other nodes resampled", rates.scrubbed),
        ("four variables interchanged and all other nodes resampled", rates.both),
        ("answers that are the algorithm's, untouched", rates.answers),
        *((f"{family}, moved together with others", rate) for family, rate in rates.families.items()),
    ]
    for what, rate in rows:
        yield f"  {_shown(rate)}  {what}"
    if rates.outputs:
        worst = min(rates.outputs, key=lambda name: rates.outputs[name].value)
        yield f"  {_shown(rates.outputs[worst])}  {worst}, the output that does worst under interchange"
    for site in found.alignment.sites:
        yield f"  {' '.join(map(str, site.variables))} at {print_nodes(site.nodes)}"
    if found.unplaced:
        yield f"  no site was found for {', '.join(found.unplaced)}"


def alignment_record(found: MeasuredAlignment) -> dict[str, object]:
    """The same as one JSON object."""
    rates = found.rates
    return {
        "model": found.model,
        "algorithm": found.alignment.algorithm,
        "population": found.drawn["population"],
        "joint_interchange": _plain(rates.interchange),
        "null": _plain(rates.null),
        "scrubbed": _plain(rates.scrubbed),
        "interchanged_and_scrubbed": _plain(rates.both),
        "answers": _plain(rates.answers),
        "families": {name: _plain(rate) for name, rate in rates.families.items()},
        "outputs": {name: _plain(rate) for name, rate in rates.outputs.items()},
        "sites": [
            {"variables": [str(v) for v in site.variables], "nodes": [str(n) for n in site.nodes]}
            for site in found.alignment.sites
        ],
        "unplaced": list(found.unplaced),
    }


def _plain(rate: Rate) -> dict[str, float]:
    low, high = rate.interval
    return {"value": round(rate.value, 4), "low": round(low, 4), "high": round(high, 4), "n": rate.n}


def _shown(rate: Rate) -> str:
    low, high = rate.interval
    return f"{rate.value:.3f} ({low:.3f} to {high:.3f}) of {rate.n:,}"
