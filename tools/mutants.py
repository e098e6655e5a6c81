#!/usr/bin/env python3
"""Makes mutants of the lowering, and counts which of them --layout-verify finds.

mutants.py make              puts all mutants into the sources, each switched by LAYOUT_MUTANT=number, and lists them in
                             target/mutants.tsv. Build layout-opt then, keep the tool, and `git checkout passes`.
mutants.py run TOOL [STEP]   runs every STEP-th mutant with that tool over PROGRAMS, and prints a table in Markdown.

A mutant turns a condition around, or adds one to a number that is added, subtracted, multiplied or divided by. Where it
changes the lowered text of a program, verification of that program finds an error, proves that it still computes the same,
or says of a function that it is not proved.
"""
import os
import re
import subprocess
import sys

FOLDERS = ["passes/lower_memrefs", "passes/kernel", "passes/vectorize", "passes/buffers"]
PROGRAMS = [
    "passes/lower-memrefs.mlir", "passes/packed.mlir", "passes/vectorize/masks.mlir", "passes/vectorize/reductions.mlir",
    "passes/vectorize/interleaving.mlir", "passes/vectorize/contractions.mlir", "passes/constants.mlir",
    "passes/vectorize/copies.mlir", "run/elementwise.mlir",
]
OPTIONS = ["", "vectorize=avx512"]
LIST = "target/mutants.tsv"
SWITCH = """
/// Whether a mutant runs.
pub(crate) fn mutant(number: u32) -> bool {
    static ON: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    *ON.get_or_init(|| std::env::var("LAYOUT_MUTANT").ok()?.parse().ok()) == Some(number)
}

/// A number, and one more in a mutant.
pub(crate) fn more<T: From<bool> + std::ops::Add<Output = T>>(number: u32, n: T) -> T {
    n + T::from(mutant(number))
}
"""


def make():
    mutants = []
    for folder in FOLDERS:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            lines = open(path).read().split("\n")
            for at, line in enumerate(lines):
                if "#[cfg(test)]" in line:
                    break
                if line.lstrip().startswith(("//", "const", "static", "#", "assert")):
                    continue
                condition = re.fullmatch(r"(\s*(?:\} else )?)if ((?!let)[^{}]*) \{", line)
                if condition and " let " not in line:
                    mutants.append((path, at + 1, "condition", line.strip()))
                    lines[at] = f"{condition[1]}if ({condition[2]}) ^ crate::mutant({len(mutants)}) {{"
                    continue
                number = re.search(r"(?<=[\w)\]] [-+*/] )(\d+)\b(?![.\w])", line)
                if number and '"' not in line and "=>" not in line:
                    mutants.append((path, at + 1, "number", line.strip()))
                    lines[at] = f"{line[:number.start()]}crate::more({len(mutants)}, {number[0]}){line[number.end():]}"
            open(path, "w").write("\n".join(lines))
    with open("passes/lib.rs", "a") as face:
        face.write(SWITCH)
    with open(LIST, "w") as table:
        for number, (path, line, kind, text) in enumerate(mutants, 1):
            table.write(f"{number}\t{path}\t{line}\t{kind}\t{text}\n")
    print(f"{len(mutants)} mutants")


def lower(tool, mutant, program, option, pipeline):
    env = dict(os.environ, LAYOUT_MUTANT=str(mutant))
    command = [tool, "test/" + program, "--split-input-file", f"--layout-lower-memrefs={option}"]
    if pipeline:
        command[-1] = f"--pass-pipeline=builtin.module(layout-verify{{passes={{layout-lower-memrefs{{{option}}}}} steps=100000000}})"
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return None, "timeout"
    return done.stdout, done.stderr


def run(tool, step):
    programs = [(program, option) for program in PROGRAMS for option in OPTIONS]
    before = {each: lower(tool, 0, *each, False) for each in programs}
    rows, counts = [], {}
    for entry in open(LIST).read().splitlines()[::step]:
        number, path, line, kind, text = entry.split("\t")
        changed, result = [], "no output changed"
        for each in programs:
            output, errors = lower(tool, number, *each, False)
            if output is None or "error:" in errors and "error:" not in before[each][1]:
                result = "lowering fails"
                break
            if output != before[each][0]:
                changed.append(each)
        else:
            if changed:
                result = "proved to compute the same"
            for each in changed:
                _, errors = lower(tool, number, *each, True)
                if re.search(r"error: after", errors):
                    result = "caught"
                    break
                if re.search(r"remark: (after|@).*not proved", errors):
                    result = "not proved"
        counts[result] = counts.get(result, 0) + 1
        where = f"{len(changed)} of {len(programs)}"
        text = text.replace("|", "\\|")
        rows.append(f"| {number} | {path}:{line} | {kind} | `{text}` | {where} | {result} |")
        print(rows[-1], file=sys.stderr, flush=True)
    print("| result | mutants |\n|---|---|")
    for result, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        print(f"| {result} | {count} |")
    print("\n| mutant | place | kind | line | programs whose text changes | result |\n|---|---|---|---|---|---|")
    print("\n".join(rows))


if sys.argv[1:2] == ["make"]:
    make()
elif sys.argv[1:2] == ["run"] and len(sys.argv) > 2:
    run(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
else:
    sys.exit(__doc__)
