"""Edits run on bare token ids by the parts of the engine that know no questions, for models of any layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from carrylens.interventions import Edit
from carrylens.interventions.checks import check_edit
from carrylens.interventions.clean import clean_book, reference_means
from carrylens.interventions.edited_pass import EditedPass, Segment
from carrylens.interventions.edits import Fill
from carrylens.interventions.fills import Origin, Rows
from carrylens.interventions.parts import Parts
from carrylens.interventions.plan import plan_edit
from carrylens.interventions.sequences import origins_of
from carrylens.model import Transformer
from interventions.slow_interventions import Asked

N_CLASSES = 2


@dataclass
class ArrayCase:
    """Sequences of token ids, axes [sequence, pos]; a sequence's class is whether its first token is odd."""

    model: Transformer
    tokens: Tensor
    slots: list[Tensor]
    reference: Tensor

    @torch.inference_mode()
    def run(self, edits: Sequence[Edit], model: Transformer | None = None) -> list[Tensor]:
        """For each edit the logits of all sequences, run together in one batch where their footprints agree."""
        parts = Parts(model or self.model)
        book = clean_book(parts, torch.cat([self.tokens, *self.slots, self.reference]))
        means = reference_means(parts, self.reference, self.reference[:, 0] % N_CLASSES, N_CLASSES)
        found = []
        for edit in edits:
            check_edit(edit, parts.config, len(self.slots), has_reference=True)
            plan = plan_edit(edit, parts.config)
            origins = {origin: self._origin(origin) for origin in origins_of(edit)}
            rows = Rows(book, means, torch.arange(len(self.tokens)), origins, self.tokens[:, 0] % N_CLASSES)
            every = Segment(plan, slice(0, len(self.tokens)))
            found.append(EditedPass(parts, rows, [every], plan.footprint).logits())
        return found

    def asked(self, row: int) -> Asked:
        """The same for the slow routes."""
        every = [each[None] for each in self.reference]
        alike = [each for each in every if (each[0, 0] - self.tokens[row, 0]) % N_CLASSES == 0]
        return Asked(self.model, self.tokens[row][None], [slot[row][None] for slot in self.slots], every, alike)

    def _origin(self, origin: Origin) -> Tensor:
        fill, number = origin
        count = len(self.tokens)
        if fill is Fill.SOURCE:
            return torch.arange(count) + count * (1 + number)
        drawn = [self.asked(row).drawn(number) for row in range(count)]
        at = [int((self.reference == each).all(1).nonzero()[0, 0]) for each in drawn]
        return torch.tensor(at) + count * (1 + len(self.slots))
