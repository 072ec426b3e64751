"""Statistics against simulation and against plain enumeration."""

from __future__ import annotations

from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest

from carrylens.errors import CarryLensError
from carrylens.evidence import Fact, Rate, benjamini_yekutieli, holm, p_above, read_facts, write_facts


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.95])
def test_intervals_cover_as_often_as_they_say(share: float) -> None:
    n = 40
    hits = np.random.default_rng(1).binomial(n, share, size=4000)
    bounds = {count: Rate(count, n).interval for count in range(n + 1)}
    covered = np.mean([bounds[int(count)][0] <= share <= bounds[int(count)][1] for count in hits])
    assert covered >= 0.95 - 3 * (0.05 * 0.95 / 4000) ** 0.5


def test_intervals_at_the_ends_are_those_worked_out_by_hand() -> None:
    assert Rate(0, 10).interval == pytest.approx((0, 1 - 0.025 ** (1 / 10)))
    assert Rate(10, 10).interval == pytest.approx((0.025 ** (1 / 10), 1))
    assert Rate(0, 0).interval == (0.0, 1.0)


def test_p_is_the_share_of_relabellings_that_do_as_well() -> None:
    """Every way to call five of nine stimuli the effect, counted one by one."""
    outcomes, n_effect = [1, 1, 1, 1, 0, 0, 1, 0, 0], 5
    observed = sum(outcomes[:n_effect])
    splits = list(combinations(range(9), n_effect))
    as_good = sum(sum(outcomes[at] for at in split) >= observed for split in splits)
    assert len(splits) == comb(9, 5)
    assert p_above(Rate(4, 5), Rate(1, 4)) == pytest.approx(as_good / len(splits))


def test_p_is_small_no_more_often_than_it_says_when_nothing_is_there() -> None:
    rng = np.random.default_rng(2)
    draws = rng.binomial(32, 0.2, size=(4000, 2))
    p = np.array([p_above(Rate(int(a), 32), Rate(int(b), 32)) for a, b in draws])
    for level in (0.01, 0.05, 0.2):
        assert (p <= level).mean() <= level + 3 * (level * (1 - level) / 4000) ** 0.5
    assert (p <= 0.2).mean() > 0.05  # and it is not simply always large


@pytest.mark.parametrize("correct", [holm, benjamini_yekutieli])
def test_corrections_keep_the_order_never_shrink_and_know_no_tests(correct: object) -> None:
    assert callable(correct)
    p = [0.2, 0.001, 0.03, 0.03, 1.0]
    corrected = correct(p)
    assert all(after >= before for after, before in zip(corrected, p, strict=True))
    assert np.argsort(corrected, kind="stable").tolist()[0] == 1
    assert max(corrected) <= 1
    assert correct([]) == []


def test_holm_rejects_anything_of_many_true_nulls_as_rarely_as_it_says() -> None:
    p = np.random.default_rng(3).uniform(size=(2000, 50))
    wrong = np.mean([min(holm(list(row))) <= 0.05 for row in p])
    assert 0.02 < wrong <= 0.05 + 3 * (0.05 * 0.95 / 2000) ** 0.5


def test_facts_come_back_as_they_were(tmp_path: Path) -> None:
    facts = [
        Fact("swap", {"nodes": "P9L0H1", "variable": "ST[3]"}, Rate(60, 64), Rate(1, 64), {"seed": 1}),
        Fact("ablate", {"nodes": "P9L0H1 + P9L0MLP"}, Rate(3, 8), Rate(0, 8)),
    ]
    write_facts(tmp_path / "facts.jsonl", facts)
    assert read_facts(tmp_path / "facts.jsonl") == facts


@pytest.mark.parametrize("line", ["", "{}", "[]", '{"kind": 1}', '{"effect": {"hits": 3, "n": 2}}'])
def test_a_line_that_is_no_fact_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "facts.jsonl").write_text(line + "\n\n")
    with pytest.raises(CarryLensError):
        read_facts(tmp_path / "facts.jsonl")


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CarryLensError, match=r"facts\.jsonl"):
        read_facts(tmp_path / "facts.jsonl")


def test_more_hits_than_stimuli_are_refused() -> None:
    with pytest.raises(CarryLensError, match=r"\b3 of 2\b"):
        Rate(3, 2)
