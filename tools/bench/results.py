"""Rows of measurements: kept as JSON beside the page whose tables are made of them.

`benches/NAME.json` has the rows of each table with the machine on which they were measured, and `benches/NAME.md` the text,
in which each table stands between `<!-- TABLE -->` and `<!-- end TABLE -->`. Only what is between these is written.
"""

import json
import os
import pathlib
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bench import machine
from bench.run import ROOT, Failed

Value: TypeAlias = str | int | float | None
Row: TypeAlias = Sequence[Value]

# Another folder for results keeps those of the repository.
FOLDER = pathlib.Path(os.environ.get("BENCHES", ROOT / "benches"))


@dataclass(frozen=True)
class Column:
    """A column: its heading, and the form of its numbers with their unit."""

    heading: str
    form: str = "{}"

    def cell(self, value: Value) -> str:
        return "–" if value is None else value if isinstance(value, str) else self.form.format(value)


@dataclass(frozen=True)
class Table:
    """A table of a page. The first `keys` columns name a row; `summary` is a sentence about all rows."""

    name: str
    columns: Sequence[Column]
    keys: int = 1
    by_name: bool = False
    summary: Callable[[list[Row]], str] = lambda _: ""

    def cells(self, row: Row) -> list[str]:
        return [column.cell(value) for column, value in zip(self.columns, row, strict=True)]

    def markdown(self, measured: "Measured") -> str:
        """What stands between the marks of the table."""
        rows = list(measured.rows)
        numbers = [any(isinstance(row[k], int | float) for row in rows) for k in range(len(self.columns))]
        lines = [f"- {condition}" for condition in measured.conditions] + ([""] if measured.conditions else [])
        lines += [line(column.heading for column in self.columns), line("--:" if number else "---" for number in numbers)]
        lines += [line(self.cells(row)) for row in rows]
        notes = [f"* {key}, {note}" for key, each in measured.notes.items() for note in each]
        said = textwrap.fill(self.summary(rows), 120, break_on_hyphens=False)
        return "\n".join([*lines, *(["", *notes] if notes else []), *(["", said] if said else [])])


@dataclass
class Measured:
    """The rows of a table, remarks by the name of the row, and the conditions of the measurement, the machine first.

    Rows that were measured before machines were written down have no conditions.
    """

    conditions: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)


class Page:
    """The results of a page. Rows that are put appear on the terminal, and in the files where `write` says so."""

    def __init__(self, name: str, tables: Sequence[Table], write: bool = True, keep: bool = False) -> None:
        self.name, self.write, self.keep = name, write, keep
        self.tables = {table.name: table for table in tables}
        self.file, self.page = FOLDER / f"{name}.json", FOLDER / f"{name}.md"
        stored: dict[str, Any] = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.measured = {name: Measured(**stored.get(name, {})) for name in self.tables}

    def begin(self, table: Table, *conditions: str) -> None:
        """Measures a table anew; with `keep` its rows of other names stay, and so do their conditions."""
        measured = self.measured[table.name]
        before = (measured.conditions or ["rows of before: machine not recorded"]) if self.keep and measured.rows else []
        measured.conditions = list(dict.fromkeys([*before, machine.name(), *conditions]))
        if not self.keep:
            measured.rows, measured.notes = [], {}
        print(line(column.heading for column in table.columns), flush=True)

    def put(self, table: Table, row: Row, notes: Sequence[str] = ()) -> None:
        """Puts a row below the others, or with `keep` in the place of that of the same name."""
        measured = self.measured[table.name]
        names = [list(other[: table.keys]) for other in measured.rows] if self.keep else []
        at = names.index(list(row[: table.keys])) if list(row[: table.keys]) in names else len(measured.rows)
        measured.rows[at : at + 1] = [list(row)]
        if table.by_name:
            measured.rows.sort(key=lambda each: str(each[0]))
        padded = [cell.ljust(len(column.heading)) for cell, column in zip(table.cells(row), table.columns, strict=True)]
        print(line(padded), *notes, sep="\n  ", flush=True)
        self.remark(table, str(row[0]), *notes)

    def remark(self, table: Table, name: str, *notes: str) -> None:
        """Puts remarks below a table in the place of those of the same name."""
        remarks = self.measured[table.name].notes
        remarks.pop(name, None)
        if notes:
            remarks[name] = list(notes)
        if table.by_name:
            self.measured[table.name].notes = dict(sorted(remarks.items()))
        self.save()

    def save(self) -> None:
        if self.write:
            FOLDER.mkdir(parents=True, exist_ok=True)
            self.file.write_text(self.json())
            if self.page.exists():
                self.page.write_text(self.remade())

    def json(self) -> str:
        """The results, a row in a line."""

        def text(value: object) -> str:
            return json.dumps(value, ensure_ascii=False)

        tables = []
        for name, each in self.measured.items():
            rows = ",".join(f"\n      {text(row)}" for row in each.rows)
            about = f'"conditions": {text(each.conditions)},\n    "rows": [{rows}\n    ],\n    "notes": {text(each.notes)}'
            tables += [f'  "{name}": {{\n    {about}\n  }}'] if each.rows else []
        return "{\n" + ",\n".join(tables) + "\n}\n"

    def remade(self) -> str:
        """The page with its tables made of the results."""
        if not self.page.exists():
            raise Failed(f"there is no page {self.page}")
        text = self.page.read_text()
        for name, measured in self.measured.items():
            begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
            if text.count(begin) != 1 or text.count(end) != 1:
                raise Failed(f"{self.page}: expected one {begin} and one {end}, where the table goes")
            head, rest = text.split(begin)
            tail = rest.split(end)[1]
            text = f"{head}{begin}\n\n{self.tables[name].markdown(measured)}\n\n{end}{tail}"
        return text


def number(value: Value) -> float:
    """A value that is a number."""
    assert isinstance(value, int | float), value
    return value


def numbers(rows: list[Row], column: int) -> list[float]:
    """The numbers of a column, by its place."""
    return [number(row[column]) for row in rows if isinstance(row[column], int | float)]


def line(cells: Iterable[str]) -> str:
    """A line of a table."""
    return "| " + " | ".join(cells) + " |"


def programs(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The programs of a folder by name: NAME.unopt.hlo, or where there is none NAME.hlo."""
    files = sorted(folder.glob("*.unopt.hlo")) or sorted(folder.glob("*.hlo"))
    return {file.name.split(".")[0]: file for file in files}
