"""Parts: a whole calibration, part by part.

Takes  the work to be done, and which parts of it.
Gives  records, as soon as each is there.
Never  computes: each part does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from carrylens.benchmark.empty_models import empty_models, empty_records, empty_summary
from carrylens.benchmark.false_roles import held_records, held_summary
from carrylens.benchmark.method_runs import Work, score_methods
from carrylens.benchmark.reliability import cases_of, fit_confidence, map_row, reliability_table
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.wrong_hypotheses import account_records, binary_record
from carrylens.errors import CarryLensError
from carrylens.evidence.confidence import Confidence, shipped_confidence

PARTS = ("scores", "nothing", "accounts", "reliability")


@dataclass(frozen=True)
class Amounts:
    """How many models there are in the parts that draw their own."""

    untrained: int = 30
    trained_twins: int = 2
    account_seeds: int = 3
    account_digits: int = 3


QUICK_AMOUNTS = Amounts(untrained=3, trained_twins=0, account_seeds=1)


def chosen_parts(names: Sequence[str]) -> tuple[str, ...]:
    """The parts asked for, or all."""
    if unknown := [name for name in names if name not in PARTS]:
        raise CarryLensError(f"There is no part {unknown[0]!r}. Write one of {', '.join(PARTS)}.")
    return tuple(part for part in PARTS if not names or part in names)


def calibration_records(work: Work, parts: Collection[str], amounts: Amounts) -> Iterator[Plain]:
    """Every record of the parts asked for."""
    held: list[Plain] = []
    if "scores" in parts:
        yield from score_methods(work)
    if "nothing" in parts:
        found = list(empty_records(work, empty_models(work, amounts.untrained, amounts.trained_twins)))
        yield from (*found, *empty_summary(found))
        held = list(held_records(work))
        yield from (*held, *held_summary(held))
    if "accounts" in parts:
        yield from account_records(work, amounts.account_digits, amounts.account_seeds)
        yield binary_record(work, amounts.account_digits)
    if "reliability" in parts:
        rule, cases = shipped_confidence(), cases_of(work, work.settings)
        yield {"part": "confidence", "intercept": rule.intercept, "slope": rule.slope, "most": rule.most, **rule.made}
        yield from ({"part": "reliability", **row} for row in reliability_table(rule, cases))
        if confirmed := [case for record in held for case in record["cases"]]:
            yield {"part": "reliability", **map_row(rule, confirmed)}


def confidence_rule(work: Work) -> Confidence:
    """The confidence rule, fitted on the training circuits."""
    command = f"carrylens calibrate{' --quick' if work.small else ' --light' if work.quick else ''} --fit"
    made = work.about(command=command, circuits=[setting.name for setting in work.training])
    return fit_confidence(cases_of(work, work.training), made)
