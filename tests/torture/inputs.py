"""Inputs: malformed texts and bytes for everything that reads what a person wrote or a file holds.

Takes  a reader, a count and a seed.
Gives  how many inputs were tried, how many refused, and each that ended in anything but a result or one clear line.

Hypothesis draws: texts of any characters, JSON of any shape, and valid inputs that were damaged.
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from carrylens.alignment import Alignment
from carrylens.arithmetic.exam_counts import parse_counts
from carrylens.arithmetic.family.rows import parse_rows
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.task import find_task
from carrylens.arithmetic.zoo.exam_record import read_test
from carrylens.arithmetic.zoo.sources import ALIGNED, SHIPPED, find_source
from carrylens.benchmark.component_edges import ComponentEdge
from carrylens.benchmark.leaderboard import Leaderboard, Signature, leaderboard_of
from carrylens.benchmark.saved_results import SavedResults
from carrylens.benchmark.saved_truth import truth_from_json
from carrylens.claims.records import read_claims
from carrylens.discovery.alignment.joint_rates import MeasuredAlignment
from carrylens.discovery.node_map import NodeMap
from carrylens.discovery.worked_example_record import read_worked
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import FACT_SCHEMA
from carrylens.files import working
from carrylens.folders import check_sealed
from carrylens.interventions.edits import Edit, edge, interpolate
from carrylens.interventions.sites import parse_receivers, parse_sites
from carrylens.model.config import read_config
from carrylens.nodes import Node, parse_nodes
from carrylens.steps import is_done
from carrylens.tasks.variables import Variable
from carrylens.training.history import read_history
from carrylens.workflow.importing import task_of
from carrylens.workflow.judging import judge_usual
from carrylens.workflow.question_data import QuestionChoice, question_set
from torture.damage import CRAFTED, ODD_VALUES, crafted, drawn

_FORMS = 4
SLOW = 20.0
"""Seconds that reading one input may take, on a machine that does other work too."""
_FOLDER = SHIPPED / "add_d5_l1_h3_w96_t5K_s1"
_ALIGNED = next(path for path in sorted(ALIGNED.iterdir()) if path.is_dir())


@dataclass
class InputTally:
    """How many inputs were tried, and what went wrong."""

    tried: int = 0
    refused: int = 0
    slowest: float = 0.0
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Reader:
    """What reads, and inputs for it, the first of them valid; `texts` says whether it takes text or bytes."""

    read: Callable[[Any], object]
    inputs: Sequence[bytes] | Callable[[], Sequence[bytes]]
    texts: bool = True

    @cached_property
    def valid(self) -> Sequence[bytes]:
        """The inputs, made when they are first asked for."""
        return self.inputs() if callable(self.inputs) else self.inputs

    def given(self, content: bytes) -> Any:
        """The content as it takes it."""
        return content.decode("utf-8", "replace") if self.texts else content


def _file(name: str, read: Callable[[Path], object], beside: str = "") -> Callable[[bytes], object]:
    def run(content: bytes) -> object:
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / name).write_bytes(content)
            if beside:
                (Path(place) / beside).write_bytes(beside.encode())
            return read(Path(place))

    return run


def _history(count: int) -> bytes:
    return b"".join((_FOLDER / "training.jsonl").read_bytes().splitlines(keepends=True)[:count])


_FACT = b'{"about": {"nodes": "P9L0H1"}, "effect": {"hits": 1, "n": 2}, "kind": "swap", "null": {"hits": 0, "n": 2}}\n'
_WORKED = (
    b'{"model": "m", "sha256": null, "questions": [{"question": "1+1=", "given": "1+1", "answer": "+02", '
    b'"right": "+02", "tokens": [{"place": "A1", "token": "0", "p": 0.5}], "swaps": []}]}'
)
_MANIFEST = b'{"sha256": {"a": "%s"}}' % hashlib.sha256(b"a").hexdigest().encode()
_ROWS = b'[defaults]\nquick = true\n[[rows]]\nmodel = "add_d6_l2_h3_w96_t2K"\nseeds = [1, 2]\nof = ["natural=5"]\n'
_RESULT = b'{"about": {}, "result": {"is": 1}, "sha256": "0"}'


def _map() -> bytes:
    # A real one, but for most of each list.
    whole = json.loads((_FOLDER / "map.json").read_bytes())
    return json.dumps({name: part[:2] if isinstance(part, list) else part for name, part in whole.items()}).encode()


def _claims() -> bytes:
    whole = json.loads(judge_usual(NodeMap.from_json(_map(), find_task)).to_json())
    return json.dumps({**whole, "rivals": whole["rivals"][:1]}).encode()


def _leaderboard() -> bytes:
    made_by = Signature(
        "carrylens benchmark", {"carrylens": "1"}, quick=True, question_seeds=[0], thresholds_chosen_on=[], methods={}
    )
    return leaderboard_of([], [], made_by).to_json()


def _work_in(place: Path) -> None:
    with working(place):
        pass


def _result_in(place: Path) -> None:
    # A damaged one is computed again, so that what comes back is the result all the same.
    found = SavedResults(place).once("found", {}, lambda: {"is": 2})
    assert found == {"is": 2}, found


READERS: dict[str, Reader] = {
    "questions": Reader(lambda text: Questions.parse([text]), [b"12+34", b"000325-000329", b"9*9", b" 1 + 2 "]),
    "questions of some digits": Reader(lambda text: Questions.parse([text], 3), [b"123+456", b"1-2"]),
    "model names": Reader(ModelName.parse, [b"mix_d6_l3_h4_w96_t4K_s1", b"ins1_mix_d6_l3_h4_t40K_gf_s372001"]),
    "models": Reader(find_source, [b"mix_d6_l3_h4_w96_t4K_s1", b"models/a", b"hf:owner/name", b"../.."]),
    "nodes": Reader(Node.parse, [b"P10L0H2", b"P10L1MLP"]),
    "sets of nodes": Reader(parse_nodes, [b"P10L0H2 + P10L1MLP"]),
    "sites": Reader(parse_sites, [b"P10L0H2 + P3L1RESID"]),
    "receivers": Reader(parse_receivers, [b"P17L1H2.k + P17.logits"]),
    "variables": Reader(Variable.parse, [b"ST[3]", b"OPR", b"D'[0]"]),
    "edges": Reader(ComponentEdge.parse, [b"P1L0H0 -> P2L1H0.k", b"P3L0H1->P3L0MLP.in"]),
    "counts of a test": Reader(lambda text: parse_counts([text]), [b"natural=10", b"S4=1000000"]),
    "edits": Reader(Edit.from_json, [(interpolate("P3L0H0", 0.5) + edge("P1L0H0", "P3L1H0.k")).to_json().encode()]),
    "layouts": Reader(
        _file("layout.json", lambda place: task_of("add", 2, [str(place / "layout.json")])),
        [b'{"digits": 2, "sign": false, "vocabulary": "0123456789+=", "start": ["="]}'],
        texts=False,
    ),
    "words of a layout": Reader(lambda text: task_of("add", 2, [text]), [b"sign=no", b"units_first=yes", b"digits=3"]),
    "descriptions": Reader(CircuitDescription.from_json, [describe(Operation.ADD, 2).to_json().encode()]),
    "alignments": Reader(Alignment.from_json, [(_ALIGNED / "aligned.json").read_bytes()], texts=False),
    "leaderboards": Reader(Leaderboard.from_json, lambda: [_leaderboard()], texts=False),
    "truths": Reader(truth_from_json, [(_ALIGNED / "truth.json").read_bytes()], texts=False),
    "truths of planted circuits": Reader(
        Truth.from_json, lambda: [plant(describe(Operation.ADD, 1)).truth.to_json().encode()], texts=False
    ),
    "configs": Reader(
        lambda content: read_config(content, "it"), [(_FOLDER / "config.json").read_bytes()], texts=False
    ),
    "tests": Reader(lambda content: read_test(content, "it"), [(_FOLDER / "test.json").read_bytes()], texts=False),
    "histories": Reader(lambda content: read_history(content, "it"), [_history(3)], texts=False),
    "facts": Reader(lambda content: FACT_SCHEMA.decode_lines(content, "it"), [_FACT], texts=False),
    "worked questions": Reader(lambda content: read_worked(content, "it"), [_WORKED], texts=False),
    "claims": Reader(lambda content: read_claims(content, "it"), lambda: [_claims()], texts=False),
    "maps": Reader(lambda content: NodeMap.from_json(content, find_task), lambda: [_map()], texts=False),
    "measured alignments": Reader(
        MeasuredAlignment.from_json, [(_FOLDER / "alignment.json").read_bytes()], texts=False
    ),
    "rows of a family": Reader(lambda content: parse_rows(content, "it"), [_ROWS], texts=False),
    "classes of questions": Reader(
        lambda text: question_set(QuestionChoice(digits=3, count=2, question_class=text)), [b"S3", b"m2"]
    ),
    "variables of pairs": Reader(
        lambda text: question_set(QuestionChoice(digits=2, count=2, variable=text)), [b"ST[0]", b"SA[1]"]
    ),
    "notes of who works in a folder": Reader(
        _file(".work.lock", _work_in), [b'{"pid": 1, "host": "h", "command": "c"}'], texts=False
    ),
    "results of a benchmark": Reader(_file("found.json", _result_in), [_RESULT], texts=False),
    "manifests": Reader(_file("manifest.json", check_sealed, beside="a"), [_MANIFEST], texts=False),
    "records of steps": Reader(
        _file("steps.json", lambda place: is_done(place, "judge", {})),
        [b'{"judge": {"from": {}, "made": {"a": "0"}}}'],
        texts=False,
    ),
}

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(ODD_VALUES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def _damaged(valid: bytes, number: int) -> bytes:
    random_ = random.Random(number)
    if number % 3 or number % 9 == 0:
        forms = drawn(valid, random_, 1) if number % 3 else crafted(valid, random_, len(CRAFTED) + 2)
        return list(forms)[-1][1]
    return random_.choice(list(CRAFTED.values()))(valid)


def inputs_for(reader: Reader) -> st.SearchStrategy[list[Any]]:
    """What a reader may be given: a text, or some forms of damage, which cost less to make than a draw does."""

    def damaged(valid: bytes, number: int) -> list[Any]:
        forms = [_damaged(valid, number + at) for at in range(_FORMS)]
        return [reader.given(form) for form in forms]

    of_json = st.builds(json.dumps, _JSON)
    others = st.text(max_size=200) | of_json if reader.texts else st.binary(max_size=200) | of_json.map(str.encode)
    return st.builds(damaged, st.sampled_from(reader.valid), st.integers(0, 2**32)) | st.lists(
        others, min_size=1, max_size=1
    )


class _Late(BaseException):
    """It was enough, or there is no time left. Hypothesis lets what is no `Exception` through, and draws no more."""


def feed(reader: Reader, count: int, seed_: int = 0, until: float = float("inf")) -> InputTally:
    """Give the reader that many inputs, as long as there is time."""
    tally = InputTally()

    @seed(seed_)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs_for(reader))
    def one(contents: list[Any]) -> None:
        for content in contents:
            if tally.tried >= count or time.monotonic() > until:
                raise _Late
            _try(reader, content, tally)

    with suppress(_Late):
        one()
    return tally


def _try(reader: Reader, content: Any, tally: InputTally) -> None:
    began = time.monotonic()
    tally.tried += 1
    try:
        reader.read(content)
    except CarryLensError as error:
        tally.refused += 1
        if "\n" in str(error) or len(str(error)) > 1500:
            tally.wrong.append(f"{content!r:.300}: no clear line: {str(error)[:300]!r}")
    except BaseException:
        tally.wrong.append(f"{content!r:.300}: {traceback.format_exc(limit=-2)}")
    tally.slowest = max(tally.slowest, time.monotonic() - began)
    if tally.slowest > SLOW:
        tally.wrong.append(f"{content!r:.300}: {tally.slowest:.0f} s")
