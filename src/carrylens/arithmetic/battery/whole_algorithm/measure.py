"""The whole algorithm: what a model answers when many variables are moved at once, and whether a rival knows better.

Takes  a subject.
Gives  interchange accuracy of the complete causal model and of every rival, on the same interventions; scrubbing.
Never  counts an intervention by which the hypothesis must change nothing, or must merely copy a source's digits.

1. Sites have the nodes that the map claims; without a map, all nodes of their places. For ours and for every rival,
   find what each site holds (`alignment.py`), on questions of their own.
2. Propose rows: two or three sites drawn for each row alone, each site with a source of its own, unrelated to the base.
   Ours and every rival predict all of them; no model is asked for that. The first part of the rows is run as it comes.
3. A hypothesis is right about a row if it predicts every token of the answer. A row counts if a predicted token is
   neither the base's nor a source's: a site that holds all a digit needs would be right by copying. Null: the
   hypothesis's labels moved round one column.
4. Disambiguation, on rows where ours and a rival's predictions differ: those of the first part, and, where they are
   few, further proposals are run until there are enough. At most one of the two is right about such a row, so rows in
   which one is are counted by a sign test, exact and one-sided, with Holm over the rivals. A rival that hardly any
   proposal tells from ours is not tested, and one that none tells from it is, on these sites, the same hypothesis: then
   nothing shows that ours is better, and the verdict is open, however well ours predicts.
5. Scrub: interchange all sites at once, each from a source that agrees with the base in what the site is said to hold,
   by ours and by each rival. The answer must stay. Null: sources that agree in nothing but the operator, of which these
   labels do not speak.
6. Where there is a map, scrub the circuit it claims (`scrubbing.py`), its labels being the map's own, beside random
   roles of the same size. In mixed models the operator is one of the labels, and then, once more, held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import AnswerTokens, hit_rate
from carrylens.arithmetic.battery.whole_algorithm.agreeing_sources import agreeing_sources, freedom
from carrylens.arithmetic.battery.whole_algorithm.alignment import AlignedHypothesis, align_hypotheses
from carrylens.arithmetic.battery.whole_algorithm.card import CARD
from carrylens.arithmetic.battery.whole_algorithm.interchange_sites import InterchangeSite, SiteLabel
from carrylens.arithmetic.battery.whole_algorithm.intervention_rows import predict_each, random_interventions
from carrylens.arithmetic.battery.whole_algorithm.scrubbing import (
    ClaimedCircuit,
    ScrubbedCircuit,
    claimed_circuit,
    claimed_sites,
    scrub_claimed,
    staying_answers,
)
from carrylens.arithmetic.hypotheses import rival_algorithms
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.tokens import answer_tokens
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

_ROWS = 32  # for each draw of the settings
_PROPOSED = 16  # rows are proposed for each that is run as it comes
MAP_HYPOTHESIS = "left to right, as the map says"


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """What the model answered in every row that was run, and what each hypothesis predicts.

    `plain` is the base's right answer, `copied` those of the sources, -1 where a slot is not used: [slot, row, token].
    The first `n_first` rows are those that were run as they came. `disambiguations` has for each rival the rows that
    tell it from ours, and `told` how many of the `n_proposed` do.
    """

    given: AnswerTokens
    plain: AnswerTokens
    copied: AnswerTokens
    predicted: Mapping[str, AnswerTokens]
    permuted: AnswerTokens
    answered: Rate
    n_first: int
    n_proposed: int
    disambiguations: Mapping[str, NDArray[np.int64]]
    told: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class WholeMeasurements:
    """What every row of interventions gave, and which answers stay when sites are scrubbed.

    `hypotheses` has ours first; `scrubbed` is empty where the model answers no question, `circuits` where there is no
    map.
    """

    hypotheses: tuple[AlignedHypothesis, ...]
    sites: tuple[InterchangeSite, ...]
    claimed: ClaimedCircuit | None
    rows: AnsweredRows
    scrubbed: tuple[Fact, ...]
    circuits: tuple[ScrubbedCircuit, ...]

    @property
    def ours(self) -> str:
        """The name of our own hypothesis."""
        return self.hypotheses[0].model.name

    @property
    def rivals(self) -> list[str]:
        """The names of the others."""
        return [each.model.name for each in self.hypotheses[1:]]


def measure(context: ExperimentContext) -> WholeMeasurements:
    """Align every hypothesis, run the interventions, scrub all sites and the map's circuit."""
    subject, settings = context.subject, context.settings
    ours = algorithm(subject.operation, subject.digits)
    models = [ours, *rival_algorithms(subject.operation, subject.digits)]
    sites = claimed_sites(subject)
    context.watch(CARD.title, 0, 4)
    hypotheses = align_hypotheses(subject, models, sites, settings.n_pairs, settings.seed_of(CARD.name, "align"))
    context.watch(CARD.title, 1, 4)
    claimed = claimed_circuit(subject, ours)
    rows = _run_rows(context, hypotheses, sites, claimed)
    context.watch(CARD.title, 2, 4)
    base = _answered(context)
    scrubbed = _scrub(context, hypotheses, base) if len(base) else []
    context.watch(CARD.title, 3, 4)
    circuits = []
    if claimed is not None and len(base):
        at_stake = [True, False] if subject.operation is Operation.MIX else [False]
        circuits = [scrub_claimed(context, ours, claimed, base, turn=turn) for turn in at_stake]
    return WholeMeasurements(tuple(hypotheses), tuple(sites), claimed, rows, tuple(scrubbed), tuple(circuits))


