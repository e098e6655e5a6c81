"""Writes benches/plan.md: how long plans take, how far they are from the best, and what a judge says of them.

Called by bench-plan.sh with the program and a folder of HLO texts.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys


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


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    lines = [
        "# Plans",
        "",
        "Made by `tools/bench-plan.sh FOLDER` for `tpu_v5e`, arguments and results in any layout (`--entry free`). The time is",
        "that of the processor, for reading, planning and saying what doing without the dearest relayouts costs, on one",
        "thread. The gap is that of the cost over the bound of all plans. `given` is what the layouts of the file cost.",
        "",
        "| program | values | cost | gap | given | relayouts | s |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    texts = {f"made, {count:,} values": large(count) for count in (5000, 25000)}
    files = sorted(folder.glob("*.unopt.hlo")) or sorted(folder.glob("*.hlo"))
    texts.update({file.name.split(".")[0]: file.read_text() for file in files})
    for name, text in texts.items():
        answer, took = planned(program, text, "--entry", "free")
        if answer is None:
            continue
        cost, given = answer["cost"], answer["given"]
        gap = f"{100 * (cost - answer['bound']) / max(1, cost):.2f} %"
        cells = [name, f"{len(answer['values']):,}", f"{cost:,}", gap, "-" if given is None else f"{given:,}"]
        lines.append("| " + " | ".join([*cells, str(len(answer["relayouts"])), f"{took:.2f}"]) + " |")
        print(lines[-1], flush=True)
    judge, most = os.environ.get("JUDGE"), os.environ.get("JUDGEMENTS", "16")
    if judge:
        lines += [
            "",
            "## What a judge says",
            "",
            "`first` is the plan of least cost, `default` the best plan with the default layouts of arguments and results, and",
            f"`best` the least of all that the judge has priced, at most {most}.",
            "",
            "| program | default | first | best | priced |",
            "| --- | --- | --- | --- | --- |",
        ]
        for name in (file.name.split(".")[0] for file in files):
            command = judge.replace("{}", name)
            answer, _ = planned(program, texts[name], "--entry", "free", "--judge", command, "--judgements", most)
            priced = [own["judged"] for own in (answer or {}).get("judged", []) if own["judged"] is not None]
            if not priced:
                continue
            default, _ = planned(program, texts[name], "--judge", command, "--judgements", "1")
            default = default["judged"][0]["judged"] if default else None
            cells = ["-" if cost is None else f"{cost:,}" for cost in (default, priced[0], min(priced))]
            lines.append("| " + " | ".join([name, *cells, str(len(priced))]) + " |")
            print(lines[-1], flush=True)
    pathlib.Path("benches/plan.md").write_text("\n".join(lines) + "\n")


main()
