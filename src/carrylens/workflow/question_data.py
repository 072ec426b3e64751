"""Question data: questions with answers, or pairs with counterfactual answers, as rows and as files.

Takes  an operation, a width, and what is wanted: a sampler, a class, a depth, or pairs for a variable.
Gives  `QuestionSet`: rows; JSONL, CSV, Parquet, or a folder that Hugging Face's `datasets` loads, with a data card.
Never  loads a model, and never draws a question otherwise than its seed says.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from carrylens import __version__
from carrylens.arithmetic.algorithms import algorithm, answers
from carrylens.arithmetic.classes import QuestionClass, classify
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.arithmetic.targets import Chain, Target, TargetPopulation
from carrylens.errors import CarryLensError
from carrylens.files import inner_folder, write_whole
from carrylens.report.notebook.html_parts import frame_of, rows_html
from carrylens.tasks.pairs import interchange_pairs
from carrylens.tasks.variables import Variable
from carrylens.workflow.choices import choice

CARD = "README.md"
_SPLIT = "test"


@dataclass(frozen=True)
class QuestionChoice:
    """Which questions: `question_class` and `depth` are drawn directly; with `variable` the rows are pairs."""

    operation: str = "add"
    digits: int = 6
    count: int = 1000
    sampler: str = "enriched"
    question_class: str | None = None
    depth: int | None = None
    variable: str | None = None
    seed: int = 0

    @property
    def command(self) -> str:
        """The command that makes them."""
        words = ["carrylens questions", self.operation, f"--digits {self.digits} --count {self.count}"]
        if self.question_class is not None:
            words.append(f"--class {self.question_class}")
        elif self.depth is not None:
            words.append(f"--depth {self.depth}")
        elif self.variable is None:
            words.append(f"--sampler {self.sampler}")
        if self.variable is not None:
            words.append(f"--pairs '{self.variable}'")
        return " ".join([*words, f"--seed {self.seed}"])


@dataclass(frozen=True, repr=False, eq=False)
class QuestionSet(Sequence[Mapping[str, Any]]):
    """Rows of questions, and how they were drawn."""

    chosen: QuestionChoice
    data: tuple[Mapping[str, Any], ...]

    def __getitem__(self, at: Any) -> Any:
        return self.data[at]

    def __len__(self) -> int:
        return len(self.data)

    def rows(self) -> list[dict[str, Any]]:
        """The rows as plain dictionaries."""
        return [dict(row) for row in self.data]

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return frame_of(self.rows())

    def save(self, path: str | Path) -> list[Path]:
        """Write `.jsonl`, `.csv` or `.parquet`; any other path becomes a folder that `datasets` loads, with a card."""
        path = Path(path)
        writers = {".jsonl": self._jsonl, ".csv": self._csv, ".parquet": self._parquet}
        if path.suffix in writers:
            return [_write(path, writers[path.suffix]())]
        if path.suffix:
            raise CarryLensError(f"{path} ends in {path.suffix}. Write .jsonl, .csv or .parquet, or name a folder.")
        name = f"data/{_SPLIT}.jsonl"
        data = inner_folder(path, "data") / f"{_SPLIT}.jsonl"
        return [_write(data, self._jsonl()), _write(path / CARD, self.card(name).encode())]

    def card(self, file: str) -> str:
        """The data card: what a row is, how it was drawn, and how the classes are spread."""
        return _card(self, file)

    def __repr__(self) -> str:
        what = "pairs" if self.chosen.variable else "questions"
        shown = ", ".join(_written(row) for row in self.data[:3])
        return f"<{len(self.data):,} {what}: {shown}{', ...' if len(self.data) > 3 else ''}>"

    def _repr_html_(self) -> str:
        return rows_html(f"{len(self.data):,} rows of {self.chosen.operation}, {self.chosen.digits} digits", self.data)

    def _jsonl(self) -> bytes:
        return "".join(json.dumps(row) + "\n" for row in self.data).encode()

    def _csv(self) -> bytes:
        out = io.StringIO()
        if self.data:
            writer = csv.DictWriter(out, list(self.data[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.data)
        return out.getvalue().encode()

    def _parquet(self) -> bytes:
        try:
            pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError as error:
            raise CarryLensError(
                "Parquet needs pyarrow. Write pip install pyarrow, or a .jsonl or .csv file."
            ) from error
        out = io.BytesIO()
        parquet.write_table(pyarrow.Table.from_pylist(self.rows()), out)
        return out.getvalue()


def question_set(chosen: QuestionChoice) -> QuestionSet:
    """The questions that were asked for."""
    if chosen.count < 1:
        raise CarryLensError(f"{chosen.count} questions were asked for. Write 1 or more.")
    rows = _pair_rows(chosen) if chosen.variable is not None else _question_rows(_drawn(chosen))
    return QuestionSet(chosen, tuple(rows)[: chosen.count])  # pairs may be half as many more


def _drawn(chosen: QuestionChoice) -> Questions:
    operation = choice(Operation, chosen.operation, "OPERATION")
    if chosen.question_class is not None and chosen.depth is not None:
        raise CarryLensError("A class and a depth were asked for. Write one of them.")
    if chosen.question_class is not None:
        wanted = choice(QuestionClass, chosen.question_class.upper(), "--class")
        _check_operation(operation, is_sum=wanted.value.startswith("S"))
        return TargetPopulation(Target.of_class(wanted), chosen.digits).draw(chosen.seed, 0, chosen.count)
    if chosen.depth is not None:
        if operation is Operation.MIX:
            raise CarryLensError("A depth needs a single operation. Write add or sub instead of mix.")
        chain = Chain.CASCADE if operation is Operation.ADD else Chain.BORROW
        target = TargetPopulation(Target.of_depth(chain, chosen.depth), chosen.digits)
        return target.draw(chosen.seed, 0, chosen.count)
    kind = choice(PopulationKind, chosen.sampler, "--sampler")
    return Population(kind, operation, chosen.digits).draw(chosen.seed, 0, chosen.count)


def _check_operation(operation: Operation, *, is_sum: bool) -> None:
    if (operation is Operation.ADD) != is_sum and operation is not Operation.MIX:
        right = "S0 to S5" if operation is Operation.ADD else "M0 to M4 and N1 to N4"
        raise CarryLensError(f"That class is not one of {operation.value}. Write one of {right}.")


def _question_rows(questions: Questions) -> Iterator[dict[str, Any]]:
    labels = classify(questions)
    texts = [text.removesuffix("=") for text in questions.text()]
    for row, (text, found, answer) in enumerate(zip(texts, labels.classes(), answers(questions).text(), strict=True)):
        yield {"question": text, "answer": answer, "class": found.value, **labels.depths(row)}


def _pair_rows(chosen: QuestionChoice) -> Iterator[dict[str, Any]]:
    if chosen.question_class is not None or chosen.depth is not None:
        raise CarryLensError("Pairs cannot be limited to a class or a depth. Leave those out.")
    model = algorithm(choice(Operation, chosen.operation, "OPERATION"), chosen.digits)
    variable = Variable.of(chosen.variable or "")
    if variable not in model.by_variable:
        known = ", ".join(map(str, model.variables))
        raise CarryLensError(f"{chosen.variable} is not a variable of {model.name}. Write one of {known}.")
    pairs = interchange_pairs(model, variable, chosen.count, chosen.seed)
    base, source = Questions.of_batch(pairs.base), Questions.of_batch(pairs.source)
    values = [model.run(each, read=[variable])[variable] for each in (base, source)]
    labels = model.family(variable)
    texts = [base.text(), answers(base).text(), source.text(), answers(source).text()]
    expected = Answers.of_outputs(pairs.expected).text()
    for row, answer in enumerate(expected):
        yield {
            "base": texts[0][row].removesuffix("="),
            "base_answer": texts[1][row],
            "source": texts[2][row].removesuffix("="),
            "source_answer": texts[3][row],
            "variable": str(variable),
            "base_value": labels.label(int(values[0][row])),
            "source_value": labels.label(int(values[1][row])),
            "counterfactual_answer": answer,
        }


def _written(row: Mapping[str, Any]) -> str:
    if "base" in row:
        return f"{row['base']} with {row['variable']} of {row['source']} = {row['counterfactual_answer']}"
    return f"{row['question']}={row['answer']}"


def _write(path: Path, content: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise CarryLensError(f"{path} cannot be written ({error.strerror or error}). Give another place.") from error
    return path


_FIELDS = {
    "question": "the question, zero-padded to the width",
    "answer": "the right answer: a sign, then one digit more than an operand has",
    "class": "the paper's class: S0 to S5 for sums, M0 to M4 and N1 to N4 for differences",
    "cascade_depth": "how many columns that sum to 9 the longest carry passes through",
    "sign_depth": "for a negative answer, the depth of the borrow that decides the sign",
    "borrow_depth": "the depth of the longest borrow of the answer",
    "base": "the question that the model reads",
    "base_answer": "its right answer",
    "source": "the question that a value is taken from",
    "source_answer": "its right answer",
    "variable": "the variable that is interchanged",
    "base_value": "its value in the base",
    "source_value": "its value in the source",
    "counterfactual_answer": "the base's answer if the variable had the source's value",
}


def _card(found: QuestionSet, file: str) -> str:
    chosen = found.chosen
    names = list(found.data[0]) if found.data else []
    classes = Counter(row["class"] for row in found.data if "class" in row)
    spread = [f"| {name} | {count:,} |" for name, count in sorted(classes.items())]
    table = ["", "| class | rows |", "|---|---|", *spread] if spread else []
    fields = [f"- `{name}`: {_FIELDS.get(name, '')}" for name in names]
    return "\n".join(
        [
            *("---", "license: apache-2.0", "tags:", "- arithmetic", "- interpretability", "configs:"),
            *("- config_name: default", "  data_files:", f"  - split: {_SPLIT}", f"    path: {file}", "---", ""),
            f"# {chosen.operation}, {chosen.digits} digits: {len(found.data):,} rows",
            "",
            f"Made by carrylens {__version__}: `{chosen.command}`. The same command gives the same rows.",
            *("", "Each row has:", "", *fields),
            *table,
            "",
            "Generated numbers: no personal data, no text by people. Answers are exact at every width.",
            "",
        ]
    )
