"""The registry of measures, in the order in which they are run.

Takes  nothing.
Gives  `MEASURES`.
Never  runs one.
"""

from __future__ import annotations

from carrylens.arithmetic.paper.measures.carry_sources import CARRY_SOURCES
from carrylens.arithmetic.paper.measures.first_place import FIRST_PLACE
from carrylens.arithmetic.paper.measures.joint_hypothesis_3 import JOINT_HYPOTHESIS_3
from carrylens.arithmetic.paper.measures.optional_carries import OPTIONAL_CARRIES
from carrylens.arithmetic.paper.measures.random_sets import RANDOM_ADDITIONS, RANDOM_SETS

MEASURES = (CARRY_SOURCES, FIRST_PLACE, RANDOM_SETS, RANDOM_ADDITIONS, OPTIONAL_CARRIES, JOINT_HYPOTHESIS_3)
