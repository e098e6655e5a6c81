"""Programs for processes, of any sizes, that print how long a step takes: text of MLIR."""

from collections.abc import Callable, Iterator, Sequence

# The text of a program, and the bytes that all processes have to get as a sum in each step.
Made = tuple[str, int]
# A value, its type and the indices of a linalg.generic; or the name of what is carried, its start and its type.
Operand = tuple[str, str, str]

TIMES = "indexing_maps = [{maps}], iterator_types = [{kinds}]"


def tensor(*sizes: int, by: int | None = None, n: int = 1) -> str:
    """A tensor type, of which processes have parts of dimension `by`."""
    text = "x".join(map(str, sizes)) + "xf32"
    if by is None or n == 1:
        return f"tensor<{text}>"
    strides = [1]
    own = [size // n if d == by else size for d, size in enumerate(sizes)]
    for size in reversed(own[1:]):
        strides.insert(0, strides[0] * size)
    dims = [f"{size}:{stride}" for size, stride in zip(own, strides)]
    dims[by] = f"{n}_Process, {dims[by]}"
    return f"tensor<{text}, #layout.tensor_layout<({', '.join(f'({dim})' for dim in dims)})>>"


def generic(name: str, loops: str, reads: Sequence[Operand], writes: Operand, body: str, kinds: str) -> str:
    """A linalg.generic: `loops` as `i j k`, each read and the write as `(value, type, indices)`."""

    def one(indices: str) -> str:
        return f"affine_map<({', '.join(loops)}) -> ({', '.join(indices)})>"

    maps = ", ".join(one(indices) for _, _, indices in [*reads, writes])
    kinds = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in kinds)
    inputs = f" ins({', '.join(v for v, _, _ in reads)} : {', '.join(t for _, t, _ in reads)})" if reads else ""
    arguments = ", ".join(f"%a{k}: f32" for k in range(len(reads))) + (", " if reads else "") + "%o: f32"
    out, t, _ = writes
    return (f"  {name} = linalg.generic {{{TIMES.format(maps=maps, kinds=kinds)}}}{inputs} outs({out} : {t}) {{\n"
            f"  ^bb0({arguments}):\n{body}  }} -> {t}\n")


ADDED = "    %p = arith.mulf %a0, %a1 : f32\n    %s = arith.addf %o, %p : f32\n    linalg.yield %s : f32\n"


def numbers(name: str, t: str, rank: int) -> str:
    """A tensor of small numbers, made where it is."""
    loops = "ijk"[:rank]
    text, last = "", "%seed"
    for d, loop in enumerate(loops):
        text += (f"    %{loop} = linalg.index {d} : index\n    %far{d} = arith.constant {[31, 17, 7][d]} : index\n"
                 f"    %by{d} = arith.muli %{loop}, %far{d} : index\n    %at{d} = arith.addi {last}, %by{d} : index\n")
        last = f"%at{d}"
    text += (f"    %c29 = arith.constant 29 : index\n    %m = arith.remui {last}, %c29 : index\n"
             "    %w = arith.index_cast %m : index to i32\n    %f = arith.sitofp %w : i32 to f32\n"
             "    %scale = arith.constant 0.0005 : f32\n    %v = arith.mulf %f, %scale : f32\n    linalg.yield %v : f32\n")
    empty = f"  {name}_e = tensor.empty() : {t}\n"
    return empty + generic(name, loops, [], (f"{name}_e", t, loops), text, "p" * rank)


def filled(name: str, t: str) -> str:
    return (f"  {name}_e = tensor.empty() : {t}\n"
            f"  {name} = linalg.fill ins(%zero : f32) outs({name}_e : {t}) -> {t}\n")


def used(k: int, t: str) -> str:
    """Prints an element of what the steps made, so that it is made."""
    plain = t.split(", #")[0].rstrip(">") + ">"
    text = "" if plain == t else f"  %whole{k} = layout.convert %all#{k} : {t} to {plain}\n"
    value = f"%all#{k}" if plain == t else f"%whole{k}"
    zeros = ", ".join(["%c0"] * (t.split("<")[1].split("xf32")[0].count("x") + 1))
    return (text + f"  %one{k} = tensor.extract {value}[{zeros}] : {plain}\n"
            f"  %number{k} = arith.extf %one{k} : f32 to f64\n  func.call @printF64(%number{k}) : (f64) -> ()\n")


