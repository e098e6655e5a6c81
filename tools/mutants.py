#!/usr/bin/env python3
"""Makes mutants of the lowering, and counts which of them --layout-verify finds.

mutants.py make [FOLDER]   copies this checkout to FOLDER (target/mutants/tree), puts all mutants into its sources, each
                           switched by LAYOUT_MUTANT=number, builds layout-opt of it, and lists them in FOLDER/mutants.tsv.
mutants.py try [FOLDER]    runs all mutants over test/mutants, and writes what became of each to FOLDER/results.tsv. Mutants
                           that are in it are not run again.
mutants.py table [FOLDER]  prints the table in Markdown.
mutants.py run [FOLDER]    does all of it, and writes benches/mutants.md.

Mutants by hand are in tools/mutants.txt. The others turn a condition around, add one to a number that is added,
subtracted, multiplied or divided by, take < for <= and <= for <, swap two operands, or leave a statement out.

LAYOUT_PROGRAMS and LAYOUT_MUTANTS name some of the programs and mutants, LAYOUT_THREADS says how many run at once, and
LAYOUT_MUTANTS_EVERY lets all programs run, and not only until one is caught. LAYOUT_MUTATED and LAYOUT_OPT are other tools.

Where a mutant changes the lowered text of a program, verification finds an error, proves that the program still computes the
same, or says of a function that it is not proved. Where there is no error, the program and the one of the tool without
mutants run on the same random numbers: build layout-opt of this checkout before, `cargo build --release -p layout-opt`.
"""
import ast
import collections
import concurrent.futures
import glob
import os
import re
import random
import subprocess
import sys

import mutants_numbers

PLACES = ["passes/lower/lower_memrefs", "passes/kernel", "passes/vectorize", "passes/buffers", "passes/lower/plan_memory",
          "passes/bufferize/padding.rs", "passes/buffers/async_copies.rs", "passes/bufferize/branches.rs"]
OPTIONS = ["", "vectorize=avx512", "vectorize=avx2 form=physical reassociate contract",
           "vectorize=avx2 padding=typed reassociate", "vectorize=avx2 parallel=parallel", "vectorize=neon row-block-bytes=512"]
# After lowering, in one more run: with the first options alone.
MEMORY = "layout-plan-memory{buffers=0}"
OPERAND = r"[\w.\[\]*&]+(?:\([\w.*&]*\))?"
SWITCH = """
/// Whether a mutant runs. Notes that there is one here, in the file that LAYOUT_MUTANTS_REACHED names.
pub(crate) fn mutant(number: u32) -> bool {
    use std::{io::Write, sync::{Mutex, OnceLock}};
    static ON: OnceLock<Option<u32>> = OnceLock::new();
    static REACHED: OnceLock<Option<Mutex<(std::fs::File, std::collections::HashSet<u32>)>>> = OnceLock::new();
    let reached = REACHED.get_or_init(|| {
        let file = std::fs::File::create(std::env::var_os("LAYOUT_MUTANTS_REACHED")?).ok()?;
        Some(Mutex::new((file, Default::default())))
    });
    if let Some(Ok(mut reached)) = reached.as_ref().map(Mutex::lock) {
        if reached.1.insert(number) {
            writeln!(reached.0, "{number}").unwrap();
        }
    }
    *ON.get_or_init(|| std::env::var("LAYOUT_MUTANT").ok()?.parse().ok()) == Some(number)
}

/// A number, and one more in a mutant.
pub(crate) fn more<T: From<bool> + std::ops::Add<Output = T>>(number: u32, n: T) -> T {
    n + T::from(mutant(number))
}
"""

HAND = "by hand: "
# A mutant is tried in at most so many of the programs, each with one set of options, that reach it.
MOST = 8
# Of those whose text changes and in which no error is found, so many run, and all of those that are not proved.
NUMBERS = 2
THREADS = int(os.environ.get("LAYOUT_THREADS", os.cpu_count()))
# Whether programs are tried after one in which verification finds an error.
EVERY = "LAYOUT_MUTANTS_EVERY" in os.environ
Mutant = collections.namedtuple("Mutant", "path line kind text start end make")


