"""Words of the calibration page: what its tables count, and how they are to be read.

Takes  nothing.
Gives  introductions, and a paragraph for each table that needs one.
Never  says a figure: tables do.
"""

INTRODUCTION = """# How right the map is, where the truth is known

Made by `{command}`. Every circuit here was planted: its
weights were computed, so what each node carries is known. A role is a node and a variable. Precision is the share of
roles found that are planted, recall the share of planted roles that were found, pooled over all roles of all circuits
unless it says otherwise. Every method gets the same models and is told which algorithm they run (also that carries
are binary, where they are: asked for ST, such a circuit gets false roles, which `--part accounts` counts), and nothing
of where.

- A node has a role if an interchange of what it writes, alone or with its copies and partners, does what an
  interchange of the variable would. That is our method's own question, and it counts heads that only bring the digits
  of a column: those hold the digits, not what is made of them, so that no probe can read it there. `made` is recall
  without such heads.
- `ours` gives every member of a set the set's role; the other methods have no sets. `published` and `attention` never
  speak of MLPs, of resolved carries or of answer digits, for which they have no test.
- Variables that no question tells apart (ST[0] and SV[0] in an addition) count as one; `strict` is precision without
  that.
- A head that fetches one digit of a column, for another head to complete, carries that digit; saying so is not counted.
- A group is the set of all copies or partners that make one variable; only the whole set counts. Only `ours` looks for
  groups.
- `attention`, `probe` and `attribution` need a threshold. Each has the one that is best (highest harmonic mean of
  precision and recall by role) on training circuits, none of which is scored.

{n_scored} circuits are scored, with {digits} digits. Training circuits: {training}.
"""

CONTROLS = """# What the map finds where it should find nothing, and how sure a role may be called

Made by `{command}`. Circuits are planted: their weights were
computed, so what each node carries is known. The confidence rule was fitted on others alone: {training}.
"""

SCORED = """Intervals of recall and precision take roles as independent, which those of one circuit are not; the
dotted line is at 0.95.
"""
STATED = """Roles by their stated confidence, with the number of cases; on the dotted line the stated is the observed.
"""

_ASKED = (
    "Tested are all of them; a test that hits in less than a quarter of the pairs ends there, one that hits no more "
    "often than its null too; the others are weighed, with a p value on fresh pairs. Only those could be confirmed, "
    "and the interval is of them. "
)
NOTES = {
    "Where ours falls short": (
        "Wrong roles of resolved carries (SV, MV, NV) are of sets whose members hold all that the carry is made from: "
        "interchanged together they do what the carry would. A group is missed where the orders in which nodes were "
        "left out came upon only some of the sets that suffice; with `--light` or `--quick` three orders are tried, "
        "else four."
    ),
    "Where nothing is": (
        "Untrained models, and models with the entries of every weight shuffled, asked for the roles of every node, "
        "of every pair of heads of one layer at one place, and of every set that the search for groups comes up with. "
        + _ASKED
        + "A hit is one token of ten, and the null counts any change, so that hardly any test comes so far: it is this "
        "rule that keeps such models empty, and the level is hardly called upon. The level is that of one family of "
        "tests (Benjamini-Yekutieli): where nothing is true it bounds the chance of confirming any role. Single "
        "nodes, pairs and groups are corrected apart, each for interchanges and for difference patching: up to six "
        "families, so the chance of any role in a model is at most six times the level."
    ),
    "Where something else is": (
        "The circuits, which answer right, asked in the same way: roles of nodes that by truth do not hold the "
        "variable. "
        + _ASKED
        + "No later component reads what idle nodes hold, nor the right value that decoys hold, and an interchange of "
        "either can hardly move an answer; the others hold variables of other columns, or other variables made of some "
        "of the same digits, which is where roles can go wrong. A set is as near as its nearest member. Of all roles "
        "confirmed in a family at most the level is false on average, as far as chance goes; that a variable passes "
        "for another is no matter of chance. Roles of one circuit are not independent: the first interval is for "
        "those who take them as such, the second is not touched by that."
    ),
    "Hypotheses": (
        "Planted additions of three kinds, turned into one or more bases at random, each judged under every hypothesis "
        "on the same map, which is made in full unless with `--quick`: on less evidence no hypothesis falls for want "
        "of a carrier. A hypothesis that the circuit runs must be present, any other absent; open is neither."
    ),
    "Tri-state asked of binary carries": (
        "Heads that fetch for SC or for S9 alone, asked whether they carry ST. One that is given ST has a false role; "
        "how often it hits stands beside it."
    ),
    "Stated and observed": (
        "What `map`, `judge` and `report` call the confidence of a role: the share of true ones among roles with such "
        "a margin of the hit rate over the null, by a rule with two coefficients (and a ceiling) that was fitted on "
        "the training circuits (`calibrate --light --fit`) and comes with carrylens. Here it is held against other "
        "circuits. The cases, there and here, are the roles of single nodes that the search gives on next to no "
        "evidence, on the usual number of pairs and on 4, 8 and 16; and of twins with shuffled weights, where none is "
        "true, those that hit at all (most twins have none, so the rule knows little of chance: it is of use for "
        "roles that a map grants). True and false ones are measured alike, null included. The last row has the roles "
        "as a map confirms them, those of sets too. In the share and its interval each circuit counts once, however "
        "many roles and numbers of pairs it was asked with. Where the interval lies below what is stated, the "
        "rule states too much; a row without cases shows nothing, for or against it. The rule knows planted circuits "
        "only: of a trained model the confidence says how such a role would fare in one of those."
    ),
}
"""By the title of a table."""
