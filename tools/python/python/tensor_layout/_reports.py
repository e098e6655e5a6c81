"""Reports on programs, and plans of layouts for them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from . import _html, _native
from ._programs import Source, source_of
from ._errors import LayoutError


@dataclass(frozen=True)
class Bytes:
    """The bytes of the elements, and those that memory is taken for."""

    logical: int
    padded: int


@dataclass(frozen=True)
class LiveTensor:
    """A buffer that is live at the peak: where in its computation it is made and last read, and which instruction reads it then."""

    name: str
    computation: str
    opcode: str
    shape: str
    kind: str
    logical_bytes: int
    padded_bytes: int
    made: int
    last_read: int
    reader: str
    source: str | None = None
    op_name: str | None = None


@dataclass(frozen=True)
class Share:
    """What is live at the peak and comes from one line or one name scope."""

    name: str
    buffers: int
    logical: int
    padded: int


@dataclass(frozen=True)
class Buffers:
    """The largest buffers, and the number and the bytes of the others."""

    entries: tuple[LiveTensor, ...]
    others: int
    other_bytes: int


@dataclass(frozen=True)
class Shares:
    """The places with most bytes, and the number and the bytes of the others."""

    entries: tuple[Share, ...]
    others: int
    other_bytes: int


@dataclass(frozen=True)
class Peak:
    """When most bytes are live: at which instruction of the entry, inside which others, and what is live then.

    ``buffers``, ``lines`` and ``scopes`` have the same bytes, all of the peak. ``capacity`` is what the machine has.
    """

    bytes: int
    instruction: str
    position: int
    buffers: Buffers
    lines: Shares
    scopes: Shares
    capacity: int | None = None
    inside: tuple[str, ...] = ()
    source: str | None = None
    op_name: str | None = None


@dataclass(frozen=True)
class Advice:
    """A change that lowers the peak by ``saves`` bytes to ``peak``, and the JAX code that does it.

    ``kind`` is ``donate``, ``layout``, ``order``, ``type`` or ``recompute``; ``cost`` what a run costs more, in ``unit``.
    """

    kind: str
    change: str
    code: str
    saves: int
    peak: int
    unit: str
    tensors: tuple[str, ...]
    cost: int | None = None
    source: str | None = None
    op_name: str | None = None


@dataclass(frozen=True)
class Replicated:
    """An argument that every device has whole: its bytes, those of a part on each device, and the JAX code that cuts it."""

    name: str
    devices: int
    bytes: int
    part: int
    code: str


@dataclass(frozen=True)
class Memory:
    """One memory: its number and its name, what is in it, and what is live at its peak."""

    space: int
    name: str
    arguments: Bytes
    outputs: Bytes
    constants: Bytes
    temporaries: int
    peak: Peak
    padding: Bytes


@dataclass(frozen=True)
class Tensor:
    """A tensor; ``lanes`` and ``sublanes`` are the sizes of its minor dimensions, and in whole tiles."""

    name: str
    computation: str
    shape: str
    kind: str
    space: int
    logical_bytes: int
    padded_bytes: int
    lanes: tuple[int, int] | None = None
    sublanes: tuple[int, int] | None = None
    source: str | None = None
    op_name: str | None = None


@dataclass(frozen=True)
class Move:
    """An instruction that only moves bytes, and who wants which layout."""

    name: str
    computation: str
    opcode: str
    before: str
    after: str
    bytes: int
    producer: str
    users: tuple[str, ...]
    source: str | None = None
    op_name: str | None = None


@dataclass(frozen=True)
class Transfers:
    """Moves between memories in the same layout together."""

    count: int
    bytes: int


@dataclass(frozen=True)
class Report:
    """The memory that a program takes. ``str()`` is one screen; all numbers are bytes.

    >>> program = "HloModule m\\nENTRY e {\\n  ROOT x = f32[9,3]{1,0:T(8,128)} parameter(0)\\n}"
    >>> found = report(program)
    >>> found.to_dict()["peak"]["bytes"]
    16384
    >>> [tensor.padded_bytes for tensor in found.tensors]
    [8192]
    >>> found.compare(report(program.replace("9", "8"))).peak
    -8192
    """

    module: str
    scheduled: bool
    instructions: int
    arguments: Bytes
    outputs: Bytes
    temporaries: int
    peak: Peak
    padding: Bytes
    spaces: tuple[Memory, ...]
    advice: tuple[Advice, ...]
    worst: tuple[Tensor, ...]
    relayouts: tuple[Move, ...]
    transfers: Transfers
    text: str
    _written: str = field(repr=False, compare=False)
    _source: Source = field(repr=False, compare=False)
    _machine: str = field(repr=False, compare=False)
    replicated: tuple[Replicated, ...] = ()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Report on {self.module}: peak {self.peak.bytes} bytes>"

    def _repr_html_(self) -> str:
        return _html.report(self)

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors of the program, the largest first. ``pandas.DataFrame(report.tensors)`` is a table of them."""
        found = json.loads(_native.memory_tensors(self._source.text, self._machine))
        return tuple(_object(Tensor, entries, {}) for entries in found)

    def to_dict(self) -> dict[str, Any]:
        """The object that ``layout-inspect hlo --summary --json`` prints."""
        return json.loads(self._written)

    def to_html(self, path: str | os.PathLike[str], top: int = 30) -> None:
        """Writes the page of ``layout-inspect hlo --html``, with at most ``top`` entries in each list."""
        Path(path).write_text(_native.memory_page(*self._source, self._machine, top), encoding="utf-8")

    def compare(self, other: Report, top: int = 10) -> Comparison:
        """What changes from this program to another one, with at most ``top`` of its lines."""
        text = _native.memory_difference(self._source.text, other._source.text, self._machine, top)
        return Comparison(before=self, after=other, text=text)


