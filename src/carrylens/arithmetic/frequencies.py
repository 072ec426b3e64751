"""Frequencies: how often each question class turns up in a stream.

Takes  a stream and a number of questions.
Gives  the count of every class among them.
Never  keeps more than one chunk of questions in memory.
"""

import numpy as np

from carrylens.arithmetic.classes import CLASSES, QuestionClass, classify
from carrylens.arithmetic.streams import Stream

_CHUNK = 1 << 17


def class_counts(stream: Stream, count: int) -> dict[QuestionClass, int]:
    """How many of the stream's first `count` questions are of each class.

    >>> from carrylens.arithmetic.questions import Operation
    >>> from carrylens.arithmetic.streams import StreamKind
    >>> sum(class_counts(Stream(StreamKind.NATURAL, Operation.MIX, 6, seed=0), 500).values())
    500
    """
    totals = np.zeros(len(CLASSES), dtype=np.int64)
    for start in range(0, count, _CHUNK):
        questions = stream.take(start, min(_CHUNK, count - start))
        totals += np.bincount(classify(questions).code, minlength=len(CLASSES))
    return {question_class: int(total) for question_class, total in zip(CLASSES, totals, strict=True)}
