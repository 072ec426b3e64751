"""Outcomes: what a model answered under edits.

Takes  one record for each row.
Gives  arrays with named axes: answer tokens, correctness, margins, and on request logits and activations.
Never  says what an answer means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.errors import CarryLensError

Tokens = NDArray[np.int8]
Numbers = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Activation:
    """An activation of every row: axes are those of the outcomes without `answer`, then pos, then its own."""

    positions: range
    values: Numbers


@dataclass(frozen=True, eq=False)
class RowAnswers:
    """The answer tokens of rows, axes row, answer; and of the questions without an edit, axes question, answer."""

    tokens: Tokens
    clean_tokens: Tokens


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The answers of all rows; `answer` counts the answer's tokens, the sign first.

    `axes` names the axes of `tokens`, `margins` and `close`: edit, question, answer; or question, answer where each
    question has an edit of its own. The clean arrays and `right` have the axes question, answer.
    A margin is the logit of the right token less the highest other one: positive where the model is right. `close`
    marks tokens that another batch size might change: the two highest logits are within rounding of each other. `idle`
    marks rows whose edit can do nothing: no output reads what it changes, or it takes from the question itself.
    """

    axes: tuple[str, ...]
    tokens: Tokens
    margins: Numbers
    close: NDArray[np.bool_]
    right: Tokens
    clean_tokens: Tokens
    clean_margins: Numbers
    logits: Numbers | None
    activations: Mapping[str, Activation]
    idle: NDArray[np.bool_]
    vocabulary: tuple[str, ...] = ()

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Where the token is that of the right answer; the axes of `tokens`."""
        return self.tokens == self.right

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Where the token is another than without the edit; the axes of `tokens`."""
        return self.tokens != self.clean_tokens

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which rows have a wrong token; the axes of `tokens` without `answer`."""
        return np.asarray(~self.correct.all(-1))

    def agrees(self, answers: Tokens) -> NDArray[np.bool_]:
        """Which rows gave exactly these answers, as [question, answer] tokens."""
        return np.asarray((self.tokens == answers).all(-1))

    def difference(self, ours: Tokens, theirs: Tokens) -> Numbers:
        """The logit of one answer's tokens less that of another's; the axes of `tokens`. Needs logits."""
        if self.logits is None:
            raise CarryLensError("The logits were not kept. Run with logits=True.")
        wide = (np.broadcast_to(answer, self.tokens.shape)[..., None].astype(np.int64) for answer in (ours, theirs))
        one, other = (np.take_along_axis(self.logits, tokens, -1)[..., 0] for tokens in wide)
        return one - other

    def texts(self) -> NDArray[np.str_]:
        """The answers as text; the axes of `tokens` without `answer`."""
        letters = np.array(self.vocabulary)[self.tokens.reshape(-1, self.tokens.shape[-1])]
        return np.array(["".join(row) for row in letters], dtype=np.str_).reshape(self.tokens.shape[:-1])