@dataclass(frozen=True)
class Comparison:
    """Two programs. ``str()`` is a line for each part of each memory and each source line that changes."""

    before: Report
    after: Report
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Comparison of {self.before.module} and {self.after.module}: peak {self.peak:+} bytes>"

    def _repr_html_(self) -> str:
        return _html.comparison(self)

    @property
    def peak(self) -> int:
        """By how many bytes the peak of the main memory grows."""
        return self.after.peak.bytes - self.before.peak.bytes


@dataclass(frozen=True)
class Allocation:
    """An allocation that an error lists."""

    name: str
    bytes: int
    shape: str | None = None
    logical_bytes: int | None = None
    source: str | None = None
    op_name: str | None = None


@dataclass(frozen=True)
class Exhausted:
    """What an error RESOURCE_EXHAUSTED says, where there is no program to report on; ``next`` says how to get one."""

    error: str
    allocations: tuple[Allocation, ...]
    next: str
    needed: int | None
    available: int | None
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class PlannedRelayout:
    """A relayout of a plan: of which array, between which layouts, what it costs, and who wants it.

    ``without`` is what the best plan that was found costs that does without it; None where none was found. ``undecided`` says
    that a search has not shown it: there may be a better one.
    """

    at: str
    before: str
    after: str
    bytes: int
    cost: int
    wanted_by: tuple[str, ...]
    without: int | None = None
    undecided: bool = False


@dataclass(frozen=True)
class PlannedMemory:
    """What a plan takes of one memory: the bytes of all that is ever in it, how many of them are padding, how many fewer that
    is than in the machine's default layouts, the most bytes at once, and the instruction that runs then."""

    space: int
    name: str
    bytes: int
    padding: int
    padding_saved: int
    peak: int
    at: str


@dataclass(frozen=True)
class Plan:
    """Layouts for all values of a program, and how far they are from the best: ``cost`` is at most ``cost - bound`` too high.

    ``values`` has the layouts that each array is held in, and ``spaces`` the number of the memory space of those that are made
    in another than 0; ``given`` is what the layouts of the text cost, and ``compared`` the plan that they are, where that was
    asked for. ``ended`` is what has ended the search before the bound met the cost: ``gap``, ``time`` or ``work``; None where
    it did. Costs are in ``unit``, all else in bytes.
    """

    cost: int
    bound: int
    unit: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    relayouts: tuple[PlannedRelayout, ...]
    memories: tuple[PlannedMemory, ...]
    spaces: dict[str, int]
    given: int | None
    compared: Plan | None
    text: str
    ended: str | None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Plan of {len(self.values)} arrays: {self.cost} {self.unit}s>"

    def _repr_html_(self) -> str:
        return _html.plan(self)


# The names of JSON that are words of Python.
_RENAMED = {"from": "before", "to": "after"}
# The classes of the entries that are objects.
_CLASSES: dict[str, type] = {
    "arguments": Bytes,
    "outputs": Bytes,
    "constants": Bytes,
    "padding": Bytes,
    "peak": Peak,
    "buffers": Buffers,
    "lines": Shares,
    "scopes": Shares,
    "advice": Advice,
    "replicated": Replicated,
    "allocations": Allocation,
    "spaces": Memory,
    "worst": Tensor,
    "relayouts": Move,
    "transfers": Transfers,
}
# The entries of a list by the class that it is in.
_ENTRIES: dict[type, dict[str, type]] = {Buffers: {"entries": LiveTensor}, Shares: {"entries": Share}}


