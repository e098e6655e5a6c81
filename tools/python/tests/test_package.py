"""The classes and functions: examples, pickling, errors, drawings, reports."""

import ast
import dataclasses
import doctest
import gzip
import json
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from importlib.util import find_spec
from pathlib import Path

import tensor_layout as tl
from tensor_layout import _arrays, _errors, _html, _native, _reports, mlir

ROOT = Path(__file__).parents[3]


def documented():
    """Every public object with its documentation, those of the native half too, which `doctest` does not find."""
    for module in (tl, _arrays, _errors, _html, _native, _reports):
        yield module.__name__, module.__doc__
        for name, value in vars(module).items():
            yield f"{module.__name__}.{name}", getattr(value, "__doc__", None)
            if isinstance(value, type):
                for own, member in vars(value).items():
                    yield f"{module.__name__}.{name}.{own}", getattr(member, "__doc__", None)


class Examples(unittest.TestCase):
    def run_text(self, name, text, minimum=1):
        examples = doctest.DocTestParser().get_doctest(text, vars(tl) | {"tl": tl}, name, None, None)
        self.assertGreaterEqual(len(examples.examples), minimum, name)
        said = []
        result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(examples, out=said.append)
        self.assertEqual(result.failed, 0, "".join(said))
        return result.attempted

    def test_of_documentation(self):
        count = sum(
            self.run_text(name, text)
            for name, text in dict(documented()).items()
            if isinstance(text, str) and ">>>" in text and name.startswith("tensor_layout")
        )
        self.assertGreater(count, 30)

    def test_of_the_readme(self):
        self.run_text("README.md", (ROOT / "tools/python/README.md").read_text().replace("```", ""))

    def test_of_the_page(self):
        page = (ROOT / "docs/python.md").read_text()
        blocks = re.findall(r"^```(\w+)(.*)\n((?:.*\n)*?)^```$", page, re.MULTILINE)
        self.assertEqual({kind for kind, _, _ in blocks}, {"python", "sh"})
        # The commands of the shell are those that have made this package.
        self.assertEqual([text for kind, _, text in blocks if kind == "sh"], ["make wheel\n"])
        python = [(need.strip(), text) for kind, need, text in blocks if kind == "python"]
        self.run_text("docs/python.md", "".join(text for need, text in python if not need), 20)
        if find_spec("jax"):
            self.run_text("docs/python.md", "".join(text for need, text in python if need == "jax"), 4)

    def test_every_public_name_is_documented(self):
        for name in tl.__all__:
            value = getattr(tl, name)
            self.assertTrue(value.__doc__, name)
            for own, member in vars(value).items() if isinstance(value, type) else ():
                if not own.startswith("_"):
                    self.assertTrue(getattr(member, "__doc__", None), f"{name}.{own}")

    def test_stubs_have_the_names_of_the_package(self):
        """The names of the native half, of its classes, and of the parameters of all that is called."""
        stub = ast.parse((Path(tl.__file__).parent / "_native.pyi").read_text())
        classes = {node.name: node.body for node in stub.body if isinstance(node, ast.ClassDef)}
        functions = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
        public = {name for name in vars(_native) if not name.startswith("_")}
        self.assertEqual(public, set(classes) | set(functions))
        for name, body in classes.items():
            stubs = {node.name: node for node in body}
            # Of the methods of all objects, only what constructs one, what calls one and operators have a stub.
            own = {own for own in vars(getattr(_native, name)) if not own.startswith("__")}
            operators = {"__matmul__", "__mul__", "__truediv__"}
            own |= {"__new__"} | (({"__call__"} | operators) & set(vars(getattr(_native, name))))
            own -= {"_repr_svg_", "_repr_html_"} - set(stubs)
            self.assertEqual(own, set(stubs), name)
            # The operand of an operator has no name of its own.
            for method in set(stubs) - operators:
                self.same_parameters(f"{name}.{method}", vars(getattr(_native, name))[method], stubs[method])
        for name, node in functions.items():
            self.same_parameters(name, getattr(_native, name), node)

    def same_parameters(self, name, value, node):
        text = getattr(value, "__text_signature__", None) or getattr(getattr(value, "__func__", None), "__text_signature__", None)
        if text is None or name.endswith((".__new__", ".__call__")):
            return
        parameters = [parameter.strip("$*/ ").split("=")[0] for parameter in text.strip("()").split(",")]
        arguments = node.args.args + ([node.args.vararg] if node.args.vararg else [])
        self.assertEqual([p for p in parameters if p and p != "self"], [a.arg for a in arguments if a.arg != "self"], name)

    @unittest.skipUnless(find_spec("mypy"), "mypy is not installed")
    def test_stubs_are_those_of_the_package(self):
        done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "tensor_layout._native"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)



