"""The picture of a planted circuit shows every node, every place and every edge once."""

from xml.etree import ElementTree

from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.questions import Operation
from carrylens.report.figures.planted_circuit import circuit_svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn(truth: Truth) -> ElementTree.Element:
    return ElementTree.fromstring(circuit_svg(truth))


def test_every_node_has_a_box_with_its_variables() -> None:
    truth = plant(describe(Operation.MIX, 2, Dials(decoys=1))).truth
    picture = drawn(truth)
    words = [text.text for text in picture.iter(f"{SVG}text")]
    for variable in {variable for held in truth.roles.values() for variable in held}:
        n_nodes = sum(variable in held for held in (*truth.roles.values(), *truth.decoys.values()))
        assert words.count(str(variable)) == n_nodes, variable
    dashed = [box for box in picture.iter(f"{SVG}rect") if box.get("stroke-dasharray")]
    assert len(dashed) == len(truth.decoys)
    assert {"D'1", "D'0", "=", "A3", "A2", "A1"} <= set(words)


def test_every_pair_of_ends_has_one_line() -> None:
    truth = plant(describe(Operation.ADD, 3)).truth
    ends = {(edge.sender, edge.receiver) for edge in truth.edges}
    assert len(list(drawn(truth).iter(f"{SVG}path"))) == len(ends)


def test_nothing_is_drawn_outside_the_picture() -> None:
    picture = drawn(plant(describe(Operation.MIX, 3, Dials(redundancy=2, decoys=1))).truth)
    width, height = float(picture.get("width", 0)), float(picture.get("height", 0))
    for box in picture.iter(f"{SVG}rect"):
        x, y = float(box.get("x", 0)), float(box.get("y", 0))
        assert 0 <= x <= x + float(box.get("width", 0)) <= width
        assert 0 <= y <= y + float(box.get("height", 0)) <= height
