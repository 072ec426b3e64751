"""Experiments: what of each experiment's outcome is compared between models, beside its verdict.

Takes  outcomes of the battery.
Gives  `FINDINGS`: for each experiment its named sub-outcomes, each a question and how a cell is read off the facts.
Never  reads a figure off a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from carrylens.arithmetic.battery import lenses, make_carry, patching, paths, selection, whole
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.selection import SIGN_PLACE
from carrylens.arithmetic.battery.turning import Turn
from carrylens.arithmetic.battery.weighing import overall
from carrylens.arithmetic.family.cells import (
    APART,
    UNTESTED,
    Cell,
    State,
    kinds_cell,
    measured_cell,
    share_cell,
    sides_cell,
    verdict_cell,
)
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.tasks.variables import Variable

MIXED_ONLY = ("axes", "selection", "polysemy")
"""Experiments that ask how adding and subtracting live together."""
_YES = ("yes", "no")
_MOST = ("most", "fewer than half")


@dataclass(frozen=True)
class Finding:
    """One row: of which experiment, what is asked, how it is read; `paper` begins what the outcome sets beside it.

    `trend` is where the paper says that the number goes as additions get longer: `grows` or `falls`.
    """

    experiment: str
    name: str
    read: Callable[[Outcome, ModelName], Cell]
    paper: str = ""
    trend: str = ""


def applies(experiment: str, name: ModelName) -> bool:
    """Whether the experiment asks anything of such a model."""
    return experiment not in MIXED_ONLY or name.operation is Operation.MIX


def _facts(outcome: Outcome, **about: object) -> list[Fact]:
    # Facts about just this; None stands for what must not be said of them.
    return [fact for fact in outcome.facts if all(fact.about.get(key) == value for key, value in about.items())]


def _made(outcome: Outcome) -> Iterator[tuple[Variable, str]]:
    for row in outcome.rows:
        yield Variable.parse(row[0]), row[1]


def _columns(outcome: Outcome, name: ModelName) -> Cell:
    top = Variable("ST", name.digits - 1)
    return kinds_cell([kind for column, kind in _made(outcome) if column != top], (make_carry.OPEN, make_carry.ASKED))


def _top_column(outcome: Outcome, name: ModelName) -> Cell:
    top = Variable("ST", name.digits - 1)
    kinds = [kind for column, kind in _made(outcome) if column == top]
    return kinds_cell(kinds, (make_carry.OPEN, make_carry.ASKED)) if kinds else APART


def _values(outcome: Outcome, _name: ModelName) -> Cell:
    words = {make_carry.IN_PLACE: "three values", make_carry.BINARY: "binary", make_carry.SPLIT: "two binary values"}
    asked = [kind for column, kind in _made(outcome) if column.digit]  # column 0 has no U
    return kinds_cell([words.get(kind, "not told") for kind in asked], ("not told",))


def _at_answer(outcome: Outcome, _name: ModelName) -> Cell:
    return share_cell(_facts(outcome, site=patching.HEADS, pooled=None), _MOST)


def _at_column(outcome: Outcome, _name: ModelName) -> Cell:
    return share_cell(_facts(outcome, site=patching.COLUMN, pooled=None), _MOST)


def _combines(outcome: Outcome, _name: ModelName) -> Cell:
    row = next((each for each in outcome.beside_paper if each.what.startswith("the layer whose")), None)
    if row is None:
        return UNTESTED
    return Cell(State.TOLD, "the last, for all branches" if row.agrees else "not the last for all", row.ours)


def _through_heads(outcome: Outcome, _name: ModelName) -> Cell:
    return share_cell(_facts(outcome, edit=paths.HEADS, pooled=None), _YES)


def _through_earlier(outcome: Outcome, _name: ModelName) -> Cell:
    return share_cell(_facts(outcome, edit=paths.EARLIER, pooled=None), _YES)


def _heads(outcome: Outcome, _name: ModelName) -> Cell:
    kinds = []
    each = [(fact.about["branch"], fact.about["digit"]) for fact in _facts(outcome, pooled=None)]
    for branch, digit in dict.fromkeys(each):
        wanted = ({"edit": paths.HEADS, "pooled": None}, {"picked": "best alone"}, {"picked": "missed most"})
        rates = [
            sum((fact.effect for fact in _facts(outcome, branch=branch, digit=digit, **about)), Rate(0, 0))
            for about in wanted
        ]
        kinds.append(paths.delivered_by(*rates))
    return kinds_cell(kinds, (paths.UNCLEAR,))


def _equals(outcome: Outcome, _name: ModelName) -> Cell:
    cells: dict[tuple[object, ...], dict[object, Rate]] = {}
    for fact in _facts(outcome, pooled=None):
        where = tuple(fact.about.get(key) for key in ("branch", "digit", "depth"))
        cells.setdefault(where, {})[fact.about["edit"]] = fact.effect
    wanted = (paths.EQUALS, paths.BEFORE, paths.HELD)
    kinds = [
        paths.equals_is(*(rates[edit] for edit in wanted)) for rates in cells.values() if rates.keys() >= set(wanted)
    ]
    return kinds_cell(kinds, (paths.UNCLEAR,))


def _predicted(outcome: Outcome, _name: ModelName) -> Cell:
    accounts = [fact for fact in outcome.facts if "account" in fact.about and "scrubbed" not in fact.about]
    return share_cell(accounts[:1], _MOST)


def _rivals(outcome: Outcome, _name: ModelName) -> Cell:
    duels = [fact for fact in outcome.facts if "duel" in fact.about]
    if not duels:
        return UNTESTED
    best = max(duels, key=lambda duel: duel.null.value - duel.effect.value)
    figure = f"nearest {best.about['against']}: ours {best.effect.hits}, its {best.null.hits} of {best.effect.n}"
    return verdict_cell(overall(whole.judge_duels(duels)), figure, ("beaten, all of them", "one wins"))


def _scrubbed(outcome: Outcome, _name: ModelName) -> Cell:
    accounts = [fact for fact in outcome.facts if "account" in fact.about and "scrubbed" not in fact.about]
    ours = {fact.about["account"] for fact in accounts[:1]}  # rivals are scrubbed too
    kept = [fact for fact in outcome.facts if "scrubbed" in fact.about and fact.about.get("account") in ours]
    return share_cell(kept, _MOST)


def _claimed(outcome: Outcome, _name: ModelName) -> Cell:
    claimed = [fact for fact in outcome.facts if "claimed" in fact.about]
    return share_cell([fact for fact in claimed if fact.about["rest"] == "is resampled"], _MOST)


def _missed(letter: str) -> Callable[[Outcome, ModelName], Cell]:
    words = {"SUPPORTED": "redundant", "REFUTED": "one is needed"}

    def read(outcome: Outcome, _name: ModelName) -> Cell:
        kinds = [words.get(row[-1], "not told") for row in outcome.rows if row[0].startswith(letter)]
        return kinds_cell(kinds, ("not told",))

    return read


def _kept(fill: str) -> Callable[[Outcome, ModelName], Cell]:
    def read(outcome: Outcome, _name: ModelName) -> Cell:
        return share_cell(_facts(outcome, fill=fill), _MOST, by="branch")

    return read


def _brought_back(outcome: Outcome, _name: ModelName) -> Cell:
    return share_cell([fact for fact in outcome.facts if "added" in fact.about], ("most", "fewer"), by="branch")


def _curve(what: str) -> Callable[[Outcome, ModelName], Cell]:
    def read(outcome: Outcome, _name: ModelName) -> Cell:
        return share_cell(_facts(outcome, curve=what), ("a step", "no step"), by="branch")

    return read


def _number(ending: str, null: str) -> Callable[[Outcome, ModelName], Cell]:
    def read(outcome: Outcome, _name: ModelName) -> Cell:
        return measured_cell([each for each in outcome.estimates if each.name.endswith(ending)], null)

    return read


def _starting(beginning: str, null: str) -> Callable[[Outcome, ModelName], Cell]:
    def read(outcome: Outcome, _name: ModelName) -> Cell:
        return measured_cell([each for each in outcome.estimates if each.name.startswith(beginning)], null)

    return read


def _onsets(outcome: Outcome, _name: ModelName) -> Cell:
    at = {name: outcome.headers.index(name) for name in ("onset", "reader")} if outcome.rows else {}
    kinds = [
        "nowhere"
        if row[at["onset"]] == "none"
        else "at its reader"
        if row[at["onset"]] == row[at["reader"]]
        else "before"
        for row in outcome.rows
    ]
    return kinds_cell(kinds)


def _top_lag(outcome: Outcome, _name: ModelName) -> Cell:
    rows = [row for row in outcome.rows if row[0].split("[")[0] == outcome.rows[0][0].split("[")[0]]
    if not rows:
        return UNTESTED
    name, onset, _, lag, *_ = rows[-1]
    if onset == "none":
        return Cell(State.OPEN, figure=f"{name} nowhere")
    return Cell(State.TOLD, "1 token" if lag == "1" else f"{lag} tokens", f"{name} at {onset}")


def _across(outcome: Outcome, _name: ModelName) -> Cell:
    return share_cell([fact for fact in outcome.facts if "probe" in fact.about], _YES)


def _angle(*pairs: str) -> Callable[[Outcome, ModelName], Cell]:
    def read(outcome: Outcome, _name: ModelName) -> Cell:
        mine = [each for each in outcome.estimates if each.name.split()[1] in pairs]
        return sides_cell(mine, 0.5, ("one direction", "apart"))

    return read


def _followed(outcome: Outcome, _name: ModelName) -> Cell:
    return share_cell([fact for fact in outcome.facts if fact.about.get("site") not in (None, SIGN_PLACE)], _YES)


def _sign_followed(outcome: Outcome, _name: ModelName) -> Cell:
    return share_cell(_facts(outcome, site=SIGN_PLACE), _YES)


def _rank_one(*, of_operator: bool) -> Callable[[Outcome, ModelName], Cell]:
    def read(outcome: Outcome, _name: ModelName) -> Cell:
        one = _facts(outcome, rank=1, source=selection.OTHER)
        mine = [fact for fact in one if Turn(str(fact.about["turn"])).of_operator is of_operator]
        return share_cell(mine, ("enough", "not enough"))

    return read


def _copied_one(outcome: Outcome, _name: ModelName) -> Cell:
    mine = [fact for fact in outcome.facts if fact.about.get("copied rank") == 1]
    return share_cell(mine, ("enough", "not enough"))


def _least_rank(*, of_operator: bool) -> Callable[[Outcome, ModelName], Cell]:
    def read(outcome: Outcome, _name: ModelName) -> Cell:
        found: dict[str, dict[int, Fact]] = {}
        for fact in _facts(outcome, source=selection.SAME):
            if Turn(str(fact.about["turn"])).of_operator is of_operator:
                found.setdefault(str(fact.about["turn"]), {})[int(str(fact.about["rank"]))] = fact
        needed = {turn: min(filter(None, map(_suffices, facts.items())), default=0) for turn, facts in found.items()}
        figure = ", ".join(f"{turn} {rank or 'none'}" for turn, rank in needed.items())
        if not needed or not all(needed.values()):
            return Cell(State.OPEN, "", figure) if needed else UNTESTED
        return Cell(State.MEASURED, figure=figure, value=max(needed.values()))

    return read


def _suffices(ranked: tuple[int, Fact]) -> int:
    rank, fact = ranked
    return rank if selection.is_enough(fact.effect, fact.null) else 0


def _several(outcome: Outcome, _name: ModelName) -> Cell:
    return share_cell([fact for fact in outcome.facts if "nodes" in fact.about], _MOST)


def _reused(outcome: Outcome, _name: ModelName) -> Cell:
    mine = [fact for fact in outcome.facts if "inserted nodes that serve" in fact.about]
    inserted = [fact for fact in mine if str(fact.about["null"]).endswith("from scratch")]
    return share_cell(inserted, _MOST, by="inserted nodes that serve")


def _lens(*, top: bool) -> Callable[[Outcome, ModelName], Cell]:
    # The sum's top digit is 0 or 1: it is often plain before its place is reached.
    def read(outcome: Outcome, name: ModelName) -> Cell:
        kinds = []
        for row in outcome.rows:
            token, _, what = row[0].partition(", ")
            if what == "logit lens" and top == (token == f"A{name.digits}"):
                kinds.append(_lens_kind(token, row[1], name))
        return kinds_cell(kinds)

    return read


def _lens_kind(token: str, where: str, name: ModelName) -> str:
    if where == "nowhere":
        return where
    place, _, level = where.partition(", ")
    digit = int(token[1:])
    own = "=" if digit == name.digits + 1 else f"A{digit + 1}"
    last = level.startswith(f"L{name.n_layers - 1} ")
    return "in the last layer of its place" if (place, last) == (own, True) else "before"


def _features(outcome: Outcome, _name: ModelName) -> Cell:
    units = [each for each in outcome.estimates if each.name.startswith("correlation of features")]
    if not units:
        return UNTESTED
    figure = f"{units[0].value:.2f} (null {max(each.null for each in units):.2f})"
    return verdict_cell(lenses.judge_units(units), figure, _YES)


FINDINGS = (
    Finding("make-carry", "where carries below the top column are made", _columns),
    Finding("make-carry", "where the sum's top carry is made", _top_column),
    Finding("make-carry", "values of a column's carry", _values, "how a column's carry"),
    Finding(
        "patching", "the combiner's heads swapped at the answer, its digit follows", _at_answer, "digits that follow"
    ),
    Finding("patching", "the column's place swapped, all digits above follow", _at_column),
    Finding("paths", "the layer whose MLP combines digit and carry", _combines, "the layer whose"),
    Finding("paths", "the heads of its layer deliver it", _through_heads, "delivery by"),
    Finding("paths", "earlier nodes of the place deliver it", _through_earlier),
    Finding("paths", "heads that deliver", _heads, "heads that deliver"),
    Finding("paths", "what = is", _equals, "what = is"),
    Finding("whole-algorithm", "whole answers predicted", _predicted, "whole answers"),
    Finding("whole-algorithm", "rivals", _rivals),
    Finding("whole-algorithm", "answers that stay, all sites scrubbed", _scrubbed),
    Finding("whole-algorithm", "answers that stay, the map's circuit scrubbed", _claimed),
    Finding("necessity", "heads that deliver a carry", _missed("A"), "single heads that are necessary to del"),
    Finding("necessity", "heads that make a carry", _missed("D"), "single heads that are necessary to make"),
    Finding(
        "necessity", "gap of all heads and the worst, delivering", _number("deliver carries", "untagged"), trend="grows"
    ),
    Finding("necessity", "gap of all heads and the worst, making", _number("make carries", "untagged"), trend="grows"),
    Finding("sufficiency", "answers kept, the rest at its mean", _kept("mean"), "add answers kept"),
    Finding("sufficiency", "answers kept, the rest at its class mean", _kept("class-mean")),
    Finding("sufficiency", "answers kept, the rest resampled", _kept("resample")),
    Finding("restoration", "of failing questions, brought back by a few nodes", _brought_back, "positive: right with"),
    Finding("combiner", "from carry to logits", _curve("logits")),
    Finding("combiner", "from carry to the MLP's output", _curve("output")),
    Finding("combiner", "width of the logits' rise", _number("width of the logit difference", "line")),
    Finding("combiner", "share at which the argmax turns", _number("argmax turns", "line"), "add: share at which"),
    Finding("probes", "where resolved carries are first read", _onsets),
    Finding("probes", "the top carry, tokens after D'0", _top_lag, "lag of"),
    Finding("probes", "probes of other columns read it", _across),
    Finding("probes", "separation of the carry's axis", _starting("carry-axis sep", "twin"), "carry-axis", "falls"),
    Finding("axes", "both borrows", _angle("positive-negative"), "|cos| positive-negative, digit 2, each"),
    Finding("axes", "carry and borrows", _angle("add-positive", "add-negative"), "|cos| add-positive, digit 2, each"),
    Finding("selection", "digits follow the operator's state", _followed),
    Finding("selection", "digits follow the sign's state", _sign_followed),
    Finding("selection", "one direction turns the operator, other operands", _rank_one(of_operator=True)),
    Finding("selection", "one direction turns the sign, other operands", _rank_one(of_operator=False)),
    Finding("selection", "least rank for the operator, same operands", _least_rank(of_operator=True)),
    Finding("selection", "least rank for the sign, same operands", _least_rank(of_operator=False)),
    Finding("selection", "one direction behind the last heads, as in the paper", _copied_one, "rank-1"),
    Finding("polysemy", "useful nodes that serve several branches", _several),
    Finding("polysemy", "nodes of the inserted addition model that serve a branch", _reused),
    Finding("lenses", "where tokens but the top digit are read", _lens(top=False)),
    Finding("lenses", "where the top digit is read", _lens(top=True)),
    Finding("lenses", "features tell more than neurons", _features),
)
