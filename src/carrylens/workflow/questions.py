"""Questions: what is true of questions that people wrote down, and what a model answers.

Takes  texts, a model.
Gives  a record for each text, or the error it makes.
Never  lets one bad text stop the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.classes import QuestionClass, classify
from carrylens.arithmetic.frequencies import class_counts
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions, split_question
from carrylens.errors import CarryLensError

if TYPE_CHECKING:  # PyTorch is imported only by the commands that need it
    from carrylens.arithmetic.task import ArithmeticTask
    from carrylens.model.transformer import Transformer
    from carrylens.tasks.task import Task

QuestionRecord = dict[str, Any]


def classify_texts(
    texts: Sequence[str], digits: int | None, *, of_model: bool = False
) -> list[QuestionRecord | CarryLensError]:
    """For each text its record, or the error it makes; texts of one width are worked out together."""
    results: list[QuestionRecord | CarryLensError] = [{} for _ in texts]
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


def _class_records(texts: list[str], questions: Questions) -> Iterator[QuestionRecord]:
    labels = classify(questions)
    for row, (text, found, answer) in enumerate(zip(texts, labels.classes(), answers(questions).text(), strict=True)):
        record: QuestionRecord = {"question": text, "digits": questions.digits, "class": found.value, "answer": answer}
        yield record | labels.depths(row)


def frequency_records(widths: Sequence[int], count: int, seed: int) -> Iterator[QuestionRecord]:
    """For each population, operation and width the share of every class the operation has."""
    for operation, letters in ((Operation.ADD, "S"), (Operation.SUB, "MN")):
        names = [found for found in QuestionClass if found.value[0] in letters]
        for kind in PopulationKind:
            for width in widths:
                counts = class_counts(Population(kind, operation, width), seed, count)
                yield {
                    "operation": operation.value,
                    "stream": kind.value,
                    "digits": width,
                    "questions": count,
                    "seed": seed,
                    "counts": {name.value: counts[name] for name in names},
                }


def _beyond(task: ArithmeticTask, text: str) -> CarryLensError | None:
    # Why a question is none that the model was trained for, if it is none.
    minus = split_question(text)[1] == "-"
    if task.operation is Operation.MIX or minus == (task.operation is Operation.SUB):
        return None
    what, does = ("a subtraction", "adds") if minus else ("an addition", "subtracts")
    return CarryLensError(
        f"{text.strip()!r} is {what}, but this model only {does}. Ask a model whose name begins with mix, such as "
        "mix_d6_l3_h4_w96_t4K_s1."
    )


def ask_texts(model: Transformer, texts: Sequence[str]) -> list[QuestionRecord | CarryLensError]:
    """For each text what the model answers by itself, and whether that is right; or the error it makes."""
    from carrylens.arithmetic.decoding import decode_answers
    from carrylens.arithmetic.task import ArithmeticTask

    task = model.task
    if task is None:
        raise CarryLensError("It is not known what this model is for. Set model.task, or load it with carrylens.load.")
    if not isinstance(task, ArithmeticTask):
        return [_answered(model, task, text) for text in texts]
    results = classify_texts(texts, task.digits, of_model=True)
    for row, result in enumerate(results):
        if not isinstance(result, CarryLensError) and (beyond := _beyond(task, texts[row])):
            results[row] = beyond
    good = [row for row, result in enumerate(results) if not isinstance(result, CarryLensError)]
    if not good:
        return results
    questions = Questions.parse([texts[row] for row in good], task.digits)
    right = task.layout.answer_text(task.output_ids(questions))
    for row, answer, true_answer in zip(good, decode_answers(model, questions), right, strict=True):
        known = results[row]
        assert not isinstance(known, CarryLensError)
        results[row] = {
            "question": known["question"],
            "answer": answer,
            "correct": answer == true_answer,
            "class": known["class"],
            "true_answer": true_answer,
        }
    return results


def _answered(model: Transformer, task: Task, text: str) -> QuestionRecord | CarryLensError:
    # For a task of which only its layout tells what a question is.
    try:
        question = task.parse([text])
    except CarryLensError as error:
        return error
    true_answer = task.layout.answer_text(task.output_ids(question))[0]
    strata = None if task.strata is None else task.classes(question)
    answer = model.answer(text)
    return {
        "question": text.strip(),
        "answer": answer,
        "correct": answer == true_answer,
        "class": None if strata is None else strata.names[int(strata.code[0])],
        "true_answer": true_answer,
    }


def attention_patterns(model: Transformer, question: str) -> tuple[tuple[str, ...], NDArray[np.floating]]:
    """The tokens of a question with its answer, and every head's attention: [layer, head, query, key]."""
    names = [f"blocks.{layer}.attn.hook_pattern" for layer in range(model.config.n_layers)]
    _, cache = model.run_with_cache(question, names)
    patterns = np.stack([cache[name][0].cpu().numpy() for name in names])
    return tuple(model.to_str_tokens(question)), patterns
