"""Answers from the paper's own tables of models: what its text says of them beside what they hold.

Takes  the lines of the paper's tables, and our models of the same rows.
Gives  the functions that answer such claims.
Never  takes a figure of the paper from anywhere but its tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from carrylens.arithmetic.model_names import PUBLISHED_WIDTH, ModelName
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, missing
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.recipes import RecipeKind, recipe_for, training_population

TABLES = "carrylens paper --json"
BAR = 10
_MILLION = 1_000_000


def meets_by_table(line: Mapping[str, str]) -> bool:
    """Whether a line of the tables has fewer failures than the bar, each operation by itself."""
    return all(int(line[name]) < BAR for name in ("add", "sub") if line[name])


def names_of_tables(evidence: PaperEvidence) -> list[ModelName]:
    """The models of the paper's tables."""
    return [ModelName.parse(name) for name in evidence.published]


def answer_own_count(evidence: PaperEvidence) -> PaperAnswer:
    """16 additions, 7 subtractions, 23 mixed models."""
    found = Counter(name.operation.value for name in names_of_tables(evidence))
    return _own(
        (found["add"], found["sub"], found["mix"]) == (16, 7, 23),
        f"its tables: {found['add']} additions, {found['sub']} subtractions, {found['mix']} mixed",
        len(evidence.published),
    )


def answer_from_scratch_all(evidence: PaperEvidence) -> PaperAnswer:
    """46 transformers trained from scratch."""
    began = sum(bool(name.insertion) for name in names_of_tables(evidence))
    return _own(
        not began,
        f"its table has {began} that began as an addition model, so {len(evidence.published) - began} from scratch",
        len(evidence.published),
    )


def answer_shapes(evidence: PaperEvidence) -> PaperAnswer:
    """2 or 3 layers (2 where a model adds or subtracts, 3 where it does both), 3 or 4 heads."""
    names = names_of_tables(evidence)
    wanted = {Operation.ADD: (2,), Operation.SUB: (2,), Operation.MIX: (3,)}
    others = [name for name in names if name.n_layers not in wanted[name.operation]]
    said = Counter(f"{name.operation.value} with {name.n_layers}" for name in others)
    return _own(
        not others,
        f"its tables: {len(names) - len(others)} of {len(names)} have these layers; the others are "
        + ", ".join(f"{n} {what}" for what, n in said.items()),
        len(names),
        why="the baseline has 1 layer, four models with an inserted addition model have 2 or 4" if others else "",
    )


def answer_mixed_shapes(evidence: PaperEvidence) -> PaperAnswer:
    """Mixed models have 5 to 13 digits, 2 to 4 layers, 3 or 4 heads."""
    mixed = [name for name in names_of_tables(evidence) if name.operation is Operation.MIX]
    spans = [_span([getattr(name, part) for name in mixed]) for part in ("digits", "n_layers", "n_heads")]
    said = f"its table: {spans[0]} digits, {spans[1]} layers, {spans[2]} heads"
    return _own(spans == ["5 to 13", "2 to 4", "3 to 4"], said, len(mixed))


def answer_digits_accurate(evidence: PaperEvidence) -> PaperAnswer:
    """Most reach more than 99.999% on 5 to 15 digits."""
    accurate = [ModelName.parse(name).digits for name, line in evidence.published.items() if meets_by_table(line)]
    longer = [line for name, line in evidence.published.items() if ModelName.parse(name).digits > max(accurate)]
    ours = [member.name.digits for member in evidence.members]
    mine = f"; ours are up to {max(ours)}" if ours else ""
    failed = ", ".join(f"{line['model']} {line['add']}" for line in longer)
    return _own(
        max(accurate) >= 15,
        f"its tables: those that meet the bar have up to {max(accurate)} digits (failures of longer ones: {failed})"
        + mine,
        len(evidence.published),
        why="its own conclusion says up to 13 digits",
    )


