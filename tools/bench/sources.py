"""Puts a program from each source that the project reads through everything, beside the same program from HLO.

FOLDER has NAME.stablehlo.mlir, as JAX prints it, and may have the same program as NAME.linalg.mlir, after another compiler's
conversion. The folder `tosa` here has some of them as NAME.tosa.mlir. XLA makes HLO of the first, and MLIR its generic form.
All forms are called in turns on one core.

--torch TORCH has programs that torch-mlir made of PyTorch's, NAME.mlir, each with its arguments `a0`.. and PyTorch's results
`r0`.. in NAME.npz. They have no HLO.
"""

import argparse
import pathlib
import re
import tempfile

from bench import inspect
from bench.results import Column, Page, Row, Table, Value, number
from bench.run import MEMORY, SECONDS, TOOLS, Failed, existing, run
from bench.whole import mean

HLO, PRETTY, GENERIC, LINALG, TOSA = "HLO", "StableHLO", "StableHLO, generic", "linalg", "TOSA"
TORCH = "torch-mlir, linalg"
OF_TOSA = pathlib.Path(__file__).parent / "tosa"
# Upstream's conversions of TOSA to linalg.
FROM_TOSA = (
    "--pass-pipeline=builtin.module(func.func(tosa-infer-shapes,tosa-make-broadcastable,tosa-to-linalg-named,"
    "tosa-make-broadcastable,tosa-to-linalg,tosa-to-tensor,tosa-to-arith),canonicalize)"
)


def by_source(rows: list[Row]) -> str:
    """The geometric mean and the largest of the ratios of each source."""
    ratios: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        if row[-1] is not None and row[1] != HLO:
            ratios.setdefault(str(row[1]), []).append((number(row[-1]), str(row[0])))
    return " ".join(
        f"{source}: {mean([ratio for ratio, _ in each]):.2f} of the time from HLO in the geometric mean of {len(each)}, at most"
        f" {max(each)[0]:.2f} (`{max(each)[1]}`)."
        for source, each in ratios.items()
    )


COLUMNS = (
    Column("program"), Column("source"), Column("plan, cycles", "{:,}"), Column("not proved"), Column("equal"),
    Column("ms", "{:.4g}"), Column("of HLO", "{:.2f}"),
)  # fmt: skip
SOURCES = Table("sources", COLUMNS, keys=2, summary=by_source)


def page() -> Page:
    return Page("sources", [SOURCES])


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=existing)
    parser.add_argument("--torch", type=existing)
    parser.add_argument("parts", metavar="PART", nargs="*", help="parts of names of programs; without one all")


def forms(file: pathlib.Path, work: pathlib.Path) -> dict[str, pathlib.Path]:
    """The files of a program by their sources; its numbers are beside them."""
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir

    from bench import xla

    name = file.name.removesuffix(".stablehlo.mlir")
    given = work / "given"
    given.mkdir()
    paths = {HLO: given / f"{name}.unopt.hlo", PRETTY: file, GENERIC: given / f"{name}.generic.mlir"}
    computation = _jax.mlir.mlir_module_to_xla_computation(file.read_text(), use_tuple_args=False, return_tuple=False)
    paths[HLO].write_text(xla.text(computation.get_hlo_module()).replace("%", ""))
    with mlir.make_ir_context():
        paths[GENERIC].write_text(ir.Module.parse(file.read_text()).operation.get_asm(print_generic_op_form=True))
    xla.known(name, given, work)
    others = {LINALG: file.with_name(f"{name}.linalg.mlir"), TOSA: OF_TOSA / f"{name}.tosa.mlir"}
    return paths | {source: path for source, path in others.items() if path.exists()}


