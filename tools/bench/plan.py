"""How long plans take, how far they are from the best, and how a judge prices them.

A folder has NAME.unopt.hlo or NAME.hlo, and perhaps NAME.after.hlo, after XLA's layout assignment; `export plan` writes
programs of this project into folders. A judge is a command as for `layout-inspect plan --judge`, in which {} stands for
NAME; without it, what a judge said before stays in the page.

With `--fresh` or `--regression`, plans of random programs or of the set `regression` are compared with XLA's own layouts for a
TPU, and nothing else is measured; see `tpu-judge`. With `--fresh` and a judge, only what that says is measured:

    PYTHON=.. tools/bench.sh plan --fresh 60 --judge "tools/bench.sh tpu-judge fresh {}" --judgements 4
"""

import argparse
import contextlib
import json
import math
import pathlib
import random
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.inspect import Answer, plan
from bench.preferences import ROWS
from bench.programs import programs_of
from bench.results import Column, Measured, Page, Row, Table, number, numbers, programs
from bench.run import ROOT, Failed, existing
from bench.tpu import AUTO, DEFAULT, Compiler, compiled, text_of

MACHINE = "tpu_v5e"


def not_above(rows: list[Row]) -> str:
    """How many ratios to the less of `default` and `AUTO` are at most 1, of the plan and of the best."""
    found, best = numbers(rows, 4), numbers(rows, 6)
    return (
        f"Of {len(found)} programs the plan costs no more than the less of `default` and `AUTO` for"
        f" {sum(ratio <= 1 for ratio in found)}, and less for {sum(ratio < 1 for ratio in found)}; at most"
        f" {max(found, default=1):.2f} times as much. The best that was judged costs no more for"
        f" {sum(ratio <= 1 for ratio in best)}, and less for {sum(ratio < 1 for ratio in best)}; the geometric means are"
        f" {mean(found):.3f} and {mean(best):.3f}."
    )


def mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / max(1, len(ratios)))


def dearer(rows: list[Row]) -> str:
    return f"Plans that cost more than XLA's layouts: {sum(number(row[3]) > number(row[4]) for row in rows)}."


COUNT, GAP, RATIO = "{:,}", "{:.2f} %", "{:.3f}"
PLANS = Table(
    "plans",
    (
        Column("program"), Column("values", COUNT), Column("cost", COUNT), Column("gap", GAP), Column("given", COUNT),
        Column("relayouts"), Column("s", "{:.2f}"),
    ),
)  # fmt: skip
INNER = Table(
    "inner",
    (
        Column("program"), Column("values"), Column("alike", "{:.0f} %"), Column("plan", COUNT), Column("XLA", COUNT),
        Column("plan ÷ XLA", RATIO), Column("copies"), Column("XLA's"), Column("bytes copied", COUNT), Column("XLA's", COUNT),
    ),
    summary=dearer,
)  # fmt: skip
COSTS = Column("default", COUNT), Column("AUTO", COUNT), Column("plan", COUNT), Column("plan ÷ least of both", RATIO)
JUDGED = Table(
    "judged",
    (Column("program"), *COSTS, Column("best", COUNT), Column("best ÷ least of both", RATIO), Column("priced")),
    summary=not_above,
)
GROUPS = (
    Column("layouts"), Column("operation"), Column("programs"), Column("at most 1"), Column("less"),
    Column("geometric mean", RATIO), Column("worst", RATIO), Column("AUTO's entry"), Column("doubt", RATIO),
)  # fmt: skip


@dataclass(frozen=True)
class Grouped(Table):
    """A table of programs whose page has a row for each kind of operation instead."""

    def markdown(self, measured: Measured) -> str:
        return Table(self.name, GROUPS).markdown(replace(measured, rows=grouped(measured.rows)))


def grouped(rows: list[Row]) -> list[Row]:
    """What plans and XLA's layouts cost over the less of XLA's: of all programs, and plans of those with each kind."""
    kinds = sorted({kind for row in rows for kind in str(row[1]).split()})
    counted = [row for row in rows if not row[10]]
    groups = [(layouts, kind, chosen) for kind, chosen in (("any", rows), ("all estimated", counted)) for layouts in PRICED]
    groups += [("plan", kind, [row for row in rows if kind in str(row[1]).split()]) for kind in kinds]
    groups += [("plan", "other", [row for row in rows if not PREFERRED & {*str(row[1]).split()}])]
    return [[layouts, kind, *ratios(layouts, chosen)] for layouts, kind, chosen in groups if chosen]


def ratios(layouts: str, rows: list[Row]) -> Row:
    """How many programs there are, of how many a cost is at most the less of XLA's, and less; the mean, the most, and how
    many plans have the entry that XLA chooses."""
    each = [number(row[PRICED[layouts]]) / min(number(row[2]), number(row[3])) for row in rows]
    of_plan = (sum(map(int, numbers(rows, 6))), doubt(rows)) if layouts == "plan" else (None, None)
    return [len(each), sum(ratio <= 1 for ratio in each), sum(ratio < 1 for ratio in each), mean(each), max(each), *of_plan]


