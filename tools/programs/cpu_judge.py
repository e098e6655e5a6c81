"""A judge of plans for `cpu` that is a run: `layout-inspect plan FILE --machine cpu --judge "python3 cpu_judge.py FILE"`.

For each line `{"entry":{"in":[..],"out":[..]},"values":{..}}` it compiles the program with these layouts, runs it, and answers
`{"cost":n}`, the picoseconds of the processor that a call takes: of several measurements the fastest. What cannot be
compiled or run is `{"error":".."}`. The pass `layout-plan` converts where the layouts meet, and may choose others for values
that are row-major in the plan; with `--entry` it chooses those of all values, and the plan says those of the entry alone.

JUDGE_SECONDS in the environment is how long it measures, 0.5 if not given; the rest is that of laid_out.py.
"""

import argparse
import json
import os
import pathlib
import sys

from laid_out import PLANNED, Failed, Program, compiled

SECONDS = float(os.environ.get("JUDGE_SECONDS", 0.5))
RUNS = 8


def judged(text, plan, entry):
    """The picoseconds of a call of a program with the layouts of a plan."""
    program = Program(text, plan["entry"], None if entry else plan.get("values"))
    with compiled(program, PLANNED) as library:
        return round(1e12 * min(library.seconds(SECONDS / RUNS) for _ in range(RUNS)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entry", action="store_true")
    parser.add_argument("file", type=pathlib.Path)
    options = parser.parse_args()
    text = options.file.read_text()
    for line in sys.stdin:
        try:
            answer = {"cost": judged(text, json.loads(line), options.entry)}
        except Failed as error:
            answer = {"error": str(error)}
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            answer = {"error": f"the line is no plan: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