def by_hand(sources):
    """The mutants of tools/mutants.txt."""
    path, found = None, []
    for line in open("tools/mutants.txt").read().splitlines():
        header = re.fullmatch(r"\[(.*)\]", line)
        if header:
            path = header[1]
        elif line and not line.startswith("#"):
            fault, change = line.split(" | ", 1)
            before, after = change.split(" ~> ")
            at = sources[path].find(before)
            if sources[path].count(before) != 1:
                sys.exit(f"tools/mutants.txt: {path} has {sources[path].count(before)} times `{before}`, expected once")
            make = ((lambda n, text, after=after: after.replace("MUTANT", f"crate::mutant({n})")) if "MUTANT" in after else
                    (lambda n, text, after=after: f"(if crate::mutant({n}) {{ {after} }} else {{ {text} }})"))
            number = sources[path].count("\n", 0, at) + 1
            found.append(Mutant(path, number, HAND + fault, before, at, at + len(before), make))
    return found


def by_rule(path, source):
    """The mutants of a file that rules make."""
    found, start = [], 0
    for at, line in enumerate(source.split("\n")):
        begin, start = start, start + len(line) + 1
        if "#[cfg(test)]" in line:
            break
        if line.lstrip().startswith(("//", "const", "static", "#", "assert", "debug_assert", "pub const", "use ")):
            continue

        def add(kind, match, make):
            found.append(Mutant(path, at + 1, kind, line.strip(), begin + match.start(1), begin + match.end(1), make))

        condition = re.fullmatch(r"\s*(?:\} else )?if ((?!let)[^{}]*) \{", line)
        if condition and " let " not in line:
            add("condition", condition, lambda n, text: f"({text}) ^ crate::mutant({n})")
        number = re.search(r"(?<=[\w)\]] [-+*/] )(\d+)\b(?![.\w])", line)
        if number and '"' not in line and "=>" not in line and not condition:
            add("number", number, lambda n, text: f"crate::more({n}, {text})")
        compared = re.search(rf"(?:[(!|=]|&&|\|\||\bif) ?({OPERAND} (<|<=|>|>=) {OPERAND})(?=[);,]| &&| \|\||$)", line)
        if compared and not condition:
            other = compared[2][0] if "=" in compared[2] else compared[2] + "="
            add("comparison", compared, lambda n, text, it=compared[2], other=other:
                f"(if crate::mutant({n}) {{ {text.replace(f' {it} ', f' {other} ')} }} else {{ {text} }})")
        swapped = re.search(r"(?<=&)(\[([\w.*]+), ([\w.*]+)\])", line)
        if swapped:
            add("operands", swapped, lambda n, text, x=swapped[2], y=swapped[3]:
                f"(if crate::mutant({n}) {{ [{y}, {x}] }} else {{ {text} }})")
        statement = re.fullmatch(r"\s*((?:[\w.]+(?:\[[\w.]+\])?\.(?:push|insert|extend|retain|sort\w*|dedup|truncate|"
                                 r"note\w*|set_\w+|op|store|splice|append)\(.*\)|[\w.\[\]*]+ [-+*|]?= [^=].*);)", line)
        if statement and "let " not in line and "::emit" not in line and "pub " not in line:
            add("statement", statement, lambda n, text: f"if !crate::mutant({n}) {{ {text} }}")
    return found


def candidates():
    """All mutants, and the sources."""
    paths = [path for place in PLACES for path in
             ([place] if place.endswith(".rs") else sorted(glob.glob(f"{place}/*.rs", root_dir=".")))]
    hand_paths = re.findall(r"^\[(.*)\]$", open("tools/mutants.txt").read(), re.M)
    sources = {path: open(path).read() for path in dict.fromkeys(paths + hand_paths)}
    found = by_hand(sources)
    taken = collections.defaultdict(list)
    for m in found:
        taken[m.path].append((m.start, m.end))
    for path in paths:
        for m in by_rule(path, sources[path]):
            if all(m.end <= start or end <= m.start for start, end in taken[path]):
                taken[path].append((m.start, m.end))
                found.append(m)
    return found, sources


def put(mutants, sources, root):
    """Writes the sources with these mutants, numbered from 1."""
    for path, source in sources.items():
        own = [(n, m) for n, m in enumerate(mutants, 1) if m.path == path]
        rules = [pair for pair in own if not pair[1].kind.startswith(HAND)]
        for n, m in sorted(rules, key=lambda pair: -pair[1].start):
            source = source[:m.start] + m.make(n, source[m.start:m.end]) + source[m.end:]
        # Those by hand may be at one place. The longest is put first, and the others into what it has of the original, its end.
        for n, m in sorted((pair for pair in own if pair not in rules), key=lambda pair: -len(pair[1].text)):
            at = source.rfind(m.text)
            if at < 0:
                sys.exit(f"tools/mutants.txt: two faults of {path} overlap: `{m.text}`")
            source = source[:at] + m.make(n, m.text) + source[at + len(m.text):]
        with open(os.path.join(root, path), "w") as file:
            file.write(source)
    face = open("passes/lib.rs").read() + SWITCH
    with open(os.path.join(root, "passes/lib.rs"), "w") as file:
        file.write(face)


