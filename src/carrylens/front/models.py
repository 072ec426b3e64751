"""Models: load one, train one, ask it, test it, see where it looks.

Takes  a name, a folder, `hf:owner/repository`, a file of weights, or a model in memory.
Gives  models, answers, tests, attention.
Never  imports PyTorch before a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrylens.errors import CarryLensError
from carrylens.front.progress_display import TrainingDisplay, progress_display

if TYPE_CHECKING:
    from carrylens.front.views import Asked, AttentionPicture, Examined, Trained
    from carrylens.model.source import ModelSource
    from carrylens.model.transformer import Transformer
    from carrylens.tasks.task import Task


def load(
    model: str | Path,
    *,
    task: Task | str | None = None,
    digits: int | None = None,
    layout: Mapping[str, Any] | Sequence[str] = (),
    n_heads: int | None = None,
    act_fn: str | None = None,
    normalization: str | None = None,
    eps: float | None = None,
    folder: str | Path | None = None,
) -> Transformer:
    """The model called so: a shipped model, a model folder, `hf:owner/repository`, or a file of weights.

    A file that someone else saved (`.pt`, `.pth`, `.bin`, `.safetensors`; TransformerLens, GPT-2 or a plain state
    dict) needs a `task`: one of your own, or `add`, `sub` or `mix` with `digits` and, where questions are not written
    the paper's way, a `layout` such as `{"units_first": True}`. What weights do not show is given by the other names.
    With `folder` the model is also saved there, as a model folder that every command takes. A model folder needs a
    `task` where it is one of your own: the `Task`, or the Python file that declares it, which is then run.
    """
    from carrylens.workflow.given_models import is_foreign, load_file, load_folder
    from carrylens.workflow.importing import Unseen, save_imported

    if not is_foreign(model, task, digits):
        return load_folder(str(model), task)
    loaded = load_file(Path(model), task, digits, layout, Unseen(n_heads, act_fn, normalization, eps))
    if folder is not None:
        save_imported(loaded, Path(folder))
        loaded.given = str(folder)
    return loaded


def ask(model: str | Path | Transformer, *questions: str) -> Asked:
    """What the model answers, decoded token by token, and whether that is right: `ask(model, "45+7", "99+1")`."""
    from carrylens.front.views import Asked
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.questions import ask_texts

    source = source_of(model)
    results = ask_texts(source.load(), questions)
    for result in results:
        if isinstance(result, CarryLensError):
            raise result
    return Asked(source.name, tuple(each for each in results if not isinstance(each, CarryLensError)))


def attention(model: str | Path | Transformer, question: str) -> AttentionPicture:
    """Where every head looks while the model reads a question with its answer."""
    from carrylens.front.views import AttentionPicture
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.questions import attention_patterns

    loaded = source_of(model).load()
    tokens, patterns = attention_patterns(loaded, question)
    return AttentionPicture(question, tokens, patterns)


def train(
    name: str,
    *,
    out: str | Path | None = None,
    recipe: str = "compact",
    insert: str | None = None,
    placement: str = "early",
    restart: bool = False,
    device: str = "cpu",
    threads: int = 1,
    progress: bool = True,
) -> Trained:
    """Train the model that a name describes, such as `add_d3_l2_h3_w48_t1K_s1`, in `models/NAME` or in `out`.

    A finished model is only loaded, a stopped run goes on, unless `restart` is said.
    """
    from carrylens.front.views import Trained
    from carrylens.workflow.training import train_or_resume, training_plan

    plan = training_plan(name, recipe, insert, placement)
    folder = Path("models") / name if out is None else Path(out)
    with progress_display(name, progress) as say:
        model, history = train_or_resume(plan, folder, device, threads, TrainingDisplay(say), restart=restart)
    model.given = str(folder)
    return Trained(name, folder, model, history)


def test(
    model: str | Path | ModelSource | Transformer,
    *,
    questions: int = 10_000,
    per_class: int = 1_000,
    of: Sequence[str] = (),
    keep: bool = True,
    restart: bool = False,
    device: str = "cpu",
    threads: int = 0,
    progress: bool = True,
) -> Examined:
    """How often the model fails: on `questions` of each population and operation, `per_class` of each class and depth.

    `of` sets the number of one population, such as `enriched=400000`. A saved test of these weights on as many
    questions is taken; a new one is kept beside the model, or in `maps/NAME`, unless `keep` is False.
    """
    from carrylens.front.views import Examined
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.testing import keep_test, known_test, start_exam

    exam = start_exam(source_of(model), questions, per_class, device, threads, of)
    if not restart and (known := known_test(exam)):
        return Examined(known[1], known[0])
    with progress_display(exam.source.name, progress) as say:
        for _ in exam.sit():
            say("testing", exam.asked, exam.total)
    return Examined(exam.record(), keep_test(exam) if keep else None)