def program(n: int, steps: int, before: str, carried: Sequence[Operand], body: str, gives: Sequence[str]) -> str:
    """A program of `steps` steps, which carries tensors `(name, start, type)`, and prints the seconds of a step."""
    names = ", ".join(f"%{name} = {start}" for name, start, _ in carried)
    types = ", ".join(t for _, _, t in carried)
    machine = f" attributes {{layout.machine = #layout.machine<axes: ({n}_Process), memories: (), word: 32>}}" if n > 1 else ""
    return (f"module{machine} {{\nfunc.func private @rtclock() -> f64\nfunc.func private @printF64(f64)\n"
            "func.func private @printNewline()\nfunc.func @main() {\n  %seed = arith.constant 3 : index\n"
            "  %zero = arith.constant 0.0 : f32\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
            f"  %steps = arith.constant {steps} : index\n  %count = arith.constant {steps}.0 : f64\n{before}"
            "  %begun = func.call @rtclock() : () -> f64\n"
            f"  %all:{len(carried)} = scf.for %step = %c0 to %steps step %c1 iter_args({names}) -> ({types}) {{\n{body}"
            f"  scf.yield {', '.join(gives)} : {types}\n  }}\n  %ended = func.call @rtclock() : () -> f64\n"
            + "  %time = arith.subf %ended, %begun : f64\n  %each = arith.divf %time, %count : f64\n"
            "  func.call @printF64(%each) : (f64) -> ()\n  func.call @printNewline() : () -> ()\n"
            + "".join(used(k, t) for k, (_, _, t) in enumerate(carried)) + "  return\n}\n}\n")


def product(n: int, size: int, steps: int) -> Made:
    """Rows are spread: nothing is sent."""
    rows, whole = tensor(size, size, by=0, n=n), tensor(size, size)
    before = numbers("%a", rows, 2) + numbers("%b", whole, 2) + filled("%c", rows)
    body = f"  %d = linalg.matmul ins(%a, %b : {rows}, {whole}) outs(%x : {rows}) -> {rows}\n"
    return program(n, steps, before, [("x", "%c", rows)], body, ["%d"]), 0


def product_of_parts(n: int, size: int, steps: int) -> Made:
    """The sum is spread: the result is added up."""
    left, right, whole = tensor(size, size, by=1, n=n), tensor(size, size, by=0, n=n), tensor(size, size)
    before = numbers("%a", left, 2) + numbers("%b", right, 2) + filled("%c", whole)
    body = filled("%z", whole) + f"  %d = linalg.matmul ins(%a, %b : {left}, {right}) outs(%z : {whole}) -> {whole}\n"
    body += f"  %y = arith.addf %x, %d : {whole}\n"
    return program(n, steps, before, [("x", "%c", whole)], body, ["%y"]), 4 * size * size


def training(n: int, rows: int, columns: int, hidden: int, steps: int) -> Made:
    """Rows are spread, and gradients added up."""
    x, h = tensor(rows, columns, by=0, n=n), tensor(rows, hidden, by=0, n=n)
    first, second = tensor(columns, hidden), tensor(hidden, columns)
    before = numbers("%x", x, 2) + numbers("%t", x, 2) + numbers("%w1", first, 2) + numbers("%w2", second, 2)
    body = filled("%zh", h) + f"  %a = linalg.matmul ins(%x, %u : {x}, {first}) outs(%zh : {h}) -> {h}\n"
    relu = "    %m = arith.maximumf %a0, %zero : f32\n    linalg.yield %m : f32\n"
    body += generic("%h", "ij", [("%a", h, "ij")], ("%zh_e", h, "ij"), relu, "pp")
    body += filled("%zy", x) + f"  %y = linalg.matmul ins(%h, %v : {h}, {second}) outs(%zy : {x}) -> {x}\n"
    body += f"  %d = arith.subf %y, %t : {x}\n" + filled("%z2", second)
    body += generic("%g2", "ijb", [("%h", h, "bi"), ("%d", x, "bj")], ("%z2", second, "ij"), ADDED, "ppr")
    body += generic("%dh", "bij", [("%d", x, "bj"), ("%v", second, "ij")], ("%zh", h, "bi"), ADDED, "ppr")
    gate = ("    %c = arith.cmpf ogt, %a1, %zero : f32\n    %s = arith.select %c, %a0, %zero : f32\n"
            "    linalg.yield %s : f32\n")
    body += generic("%da", "ij", [("%dh", h, "ij"), ("%a", h, "ij")], ("%zh_e", h, "ij"), gate, "pp")
    body += filled("%z1", first)
    body += generic("%g1", "ijb", [("%x", x, "bi"), ("%da", h, "bj")], ("%z1", first, "ij"), ADDED, "ppr")
    less = ("    %r = arith.constant 1.0e-6 : f32\n    %p = arith.mulf %a1, %r : f32\n    %s = arith.subf %a0, %p : f32\n"
            "    linalg.yield %s : f32\n")
    for new, old, gradient, t in (("%u2", "%u", "%g1", first), ("%v2", "%v", "%g2", second)):
        body += f"  {new}_e = tensor.empty() : {t}\n"
        body += generic(new, "ij", [(old, t, "ij"), (gradient, t, "ij")], (f"{new}_e", t, "ij"), less, "pp")
    carried = [("u", "%w1", first), ("v", "%w2", second)]
    return program(n, steps, before, carried, body, ["%u2", "%v2"]), 2 * 4 * columns * hidden


