"""Refute a rival: judge another account of how a model adds on facts that are already there.

    python examples/refute_a_rival.py [FOLDER]

Needs no model and no PyTorch: it reads a saved map, states that each digit looks at the column below alone, and prints
which claims of that account are refuted, and by what.
"""

from __future__ import annotations

import sys
from pathlib import Path

from carrylens.arithmetic.hypotheses import left_to_right, one_layer
from carrylens.claims.judgement import judge
from carrylens.claims.verdicts import Verdict
from carrylens.discovery.node_map import MAP, NodeMap


def main(folder: str = "maps/add_d6_l2_h3_w96_t2K_s1") -> list[str]:
    """The lines that are printed: the verdict, and each refuted claim with its reason."""
    found = NodeMap.from_json((Path(folder) / MAP).read_bytes())
    lines = []
    for hypothesis in (left_to_right(found.operation, found.digits), one_layer(found.digits)):
        judgement = judge(found, hypothesis)
        lines.append(f"{hypothesis.name}: skeleton {judgement.skeleton.value}")
        for finding in judgement.findings:
            if finding.claim.required and finding.verdict is Verdict.REFUTED:
                lines.append(f"  refuted: {finding.claim.sentence} {finding.why}")
    return lines


if __name__ == "__main__":
    for line in main(*sys.argv[1:]):
        print(line)  # noqa: T201
