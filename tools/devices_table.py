"""Writes benches/devices.md: plans of a transformer's block over 8 to 4096 devices, beside the shardings of its program.

Called by bench-devices.sh with layout-inspect, the seconds that a search may take, and a folder that device_programs.py has
written.
"""

import json
import pathlib
import subprocess
import sys
import time

CHAINS = [
    ("rows to columns", "((64_Device, 64:4096), (4096:1))", "((4096:64), (64_Device, 64:1))"),
    ("rows of 64 to blocks of 8 * 8", "((64_Device, 64:4096), (4096:1))", "((8_Device:8, 512:512), (8_Device:1, 512:1))"),
    ("blocks of 8 * 8, axes exchanged", "((8_Device:8, 512:512), (8_Device:1, 512:1))",
     "((8_Device:1, 512:512), (8_Device:8, 512:1))"),
    ("one axis gathered", "((8_Device:8, 512:512), (8_Device:1, 512:1))", "((8_Device:8, 512:4096), (4096:1); B@[8_Device:1])"),
    ("copies to blocks", "((8_Device:8, 512:4096), (4096:1); B@[8_Device:1])", "((8_Device:8, 512:512), (8_Device:1, 512:1))"),
]  # fmt: skip


def planned(program, file, machine, *options):
    """The answer, or what is wrong, and the seconds that it took."""
    before = time.monotonic()
    command = [program, "plan", str(file), "--machine", machine, "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    took = time.monotonic() - before
    if done.returncode != 0:
        return next((line for line in done.stderr.splitlines() if "error" in line), done.stderr), took
    return json.loads(done.stdout), took


def cells(answer):
    """Milliseconds, of these communication, megabytes that a device gets, and gigabytes that it holds at most."""
    moved = answer["cost"] - answer["work"]
    bytes = answer["levels"][0]["bytes"]
    return [f"{answer['cost'] / 1e9:.2f}", f"{moved / 1e9:.2f}", f"{bytes / 1e6:,.0f}", f"{answer['peak']['0'] / 1e9:.2f}"]


def gap(answer):
    return f"{100 * (answer['cost'] - answer['bound']) / max(1, answer['bound']):.2f} %"


def rows(program, seconds, folder):
    files = sorted(folder.glob("*.hlo"), key=lambda file: [int(n) for n in file.stem.split(".")])
    for count in sorted({int(file.stem.split(".")[0]) for file in files}):
        machine, peaks = f"tpu_v5e_{count}", []
        own = [file for file in files if int(file.stem.split(".")[0]) == count]
        plan, took = planned(program, own[0], machine, "--seconds", seconds)
        if isinstance(plan, str):
            sys.exit(f"{own[0]}: {plan}")
        for file in own:
            _, fsdp, tensor = file.stem.split(".")
            both, _ = planned(program, file, machine, "--compare", "--seconds", seconds)
            if isinstance(both, str):
                sys.exit(f"{file}: {both}")
            given = both["compare"]
            peaks.append(given["peak"]["0"])
            yield [str(count), f"fsdp {fsdp}, tensor {tensor}", *cells(given), gap(given), "-"]
        yield [str(count), "plan", *cells(plan), gap(plan), f"{took:.1f}"]
        capacity = ["--capacity", f"HBM={min(peaks)}", "--seconds", seconds]
        small, took = planned(program, own[0], machine, *capacity)
        what = "plan in the least memory of these"
        if isinstance(small, str):
            yield [str(count), what, "none found", *["-"] * 4, f"{took:.1f}"]
        else:
            yield [str(count), what, *cells(small), gap(small), f"{took:.1f}"]


def chains(program):
    for what, source, destination in CHAINS:
        done = subprocess.run([program, "convert", source, destination], capture_output=True, text=True, check=True)
        steps = [line for line in done.stdout.splitlines() if " along " in line and line.endswith("to each")]
        got = sum(int(line.rsplit(": ", 1)[1].split()[0].replace(",", "")) for line in steps)
        # All of it comes to every device, but for what that has.
        digits = source.split(";")[0]
        parts = 64 if "64_Device" in digits or digits.count("8_Device") == 2 else 8
        whole = 4096 * 4096 * 4
        names = " and ".join(line.split(" along ")[0].strip() for line in steps) or "nothing"
        yield [what, names, f"{got / 1e6:.2f}", f"{whole * (parts - 1) / parts / 1e6:.2f}"]


def table(head, lines):
    yield "| " + " | ".join(head) + " |"
    yield "|---|---|" + "---:|" * (len(head) - 2)
    for line in lines:
        yield "| " + " | ".join(line) + " |"


def main():
    program, seconds, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    head = ["devices", "shardings", "ms", "of these communication", "MB got by each", "GB held at once", "above the bound", "s"]
    lines = [
        "# Plans over devices",
        "",
        "Made by `tools/bench-devices.sh`. The program is a step of training of a transformer's block, `tools/device_programs.py`:",
        "4,096 features, 32 heads of 128, 14,336 in the MLP, gradients and an update of the weights, a sequence of 2,048 for each",
        "device. Machines are `tpu_v5e_N`: what is above 256 is a larger torus than there is. Rows with `fsdp` and `tensor` have",
        "the shardings that MaxText's rules for these axes give to weights, to the activations that they name, and to results;",
        "all other values are as the solver likes best beside these. `plan` has no shardings given. All are counted by the same",
        "model, with a search of at most " + seconds + " s each; the last column is the time that `plan` took, with what it takes to",
        "pose the problem. Times of the program are modelled, not measured.",
        "",
        *table(head, rows(program, seconds, folder)),
        "",
        "Resharding `f32[4096,4096]` over 64 devices, megabytes that each gets, beside an all-gather of everything with a slice",
        "after it:",
        "",
        *table(["from, to", "collectives", "MB", "all-gather and slice, MB"], chains(program)),
    ]
    pathlib.Path("benches/devices.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
