"""The sentence registry: the sentence of every experiment.

Takes  what a summary was made of.
Gives  what the outcome says.
Never  measures, or judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from carrylens.arithmetic.battery.axes.summarise import AxesTold
from carrylens.arithmetic.battery.combiner.summarise import CombinerTold
from carrylens.arithmetic.battery.make_carry.summarise import MakeCarryTold
from carrylens.arithmetic.battery.necessity.summarise import NecessityTold
from carrylens.arithmetic.battery.patching.summarise import PatchingTold
from carrylens.arithmetic.battery.paths.summarise import PathsTold
from carrylens.arithmetic.battery.polysemy.summarise import PolysemyTold
from carrylens.arithmetic.battery.probes.summarise import ProbesTold
from carrylens.arithmetic.battery.readouts.summarise import ReadoutsTold
from carrylens.arithmetic.battery.restoration.summarise import RestorationTold
from carrylens.arithmetic.battery.selection.summarise import SelectionTold
from carrylens.arithmetic.battery.sufficiency.summarise import SufficiencyTold
from carrylens.arithmetic.battery.whole_algorithm.summarise import WholeAlgorithmTold
from carrylens.report.sentences import (
    axes,
    combiner,
    make_carry,
    necessity,
    patching,
    paths,
    polysemy,
    probes,
    readouts,
    restoration,
    selection,
    sufficiency,
    whole_algorithm,
)

_SENTENCES: Mapping[type, Callable[[Any], str]] = {
    AxesTold: axes.sentence,
    CombinerTold: combiner.sentence,
    MakeCarryTold: make_carry.sentence,
    NecessityTold: necessity.sentence,
    PatchingTold: patching.sentence,
    PathsTold: paths.sentence,
    PolysemyTold: polysemy.sentence,
    ProbesTold: probes.sentence,
    ReadoutsTold: readouts.sentence,
    RestorationTold: restoration.sentence,
    SelectionTold: selection.sentence,
    SufficiencyTold: sufficiency.sentence,
    WholeAlgorithmTold: whole_algorithm.sentence,
}


def sentence_of(told: object) -> str:
    """What the outcome says whose summary was made of this."""
    return _SENTENCES[type(told)](told)
