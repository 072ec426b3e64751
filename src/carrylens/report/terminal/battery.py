"""Battery text: outcomes of experiments as lines for a terminal.

Takes  outcomes.
Gives  one paragraph an experiment, or everything about one.
Never  computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from carrylens.arithmetic.battery.outcome import BesidePaper, Estimate, Outcome
from carrylens.report.saved_words import in_present_words
from carrylens.report.terminal.tables import align

_WIDTH = 118
_AGREES = {True: "agrees", False: "differs", None: "cannot be compared"}


def battery_summary_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Name, verdict and what it says of each experiment; then, where the paper has a figure, both."""
    amounts = ""
    for outcome in outcomes:
        if (said := amounts_text(outcome.settings)) != amounts:
            amounts = said
            yield amounts
        yield f"{outcome.card.name}: {outcome.verdict.value}"
        yield from _indented(in_present_words(outcome.says))
        for beside in outcome.beside_paper:
            yield from _indented(_beside(beside))


def outcome_lines(outcome: Outcome) -> Iterator[str]:
    """All of one outcome: what was asked and how, what came of it, and the numbers."""
    card = outcome.card
    yield f"{card.title}: {outcome.verdict.value}"
    yield from _indented(in_present_words(outcome.says))
    yield ""
    yield from _indented(card.question)
    for number, step in enumerate(card.method, start=1):
        yield from _indented(f"{number}. {step}")
    yield from _indented(f"Refuted if {card.refuted_if}")
    yield ""
    if outcome.rows:
        yield from align(outcome.headers, outcome.rows)
        yield ""
    if outcome.estimates:
        yield from align(["estimate", "value", "null", "n"], [_estimate(each) for each in outcome.estimates])
        yield ""
    for beside in outcome.beside_paper:
        yield from _indented(_beside(beside))
    yield from _indented(
        "settings: " + ", ".join(f"{name} {str(value)[:12]}" for name, value in outcome.settings.items())
    )


def amounts_text(settings: Mapping[str, Any]) -> str:
    """How much evidence there was, in words; nothing where the settings do not say."""
    if not settings.keys() >= {"quick", "n_pairs", "n_questions", "n_reference", "n_draws", "n_train"}:
        return ""
    form = "Quick form" if settings["quick"] else "Full form"
    return (
        f"{form}: {settings['n_pairs']} pairs for each cell, {settings['n_questions']} whole questions, "
        f"{settings['n_reference']} for means, {settings['n_train']} to fit on, {settings['n_draws']} random draws; "
        "where an experiment uses more or fewer, its facts say so."
    )


def _estimate(each: Estimate) -> list[str]:
    value = f"{each.value:.3f} [{each.low:.3f}, {each.high:.3f}]"
    return [each.name, value, f"{each.null:.3f} [{each.null_low:.3f}, {each.null_high:.3f}]", str(each.n)]


def _beside(beside: BesidePaper) -> str:
    return f"{beside.what}: the paper: {beside.paper}; here: {beside.ours} ({_AGREES[beside.agrees]})"


def _indented(text: str) -> list[str]:
    return wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
