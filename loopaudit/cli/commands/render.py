"""``loopaudit render``: any report, made of a saved JSON report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopaudit.cli import completion, options
from loopaudit.cli.writing import report_remark
from loopaudit.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loopaudit.cli.outputs import Output


def command(
    *,
    file: Annotated[
        str,
        typer.Argument(
            metavar="REPORT.json", help="What --report json wrote; - is standard input.", show_default=False
        ),
    ],
    report: Annotated[
        list[str] | None,
        typer.Option(
            "--report",
            "-r",
            metavar="NAME[=FILE]",
            help="The report to make (terminal, html, markdown, sarif, ...). Repeatable.",
            show_default=False,
            autocompletion=completion.report,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the report.", show_default=False),
    ] = None,
    detail: options.DetailOptions,
    width: options.Width = None,
    content: options.ContentOptions,
) -> None:
    """Make any report of a saved JSON report, without the transcripts.

    It is byte for byte the report that the run itself would have made. Masked and redacted texts of the
    JSON stay so, and money, which it does not have, is not shown.
    """
    from loopaudit.cli.outputs import Content, outputs, write_step_summary
    from loopaudit.reports.contract import Rendering
    from loopaudit.reports.json_v1.reading import load_report

    content.check()
    shown, order = detail.detail(), detail.order()
    targets = _placed(outputs(report or ["terminal"]), output)
    saved = load_report(file)
    _spare(file, targets)
    if saved.missing:
        report_remark(f"written by loopaudit {saved.report.version}, which did not record: {'; '.join(saved.missing)}")
    if content.show_content and (lost := _LOST.get(saved.report.content)):
        report_remark(f"--show-content brings nothing back: {lost} when the JSON was written")
    made = Content(saved.report, redact=content.redact, show_content=content.show_content)
    for target in targets:
        target.write(made, Rendering(shown, width or None, sort=order))
    write_step_summary(made.of(on_terminal=False), targets)


_LOST = {
    "masked": "secrets were masked",
    "hidden": "arguments, results and texts were left out",
}
"""What a saved report has lost for good."""


def _placed(targets: Sequence[Output], output: str | None) -> list[Output]:
    """The targets, the one without a file at ``output``.

    Raises:
        UsageError: there is none, and so the file is one too many.
    """
    from msgspec.structs import replace

    if output is None or output == "-":
        return list(targets)
    if all(target.file is not None for target in targets):
        raise UsageError(f"--output {output}: every report has a file of its own already")
    return [replace(target, file=output) if target.file is None else target for target in targets]


def _spare(file: str, targets: Sequence[Output]) -> None:
    """Refuse to write a report over the one it is made of.

    Raises:
        UsageError: a target is that file.
    """
    files = [target.file for target in targets if target.file is not None and file != "-"]
    for name in files:
        if Path(name).exists() and Path(name).samefile(file):
            raise UsageError(f"{name}: is the saved report itself", hint="write to another file")
