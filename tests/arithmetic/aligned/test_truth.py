"""What aligned models deserve is what interchanging every variable comes to."""

from __future__ import annotations

import pytest

from arithmetic.held_by_interchange import readers_of, verdict_by_interchange
from carrylens.arithmetic import rivals
from carrylens.arithmetic.aligned.named_algorithms import algorithm_called, named_algorithms, weighted_by_units
from carrylens.arithmetic.aligned.sites import Variant, alignment_of, rival_alignment
from carrylens.arithmetic.aligned.suite import AlignedRow, aligned_rows
from carrylens.arithmetic.aligned.truth import aligned_truth
from carrylens.arithmetic.hypotheses import rival_algorithms
from carrylens.arithmetic.questions import Operation
from carrylens.benchmark.known_truth import RunVerdict

ROWS = list({(row.algorithm, row.digits): row for row in aligned_rows() if row.digits < 5}.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.algorithm} d{row.digits}")
def test_interchange_of_every_variable_comes_to_the_deserved_verdict(row: AlignedRow) -> None:
    truth = algorithm_called(row.algorithm, row.operation, row.digits)
    known = aligned_truth(row.alignment, truth, ())
    stated = {each.name: each for each in rival_algorithms(row.operation, row.digits)}
    stated |= named_algorithms(row.operation, row.digits)
    judged = {name for name in known.deserved if not any(v.name == "G" for v in stated[name].by_variable)}
    assert {each.name for each in rival_algorithms(row.operation, row.digits)} <= judged
    for name in judged:
        assert verdict_by_interchange(truth, readers_of(known), stated[name]) is known.deserved[name], name


def test_a_mixture_runs_the_left_to_right_algorithm_in_part_and_itself_whole() -> None:
    mixed = weighted_by_units(Operation.ADD, 3, 3)
    known = aligned_truth(alignment_of(mixed), mixed, ())
    assert known.deserved["left-to-right add"] is RunVerdict.IN_PART
    shares = {str(group.variable): group.share for group in known.groups}
    assert (shares["WS[2]"], shares["ST[1]"], shares["SA[1]"]) == (0.3, 0.7, 1.0)


def test_no_verdict_is_deserved_under_what_states_less_or_the_same_in_another_code() -> None:
    usual = algorithm_called("left-to-right add", Operation.ADD, 3)
    deserved = aligned_truth(alignment_of(usual), usual, ()).deserved
    assert rivals.weighted_sum(Operation.ADD, 3).name not in deserved
    assert rivals.binary_carries(Operation.ADD, 3).name not in deserved


def test_another_algorithm_is_held_against_the_same_sites_where_it_can_stand_there() -> None:
    usual, rival = (algorithm_called(name, Operation.ADD, 3) for name in ("left-to-right add", "one-layer add"))
    for variant in Variant:
        same = rival_alignment(rival, usual, alignment_of(usual, variant))
        assert same == alignment_of(rival, variant)
        columns = {site.nodes for site in alignment_of(usual, variant).sites if site.variables[0].name == "ST"}
        assert {site.nodes for site in same.sites if site.variables[0].name == "SC" and not site.outputs} <= columns
    gated = algorithm_called("left-to-right add, weighted-sum on 30%", Operation.ADD, 3)
    assert rival_alignment(gated, usual, alignment_of(usual, Variant.POLYSEMANTIC)) == alignment_of(gated)
