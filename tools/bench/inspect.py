"""The answers of `layout-inspect`."""

import json
import pathlib
from dataclasses import dataclass
from typing import Any

from bench.run import TOOLS, Argument, run

INSPECT = TOOLS / "layout-inspect"


@dataclass(frozen=True)
class Answer:
    """What `--json` prints, and seconds of the processor and of the clock."""

    json: dict[str, Any]
    seconds: float
    clock: float


def inspect(command: str, source: str | pathlib.Path, *options: Argument) -> Answer:
    """The answer of a command about a file, or about a text."""
    file, text = (source, "") if isinstance(source, pathlib.Path) else ("-", source)
    done = run([INSPECT, command, file, "--json", *options], text, most=None)
    return Answer(json.loads(done.out), done.seconds, done.clock)


def plan(source: str | pathlib.Path, machine: str, *options: Argument) -> Answer:
    """The plan of a program for a machine."""
    return inspect("plan", source, "--machine", machine, *options)


def gap(answer: dict[str, Any]) -> float:
    """How far the cost of a plan is above the bound, in percent of the bound."""
    cost, bound = answer["cost"], answer["bound"]
    return float(100 * (cost - bound) / max(1, bound))