def doubt(rows: list[Row]) -> float | None:
    """The part by which four of five plans cost at most more than planned, beside the default layouts; none of few plans."""
    off = sorted(number(row[4]) / number(row[2]) * number(row[9]) / max(1, number(row[8])) for row in rows)
    return max(0, off[math.ceil(0.8 * len(off)) - 1] - 1) if len(off) >= 10 else None


# The kinds of operations with a doubt of their own.
PREFERRED = {fitted.kind for fitted in ROWS.values()}
COMPARISON = (
    Column("program"), Column("operations"), *COSTS, Column("AUTO's entry"), Column("recommended", COUNT),
    Column("planned", COUNT), Column("planned default", COUNT), Column("without estimate"),
)  # fmt: skip
# The columns of what has a cost.
PRICED = {"plan": 4, "recommended": 7, "default": 2, "AUTO": 3}
COMPARED = {name: Grouped(name, COMPARISON) for name in ("fresh", "regression")}


def page() -> Page:
    return Page("plan", [PLANS, INNER, JUDGED, *COMPARED.values()])


def large(count: int) -> str:
    """A program of so many values: blocks of a projection, a transposition, a reduction and two batched products."""
    lines = [
        "HloModule large",
        "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }",
        "ENTRY main {",
        "x = f32[4,256,12,64] parameter(0)",
        "zero = f32[] constant(0)",
    ]
    last, k = "x", 0
    while 12 * k < count:
        heads, turned = "f32[4,256,12,64]", "f32[4,12,256,64]"
        batch = "lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}"
        lines += [
            f"w{k} = f32[768,768] parameter({k + 1})",
            f"r{k} = f32[4,256,768] reshape({last})",
            f"d{k} = f32[4,256,768] dot(r{k}, w{k}), lhs_contracting_dims={{2}}, rhs_contracting_dims={{0}}",
            f"s{k} = {heads} reshape(d{k})",
            f"t{k} = {turned} transpose(s{k}), dimensions={{0,2,1,3}}",
            f"m{k} = f32[4,12,64] reduce(t{k}, zero), dimensions={{2}}, to_apply=add",
            f"b{k} = {turned} broadcast(m{k}), dimensions={{0,1,3}}",
            f"e{k} = {turned} subtract(t{k}, b{k})",
            f"q{k} = f32[4,12,256,256] dot(e{k}, t{k}), {batch}, rhs_contracting_dims={{3}}",
            f"o{k} = {turned} dot(q{k}, e{k}), {batch}, rhs_contracting_dims={{2}}",
            f"u{k} = {heads} transpose(o{k}), dimensions={{0,2,1,3}}",
            f"v{k} = {heads} add(u{k}, {last})",
        ]
        last, k = f"v{k}", k + 1
    return "\n".join([*lines, f"ROOT y = f32[4,256,12,64] negate({last})", "}"])


def texts_of(folder: pathlib.Path) -> dict[str, str]:
    return {name: file.read_text() for name, file in programs(folder).items()}


def planned(text: str, *options: str) -> Answer | None:
    """The plan of a text, or none where it has no plan."""
    try:
        return plan(text, MACHINE, *options)
    except Failed:
        return None


def plans(results: Page, texts: dict[str, str]) -> None:
    """How long plans take, and how far they are from the best."""
    results.begin(PLANS)
    for name, text in texts.items():
        answer = planned(text, "--entry", "free")
        if answer is not None:
            of = answer.json
            above = 100 * (of["cost"] - of["bound"]) / max(1, of["cost"])
            results.put(PLANS, [name, len(of["values"]), of["cost"], above, of["given"], len(of["relayouts"]), answer.seconds])


def inner(results: Page, texts: dict[str, str]) -> None:
    """Plans with the entry of the file beside the layouts that the file has: what a compiler chose after its layout
    assignment, or the same compiler's copies."""
    results.begin(INNER)
    for name, text in texts.items():
        answer = planned(text, "--entry", "fixed", "--compare")
        given = answer and answer.json.get("compare")
        if not answer or not given:
            continue
        ours, values = answer.json, answer.json["values"]
        alike = sum(given["values"].get(value) == layout for value, layout in values.items())
        (count, size), (their_count, their_size) = copies(ours), copies(given)
        costs = [ours["cost"], given["cost"], ours["cost"] / max(1, given["cost"])]
        results.put(INNER, [name, len(values), 100 * alike / max(1, len(values)), *costs, count, their_count, size, their_size])


def copies(answer: dict[str, Any]) -> tuple[int, int]:
    """How many relayouts there are, and their bytes."""
    return len(answer["relayouts"]), sum(relayout["bytes"] for relayout in answer["relayouts"])


