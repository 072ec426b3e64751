"""Refute a rival: judge another hypothesis of how a model adds on facts that are already there.

    python examples/refute_a_rival.py [FOLDER]

Needs no model and no PyTorch: it reads a saved map of a model that adds, states that each digit reads the column just
below its own and no further, and prints which claims of that hypothesis are refuted, and by what.
"""

from __future__ import annotations

import sys
from pathlib import Path

from carrylens.arithmetic.hypotheses import rivals_for, usual_for
from carrylens.arithmetic.task import find_task
from carrylens.claims.judgement import judge
from carrylens.claims.verdicts import Verdict
from carrylens.discovery.node_map import MAP
from carrylens.discovery.saved_map import read_map


def main(folder: str = "maps/add_d6_l2_h3_w96_t2K_s1") -> list[str]:
    """The lines that are printed: each verdict, and each refuted claim with its reason."""
    found = read_map(Path(folder) / MAP, find_task)
    rival = next(each for each in rivals_for(found.task) if each.name == "one-layer add")
    lines = []
    for hypothesis in (usual_for(found.task), rival):
        judgement = judge(found, hypothesis)
        lines.append(f"{hypothesis.name}: {judgement.verdict.name.replace('_', ' ').lower()}")
        for finding in judgement.findings:
            if finding.claim.required and finding.verdict is Verdict.REFUTED:
                lines.append(f"  refuted: {finding.claim.sentence} {finding.why}")
    return lines


if __name__ == "__main__":
    for line in main(*sys.argv[1:]):
        print(line)  # noqa: T201