def build(root):
    """Builds layout-opt of the copy. What has mutants is not optimised: it is built many times and runs for a moment."""
    command = ["cargo", "build", "--release", "-p", "layout-opt", "--bin", "layout-opt", "--message-format=short",
               "--config=profile.release.package.layout-passes.opt-level=0"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True)


def make(root):
    """Makes the copy with mutants, without those that do not compile, and builds it."""
    os.makedirs(root, exist_ok=True)
    files = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True).stdout
    subprocess.run(["xargs", "-0", "cp", "-up", "--parents", "-t", os.path.abspath(root)], input=files, check=True)
    mutants, sources = candidates()
    while True:
        put(mutants, sources, root)
        built = build(root)
        wrong = set(re.findall(r"^(passes/[\w/]+\.rs):(\d+):\d+: error", built.stderr, re.M))
        left = [m for m in mutants if (m.path, str(m.line)) not in wrong]
        for m in mutants:
            if m not in left and m.kind.startswith(HAND):
                print(f"{m.path}:{m.line}: does not compile: {m.kind}", file=sys.stderr)
        print(f"{len(mutants)} mutants, {len(mutants) - len(left)} that do not compile", file=sys.stderr, flush=True)
        if built.returncode == 0:
            break
        if len(left) == len(mutants):
            sys.exit(built.stderr)
        mutants = left
    with open(f"{root}/mutants.tsv", "w") as table:
        for n, m in enumerate(mutants, 1):
            table.write(f"{n}\t{m.path}\t{m.line}\t{m.kind}\t{m.text}\n")


