"""Comparison: several models on one page, what is the same and what differs.

Takes  what was saved about two or more models.
Gives  the text of an HTML file that needs nothing but itself.
Never  calls a claim the same where one model has no such claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.registry import EXPERIMENTS
from carrylens.arithmetic.family.cells import CellState, FamilyCell
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.family.table import VERDICT, experiment_rows
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.claims.verdicts import RunVerdict
from carrylens.discovery.node_map import NodeMap
from carrylens.errors import CarryLensError
from carrylens.nodes import Node
from carrylens.report.figures.print_tables import coverage_table, model_table
from carrylens.report.kind_styles import kinds_of_all
from carrylens.report.page import effects
from carrylens.report.page.circuit import Box, Circuit, circuit_drawing, circuit_of
from carrylens.report.page.headline import headline_of, verdict_lines
from carrylens.report.page.render import environment, frame_of
from carrylens.report.page.saved import Saved
from carrylens.report.terminal.claims import grouped
from carrylens.tasks.layout import Layout
from carrylens.tasks.variables import Variable

_NO_CLAIM = "no such claim"


@dataclass(frozen=True)
class ComparedLine:
    """One row: what is compared, and a cell for each model."""

    what: str
    cells: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether all models have the same."""
        return len(set(self.cells)) == 1

    @property
    def shared(self) -> bool:
        """Whether all models have something of the kind."""
        return _NO_CLAIM not in self.cells


def comparison_page(saved: Sequence[Saved]) -> str:
    """The page about several models."""
    if len(saved) < 2:
        raise CarryLensError("One model cannot be compared. Give two or more.")
    for each in saved:
        effects.check_claims(each.claims["claims"])
    circuits = [circuit_of(each) for each in saved]
    groups = [*claim_group_lines(saved), *experiment_lines(saved)]
    layouts, kinds = list(layout_lines(saved, circuits)), kinds_of_all(each.map for each in saved)
    context = {
        "saved": saved,
        "sentence": comparison_sentence(saved),
        "heads": [headline_of(each) for each in saved],
        "same": [line for line in (*groups, *layouts) if line.same],
        "differs": [line for line in (*groups, *layouts) if not line.same and line.shared],
        "apart": [line for line in groups if not line.shared],
        "claims": list(differing_claims(saved)),
        "tables": [model_table(saved), coverage_table(saved)],
        "circuits": [
            circuit_drawing(circuit, each.map, f"circuit-{at}")
            for at, (circuit, each) in enumerate(zip(circuits, saved, strict=True))
        ],
        "kinds": kinds,
        **frame_of(kinds),
        "is_arithmetic": all(isinstance(each.map.task, ArithmeticTask) for each in saved),
    }
    return environment().get_template("compare.html").render(context)


def comparison_sentence(saved: Sequence[Saved]) -> str:
    """What the models have in common, in a sentence."""
    counts = Counter(run_verdict_of(each) for each in saved)
    said = []
    for verdict, one, many in (
        (RunVerdict.RUNS, "runs the algorithm that was looked for", "run the algorithm that was looked for"),
        (RunVerdict.IN_PART, "runs it in part", "run it in part"),
        (RunVerdict.DOES_NOT_RUN, "does not run it as it is stated", "do not run it as it is stated"),
        (RunVerdict.NOT_SETTLED, "is not settled", "are not settled"),
    ):
        if n := counts[verdict]:
            said.append(f"{n} {one if n == 1 else many}")
    return f"Of {len(saved)} models {', '.join(said)}."


def run_verdict_of(saved: Saved) -> RunVerdict:
    """The verdict of the joint test; without one, claims about a map can only say that a model does not run it."""
    if saved.joint is not None:
        return saved.joint.verdict
    return RunVerdict.DOES_NOT_RUN if saved.claims["skeleton"] == "absent" else RunVerdict.NOT_SETTLED


def comparison_lines(saved: Sequence[Saved]) -> list[str]:
    """The same for a terminal: a sentence, then a line for each model."""
    firsts = (verdict_lines(each)[:2] for each in saved)
    return [
        comparison_sentence(saved),
        *(f"{opening} {claims.partition(':')[2].strip()}" for opening, claims in firsts),
    ]


def claim_group_lines(saved: Sequence[Saved]) -> Iterator[ComparedLine]:
    """For each kind of claim how many of its claims each model bears out."""
    groups = [grouped([claim for claim in each.claims["claims"] if claim["required"]]) for each in saved]
    for what in dict.fromkeys(name for group in groups for name in group):
        yield ComparedLine(what, tuple(_borne_out(group.get(what, ())) for group in groups))


