"""Options that say how transcripts lie in a table."""

from __future__ import annotations

from typing import Annotated

import typer

Column = Annotated[
    str | None,
    typer.Option(
        "--column",
        metavar="NAME",
        help="The column of a parquet file that holds the transcripts. Default: found by what is in it.",
        show_default=False,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id-column",
        metavar="NAME",
        help="The column of a parquet file that names the transcripts.",
        show_default=False,
    ),
]
GroupBy = Annotated[
    str | None,
    typer.Option(
        "--group-by",
        metavar="NAME",
        help="A row of a parquet file is one message; this column tells which rows are one transcript.",
        show_default=False,
    ),
]
