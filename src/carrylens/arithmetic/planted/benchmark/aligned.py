"""Aligned models in the benchmark: models trained under an alignment, which ship with their truth.

Takes  the folders of `arithmetic/zoo/aligned/`, each with weights and a `truth.json`.
Gives  one `BenchmarkModel` each.
Never  loads weights before they are needed.

The split is fixed by the folder's name: one model in three is for `dev`, by a hash of the name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from carrylens.arithmetic import hypotheses, zoo
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.zoo.model_facts import TRUTH
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.benchmark.known_models import DEV, TEST, BenchmarkModel, KnownModel
from carrylens.benchmark.saved_truth import truth_from_json
from carrylens.errors import CarryLensError
from carrylens.folders import read_checked, read_sealed
from carrylens.json_records import Schema

ALIGNED_FOLDER = Path(zoo.__file__).parent / "aligned"
_QUICK = ("add_d3_l2_h3_w72_t3K_s111", "add_d3_l2_h3_w72_t2K_s190")
"""One of each split: a mixture of two algorithms is scored, a left-to-right one gives the thresholds."""
_REPEATED = "add_d3_l2_h3_w72_t2K_s100"


def aligned_models(folder: Path = ALIGNED_FOLDER) -> Iterator[BenchmarkModel]:
    """Every model of the folder, by name."""
    for path in sorted(each for each in folder.glob("*") if (each / TRUTH).is_file()):
        split = DEV if hashlib.sha256(path.name.encode()).digest()[0] % 3 == 0 else TEST
        labels = {"quick": path.name in _QUICK, "repeated": path.name == _REPEATED, "algorithm": _algorithm(path)}
        yield BenchmarkModel(path.name, partial(_trained, path), "aligned", split, path.name, 0, labels)


class _Stated(msgspec.Struct):
    algorithm: str


_STATED_SCHEMA = Schema(_Stated, "alignment", "Restore it.", others=True)


def _algorithm(folder: Path) -> str:
    stated = folder / "aligned.json"
    return _STATED_SCHEMA.decode(read_checked(stated)[0], str(stated)).algorithm if stated.is_file() else ""


def _trained(folder: Path) -> KnownModel:
    source = find_source(str(folder))
    task = source.task
    if not isinstance(task, ArithmeticTask):
        raise CarryLensError(f"{folder} holds no model of arithmetic. Remove it from the aligned models.")
    truth = truth_from_json(read_sealed(folder, TRUTH), str(folder / TRUTH))
    judged = (hypotheses.usual_for(task), *hypotheses.rivals_for(task))
    names = {each.name for each in judged}  # a truth says more: what every named algorithm deserves
    asked = replace(truth, deserved={name: each for name, each in truth.deserved.items() if name in names})
    return KnownModel(source.load(), task, task.causal, asked, judged)
