"""The command line: `run` calls it here; what is about processes, pipes and terminals starts one."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command_line import run_here as run

COMMAND = [sys.executable, "-m", "carrylens"]


def run_process(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """As a user runs it."""
    return subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("words", [("classify", "45+7", "--json"), ("classify", "4a+5"), ("classify",), ("tarce",), ()])
def test_a_process_says_the_same(words: tuple[str, ...]) -> None:
    here, there = run(*words, stdin="1+2\nabc\n"), run_process(*words, stdin="1+2\nabc\n")
    assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)


def test_trace_draws_the_cascade_of_the_paper() -> None:
    result = run("trace", "555555555+444444448")
    assert result.returncode == 0
    assert result.stdout.startswith("555555555+444444448=+1000000003\n9 digits, class S5, cascade depth 8\n")
    rows = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if line.strip()}
    assert rows["SV8"] == [*"UUUUUUUU", "1"]
    assert rows["SV0"] == ["1"]
    assert rows["answer"] == list("+1000000003")
    assert "\x1b" not in result.stdout, "no colour in a pipe"


def test_trace_of_a_negative_answer_shows_the_sign_and_both_chains() -> None:
    result = run("trace", "325-329")
    rows = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if line.strip()}
    assert rows["MV2"] == ["U", "U", "1"]
    assert rows["NV2"] == ["U", "U", "0"]
    assert rows["answer"] == list("-0004")


def test_trace_is_coloured_on_a_terminal_unless_no_colour_is_wanted() -> None:
    yellow = "\x1b[33m"
    assert yellow in _on_a_terminal({})
    assert yellow not in _on_a_terminal({"NO_COLOR": "1"})


def _on_a_terminal(extra: dict[str, str]) -> str:
    reader, writer = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", **extra}
    subprocess.run([*COMMAND, "trace", "55+48"], stdout=writer, env=environment, check=True, timeout=60)
    os.close(writer)
    output = b""
    while True:
        try:
            chunk = os.read(reader, 4096)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
    os.close(reader)
    return output.decode()


def test_trace_json_says_what_is_known_at_each_place() -> None:
    record = json.loads(run("trace", "55+48", "--json").stdout)
    assert record["question"] == "55+48"
    assert record["answer"] == "+103"
    assert record["places"] == ["D1", "D0", "+", "D'1", "D'0", "="]
    assert record["variables"]["ST[1]"] == "U"
    assert record["known"]["ST[1]"] == [None, None, None, "U", "U", "U"]
    assert record["known"]["SV[1]"] == ["U", "U", "U", "U", "1", "1"]


def test_trace_svg_is_a_picture_with_words_in_it(tmp_path: Path) -> None:
    picture = tmp_path / "a b.svg"
    result = run("trace", "325-329", "--svg", str(picture))
    assert result.returncode == 0
    text = picture.read_text()
    assert text.startswith("<svg ")
    assert "<title>325-329=-0004" in text
    assert [path.name for path in tmp_path.iterdir()] == ["a b.svg"]


def test_a_picture_that_cannot_be_written_is_one_line_and_leaves_no_file(tmp_path: Path) -> None:
    result = run("trace", "4+5", "--svg", str(tmp_path / "gone" / "x.svg"))
    assert_one_line_error(result, str(tmp_path / "gone" / "x.svg"))
    assert list(tmp_path.iterdir()) == []


def test_classify_answers_one_object_per_question() -> None:
    result = run("classify", "45+7", "325-329", "--json")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {
            "question": "45+7",
            "digits": 2,
            "class": "S1",
            "answer": "+052",
            "cascade_depth": 0,
            "sign_depth": None,
            "borrow_depth": None,
        },
        {
            "question": "325-329",
            "digits": 3,
            "class": "N3",
            "answer": "-0004",
            "cascade_depth": None,
            "sign_depth": 2,
            "borrow_depth": 0,
        },
    ]


def test_classify_pads_to_the_digits_asked_for() -> None:
    assert run("classify", "45+7", "--digits", "6").stdout == "45+7  +0000052  S1  cascade 0\n"


def test_classify_reads_one_question_per_line_and_keeps_their_order() -> None:
    lines = [f"{i}{'+-'[i % 2]}{(7 * i) % 1000}" for i in range(2000)]
    result = run("classify", "--json", stdin="\n".join(lines))
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["question"] for record in records] == lines
    for line, record in zip(lines, records, strict=True):
        assert int(record["answer"]) == eval(re.sub(r"\b0+(?=\d)", "", line))
    assert result.returncode == 0


def test_classify_answers_a_line_as_soon_as_it_arrives() -> None:
    process = subprocess.Popen([*COMMAND, "classify"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("1+2\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("1+2  +03")
    process.stdin.write("3+4\n")
    process.stdin.close()
    assert process.stdout.read().startswith("3+4  +07")
    process.stdout.close()
    assert process.wait(timeout=60) == 0


def test_a_bad_line_is_reported_and_the_others_are_answered() -> None:
    result = run("classify", stdin="1+2\nabc\r\n\n99999+1\n-\n")
    assert result.stdout == "1+2  +03  S0  cascade 0\n99999+1  +100000  S5  cascade 4\n"
    assert result.returncode == 2
    assert [line.split("'")[:2] for line in result.stderr.splitlines()] == [
        ["carrylens: line 2: ", "abc"],
        ["carrylens: line 3: ", ""],
        ["carrylens: line 5: ", "-"],
    ]


def assert_one_line_error(result: subprocess.CompletedProcess[str], *names: str) -> None:
    """Exit 2 and one line that gives all of these names and values."""
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("carrylens: ")
    assert all(name in result.stderr for name in names), result.stderr


@pytest.mark.parametrize("command", ["trace", "classify"])
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["4a+5"], "'4a+5' 'a' (U+0061) 45+7"),
        (["5\u22123"], "'\u2212' (U+2212)"),
        ([""], "''"),
        (["-"], "'-'"),
        (["-5+3"], "'-5+3'"),
        (["5"], "'5'"),
        (["1+2+3"], "'1+2+3'"),
        (["1" * 41 + "+1"], " 41  40."),
        (["1234+5", "--digits", "3"], "'1234+5' 4 3"),
        (["4+5", "--digits", "0"], "0 40."),
        (["4+5", "--digits", "41"], "41 40."),
        (["4+5", "--digits", "many"], "'--digits' integer"),
        (["x" * 100_000], "xxx…"),
    ],
)
def test_bad_input_gets_one_line_that_says_what_to_write(command: str, arguments: list[str], names: str) -> None:
    result = run(command, *arguments)
    assert_one_line_error(result, *names.split())
    assert result.stdout == ""
    assert len(result.stderr) < 400


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["tarce", "4+5"], "'tarce'"),
        (["--nope"], "--nope"),
        (["frequencies", "--digits", "50"], "50 40."),
        (["frequencies", "--seed", "-1"], "seed -1"),
        (["trace", "4+5", "6+7", "--svg", "x.svg"], "--svg 2"),
    ],
)
def test_a_command_that_cannot_be_understood_gets_one_line(arguments: list[str], names: str) -> None:
    assert_one_line_error(run(*arguments), *names.split())


@pytest.mark.parametrize("option", ["--jsn", "-x", "--digit=4"])
@pytest.mark.parametrize("command", ["trace", "classify"])
def test_a_mistyped_option_is_told_before_anything_is_answered(command: str, option: str) -> None:
    result = run(command, "4+5", option)
    assert_one_line_error(result, f"'{option}'")
    assert result.stdout == ""


def test_a_width_that_is_none_is_told_once_and_even_without_questions() -> None:
    assert_one_line_error(run("classify", "--digits", "0", stdin="1+2\n3+4\n"), "0", "40")
    assert_one_line_error(run("classify", "--digits", "99", stdin=""), "99", "40")


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_a_picture_cannot_be_put_where_a_folder_is(path: str) -> None:
    assert_one_line_error(run("trace", "4+5", "--svg", path), repr(str(Path(path).resolve())))


@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        ("<&-", "question"),
        (">/dev/full </dev/null 5+3", "No space left"),
        (">&- 5+3", "output is closed"),
    ],
)
def test_closed_and_full_streams_are_one_line(redirection: str, message: str) -> None:
    script = f"'{sys.executable}' -m carrylens classify {redirection}"
    result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert_one_line_error(result, message)


def test_an_input_that_cannot_be_read_is_one_line() -> None:
    script = f"'{sys.executable}' -m carrylens classify < /proc/self/mem"
    result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert_one_line_error(result, "Standard input")


def test_a_closed_error_stream_does_not_change_the_status() -> None:
    script = f"'{sys.executable}' -m carrylens classify 5x3 2>&-"
    assert subprocess.run(["sh", "-c", script], check=False, timeout=60).returncode == 2


def test_a_byte_order_mark_is_no_mistake() -> None:
    assert run("classify", stdin="\ufeff1+2\n").stdout == "1+2  +03  S0  cascade 0\n"


def test_bytes_that_are_no_text_are_one_bad_line() -> None:
    result = run("classify", stdin=b"\xff\xfe\n1+2\n")
    assert result.returncode == 2
    assert result.stdout.startswith("1+2")


def test_without_arguments_the_help_is_shown() -> None:
    result = run()
    assert result.returncode == 0
    assert "classify" in result.stdout


def test_a_reader_that_goes_away_leaves_no_traceback() -> None:
    classify = f"{{ '{sys.executable}' -m carrylens classify; echo $? >&2; }}"
    script = f"yes 1+2 | head -100000 | {classify} | head -1"
    result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert result.stdout == "1+2  +03  S0  cascade 0\n"
    assert result.stderr == "141\n", "nothing is said, and the answer is not no"


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_ctrl_c_stops_with_one_line() -> None:
    # Whoever runs the tests in the background may have SIGINT ignored, which children inherit.
    process = subprocess.Popen(
        [*COMMAND, "frequencies", "--questions", "100000000"],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while (
        process.poll() is None and _cpu_seconds(process.pid) < 1.5
    ):  # imports take half a second; on a busy machine they take long
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == b"carrylens: Stopped.\n"


def test_prove_counts_every_case() -> None:
    records = [json.loads(line) for line in run("prove", "--json").stdout.splitlines()]
    steps = {(r["operation"], r["name"]): r["cases"] for r in records}
    assert steps[("add", "step, addition")] == 200, "100 digit pairs, two incoming carries"
    assert steps[("sub", "step, subtraction")] == 600, (
        "100 digit pairs, three ways the lower columns compare, two signs"
    )
    wiring = sum(record["cases"] for record in records if record["name"] == "uniform")
    cases = sum(record["cases"] for record in records) - wiring
    assert re.findall(r"[\d,]+", run("prove").stdout.splitlines()[-1]) == [f"{cases:,}", f"{wiring:,}"]


def test_frequencies_add_up_to_all_questions() -> None:
    result = run("frequencies", "--digits", "5", "--questions", "1000", "--json")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert {(r["operation"], r["stream"]) for r in records} == {
        (o, s) for o in ("add", "sub") for s in ("natural", "paper", "enriched", "structured")
    }
    assert all(sum(record["counts"].values()) == 1000 for record in records)


def test_the_arithmetic_benchmark_checks_that_both_sides_agree() -> None:
    record = json.loads(run("bench", "arithmetic", "--questions", "1000", "--json").stdout)
    assert record["agrees"] is True
    assert record["n_variables"] == 303
