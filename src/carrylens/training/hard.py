"""Hard questions: the classes on which models fail last.

Takes  a model's name.
Gives  streams of the deepest class of each kind that the model must answer.
Never  trains on them.
"""

from __future__ import annotations

from carrylens.arithmetic.classes import QuestionClass
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.targets import Target, TargetStream, is_possible

_SEED = 271828  # apart from every training seed's stream, which has another key anyway


def hard_streams(name: ModelName) -> list[TargetStream]:
    """The deepest possible class of additions, of positive and of negative subtractions, as the model has them."""
    letters = {Operation.ADD: "S", Operation.SUB: "MN", Operation.MIX: "SMN"}[name.operation]
    return [TargetStream(_deepest(letter, name.digits), name.digits, _SEED) for letter in letters]


def _deepest(letter: str, digits: int) -> Target:
    targets = [Target.of_class(found) for found in QuestionClass if found.value[0] == letter]
    return [target for target in targets if is_possible(target, digits)][-1]
