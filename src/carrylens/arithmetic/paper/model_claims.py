"""Claims about the models: how many there are, how accurate, how they were trained.

Takes  saved evidence: tests, histories, the lines of the paper's tables.
Gives  `MODEL_CLAIMS`, from the abstract to the training of mixed models; `TABLE_CLAIMS`, on the tables themselves.
Never  takes an interval from the paper without working it out again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from carrylens.arithmetic.model_names import PUBLISHED_WIDTH, ModelName
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, PaperClaim, missing
from carrylens.arithmetic.paper.readers import shown
from carrylens.arithmetic.paper.saved import PaperEvidence, SavedModel
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.training.exam_results import PartResult

MODELS = "carrylens models"
_MILLION = 1_000_000
_BAR = 10
_HOUR = 3600


def _accurate(evidence: PaperEvidence) -> PaperAnswer:
    rows = evidence.of_rows
    trained = [model for _, model in rows if model is not None]
    meets = sum(model.meets_bar is True for model in trained)
    theirs = sum(_meets(line) for line in evidence.published.values())
    return PaperAnswer(
        Agreement.AGREES if theirs == 29 and 2 * meets > len(trained) else Agreement.DIFFERS,
        f"its own tables: {theirs} of {len(evidence.published)}; ours: {meets} of the {len(trained)} rows trained so "
        f"far, of {len(rows)}",
        len(trained),
        "models",
        command=MODELS,
        why="ours are trained on longer cascades and for borrows too, so more of them meet the bar",
    )


def _meets(line: dict[str, str] | object) -> bool:
    assert isinstance(line, dict)
    return all(int(line[name]) < _BAR for name in ("add", "sub") if line[name])


def _parameters(evidence: PaperEvidence) -> PaperAnswer:
    shapes = {(m.name.n_layers, m.name.n_heads): m.name for m in evidence.members}
    sizes = {shape: (_size(name, PUBLISHED_WIDTH), _size(name, name.width)) for shape, name in sorted(shapes.items())}
    if not sizes:
        return missing("no model is accurate")
    said = "; ".join(
        f"{layers} layers and {heads} heads {theirs / _MILLION:.2f} million (ours {ours / _MILLION:.2f})"
        for (layers, heads), (theirs, ours) in sizes.items()
    )
    return PaperAnswer(
        Agreement.AGREES if max(theirs for theirs, _ in sizes.values()) > 9 * _MILLION else Agreement.DIFFERS,
        f"at width {PUBLISHED_WIDTH}: {said}",
        len(sizes),
        "shapes",
        command="carrylens models",
    )


def _size(name: ModelName, width: int) -> int:
    config = config_of_width(name.digits, name.n_layers, name.n_heads, width, name.seed)
    heads = config.n_heads * config.d_head
    attention = 4 * width * heads + 3 * heads + width
    block = attention + 2 * width * config.d_mlp + config.d_mlp + width + 4 * width
    return config.n_layers * block + config.d_vocab * width * 2 + config.d_vocab + config.n_ctx * width + 2 * width


def _hour(evidence: PaperEvidence) -> PaperAnswer:
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


def _cascades(evidence: PaperEvidence) -> PaperAnswer:
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


def _memory(evidence: PaperEvidence) -> PaperAnswer:
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


def _vocabulary(_evidence: PaperEvidence) -> PaperAnswer:
    tokens = arithmetic_task(Operation.MIX, 5).layout.vocabulary
    return PaperAnswer(
        Agreement.AGREES if len(tokens) == 14 else Agreement.DIFFERS,
        f"{len(tokens)} tokens: {' '.join(map(str, tokens))}",
        command="carrylens trace 325-329",
        why="ten digits and five signs are fifteen",
    )


def _low_loss(evidence: PaperEvidence) -> PaperAnswer:
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


def _longer(evidence: PaperEvidence) -> PaperAnswer:
    theirs = {name: ModelName.parse(name) for name in evidence.published if name.startswith("add")}
    found = [member.name for member in evidence.members if member.name.operation is Operation.ADD]
    if len({name.digits for name in found}) < 3:
        return missing("too few lengths of additions are trained")
    ours = _rank_correlation([(name.digits, name.n_steps) for name in found])
    paper = _rank_correlation([(name.digits, name.n_steps) for name in theirs.values()])
    return PaperAnswer(
        Agreement.AGREES if ours > 0.5 else Agreement.DIFFERS,
        f"rank correlation of digits and steps: ours {ours:.2f} in {len(found)} additions, the paper's {paper:.2f}",
        len(found),
        "models",
        command=f"{MODELS} --markdown",
    )


def _rank_correlation(pairs: Sequence[tuple[int, int]]) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr([a for a, _ in pairs], [b for _, b in pairs]).statistic)


def _from_scratch(evidence: PaperEvidence) -> PaperAnswer:
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


def _inserted(evidence: PaperEvidence) -> PaperAnswer:
    ins1 = [m for row, m in evidence.of_rows if m is not None and row.name.insertion == 1]
    if not ins1:
        return missing("no model with an inserted addition model is trained", "carrylens family run paper --only ins1")
    good = sum(model.meets_bar is True for model in ins1)
    return PaperAnswer(
        Agreement.AGREES if 2 * good > len(ins1) else Agreement.DIFFERS,
        f"{good} of {len(ins1)} meet the bar for both operations",
        len(ins1),
        "models",
        command=MODELS,
    )


def _frozen(evidence: PaperEvidence) -> PaperAnswer:
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


def _seeds(evidence: PaperEvidence) -> PaperAnswer:
    groups: dict[str, list[float]] = {}
    for model in evidence.models.values():
        if "loss" in model.last and model.name.n_layers > 1 and model.last["loss"] > 0:
            groups.setdefault(_category(model.name), []).append(math.log10(model.last["loss"]))
    spreads = {name: max(each) - min(each) for name, each in groups.items() if len(each) > 2}
    theirs: dict[str, list[float]] = {}
    for line in evidence.published.values():
        name = ModelName.parse(line["model"])
        if name.n_layers > 1:
            theirs.setdefault(_category(name), []).append(math.log10(float(line["loss"])))
    if len(spreads) < 3:
        return missing("fewer than three categories have three models with a history")
    least = min(spreads, key=lambda name: spreads[name])
    said = "; ".join(
        f"{name} {spread:.1f} (the paper's {max(theirs[name]) - min(theirs[name]):.1f})"
        for name, spread in spreads.items()
        if name in theirs
    )
    return PaperAnswer(
        Agreement.AGREES if least == "addition" else Agreement.DIFFERS,
        f"powers of ten between the least and the largest last loss: {said}",
        sum(map(len, groups.values())),
        "models",
        command=f"{MODELS} --markdown",
        why="digits, steps and shape differ within a category, not the seed alone",
    )


def _category(name: ModelName) -> str:
    if name.insertion:
        return "mixed, inserted" if name.insertion == 1 else "mixed, reset"
    return {"add": "addition", "sub": "subtraction", "mix": "mixed"}[name.operation.value]


def _subtraction_short(evidence: PaperEvidence) -> PaperAnswer:
    ours = [m for row, m in evidence.of_rows if m is not None and row.name.operation is Operation.SUB]
    theirs = [_meets(line) for name, line in evidence.published.items() if name.startswith("sub")]
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


def _up_to(evidence: PaperEvidence) -> PaperAnswer:
    most = max((member.name.digits for member in evidence.members), default=0)
    return PaperAnswer(
        Agreement.AGREES if most >= 13 else Agreement.DIFFERS,
        f"accurate up to {most} digits",
        len(evidence.members),
        "models",
        command=MODELS,
    )


def _intervals(evidence: PaperEvidence) -> PaperAnswer:
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


def _processed(evidence: PaperEvidence) -> PaperAnswer:
    millions = [ModelName.parse(name).n_steps * 64 / _MILLION for name in evidence.published]
    return PaperAnswer(
        Agreement.AGREES if min(millions) >= 1 and max(millions) <= 4 else Agreement.DIFFERS,
        f"{min(millions):.2f} to {max(millions):.2f} million, by the steps in its tables and batches of 64",
        len(millions),
        "models",
        command="carrylens paper",
    )


def _initialised(evidence: PaperEvidence) -> PaperAnswer:
    lines = [
        line
        for name, line in evidence.published.items()
        if name.startswith("ins1") and int(ModelName.parse(name).digits) <= 8
    ]
    good = sum(_meets(line) for line in lines)
    return PaperAnswer(
        Agreement.AGREES if good == len(lines) else Agreement.DIFFERS,
        f"of the {len(lines)} in its own table, {good} fail fewer than {_BAR} in a million of each operation",
        len(lines),
        "models",
        command=f"{MODELS} --markdown",
        why="its table has 52 failures at five digits and 1,196 at eight",
    )


MODEL_CLAIMS = (
    PaperClaim("Abstract; 4.2.1", "46 models; 29 fail fewer than 10 of a million questions", _accurate),
    PaperClaim("Abstract; 1", "most reach that in under an hour, on one GPU", _hour),
    PaperClaim("1", "about 10 million parameters", _parameters),
    PaperClaim("Abstract; 1", "they solve cascades through all columns, such as 555555555+444444448", _cascades),
    PaperClaim("1; App. B", "10 billion five-digit questions, of which training sees far less than 1%", _memory),
    PaperClaim("4.1", "a vocabulary of 14 tokens", _vocabulary),
    PaperClaim("4.1", "training stops at very low loss, such as 2e-8", _low_loss),
    PaperClaim("4.1, Fig. 4", "longer additions need longer training", _longer),
    PaperClaim(
        "4.1, Fig. 4", "loss curves of additions of 5 to 15 digits", shown("docs/losses.svg", "carrylens losses")
    ),
    PaperClaim("4.1.1", "9 mixed models from scratch, 14 with an inserted addition model", _from_scratch),
    PaperClaim("4.1.1", "most models with an inserted addition model become accurate for both operations", _inserted),
    PaperClaim(
        "4.1.1; App. F", "putting the inserted heads, or heads and MLPs, back every 100 steps lowers accuracy", _frozen
    ),
    PaperClaim("4.1.1; App. G, Fig. 9", "additions are the least sensitive to the seed", _seeds),
    PaperClaim("4.2.1", "subtraction alone mostly falls short of the bar", _subtraction_short),
)
TABLE_CLAIMS = (
    PaperClaim("5", "accurate on up to 13 digits", _up_to),
    PaperClaim("Tables 5, 6", "46 Clopper-Pearson intervals", _intervals),
    PaperClaim("App. B", "a run processes 1 to 4 million questions", _processed),
    PaperClaim(
        "App. C, Fig. 7",
        "models of 5 to 8 digits with an inserted addition model are more than 99.999% accurate",
        _initialised,
    ),
)
