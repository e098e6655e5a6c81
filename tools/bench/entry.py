"""The entry of an imported module: its types, and functions beside it whose tensors are row-major."""

import re


def types(text: str, start: int) -> tuple[list[str], int]:
    """The types between the parentheses that open at `start`, and where they end; names and locations left out."""
    parts: list[str] = []
    depth, at, begin = 0, start, start + 1
    quoted = False
    while True:
        c = text[at]
        if c == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted and c in "(<{[":
            depth += 1
        elif not quoted and (c in ")}]" or (c == ">" and text[at - 1] != "-")):
            depth -= 1
        if not quoted and (depth == 0 or (depth == 1 and c == ",")):
            parts.append(text[begin:at].strip())
            begin = at + 1
            if depth == 0:
                return [bare(p) for p in parts if p], at + 1
        at += 1


def bare(part: str) -> str:
    """The type of `%a0: tensor<..> {attributes} loc(..)`."""
    part = re.sub(r"^%\w+:\s*", "", part)
    depth = 0
    for at, c in enumerate(part):
        depth += (c == "<") - (c == ">" and part[at - 1] != "-")
        if depth == 0 and c == ">":
            return part[: at + 1]
    return part.split()[0]


def plain(type: str) -> str:
    """A type without its layout."""
    return re.sub(r", [#].*>$", ">", type) if type.startswith("tensor<") and ", " in type else type


def beside(mlir: str) -> str:
    """A module with two functions of a C interface: `pack` makes the arguments of a module's entry of tensors that are
    row-major and without encodings, and `unpack` makes such tensors of its results.
    """
    before, _, arguments, results = parts(mlir.partition("{-#")[0])
    pack = conversions("pack", [plain(t) for t in arguments], arguments)
    unpack = conversions("unpack", results, [plain(t) for t in results])
    aliases = [line for line in before.splitlines() if line.startswith(("#", "!"))]
    return "\n".join([*aliases, "module {", pack, unpack, "}", ""])


def alone(mlir: str) -> str:
    """The module with a C interface of its entry, `run`."""
    module, mark, resources = mlir.partition("{-#")
    before, run, _, _ = parts(module)
    return "\n".join([before + run, "}", mark + resources])


def parts(mlir: str) -> tuple[str, str, list[str], list[str]]:
    """What is before the entry, the entry as `run` with a C interface, and the types of its arguments and results."""
    heads = re.finditer(r"func\.func (private )?(?:public )?@([^\s(]+)\(", mlir)
    entry = next(m for m in heads if not m[1] and not declared(mlir, m.end()))
    arguments, at = types(mlir, entry.end() - 1)
    results: list[str] = []
    arrow = re.match(r"\s*->\s*", mlir[at : at + 20])
    if arrow:
        at += arrow.end()
        if mlir[at] == "(":
            results, at = types(mlir, at)
        else:
            results = [bare(mlir[at:])]
            at += len(results[0])
    end = mlir.rstrip().rindex("}")
    interface = "llvm.emit_c_interface"
    attributes = re.match(r"\s*attributes \{", mlir[at:])
    if attributes:
        run = mlir[entry.end() - 1 : at] + attributes[0] + interface + ", " + mlir[at + attributes.end() : end]
    else:
        run = mlir[entry.end() - 1 : at] + f" attributes {{{interface}}}" + mlir[at:end]
    return mlir[: entry.start()] + "func.func @run", run, arguments, results


def conversions(name: str, given: list[str], wanted: list[str]) -> str:
    """A function that gives its arguments in other types."""
    lines = [f"    %c{k} = layout.convert %a{k} : {g} to {w}" for k, (g, w) in enumerate(zip(given, wanted, strict=True)) if g != w]
    values = [f"%a{k}" if g == w else f"%c{k}" for k, (g, w) in enumerate(zip(given, wanted, strict=True))]
    parameters = ", ".join(f"%a{k}: {t}" for k, t in enumerate(given))
    head = f"  func.func @{name}({parameters}) -> ({', '.join(wanted)}) attributes {{llvm.emit_c_interface}} {{"
    back = f"    return {', '.join(values)} : {', '.join(wanted)}" if values else "    return"
    return "\n".join([head, *lines, back, "  }"])


def signature(low: str, name: str) -> tuple[int, list[int]]:
    """How many pointers the C interface of a lowered function takes, and the ranks of the memrefs that it gives."""
    taken = re.search(rf"llvm\.func @_mlir_ciface_{name}\(.*", low)
    head = re.search(rf"llvm\.func @{name}\(.*", low)
    assert taken and head
    given = head[0].split(" -> ", 1)[1] if " -> " in head[0] else ""
    memrefs = re.findall(r"struct<\(ptr, ptr, i64(?:, array<(\d+) x i64>, array<\d+ x i64>)?\)>", given)
    return taken[0].count("!llvm.ptr"), [int(rank or 0) for rank in memrefs]


def declared(mlir: str, at: int) -> bool:
    """Whether the function whose parameters begin at `at` has no body."""
    line = mlir[at : mlir.index("\n", at)]
    return not line.rstrip().endswith("{")


def exchanges(mlir: str) -> list[str]:
    """The functions by which devices exchange, which the module declares."""
    pattern = r"func\.func private @(\w+)\(.*\).* attributes \{llvm\.emit_c_interface\}$"
    return re.findall(pattern, mlir, re.MULTILINE)
