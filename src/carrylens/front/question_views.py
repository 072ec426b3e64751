"""Question views: a trace, a model's answers, its attention.

Takes  what was computed for questions.
Gives  results that print in a line and draw themselves in a notebook.
Never  imports PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrylens.arithmetic.traces import Trace
from carrylens.errors import CarryLensError
from carrylens.front.tabular import Tabular
from carrylens.report.figures.trace import trace_svg
from carrylens.report.notebook.answer_display import answers_html
from carrylens.report.notebook.attention_display import attention_html
from carrylens.report.notebook.html_parts import drawing, framed
from carrylens.report.terminal.trace_rows import trace_summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TraceView(Trace):
    """One question followed through its algorithm."""

    def __repr__(self) -> str:
        return f"<Trace {self.question}{self.answer}: {trace_summary(self)}>"

    def _repr_html_(self) -> str:
        return framed(drawing(trace_svg(self)))


@dataclass(frozen=True, repr=False)
class Asked(Tabular, Sequence[Mapping[str, Any]]):
    """What a model answered."""

    model: str
    results: tuple[Mapping[str, Any] | CarryLensError, ...]
    """For each question its answer, or why it could not be asked."""

    @property
    def answers(self) -> tuple[Mapping[str, Any], ...]:
        """The answers of those that could."""
        return tuple(each for each in self.results if not isinstance(each, CarryLensError))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each question."""
        return [dict(each) for each in self.answers]

    def __getitem__(self, at: Any) -> Any:
        return self.answers[at]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def __repr__(self) -> str:
        said = [f"{each['question']}={each['answer']}{'' if each['correct'] else ' (wrong)'}" for each in self.answers]
        return f"<{self.model}: {', '.join(said[:5])}{', ...' if len(said) > 5 else ''}>"

    def _repr_html_(self) -> str:
        return answers_html(self.model, self.answers)


@dataclass(frozen=True, repr=False, eq=False)
class AttentionPicture:
    """Where each head looks for one question: `patterns` has axes [layer, head, query, key]."""

    question: str
    tokens: tuple[str, ...]
    patterns: NDArray[np.floating]

    def __repr__(self) -> str:
        n_layers, n_heads = self.patterns.shape[:2]
        return f"<Attention for {self.question}: {n_layers} layers of {n_heads} heads>"

    def _repr_html_(self) -> str:
        return attention_html(f"Attention for {self.question}", self.patterns, self.tokens)
