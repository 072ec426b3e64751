"""The layout: how a question and its outputs stand as tokens, position by position.

Takes  a vocabulary and one `Slot` for every position.
Gives  token ids of questions, where each input is read and each output is predicted, names of places.
Never  knows a model, or what a token means.

An output that is fed back stands at a position of its own and is predicted one position before it. One that is not is
read at a query: a position that holds a constant token, and whose logits are the output.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from carrylens.errors import CarryLensError, quote
from carrylens.tasks.batches import Batch, Columns
from carrylens.tasks.layout_places import LayoutPlaces, Slot
from carrylens.tasks.variables import Family, Variable

__all__ = ["Layout", "Slot", "TokenIds"]

TokenIds = NDArray[np.int64]
"""Axes [batch, pos]."""

_MOST_TOKENS = 127  # ids of outputs are kept in eight bits


@dataclass(frozen=True)
class Layout(LayoutPlaces):
    """Positions, and the tokens of a model's vocabulary; `output_vocabulary` where its outputs have one of their own.

    `families` are those of the inputs and outputs: a value is written by its family's label. `written_as` are the
    outputs as people write an answer, where the model predicts them in another order.
    """

    families: tuple[Family, ...]
    output_vocabulary: tuple[str, ...] | None = None
    written_as: tuple[Variable, ...] = ()

    def __post_init__(self) -> None:
        _check_distinct("place", [slot.name for slot in self.slots])
        _check_distinct("token", self.vocabulary)
        _check_distinct("standing variable", [str(slot.variable) for slot in self.slots if slot.variable])
        known = {family.name for family in self.families}
        for slot in self.slots:
            named = slot.variable or slot.reads
            if named is not None and named.name not in known:
                raise CarryLensError(
                    f"{named} stands at {slot.name}, but its family is missing. "
                    f"Give the layout the family {named.name}."
                )
            self._tokens_at(slot)  # a token that is not in the vocabulary is an error now
        _check_distinct("output that is read", [str(slot.reads) for slot in self.slots if slot.reads])
        late = [slot.input for slot in self.slots[self.n_question :] if slot.input is not None]
        if late:
            raise CarryLensError(f"The input {late[0]} stands after an output. Put all inputs before the outputs.")
        if max(len(self.vocabulary), len(self.output_vocabulary or ())) > _MOST_TOKENS:
            raise CarryLensError(f"A vocabulary has more than {_MOST_TOKENS} tokens. Give one of fewer.")
        _ = self._output_tables  # nor may an output be written otherwise
        if not self.outputs:
            raise CarryLensError("The layout has no output. Give one a place after another, or a place that reads it.")

    def position(self, place: str) -> int:
        """The position of the place called so."""
        if place not in self.place_names:
            raise CarryLensError(f"{quote(place)} is not a place. Write one of {' '.join(self.place_names)}.")
        return self.place_names.index(place)

    def encode(self, batch: Batch, outputs: Columns | None = None) -> TokenIds:
        """The ids of each question, and of its outputs where they are given and fed back."""
        n_positions = self.n_question if outputs is None else self.n_positions
        if outputs is not None and outputs.shape != (len(batch), len(self.outputs)):
            raise CarryLensError(
                f"Outputs of shape {list(outputs.shape)} do not belong to {len(batch)} questions. Give "
                f"{len(self.outputs)} for each."
            )
        if missing := [str(variable) for variable in self._arrival if variable not in batch.place_of]:
            raise CarryLensError(f"The questions have no {missing[0]}, which stands in this layout. Give others.")
        ids = np.empty((len(batch), n_positions), dtype=np.int64)
        for at, slot in enumerate(self.slots[:n_positions]):
            if slot.input is not None:
                ids[:, at] = self._tables[at].take(batch.column(slot.input))
            elif slot.output is not None:
                assert outputs is not None
                ids[:, at] = self._tables[at].take(outputs[:, self.outputs.index(slot.output)])
            else:
                ids[:, at] = self._tables[at][0]
        return ids

    def output_ids(self, outputs: Columns) -> NDArray[np.int8]:
        """The token id of each output, as a model predicts it: [batch, output]."""
        ids = [self._output_tables[at].take(outputs[:, at]) for at in range(outputs.shape[1])]
        return np.stack(ids, axis=1).astype(np.int8)

    def question_text(self, batch: Batch) -> list[str]:
        """Each question as a model reads it."""
        return self.text(self.encode(batch))

    def text(self, ids: TokenIds) -> list[str]:
        """The text of each row of ids."""
        return _text(ids, self.vocabulary)

    def output_text(self, ids: NDArray[np.integer]) -> list[str]:
        """The text of each row of outputs' ids."""
        return _text(ids, self.output_vocabulary or self.vocabulary)

    def answer_text(self, ids: NDArray[np.integer]) -> list[str]:
        """The same as people write an answer."""
        written = self.written_as or self.outputs
        return self.output_text(ids[:, [self.outputs.index(output) for output in written]])

    def parse(self, text: str) -> dict[Variable, int]:
        """The inputs of a question that is written as `question_text` writes it, white space left out."""
        left, found = "".join(text.split()), dict[Variable, int]()
        for slot in self.slots[: self.n_question]:
            table = self._written_at(slot)
            token = max((each for each in table if each and left.startswith(each)), key=len, default=None)
            if token is None:
                wanted = " or ".join(table)
                raise CarryLensError(f"{quote(text)} is not a question: {slot.name} must be {wanted}.")
            left = left.removeprefix(token)
            if slot.input is not None:
                found[slot.input] = table[token]
        if left:
            raise CarryLensError(f"{quote(text)} is not a question: {quote(left)} is left over at its end.")
        return found

    def _written_at(self, slot: Slot) -> dict[str, int]:
        # How each value of the input that stands here is written; a constant token stands for nothing.
        if slot.input is None:
            return {slot.token or "": 0}
        family = self._family(slot.input)
        return {family.label(value): value for value in family.values}

    @cached_property
    def _tables(self) -> list[NDArray[np.int64]]:
        return [np.array(self._tokens_at(slot), dtype=np.int64) for slot in self.slots]

    @cached_property
    def _output_tables(self) -> list[NDArray[np.int64]]:
        vocabulary = self.output_vocabulary or self.vocabulary
        return [np.array(self._ids(output, vocabulary), dtype=np.int64) for output in self.outputs]

    def _tokens_at(self, slot: Slot) -> list[int]:
        # The id of the constant token, or of each value from 0 up to the highest.
        if slot.variable is not None:
            return self._ids(slot.variable, self.vocabulary)
        return [_id_of(str(slot.token), self.vocabulary, slot.name)]

    def _ids(self, variable: Variable, vocabulary: tuple[str, ...]) -> list[int]:
        family = self._family(variable)
        found = [0] * (max(family.values) + 1)
        for value in family.values:
            found[value] = _id_of(family.label(value), vocabulary, str(variable))
        return found

    def _family(self, variable: Variable) -> Family:
        return next(family for family in self.families if family.name == variable.name)


def _id_of(token: str, vocabulary: tuple[str, ...], where: str) -> int:
    if token not in vocabulary:
        raise CarryLensError(
            f"{where} is written {quote(token)}, which is not a token. Write one of {' '.join(vocabulary)}, or give a "
            "vocabulary that has it."
        )
    return vocabulary.index(token)


def _text(ids: NDArray[np.integer], vocabulary: Sequence[str]) -> list[str]:
    if ids.size and not 0 <= ids.min() <= ids.max() < len(vocabulary):
        raise CarryLensError(
            f"Token ids from {ids.min()} to {ids.max()} were given. Give ids from 0 to {len(vocabulary) - 1}."
        )
    letters = np.array(list(vocabulary))[ids]
    return ["".join(row) for row in letters]


def _check_distinct(what: str, names: Iterable[str]) -> None:
    some = list(names)
    for name in some:
        if some.count(name) > 1:
            raise CarryLensError(f"{quote(name)} is the name of two {what}s. Give every {what} a name of its own.")