class Judge:
    """The judge of one program."""

    def __init__(self, command: str, name: str) -> None:
        self.command = command.replace("{}", name)

    def peers(self, text: str) -> list[int | None]:
        """The costs with the default layouts, and with those that the judge's compiler chooses; none where it has none."""
        default = planned(text, "--entry", "default")
        beside = {"entry": default.json["entry"], "values": default.json["values"]} if default else {}
        lines = [json.dumps({"question": "default"} | beside), json.dumps({"question": "auto"})]
        done = subprocess.run(self.command, shell=True, input="\n".join([*lines, ""]), capture_output=True, text=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        return [answer.get("cost") for answer in answers] if len(answers) == len(lines) else [None, None]


def judged(results: Page, command: str, most: int, texts: dict[str, str], *conditions: str) -> None:
    """What a judge says of plans, and of the best after `most` questions."""
    results.begin(JUDGED, *conditions, f"a judge was asked at most {most} questions about a program")
    for name, text in texts.items():
        judge = Judge(command, name)
        default, auto = judge.peers(text)
        answer = planned(text, "--entry", "free", "--judge", judge.command, "--judgements", str(most))
        if not default or answer is None:
            continue
        priced = [each["judged"] for each in answer.json.get("judged", []) if each["judged"] is not None]
        # A program of no cycles has no ratio.
        if priced and min(priced) > 0:
            least = min(default, auto or default)
            best = [min(priced), min(priced) / max(1, least), len(priced)]
            results.put(JUDGED, [name, default, auto, priced[0], priced[0] / max(1, least), *best])


def compared(results: Page, collection: str, names: Sequence[str], seconds: float, *conditions: str) -> None:
    """Plans of a set beside XLA's layouts: of some programs or of all. What compiles for longer than so many seconds or costs
    nothing is left out."""
    left: Counter[str] = Counter()
    table = COMPARED[collection]
    with contextlib.closing(Compiler(seconds)) as compiler:
        results.begin(table, f"libtpu {compiler.version}", *conditions)
        for name in names or programs_of(collection):
            try:
                row = comparison(compiler, collection, name)
            except Failed as error:
                left[str(error)] += 1
                print(name, error, flush=True)
            else:
                results.put(table, row)
    results.remark(table, "left out", *(f"{reason}: {count}" for reason, count in sorted(left.items())))


def comparison(compiler: Compiler, collection: str, name: str) -> Row:
    """A row of a program: its costs with the default layouts, with those that XLA chooses, and with the plan's."""
    text, kinds = compiler.asked(text_of, collection, name)
    free, default = (plan(text, MACHINE, "--entry", entry).json for entry in ("free", "default"))
    recommended = free.get("doubt", free)["entry"]
    entries = {"default": DEFAULT, "AUTO": AUTO, "plan": free["entry"], "recommended": recommended}
    found = {}
    for layouts, entry in entries.items():
        try:
            found[layouts] = compiler.asked(compiled, collection, name, entry)
        except Failed as error:
            raise Failed(f"{layouts}, {error}") from error
    costs = [each.cycles for each in found.values()]
    if 0 in costs:
        raise Failed("no cycles")
    alike = found["plan"].entry() == found["AUTO"].entry()
    uncounted = sorted({kind for each in found.values() for kind in each.uncounted})
    beside = [found["recommended"].cycles, free["cost"], default["cost"], " ".join(uncounted)]
    return [name, " ".join(kinds), *costs[:3], costs[2] / min(costs[:2]), int(alike), *beside]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge", metavar="COMMAND", help="the judge of plans; {} stands for the name of a program")
    parser.add_argument("--judgements", metavar="N", type=int, default=16, help="the most questions that it is asked")
    parser.add_argument("--fresh", metavar="N", type=int, help="compares plans of so many random programs with XLA's layouts")
    parser.add_argument("--kind", metavar="KIND", help="fresh programs of one operation of a kind, such as `convolution`")
    parser.add_argument("--seed", metavar="S", type=int, help="the seed of these; without it another one each time")
    parser.add_argument("--regression", action="store_true", help="compares plans of the set regression with XLA's layouts")
    parser.add_argument("--capped", metavar="SECONDS", type=float, default=60, help="the most that a compilation may take")
    parser.add_argument("folders", metavar="FOLDER", type=existing, nargs="*", default=[ROOT / "test/hlo"])


def main(options: argparse.Namespace) -> None:
    results = page()
    if options.fresh:
        seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
        seeds = random.Random(seed)
        kind = f"{options.kind}." if options.kind else ""
        names = [f"{kind}{seeds.randrange(2**32)}" for _ in range(options.fresh)]
        conditions = f"{options.fresh} programs {f'of one {options.kind} ' if kind else ''}of seed {seed}"
        if options.judge:
            with contextlib.closing(Compiler(options.capped)) as compiler:
                texts = {}
                for name in names:
                    # What JAX does not lower is left out.
                    with contextlib.suppress(Failed):
                        texts[name] = compiler.asked(text_of, "fresh", name)[0]
            return judged(results, options.judge, options.judgements, texts, conditions)
        compared(results, "fresh", names, options.capped, conditions)
    if options.regression:
        compared(results, "regression", (), options.capped)
    if options.fresh or options.regression:
        return
    texts = {name: text for folder in options.folders for name, text in texts_of(folder).items()}
    plans(results, {f"made, {count:,} values": large(count) for count in (5000, 25000)} | texts)
    after = {file.name.split(".")[0]: file.read_text() for folder in options.folders for file in sorted(folder.glob("*.after.hlo"))}
    if after:
        inner(results, after)
    if options.judge and texts:
        judged(results, options.judge, options.judgements, texts)