@unittest.skipUnless(find_spec("jax"), "no MLIR")
class Mlir(unittest.TestCase):
    """The bindings, in the Python of JAX's MLIR, which does not know the dialect."""

    ARRAYS = (
        *("f32[16,256]{1,0:T(8,128)}", "bf16[384,72]{0,1:T(8,128)(2,1)S(1)}", "s8[3]{0}", "u8[3]{0}", "pred[2,2]{1,0}"),
        *("c64[4]{0}", "c128[4]{0}", "f8e4m3fn[8]{0}", "f8e8m0fnu[8]{0}", "f4e2m1fn[8]{0:E(4)}", "s4[8]{0:E(4)}", "f64[]", "f64[]{:S(1)}"),
    )

    def setUp(self):
        from jaxlib.mlir import ir

        self.ir, self.context = ir, ir.Context()
        self.context.allow_unregistered_dialects = True

    def test_types(self):
        for text in self.ARRAYS:
            made = mlir.tensor_type(self.ir, text, self.context)
            self.assertEqual(mlir.shape(made), tl.Shape(text))
        plain = self.ir.Type.parse("tensor<3x?xindex>", self.context)
        for wrong in ("f32[<=3]", "f32[?]", "(f32[2])"):
            self.assertRaises(tl.LayoutError, mlir.tensor_type, self.ir, wrong, self.context)
        self.assertRaises(tl.LayoutError, mlir.shape, plain)
        self.assertEqual(mlir.shape(self.ir.Type.parse("tensor<3x5xindex>", self.context)), tl.Shape("s64[3,5]{1,0}"))

    def test_attributes(self):
        layouts = [tl.Layout("{1,0:T(8,128)(2,1)}"), tl.TensorLayout("((4_PE, 3:8), (8:1))"), tl.Machine("mn_core")]
        for value in [*layouts, tl.IndexingMap("(d0) -> (d0 floordiv 4), domain: d0 in [0, 11]")]:
            self.assertEqual(mlir.layout(mlir.attribute(self.ir, value, self.context)), value)
        other = self.ir.Attribute.parse("42 : i8", self.context)
        self.assertRaisesRegex(tl.LayoutError, "expected an attribute of #layout.tiled, .*, found 42 : i8", mlir.layout, other)
        places = mlir.attribute(self.ir, layouts[1], self.context)
        spread = self.ir.Type.parse(f"tensor<12x8xf32, {places}>", self.context)
        self.assertRaisesRegex(tl.LayoutError, "expected a tiled layout", mlir.shape, spread)
        with self.context:
            self.assertEqual(str(mlir.attribute(self.ir, layouts[0])), "#layout.tiled<{1,0:T(8,128)(2,1)}>")


class Objects(unittest.TestCase):
    OBJECTS = (
        tl.Layout("{1,0:T(8,128)(2,1)S(1)}"),
        tl.Shape("(f32[2,3]{0,1}, bf16[<=5])"),
        tl.TensorLayout("((4_PE, 3:8), (8:1))"),
        tl.Machine("tpu_v5e"),
        tl.IndexingMap("(d0) -> (d0 mod 2), domain: d0 in [0, 9]"),
        tl.moves("f32[8,128]{1,0}", "f32[128,8]{1,0}", transpose=(1, 0)),
        tl.relayout("((4_PE, 4:1))", "((4:1, 4_PE))"),
        tl.report("HloModule m\nENTRY e {\n  ROOT x = f32[9] parameter(0)\n}"),
    )

    def test_objects_are_equal_after_pickling(self):
        for value in self.OBJECTS:
            again = pickle.loads(pickle.dumps(value))
            self.assertEqual((again, hash(again), repr(again)), (value, hash(value), repr(value)))

    def test_objects_differ(self):
        for value in self.OBJECTS:
            self.assertEqual([other == value for other in self.OBJECTS].count(True), 1, value)
        self.assertNotEqual(tl.Shape("f32[2,3]{0,1}"), tl.Shape("f32[2,3]{1,0}"))
        self.assertNotEqual(tl.Layout("{0}"), "{0}")

    def test_representations_make_the_object(self):
        for value in self.OBJECTS[:5]:
            self.assertEqual(eval(repr(value), vars(tl)), value)

    def test_drawings(self):
        for value in (tl.Shape("f32[3,5]{1,0:T(2,2)}"), tl.TensorLayout("((4_PE, 3:8), (8:1))")):
            self.assertTrue(value._repr_svg_().startswith("<svg "))
            self.assertIn("<svg ", value._repr_html_())
        # Nothing to draw is no error in a notebook.
        for text in ("token[]", "f32[?]", "(f32[2], s8[])", "f32[6]{0:SC(0:1)}"):
            self.assertIsNone(tl.Shape(text)._repr_svg_())
            self.assertIsInstance(tl.Shape(text)._repr_html_(), str)


