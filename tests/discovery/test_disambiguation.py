"""Which of two variables an output followed, where they predict different ones."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.discovery.disambiguation import Disambiguation, disambiguation_facts
from carrylens.discovery.search import RoleSettings
from carrylens.evidence.rates import Rate

SETTINGS, NULL = RoleSettings(), Rate(0, 48)
Count = tuple[int, int]


@pytest.mark.parametrize(
    ("hit", "ours", "theirs", "lost"),
    [
        ((48, 48), (0, 24), (24, 24), True),
        ((48, 48), (0, 3), (3, 3), False),  # too few to say
        ((48, 48), (0, 6), (6, 6), True),
        ((28, 48), (12, 24), (12, 24), False),
        ((28, 48), (10, 24), (14, 24), False),
        ((28, 48), (3, 24), (21, 24), True),
        ((48, 48), (24, 24), (0, 24), False),
        ((48, 48), (0, 0), (0, 0), False),
    ],
)
def test_a_role_is_ruled_out_where_the_token_goes_where_another_says(
    hit: Count, ours: Count, theirs: Count, lost: bool
) -> None:
    assert Disambiguation(Rate(*ours), Rate(*theirs)).rules_out(Rate(*hit), NULL, SETTINGS) is lost


@pytest.mark.parametrize(
    ("hit", "alone", "lost"),
    [
        ((48, 48), (0, 24), True),
        ((128, 128), (4, 48), True),
        ((128, 128), (0, 1), False),  # too few to say
        ((48, 48), (9, 28), True),
        ((33, 48), (9, 22), False),  # in part, and here less; but what else would have hit?
        ((33, 48), (1, 22), True),
        ((13, 48), (4, 20), False),  # hardly ever, here as elsewhere
        ((48, 48), (24, 24), False),
        ((48, 48), (0, 0), False),
    ],
)
def test_a_role_is_ruled_out_where_its_hits_go_with_another(hit: Count, alone: Count, lost: bool) -> None:
    assert Disambiguation(alone=Rate(*alone)).rules_out(Rate(*hit), NULL, SETTINGS) is lost


@pytest.mark.parametrize(
    ("alone", "beyond", "lost"),
    [
        ((0, 0), (24, 24), True),
        ((2, 3), (24, 24), True),  # too few to show it by itself
        ((20, 24), (24, 24), False),  # both are carried
        ((0, 0), (3, 3), True),
        ((0, 0), (1, 1), False),
        ((0, 0), (0, 24), False),
    ],
)
def test_a_role_that_nothing_shows_is_ruled_out_by_another_that_accounts_for_more(
    alone: Count, beyond: Count, lost: bool
) -> None:
    assert Disambiguation(alone=Rate(*alone), beyond=Rate(*beyond)).rules_out(Rate(48, 48), NULL, SETTINGS) is lost


def test_questions_count_by_who_moves_the_token() -> None:
    still, there, elsewhere = (np.full(20, token, np.int8) for token in (1, 2, 3))
    assert Disambiguation.of(still, there, ours=there, theirs=elsewhere) == Disambiguation(
        ours=Rate(20, 20), theirs=Rate(0, 20)
    )
    assert Disambiguation.of(still, there, ours=there, theirs=still) == Disambiguation(alone=Rate(20, 20))
    assert Disambiguation.of(still, there, ours=still, theirs=there) == Disambiguation(beyond=Rate(20, 20))
    assert Disambiguation.of(still, there, ours=there, theirs=there) == Disambiguation()


def test_disambiguations_add_up_and_leave_facts_of_what_was_counted() -> None:
    first, second = Disambiguation(Rate(1, 2), Rate(0, 2), Rate(3, 4)), Disambiguation(alone=Rate(1, 6))
    both = first + second
    assert both == Disambiguation(Rate(1, 2), Rate(0, 2), Rate(4, 10))
    assert both.n == 12
    facts = list(disambiguation_facts("duel", {"against": "ST[1]"}, both, {"seed": 0}))
    assert [(fact.about["other"], fact.effect, fact.null) for fact in facts] == [
        ("moves", Rate(1, 2), Rate(0, 2)),
        ("stays", Rate(4, 10), Rate(0, 0)),
    ]
    assert not list(disambiguation_facts("duel", {}, Disambiguation(), {}))
