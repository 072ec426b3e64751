"""Tables of records."""

from carrylens.report.terminal.tables import align, class_line, frequency_table

RECORDS = [
    {"operation": "add", "stream": "natural", "digits": 5, "questions": 200, "counts": {"S0": 100, "S1": 99, "S2": 1}},
    {"operation": "sub", "stream": "paper", "digits": 10, "questions": 10**6, "counts": {"M0": 10**6 - 8, "N1": 8}},
]


def test_a_frequency_table_has_percents_by_class_for_each_operation() -> None:
    assert frequency_table(RECORDS, markdown=False).splitlines() == [
        "Addition, percent of 200 questions",
        "population  digits  S0    S1   S2",
        "natural          5  50  49.5  0.5",
        "",
        "Subtraction, percent of 1,000,000 questions",
        "population  digits   M0       N1",
        "paper           10  100  8.0e-04",
    ]


def test_the_markdown_table_says_which_command_made_it() -> None:
    table = frequency_table(RECORDS, markdown=True)
    assert "`carrylens frequencies`" in table
    assert "| natural | 5 | 50 | 49.5 | 0.5 |" in table


def test_words_stand_left_and_numbers_right() -> None:
    assert align(["a", "b"], [["x", "1,000"], ["yy", "2"]]) == ["a       b", "x   1,000", "yy      2"]


def test_a_depth_that_does_not_apply_is_left_out() -> None:
    record = {
        "question": "3-5",
        "answer": "-02",
        "class": "N1",
        "cascade_depth": None,
        "sign_depth": 0,
        "borrow_depth": 0,
    }
    assert class_line(record) == "3-5  -02  N1  sign 0  borrow 0"
