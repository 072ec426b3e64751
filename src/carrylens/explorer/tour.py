"""The tour: one question in six steps, told by what the page itself then shows.

Takes  a model, its task, and its map where there is one.
Gives  steps: a title, a text, what to look at and to bring into view, and the state of the page as its address has it.
Never  states what a model does: steps say where to look, and the page computes what is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from carrylens.arithmetic.example_questions import example_questions
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.discovery.node_map import NodeMap, Role
from carrylens.explorer.packed import packed_values
from carrylens.explorer.question_record import SEED, chosen_samplers
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable


def start_record(task: Task) -> dict[str, str]:
    """The question a page opens with, and the second one, as it keeps them."""
    if isinstance(task, ArithmeticTask):
        batch = task.parse(list(_questions(task)))
        if task.causal.admits(batch).all():
            return {"question": packed_values(batch[:1].values), "second": packed_values(batch[1:].values)}
    drawn = next(iter(chosen_samplers(task).values())).draw(SEED, 0, 2)
    return {"question": packed_values(drawn[:1].values), "second": packed_values(drawn[1:].values)}


def _questions(task: ArithmeticTask) -> tuple[str, str]:
    # The example, and the same with units that make the same digit without a carry or borrow: that alone differs.
    first = example_questions(task.operation, task.digits)[0]
    n, top, bottom = task.digits, int(first[task.digits - 1]), int(first[-1])
    units = (0, top + bottom - 10) if first[n] == "+" else (9, bottom - top - 1)
    return first, f"{first[: n - 1]}{units[0]}{first[n:-1]}{units[1]}"


def tour_record(model: Transformer, task: Task, found: NodeMap | None) -> list[dict[str, Any]]:
    """The steps; none for a task that has no story."""
    if not isinstance(task, ArithmeticTask) or task.digits < 2:
        return []
    if not task.causal.admits(task.parse(list(_questions(task)))).all():
        return []
    return _Story(task, *_actors(model, task, found)).steps()


@dataclass(frozen=True)
class _Story:
    # Whom the tour is about: a head to look at, and the carriers of what the units carry or borrow.
    task: ArithmeticTask
    looking: Node
    carriers: tuple[Node, ...]

    def steps(self) -> list[dict[str, Any]]:
        return [self._question(), self._known(), self._looks(), self._ablated(), self._interchanged(), self._many()]

    @property
    def _adds(self) -> bool:
        return self.task.operation is not Operation.SUB

    @property
    def _families(self) -> tuple[str, str, str]:
        return ("carry", "ST", "SV") if self._adds else ("borrow", "MB", "MV")

    def _address(self, **more: str) -> str:
        first, second = _questions(self.task)
        _, tri, resolved = self._families
        return "#" + urlencode({"q": first, "s": second, "f": f"{tri},{resolved}", **more})

    def _interchange(self) -> str:
        edits = ",".join(f"{node}.i" for node in self.carriers)
        return self._address(n=str(self.carriers[0]), e=edits, c=f"{self._families[1]}[0]")

    def _question(self) -> dict[str, Any]:
        first, (what, _, _), n = _questions(self.task)[0], self._families, self.task.digits
        passing = "sum to 9, so they pass a carry on" if self._adds else "are equal, so they pass a borrow on"
        return _step(
            f"A {what} from the units",
            ("ask", ".answer"),
            self._address(),
            f"{first}: the units, {first[n - 1]}{first[n]}{first[-1]}, make a {what}. Columns above them {passing}.",
            "The model writes its answer from the left, so its first digits depend on the very last digit it has "
            "read. The bar under each token says how sure it is.",
        )

    def _known(self) -> dict[str, Any]:
        what, tri, resolved = self._families
        return _step(
            "What is known when",
            ("watch", ".cell.token"),
            self._address(u=str(self.task.layout.n_question - 3)),
            f"Below the tokens is the algorithm. {tri} says what a column alone knows of its {what}; U means that it "
            f"hangs on the columns below. {resolved} is the {what} with all of them taken into account.",
            "The last digit is still to come. Press Play, or move “Tokens read” to the right, and watch what was "
            "open settle, all at once, when it arrives.",
        ) | {"play": True}

    def _looks(self) -> dict[str, Any]:
        return _step(
            "A head that looks",
            ("watch", ".cell.node.selected"),
            self._address(n=str(self.looking)),
            "Above the tokens are the model's nodes: a column for each place, layers from the bottom up. "
            f"{self.looking} is chosen; lines show where it looks. Hover over others, or walk there with the arrow "
            "keys.",
            "The rows between layers say what each place would answer if the model stopped there.",
        )

    def _ablated(self) -> dict[str, Any]:
        return _step(
            "Take something away",
            ("ask", ".answer"),
            self._address(n=str(self.looking), e=f"{self.looking}.m"),
            f"Now {self.looking} writes its mean instead of what it has to say. Look at what the edited model answers.",
            "If nothing changes, other nodes may do the same work: take those away, too. Undo with Ctrl+Z.",
        )

    def _interchanged(self) -> dict[str, Any]:
        what, tri, _ = self._families
        return _step(
            "Put something else in its place",
            ("ask", ".answer"),
            self._interchange(),
            f"The second question, {_questions(self.task)[1]}, makes the same last digit without a {what}. The "
            "chosen nodes now write what they write for it; everything else stays.",
            f"If these nodes carry {tri}[0], the model must now answer as the algorithm does with {tri}[0] forced to "
            "0. Both answers stand in the sentence above: do they agree?",
        )

    def _many(self) -> dict[str, Any]:
        tri = self._families[1]
        return _step(
            "Not one click, two hundred",
            ("touch", ".stack-part"),
            self._interchange(),
            "One click is one question. “Run on 200 fresh questions” asks the same of 200 new pairs, and of 200 "
            f"others in which {tri}[0] does not differ: the null.",
            "Then find a question this edit breaks, lengthen the cascade, or send this view to somebody: all of it "
            "is in the address.",
        )


def _step(title: str, about: tuple[str, str], hash_: str, *text: str) -> dict[str, Any]:
    # `about`: the part of the page that is framed, and what in the page must be in view.
    look, show = about
    return {"title": title, "look": look, "show": show, "hash": hash_, "text": list(text)}


def _actors(model: Transformer, task: ArithmeticTask, found: NodeMap | None) -> tuple[Node, tuple[Node, ...]]:
    # The node to look at, and those that are to carry the carry of the units: by the map, or where it can be computed.
    tri = Variable("ST" if task.operation is not Operation.SUB else "MB", 0)
    place = max(task.layout.arrival_of(variable) for variable in task.causal.inputs_of(tri))
    usual = tuple(Node(place, 0, head) for head in range(model.config.n_heads))
    usual += (Node(place, 0, None),) if model.config.has_mlp else ()
    roles = [] if found is None else [role for role in found.roles if role.variable == tri]
    carriers = _best_set(roles) or usual
    heads = [node for node in carriers if node.head is not None]
    return (heads[0] if heads else usual[0]), carriers


def _best_set(roles: list[Role]) -> tuple[Node, ...]:
    # The union of the surest set for each output.
    best: dict[int, Role] = {}
    for role in roles:
        if role.token not in best or role.hit.value > best[role.token].hit.value:
            best[role.token] = role
    return tuple(sorted({node for role in best.values() for node in role.nodes}))
