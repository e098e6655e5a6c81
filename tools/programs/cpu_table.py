"""Writes benches/cpu.md: whole programs with planned layouts beside the same with row-major ones.

Called by bench-programs.sh: cpu_table.py [--write FILE] FOLDER... [PART...]. Each `NAME.hlo` or `NAME.unopt.hlo` of the folders,
or those whose names contain a PART, is compiled three times by laid_out.py, and the three are called in turns.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

import numpy as np
from laid_out import FLAGS, OPTIONS, PLANNED, TOOLS, Failed, Program, compiled

TURNS = 15
# How long one program runs in a turn, in seconds.
SECONDS = 0.03
# How far results may be from each other, as a part of the largest: sums are in another order.
NEAR = 1e-3

HEAD = """# Programs in planned layouts on a CPU

Made by `make bench-programs`. Each program is compiled with all arrays row-major, `--layout-to-llvm`, and with layouts that
the pass `layout-plan` chooses for the machine `cpu`, `--layout-to-llvm="plan machine=cpu"`: once with arguments and results
row-major (`fixed`), and once with those in the layouts that `layout-inspect plan --machine cpu --entry free` gives them
(`free`; the caller has them so). The three run in turns on one core; ms are of the processor, the least of {turns} turns, and
÷ is the median of the turns' ratios to row-major. `same`: the code is that of row-major, byte by byte. All three give the
same results but for rounding.

- Options beside the plan's: `{options}`; `clang {flags}`

| program | row-major ms | fixed ms | ÷ | free ms | ÷ | arguments and results that change |
| --- | --: | --: | --: | --: | --: | --: |"""


def entry(text):
    """The layouts of arguments and results of the plan in which these are free."""
    command = [TOOLS / "layout-inspect", "plan", "-", "--machine", "cpu", "--entry", "free", "--json"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(done.stderr.strip().splitlines()[0])
    return json.loads(done.stdout)["entry"]


def apart(expected, found):
    """How far results are from each other, as a part of the largest."""
    most = 0.0
    for a, b in zip(expected, found):
        a, b = a.astype(np.float64), b.astype(np.float64)
        if (np.isnan(a) != np.isnan(b)).any():
            return np.inf
        scale = np.abs(a[np.isfinite(a)]).max(initial=1e-30)
        off = np.abs(a - b)
        most = max(most, off[np.isfinite(off)].max(initial=0) / scale)
    return most


def measured(text):
    """The cells of a program's line after its name."""
    plain = Program(text)
    layouts = entry(plain.text)
    free = Program(text, layouts)
    changed = [str(a) != str(b) for a, b in zip(plain.arguments + plain.results, free.arguments + free.results)]
    with compiled(plain) as row_major, compiled(plain, PLANNED) as fixed, compiled(free, PLANNED) as best:
        libraries = [row_major, fixed, best]
        expected = row_major.results()
        for name, library in (("fixed", fixed), ("free", best)):
            off = apart(expected, library.results())
            if off > NEAR:
                raise Failed(f"results of `{name}` are {off:.1e} of the largest apart")
        turns = [[library.seconds(SECONDS) for library in libraries] for _ in range(TURNS)]
    cells = [f"{1e3 * min(turn[0] for turn in turns):.3f}"]
    for k, library in ((1, fixed), (2, best)):
        same = library.code == row_major.code
        ratio = statistics.median(turn[k] / turn[0] for turn in turns)
        cells += [f"{1e3 * min(turn[k] for turn in turns):.3f}", "same" if same else f"{ratio:.2f}"]
    return [*cells, f"{sum(changed)} of {len(changed)}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--part", action="append", default=[])
    options = parser.parse_args()
    files = [file for folder in options.folders for file in sorted(folder.glob("*.unopt.hlo")) or sorted(folder.glob("*.hlo"))]
    lines = [HEAD.format(turns=TURNS, options=OPTIONS, flags=" ".join(FLAGS))]
    for file in files:
        name = file.name.split(".")[0]
        if options.part and not any(part in name for part in options.part):
            continue
        try:
            cells = measured(file.read_text())
        except Failed as error:
            cells = [f"not measured: {error}", "", "", "", "", ""]
        lines.append("| " + " | ".join([name, *cells]) + " |")
        print(lines[-1], flush=True)
    if options.write:
        options.write.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
