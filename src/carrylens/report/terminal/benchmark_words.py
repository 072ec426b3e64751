"""Words of the benchmark page: what its tables count, and how they are to be read.

Takes  nothing.
Gives  introductions, and a paragraph for each table that needs one.
Never  says a figure: tables do.
"""

INTRODUCTION = """# How right the map is, where the truth is known

Made by `{command}`. Every circuit here was planted: its
weights were computed, so what each node carries is known. A role is a node and a variable. Precision is the share of
roles found that are planted; recall is the share of planted roles that were found. Both are pooled over all roles of
all circuits unless it says otherwise. Every method gets the same models and is told which algorithm they run, but not
where. It is also told that carries are binary, where they are: evaluated on ST, such a circuit gets false roles, which
`--part accounts` counts.

- A node has a role if an interchange intervention on what it writes, alone or with its copies and partners, does what
  an interchange of the variable would. That is our method's own criterion, and it counts heads that only bring the
  digits of a column. Those hold the digits, not what is made of them, so no probe can read it there. `made` is recall
  without such heads.
- `ours` gives every member of a set the set's role; the other methods have no sets. `published` and `attention` have no
  test for MLPs, for resolved carries or for answer digits, and never report them.
- Variables that no question tells apart (ST[0] and SV[0] in an addition) count as one; `strict` is precision without
  that rule.
- A head that fetches one digit of a column, for another head to complete, carries that digit; that role is not counted.
- A group is the set of all copies or partners that make one variable; only the whole set counts. Only `ours` searches
  for groups.
- `attention`, `probe` and `attribution` need a threshold. Each has the one that is best (highest harmonic mean of
  precision and recall by role) on training circuits, none of which is scored.

{n_scored} circuits are scored{digits}. Training circuits: {training}.
"""

CONTROLS = """# What the map finds where it should find nothing, and how sure a role may be called

Made by `{command}`. Circuits are planted: their weights were
computed, so what each node carries is known. The confidence rule was fitted on other circuits: {training}.
"""

SCORED = """Intervals of recall and precision treat roles as independent, which those of one circuit are not; the
dotted line is at 0.95.
"""
STATED = """Roles by their stated confidence, with the number of cases; on the dotted line stated and observed agree.
"""

_TESTED = (
    "All of them are tested. A test that hits in less than a quarter of the pairs ends there, and so does one that "
    "hits no more often than its null. The others are weighed: they get a p value on fresh pairs. Only those could be "
    "confirmed, and the interval is of them. "
)
NOTES = {
    "Where ours falls short": (
        "Wrong roles of resolved carries (SV, MV, NV) are of node sets that jointly hold all inputs of the carry: an "
        "interchange of the whole set does what an interchange of the carry would. A group is missed where the orders "
        "in which nodes were left out met only some of the sets that suffice. With `--light` or `--quick` three orders "
        "are tried, else four."
    ),
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
    "Hypotheses": (
        "Planted additions of three kinds, each with one or more random rotations of its residual stream, judged under "
        "every hypothesis on the same map. The map is made in full unless with `--quick`: on less evidence no "
        "hypothesis is rejected for want of a carrier. A hypothesis that the circuit runs must be confirmed and any "
        "other rejected; an open verdict is neither."
    ),
    "Binary carries evaluated on ST": (
        "Heads that fetch for SC or for S9 alone, tested for ST. One that is given ST has a false role; its hit rate "
        "stands beside it."
    ),
    "Stated and observed": (
        "`map`, `judge` and `report` state the confidence of a role: the share of true ones among roles with such a "
        "margin of the hit rate over the null. The rule has two coefficients and a ceiling, was fitted on the training "
        "circuits (`calibrate --light --fit`) and comes with carrylens. Here it is tested on other circuits. The "
        "cases, there and here, are the roles of single nodes that the search gives on next to no evidence, on the "
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