def _run_rows(
    context: ExperimentContext,
    hypotheses: Sequence[AlignedHypothesis],
    sites: Sequence[InterchangeSite],
    claimed: ClaimedCircuit | None,
) -> AnsweredRows:
    subject, settings = context.subject, context.settings
    n_first, ours = _ROWS * settings.n_draws, hypotheses[0]
    seed = settings.seed_of(CARD.name, "test")
    proposed = random_interventions(subject.operation, sites, subject.digits, _PROPOSED * n_first, seed)
    predicted = {
        hypothesis.model.name: predict_each(hypothesis.model, hypothesis.labels, proposed) for hypothesis in hypotheses
    }
    told = {
        hypothesis.model.name: np.flatnonzero((predicted[ours.model.name] != predicted[hypothesis.model.name]).any(1))
        for hypothesis in hypotheses[1:]
    }
    # Whoever differs in few of the first rows gets more, up to a number that does not depend on who is right in them.
    fought = {name: rows[: max(int((rows < n_first).sum()), settings.n_pairs)] for name, rows in told.items()}
    kept = np.unique(np.concatenate([np.arange(n_first), *fought.values()]))
    asked = proposed[kept]
    outcomes = subject.engine.run_each(asked.edits, asked.base, asked.sources)
    predicted = {name: tokens[kept] for name, tokens in predicted.items()}
    if claimed is not None:
        predicted[MAP_HYPOTHESIS] = predict_each(ours.model, map_labels(sites, claimed), asked)
    right = (outcomes.clean_tokens == outcomes.right).all(1)[:n_first]
    return AnsweredRows(
        given=outcomes.tokens,
        plain=answer_tokens(asked.base),
        copied=asked.copied,
        predicted=predicted,
        permuted=predict_each(ours.model, _moved_one_column(ours, sites), asked),
        answered=hit_rate(right),
        n_first=n_first,
        n_proposed=len(proposed),
        disambiguations={name: np.searchsorted(kept, rows) for name, rows in fought.items()},
        told={name: len(rows) for name, rows in told.items()},
    )


def _moved_one_column(
    hypothesis: AlignedHypothesis, sites: Sequence[InterchangeSite]
) -> dict[InterchangeSite, SiteLabel]:
    # Every variable of a column is taken for that of the next column, the top one's for the units'.
    model = hypothesis.model

    def turned(label: SiteLabel) -> SiteLabel:
        moved = [type(v)(v.name, None if v.index is None else (v.index + 1) % model.digits) for v in label]
        return tuple(v for v in moved if v in model.by_variable or v in model.inputs)

    return {site: turned(hypothesis.labels[site]) for site in sites}


def _answered(context: ExperimentContext) -> Questions:
    subject, settings = context.subject, context.settings
    population = Population(PopulationKind.ENRICHED, subject.operation, subject.digits)
    drawn = population.draw(settings.seed_of(CARD.name, "scrub"), 0, settings.n_questions)
    return drawn[subject.right(drawn)]


def _scrub(context: ExperimentContext, hypotheses: Sequence[AlignedHypothesis], base: Questions) -> list[Fact]:
    # All hypotheses speak of the same sites, so they have one floor.
    subject, settings = context.subject, context.settings
    sites = list(hypotheses[0].labels)
    foreign = agreeing_sources(hypotheses[0].model, [()] * len(sites), base, settings.seed_of(CARD.name, "foreign"))
    lost = hit_rate(staying_answers(subject, sites, base, foreign))
    facts = []
    for hypothesis in hypotheses:
        seed = settings.seed_of(CARD.name, "pool", hypothesis.model.name)
        sources = agreeing_sources(hypothesis.model, [hypothesis.labels[site] for site in sites], base, seed)
        kept = hit_rate(staying_answers(subject, sites, base, sources))
        about = {"scrubbed": len(sites), "account": hypothesis.model.name, "freed": round(freedom(base, sources), 3)}
        about["null"] = "sources that agree in the operator alone"
        facts.append(Fact(f"battery {CARD.name}", about, kept, lost, {"n": len(base), "seed": settings.seed}))
    return facts


def map_labels(sites: Sequence[InterchangeSite], claimed: ClaimedCircuit) -> dict[InterchangeSite, SiteLabel]:
    """What the map says that each site holds.

    A site of the interchanges may have last MLPs too; its label is what the map says of its other nodes.
    """
    by_place = {site.name: label for site, label in claimed.labels.items()}
    return {site: by_place.get(site.name, ()) for site in sites}
