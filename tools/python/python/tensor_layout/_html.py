"""Tables for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Shape, TensorLayout
    from ._reports import Plan, Report


def _bytes(n: int) -> str:
    """A number of bytes with at most four digits."""
    value, unit = float(n), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if abs(value) < 1024:
            break
        value, unit = value / 1024, larger
    return f"{n} B" if unit == "B" else f"{value:.1f} {unit}"


def _part(logical: int, padded: int) -> str:
    return f"{(padded - logical) * 100 / padded:.1f} %" if padded > logical else "0.0 %"


def _table(caption: str, head: list[str], rows: list[list[Any]]) -> str:
    if not rows:
        return ""
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def shape(of: Shape) -> str:
    rows = [
        [str(array), _bytes(array.logical_bytes), _bytes(array.padded_bytes), _part(array.logical_bytes, array.padded_bytes)]
        for array in of.leaves
        if array._is_laid_out
    ]
    return _table("Shape", ["array", "logical", "padded", "padding"], rows) + (of._repr_svg_() or "")


def places(of: TensorLayout) -> str:
    rows = [[str(of), of.sizes, of.padded_sizes, ", ".join(of.axes)]]
    return _table("TensorLayout", ["layout", "sizes", "padded", "axes"], rows) + (of._repr_svg_() or "")


def report(of: Report) -> str:
    memories = [
        [
            memory.name,
            _bytes(memory.arguments.padded),
            _bytes(memory.outputs.padded),
            _bytes(memory.constants.padded),
            _bytes(memory.temporaries),
            f"{_bytes(memory.peak.bytes)} at {memory.peak.instruction}",
            _part(memory.padding.logical, memory.padding.padded),
        ]
        for memory in of.spaces
    ]
    worst = [
        [
            tensor.name,
            tensor.kind,
            tensor.shape,
            _bytes(tensor.logical_bytes),
            _bytes(tensor.padded_bytes),
            f"{_bytes(tensor.best.saves)} less with {tensor.best.layout}" if tensor.best else "",
            tensor.source or tensor.op_name or "",
        ]
        for tensor in of.worst
    ]
    moved = [
        [move.name, move.opcode, move.before, move.after, _bytes(move.bytes), move.producer, ", ".join(move.users), move.remedy]
        for move in of.relayouts
    ]
    lines = [[origin.name, _bytes(origin.live), _bytes(origin.waste)] for origin in of.sources if origin.name != "unknown"]
    return (
        f"<h4>{escape(of.module)}</h4>"
        + _table("Memories", ["", "arguments", "outputs", "constants", "temporaries", "peak", "padding"], memories)
        + _table("Most padding", ["tensor", "kind", "shape", "logical", "padded", "better", "from"], worst)
        + _table("Relayouts", ["name", "opcode", "from", "to", "bytes", "made by", "for", "what would make it free"], moved)
        + _table("By source line", ["line", "at the peak", "padding"], lines)
    )


def plan(of: Plan) -> str:
    moved = [[move.at, move.before, move.after, _bytes(move.bytes), move.cost, ", ".join(move.wanted_by)] for move in of.relayouts]
    total = [["cost", of.cost], ["bound", of.bound]] + ([] if of.given is None else [["as given", of.given]])
    return (
        _table(f"Plan, in {of.unit}s", ["", of.unit + "s"], total)
        + _table("Relayouts", ["array", "from", "to", "bytes", "cost", "wanted by"], moved)
        + _table("Layouts", ["array", "layouts"], [[name, ", ".join(layouts)] for name, layouts in of.values.items()])
    )