def verified(tool, program, option, mutant, reached=None):
    """The lowered program and the messages of verification; no program where there is an error. MEMORY stands for an option."""
    passes = "layout-to-memref{%s}" % option if option != MEMORY else "layout-to-memref{form=strided}," + MEMORY
    environment = dict(os.environ, LAYOUT_MUTANT=str(mutant))
    if reached:
        environment["LAYOUT_MUTANTS_REACHED"] = reached
    command = [tool, program, f"--pass-pipeline=builtin.module(layout-verify{{steps=1048576 passes={{{passes}}}}})"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return None, "timeout"
    return done.stdout if done.returncode == 0 else None, done.stderr


def remarks(messages):
    """The functions of which verification says that they are not proved."""
    return set(re.findall(r"remark: (?:after [^@]*: )?@(\w+): not proved", messages))


def changed(text, lowered):
    """The functions whose text differs."""
    parts = [dict(re.findall(r"func\.func (?:private )?@(\w+)(.*?)(?=\n  func\.func |\Z)", t, re.S)) for t in (text, lowered)]
    return {name for name in parts[0] if parts[0][name] != parts[1].get(name)}


# What becomes of a mutant, in the order in which its programs decide.
ACCEPTED = "proved, but numbers change"
OPEN = "not proved, and numbers change"
SAME = "proved to compute the same"
RESULTS = [ACCEPTED, "caught", OPEN, "lowering fails", "not proved, and numbers are the same", SAME,
           "no output changed", "not reached"]


def outcome(tool, base, program, option, mutant, before, proved):
    """What becomes of one program in a mutant."""
    (text, _), numbers = before
    lowered, messages = verified(tool, program, option, mutant)
    if "error: after" in messages:
        return "caught"
    if lowered is None:
        return "lowering fails"
    if lowered == text:
        return "no output changed"
    source, options = open(program).read(), "" if option == MEMORY else option
    left = remarks(messages)
    open_ones = left & changed(text, lowered)
    if not open_ones and proved >= NUMBERS:
        return SAME
    try:
        made = mutants_numbers.run(tool, base, source, options, mutant)
    except mutants_numbers.LoweringFails:
        return "lowering fails"
    differ = mutants_numbers.differ(base, source, options, numbers, made)
    # What stops with an error may have been stopped by any function.
    if differ - left and not (made is None and left):
        return ACCEPTED
    return OPEN if differ else "not proved, and numbers are the same" if open_ones else SAME


def attempt(root):
    """Runs the mutants of which there is no result yet."""
    tool = os.environ.get("LAYOUT_MUTATED", f"{root}/target/release/layout-opt")
    base = os.environ.get("LAYOUT_OPT", "target/release/layout-opt")
    programs = sorted(glob.glob(f"test/mutants/Inputs/{os.environ.get('LAYOUT_PROGRAMS', '*')}.mlir"))
    pairs = [(program, option) for option in OPTIONS + [MEMORY] for program in programs]
    before, reached = {}, collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        def first(pair):
            program, option = pair
            notes = f"{root}/reached-{os.path.basename(program)}-{(OPTIONS + [MEMORY]).index(option)}"
            found, source = verified(tool, program, option, 0, notes), open(program).read()
            options = "" if option == MEMORY else option
            return pair, found, mutants_numbers.run(tool, base, source, options, 0), open(notes).read().split()
        for pair, found, numbers, notes in pool.map(first, pairs):
            if found[0] is None or numbers is None:
                sys.exit(f"{pair}: without mutants it fails: {found[1]}")
            before[pair] = found, numbers
            for mutant in notes:
                reached[mutant].append(pair)
        path = f"{root}/results.tsv"
        done = {line.split("\t")[0] for line in open(path)} if os.path.exists(path) else set()
        results = open(path, "a")

        def one(entry):
            number = entry.split("\t")[0]
            counts = collections.Counter()
            chosen = list(reached.get(number, []))
            random.Random(number).shuffle(chosen)
            for pair in chosen if EVERY else chosen[:MOST]:
                counts[outcome(tool, base, *pair, number, before[pair], counts[SAME])] += 1
                # Others show no more.
                if counts["caught"] and not EVERY:
                    break
            return number, counts
        wanted = os.environ.get("LAYOUT_MUTANTS", "").split()
        entries = [e for e in open(f"{root}/mutants.tsv").read().splitlines() if e.split("\t")[0] not in done]
        entries = [e for e in entries if not wanted or e.split("\t")[0] in wanted]
        random.Random(1).shuffle(entries)
        entries.sort(key=lambda entry: (entry.split("\t")[0] in reached, HAND not in entry))
        for number, counts in pool.map(one, entries):
            results.write(f"{number}\t{dict(counts)}\n")
            results.flush()


def table(root):
    """The table in Markdown."""
    all_counts = collections.defaultdict(collections.Counter)
    for line in open(f"{root}/results.tsv"):
        number, counts = line.rstrip("\n").split("\t")
        all_counts[number].update(ast.literal_eval(counts))
    results = {number: next((result for result in RESULTS if counts[result]), "not reached")
               for number, counts in all_counts.items()}
    entries = [line.split("\t") for line in open(f"{root}/mutants.tsv").read().splitlines()]
    entries = [entry for entry in entries if entry[0] in results]
    lines = ["| result | by hand | by rules |", "|---|---|---|"]
    for result in RESULTS:
        kinds = [e[3].startswith(HAND) for e in entries if results[e[0]] == result]
        lines.append(f"| {result} | {sum(kinds)} | {len(kinds) - sum(kinds)} |")
    lines.append(f"| all | {sum(e[3].startswith(HAND) for e in entries)} | {sum(not e[3].startswith(HAND) for e in entries)} |")
    silent = ("no output changed", "not reached")
    lines += ["", "| file | no output changed | not reached |", "|---|---|---|"]
    for path in dict.fromkeys(e[1] for e in entries):
        counts = collections.Counter(results[e[0]] for e in entries if e[1] == path)
        if any(counts[result] for result in silent):
            lines.append(f"| {path} | {counts[silent[0]]} | {counts[silent[1]]} |")
    lines += ["", "| mutant | place | kind | text | result |", "|---|---|---|---|---|"]
    for number, path, line, kind, text in entries:
        if results[number] not in silent:
            text = text.replace("|", "\\|")
            lines.append(f"| {number} | {path}:{line} | {kind} | `{text}` | {results[number]} |")
    return "\n".join(lines)


if __name__ == "__main__":
    what, root = sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2] if len(sys.argv) > 2 else "target/mutants/tree"
    if what in ("make", "run"):
        make(root)
    if what in ("try", "run"):
        attempt(root)
    if what == "table":
        print(table(root))
    elif what == "run":
        text = open("benches/mutants.md").read()
        with open("benches/mutants.md", "w") as file:
            file.write(text[:text.index("| result |")] + table(root) + "\n")
    elif what not in ("make", "try"):
        sys.exit(__doc__)
