"""What the paper says in its conclusion and in its appendices on techniques, tables, maps and Hypothesis 3.

Takes  nothing.
Gives  `CLOSING_CLAIMS`, `TECHNIQUE_CLAIMS`, `TABLE_CLAIMS`, `SUBTRACTION_CLAIMS`, `HYPOTHESIS_CLAIMS`, in its order.
Never  answers one: the functions named do.
"""

from __future__ import annotations

from carrylens.arithmetic.paper.algorithm_answers import answer_hypothesis_program
from carrylens.arithmetic.paper.claim import PaperClaim
from carrylens.arithmetic.paper.map_answers import (
    answer_clusters,
    answer_one_digit_after,
    answer_positions,
)
from carrylens.arithmetic.paper.measured_answers import (
    answer_first_place,
    answer_high_first_digit,
    answer_hypothesis_joint,
    answer_optional_of,
    answer_own_carry,
)
from carrylens.arithmetic.paper.model_answers import answer_intervals, answer_up_to
from carrylens.arithmetic.paper.node_answers import (
    answer_carry_order,
    answer_second_carry,
    answer_selector_heads,
    answer_several_before,
    answer_top_digit_nodes,
    answer_two_sum_heads,
)
from carrylens.arithmetic.paper.readers import (
    answer_mapped,
    answer_scale,
    apart,
    figure_beside,
    in_every,
    of_digits,
    shown,
)
from carrylens.arithmetic.paper.table_answers import answer_losses, answer_nodes_used, answer_own_count

_FIVE, _ADD_SIX, _SIX = "add_d5_l2_h3_w96_t2K_s1", "add_d6_l2_h3_w96_t2K_s1", "mix_d6_l3_h4_w96_t4K_s1"
_OF_ONE_MODEL = "it names nodes of one published model, whose weights are not here"

