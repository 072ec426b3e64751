"""A planted circuit as a picture: places across, layers up, a box for every node with a role.

Takes  a `Truth`.
Gives  one self-contained SVG document; roles in colours that colour-blind readers can tell apart, and in words.
Never  writes a file, and never works anything out: it draws what the truth lists.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from carrylens.arithmetic.layout import sequence_length
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.tokens import place_names
from carrylens.arithmetic.variables import (
    ANSWER_KIND,
    COLUMN_KIND,
    DIGIT_KIND,
    KINDS,
    RESOLVED_KIND,
    SELECT_KIND,
)
from carrylens.nodes import Node
from carrylens.tasks.variables import VariableKind

_BOX, _LINE, _GAP, _MARGIN, _LEFT = 84, 15, 20, 24, 60
_BAND_GAP = 44
_DECOY = VariableKind("decoy", "decoy: right, and never read", ("#ffffff", "#777777"), ("#ffffff", "#777777"))
_MEANINGS = {
    DIGIT_KIND: "digit of a column: SA, MD, ND",
    COLUMN_KIND: "what a column says about its carry",
    RESOLVED_KIND: "resolved carry: SV, MV, NV",
    SELECT_KIND: "operator, sign",
    ANSWER_KIND: "answer",
}
"""Kinds in fewer words than they have elsewhere: the legend stands in one line."""


def circuit_svg(truth: Truth) -> str:
    """The circuit as an SVG document."""
    drawing = _PlantedDrawing(truth)
    width, height = drawing.width, drawing.height
    title = f"{truth.name}: {len(truth.roles)} nodes with a role, {len(truth.edges)} edges"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label={quoteattr(title)} font-family="Helvetica, Arial, sans-serif" font-size="11">'
    )
    background = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    parts = [*drawing.frame(), *drawing.edges(), *drawing.boxes(), *drawing.legend()]
    return "\n".join([head, f"<title>{escape(title)}</title>", background, *parts, "</svg>", ""])


class _PlantedDrawing:
    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.digits = truth.description.digits
        self.places = sorted({node.position for node in (*truth.roles, *truth.decoys)})
        self._stack()
        self.width = max(640, 2 * _MARGIN + _LEFT + len(self.places) * (_BOX + _GAP))
        n_rows = 1 + sum(36 + 6.4 * len(meaning) for meaning in map(_meaning, self._used())) // (
            self.width - 2 * _MARGIN
        )
        self.height = int(self.bottom + 30 + 22 * n_rows + _MARGIN + 10)

    def _stack(self) -> None:
        # From the bottom up: heads of layer 0, MLP of layer 0, heads of layer 1, ... Each box is as high as its text.
        shown = {node: self._lines(node) for node in (*self.truth.decoys, *self.truth.roles)}
        heights: dict[tuple[int, bool], int] = {}
        for layer in range(self.truth.description.n_layers):
            for is_mlp in (False, True):
                stacks = [
                    sum(
                        _LINE * len(lines) + 10 for node, lines in shown.items() if self._in(node, layer, is_mlp, place)
                    )
                    for place in self.places
                ]
                heights[layer, is_mlp] = max([0, *stacks])
        total = sum(height + _BAND_GAP for height in heights.values() if height)
        self.bottom = _MARGIN + 62 + total
        y = float(self.bottom - 10)
        self.at: dict[Node, tuple[float, float, int, list[str]]] = {}
        self.bands: dict[tuple[int, bool], tuple[float, int]] = {}
        for (layer, is_mlp), height in heights.items():
            if height:
                y -= height
                self.bands[layer, is_mlp] = (y, height)
                for place in self.places:
                    self._pile([node for node in sorted(shown) if self._in(node, layer, is_mlp, place)], shown, y)
                y -= _BAND_GAP

    def _in(self, node: Node, layer: int, is_mlp: bool, place: int) -> bool:
        return (node.layer, node.is_mlp, node.position) == (layer, is_mlp, place)

    def _pile(self, nodes: list[Node], shown: dict[Node, list[str]], y: float) -> None:
        for node in nodes:
            height = _LINE * len(shown[node]) + 6
            self.at[node] = (self._x(node.position), y, height, shown[node])
            y += height + 4

    def _x(self, place: int) -> float:
        return _MARGIN + _LEFT + self.places.index(place) * (_BOX + _GAP)

    def _lines(self, node: Node) -> list[str]:
        variables = self.truth.roles.get(node) or self.truth.decoys[node]
        names = [str(v) for v in sorted(variables, key=lambda v: (v.name, v.index or 0))]
        name = str(node).split("L", 1)[1]
        if len(names) > 3:
            names = [f"{names[0]} .. {names[-1]}"]
        return [f"L{name}", *names]

    def _kind(self, node: Node) -> VariableKind:
        if node not in self.truth.roles:
            return _DECOY
        stages = {group.stage for group in self.truth.groups_of(node)}
        if "combine" in stages:
            return ANSWER_KIND
        if "select" in stages:
            return SELECT_KIND
        families = model_of(self.truth.description).family_called
        return families[min(variable.name for variable in self.truth.roles[node])].kind

    def frame(self) -> list[str]:
        names = place_names(self.digits)
        assert len(names) == sequence_length(self.digits)
        title = f"{self.truth.name}, {self.truth.description.method.value}"
        parts = [_text(_MARGIN, _MARGIN + 16, title, size=18, weight="bold")]
        note = "Places from left to right, layers from the bottom up; a line is an edge that carries a variable."
        parts.append(_text(_MARGIN, _MARGIN + 36, note, fill="#555555", size=12))
        for (layer, is_mlp), (y, height) in self.bands.items():
            words = f"layer {layer}", "MLP" if is_mlp else "heads"
            parts += [_text(_MARGIN, y + height / 2 + 12 * i, word, fill="#555555") for i, word in enumerate(words)]
        for place in self.places:
            middle = self._x(place) + _BOX / 2
            parts.append(_text(middle, self.bottom + 12, names[place], anchor="middle", size=14, weight="bold"))
            parts.append(_text(middle, self.bottom + 27, f"P{place}", anchor="middle", fill="#777777"))
        return parts

    def edges(self) -> list[str]:
        parts = []
        for sender, receiver in dict.fromkeys((edge.sender, edge.receiver) for edge in self.truth.edges):
            x, y, height, _ = self.at[sender]
            middle, ink = x + _BOX / 2, self._kind(sender).light[1]
            if receiver is None:
                parts.append(_path(f"M{middle:g} {y:g} V{y - 24:g} m-4 7 l4 -7 l4 7", ANSWER_KIND.light[1]))
                continue
            to_x, to_y, to_height, _ = self.at[receiver]
            low, half = to_y + to_height, to_y + to_height / 2
            if sender.position != receiver.position:
                parts.append(
                    _path(f"M{middle:g} {y:g} C{middle:g} {half:g} {to_x - 40:g} {half:g} {to_x:g} {half:g}", ink)
                )
            elif self._between(sender, receiver):  # round the boxes that stand in the way
                side, own = x + _BOX, y + height / 2
                parts.append(
                    _path(f"M{side:g} {own:g} C{side + 9:g} {own:g} {side + 9:g} {half:g} {side:g} {half:g}", ink)
                )
            else:
                parts.append(_path(f"M{middle:g} {y:g} V{low:g}", ink))
        return parts

    def _between(self, sender: Node, receiver: Node) -> bool:
        low, high = self.at[sender][1], self.at[receiver][1]
        return any(node.position == sender.position and high < at[1] < low for node, at in self.at.items())

    def boxes(self) -> list[str]:
        parts = []
        for node, (x, y, height, lines) in self.at.items():
            fill, ink = self._kind(node).light
            dash = "" if node in self.truth.roles else ' stroke-dasharray="4 3"'
            shape = f'x="{x:g}" y="{y:g}" width="{_BOX}" height="{height}" rx="5"'
            parts.append(f'<rect {shape} fill="{fill}" stroke="{ink}"{dash}/>')
            for i, line in enumerate(lines):
                tone, weight = (ink, "bold") if i else ("#555555", "normal")
                parts.append(_text(x + _BOX / 2, y + 13 + _LINE * i, line, anchor="middle", fill=tone, weight=weight))
        return parts

    def legend(self) -> list[str]:
        parts, x, y = [], float(_MARGIN), self.bottom + 46
        for kind in self._used():
            (fill, ink), meaning = kind.light, _meaning(kind)
            if x + 36 + 6.4 * len(meaning) > self.width - _MARGIN and x > _MARGIN:
                x, y = float(_MARGIN), y + 22
            parts.append(f'<rect x="{x:g}" y="{y:g}" width="16" height="14" rx="3" fill="{fill}" stroke="{ink}"/>')
            parts.append(_text(x + 22, y + 11, meaning, fill="#555555", size=12))
            x += 36 + 6.4 * len(meaning)
        return parts

    def _used(self) -> list[VariableKind]:
        used = {self._kind(node) for node in self.at}
        return [kind for kind in (*KINDS, _DECOY) if kind in used]


def _meaning(kind: VariableKind) -> str:
    return _MEANINGS.get(kind, kind.meaning)


def _path(path: str, ink: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="1.2" stroke-opacity="0.65"/>'


def _text(
    x: float,
    y: float,
    content: str,
    *,
    anchor: str = "start",
    fill: str = "#222222",
    size: int = 11,
    weight: str = "normal",
) -> str:
    looks = {"text-anchor": anchor, "fill": fill, "font-size": size, "font-weight": weight}
    usual = {"text-anchor": "start", "font-size": 11, "font-weight": "normal"}
    attributes = "".join(f' {name}="{value}"' for name, value in looks.items() if usual.get(name) != value)
    return f'<text x="{x:g}" y="{y:g}"{attributes}>{escape(content)}</text>'