class Errors(unittest.TestCase):
    def error(self, function, *arguments):
        with self.assertRaises(tl.LayoutError) as caught:
            function(*arguments)
        self.assertIsInstance(caught.exception, ValueError)
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(again), again.at, again.kind), (str(caught.exception), caught.exception.at, caught.exception.kind))
        return caught.exception

    def test_errors_have_a_place(self):
        for function, text, at in (
            (tl.Shape, "f32[2]{0:T(0)}", 11),
            (tl.Shape, "f33[2]", 0),
            (tl.Layout, "{0,0}", 3),
            (tl.TensorLayout, "((4_PE, 3:7), (8:1))", 15),
            (tl.Machine, "tpu_v5f", 0),
            (tl.IndexingMap, "(d0) -> (d1), domain: d0 in [0, 9]", 9),
            (tl.report, "HloModule m\nENTRY e {\n  ROOT x = f33[9] parameter(0)\n}", 33),
            (tl.plan, "HloModule m", 11),
            # Places are in characters, not bytes.
            (tl.Shape, "/* é */ f33[2]", 8),
        ):
            error = self.error(function, text)
            self.assertEqual((error.text, error.at), (text, at), str(error))
            self.assertIn(error.message, str(error))

    def test_kinds(self):
        for text, kind in (
            ("f32[3,5", "syntax"),
            ("f33[3,5]", "unknown"),
            ("f32[3,5]{1,0:T(0)}", "invalid"),
            ("f32[9223372036854775808]", "too large"),
        ):
            self.assertEqual(self.error(tl.Shape, text).kind, kind, text)

    def test_lines_and_columns(self):
        error = self.error(tl.report, "HloModule m\nENTRY e {\n  ROOT x = f33[9] parameter(0)\n}")
        self.assertEqual((error.line, error.column), (3, 12))
        self.assertEqual(str(error).split("\n")[2].index("^"), 2 + 11)

    def test_numbers_out_of_range(self):
        shape = tl.Shape("f32[3,5]{1,0:T(2,2)}")
        for function, argument in ((shape.offset, (3, 0)), (shape.offset, (0,)), (shape.index, 24), (shape.index, -1)):
            self.assertIsNone(self.error(function, argument).at)
        self.error(lambda: tl.Shape("f32[4294967296,4294967296]").padded_bytes)
        self.error(lambda: tl.Shape("f32[?]").padded_bytes)
        self.error(lambda: tl.Shape("token[]").sizes)
        self.error(lambda: tl.plan("HloModule m\nENTRY e {\n  ROOT x = f32[9] parameter(0)\n}", entry="fre"))
        self.error(lambda: tl.plan(SCHEDULED, seconds=-1))
        self.error(tl.Layout.of, (0, 0))
        self.error(tl.Layout.of, (0,), [()])
        self.error(tl.Layout.of, (0,), [(-1,)])
        self.error(tl.TensorLayout("((4_PE, 3:8), (8:1))").held, {"PF": 1})


    def test_integers_that_are_none_of_a_parameter(self):
        """Never an OverflowError: a LayoutError, which names the parameter or says what fits."""
        shape, spread = tl.Shape("f32[3,5]"), tl.TensorLayout("((4_PE, 3:8), (8:1))")
        identity = tl.IndexingMap("(d0) -> (d0), domain: d0 in [0, 9]")
        program = "HloModule m\nENTRY e {\n  ROOT x = f32[9] parameter(0)\n}"
        for function, name in (
            (lambda n: tl.Layout.of((n, 0)), "minor_to_major[0]"),
            (lambda n: tl.Layout.of((1, 0), memory_space=n), "memory_space"),
            (lambda n: tl.moves("f32[8,4]", "f32[4,8]", transpose=(1, n)), "transpose[1]"),
            (lambda n: spread.transposed((1, n)), "permutation[1]"),
            (lambda n: tl.report(program, top=n), "top"),
            (lambda n: tl.Layout.of((0,), [(n,)]), None),
            (lambda n: tl.Layout.of((0,), element_bits=n), None),
            (lambda n: tl.Shape.of("f32", (n,)), None),
            (lambda n: shape.offset((n, 0)), None),
            (lambda n: shape.index(n), None),
            (lambda n: spread.place((n, 0)), None),
            (lambda n: spread.held({"PE": n}), False),
            (lambda n: spread.reshaped((n, 8)), None),
            (lambda n: spread.sliced(((n, 12, 1), (0, 8, 1))), None),
            (lambda n: identity(n), False),
            (lambda n: tl.plan(program, capacity={"hbm": n}), None),
        ):
            if name is not False:
                message = self.error(function, -1).message
                self.assertIn("found", message)
                self.assertIn(f"`{name}` must be " if name else "", message)
            for large in (1 << 63, 1 << 70, -(1 << 63) - 1):
                error = self.error(function, large)
                self.assertRegex(error.message, "64 bits|expected a number of bytes from 0 to 288230376151711744")
            with self.assertRaises((TypeError, tl.LayoutError)):
                function("one")
        self.assertIn("`memory_space` must be in 0 to 127, found 128", str(self.error(lambda: tl.Layout.of((0,), memory_space=128))))
        # The permutation is the parameter `transpose`.
        self.assertIn("`transpose` must ", str(self.error(lambda: tl.moves("f32[8,4]", "f32[4,8]", transpose=(1, 1)))))


