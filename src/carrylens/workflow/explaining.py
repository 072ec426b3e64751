"""Explaining: the whole route for one model, from a name to a page.

Takes  an analysis.
Gives  its test, map, claims, experiments, worked questions and page, each made only where it is missing or stale.
Never  prints, and never does what another module of this room does.

1. Test, map and judge the model; run the battery.
2. Work one question through it.
3. Read what was saved, and make the page from that alone.
"""

from __future__ import annotations

from pathlib import Path

from carrylens import __version__
from carrylens.arithmetic.example_questions import example_questions
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.zoo.exam_record import TEST
from carrylens.arithmetic.zoo.model_facts import CARD, TRUTH, saved_test
from carrylens.claims.judgement import CLAIMS
from carrylens.discovery.alignment.joint_rates import ALIGNMENT, MeasuredAlignment
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.worked_example_record import WORKED
from carrylens.discovery.worked_examples import work_questions
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import FACTS
from carrylens.explorer.model_record import fits_a_page
from carrylens.files import working
from carrylens.folders import CONFIG, WEIGHTS, add_sealed, is_sealed
from carrylens.json_records import to_text
from carrylens.report.page.saved import Saved
from carrylens.steps import finish, is_done, read_made
from carrylens.tasks.batches import Batch
from carrylens.tasks.samplers import population_of
from carrylens.training.history import HISTORY
from carrylens.workflow.analysis import Analysis
from carrylens.workflow.battery import run_battery
from carrylens.workflow.exploring import explore_source
from carrylens.workflow.judging import judge_usual
from carrylens.workflow.mapping import map_source, sufficient_map
from carrylens.workflow.reading import EXPLORER, PAGE, page_of_saved, read_source
from carrylens.workflow.settling import settle_source
from carrylens.workflow.testing import start_exam

PUBLISHED = ("behaviors.json", "features.json")
OF_MODEL = (CONFIG, WEIGHTS, CARD, TRUTH, HISTORY, TEST, ALIGNMENT)
_EXAMPLES = 2  # questions worked through a model whose task has no examples of its own


def explain_source(analysis: Analysis) -> tuple[Path, Saved]:
    """The folder of everything, and what was saved in it."""
    with working(analysis.folder):
        return _explain(analysis)


def _explain(analysis: Analysis) -> tuple[Path, Saved]:
    folder, source = analysis.folder, analysis.source
    _test_if_untested(analysis)
    mapped, found = sufficient_map(analysis) or map_source(analysis)
    if analysis.out is not None:
        take_along(analysis, mapped)
    if not analysis.quick:
        settle_if_unsettled(analysis)
    made_from = {"map": found.sha256, "version": __version__}
    if not is_done(folder, "judge", made_from):
        analysis.progress("judging claims", 0, 1)
        finish(folder, "judge", made_from, {CLAIMS: judge_usual(found).to_json().encode()})
    if isinstance(source.task, ArithmeticTask) and source.task.question_layout.is_standard:
        run_battery(analysis)
    if not is_done(folder, "work", made_from):
        analysis.progress("working a question through", 0, 1)
        finish(folder, "work", made_from, {WORKED: _worked(analysis, found)})
    _, saved = read_source(source, folder)
    files = {**saved.hashes, "version": __version__}
    if not is_done(folder, "explore", files) and fits_a_page(analysis.model):
        analysis.progress("writing the explorer", 0, 1)
        own = [] if source.folder is None else [source.folder]
        made = explore_source(source, [folder, *own], has_report=True)
        finish(folder, "explore", files, {EXPLORER: made.page.encode()}, sealed=False)
    if not is_done(folder, "report", files):
        analysis.progress("writing the page", 0, 1)
        finish(folder, "report", files, {PAGE: page_of_saved(saved, folder)}, sealed=False)
    return folder, saved


def settle_if_unsettled(analysis: Analysis) -> None:
    """Settle what the model runs, unless that was done with these weights."""
    # A verdict rests on an alignment; one that came with the model, or was measured before, is not measured again.
    source = analysis.source
    own = [] if source.folder is None else [source.folder]
    for place in (analysis.folder, *own):
        content = read_made(place, ALIGNMENT, f"carrylens settle {source.given}")
        if content is not None and MeasuredAlignment.from_json(content, str(place / ALIGNMENT)).sha256 == source.sha256:
            return
    settle_source(analysis)


def take_along(analysis: Analysis, mapped: Path) -> None:
    """Make the folder complete in itself: the model, and all that its page is made from, wherever that was measured.

    What is there already stays as it is; `mapped` is where the map is.
    """
    folder, own = analysis.folder, analysis.source.folder
    places = dict.fromkeys((MAP, FACTS, *PUBLISHED), mapped) | ({} if own is None else dict.fromkeys(OF_MODEL, own))
    there = {name for name in (*places, WEIGHTS) if (folder / name).exists() or is_sealed(folder, name)}
    missing = {name: place for name, place in places.items() if name not in there}
    read = {name: read_made(place, name, "carrylens explain") for name, place in missing.items()}
    found = {name: content for name, content in read.items() if content is not None}
    if WEIGHTS not in found and WEIGHTS not in there:  # of another format, or on the Hub
        from carrylens.model.folder import model_files

        found |= model_files(analysis.model)
    if found:
        add_sealed(folder, found)


def _worked(analysis: Analysis, found: NodeMap) -> bytes:
    task = found.task
    if isinstance(task, ArithmeticTask):
        texts = example_questions(task.operation, task.digits)
        fits = task.causal.admits(task.parse(texts))
        texts = [text for text, is_for in zip(texts, fits, strict=True) if is_for]
        questions: Batch = task.parse(texts)
    else:
        questions = population_of(task.causal).draw(0, 0, _EXAMPLES)
        texts = task.question_text(questions)
    about = {"model": found.model, "sha256": found.stimuli.get("sha256")}
    return (to_text(work_questions(analysis.model, found, questions, texts, about), indent=1) + "\n").encode()


def _test_if_untested(analysis: Analysis) -> None:
    source = analysis.source
    own = [] if source.folder is None else [source.folder]
    if any(_is_tested(place, source.sha256) for place in (*analysis.places, *own)):
        return
    counts = (10_000, 200) if analysis.quick else (100_000, 2_000)
    exam = start_exam(source, *counts, analysis.device, analysis.threads)
    if exam.note is not None:
        analysis.progress(exam.note, exam.asked, exam.total)
    try:
        for _ in exam.sit():
            analysis.progress("testing", exam.asked, exam.total)
    except BaseException:  # stopped: the counts so far are kept
        exam.keep()
        raise
    add_sealed(analysis.folder, {TEST: (to_text(exam.record(), indent=1) + "\n").encode()})
    exam.forget()


def _is_tested(place: Path, sha256: str) -> bool:
    try:
        known = saved_test(place)
    except CarryLensError:  # one that cannot be believed is made again
        return False
    return known is not None and known["sha256"] == sha256
