"""The pipeline: work that takes several rooms, as calls in the order of the route.

Takes  what the command line was given.
Gives  records ready to print, and work under way.
Never  prints, and never does what a room could do alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from carrylens import __version__
from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.classes import QuestionClass, classify
from carrylens.arithmetic.frequencies import class_counts
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation, Questions, split_question
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.errors import CarryLensError

if TYPE_CHECKING:  # PyTorch is imported only by the commands that need it
    from carrylens.arithmetic.battery.outcome import Outcome
    from carrylens.arithmetic.battery.subject import InsertedModel, Subject
    from carrylens.arithmetic.planted.description import CircuitDescription
    from carrylens.arithmetic.planted.planting import Planted
    from carrylens.arithmetic.zoo.exams import Exam
    from carrylens.benchmark.method_runs import Work
    from carrylens.claims.judgement import Judgement
    from carrylens.discovery.node_map import NodeMap
    from carrylens.discovery.settings import Watch
    from carrylens.evidence.confidence import Confidence
    from carrylens.model.transformer import Transformer
    from carrylens.training.exam import Result
    from carrylens.training.run import Plan, Run, Watcher

Record = dict[str, Any]
_SHIPPED = Path(__file__).parent / "arithmetic" / "zoo" / "models"  # as in zoo/shipped.py, which would import PyTorch
Choice = TypeVar("Choice", bound=Enum)


def classify_texts(
    texts: Sequence[str], digits: int | None, *, of_model: bool = False
) -> list[Record | CarryLensError]:
    """For each text its record, or the error it makes; texts of one width are worked out together."""
    results: list[Record | CarryLensError] = [{} for _ in texts]
    by_width: dict[int, list[int]] = {}
    for row, text in enumerate(texts):
        try:
            first, _, second = split_question(text, digits, of_model=of_model)
        except CarryLensError as error:
            results[row] = error
        else:
            by_width.setdefault(digits or max(len(first), len(second)), []).append(row)
    for width, rows in by_width.items():
        questions = Questions.parse([texts[row] for row in rows], width)
        for row, record in zip(rows, _class_records([texts[row].strip() for row in rows], questions), strict=True):
            results[row] = record
    return results


def _class_records(texts: list[str], questions: Questions) -> Iterator[Record]:
    labels = classify(questions)
    for row, (text, found, answer) in enumerate(zip(texts, labels.classes(), answers(questions).text(), strict=True)):
        record: Record = {"question": text, "digits": questions.digits, "class": found.value, "answer": answer}
        yield record | labels.depths(row)


def frequency_records(widths: Sequence[int], count: int, seed: int) -> Iterator[Record]:
    """For each stream, operation and width the share of every class the operation has."""
    for operation, letters in ((Operation.ADD, "S"), (Operation.SUB, "MN")):
        names = [found for found in QuestionClass if found.value[0] in letters]
        for kind in StreamKind:
            for width in widths:
                counts = class_counts(Stream(kind, operation, width, seed), count)
                yield {
                    "operation": operation.value,
                    "stream": kind.value,
                    "digits": width,
                    "questions": count,
                    "seed": seed,
                    "counts": {name.value: counts[name] for name in names},
                }


def training_plan(name: str, recipe: str, insert: str | None, placement: str) -> Plan:
    """What the train command was asked to train."""
    from carrylens.arithmetic.zoo.model_facts import model_name
    from carrylens.arithmetic.zoo.shipped import find_model, load
    from carrylens.model.hub import HUB
    from carrylens.training.insertion import Placement
    from carrylens.training.recipes import RecipeKind
    from carrylens.training.run import Plan

    if ModelName.parse(name).planted:
        raise CarryLensError(f"{name} is planted, so nothing is trained. Write carrylens plant.")
    kind, where = _choice(RecipeKind, recipe, "--recipe"), _choice(Placement, placement, "--placement")
    if insert is None:
        return Plan(ModelName.parse(name), kind, placement=where)
    inserted_name = model_name(insert if insert.startswith(HUB) else find_model(insert))
    if inserted_name.operation is not Operation.ADD:
        raise CarryLensError(f"{inserted_name} is no addition model. Give --insert a model whose name begins with add.")
    return Plan(ModelName.parse(name), kind, load(insert), str(inserted_name), where)


def train_model(
    plan: Plan,
    folder: Path,
    device: str,
    threads: int,
    watcher: Watcher,
    checkpoint_seconds: float,
    *,
    resume: bool,
    restart: bool,
) -> Run:
    """Train, or go on training, in a folder that is in the state the caller thinks it is in."""
    from carrylens.training import devices, run

    where = devices.device_called(device, threads)
    run.prepare_folder(folder, resume=resume, restart=restart)
    under_way = (run.resume if resume else run.start)(plan, folder, where)
    run.train(under_way, watcher, checkpoint_seconds)
    return under_way


def start_exam(source: str, per_stream: int, per_class: int, device: str, threads: int, of: Sequence[str] = ()) -> Exam:
    """The test of a model, from where it was stopped if it was."""
    from carrylens.arithmetic.zoo.exams import Exam
    from carrylens.training.devices import device_called

    return Exam.start(source, per_stream, per_class, device_called(device, threads).type, of)


def planting(operation: str, digits: int, method: str, dials: Mapping[str, Any]) -> CircuitDescription:
    """The circuit description that the command line's dials ask for."""
    from carrylens.arithmetic.planted import description
    from carrylens.arithmetic.planted import dials as dial

    chosen = dict(dials)
    for name, kind in (("copies", dial.Copies), ("timing", dial.Timing), ("carry", dial.Carry)):
        chosen[name] = _choice(kind, chosen[name], f"--{name}")
    wanted, how = _choice(Operation, operation, "OPERATION"), _choice(description.Method, method, "--method")
    settings = dial.Dials(**chosen)
    if how is description.Method.LEFT_TO_RIGHT:
        return dial.describe(wanted, digits, settings)
    if how is description.Method.RIGHT_TO_LEFT:
        return dial.right_to_left(wanted, digits)
    if wanted is not Operation.ADD:
        raise CarryLensError(f"A {how.value} plant can only add, not {wanted.value}. Write carrylens plant add.")
    return (dial.one_layer if how is description.Method.ONE_LAYER else dial.place_value)(digits, settings)