def _object(cls: type, entries: dict[str, Any], classes: dict[str, type]) -> Any:
    """An object of the class with these entries of JSON; those that the class does not have are left out."""

    classes = classes | _ENTRIES.get(cls, {})

    def value(key: str, found: Any) -> Any:
        if isinstance(found, list):
            return tuple(value(key, item) for item in found)
        return _object(classes[key], found, classes) if isinstance(found, dict) else found

    known = {field.name for field in fields(cls)}
    named = {_RENAMED.get(key, key): value(key, found) for key, found in entries.items() if key in known or key in _RENAMED}
    return cls(**named)


def report(program: Any, *arguments: Any, machine: Any = "tpu_v5e", top: int = 10, **keywords: Any) -> Report | Exhausted:
    """The memory report of a program, and what lowers its peak.

    The program is HLO text, the path of a file of it or of a dump folder, ``jax.jit(f).lower(x)``, what that compiles to, or a
    function with its arguments, which is compiled. Where that runs out of memory, the report is of the program that did, or,
    as of the text of such an error, an :class:`Exhausted`. ``machine`` is whose layouts and memories are compared, ``top`` how
    many entries the lists have.

    >>> program = "HloModule m, is_scheduled=true\\nENTRY e {\\n  ROOT x = f32[1000,3]{1,0:T(8,128)} parameter(0)\\n}"
    >>> found = report(program)
    >>> found.arguments
    Bytes(logical=12000, padded=512000)
    >>> found.advice[0].code, found.advice[0].saves
    ('jax.jit(f, donate_argnames=("x",))', 512000)
    """
    source = source_of(program, *arguments, **keywords)
    written, text = _native.memory_report(source.text, str(machine), top)
    found = json.loads(written)
    own = {"text": text, "_written": written, "_source": source, "_machine": str(machine)}
    return _object(Exhausted if "error" in found else Report, found | own, _CLASSES)


def plan(
    program: Any,
    machine: Any = "tpu_v5e",
    entry: str = "default",
    seconds: float | None = None,
    capacity: Mapping[str | int, int | str] | Literal["none"] | None = None,
    compare: bool = False,
) -> Plan:
    """Layouts for all values of a program at once.

    ``entry`` says what arguments and results may be laid out in: ``fixed`` as the text says, ``default`` as the machine does,
    ``free`` in any. ``capacity`` has the bytes that a memory holds, as a number or a text such as ``16MiB``, by the name of
    the memory or the number of its space. Other memories have those of the machine; with ``"none"`` all have room for
    anything. After ``seconds`` the search ends with the best plan so far; without, after 10 at
    most, and within a thousandth of its bound. With ``compare``, the plan that the layouts of the text are is there too.

    >>> flip = "HloModule m\\nENTRY e {\\n  x = f32[8,128] parameter(0)\\n  ROOT y = f32[128,8] transpose(x), dimensions={1,0}\\n}"
    >>> found = plan(flip, entry="free", capacity={"vmem": 1 << 20})
    >>> found.cost == found.bound, found.relayouts, found.memories[0].peak
    (True, (), 8192)
    """
    if seconds is not None and not 0 <= seconds < float("inf"):
        raise LayoutError(f"expected a number of seconds from 0, found {seconds}")
    if capacity != "none" and not isinstance(capacity, Mapping | None):
        raise TypeError(f"capacity must be a mapping such as {{'vmem': '16MiB'}}, found {capacity!r}")
    limits = ["none"] if capacity == "none" else [f"{memory}={most}" for memory, most in (capacity or {}).items()]
    written, text = _native.layout_plan(source_of(program).text, str(machine), entry, limits, seconds, compare)
    return _plan(json.loads(written), text)


def _plan(found: dict[str, Any], text: str) -> Plan:
    ends = found["entry"]
    return Plan(
        cost=found["cost"],
        bound=found["bound"],
        unit=found["unit"],
        arguments=tuple(ends["in"]),
        results=tuple(ends["out"]),
        values={name: tuple(layouts) for name, layouts in found["values"].items()},
        relayouts=tuple(_object(PlannedRelayout, entries, {}) for entries in found["relayouts"]),
        memories=tuple(_object(PlannedMemory, entries, {}) for entries in found["memories"]),
        spaces=found["spaces"],
        given=found["given"],
        compared=_plan(found["compare"], "") if found.get("compare") else None,
        text=text,
        ended=found.get("left", {}).get("search"),
    )
