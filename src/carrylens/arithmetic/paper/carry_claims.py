"""What the paper says of the resolved carry and of mixed models: sections 4.2.2 and 4.2.3.

Takes  nothing.
Gives  `CARRY_CLAIMS`, `MIXED_CLAIMS`, in the paper's order. Figures that stand in the released results alone say so.
Never  answers one: the functions named do.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.paper.claim import PaperClaim
from carrylens.arithmetic.paper.measured_answers import answer_random_additions
from carrylens.arithmetic.paper.node_answers import (
    answer_carry_nodes_learn,
    answer_delivery_looks,
    answer_sum_nodes_learn,
)
from carrylens.arithmetic.paper.path_answers import answer_single_heads
from carrylens.arithmetic.paper.readers import (
    apart,
    figure_beside,
    in_every,
    of_digits,
    of_operation,
)

_FIVE, _ADD_SIX = "add_d5_l2_h3_w96_t2K_s1", "add_d6_l2_h3_w96_t2K_s1"
_SIX, _EIGHT = "mix_d6_l3_h4_w96_t4K_s1", "mix_d8_l3_h4_w96_t5K_s1"
_INSERTED = "ins1_mix_d6_l3_h4_w96_t6K_s1"
_MIX = of_operation("mix")
_ALSO = "4.2.3; released results"
_TABLE_2 = (
    ("useful nodes that serve add", "of 96 nodes used 64% serve sums"),
    ("useful nodes that serve positive", "73% positive differences"),
    ("useful nodes that serve negative", "55% negative differences"),
    ("inserted nodes that serve add", "of 48 nodes inserted 88% serve sums"),
    ("inserted nodes that serve positive", "83% positive differences"),
    ("inserted nodes that serve negative", "60% negative differences"),
)

CARRY_CLAIMS = (
    PaperClaim(
        "4.2.2; released results",
        "an interchange of the deciding carry flips the affected digit alone: 1.00, null 0.00",
        figure_beside(_ADD_SIX, "patching", "digits that follow the deciding carry"),
    ),
    PaperClaim(
        "4.2.2",
        "same-class controls do not flip it; at five sizes of addition: 5, 6, 8, 10 and 13 digits",
        in_every("patching", "digit-follows-combiner-heads", "most", among=of_digits("add", 5, 6, 8, 10, 13)),
    ),
    PaperClaim(
        "4.2.2; 4.2.3",
        "and in mixed models, for all three classes",
        in_every("patching", "digit-follows-combiner-heads", "most", among=_MIX),
    ),
    PaperClaim(
        "4.2.2",
        "the running carry is sourced from the carry nodes of the question's tail",
        in_every("patching", "digits-follow-column-place", "most"),
    ),
    PaperClaim(
        "4.2.2; released results",
        "the digit turns at a share of .75 of the carry (add d5)",
        figure_beside(_FIVE, "combiner", ""),
    ),
    PaperClaim(
        "4.2.2",
        "the multi-digit carry is represented lazily, where the answer is read",
        in_every("probes", "carry-onset", "at its reader"),
    ),
    PaperClaim(
        "4.2.2; Limitations",
        "at large sizes the source of the carry is limited by what probes show",
        in_every(
            "patching",
            "digits-follow-column-place",
            "fewer than half",
            among=of_digits("add", 10, 13, 15, 20),
            why="where it is most, interchanging the column's own place finds the source without a probe",
        ),
    ),
    PaperClaim(
        "4.2.2; Limitations",
        "no single head is shown to select the deciding digit",
        apart("a limit that the paper states, not a claim"),
    ),
)
MIXED_CLAIMS = (
    PaperClaim(
        "4.2.3",
        "the last layer's MLPs at answer positions combine digit and carry for all three classes",
        in_every("paths", "combiner-layer", "the last, for all branches", among=_MIX),
    ),
    PaperClaim(
        "4.2.3",
        "most inherited nodes serve several classes",
        in_every("polysemy", "nodes-serving-several", "most", among=_MIX),
    ),
    PaperClaim("4.2.3", "a node of SA typically learns MD and ND as well", answer_sum_nodes_learn(_INSERTED)),
    PaperClaim("4.2.3", "nodes of ST adapt to borrows", answer_carry_nodes_learn(_INSERTED)),
    *(
        PaperClaim(
            "4.2.3, Table 2",
            says,
            figure_beside(_INSERTED, "polysemy", what, why="what counts as used is another rule here"),
        )
        for what, says in _TABLE_2
    ),
    PaperClaim(
        "4.2.3",
        "the whole state before the combiner turns a difference into the sum in 0.96",
        figure_beside(_SIX, "selection", "state patch"),
    ),
    PaperClaim(
        "4.2.3",
        "no direction of rank 1 achieves any flips",
        in_every("selection", "one-direction-operator", "not enough", among=_MIX),
    ),
    PaperClaim(
        "3.3; 4.2.3",
        "later digits attend to the answer's sign itself",
        in_every("selection", "digits-follow-sign", "yes", among=_MIX),
    ),
    PaperClaim(
        "4.2.3",
        "the two borrows share a direction: |cos| about 0.9 (released: .898, digit 2)",
        figure_beside(_SIX, "axes", "|cos| positive-negative, digit 2"),
    ),
    PaperClaim(
        _ALSO,
        "stable across read digits: |cos| .828 (digit 3)",
        figure_beside(_SIX, "axes", "|cos| positive-negative, digit 3"),
    ),
    PaperClaim(
        "4.2.3",
        "the carry's direction is near-orthogonal: about 0.21 (released: .207 to the positive borrow)",
        figure_beside(_SIX, "axes", "|cos| add-positive, digit 2"),
    ),
    PaperClaim(_ALSO, "|cos| .226 to the negative borrow", figure_beside(_SIX, "axes", "|cos| add-negative, digit 2")),
    *(
        PaperClaim(
            "4.2.3",
            f"with the map's nodes alone the sign stays right in 1.00 ({what})",
            figure_beside(_SIX, "sufficiency", f"signs of {branch} answers kept"),
        )
        for what, branch in (
            ("sums", "add"),
            ("positive differences", "positive"),
            ("negative differences", "negative"),
        )
    ),
    PaperClaim(
        "4.2.3",
        "roughly ten more nodes bring differences to 0.94 or more (released: best 5, 10, 20 of positive ones .940, "
        ".963, 1.0; random .49, .63, .58)",
        figure_beside(_SIX, "restoration", "positive: right with the best"),
    ),
    PaperClaim(
        _ALSO,
        "negative differences: .990, 1.0 with the best 5, 10",
        figure_beside(_SIX, "restoration", "negative: right with the best"),
    ),
    *(
        PaperClaim(
            "4.2.3",
            f"random additions stay near the unrestored level until about 80 nodes ({what}, {branch.value}, {fill})",
            answer_random_additions(model, branch, fill),
        )
        for what, model, branch, fill in (
            ("mix d6", _SIX, Branch.POSITIVE, "mean"),
            ("mix d6", _SIX, Branch.POSITIVE, "resample"),
            ("mix d6", _SIX, Branch.NEGATIVE, "resample"),
            ("mix d8", _EIGHT, Branch.POSITIVE, "resample"),
            ("ins1 mix d6", _INSERTED, Branch.NEGATIVE, "mean"),
        )
    ),
    PaperClaim(
        "4.2.3",
        "the heads that deliver the borrow attend to lower operand digits (mix d6)",
        answer_delivery_looks(_SIX, lower_digits=True),
    ),
    PaperClaim(
        "4.2.3",
        "what the restored heads write tells the borrow at 1.00",
        figure_beside(_SIX, "restoration", "carry or sign read off restored writes"),
    ),
    PaperClaim(
        "4.2.3",
        "interchanged together they flip the digit at 1.00, null 0.00",
        figure_beside(_SIX, "restoration", "digits turned by restored nodes"),
    ),
    PaperClaim(
        "4.2.3",
        "a group of delivering heads flips the digit, any single one does almost nothing",
        answer_single_heads(_SIX),
    ),
    PaperClaim(
        "4.2.3",
        "on the 8-digit mixed model one head delivers it, which reads = and the sign",
        answer_delivery_looks(_EIGHT, lower_digits=False),
    ),
)
