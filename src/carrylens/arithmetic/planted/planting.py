"""Planting: from a circuit description to a model and the truth about it.

Takes  a `CircuitDescription`.
Gives  `Planted`, the model and its truth; a model folder.
Never  trains, and never plants what cannot work.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.planted.answer_mlps import add_combiners
from carrylens.arithmetic.planted.assembly import Finish, assemble
from carrylens.arithmetic.planted.circuit import sketch_circuit
from carrylens.arithmetic.planted.description import CircuitDescription, Method
from carrylens.arithmetic.planted.hostile_truth import backups_of
from carrylens.arithmetic.planted.node_truth import truth_of_nodes
from carrylens.arithmetic.planted.rivals import (
    one_layer_truth,
    place_value_truth,
    sketch_one_layer,
    sketch_place_value,
)
from carrylens.arithmetic.planted.sketch import Sketch
from carrylens.arithmetic.planted.truth import PlantedBackup, PlantedEdge, PlantedGroup, Truth
from carrylens.arithmetic.planted.wiring_checks import wire
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.model_facts import TRUTH
from carrylens.folders import read_sealed
from carrylens.model.folder import save_model
from carrylens.model.transformer import Transformer


@dataclass(frozen=True, eq=False)
class Planted:
    """A planted model and what is true of it."""

    model: Transformer
    truth: Truth

    def save(self, folder: str | Path) -> None:
        """Write an ordinary model folder, with the truth sealed in it."""
        save_model(self.model, folder, beside={TRUTH: self.truth.to_json().encode()})


@dataclass(frozen=True, eq=False)
class _Sketched:
    sketch: Sketch
    groups: tuple[PlantedGroup, ...]
    edges: tuple[PlantedEdge, ...]
    backups: tuple[PlantedBackup, ...] = ()


def plant(description: CircuitDescription) -> Planted:
    """The model that the description states, or an error that says why there can be none."""
    sketched = _sketch(description)
    real = description.n_heads - description.noise
    finish = Finish(
        noise_heads=tuple(range(real, description.n_heads)),
        rotated=description.rotated,
        superposed=description.hostile.superposed,
        seed=description.seed,
        width=description.width,
    )
    model = assemble(sketched.sketch, description.digits, finish)
    model.task = arithmetic_task(description.operation, description.digits)
    name = str(planted_name(description, model))
    return Planted(model, Truth(name, description, sketched.groups, sketched.edges, sketched.backups))


def planted_name(description: CircuitDescription, model: Transformer) -> ModelName:
    """What the planted model is called: a name as all models have, with `planted` and without steps."""
    return ModelName(
        operation=description.operation,
        digits=description.digits,
        n_layers=description.n_layers,
        n_heads=description.n_heads,
        n_steps=0,
        seed=description.seed,
        width=model.config.d_model,
        planted=True,
    )


def load_truth(folder: str | Path) -> Truth:
    """The truth that was saved with a planted model."""
    return Truth.from_json(read_sealed(Path(folder), TRUTH), source=str(Path(folder) / TRUTH))


def _sketch(description: CircuitDescription) -> _Sketched:
    if description.method is Method.ONE_LAYER:
        return _Sketched(sketch_one_layer(description), *one_layer_truth(description))
    if description.method is Method.PLACE_VALUE:
        return _Sketched(sketch_place_value(description), *place_value_truth(description))
    wiring = wire(description)
    sketch = sketch_circuit(wiring)
    add_combiners(sketch, wiring)
    return _Sketched(sketch, *truth_of_nodes(wiring), backups_of(wiring))
