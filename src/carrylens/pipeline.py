"""The pipeline: what each command does, as calls in the order of the route.

Takes  what the command line was given.
Gives  records and texts ready to print.
Never  holds logic of its own, or prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.classes import QuestionClass, classify
from carrylens.arithmetic.frequencies import class_counts
from carrylens.arithmetic.questions import Operation, Questions, split_question
from carrylens.arithmetic.streams import Recipe, Stream
from carrylens.errors import CarryLensError

Record = dict[str, object]


def classify_texts(texts: Sequence[str], digits: int | None) -> list[Record | CarryLensError]:
    """For each text its record, or the error it makes; texts of one width are worked out together."""
    results: list[Record | CarryLensError] = [{} for _ in texts]
    by_width: dict[int, list[int]] = {}
    for row, text in enumerate(texts):
        try:
            first, _, second = split_question(text, digits)
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
    """For each recipe, operation and width the share of every class the operation has."""
    for operation, letters in ((Operation.ADD, "S"), (Operation.SUB, "MN")):
        names = [found for found in QuestionClass if found.value[0] in letters]
        for recipe in Recipe:
            for width in widths:
                counts = class_counts(Stream(recipe, operation, width, seed), count)
                yield {
                    "operation": operation.value,
                    "stream": recipe.value,
                    "digits": width,
                    "questions": count,
                    "seed": seed,
                    "counts": {name.value: counts[name] for name in names},
                }
