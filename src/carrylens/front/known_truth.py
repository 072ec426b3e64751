"""Known truth: plant a circuit, score methods of circuit discovery.

Takes  dials of a circuit; methods.
Gives  a planted model with its truth; the leaderboard.
Never  imports PyTorch before a call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from carrylens.front.progress_display import progress_display

if TYPE_CHECKING:
    from carrylens.benchmark.method_interface import DiscoveryMethod, Found, Given
    from carrylens.front.views import LeaderboardView, PlantedView


def plant(
    operation: str = "add",
    digits: int = 3,
    *,
    method: str = "left-to-right",
    redundancy: int = 1,
    copies: str = "heads",
    sharing: bool = False,
    polysemy: bool = False,
    decoys: int = 0,
    noise: int = 0,
    delay: int = 0,
    timing: str = "lazy",
    carry: str = "tri-state",
    gate: float = 0.0,
    weighted: int = 0,
    split: bool = False,
    backup: bool = False,
    cancel: bool = False,
    spread: bool = False,
    superposed: bool = False,
    memorised: str = "nothing",
    rotated: bool = False,
    seed: int = 0,
    folder: str | Path | None = None,
) -> PlantedView:
    """A model whose weights were computed to run a circuit, with the truth about every node: `.model` and `.truth`.

    The dials are those of `carrylens plant`; from `gate` to `memorised` they are hostile. With `folder` it is also
    saved, as a model folder with `truth.json`.
    """
    from carrylens.arithmetic.planted.planting import plant as plant_described
    from carrylens.front.views import PlantedView, view_of
    from carrylens.workflow.planting import describe_plant

    dials: dict[str, object] = {
        "redundancy": redundancy,
        "copies": copies,
        "sharing": sharing,
        "polysemy": polysemy,
        "decoys": decoys,
    }
    dials |= {"noise": noise, "delay": delay, "timing": timing, "carry": carry, "rotated": rotated, "seed": seed}
    hostile: dict[str, object] = {
        "gate": gate,
        "weighted": weighted,
        "split": split,
        "backup": backup,
        "cancel": cancel,
    }
    hostile |= {"spread": spread, "superposed": superposed, "memorised": memorised}
    made = view_of(PlantedView, plant_described(describe_plant(operation, digits, method, dials, hostile)))
    if folder is not None:
        made.save(folder)
        made.model.given = str(folder)
    return made


def benchmark(
    *methods: str | Path | Callable[[Given], Found] | DiscoveryMethod,
    suites: Sequence[str] = (),
    split: str = "test",
    quick: bool = False,
    seeds: int = 10,
    out: str | Path | None = None,
    progress: bool = True,
) -> LeaderboardView:
    """The leaderboard of methods of circuit discovery: functions of your own, Python files, names; all known for none.

    `suites` are kind, hostile, aligned and empty, all of them if none is named; `quick` takes a few small models, on
    less evidence. `seeds` of questions show how much is found again, 0 leaves that out. `out` is a folder in which
    results are kept and found again.
    """
    from carrylens.front.views import LeaderboardView, view_of
    from carrylens.workflow import benchmarking

    chosen = benchmarking.BenchmarkChoice(
        methods, suites, split, quick=quick, n_seeds=seeds, out=None if out is None else Path(out)
    )
    with progress_display("benchmark", progress) as say:
        return view_of(LeaderboardView, benchmarking.benchmark(chosen, say))
