"""Speed: what the benchmarks of training measured, in words.

Takes  records of benchmarks.
Gives  lines of text.
Never  measures.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrylens.report.plain_records import Record
from carrylens.report.terminal.tables import few_figures


def training_line(record: Record) -> str:
    """One trained model: steps and seconds, the bar, failures with intervals, and the published recipe beside it."""
    verdict = {True: "meets the bar", False: "misses the bar", None: "was evaluated on too few questions for the bar"}
    failures = "; ".join(_failures(result) for result in record["results"])
    where = "in TransformerLens" if record["through_lens"] else "in our transformer"
    return (
        f"{record['name']} {verdict[record['meets_bar']]} after {record['n_steps']:,} steps and "
        f"{record['seconds']:.0f} s, {record['step_milliseconds']:.1f} ms a step at {record['share_of_peak']:.0%} of "
        f"peak. Failures: {failures}. A published step {where} took {record['published_before']:.2f} s before and "
        f"{record['published_after']:.2f} s after: 15,000 would take {record['ratio']:.0f} times as long."
    )


def training_summary(records: Sequence[Record]) -> str:
    """All seeds in one line."""
    met = [record for record in records if record["meets_bar"]]
    seconds, ratios = [record["seconds"] for record in met], [record["ratio"] for record in met]
    if not met:
        return f"None of {len(records)} is known to meet the bar."
    return (
        f"{len(met)} of {len(records)} meet the bar, in {min(seconds):.0f} to {max(seconds):.0f} s, "
        f"{min(ratios):.0f} to {max(ratios):.0f} times less than the published recipe."
    )


def _failures(result: Record) -> str:
    low, high = (few_figures(1e6 * bound) for bound in result["interval"])
    counts = f"{result['failed']:,} of {result['asked']:,}"
    return f"{result['name']} {result['operation']} {counts} ({low} to {high} per million)"
