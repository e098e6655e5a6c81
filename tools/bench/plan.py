"""How long plans take, how far they are from the best, and how a judge prices them.

A folder has NAME.unopt.hlo or NAME.hlo, and perhaps NAME.after.hlo, after XLA's layout assignment; `export plan` writes
programs of this project into folders. A judge is a command as for `layout-inspect plan --judge`, in which {} stands for
NAME; without it, what a judge said before stays in the page.
"""

import argparse
import json
import pathlib
import subprocess
from typing import Any

from bench.inspect import Answer, plan
from bench.results import Column, Page, Row, Table, number, numbers, programs
from bench.run import ROOT, Failed, existing

MACHINE = "tpu_v5e"


def not_above(rows: list[Row]) -> str:
    """How many ratios to the less of `default` and `AUTO` are at most 1."""
    ratios = numbers(rows, 4)
    return (
        f"Of {len(ratios)} programs the plan costs no more than the less of `default` and `AUTO` for"
        f" {sum(ratio <= 1 for ratio in ratios)}, and less for {sum(ratio < 1 for ratio in ratios)}; at most"
        f" {max(ratios, default=1):.2f} times as much."
    )


def best_not_above(rows: list[Row]) -> str:
    ratios = numbers(rows, 6)
    return (
        f"{not_above(rows)} The best that was judged costs no more for {sum(ratio <= 1 for ratio in ratios)}, and less for"
        f" {sum(ratio < 1 for ratio in ratios)}."
    )


def dearer(rows: list[Row]) -> str:
    return f"Plans that cost more than XLA's layouts: {sum(number(row[3]) > number(row[4]) for row in rows)}."


COUNT, GAP = "{:,}", "{:.2f} %"
JUDGEMENT = (
    Column("program"), Column("default", COUNT), Column("AUTO", COUNT), Column("plan", COUNT),
    Column("plan ÷ least of both", "{:.3f}"),
)  # fmt: skip
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
        Column("plan ÷ XLA", "{:.3f}"), Column("copies"), Column("XLA's"), Column("bytes copied", COUNT), Column("XLA's", COUNT),
    ),
    summary=dearer,
)  # fmt: skip
JUDGED = Table(
    "judged",
    (*JUDGEMENT, Column("best", COUNT), Column("best ÷ least of both", "{:.3f}"), Column("priced")),
    summary=best_not_above,
)
# Programs that nobody had seen when rules were made, by the name of their folder.
AFTERWARDS = {name: Table(name, JUDGEMENT, summary=not_above) for name in ("unseen", "kept_apart", "later")}


def page() -> Page:
    return Page("plan", [PLANS, INNER, JUDGED, *AFTERWARDS.values()])


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
    """The judge of one program. It gets a line `{"entry":{"in":[..],"out":[..]}}` and answers `{"cost":n}` or
    `{"error":".."}`; with "AUTO" for both lists it prices its own choice of the entry's layouts."""

    def __init__(self, command: str, name: str) -> None:
        self.command = command.replace("{}", name)

    def ask(self, entry: dict[str, Any]) -> int | None:
        """The cost of an entry, or none."""
        line = json.dumps({"entry": entry}) + "\n"
        done = subprocess.run(self.command, shell=True, input=line, capture_output=True, text=True)
        try:
            cost = json.loads(done.stdout.splitlines()[0]).get("cost")
        except (IndexError, ValueError, AttributeError):
            return None
        return cost if isinstance(cost, int) else None

    def peers(self, text: str) -> tuple[int | None, int | None]:
        """The costs with the machine's default layouts, and with those that the judge's compiler chooses."""
        default = planned(text, "--entry", "default")
        return (self.ask(default.json["entry"]) if default else None), self.ask({"in": "AUTO", "out": "AUTO"})


def judged(results: Page, table: Table, command: str, most: int, texts: dict[str, str]) -> None:
    """What a judge says of plans, and for the table JUDGED of the best of `most` that it is asked about."""
    results.begin(table, *([f"at most {most} plans of a program were judged"] if table is JUDGED else []))
    for name, text in texts.items():
        judge = Judge(command, name)
        default, auto = judge.peers(text)
        search = ["--judge", judge.command, "--judgements", str(most)] if table is JUDGED else []
        answer = planned(text, "--entry", "free", *search)
        if not default or answer is None:
            continue
        if table is JUDGED:
            priced = [each["judged"] for each in answer.json.get("judged", []) if each["judged"] is not None]
        else:
            cost = judge.ask(answer.json["entry"])
            priced = [] if cost is None else [cost]
        if not priced:
            continue
        least = min(default, auto or default)
        best = [min(priced), min(priced) / max(1, least), len(priced)] if table is JUDGED else []
        results.put(table, [name, default, auto, priced[0], priced[0] / max(1, least), *best])


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge", metavar="COMMAND", help="the judge of plans; {} stands for the name of a program")
    parser.add_argument("--judgements", metavar="N", type=int, default=16, help="the most plans that it is asked about")
    parser.add_argument("folders", metavar="FOLDER", type=existing, nargs="*", default=[ROOT / "test/hlo"])


def main(options: argparse.Namespace) -> None:
    results = page()
    afterwards = [folder for folder in options.folders if folder.name in AFTERWARDS]
    folders = [folder for folder in options.folders if folder not in afterwards]
    texts = {name: text for folder in folders for name, text in texts_of(folder).items()}
    if texts or not afterwards:
        plans(results, {f"made, {count:,} values": large(count) for count in (5000, 25000)} | texts)
    after = {file.name.split(".")[0]: file.read_text() for folder in folders for file in sorted(folder.glob("*.after.hlo"))}
    if after:
        inner(results, after)
    if options.judge and texts:
        judged(results, JUDGED, options.judge, options.judgements, texts)
    for folder in afterwards if options.judge else []:
        judged(results, AFTERWARDS[folder.name], options.judge, 1, texts_of(folder))
