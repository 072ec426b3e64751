"""The command that answers the paper: paper.

Takes  nothing, or folders of family run.
Gives  every claim, table and figure of the paper with ours beside it: text, Markdown, JSON, or a page.
Never  imports PyTorch before the command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carrylens.cli.options import JsonOption
from carrylens.errors import CarryLensError
from carrylens.terminal import print_line, print_note, print_record


def paper_command(
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="[FOLDER]...", help="Also what family run made in these folders.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/paper.md.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the page as one HTML file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Answer the paper line by line.

    Every claim, table, figure and number of it in its order, ours beside it: agrees, differs, open, cannot be compared,
    or not measured yet and what is missing. Measures nothing: all comes from what was saved about models.
    """
    from carrylens.arithmetic.paper.all_claims import answered, model_rows
    from carrylens.files import write_whole
    from carrylens.report.terminal.paper import paper_html, paper_lines, paper_page
    from carrylens.workflow.answering_paper import paper_evidence

    if markdown and as_json:
        raise CarryLensError("A page is no JSON. Write --markdown or --json, not both.")
    evidence = paper_evidence(folders or ())
    sections, rows = answered(evidence), list(model_rows(evidence))
    if out is not None:
        write_whole(out, paper_html(sections, rows).encode())
        print_note(f"The page is {out}")
    if as_json:
        for title, claims in sections:
            for claim, answer in claims:
                print_record({"section": title, **claim.record(answer)})
        for row in rows:
            print_record({"section": "models", **row})
    elif markdown:
        print_line(paper_page(sections, rows))
    else:
        for line in paper_lines(sections):
            print_line(line)


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("paper")(paper_command)