def plant_exam(planted: Planted, n_questions: int) -> list[Result]:
    """So many enriched questions of each operation, and a hundredth of that of every class and depth."""
    from carrylens.training.exam import blank_results, exam_parts, sit

    description = planted.truth.description
    parts = exam_parts(description.operation, description.digits, n_questions, max(1, n_questions // 100))
    parts = [part for part in parts if part.name not in ("natural", "paper")]
    results = blank_results(parts)
    for _ in sit(planted.model, parts, results):
        pass
    return results


def map_source(
    source: str,
    out: Path | None,
    device: str,
    threads: int,
    watch: Watch,
    *,
    quick: bool,
    seed: int,
    pairs: bool,
    groups: bool,
    restart: bool,
) -> tuple[Path, NodeMap]:
    """The map of a model and its folder: the one that is there if it was made this way, else one made now."""
    from carrylens.arithmetic.zoo.exams import hash_of
    from carrylens.arithmetic.zoo.model_facts import model_name
    from carrylens.arithmetic.zoo.shipped import find_model, load
    from carrylens.discovery import map_folder
    from carrylens.discovery.node_search import MapSettings, map_model
    from carrylens.model.hub import HUB
    from carrylens.training.devices import device_called

    model = load(source).to(device_called(device, threads))
    name = model_name(source if source.startswith(HUB) else find_model(source))
    folder = map_folder.folder_for(source, str(name), out)
    settings = replace(MapSettings.chosen(seed, quick=quick), pairs=pairs, groups=groups)
    about = {"version": __version__, "sha256": hash_of(model)}
    if restart:
        map_folder.note_restart(folder, settings, about)
    elif not map_folder.is_restarted(folder, settings, about):
        kept = [folder] if source.startswith(HUB) or out else [folder, find_model(source)]  # it may have come with one
        for place in kept:
            if found := map_folder.saved_map(place, settings, about):
                return place, found
    store = map_folder.store_of(folder)
    mapped = map_model(model, str(name), name.operation, settings, store=store, watch=watch, about=about)
    map_folder.save_mapped(folder, mapped)
    map_folder.drop_store(folder)
    return folder, mapped.map


def calibration_work(
    chosen: Mapping[str, Any],
    methods: Sequence[str],
    out: Path | None,
    watch: Watch,
    *,
    quick: bool,
    light: bool,
    threads: int,
) -> Work:
    """What the calibrate command was asked to do."""
    from carrylens.benchmark.circuits import quick_settings, scored_settings, training_settings
    from carrylens.benchmark.method_runs import Work
    from carrylens.benchmark.methods import chosen_methods
    from carrylens.benchmark.saved_results import Results
    from carrylens.training.devices import device_called

    if quick and any(chosen[name] for name in ("dials", "operations", "digits")):
        raise CarryLensError("--quick has circuits of its own. Leave out --quick, or --dial, --operation and --digits.")
    device_called("cpu", threads)
    table = scored_settings(**chosen)
    settings = quick_settings() if quick else table
    training, names = list(training_settings(quick=quick)), chosen_methods(methods)
    return Work(settings, training, names, quick or light, Results(out), watch, small=quick)


def calibrate_circuits(work: Work, parts: Sequence[str]) -> Iterator[Record]:
    """The records of a calibration, one after another."""
    from carrylens.benchmark.sections import QUICK_AMOUNTS, Amounts, calibration_records, chosen_parts

    return calibration_records(work, chosen_parts(parts), QUICK_AMOUNTS if work.small else Amounts())


def fit_rule(work: Work, out: Path | None) -> tuple[Path, Confidence]:
    """The confidence rule, fitted anew and written: into `out`, or where the package reads it."""
    from carrylens.benchmark.sections import confidence_rule
    from carrylens.evidence.confidence import FILE
    from carrylens.files import write_whole

    rule, path = confidence_rule(work), FILE if out is None else out / FILE.name
    write_whole(path, rule.to_json().encode())
    return path, rule


def battery_source(
    source: str,
    out: Path | None,
    device: str,
    threads: int,
    watch: Watch,
    *,
    only: str | None,
    quick: bool,
    seed: int,
    restart: bool,
) -> tuple[Path, list[Outcome]]:
    """The outcomes of all experiments on a model, or of one, and their folder; each is kept as soon as it is there."""
    from carrylens.arithmetic.battery.battery_folder import save_outcomes, saved_map_of_weights, saved_outcomes
    from carrylens.arithmetic.battery.context import ExperimentContext
    from carrylens.arithmetic.battery.fresh_outcomes import run_experiments
    from carrylens.arithmetic.battery.registry import experiments_called
    from carrylens.arithmetic.battery.settings import BatterySettings
    from carrylens.arithmetic.battery.subject import Subject
    from carrylens.arithmetic.zoo.exams import hash_of
    from carrylens.arithmetic.zoo.model_facts import model_name
    from carrylens.arithmetic.zoo.shipped import find_model, load
    from carrylens.discovery.map_folder import folder_for
    from carrylens.model.hub import HUB
    from carrylens.training.devices import device_called

    experiments = experiments_called(only)
    model = load(source).to(device_called(device, threads))
    name = model_name(source if source.startswith(HUB) else find_model(source))
    folder, sha256 = folder_for(source, str(name), out), hash_of(model)
    about = {"model": str(name), "version": __version__, "sha256": sha256}
    own = [] if source.startswith(HUB) else [find_model(source)]  # a shipped model may have come with both
    mapped = (each for place in [folder, *own] if (each := saved_map_of_weights(place, sha256)))
    inserted = _inserted(own[0], name) if own and name.insertion else None
    subject = Subject(str(name), model, name.operation, next(mapped, None), inserted)
    here = saved_outcomes(folder, about)
    came = [outcome for place in own if place.resolve() != folder.resolve() for outcome in saved_outcomes(place, about)]
    kept = {outcome.card.name: outcome for outcome in (*came, *here)}  # what is here goes before what came with it
    there = [] if restart else [*here, *came]
    done = here if out else there  # who names a folder wants the outcomes in it
    found = []
    context = ExperimentContext(subject, BatterySettings.chosen(seed, quick=quick), watch)
    for outcome in run_experiments(context, experiments, there):
        if outcome not in done:
            kept[outcome.card.name] = outcome
            save_outcomes(folder, about, list(kept.values()))
        found.append(outcome)
    only_came = all(outcome in came and outcome not in here for outcome in found) and not (out or restart)
    return own[0] if only_came and found else folder, found


def _inserted(folder: Path, name: ModelName) -> InsertedModel | None:
    # The addition model that was put into the one in the folder, if its history names one that can be found.
    from carrylens.arithmetic.battery.subject import InsertedModel
    from carrylens.arithmetic.zoo.model_facts import training_run
    from carrylens.arithmetic.zoo.shipped import load
    from carrylens.training.insertion import Placement

    run = training_run(folder)
    try:
        model = load(str(run["inserted_from"]))
    except (KeyError, CarryLensError):
        return None
    late = run.get("placement") == Placement.LATE.value
    return InsertedModel(str(run["inserted_from"]), model, late, _from_scratch(name))


def _from_scratch(name: ModelName) -> Subject | None:
    # The first shipped model of the same operation and shape into which nothing was put.
    from carrylens.arithmetic.battery.subject import Subject
    from carrylens.arithmetic.zoo.shipped import load, shipped_names

    shape = ("operation", "digits", "n_layers", "n_heads", "width", "planted")
    for other in map(ModelName.parse, shipped_names()):
        if not other.insertion and all(getattr(other, part) == getattr(name, part) for part in shape):
            return Subject(str(other), load(str(other)), other.operation)
    return None


def ask_texts(model: Transformer, texts: Sequence[str]) -> list[Record | CarryLensError]:
    """For each text what the model answers, token by token, and whether that is right; or the error the text makes."""
    from carrylens.model.decoding import decode_answers

    results = classify_texts(texts, model.config.digits, of_model=True)
    good = [row for row, result in enumerate(results) if not isinstance(result, CarryLensError)]
    if good:
        given = decode_answers(model, Questions.parse([texts[row] for row in good], model.config.digits))
        for row, answer in zip(good, given, strict=True):
            known = results[row]
            assert not isinstance(known, CarryLensError)
            results[row] = {
                "question": known["question"],
                "answer": answer,
                "correct": answer == known["answer"],
                "class": known["class"],
                "true_answer": known["answer"],
            }
    return results


def judge_map(where: Path, own: Path | None) -> Judgement:
    """A saved map, judged by the left-to-right account or by the user's own, with every rival beside it."""
    from carrylens.arithmetic import hypotheses
    from carrylens.claims import judgement
    from carrylens.claims.hypothesis_file import own_hypothesis
    from carrylens.discovery.saved_map import read_map

    found = read_map(_map_at(where))
    usual, rivals = (
        hypotheses.left_to_right(found.operation, found.digits),
        hypotheses.rivals_of(found.operation, found.digits),
    )
    if own is None:
        return judgement.judge(found, usual, rivals)
    stated = own_hypothesis(own, found.operation, found.digits)
    if stated.name == usual.name:
        raise CarryLensError(f"{own} calls its hypothesis {usual.name!r}, as the usual one is. Give it another name.")
    return judgement.judge(found, stated, (usual, *rivals))


def claims_beside(where: Path, own: str | None) -> Path:
    """Where claims about a map go: beside it, or in `maps/NAME` if it came with carrylens; `own` names a user's own."""
    from carrylens.claims.judgement import claims_file

    folder = _map_at(where).parent
    return (Path("maps", where) if folder == _SHIPPED / where else folder) / claims_file(own)


def _map_at(where: Path) -> Path:
    from carrylens.discovery.node_map import MAP

    folders = (where, Path("maps", where), _SHIPPED / where)
    path = next((folder / MAP for folder in folders if (folder / MAP).is_file()), where)
    if not path.is_file():
        raise CarryLensError(f"{path} is no map and no folder with one. Map the model first: carrylens map MODEL.")
    return path


def _choice(kind: type[Choice], text: str, option: str) -> Choice:
    try:
        return kind(text)
    except ValueError:
        choices = " or ".join(str(choice.value) for choice in kind)
        raise CarryLensError(f"{option} {text!r} is not there. Write {choices}.") from None