def answer_accurate_pair(evidence: PaperEvidence) -> PaperAnswer:
    """27 accurate addition and mixed models."""
    lines = {name: line for name, line in evidence.published.items() if not name.startswith("sub")}
    apart = sum(meets_by_table(line) for line in lines.values())
    together = sum(sum(int(line[each] or 0) for each in ("add", "sub")) < BAR for line in lines.values())
    return _own(
        apart == 27,
        f"its tables: {apart} if each operation is held to the bar by itself, {together} if both together are",
        len(lines),
        why="its Clopper-Pearson intervals take both together" if apart != together else "",
    )


def answer_ten_million(evidence: PaperEvidence) -> PaperAnswer:
    """About 10 million parameters."""
    sizes = [parameters_of(name, PUBLISHED_WIDTH) for name in names_of_tables(evidence)]
    near = sum(8 * _MILLION <= size <= 12 * _MILLION for size in sizes)
    ours = [parameters_of(member.name, member.name.width) for member in evidence.members]
    mine = f"; ours {min(ours) / _MILLION:.2f} to {max(ours) / _MILLION:.2f}" if ours else ""
    return _own(
        2 * near > len(sizes),
        f"its 46 have {min(sizes) / _MILLION:.1f} to {max(sizes) / _MILLION:.1f} million, {near} of them 8 to 12{mine}",
        len(sizes),
        why="two layers of three heads have 6.3 million",
    )


def parameters_of(name: ModelName, width: int) -> int:
    """How many parameters a model of this shape has at some width."""
    config = config_of_width(name.digits, name.n_layers, name.n_heads, width, name.seed)
    heads = config.n_heads * config.d_head
    attention = 4 * width * heads + 3 * heads + width
    block = attention + 2 * width * config.d_mlp + config.d_mlp + width + 4 * width
    return config.n_layers * block + config.d_vocab * width * 2 + config.d_vocab + config.n_ctx * width + 2 * width


def answer_settings(evidence: PaperEvidence) -> PaperAnswer:
    """Batch 64, AdamW 8e-5, weight decay .1, betas .9 and .98, a fifth of warm-up, then cosine."""
    theirs = recipe_for(ModelName.parse("add_d6_l2_h3_t15K_s1"), RecipeKind.PAPER)
    said = (theirs.batch, theirs.adam_rate, theirs.weight_decay, tuple(theirs.betas), theirs.warm_up, theirs.cosine)
    is_same = said == (64, 8e-5, 0.1, (0.9, 0.98), 0.2, True)
    kinds = Counter(str(model.run.get("kind")) for model in evidence.models.values() if model.run)
    used = ", ".join(f"{kind} by {n} models" for kind, n in kinds.items()) or "no model is trained"
    return PaperAnswer(
        Agreement.SHOWN if is_same else Agreement.DIFFERS,
        f"the recipe `paper` has just these; used here: {used}",
        sum(kinds.values()),
        "models",
        command="carrylens train add_d6_l2_h3_t15K_s1 --recipe paper",
    )


def answer_shares(_evidence: PaperEvidence) -> PaperAnswer:
    """80% subtractions where an addition model is inserted."""
    share = training_population(ModelName.parse("ins1_mix_d6_l3_h4_w96_t6K_s1")).minus_share
    return PaperAnswer(
        Agreement.AGREES if share == 0.8 else Agreement.DIFFERS,
        f"our recipe draws {share:.0%} subtractions",
        command="carrylens train ins1_mix_d6_l3_h4_w96_t6K_s1 --insert add_d6_l2_h3_w96_t2K_s1",
    )


def answer_evaluated_on(evidence: PaperEvidence) -> PaperAnswer:
    """Each model is tested on a million questions."""
    asked = [
        part["asked"] for member in evidence.members for part in evidence.models[str(member.name)].parts("natural")
    ]
    if not asked:
        return missing("no test is saved", "carrylens test MODEL --save")
    return PaperAnswer(
        Agreement.SHOWN,
        f"ours on {min(asked):,} to {max(asked):,} natural questions of each operation and as many enriched ones: "
        "enough for an interval below the bar",
        sum(asked),
        "natural questions",
        command="carrylens models --markdown",
    )


