"""What the paper says in its abstract, its introduction and its related work.

Takes  nothing.
Gives  `OPENING_CLAIMS`, in the paper's order.
Never  answers one: the functions named do.
"""

from __future__ import annotations

from carrylens.arithmetic.paper.algorithm_answers import answer_sound
from carrylens.arithmetic.paper.claim import PaperClaim
from carrylens.arithmetic.paper.map_answers import answer_circuit, answer_constraints
from carrylens.arithmetic.paper.model_answers import (
    answer_accurate,
    answer_cascades,
    answer_hour,
    answer_memory,
    answer_rivals,
)
from carrylens.arithmetic.paper.readers import answer_scale, apart, in_every, in_some, of_operation, shown
from carrylens.arithmetic.paper.table_answers import (
    answer_digits_accurate,
    answer_from_scratch_all,
    answer_shapes,
    answer_ten_million,
)
from carrylens.arithmetic.paper.variant_answers import answer_one_layer

OPENING_CLAIMS = (
    PaperClaim("Abstract; 1; 4.1", "small transformers of 2 to 3 layers and 3 to 4 heads", answer_shapes),
    PaperClaim("Abstract", "most resulting models reach more than 99.999% on 5 to 15 digits", answer_digits_accurate),
    PaperClaim("Abstract; 1", "most reach that in under an hour, on one GPU", answer_hour),
    PaperClaim("Abstract; 1", "they solve cascades through all columns, such as 555555555+444444448", answer_cascades),
    PaperClaim("Abstract; 1; 3, Figs. 1, 3", "the left-to-right algorithms are sound and exact", answer_sound),
    PaperClaim("Abstract; 1; 4.2.1", "46 models; 29 fail fewer than 10 of a million questions", answer_accurate),
    PaperClaim(
        "Abstract; 1; 4.2.1",
        "every accurate model has the same circuit skeleton",
        answer_circuit("verdict on the left-to-right algorithm"),
    ),
    PaperClaim("Abstract", "several candidate mechanisms are ruled out", answer_rivals),
    PaperClaim(
        "Abstract; 4.2.3",
        "nodes of mixed models serve addition and subtraction, inserted or from scratch",
        in_every("polysemy", "nodes-serving-several", "most", among=of_operation("mix")),
    ),
    PaperClaim(
        "1, Fig. 1",
        "the addition algorithm worked through",
        shown("docs/trace.svg", "carrylens trace 555555555+444444448 --svg docs/trace.svg"),
    ),
    PaperClaim("1", "about 10 million parameters", answer_ten_million),
    PaperClaim("1; App. B", "10 billion five-digit questions, of which training sees much less than 1%", answer_memory),
    PaperClaim("1; 4.2.1", "the six-digit model alone meets over 30 constraints", answer_constraints),
    PaperClaim(
        "1; Table 1",
        "the degree of redundancy varies",
        in_some("necessity", "heads-that-deliver"),
    ),
    PaperClaim(
        "1; 4.2",
        "four models are studied causally: 6- and 8-digit additions, 6- and 8-digit mixed models",
        answer_scale("patching", 4),
    ),
    PaperClaim("1", "46 small transformers trained from scratch", answer_from_scratch_all),
    PaperClaim("2; 3.2", "a one-layer model reaches 99% and fails where a carry cascades", answer_one_layer),
    PaperClaim(
        "2",
        "frontier models add by other, hybrid circuits",
        apart("about models of others; nothing here is about language models"),
    ),
)
