"""Words of the leaderboard page: what its tables count, and how they are to be read.

Takes  nothing.
Gives  an introduction, and a paragraph for each table that needs one.
Never  says a figure: tables do.
"""

INTRODUCTION = """# Leaderboard of circuit-discovery methods

Made by `{command}` on {n_models} models of {n_circuits} circuits whose truth is known. Every method gets
the same models and the same seeds of questions, and nothing of the truth. How to add your own:
[Score your method in 20 lines](benchmark.md). Every figure is the mean over circuits, with a 95% bootstrap interval
over circuits in brackets; rotations of one circuit count as one. With few circuits such intervals are too narrow, and
with one there is none. A dash stands where a method gives nothing to score.

![Leaderboard]({picture})

A star marks methods that are told the algorithm; the dotted line is chance.
"""

SUITE_WORDS = {
    "kind": "planted circuits of the left-to-right algorithm",
    "hostile": "planted circuits that mislead: most do not run it, or not on all questions",
    "aligned": "models trained under an alignment",
    "empty": "untrained models and shuffled weights",
}

NOTES = {
    "Methods": (
        "A method that is told the algorithm may use its variables, and pairs of questions made for them. One that is "
        "not told it gets questions alone, and can say which nodes and edges matter, but not what they carry."
    ),
    "Roles": (
        "A role is a node and a variable that it carries. Precision is the share of reported roles that are true, "
        "recall the share of true roles that were reported. Strict: the role names the very variable that the truth "
        "lists. Not strict: a variable that no question can tell from it counts as the same. Methods that score roles "
        "get the threshold that is best on the dev split of the suite."
    ),
    "Groups": "A group is the whole set of copies or partners that make one variable; parts of it do not count.",
    "Nodes and edges": (
        "The area under the ROC curve: the chance that a node (an edge) of the circuit scores higher than one outside "
        "it. Decoys are outside it. A method without node scores is scored by its best role score, or by how sure it "
        "is of a role."
    ),
    "Verdicts": (
        "The verdict that a method gave on a hypothesis about a model, beside the correct one. `ours` gives the "
        "verdicts of `carrylens settle`. A verdict of `not settled` is not wrong: it says that more evidence is needed."
    ),
    "Called running what it does not run": (
        "Of all verdicts on a hypothesis that a model does not run, or runs only in part, those that say that it runs."
    ),
    "Stated confidence": (
        "Roles with a stated confidence. The Brier score is the mean of (stated - true) squared; the calibration error "
        "is the mean distance, over ten bins of stated confidence, between what is stated and the share that is true. "
        "Both are 0 at best."
    ),
    "Found again": (
        "One model, many seeds of questions: the share of roles found with either of two seeds that is found with "
        "both, averaged over all pairs of seeds. For methods that only score nodes, it is the share of nodes, of as "
        "many of the highest as the circuit has. No verdicts are asked for with seeds other than the first."
    ),
    "Cost for one model": (
        "Forward rows are rows of which logits were computed; gradients are not counted. Seconds are CPU "
        "time, of all threads together."
    ),
    "Cost of every suite": (
        "CPU seconds that all methods above would take together on every model of the `test` split, on every model of "
        "`dev` for methods that need a threshold, and on nine further seeds of questions, if each model took what the "
        "measured ones took, with as much evidence. The measured ones are few and small in a quick run, so this is a "
        "rough figure. A run is resumable."
    ),
    "Signature": (
        "`leaderboard.json` has all of this as data, and the SHA-256 of itself. Every model is named with the hash of "
        "its shape and weights."
    ),
}
"""By the title of a table."""