def answer_worse_with_digits(evidence: PaperEvidence) -> PaperAnswer:
    """With more digits, loss and accuracy of models with an inserted addition model get worse."""
    theirs = [
        (ModelName.parse(name).digits, float(line["loss"]), int(line["add"]) + int(line["sub"]))
        for name, line in evidence.published.items()
        if name.startswith("ins1")
    ]
    ours = [
        (row.name.digits, float(model.last["loss"]), 0)
        for row, model in evidence.of_rows
        if model is not None and row.name.insertion == 1 and "loss" in model.last
    ]
    loss, failed = rank_correlation([each[:2] for each in theirs]), rank_correlation([(a, c) for a, _, c in theirs])
    enough = len({digits for digits, _, _ in ours}) > 2
    mine = f"; ours: loss {rank_correlation([each[:2] for each in ours]):.2f} in {len(ours)}" if enough else ""
    return PaperAnswer(
        Agreement.AGREES if min(loss, failed) > 0.5 else Agreement.OPEN if min(loss, failed) > 0 else Agreement.DIFFERS,
        f"rank correlation with digits, its own table: loss {loss:.2f}, failures {failed:.2f}{mine}",
        len(theirs),
        "models",
        command=TABLES,
    )


def answer_nodes_used(evidence: PaperEvidence) -> PaperAnswer:
    """The numbers of useful heads and MLPs of every row."""
    pairs = []
    for row, _ in evidence.of_rows:
        member, line = evidence.member(row.model), evidence.published[str(row.paper)]
        if member is not None and member.map is not None:
            useful = [node.node for node in member.map.nodes if node.is_useful]
            heads = sum(node.head is not None for node in useful)
            pairs.append((heads, len(useful) - heads, int(line["heads"]), int(line["mlps"])))
    if len(pairs) < 3:
        return missing("fewer than three rows are mapped", "carrylens map MODEL")
    of_heads = rank_correlation([(each[0], each[2]) for each in pairs])
    of_mlps = rank_correlation([(each[1], each[3]) for each in pairs])
    return PaperAnswer(
        Agreement.APART,
        f"rank correlation over the rows: heads {of_heads:.2f}, MLPs {of_mlps:.2f}; medians: heads "
        f"{median(each[0] for each in pairs):.0f} (the paper's {median(each[2] for each in pairs):.0f}), MLPs "
        f"{median(each[1] for each in pairs):.0f} ({median(each[3] for each in pairs):.0f})",
        len(pairs),
        "models",
        command="carrylens paper",
        why="another width, and useful here means that some question fails without the node",
    )


def answer_losses(evidence: PaperEvidence) -> PaperAnswer:
    """The final loss of every row."""
    pairs = [
        (float(model.last["loss"]), float(evidence.published[str(row.paper)]["loss"]))
        for row, model in evidence.of_rows
        if model is not None and "loss" in model.last
    ]
    if len(pairs) < 3:
        return missing("fewer than three rows are trained", "carrylens family run paper")
    return PaperAnswer(
        Agreement.APART,
        f"medians: ours {median(one for one, _ in pairs):.1e}, the paper's {median(one for _, one in pairs):.1e}; rank "
        f"correlation over the rows {rank_correlation(pairs):.2f}",
        len(pairs),
        "models",
        command="carrylens paper",
        why="ours are of enriched batches and another width; failures can be compared, losses cannot",
    )


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Spearman's."""
    from scipy.stats import spearmanr

    return float(spearmanr([a for a, _ in pairs], [b for _, b in pairs]).statistic)


def _own(agrees: bool, ours: str, n: int, why: str = "") -> PaperAnswer:
    word = Agreement.AGREES if agrees else Agreement.DIFFERS
    return PaperAnswer(word, ours, n, "models", command=TABLES, why="" if agrees else why)


def _span(numbers: Sequence[int]) -> str:
    return f"{min(numbers)} to {max(numbers)}"