CLOSING_CLAIMS = (
    PaperClaim("5", "accurate on tasks of up to 13 digits", answer_up_to),
    PaperClaim(
        "5; Limitations",
        "parts of the language for sub-tasks need calibrated certainty",
        shown("stated confidences are held out on circuits of known truth: docs/reliability.md", "carrylens benchmark"),
    ),
)
TECHNIQUE_CLAIMS = (
    PaperClaim(
        "App. D, Table 3", "node search, on every accurate model; confidence high", answer_mapped("node search")
    ),
    PaperClaim("App. D, Table 3", "ablation, on every accurate model; medium to high", answer_scale("necessity")),
    PaperClaim("App. D, Table 3", "principal components, on four models; medium", answer_clusters),
    PaperClaim("App. D, Table 3", "activation patching, on four models; medium to high", answer_scale("patching", 4)),
    PaperClaim("App. D, Table 3", "edge path-patching, on four models; medium", answer_scale("paths", 4)),
    PaperClaim(
        "App. D, Table 3", "step-function interpolation, 5 sizes and mixed; medium to high", answer_scale("combiner", 7)
    ),
    PaperClaim("App. D, Table 3", "linear probes, on four models; medium", answer_scale("probes", 4)),
    PaperClaim(
        "App. D, Table 3", "sufficiency masking, on three models; medium to high", answer_scale("sufficiency", 3)
    ),
    PaperClaim("App. D, Table 3", "group restoration, on two mixed models; medium", answer_scale("restoration", 2)),
    PaperClaim(
        "App. D, Table 3",
        "selector patching and steering, on one mixed model; medium to high",
        answer_scale("selection", 1),
    ),
)
TABLE_CLAIMS = (
    PaperClaim("App. E", "16 additions, 7 subtractions, 23 mixed models", answer_own_count),
    PaperClaim(
        "App. E",
        "48 sets of weights and 53 repositories of analyses are released",
        apart("the repositories are not looked into here; `carrylens import hf:...` reads them"),
    ),
    PaperClaim(
        "App. E, Table 4",
        "a map of a six-digit addition",
        shown("docs/purpose_map.svg", f"carrylens report {_ADD_SIX} --figures figures"),
    ),
    PaperClaim("App. E, Table 4", "the nodes of ST are in a semi-random order", answer_carry_order(_ADD_SIX)),
    PaperClaim("App. E, Table 4", "a second node of ST1 is redundant", answer_second_carry(_ADD_SIX)),
    PaperClaim("App. E, Table 4", "it uses nodes of SC, which are redundant", answer_optional_of(_ADD_SIX)),
    PaperClaim("App. E, Table 4", "each SA is shared by two heads", answer_two_sum_heads(_ADD_SIX)),
    PaperClaim(
        "App. E, Tables 5, 6",
        "46 rows: failures, losses, heads and MLPs used",
        shown("the table at the end of this page", "carrylens paper"),
    ),
    PaperClaim("App. E, Tables 5, 6", "46 Clopper-Pearson intervals", answer_intervals),
    PaperClaim("App. E, Tables 5, 6", "final losses of 2e-9 to 9.4e-2", answer_losses),
    PaperClaim("App. E, Tables 5, 6", "useful heads and MLPs of each model", answer_nodes_used),
    PaperClaim(
        "App. E",
        "each model comes with model.pth, training_loss.json, behaviors.json and features.json",
        shown("all four are read; ours are written in both forms", "carrylens report MODEL"),
    ),
    PaperClaim("App. E, Table 7", "before = each node often serves several answer digits", answer_several_before),
    PaperClaim("App. E, Table 7", "after = every node serves one answer digit alone", answer_one_digit_after),
    PaperClaim(
        "App. E, Table 7",
        "which answer digits each node changes",
        shown("the figure of node tables of the report", f"carrylens report {_FIVE} --figures figures"),
    ),
    PaperClaim("App. E, Fig. 8", "a five-digit addition uses nodes of P6 (D'4) to P17 (A1) alone", answer_positions),
    PaperClaim(
        "App. E, Fig. 8",
        "the share of enriched questions that fail without each node",
        shown("the failure map of the report", f"carrylens report {_FIVE} --figures figures"),
    ),
)
SUBTRACTION_CLAIMS = (
    PaperClaim(
        "App. H, Table 8",
        "a map of a six-digit mixed model",
        shown("the page about it", f"carrylens report {_SIX} --figures figures"),
    ),
    PaperClaim(
        "App. H, Table 8",
        "some heads serve all three classes, others hold the operator and the sign",
        answer_selector_heads(_SIX),
    ),
    PaperClaim("App. H", "mixed models rely on what they compute at P0", answer_first_place),
    PaperClaim("App. H", "a first digit of 8 or 9 makes + likelier, and the model uses it", answer_high_first_digit),
    PaperClaim(
        "App. H",
        "what can be read of the sign at P0 to the operator (six-digit mixed model)",
        figure_beside(_SIX, "lenses", "sign guessed from the first digit"),
    ),
)
HYPOTHESIS_CLAIMS = (
    PaperClaim(
        "App. I", "Hypothesis 3, run as a program, makes no error in a million additions", answer_hypothesis_program
    ),
    PaperClaim(
        "App. I, Table 9",
        "each value of Hypothesis 3 with the nodes that compute it",
        answer_hypothesis_joint,
    ),
    PaperClaim("App. I", "A5 is calculated accurately at =, with 5 heads and 5 MLPs", answer_top_digit_nodes(_FIVE)),
    PaperClaim("App. I", "ablating P10.L0.H1 changes A5, A4, A3 and A2, not A1 and A0", apart(_OF_ONE_MODEL)),
    PaperClaim(
        "App. I", "four named heads show three states of ST, three more of a compound of them", apart(_OF_ONE_MODEL)
    ),
    PaperClaim(
        "App. I",
        "a head and the MLP of its place are both necessary",
        figure_beside(_FIVE, "necessity", "single MLPs that are necessary"),
    ),
    PaperClaim(
        "App. I",
        "whether two or three values are written at P10 cannot be seen",
        in_every(
            "make-carry",
            "carry-values",
            "three values",
            among=of_digits("add", 5),
            why="an interchange of 0 and U, and of 1 and U, tells",
        ),
    ),
    PaperClaim("App. I", "P14 uses its own ST1, else the value resolved earlier", answer_own_carry),
    PaperClaim(
        "App. I",
        "the simple carry is learnt early in training, the rest late",
        shown("losses of each digit by step", f"carrylens losses {_FIVE} --svg losses.svg"),
    ),
)
