"""A judge of plans for `cpu` that is a run.

    layout-inspect plan FILE --machine cpu --judge "tools/bench.sh cpu-judge FILE"

For each line `{"entry":{"in":[..],"out":[..]},"values":{..}}` it compiles the program with these layouts, runs it, and answers
`{"cost":n}`, the picoseconds of the processor that a call takes: of several measurements the fastest. What cannot be
compiled or run is `{"error":".."}`, and so is the question `auto`: the layouts of arguments and results are the caller's. As
for other judges, the plan says the layouts of arguments and results, and the compiler those inside: the pass `layout-plan`.
With `--values` the plan's are taken for all values that are not row-major in it; the pass then converts where these meet.

JUDGE_SECONDS in the environment is how long it measures, 0.5 if not given.
"""

import argparse
import json
import os
import pathlib
import sys
from typing import Any

from bench.laid_out import PLANNED, LaidOut, timed
from bench.run import Failed

SECONDS = float(os.environ.get("JUDGE_SECONDS", 0.5))
RUNS = 8


def judged(text: str, plan: dict[str, Any], values: bool) -> int:
    """The picoseconds of a call of a program with the layouts of a plan."""
    program = LaidOut(text, plan["entry"], plan.get("values") if values else None)
    with timed(program, PLANNED) as library:
        return round(1e12 * min(library.seconds(SECONDS / RUNS) for _ in range(RUNS)))


def answered(text: str, question: dict[str, Any], values: bool) -> int:
    """The cost that answers a question; the default layouts are the machine's, which the line has."""
    if question.get("question") == "auto":
        raise Failed("this compiler chooses no layouts of arguments and results")
    return judged(text, question, values or question.get("question") == "inner")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--values", action="store_true", help="takes the layouts of all values from the plan")
    parser.add_argument("file", metavar="FILE", type=pathlib.Path)


def main(options: argparse.Namespace) -> None:
    text = options.file.read_text()
    for line in sys.stdin:
        answer: dict[str, object]
        try:
            answer = {"cost": answered(text, json.loads(line), options.values)}
        except Failed as error:
            answer = {"error": str(error)}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            answer = {"error": f"the line is no question: {error}"}
        print(json.dumps(answer), flush=True)
