"""What the paper says in its methodology, and in the appendices on terms and training data.

Takes  nothing.
Gives  `METHOD_CLAIMS`, `TERM_CLAIMS`, `DATA_CLAIMS`, in the paper's order; all are answered without a model.
Never  answers one: the functions named do.
"""

from __future__ import annotations

from carrylens.arithmetic.paper.algorithm_answers import (
    answer_deepest,
    answer_enriched,
    answer_equal,
    answer_examples,
    answer_neg_borrow,
    answer_neg_diff,
    answer_never_equal,
    answer_one_layer_examples,
    answer_own_borrow,
    answer_printed_differences,
    answer_raised,
    answer_resolved,
    answer_st_of_units,
    answer_two_borrows,
    answer_units_open,
)
from carrylens.arithmetic.paper.claim import PaperClaim
from carrylens.arithmetic.paper.model_answers import answer_processed
from carrylens.arithmetic.paper.readers import shown

METHOD_CLAIMS = (
    PaperClaim(
        "3.1, Fig. 2",
        "the notation D4 .. D0, D'4 .. D'0, A6 .. A0",
        shown("the same names; A6 of the paper's figure is the sign", "carrylens trace 55555+44446"),
    ),
    PaperClaim(
        "3.2",
        "with SA and SC alone 045+046 gives 0091, right, and 555+446 gives 0901, wrong",
        answer_one_layer_examples,
    ),
    PaperClaim(
        "3.2, eq. 3",
        "ST is 0 for sums of 8 or less and for the units, else 1 for sums of 10 or more",
        answer_st_of_units,
    ),
    PaperClaim("3.2, eqs. 5 to 7", "every SV is 0 or 1, complete by the token =", answer_resolved),
    PaperClaim(
        "3.3, Fig. 3", "the subtraction algorithm worked through", shown("on the terminal", "carrylens trace 325-329")
    ),
    PaperClaim("3.3, eq. 8", "MB is U wherever the digits are equal; MV parallels SV", answer_units_open),
    PaperClaim("3.3", "two printed differences: 325-129=+196 and 325-329=-004", answer_printed_differences),
    PaperClaim(
        "3.3", "negative answers take ND where positive ones take MD; no borrow but MV is stated", answer_own_borrow
    ),
)
TERM_CLAIMS = (
    PaperClaim("App. A", "ND is (D-D') mod 10", answer_neg_diff),
    PaperClaim("App. A", "NB is 1 if D-D' is below 0", answer_neg_borrow),
    PaperClaim("App. A; 3.3", "MB is 1 or 0 in the appendix, and 1, 0 or U in the text", answer_two_borrows),
)
DATA_CLAIMS = (
    PaperClaim("App. B", "a run processes 1 to 4 million questions", answer_processed),
    PaperClaim("App. B", "four printed sums", answer_examples),
    PaperClaim("App. B", "at ten digits the deepest class of cascades has a frequency of about 3e-4", answer_deepest),
    PaperClaim("App. B", "60% of training data is enriched, 40% random", answer_enriched),
    PaperClaim(
        "App. B", "adding 1 to each second operand's digit of 8 or less makes more answers negative", answer_raised
    ),
    PaperClaim("App. B", "equal operands are 0.0001% of six-digit questions", answer_never_equal),
    PaperClaim("App. B", "and 0.6% in training", answer_equal),
)
