"""Verdict views: what `judge` and `settle` give.

Takes  the verdict of the joint test; the claims about a map, or the alignment that was tested.
Gives  results that print the verdict in its own words: runs, runs in part, does not run, not settled.
Never  imports PyTorch: a saved model is judged without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrylens.claims.judgement import Judgement
from carrylens.claims.run_verdict import RunJudgement
from carrylens.claims.verdicts import RunVerdict
from carrylens.discovery.alignment.joint_rates import MeasuredAlignment
from carrylens.front.tabular import Tabular
from carrylens.report.notebook import claim_display, verdict_display
from carrylens.report.terminal.verdict import verdict_lines, verdict_sentence


@dataclass(frozen=True, repr=False)
class Judged(Tabular):
    """The verdict about a model, and every claim about its map; `path` is the file of the claims, if saved.

    `claims` is None where the model was settled and not mapped: the verdict needs no map, the claims do.
    """

    joint: RunJudgement
    claims: Judgement | None
    path: Path | None = None

    @property
    def verdict(self) -> RunVerdict:
        """The verdict of the joint test: whether the model runs the algorithm."""
        return self.joint.verdict

    @property
    def lines(self) -> list[str]:
        """The verdict in words."""
        return list(verdict_lines(self.joint))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each claim about the map."""
        return [] if self.claims is None else claim_display.claims_rows(self.claims.saved_record())

    def __repr__(self) -> str:
        said = claim_display.claims_line(None if self.claims is None else self.claims.saved_record())
        return f"<Judged: {verdict_sentence(self.joint)} {said}>"

    def _repr_html_(self) -> str:
        return claim_display.claims_html(self.joint, None if self.claims is None else self.claims.saved_record())


@dataclass(frozen=True, repr=False)
class Settled(Tabular):
    """The verdict of the joint test, the alignment that was tested, and the file it is in.

    `is_known` says that it was measured and saved before.
    """

    path: Path
    alignment: MeasuredAlignment
    judgement: RunJudgement
    is_known: bool = False

    @property
    def verdict(self) -> RunVerdict:
        """Whether the model runs the algorithm."""
        return self.judgement.verdict

    @property
    def lines(self) -> list[str]:
        """The verdict in words."""
        return list(verdict_lines(self.judgement))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each rate that was measured: jointly, then for the site of each variable."""
        return verdict_display.alignment_rows(self.alignment)

    def __repr__(self) -> str:
        return f"<Settled: {verdict_sentence(self.judgement)}>"

    def _repr_html_(self) -> str:
        return verdict_display.alignment_html(self.judgement, self.alignment)