SCHEDULED = """HloModule chain, is_scheduled=true
ENTRY main {
  x = f32[8,100]{1,0:T(8,128)} parameter(0)
  a = f32[8,100]{1,0:T(8,128)} negate(x)
  b = f32[100,8]{1,0:T(8,128)} transpose(a), dimensions={1,0}, metadata={op_name="<b>" source_file="m.py" source_line=7}
  ROOT y = f32[100]{0} custom-call(b), custom_call_target="f"
}"""


class Programs(unittest.TestCase):
    def test_report(self):
        found = tl.report(SCHEDULED)
        self.assertEqual((found.arguments.padded, found.outputs.padded, found.temporaries), (4096, 400, 57344))
        self.assertEqual((found.peak.bytes, found.peak.instruction, found.scheduled), (61840, "b", True))
        self.assertEqual([move.name for move in found.relayouts], ["b"])
        self.assertEqual(found.worst[0].name, "b")
        self.assertIn("most padding", str(found))
        # Names of the program are text, not tags.
        self.assertIn("m.py:7", found._repr_html_())
        self.assertNotIn("<b>", found._repr_html_())

    def test_the_whole_peak(self):
        peak = tl.report(SCHEDULED).peak
        live = {own.name: (own.padded_bytes, own.made, own.last_read, own.reader) for own in peak.buffers.entries}
        self.assertEqual(live["b"], (53248, 2, 3, "y"))
        for listed in (peak.buffers, peak.lines, peak.scopes):
            sizes = [getattr(own, "padded_bytes", None) or own.padded for own in listed.entries]
            self.assertEqual(sum(sizes) + listed.other_bytes, peak.bytes)
        shortened = tl.report(SCHEDULED, top=1).peak
        self.assertEqual((shortened.buffers.others, shortened.buffers.other_bytes), (3, peak.bytes - 53248))

    def test_advice(self):
        advice = tl.report(SCHEDULED).advice
        self.assertEqual([(own.kind, own.saves) for own in advice], [("type", 28672), ("type", 2048)])

    def test_errors_about_memory(self):
        error = """RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 41.74G of 16.00G hbm. Exceeded by 25.74G.
          1. Size: 32.00G
             Operator: op_name="jit(f)/mod" source_file="f.py" source_line=7
             Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
             XLA label: %copy.1 = s32[8388608,8,4]{2,1,0:T(8,128)} copy(%x)"""
        found = tl.report(error)
        self.assertIsInstance(found, tl.Exhausted)
        self.assertEqual((found.needed // 2**20, found.available), (42741, 16 << 30))
        own = found.allocations[0]
        self.assertEqual((own.name, own.bytes, own.logical_bytes, own.source), ("copy.1", 32 << 30, 1 << 30, "f.py:7"))
        self.assertIn("--xla_dump_to", str(found))

    def test_watch(self):
        with self.assertRaises(RuntimeError) as raised, tl.watch():
            raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1024 bytes.")
        self.assertEqual(raised.exception.report.needed, 1024)
        self.assertIn("what lowers it", raised.exception.__notes__[0])
        with self.assertRaises(KeyError) as raised, tl.watch():
            raise KeyError("x")
        self.assertFalse(hasattr(raised.exception, "report"))

    def test_dumps(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(tl.LayoutError, "found none"):
                tl.report(folder)
            small = SCHEDULED.replace("chain", "small")
            Path(folder, "module_0001.jit_a.after_optimizations.txt").write_text(SCHEDULED + "\n\n")
            Path(folder, "module_0001.jit_a.before_optimizations.txt").write_text("HloModule wrong" + " " * 9999)
            Path(folder, "module_0002.jit_b.after_optimizations.txt").write_text(small)
            self.assertEqual(tl.report(folder).module, "chain")
            Path(folder, "module_0002.jit_b.oom_intermediate_module.txt").write_text(small)
            self.assertEqual(tl.report(Path(folder)).module, "small")
            # The page has the addresses of the dump.
            assigned = "BufferAssignment:\nallocation 0: size 99999, preallocated-temp:\n value: <0 b @0> (size=53248,offset=512):\n"
            Path(folder, "module_0002.jit_b.after_optimizations-buffer-assignment.txt").write_text(assigned)
            page = Path(folder, "page.html")
            tl.report(folder).to_html(page)
            self.assertIn("XLA's buffer assignment", page.read_text())

    def test_warnings(self):
        text = SCHEDULED.replace("is_scheduled=true", "is_scheduled=true, newest=1", 1)
        message = "unknown attribute `newest`, which is skipped: it may be of another version of XLA"
        for found in [tl.report(text), tl.plan(text, seconds=1)]:
            self.assertIn(f"warning: {message}", str(found))

    def test_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "program.hlo")
            path.write_text(SCHEDULED)
            Path(folder, "program.hlo.gz").write_bytes(gzip.compress(SCHEDULED.encode()))
            for named in [path, str(path), str(path) + ".gz"]:
                self.assertEqual(tl.report(named), tl.report(SCHEDULED))
            self.assertEqual(tl.plan(path).cost, tl.plan(SCHEDULED).cost)
            with self.assertRaises(FileNotFoundError):
                tl.report(str(path) + ".hlo")

    def test_bars(self):
        """The bar of b is the longest; its data is 3200 of 53248 bytes of it."""
        page = tl.report(SCHEDULED)._repr_html_()
        bars = re.findall(r'<rect class="padding" width="([^"]*)" height="12"/><rect class="data" width="([^"]*)"', page)
        self.assertEqual(bars[0], ("160.0", f"{3200 / 53248 * 160:.1f}"))
        self.assertIn('<data value="53248" title="53,248 bytes">52.0 KiB</data>', page)
        self.assertIn("keep what m.py:7 makes in bf16", page)

    def test_the_notebook_begins_with_the_peak(self):
        for program, words in ((SCHEDULED, "It fits:"), (SCHEDULED.replace(":T(8,128)", ""), "The peak is")):
            page = tl.report(program)._repr_html_()
            self.assertLess(page.index(words), page.index("<table>"))
            self.assertLess(page.index("What is live at the peak"), page.index("<caption>Memories"))

    def test_a_report_in_other_forms(self):
        found = tl.report(SCHEDULED)
        printed = self.command("layout-inspect", "hlo", "-", "--summary", "--json", "--top", "10", input=SCHEDULED)
        self.assertEqual(found.to_dict() | {"file": "-"}, json.loads(printed))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            found.to_html(path)
            page = self.command("layout-inspect", "hlo", "-", "--html", "-", input=SCHEDULED)
            self.assertEqual(path.read_text(), page)
            self.assertRaises(OSError, found.to_html, Path(folder) / "none" / "page.html")
            old = Path(folder) / "old.hlo"
            old.write_text(SCHEDULED)
            new = SCHEDULED.replace("100", "200")
            change = found.compare(tl.report(new))
            self.assertEqual(str(change), self.command("layout-inspect", "hlo", "-", "--diff", str(old), "--top", "10", input=new))
        self.assertEqual(change.peak, change.after.peak.bytes - found.peak.bytes)
        self.assertIn(f'<data value="{change.peak}"', change._repr_html_())
        self.assertEqual(tl.report(new).compare(found).peak, -change.peak)

    def test_tensors(self):
        found = tl.report(SCHEDULED, top=1)
        self.assertEqual([own.name for own in found.tensors], ["b", "x", "a", "y"])
        self.assertEqual(sum(own.padded_bytes for own in found.tensors), 53248 + 2 * 4096 + 400)
        self.assertEqual(found.tensors[0], found.worst[0])
        self.assertEqual(pickle.loads(pickle.dumps(found)).tensors, found.tensors)

    @unittest.skipUnless(find_spec("pandas"), "pandas is not installed")
    def test_tensors_as_a_table(self):
        import pandas

        table = pandas.DataFrame(tl.report(SCHEDULED).tensors)
        self.assertEqual(list(table.columns), [field.name for field in dataclasses.fields(_reports.Tensor)])
        self.assertEqual(table.groupby("kind").padded_bytes.sum().to_dict(), {"argument": 4096, "output": 400, "temporary": 57344})

    def command(self, name, *arguments, input=""):
        """What a command prints that the wheel has installed beside the package."""
        path = Path(tl.__file__).parents[1] / "bin" / name
        return subprocess.run([path, *arguments], input=input, capture_output=True, text=True, check=True).stdout

    def test_commands(self):
        self.assertEqual(self.command("layout-inspect", "--version"), f"layout-inspect {tl.__version__}, built without MLIR\n")
        self.assertIn("#layout.tiled<{1,0:T(8,128)}>", self.command("layout-translate", "--import-hlo", input=SCHEDULED))

    def test_plan_of_a_small_memory(self):
        text = "HloModule m\nENTRY e {\n  x = f32[1024,1024] parameter(0)\n  ROOT y = f32[1024,1024] negate(x)\n}"
        free = tl.plan(text, entry="fixed", compare=True)
        self.assertEqual(free.compared.cost, free.given)
        self.assertEqual([memory.space for memory in free.memories], [int(space) for space in sorted({0} | set(free.spaces.values()))])
        with self.assertRaises(tl.LayoutError) as caught:
            tl.plan(text, capacity={"hbm": 1000})
        self.assertIn("no plan fits: here `hbm` must hold", str(caught.exception))
        with self.assertRaises(tl.LayoutError) as caught:
            tl.plan(text, capacity={"vmen": 1000})
        units = [tl.plan(text, capacity={"hbm": most}).cost for most in ["16MiB", 16 << 20]]
        self.assertEqual(units[0], units[1])
        with self.assertRaisesRegex(TypeError, "capacity must be a mapping such as {'vmem': '16MiB'}, found '16MB'"):
            tl.plan(text, capacity="16MB")
        self.assertEqual((caught.exception.kind, caught.exception.text, caught.exception.at), ("unknown", "vmen=1000", 0))

    def test_plan(self):
        found = tl.plan(SCHEDULED.split(", is_scheduled")[0] + SCHEDULED[SCHEDULED.index("\n") :].replace(":T(8,128)", ""), entry="free")
        self.assertLessEqual(found.bound, found.cost)
        self.assertEqual(found.unit, "cycle")
        self.assertIn("cost", str(found))
        self.assertIn("<table>", found._repr_html_())

    def test_others_run_meanwhile(self):
        """A thread counts while another reads a program of many instructions."""
        lines = "".join(f"  v{k} = f32[8,128] negate(v{k - 1})\n" for k in range(1, 20000))
        text = "HloModule m\nENTRY e {\n  v0 = f32[8,128] parameter(0)\n" + lines + "  ROOT r = f32[8,128] negate(v19999)\n}"
        worker = threading.Thread(target=tl.report, args=(text,))
        worker.start()
        counted = 0
        while worker.is_alive():
            counted += 1
        self.assertGreater(counted, 100)

    def test_what_is_no_program(self):
        class Nothing:
            def as_text(self):
                return None

        for wrong in [3, b"HloModule m", None, Nothing()]:
            for ask in [tl.report, lambda program: tl.plan(program, machine="tpu_v5e")]:
                with self.assertRaisesRegex(TypeError, f"must be HLO text.*, found {type(wrong).__name__}"):
                    ask(wrong)


@unittest.skipUnless(find_spec("jax"), "JAX is not installed")
class Jax(unittest.TestCase):
    def test_report_of_a_function(self):
        import jax
        import jax.numpy as jnp

        compiled = jax.jit(lambda x, w: jnp.tanh(x @ w).sum()).lower(jnp.ones((32, 64)), jnp.ones((64, 128))).compile()
        found = tl.report(compiled.as_text())
        self.assertEqual(found.arguments.logical, (32 * 64 + 64 * 128) * 4)
        self.assertEqual(found, tl.report(compiled))


if __name__ == "__main__":
    unittest.main()
