"""What the paper says of training: its section on it, and the appendices on details, insertion and seeds.

Takes  nothing.
Gives  `TRAINING_CLAIMS`, `DETAIL_CLAIMS`, `INSERTION_CLAIMS`, `SEED_CLAIMS`, in the paper's order.
Never  answers one: the functions named do.
"""

from __future__ import annotations

from carrylens.arithmetic.paper.claim import PaperClaim
from carrylens.arithmetic.paper.model_answers import (
    answer_frozen,
    answer_initialised,
    answer_inserted,
    answer_longer,
    answer_low_loss,
    answer_nine_and_fourteen,
    answer_subtraction_short,
    answer_vocabulary,
)
from carrylens.arithmetic.paper.readers import shown
from carrylens.arithmetic.paper.seed_answers import (
    answer_45,
    answer_additions_stable,
    answer_moderate,
    answer_one_shape,
    answer_reset_loss,
    answer_subtraction_loss,
)
from carrylens.arithmetic.paper.table_answers import (
    answer_evaluated_on,
    answer_mixed_shapes,
    answer_settings,
    answer_shares,
    answer_worse_with_digits,
)
from carrylens.arithmetic.paper.variant_answers import (
    answer_equals,
    answer_more_hard,
    answer_more_heads,
    answer_placement,
    answer_smallest,
    answer_two_heads_two_layers,
    answer_unsigned,
)

_INSERTED, _ADD_SIX = "ins1_mix_d6_l3_h4_w96_t6K_s1", "add_d6_l2_h3_w96_t2K_s1"

TRAINING_CLAIMS = (
    PaperClaim("4.1", "a vocabulary of 14 tokens", answer_vocabulary),
    PaperClaim(
        "4.1; App. C", "batch 64, AdamW 8e-5, weight decay 0.1, a fifth of warm-up, then cosine", answer_settings
    ),
    PaperClaim("4.1", "training stops at very low loss, such as 2e-8", answer_low_loss),
    PaperClaim("4.1", "each model is tested on 1 million questions", answer_evaluated_on),
    PaperClaim("4.1, Fig. 4", "additions of more digits take longer to train", answer_longer),
    PaperClaim(
        "4.1, Fig. 4",
        "loss curves of additions of 5 to 15 digits",
        shown("docs/losses.svg", "carrylens losses --svg docs/losses.svg"),
    ),
    PaperClaim("4.1.1", "9 mixed models from scratch, 14 that began as an addition model", answer_nine_and_fourteen),
    PaperClaim("4.1.1", "mixed models of 5 to 13 digits, 2 to 4 layers, 3 to 4 heads", answer_mixed_shapes),
    PaperClaim("4.1.1", "80% subtraction and 20% addition where an addition model is inserted", answer_shares),
    PaperClaim(
        "4.1.1, Fig. 5",
        "an addition model is put into a mixed one",
        shown("the recipe", f"carrylens train {_INSERTED} --insert {_ADD_SIX}"),
    ),
    PaperClaim(
        "4.1.1", "most models with an inserted addition model become accurate for both operations", answer_inserted
    ),
    PaperClaim(
        "4.1.1; App. F",
        "putting the inserted heads, or heads and MLPs, back every 100 steps lowers accuracy",
        answer_frozen,
    ),
    PaperClaim("4.2.1", "subtraction alone mostly falls short of the bar", answer_subtraction_short),
)
DETAIL_CLAIMS = (
    PaperClaim("App. C", "more hard examples train faster and do not reduce loss", answer_more_hard),
    PaperClaim("App. C", "one layer with 4 or 5 heads does not reduce loss", answer_more_heads),
    PaperClaim("App. C", "`equals` in place of = does not reduce loss", answer_equals),
    PaperClaim("App. C", "a sign in the answer has no effect on accuracy or algorithm", answer_unsigned),
    PaperClaim("App. C", "2 layers with 2 heads do not reduce loss", answer_two_heads_two_layers),
    PaperClaim("App. C", "the smallest shape that reduces loss has 2 layers and 3 heads", answer_smallest),
    PaperClaim(
        "App. C, Fig. 7",
        "loss curves of mixed models with an inserted addition model",
        shown("docs/losses.svg", "carrylens losses --svg docs/losses.svg"),
    ),
    PaperClaim("App. C, Fig. 7", "those of 5 to 8 digits are more than 99.999% accurate", answer_initialised),
    PaperClaim("App. C, Fig. 7", "with more digits their loss and accuracy get worse", answer_worse_with_digits),
)
INSERTION_CLAIMS = (
    PaperClaim(
        "App. F",
        "of initialising, freezing heads and freezing all, only initialising trains to accuracy",
        answer_frozen,
    ),
    PaperClaim("App. F", "early placement of the inserted model is chosen; late placement was tried", answer_placement),
)
SEED_CLAIMS = (
    PaperClaim("App. G", "45 models in five categories", answer_45),
    PaperClaim("App. G, Fig. 9", "additions are the least sensitive to the seed", answer_additions_stable),
    PaperClaim("App. G", "the other categories are of low to moderate sensitivity", answer_moderate),
    PaperClaim("App. G", "subtractions have a higher average loss", answer_subtraction_loss),
    PaperClaim("App. G", "mixed models whose nodes are put back have a higher average loss", answer_reset_loss),
    PaperClaim("App. G, Fig. 9", "losses by seed", answer_one_shape),
)
