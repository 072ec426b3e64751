"""Words of the page of controls: what its tables count, and how they are to be read.

Takes  nothing.
Gives  introductions, and a paragraph for each table that needs one.
Never  says a figure: tables do.
"""

CONTROLS = """# What the map finds where it should find nothing, and how sure a role may be called

Made by `{command}`. Circuits are planted: their weights were
computed, so what each node carries is known. The confidence rule was fitted on other circuits: {training}.
"""

STATED = """Roles by their stated confidence, with the number of cases; on the dotted line stated and observed agree.
"""

_TESTED = (
    "All of them are tested. A test that hits in less than a quarter of the pairs ends there, and so does one that "
    "hits no more often than its null. The others are weighed: they get a p value on fresh pairs. Only those could be "
    "confirmed, and the interval is of them. "
)
NOTES = {
    "Where nothing is": (
        "Untrained models, and models with the entries of every weight shuffled, evaluated for the roles of every "
        "node, of every pair of heads of one layer at one position, and of every set that the search for groups "
        "proposes. "
        + _TESTED
        + "A hit is one token of ten, and the null counts any change, so that hardly any test comes so far. It is this "
        "rule that keeps such models empty; the level is hardly used. The level is that of one family of tests "
        "(Benjamini-Yekutieli): where nothing is true it bounds the chance of confirming any role. Single nodes, pairs "
        "and groups are corrected apart, each for interchange and for difference patching. That makes up to six "
        "families, so the chance of any role in a model is at most six times the level."
    ),
    "Where something else is": (
        "The circuits, which answer right, evaluated in the same way: roles of nodes that by truth do not hold the "
        "variable. "
        + _TESTED
        + "Idle nodes hold nothing that a later component reads. Decoys hold a right value that no later component "
        "reads. An interchange of either can hardly change an answer. The others hold variables of other columns, or "
        "other variables made of some of the same digits, which is where roles can go wrong. A set is as near as its "
        "nearest member. Of all roles confirmed in a family at most the level is false by chance, on average; that one "
        "variable passes for another is not a matter of chance. Roles of one circuit are not independent: the first "
        "interval treats them as if they were, the second counts circuits."
    ),
    "Stated and observed": (
        "`map`, `judge` and `report` state the confidence of a role: the share of true ones among roles like it. The "
        "rule weighs the margin of the hit rate over the null, whether the role is whole, on how many pairs it rests "
        "and whether it was shown by difference patching; sets have a rule of their own, which also weighs their size. "
        "It was fitted on the roles of the maps of the `dev` models, planted, hostile and aligned ones "
        "(`benchmark --fit --light`), and comes with carrylens. Here it is tested on other circuits. The cases "
        "are the roles of single nodes that the search gives on next to no evidence, on the "
        "usual number of pairs and on 4, 8 and 16; and of twins with shuffled weights, where none is true, those that "
        "hit at all. Most twins have none, so the rule knows little of chance: it is of use for roles that a map "
        "grants. True and false roles are measured alike, null included. The last row has the roles as a map confirms "
        "them, those of sets too. In the share and its interval each circuit counts once, however many roles and "
        "numbers of pairs it was evaluated with. Where the interval lies below what is stated, the rule is "
        "overconfident; a row without cases is no evidence for or against it. The rule knows planted circuits only: "
        "of a trained model the confidence says how such a role would fare in one of those."
    ),
}
"""By the title of a table."""