class Form:
    """A program from one source, as far as it comes."""

    def __init__(self, file: pathlib.Path, source: str, work: pathlib.Path) -> None:
        from bench import library
        from bench.library import OPTIONS
        from bench.speed import FAST

        mlir = file if source in (LINALG, TORCH) else work / f"{file.name}.imported.mlir"
        if source == TOSA:
            run([TOOLS / "layout-opt", file, FROM_TOSA, "-o", mlir], memory=MEMORY)
        elif source not in (LINALG, TORCH):
            library.imported(file, mlir)
        cost = planned(mlir if source == TOSA else file, source)
        self.path, _ = library.library(file.name.replace(".", "_"), mlir.read_text(), work, FAST)
        lowering = f"--layout-to-memref=verify {OPTIONS} approximate"
        said = run([TOOLS / "layout-opt", mlir, lowering, "-o", "/dev/null"], most=4 * SECONDS, memory=MEMORY).err
        self.cells: list[Value] = [cost, said.count(": not proved") or "none"]


def planned(file: pathlib.Path, source: str) -> Value:
    """The cost of the plan of a program for a TPU, with the default layouts at the entry."""
    if source not in (LINALG, TOSA, TORCH):
        cost: int = inspect.plan(file, "tpu_v5e", "--entry", "default").json["cost"]
        return cost
    options = "--layout-plan=machine=tpu_v5e entry=default report"
    said = run([TOOLS / "layout-opt", file, options, "-o", "/dev/null"], memory=MEMORY).err
    costs = [int(cost) for cost in re.findall(r"the plan costs (\d+)", said)]
    return sum(costs) if costs else None


def rows(file: pathlib.Path, work: pathlib.Path) -> list[tuple[list[Value], list[str]]]:
    """The rows of a program, with their faults."""
    from bench import worker
    from bench.speed import WORKER_MEMORY

    name = file.name.removesuffix(".stablehlo.mlir")
    paths = forms(file, work)
    made: dict[str, Form] = {}
    done: list[tuple[list[Value], list[str]]] = []
    for source, path in paths.items():
        try:
            made[source] = Form(path, source, work)
        except Failed as error:
            done.append(([name, source, *[None] * 5], [str(error)]))
    arrays = work / f"{name}.npz"
    pairs = [f"{form.path}={arrays}" for form in made.values()]
    report = worker.asked("race", paths[HLO], *pairs, most=3 * SECONDS, memory=WORKER_MEMORY)["forms"]
    for source, form in made.items():
        raced = report[str(form.path)]
        wrong = raced["differences"][:1]
        ratio = raced["seconds"] / report[str(made[HLO].path)]["seconds"] if HLO in made else None
        done.append(([name, source, *form.cells, "no" if wrong else "yes", 1000 * raced["seconds"], ratio], wrong))
    return done


def of_torch(file: pathlib.Path, work: pathlib.Path) -> tuple[list[Value], list[str]]:
    """The row of a program of PyTorch, with its faults."""
    import numpy as np

    from bench import worker

    known = dict(np.load(file.with_suffix(".npz")))
    count = sum(name.startswith("a") for name in known)
    numbers = [known[name] for name in (*(f"a{k}" for k in range(count)), *(f"r{k}" for k in range(len(known) - count)))]
    arrays = work / f"{file.stem}.npz"
    np.savez(arrays, types=np.array([array.dtype.name for array in numbers]), **known)
    try:
        form = Form(file, TORCH, work)
        report = worker.asked("alone", form.path, arrays, most=3 * SECONDS)
    except Failed as error:
        return [file.stem, TORCH, *[None] * 5], [str(error)]
    wrong = report["differences"][:1]
    return [file.stem, TORCH, *form.cells, "no" if wrong else "yes", 1000 * report["seconds"], None], wrong


def main(options: argparse.Namespace) -> None:
    results = page()
    results.begin(SOURCES)
    of_jax, torch = sorted(options.folder.glob("*.stablehlo.mlir")), sorted(options.torch.glob("*.mlir")) if options.torch else []
    for file in of_jax + torch:
        if options.parts and not any(part in file.name for part in options.parts):
            continue
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            for row, faults in rows(file, work) if file in of_jax else [of_torch(file, work)]:
                results.put(SOURCES, row, faults)
