"""Tables and bars for notebooks, as the page of ``layout-inspect hlo --html`` has them.

Colours are the notebook's own, but for the bars: data is full and padding hollow, so that colour is not needed.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import Shape, TensorLayout
    from ._reports import Comparison, Plan, Report

_STYLE = """<style>
.tensor-layout table { border-collapse: collapse; margin: 0.5em 0 1em; }
.tensor-layout caption { text-align: left; opacity: 0.75; padding-bottom: 0.25em; white-space: nowrap; }
.tensor-layout th, .tensor-layout td { padding: 0.25em 0.75em 0.25em 0; border-bottom: 1px solid #80808066; text-align: left;
  vertical-align: top; background: none; }
.tensor-layout tbody th { font-weight: normal; }
.tensor-layout .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.tensor-layout .data { fill: #3b78b5; }
.tensor-layout .padding { fill: none; stroke: #c06a1b; stroke-width: 1.5; }
.tensor-layout .filled { overflow: visible; vertical-align: middle; }
</style>"""

# The width of the longest bar, in pixels.
_WIDTH = 160

# What makes a cell one of numbers.
_AT_RIGHT = ' class="number"'


class _Markup(str):
    """Text that is HTML already."""


class _Number(_Markup):
    """A number, which stands at the right of its column."""


# What a cell of a table is made of.
_Cell = str | int


def _bytes(n: int) -> str:
    """A number of bytes with at most four digits."""
    value, unit = float(n), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if abs(value) < 1024:
            break
        value, unit = value / 1024, larger
    return f"{n} B" if unit == "B" else f"{value:.1f} {unit}"


def _size(n: int) -> _Number:
    """A number of bytes for people, the whole of it for programs and as a tip."""
    return _Number(f'<data value="{n}" title="{n:,} bytes">{_bytes(n)}</data>')


def _part(logical: int, padded: int) -> _Number:
    return _Number(f"{(padded - logical) * 100 / padded:.1f} %" if padded > logical else "0.0 %")


def _code(text: str) -> _Markup:
    return _Markup(f"<code>{escape(text)}</code>")


def _bar(logical: int, padded: int, most: int) -> _Markup:
    """The bytes of a tensor beside those of the one that takes most."""
    whole, data = (n / max(most, 1) * _WIDTH for n in (padded, min(logical, padded)))
    return _Markup(
        f'<svg class="filled" viewBox="0 0 {_WIDTH} 12" width="{_WIDTH}" height="12" aria-hidden="true">'
        f'<rect class="padding" width="{whole:.1f}" height="12"/><rect class="data" width="{data:.1f}" height="12"/></svg>'
    )


def _cell(cell: _Cell, row_head: bool) -> str:
    text = cell if isinstance(cell, _Markup) else f"{cell:,}" if isinstance(cell, int) else escape(cell)
    if row_head:
        return f'<th scope="row">{text}</th>'
    return f"<td{_AT_RIGHT}>{text}</td>" if isinstance(cell, int | _Number) else f"<td>{text}</td>"


def _table(caption: str, head: list[str], rows: list[list[_Cell]]) -> str:
    """A table whose first column names the rows; nothing without rows."""
    if not rows:
        return ""
    numbers = [isinstance(cell, int | _Number) for cell in rows[0]]
    columns = zip(head, numbers, strict=True)
    cells = "".join(f'<th scope="col"{_AT_RIGHT if number else ""}>{escape(name)}</th>' for name, number in columns)
    lines = ("".join(_cell(cell, k == 0) for k, cell in enumerate(row)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _page(*parts: str) -> str:
    return f'<div class="tensor-layout">{_STYLE}{"".join(parts)}</div>'


def shape(of: Shape) -> str:
    arrays = [array for array in of.leaves if array._is_laid_out]
    most = max((array.padded_bytes for array in arrays), default=0)
    rows: list[list[_Cell]] = [
        [
            _code(str(array)),
            _bar(array.logical_bytes, array.padded_bytes, most),
            _size(array.padded_bytes),
            _size(array.logical_bytes),
            _part(array.logical_bytes, array.padded_bytes),
        ]
        for array in arrays
    ]
    return _page(_table("Shape", ["array", "data and padding", "takes", "data", "padding"], rows), of._repr_svg_() or "")


def places(of: TensorLayout) -> str:
    rows: list[list[_Cell]] = [[_code(str(of)), str(of.sizes), str(of.padded_sizes), ", ".join(of.axes)]]
    return _page(_table("TensorLayout", ["layout", "sizes", "padded", "axes"], rows), of._repr_svg_() or "")


def report(of: Report) -> str:
    memories: list[list[_Cell]] = [
        [
            memory.name,
            _size(memory.arguments.padded),
            _size(memory.outputs.padded),
            _size(memory.constants.padded),
            _size(memory.temporaries),
            _size(memory.peak.bytes),
            _code(memory.peak.instruction),
            _part(memory.padding.logical, memory.padding.padded),
        ]
        for memory in of.spaces
    ]
    most = max((tensor.padded_bytes for tensor in of.worst), default=0)
    worst: list[list[_Cell]] = [
        [
            _code(f"{tensor.name} {tensor.shape}"),
            tensor.kind,
            _bar(tensor.logical_bytes, tensor.padded_bytes, most),
            _size(tensor.padded_bytes),
            _size(tensor.logical_bytes),
            "/".join(map(str, tensor.lanes)) if tensor.lanes else "",
            tensor.source or tensor.op_name or "",
        ]
        for tensor in of.worst
    ]
    moved: list[list[_Cell]] = [
        [
            _code(move.name),
            move.opcode,
            _size(move.bytes),
            _code(move.before),
            _code(move.after),
            _code(move.producer),
            _code(", ".join(move.users)),
        ]
        for move in of.relayouts
    ]
    live: list[list[_Cell]] = [
        [_code(f"{own.name} {own.shape}"), own.kind, _size(own.padded_bytes), own.made, own.last_read, own.source or own.op_name or ""]
        for own in of.peak.buffers.entries
    ]
    lines: list[list[_Cell]] = [[own.name, own.buffers, _size(own.padded), _size(own.logical)] for own in of.peak.lines.entries]
    advice: list[list[_Cell]] = [
        [own.change, _size(own.saves), _size(own.peak), "" if own.cost is None else f"{own.cost:,} {own.unit}s", _code(own.code)]
        for own in of.advice
    ]
    return _page(
        f"<h4>Memory of {_code(of.module)}</h4>",
        _verdict(of),
        _table("What is live at the peak", ["buffer", "kind", "takes", "made", "last read", "source"], live),
        _table("What lowers the peak of the main memory", ["change", "saves", "peak then", "costs", "JAX"], advice),
        _table("The peak by source line", ["line", "buffers", "takes", "data"], lines),
        _table("Memories", ["memory", "arguments", "outputs", "constants", "temporaries", "peak", "at", "padding"], memories),
        _table(
            "Most padding: data full, padding hollow",
            ["tensor", "kind", "data and padding", "takes", "data", "lanes", "source"],
            worst,
        ),
        _table(
            "Moves to another layout, and copies",
            ["name", "opcode", "bytes", "from", "to", "made by", "for"],
            moved,
        ),
    )


def _verdict(of: Report) -> str:
    """Whether the peak of the main memory fits, and where it is."""
    peak, place = of.peak, of.peak.source or of.peak.op_name
    where = f" at {_code(of.peak.instruction)}" + (f", {escape(place)}" if place else "")
    if peak.capacity is None:
        return f"<p>The peak is {_size(peak.bytes)}{where}.</p>"
    fits = "It fits" if peak.bytes <= peak.capacity else "It does not fit"
    return f"<p><strong>{fits}:</strong> the peak is {_size(peak.bytes)} of {_size(peak.capacity)}{where}.</p>"


def comparison(of: Comparison) -> str:
    parts = {
        "arguments": [own.arguments.padded for own in (of.before, of.after)],
        "outputs": [own.outputs.padded for own in (of.before, of.after)],
        "temporaries": [own.temporaries for own in (of.before, of.after)],
        "peak": [own.peak.bytes for own in (of.before, of.after)],
    }
    rows: list[list[_Cell]] = [
        [name, _size(before), _size(after), _size(after - before)] for name, (before, after) in parts.items()
    ]
    return _page(_table("The main memory", ["", "before", "after", "change"], rows))


def plan(of: Plan) -> str:
    costs = {"cost": of.cost, "no plan costs less than": of.bound, "the layouts of the text cost": of.given}
    total: list[list[_Cell]] = [[name, cost] for name, cost in costs.items() if cost is not None]
    memories: list[list[_Cell]] = [
        [memory.name, _size(memory.bytes), _size(memory.padding), _size(memory.padding_saved), _size(memory.peak), _code(memory.at)]
        for memory in of.memories
    ]
    moved: list[list[_Cell]] = [
        [
            _code(move.at),
            _code(move.before),
            _code(move.after),
            _size(move.bytes),
            move.cost,
            _Number(f"{move.without:,}") if move.without is not None else "not decided" if move.undecided else "",
            ", ".join(move.wanted_by),
        ]
        for move in of.relayouts
    ]
    layouts: list[list[_Cell]] = [[_code(name), _code(", ".join(held))] for name, held in of.values.items()]
    return _page(
        _table(f"Plan, in {of.unit}s", ["", of.unit + "s"], total),
        _table("Memories", ["memory", "all values", "padding", "saved", "peak", "at"], memories),
        _table("Relayouts", ["array", "from", "to", "bytes", "cost", "the plan without it", "wanted by"], moved),
        _table("Layouts", ["array", "layouts"], layouts),
    )
