"""Node names: parsed, printed, ordered, in sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrylens.errors import CarryLensError
from carrylens.nodes import Node, all_nodes, parse_nodes, print_nodes

NODES = st.builds(Node, st.integers(0, 200), st.integers(0, 9), st.none() | st.integers(0, 9))


@given(NODES)
def test_a_printed_node_parses_to_itself(node: Node) -> None:
    assert Node.parse(str(node)) == node


@given(st.frozensets(NODES))
def test_a_printed_set_parses_to_itself_and_is_in_order(nodes: frozenset[Node]) -> None:
    assert parse_nodes(print_nodes(nodes)) == nodes
    assert print_nodes(nodes) == print_nodes(sorted(nodes, reverse=True))


def test_heads_stand_before_the_mlp_of_their_layer_and_layers_in_order() -> None:
    names = ["P2L1H0", "P10L0MLP", "P2L0MLP", "P2L0H10", "P2L0H2"]
    assert [str(node) for node in sorted(map(Node.parse, names))] == [
        "P2L0H2",
        "P2L0H10",
        "P2L0MLP",
        "P2L1H0",
        "P10L0MLP",
    ]


@pytest.mark.parametrize(
    "text", ["P10L0X2", "", "P1", "P1L0", "p1l0h0", "P1L0H0 ", "P01L0H0", "P1L0H", "P-1L0H0", "P١L0H0"]
)
def test_a_name_that_is_no_node_is_refused_with_the_form_to_write(text: str) -> None:
    with pytest.raises(CarryLensError, match="P<position>L<layer>H<head>"):
        Node.parse(text)


def test_a_node_at_a_negative_place_is_refused() -> None:
    with pytest.raises(CarryLensError, match="-1.*node"):
        Node(-1, 0, None)


@pytest.mark.parametrize(("digits", "layers", "heads", "count"), [(5, 2, 3, 152), (6, 3, 4, 330), (8, 3, 4, 420)])
def test_published_shapes_have_the_published_number_of_nodes(digits: int, layers: int, heads: int, count: int) -> None:
    nodes = all_nodes(3 * digits + 4, layers, heads)
    assert len(nodes) == len(set(nodes)) == count
    assert nodes == sorted(nodes)