def experiment_lines(saved: Sequence[Saved]) -> Iterator[ComparedLine]:
    """For each experiment its verdict on each model, where the battery was run on any; then what hides behind it."""
    if not all(isinstance(each.map.task, ArithmeticTask) for each in saved):
        return  # the battery is about arithmetic
    members = [_member(each) for each in saved]
    run = {str(each["card"]["name"]) for one in saved for each in one.battery}
    titles = {each.name: each.card.title for each in EXPERIMENTS if each.name in run}
    for row in experiment_rows(members):
        if row.section in titles and (row.name == VERDICT or row.words):
            name = "" if row.name == VERDICT else f": {row.name}"
            yield ComparedLine(f"experiment: {titles[row.section]}{name}", tuple(map(_said, row.cells)))


def _member(saved: Saved) -> Member:
    outcomes = map(Outcome.from_record, saved.battery)
    return Member(saved.source, _name(saved.map), None, {each.card.name: each for each in outcomes})


def _name(found: NodeMap) -> ModelName:
    # A folder of one's own may be called anything: which experiments apply to it goes by its task and shape.
    try:
        return ModelName.parse(found.model)
    except CarryLensError:
        task, nodes = found.task, [each.node for each in found.nodes]
        assert isinstance(task, ArithmeticTask)
        n_heads = 1 + max(node.head or 0 for node in nodes)
        return ModelName(task.operation, task.digits, 1 + max(node.layer for node in nodes), n_heads, 1, 0)


def _said(cell: FamilyCell) -> str:
    return (
        cell.word
        if cell.state is CellState.TOLD
        else "inconclusive"
        if cell.state is CellState.OPEN
        else cell.state.value
    )


def layout_lines(saved: Sequence[Saved], circuits: Sequence[Circuit]) -> Iterator[ComparedLine]:
    """For each family where its variables stand, counted from the variable's own index."""
    layouts = [_layout(each, circuit) for each, circuit in zip(saved, circuits, strict=True)]
    for family in dict.fromkeys(name for layout in layouts for name in layout):
        yield ComparedLine(f"where {family}[k] is carried", tuple(_places(layout.get(family)) for layout in layouts))


def differing_claims(saved: Sequence[Saved]) -> Iterator[ComparedLine]:
    """The required claims that all models have, on which their verdicts differ."""
    verdicts = [{c["claim"]: c["verdict"] for c in each.claims["claims"] if c["required"]} for each in saved]
    for name in verdicts[0]:
        if all(name in some for some in verdicts) and len({some[name] for some in verdicts}) > 1:
            yield ComparedLine(name, tuple(some[name].lower() for some in verdicts))


def _borne_out(claims: Sequence[Mapping[str, object]]) -> str:
    if not claims:
        return _NO_CLAIM
    counts = Counter(str(claim["verdict"]).lower() for claim in claims)
    if set(counts) == {"supported"}:
        return "all supported"
    return ", ".join(
        f"{counts[name]} {name}" for name in ("supported", "refuted", "inconclusive", "untested") if counts[name]
    )


def _layout(saved: Saved, circuit: Circuit) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for box in circuit.boxes:
        for variable in box.variables:
            found.setdefault(variable.name, Counter())[_stand(box, variable, saved.map.task.layout)] += 1
    return found


def _stand(box: Box, variable: Variable, layout: Layout) -> str:
    # Where a box stands, told from the variable's own index: at D'k, A(k+1) and so on.
    node: Node = max(box.nodes)
    place = layout.place_names[node.position]
    kind = "MLP" if node.is_mlp else "heads" if len(box.nodes) > 1 else "a head"
    letters = place.rstrip("0123456789")
    if variable.index is not None and letters != place:
        away = int(place[len(letters) :]) - variable.index
        place = f"{letters}k" if not away else f"{letters}(k{away:+d})"
    return f"{place}, layer {node.layer}, {kind}"


def _most_first(counted: tuple[str, int]) -> tuple[int, str]:
    return (-counted[1], counted[0])


def _places(counts: Counter[str] | None) -> str:
    if not counts:
        return "nowhere surely"
    return "; ".join(f"{place} ({n})" if n > 1 else place for place, n in sorted(counts.items(), key=_most_first))
