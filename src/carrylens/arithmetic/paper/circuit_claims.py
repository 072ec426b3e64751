"""What the paper says of the circuit in every model: section 4.2.1, its table of invariants, its sufficiency.

Takes  nothing.
Gives  `CIRCUIT_CLAIMS`, `SUFFICIENCY_CLAIMS`, in the paper's order.
Never  answers one: the functions named do.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.make_carry.summarise import MADE_IN_PLACE, MADE_SPLIT
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.family.circuits import CIRCUIT_QUESTIONS
from carrylens.arithmetic.paper.claim import PaperClaim, PaperReader
from carrylens.arithmetic.paper.map_answers import (
    answer_circuit,
    answer_clusters,
    answer_two_heads,
    answer_which_head,
)
from carrylens.arithmetic.paper.measured_answers import answer_optional, answer_random_set
from carrylens.arithmetic.paper.node_answers import answer_kept_nodes
from carrylens.arithmetic.paper.path_answers import answer_how_many_heads, answer_routes
from carrylens.arithmetic.paper.readers import (
    apart,
    figure_beside,
    in_every,
    numbers_above,
    of_digits,
    shown,
    with_digits,
)
from carrylens.arithmetic.paper.table_answers import answer_accurate_pair

_FIVE, _ADD_SIX = "add_d5_l2_h3_w96_t2K_s1", "add_d6_l2_h3_w96_t2K_s1"
_SIX, _EIGHT = "mix_d6_l3_h4_w96_t4K_s1", "mix_d8_l3_h4_w96_t5K_s1"
_NAMES = [question.name for question in CIRCUIT_QUESTIONS]


def _kept(model: str, branch: str, fill: str) -> PaperReader:
    return figure_beside(model, "sufficiency", f"{branch} answers kept, {fill} ablation")


CIRCUIT_CLAIMS = (
    PaperClaim("4.2.1", "27 of the accurate models add, or add and subtract", answer_accurate_pair),
    PaperClaim("4.2.1; Table 1", "all 27 have the same skeleton", answer_circuit(_NAMES[0])),
    PaperClaim("4.2.1; Table 1", "every required sub-task is present", answer_circuit(_NAMES[2])),
    PaperClaim("4.2.1; Table 1", "at a valid position", answer_circuit(_NAMES[4])),
    PaperClaim("4.2.1; Table 1", "and every ordering constraint holds", answer_circuit(_NAMES[3])),
    PaperClaim(
        "4.2.1",
        "the largest maps lack some tags of consumer heads",
        apart("a limit that the paper states, not a claim; what our maps leave open stands in the rows above"),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "each column's carry is computed eagerly, in place",
        in_every("make-carry", "carry-place", MADE_IN_PLACE, MADE_SPLIT),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "as a binary make-carry",
        in_every("make-carry", "carry-values", "binary", why="its own principal components show three classes"),
    ),
    PaperClaim(
        "Table 1",
        "the resolved carry is delivered carry-specifically to a combiner at the answer's position",
        in_every("paths", "delivered-by-layer-heads", "yes"),
    ),
    PaperClaim("Table 1; 4.2.2", "by redundant heads", in_every("paths", "delivering-heads", "redundant heads")),
    PaperClaim(
        "Table 1; 4.2.2",
        "= is a depot, not the source",
        in_every("paths", "role-of-equals", "depot", why="in most models the carry does not pass through = at all"),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "the combiner is a step function of the carry",
        in_every(
            "combiner", "step-of-mlp-output", "a step", why="read through an argmax every monotone curve is a step"
        ),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "no single node that delivers a carry is necessary",
        in_every("necessity", "heads-that-deliver", "redundant"),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "no single node that makes a carry is necessary",
        in_every("necessity", "heads-that-make", "redundant"),
    ),
    PaperClaim(
        "Table 1",
        "necessity appears at the class level: all heads together are missed more than the worst one (delivering)",
        numbers_above("necessity", "gap-deliver", 0.0),
    ),
    PaperClaim(
        "Table 1",
        "all heads where a carry is made are missed more than the worst one",
        numbers_above("necessity", "gap-make", 0.0),
    ),
    PaperClaim("Table 1", "which head implements a sub-task varies", answer_which_head),
    PaperClaim("Table 1", "some sub-tasks are split across two heads of one place", answer_two_heads),
    PaperClaim(
        "Table 1",
        "the gap between all heads and the worst one grows with digits (delivering)",
        with_digits("necessity", "gap-deliver"),
    ),
    PaperClaim(
        "Table 1",
        "the gap between all heads and the worst one grows with digits (making)",
        with_digits("necessity", "gap-make"),
    ),
    PaperClaim("Table 1; 3.2", "some models also compute the redundant SC, others omit it", answer_optional),
    PaperClaim("Table 1; 4.2.1, Fig. 6", "three classes of ST in principal components of writes", answer_clusters),
    PaperClaim(
        "Table 1; 4.2.2",
        "the top carry can be read 2 tokens after D'0 at 5 and 6 digits",
        in_every("probes", "top-carry-lag", "2 tokens", among=of_digits("add", 5, 6)),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "and 3 tokens after D'0 at 8 digits",
        in_every("probes", "top-carry-lag", "3 tokens", among=of_digits("add", 8)),
    ),
    PaperClaim(
        "Table 1",
        "residual stream or last-layer heads deliver a mixed model's carry: which one varies by class and depth",
        answer_routes,
    ),
    PaperClaim(
        "Table 1; 4.2.3",
        "a mixed model's borrow comes through three heads at 6 digits",
        answer_how_many_heads(_SIX, 3),
    ),
    PaperClaim(
        "Table 1; 4.2.3",
        "and through one head at 8 digits",
        answer_how_many_heads(_EIGHT, 1),
    ),
    PaperClaim(
        "Table 1",
        "the separation of the carry's axis falls with digits",
        with_digits("probes", "carry-axis-separation"),
    ),
    PaperClaim(
        "4.2.1, Fig. 6",
        "principal components of three heads, coloured by ST",
        shown("the figure clouds of the report", f"carrylens report {_ADD_SIX} --figures figures"),
    ),
)
SUFFICIENCY_CLAIMS = (
    PaperClaim("4.2.1", "the map of add d5 keeps 48 of 152 nodes", answer_kept_nodes(_FIVE, 48, 152)),
    PaperClaim("4.2.1", "with these alone 0.94 of answers stay right (mean ablation)", _kept(_FIVE, "add", "mean")),
    PaperClaim("4.2.1", "add d5: 0.62 (resample ablation)", _kept(_FIVE, "add", "resample")),
    PaperClaim("4.2.1", "mix d6: 0.89 of sums", _kept(_SIX, "add", "mean")),
    PaperClaim("4.2.1", "mix d8: 0.92 of sums", _kept(_EIGHT, "add", "mean")),
    PaperClaim("4.2.1", "mix d6: about 0.5 of positive differences", _kept(_SIX, "positive", "mean")),
    PaperClaim("4.2.1", "mix d6: about 0.37 of negative differences", _kept(_SIX, "negative", "mean")),
    PaperClaim("4.2.1", "mix d8: 0.19 of positive differences", _kept(_EIGHT, "positive", "mean")),
    PaperClaim("4.2.1", "mix d8: 0.66 of negative differences", _kept(_EIGHT, "negative", "mean")),
    *(
        PaperClaim(
            "4.2.1",
            f"a random set of as many nodes keeps 0.00 ({what}, {fill} ablation)",
            answer_random_set(model, branch, fill),
        )
        for what, model, branch in (
            ("add d5", _FIVE, Branch.ADD),
            ("mix d6, sums", _SIX, Branch.ADD),
            ("mix d8, sums", _EIGHT, Branch.ADD),
        )
        for fill in ("mean", "resample")
    ),
    PaperClaim(
        "4.2.1",
        "a random set that has as many nodes of each layer and position, too (our null, not the paper's)",
        figure_beside(_FIVE, "sufficiency", "add answers kept by random sets", apart=True),
    ),
)
