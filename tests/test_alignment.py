"""Alignments: what they refuse, and that a file gives back what was written."""

import pytest

from carrylens.alignment import AlignedSite, Alignment
from carrylens.errors import CarryLensError
from carrylens.nodes import Node, all_nodes
from tasks.small_tasks import PARITY

SITE = AlignedSite.of("R[0] R[1]", "P1L0H0 + P1L0MLP", "P2L0H0", outputs="S")


def test_a_file_gives_back_the_alignment_that_was_written() -> None:
    alignment = Alignment("parity", (SITE, AlignedSite.of("R[2]", "P4L1MLP")))
    again = Alignment.from_json(alignment.to_json())
    assert again == alignment
    assert again.sites[0].nodes == (Node(1, 0, 0), Node(1, 0, None), Node(2, 0, 0))
    assert [again.sites[0].serves(output) for output in PARITY.outputs[:2]] == [True, False]


def test_a_node_holds_its_variables_in_one_site_only() -> None:
    with pytest.raises(CarryLensError, match="P1L0H0"):
        Alignment("parity", (SITE, AlignedSite.of("R[2]", "P1L0H0")))
    with pytest.raises(CarryLensError, match=r"\b0\b"):
        Alignment("parity", (AlignedSite.of("", "P1L0H0"),))


def test_variables_and_nodes_must_be_there() -> None:
    nodes = all_nodes(6, 2, 1)
    Alignment("parity", (SITE,)).check(PARITY, nodes)
    with pytest.raises(CarryLensError, match=r"R\[9\]"):
        Alignment("parity", (AlignedSite.of("R[9]", "P1L0H0"),)).check(PARITY, nodes)
    with pytest.raises(CarryLensError, match="P9L0H0"):
        Alignment("parity", (AlignedSite.of("R[1]", "P9L0H0"),)).check(PARITY, nodes)


def test_every_node_is_in_a_site_or_idle() -> None:
    nodes = all_nodes(6, 2, 1)
    idle = Alignment("parity", (SITE,)).idle(nodes)
    assert len(idle) == len(nodes) - 3
    assert not set(idle) & set(SITE.nodes)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"algorithm": "a", "sites": [{"variables": 3}]}', '{"more": 1}'])
def test_a_file_that_states_no_alignment_is_refused_by_name(text: str) -> None:
    with pytest.raises(CarryLensError, match="mine.json"):
        Alignment.from_json(text, "mine.json")
