"""Writes benches/plan.md: how long plans take, how far they are from the best, and what a judge says of them.

Called by bench-plan.sh with the program and a folder of HLO texts.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys

from plan_judge import judged, judged_once


def large(count):
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
    return "\n".join(lines + [f"ROOT y = f32[4,256,12,64] negate({last})", "}"])


def planned(program, text, *options):
    """The answer, or None, and the seconds of processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, "plan", "-", "--machine", "tpu_v5e", "--json", *options]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (json.loads(done.stdout) if done.returncode == 0 else None), took


def sections(text):
    """The parts of a page by their headings, each with its lines."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            found[line] = []
        if found:
            next(reversed(found.values())).append(line)
    return found


def plans(program, texts):
    """How long plans take, and how far they are from the best."""
    lines = [
        "# Plans",
        "",
        "Made by `tools/bench-plan.sh FOLDER..` for `tpu_v5e`, arguments and results in any layout (`--entry free`). The time",
        "is that of the processor, for reading, planning and saying what doing without the dearest relayouts costs, on one",
        "thread. The gap is that of the cost over the bound of all plans. `given` is what the layouts of the file cost.",
        "",
        "| program | values | cost | gap | given | relayouts | s |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, text in texts.items():
        answer, took = planned(program, text, "--entry", "free")
        if answer is None:
            continue
        cost, given = answer["cost"], answer["given"]
        gap = f"{100 * (cost - answer['bound']) / max(1, cost):.2f} %"
        cells = [name, f"{len(answer['values']):,}", f"{cost:,}", gap, "-" if given is None else f"{given:,}"]
        lines.append("| " + " | ".join([*cells, str(len(answer["relayouts"])), f"{took:.2f}"]) + " |")
        print(lines[-1], flush=True)
    return lines


def inner(program, texts):
    """Plans with the entry of the file beside the layouts that the file has: what a compiler chose after its layout
    assignment, or the same compiler's copies."""
    lines = [
        "## Inner layouts beside XLA's",
        "",
        "Of programs as they are after XLA's layout assignment for a TPU (`NAME.after.hlo`), arguments and results in the",
        "layouts of the file: what XLA's layouts and copies cost under the costs here, and what the plan does. `alike`: the",
        "values that have the same layouts in both.",
        "",
        "| program | values | alike | plan | XLA | plan ÷ XLA | copies | XLA's | bytes copied | XLA's |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    dearer = 0
    for name, text in texts.items():
        answer, _ = planned(program, text, "--entry", "fixed", "--compare")
        given = (answer or {}).get("compare")
        if not given:
            continue
        values = answer["values"]
        alike = sum(given["values"].get(value) == own for value, own in values.items())
        moved = [copies(text, own) for own in (answer, given)]
        dearer += answer["cost"] > given["cost"]
        cells = [name, str(len(values)), f"{100 * alike / max(1, len(values)):.0f} %", f"{answer['cost']:,}"]
        cells += [f"{given['cost']:,}", f"{answer['cost'] / max(1, given['cost']):.3f}", str(moved[0][0]), str(moved[1][0])]
        lines.append("| " + " | ".join([*cells, f"{moved[0][1]:,}", f"{moved[1][1]:,}"]) + " |")
        print(lines[-1], flush=True)
    return [*lines, "", f"Plans that cost more than XLA's layouts: {dearer}."]


def copies(text, answer):
    """How many relayouts there are, and their bytes."""
    return len(answer["relayouts"]), sum(own["bytes"] for own in answer["relayouts"])


# Programs that tell how plans do on what nobody had seen: by the name of their folder, the title and what it is about.
AFTERWARDS = {
    "unseen": (
        "## Programs written afterwards",
        [
            "Programs of `tools/plan_unseen.py`, written after the planner, of kinds that the table above has not. Where plans were",
            "above, rules were made from them.",
        ],
    ),
    "kept_apart": (
        "## Programs kept apart",
        [
            "Programs of `tools/plan_kept_apart.py`, written after those rules. When they were planned first, `fourier` was 1.158,",
            "`gated` 1.155, and the others as here; rules were made from these two since.",
        ],
    ),
    "later": (
        "## Programs kept apart later",
        [
            "`LATER` of `tools/plan_kept_apart.py`, written after the rules of all tables above. When they were planned first, 7 of",
            "12 cost no more: `residual_down` was 1.136, `polyphase` 1.088, `network` 1.012, `turned_norm` 0.932, and the others as",
            "here. Rules were made from the first three since.",
        ],
    ),
}


def main():
    program, folders = sys.argv[1], [pathlib.Path(folder) for folder in sys.argv[2:]]
    afterwards = [folder for folder in folders if folder.name in AFTERWARDS]
    folders = [folder for folder in folders if folder not in afterwards]
    page = pathlib.Path("benches/plan.md")
    found = sections(page.read_text()) if page.exists() else {}
    files = [file for folder in folders for file in sorted(folder.glob("*.unopt.hlo")) or sorted(folder.glob("*.hlo"))]
    texts = {file.name.split(".")[0]: file.read_text() for file in files}
    large_ones = {f"made, {count:,} values": large(count) for count in (5000, 25000)}
    if texts or not afterwards:
        found["# Plans"] = plans(program, {**large_ones, **texts})
    after = [file for folder in folders for file in sorted(folder.glob("*.after.hlo"))]
    # What cannot be measured without a judge, or without such texts, stays as it was.
    if after:
        found["## Inner layouts beside XLA's"] = inner(program, {f.name.split(".")[0]: f.read_text() for f in after})
    judge, most = os.environ.get("JUDGE"), int(os.environ.get("JUDGEMENTS", "16"))
    if judge:
        if texts:
            found["## What a judge says"] = judged(lambda text, *options: planned(program, text, *options), judge, most, texts)
        for folder in afterwards:
            title, intro = AFTERWARDS[folder.name]
            texts = {file.name.split(".")[0]: file.read_text() for file in sorted(folder.glob("*.hlo"))}
            found[title] = judged_once(lambda text, *options: planned(program, text, *options), judge, title, intro, texts)
    page.write_text("\n\n".join("\n".join(lines).strip("\n") for lines in found.values()) + "\n")


main()
