"""The tour: one question in six steps, told by what the page itself then shows.

Takes  a model, its task, and its map where there is one.
Gives  steps: a title, a text, what to look at, and the state of the page as its address has it.
Never  states what a model does: steps say where to look, and the page computes what is there.
"""

from __future__ import annotations

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
    # The example, and the same without the carry or borrow of its units.
    first = example_questions(task.operation, task.digits)[0]
    return first, first[:-1] + "3"


def tour_record(model: Transformer, task: Task, found: NodeMap | None) -> list[dict[str, Any]]:
    """The steps; none for a task that has no story."""
    if not isinstance(task, ArithmeticTask) or task.digits < 2:
        return []
    if not task.causal.admits(task.parse(list(_questions(task)))).all():
        return []
    return _steps(task, *_actors(model, task, found))


def _steps(task: ArithmeticTask, looking: Node, carriers: tuple[Node, ...]) -> list[dict[str, Any]]:
    first, second = _questions(task)
    adds = task.operation is not Operation.SUB
    what, tri, resolved = ("carry", "ST", "SV") if adds else ("borrow", "MB", "MV")
    passing = "sum to 9, so they pass a carry on" if adds else "are equal, so they pass a borrow on"
    units, n = first[task.digits - 1] + first[task.digits] + first[-1], task.digits
    edits = ",".join(f"{node}.i" for node in carriers)

    def address(**more: str) -> str:
        return "#" + urlencode({"q": first, "s": second, **more})

    one_click = f"Only {tri}[0] differs in what the columns above need."
    return [
        _step(
            "A carry from the units" if adds else "A borrow from the units",
            "ask",
            address(),
            f"{first}: the units, {units}, make a {what}. The columns above them {passing}, up to the top.",
            "The model writes its answer from the left, so its first digits depend on the very last digit it has "
            "read. The bar under each token says how sure it is.",
        ),
        _step(
            "What is known when",
            "watch",
            address(f=f"{tri},{resolved}", u=str(task.layout.n_question - 3)),
            f"Below the tokens is the algorithm. {tri} says what a column alone knows of its {what}; U means that it "
            f"hangs on the columns below. {resolved} is the {what} with all of them taken into account.",
            f"Two tokens are still to come, and every {resolved} is U. Move “Tokens read” to the right, or press "
            "Play, and watch all of them settle at once when the last digit arrives.",
        ),
        _step(
            "A head that looks",
            "watch",
            address(n=str(looking), f=f"{tri},{resolved}"),
            f"Above the tokens are the model's nodes: a column for each place, layers from the bottom up. {looking} "
            "is chosen; lines show where it looks. Hover over others, or walk there with the arrow keys.",
            "The rows between layers say what each place would answer if the model stopped there.",
        ),
        _step(
            "Take something away",
            "touch",
            address(n=str(looking), e=f"{looking}.m", f=f"{tri},{resolved}"),
            f"Now {looking} writes its mean instead of what it has to say. Look at what the edited model answers.",
            "If nothing changes, other nodes may do the same work: take those away, too. Undo is below, and Ctrl+Z.",
        ),
        _step(
            "Put something else in its place",
            "ask",
            address(n=str(carriers[0]), e=edits, c=f"{tri}[0]", f=f"{tri},{resolved}"),
            f"The second question, {second}, has no {what} from its units. The chosen nodes now write what they "
            f"write for it, everything else stays. {one_click}",
            f"If these nodes carry {tri}[0], the model must now answer as the algorithm does with {tri}[0] forced to "
            "0. Both answers stand in the sentence above: do they agree?",
        ),
        _step(
            "Not one click, two hundred",
            "touch",
            address(n=str(carriers[0]), e=edits, c=f"{tri}[0]", f=f"{tri},{resolved}"),
            "One click is one question. “Run on 200 fresh questions” asks the same of 200 new pairs, and of 200 "
            f"others in which {tri}[0] does not differ: the null.",
            "Then find a question this edit breaks, lengthen the cascade, or send this view to somebody: all of it "
            f"is in the address. A model of {n} digits has more to find.",
        ),
    ]


def _step(title: str, look: str, hash_: str, *text: str) -> dict[str, Any]:
    return {"title": title, "look": look, "hash": hash_, "text": list(text)}


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