def attention(n: int, positions: int, heads: int, width: int, steps: int) -> Made:
    """Heads are spread, and what they give is added up."""
    columns = heads * width
    x = tensor(positions, columns)
    w, o = tensor(heads, columns, width, by=0, n=n), tensor(heads, width, columns, by=0, n=n)
    h, s = tensor(heads, positions, width, by=0, n=n), tensor(heads, positions, positions, by=0, n=n)
    r = tensor(heads, positions, by=0, n=n)
    before = numbers("%start", x, 2) + "".join(numbers(f"%w{k}", w, 3) for k in "qkv") + numbers("%wo", o, 3)
    body = ""
    for k in "qkv":
        body += filled(f"%z{k}", h)
        body += generic(f"%{k}", "hidj", [("%x", x, "ij"), (f"%w{k}", w, "hjd")], (f"%z{k}", h, "hid"), ADDED, "pppr")
    body += filled("%zs", s) + generic("%scores", "hijd", [("%q", h, "hid"), ("%k", h, "hjd")], ("%zs", s, "hij"), ADDED, "pppr")
    body += filled("%zr", r)
    largest = "    %m = arith.maximumf %a0, %o : f32\n    linalg.yield %m : f32\n"
    body += generic("%max", "hij", [("%scores", s, "hij")], ("%zr", r, "hi"), largest, "ppr")
    power = "    %p = arith.subf %a0, %a1 : f32\n    %e = math.exp %p : f32\n    linalg.yield %e : f32\n"
    body += generic("%exp", "hij", [("%scores", s, "hij"), ("%max", r, "hi")], ("%zs_e", s, "hij"), power, "ppp")
    total = "    %p = arith.addf %a0, %o : f32\n    linalg.yield %p : f32\n"
    body += generic("%sum", "hij", [("%exp", s, "hij")], ("%zr", r, "hi"), total, "ppr")
    part = "    %p = arith.divf %a0, %a1 : f32\n    linalg.yield %p : f32\n"
    body += generic("%soft", "hij", [("%exp", s, "hij"), ("%sum", r, "hi")], ("%zs_e", s, "hij"), part, "ppp")
    body += filled("%zh", h) + f"  %heads = linalg.batch_matmul ins(%soft, %v : {s}, {h}) outs(%zh : {h}) -> {h}\n"
    body += filled("%zy", x)
    body += generic("%y", "ijhd", [("%heads", h, "hid"), ("%wo", o, "hdj")], ("%zy", x, "ij"), ADDED, "pprr")
    body += f"  %sums = arith.addf %x, %y : {x}\n"
    return program(n, steps, before, [("x", "%start", x)], body, ["%sums"]), 4 * positions * columns


# A name, a function of the number of processes and of the steps, and the steps.
PROGRAMS: list[tuple[str, Callable[[int, int], Made], int]] = [
    ("product, 1024 x 1024 x 1024, rows spread", lambda n, steps: product(n, 1024, steps), 10),
    ("the same, the sum spread", lambda n, steps: product_of_parts(n, 1024, steps), 10),
    ("attention, 512 positions, 8 heads of 64", lambda n, steps: attention(n, 512, 8, 64, steps), 10),
    ("training, 2048 rows, 256 to 512 to 256", lambda n, steps: training(n, 2048, 256, 512, steps), 10),
]


def overlap() -> Iterator[tuple[str, str]]:
    """A product beside a message of 4 MiB to the other process, and the two after one another."""
    size, words = 768, 1 << 20
    made = tensor(size, size)
    head = numbers("%a", made, 2) + numbers("%b", made, 2) + filled("%c", made)
    head += f"  %m = tensor.splat %zero : tensor<{words}xf32>\n"
    gather = "%g = shard.all_gather %y on @g grid_axes = [0] gather_axis = 0 : tensor<{0}xf32> -> tensor<{1}xf32>"
    gather = "  " + gather.format(words, 2 * words) + "\n"
    half = f"  %n = tensor.extract_slice %g[{words // 2}] [{words}] [1] : tensor<{2 * words}xf32> to tensor<{words}xf32>\n"
    work = f"  %d = linalg.matmul ins(%a, %b : {made}, {made}) outs(%x : {made}) -> {made}\n"
    carried = [("x", "%c", made), ("y", "%m", f"tensor<{words}xf32>")]
    # What is sent is used before the product, or after it: the product reads nothing of it.
    used = f"  %first = tensor.extract %n[%c0] : tensor<{words}xf32>\n"
    used += f"  %s = tensor.insert %first into %n[%c1] : tensor<{words}xf32>\n"
    bodies = {"the product": (work, ["%d", "%y"]), "the message": (gather + half + used, ["%x", "%s"]),
              "one after the other": (gather + half + used + work, ["%d", "%s"]),
              "the product in between": (gather + work + half + used, ["%d", "%s"])}
    for what, (body, gives) in bodies.items():
        text = program(1, 20, head, carried, body, gives).replace("module {\n", "module {\nshard.grid @g(shape = 2)\n")
        yield what, text
