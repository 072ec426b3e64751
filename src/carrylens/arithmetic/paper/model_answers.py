"""Answers about the models: how many there are, how accurate, how they were trained.

Takes  saved evidence: tests, histories, the lines of the paper's tables.
Gives  the functions that answer claims about them.
Never  takes an interval from the paper without working it out again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from statistics import median

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, missing
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.arithmetic.paper.saved_models import SavedModel
from carrylens.arithmetic.paper.table_answers import meets_by_table, rank_correlation
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.training.exam_results import PartResult

MODELS = "carrylens models"
_MILLION = 1_000_000
_BAR = 10
_HOUR = 3600


def answer_accurate(evidence: PaperEvidence) -> PaperAnswer:
    """How many of the rows meet the bar."""
    rows = evidence.of_rows
    trained = [model for _, model in rows if model is not None]
    meets = sum(model.meets_bar is True for model in trained)
    theirs = sum(meets_by_table(line) for line in evidence.published.values())
    return PaperAnswer(
        Agreement.AGREES if theirs == 29 and 2 * meets > len(trained) else Agreement.DIFFERS,
        f"its own tables: {theirs} of {len(evidence.published)}; ours: {meets} of the {len(trained)} rows trained so "
        f"far, of {len(rows)}",
        len(trained),
        "models",
        command=MODELS,
        why="ours are trained on longer cascades and for borrows too, so more of them meet the bar",
    )


def answer_hour(evidence: PaperEvidence) -> PaperAnswer:
    """How long training takes."""
    seconds = [model.last["seconds"] for _, model in evidence.of_rows if model is not None and "seconds" in model.last]
    if not seconds:
        return missing("no training history is saved")
    within = sum(each < _HOUR for each in seconds)
    return PaperAnswer(
        Agreement.AGREES if 2 * within > len(seconds) else Agreement.DIFFERS,
        f"{within} of {len(seconds)} below an hour, median {median(seconds):,.0f} s",
        len(seconds),
        "models",
        command=f"{MODELS} --markdown",
        why="on one CPU core, shared with other work, at width 96 instead of 510 on a GPU",
    )


def answer_cascades(evidence: PaperEvidence) -> PaperAnswer:
    """Cascades through all columns are right."""
    deepest = [
        part
        for member in evidence.members
        if member.name.operation is not Operation.SUB
        for part in evidence.models[str(member.name)].parts(f"cascade depth {member.name.digits - 1}")
    ]
    asked, failed = _totals(deepest)
    if not asked:
        return missing("no test of the deepest cascades is saved", "carrylens test MODEL --save")
    low, high = PartResult("", "", asked, failed).interval()
    return PaperAnswer(
        Agreement.AGREES if not failed else Agreement.DIFFERS,
        f"{failed} of {asked:,} sums whose carry runs through all columns are wrong [{low:.1e}, {high:.1e}], "
        f"in {len(deepest)} models",
        asked,
        "questions",
        command="carrylens test MODEL",
    )


def _totals(parts: Iterable[object]) -> tuple[int, int]:
    counts = [(part["asked"], part["failed"]) for part in parts]  # type: ignore[index]
    return sum(asked for asked, _ in counts), sum(failed for _, failed in counts)


def answer_memory(evidence: PaperEvidence) -> PaperAnswer:
    """How little of all questions training sees."""
    seen = [
        model.name.n_steps * model.run["batch"] / 10 ** (2 * model.name.digits)
        for _, model in evidence.of_rows
        if model is not None and "batch" in model.run
    ]
    if not seen:
        return missing("no training history is saved")
    return PaperAnswer(
        Agreement.AGREES if max(seen) < 0.01 else Agreement.DIFFERS,
        f"at five digits 10^{2 * 5} questions; ours saw at most {max(seen):.1e} of theirs",
        len(seen),
        "models",
        command=f"{MODELS} --markdown",
    )


def answer_vocabulary(_evidence: PaperEvidence) -> PaperAnswer:
    """The size of the vocabulary."""
    tokens = arithmetic_task(Operation.MIX, 5).layout.vocabulary
    return PaperAnswer(
        Agreement.AGREES if len(tokens) == 14 else Agreement.DIFFERS,
        f"{len(tokens)} tokens: {' '.join(map(str, tokens))}",
        command="carrylens trace 325-329",
        why="ten digits and five signs are fifteen",
    )


def answer_low_loss(evidence: PaperEvidence) -> PaperAnswer:
    """Last losses."""
    losses = [evidence.models[str(member.name)].last.get("loss") for member in evidence.members]
    known = [loss for loss in losses if loss is not None]
    if not known:
        return missing("no training history is saved")
    return PaperAnswer(
        Agreement.APART,
        f"last losses of our accurate models {min(known):.1e} to {max(known):.1e}, median {median(known):.1e}",
        len(known),
        "models",
        command="carrylens losses",
        why="ours are of enriched batches and another width; failures can be compared, losses cannot",
    )


def answer_longer(evidence: PaperEvidence) -> PaperAnswer:
    """Longer additions train for longer."""
    theirs = {name: ModelName.parse(name) for name in evidence.published if name.startswith("add")}
    found = [member.name for member in evidence.members if member.name.operation is Operation.ADD]
    if len({name.digits for name in found}) < 3:
        return missing("too few lengths of additions are trained")
    ours = rank_correlation([(name.digits, name.n_steps) for name in found])
    paper = rank_correlation([(name.digits, name.n_steps) for name in theirs.values()])
    return PaperAnswer(
        Agreement.AGREES if ours > 0.5 else Agreement.DIFFERS,
        f"rank correlation of digits and steps: ours {ours:.2f} in {len(found)} additions, the paper's {paper:.2f}",
        len(found),
        "models",
        command=f"{MODELS} --markdown",
    )


def answer_nine_and_fourteen(evidence: PaperEvidence) -> PaperAnswer:
    """9 mixed models from scratch, 14 inserted."""
    names = [ModelName.parse(name) for name in evidence.published]
    mixed = [name for name in names if name.operation is Operation.MIX]
    scratch = sum(not name.insertion for name in mixed)
    return PaperAnswer(
        Agreement.AGREES if (scratch, len(mixed) - scratch) == (9, 14) else Agreement.DIFFERS,
        f"its table has {scratch} from scratch and {len(mixed) - scratch} with an inserted addition model",
        len(mixed),
        "models",
        command=f"{MODELS} --markdown",
    )


def answer_inserted(evidence: PaperEvidence) -> PaperAnswer:
    """Most inserted models become accurate."""
    ins1 = [m for row, m in evidence.of_rows if m is not None and row.name.insertion == 1]
    if not ins1:
        return missing("no model with an inserted addition model is trained", "carrylens family run paper --only ins1")
    good = sum(model.meets_bar is True for model in ins1)
    theirs = sum(meets_by_table(line) for name, line in evidence.published.items() if name.startswith("ins1"))
    return PaperAnswer(
        Agreement.AGREES if 2 * good > len(ins1) else Agreement.DIFFERS,
        f"{good} of {len(ins1)} meet the bar for both operations; by its own table {theirs} of its 12",
        len(ins1),
        "models",
        command=MODELS,
    )


def answer_frozen(evidence: PaperEvidence) -> PaperAnswer:
    """Putting inserted nodes back lowers accuracy."""
    frozen = [(row, m) for row, m in evidence.of_rows if m is not None and row.name.insertion > 1]
    if len(frozen) < 2:
        return missing(
            "ins2 and ins3 are not both trained and tested", "carrylens family run paper --only ins2 --only ins3"
        )
    said = ", ".join(f"{row.model}: {_failures(model)}" for row, model in frozen)
    worse = sum(model.meets_bar is False for _, model in frozen)
    return PaperAnswer(
        Agreement.AGREES if worse else Agreement.DIFFERS, said, len(frozen), "models", command="carrylens test MODEL"
    )


def _failures(model: SavedModel) -> str:
    parts = model.parts("natural")
    return " / ".join(f"{part['failed']} of {part['asked']:,} {part['operation']}" for part in parts) or "not tested"


def answer_subtraction_short(evidence: PaperEvidence) -> PaperAnswer:
    """Subtraction alone misses the bar."""
    ours = [m for row, m in evidence.of_rows if m is not None and row.name.operation is Operation.SUB]
    theirs = [meets_by_table(line) for name, line in evidence.published.items() if name.startswith("sub")]
    good = sum(model.meets_bar is True for model in ours)
    if not ours:
        return missing("no subtraction model is trained")
    return PaperAnswer(
        Agreement.DIFFERS if 2 * good > len(ours) else Agreement.AGREES,
        f"its table: {sum(theirs)} of {len(theirs)} meet the bar; ours: {good} of {len(ours)}",
        len(ours),
        "models",
        command=MODELS,
        why="our population has long borrow cascades, the published generator has none",
    )


def answer_up_to(evidence: PaperEvidence) -> PaperAnswer:
    """How many digits accurate models have."""
    most = max((member.name.digits for member in evidence.members), default=0)
    return PaperAnswer(
        Agreement.AGREES if most >= 13 else Agreement.DIFFERS,
        f"accurate up to {most} digits",
        len(evidence.members),
        "models",
        command=MODELS,
    )


def answer_intervals(evidence: PaperEvidence) -> PaperAnswer:
    """The intervals of the tables."""
    wrong = [name for name, line in evidence.published.items() if not _is_right(line)]
    return PaperAnswer(
        Agreement.DIFFERS if wrong else Agreement.AGREES,
        f"{len(wrong)} of {len(evidence.published)} are not those of the counts beside them "
        "(by more than half a percent)",
        len(evidence.published),
        "intervals",
        command="carrylens paper",
        why="worked out from the failures printed in the same line, added and subtracted together",
    )


def _is_right(line: object) -> bool:
    assert isinstance(line, dict)
    failed = sum(int(line[name]) for name in ("add", "sub") if line[name])
    exact = PartResult("", "", _MILLION, failed).interval()
    printed = (float(line["low"]), float(line["high"]))
    return all(math.isclose(*ends, rel_tol=0.005, abs_tol=1e-9) for ends in zip(exact, printed, strict=True))


def answer_processed(evidence: PaperEvidence) -> PaperAnswer:
    """How many questions a run processes."""
    millions = [ModelName.parse(name).n_steps * 64 / _MILLION for name in evidence.published]
    return PaperAnswer(
        Agreement.AGREES if min(millions) >= 1 and max(millions) <= 4 else Agreement.DIFFERS,
        f"{min(millions):.2f} to {max(millions):.2f} million, by the steps in its tables and batches of 64",
        len(millions),
        "models",
        command="carrylens paper",
    )


def answer_initialised(evidence: PaperEvidence) -> PaperAnswer:
    """Inserted models of up to 8 digits are accurate."""
    lines = [
        line
        for name, line in evidence.published.items()
        if name.startswith("ins1") and int(ModelName.parse(name).digits) <= 8
    ]
    good = sum(meets_by_table(line) for line in lines)
    return PaperAnswer(
        Agreement.AGREES if good == len(lines) else Agreement.DIFFERS,
        f"of the {len(lines)} in its own table, {good} fail fewer than {_BAR} in a million of each operation",
        len(lines),
        "models",
        command=f"{MODELS} --markdown",
        why="its table has 52 failures at five digits and 1,196 at eight",
    )


def answer_rivals(evidence: PaperEvidence) -> PaperAnswer:
    """Several candidate mechanisms are ruled out."""
    judged = [member.joint for member in evidence.members if member.joint is not None]
    if not judged:
        return missing("no alignment with rivals is saved", "carrylens settle MODEL")
    counts = Counter(each.standing for one in judged for each in one.rivals)
    all_worse = sum(bool(one.rivals) and all(each.standing == "surely worse" for each in one.rivals) for one in judged)
    return PaperAnswer(
        Agreement.AGREES if 2 * all_worse > len(judged) else Agreement.DIFFERS,
        f"rivals fitted just as hard: {', '.join(f'{word} {n}' for word, n in counts.most_common())}; all of them "
        f"surely worse in {all_worse} of {len(judged)} models",
        sum(counts.values()),
        "rivals",
        command="carrylens settle MODEL",
    )
