"""The plan: everything that says which model a run makes.

Takes  a task, the shape of a model, a recipe, a population of questions, a number of steps and a seed.
Gives  `TrainingPlan`, and what must be the same for a stopped run to go on.
Never  trains.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from carrylens.errors import CarryLensError
from carrylens.json_records import to_plain
from carrylens.model.config import ConfigRecord, ModelConfig
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task
from carrylens.training.batches import draw_examples
from carrylens.training.insertion import Insertion
from carrylens.training.interchange import Interchange, nodes_of
from carrylens.training.recipe import TrainingRecipe

_FINGERPRINTED = 256  # questions of the population that stand for all of it


@dataclass(frozen=True)
class TrainingPlan:
    """What is trained, on what, and how.

    Questions come from `population`, drawn with `seed`; the weights are drawn with the config's own. `hard` are
    populations on which it is noted now and then how many questions are right. `insertion` is a trained model to start
    from. `next_name` is what this plan is called with the next seed, where names say the seed. `recorded` is what files
    say of the run beside its name; all of the plan, if it is None. `interchange` is an alignment to train under.
    """

    name: str
    task: Task
    config: ModelConfig
    recipe: TrainingRecipe
    population: Sampler
    n_steps: int
    seed: int = 0
    hard: tuple[Sampler, ...] = ()
    insertion: Insertion | None = None
    interchange: Interchange | None = None
    next_name: str | None = None
    recorded: Mapping[str, object] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        layout, config = self.task.layout, self.config
        n_outputs = len(layout.output_vocabulary or layout.vocabulary)
        fits = config.n_ctx >= layout.n_positions and config.reads == layout.reads
        if not fits or config.d_vocab < len(layout.vocabulary) or config.d_vocab_out < n_outputs:
            raise CarryLensError(
                f"{self.name} has {config.n_ctx} positions, {config.d_vocab} tokens in and {config.d_vocab_out} out, "
                f"and is read at {config.reads}. The task {self.task.name!r} needs {layout.n_positions}, "
                f"{len(layout.vocabulary)} and {n_outputs}, and {layout.reads}. Give a config for it."
            )
        if self.interchange is not None:
            self.interchange.alignment.check(self.interchange.causal, nodes_of(config))
        if self.n_steps < 1 or self.seed < 0:
            raise CarryLensError(
                f"{self.name} cannot be trained for {self.n_steps} steps with seed {self.seed}. "
                "Write 1 step or more, and a seed of 0 or more."
            )

    def identity(self) -> dict[str, object]:
        """What must be the same for a run to be resumed."""
        said = self._described() if self.recorded is None else self.recorded
        inserted = self.insertion.identity if self.insertion else {}
        return {"name": self.name, **said, **inserted, **(self.interchange.identity() if self.interchange else {})}

    def _described(self) -> dict[str, object]:
        # Some questions tell populations and layouts apart, their right outputs tasks. All are drawn with one seed: the
        # plan's own is said by itself.
        examples = draw_examples(self.task, self.population, 0, 0, _FINGERPRINTED)
        digest = hashlib.sha256(examples.tokens.numpy().tobytes() + examples.wanted.numpy().tobytes())
        insertion = {"restored": self.insertion.restored.value} if self.insertion else {}
        return {
            "task": self.task.name,
            "questions": digest.hexdigest(),
            "config": to_plain(ConfigRecord.of(self.config)),
            "n_steps": self.n_steps,
            "seed": self.seed,
            **asdict(self.recipe),
            **insertion,
        }
