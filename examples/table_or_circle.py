"""Does a model hold its digits as a table or as an angle? Each digit's site, tested by interchange.

    python examples/table_or_circle.py add_d6_l2_h3_w96_t2K_s1

It fits the usual hypothesis in the quick form, about half a minute of CPU for a six-digit addition.
"""

from __future__ import annotations

import sys

from carrylens.arithmetic.hypotheses import usual_for
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.discovery.alignment.aligner import AlignSettings
from carrylens.discovery.alignment.alignment_task import inner_targets
from carrylens.discovery.alignment.contest import ContestModel, contest_for
from carrylens.discovery.alignment.table_or_circle import held_as


def main(model: str) -> list[str]:
    """A line for each digit that has a site of its own."""
    source, lines = find_source(model), list[str]()
    about = ContestModel(source.name, source.sha256, "enriched")
    aligner = contest_for(source.load("cpu"), source.task, about, AlignSettings.chosen(quick=True)).aligner
    found = aligner.align(usual_for(source.task))
    for at in inner_targets(found.about):
        held = held_as(found.about, found.placement, at)
        if held is not None:
            rates = f"whole write {held.whole}, circle {held.circle}, beside it {held.beside}"
            lines.append(f"{held.target}: {held.standing}; frequencies {held.frequencies}: {rates}")
    return lines


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in main(sys.argv[1]))
