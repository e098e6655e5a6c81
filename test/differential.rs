//! Random programs over random layouts, each run twice: as it is, and with the layouts taken away.
//!
//! Each template below makes programs: functions from tensors or memrefs, most of them laid out somehow, to a result.
//! They are lowered by the pipeline `layout-to-llvm` in both forms and run in this process on buffers that the slow
//! evaluator of `definition.rs` lays out. Padding and what surrounds the buffers is filled with garbage. Afterwards
//! every element must be what the program without layouts left there, where the definition says that it is, and what
//! surrounds the buffers must not have changed. All numbers are small integers, so floating-point sums are exact.
//!
//! `LAYOUT_SEED` and `LAYOUT_PROGRAMS` (for each template and form) make a longer run; a report names the seed.

mod board;
#[expect(dead_code, reason = "the expanded sizes are for those who test the maths")]
mod definition;

use board::Spread;
use definition::lay_out;
use fastrand::Rng;
use layout::expansion::Expansion;
use layout::layout::{Layout, TileEntry};
use layout_passes::Form;
use libtest_mimic::{Arguments, Failed, Trial};
use melior::{
    Context, ExecutionEngine, dialect::DialectRegistry, ir::Module, ir::operation::OperationLike, pass::PassManager,
    utility,
};
use std::{env, fmt::Write, process::Command, process::ExitCode};

/// Programs for each template and form, unless `LAYOUT_PROGRAMS` says otherwise.
const PROGRAMS: usize = 12;
/// The seed, unless `LAYOUT_SEED` says otherwise.
const SEED: u64 = 22;
/// Tells a process that it is to run one template, `template form`.
const PART: &str = "LAYOUT_DIFFERENTIAL_PART";
/// What a process exits with when it found and told of differences or of programs that do not compile.
const DIFFERENT: i32 = 1;
/// Stands in front of each program in the output of a process.
const MARK: &str = "=== ";
/// What is where no element is; fresh memory holds the second.
const GARBAGE: [u8; 3] = [0, 0x7f, 0xff];
/// Bytes of garbage on each side of a buffer.
const FENCE: usize = 64;

/// Makes a program.
type Template = fn(&mut Rng) -> Program;

/// All templates.
const TEMPLATES: &[(&str, Template)] = &[
    ("convert", convert),
    ("elementwise", elementwise),
    ("chain", chain),
    ("generic", generic),
    ("matmul", matmul),
    ("contract", contract),
    ("pair", pair),
    ("reduce", reduce),
    ("transpose", transpose),
    ("slices", slices),
    ("window", window),
    ("dynamic", dynamic),
    ("pad", pad),
    ("reshape", reshape),
    ("loop", a_loop),
    ("branch", branch),
    ("call", call),
    ("constant", constant),
    ("loads", loads),
    ("affine", affine),
    ("buffers", buffers),
    ("transfer", transfer),
];

fn main() -> ExitCode {
    let number = |name, default| env::var(name).map_or(default, |n| n.parse().expect("a number"));
    let (seed, programs) = (number("LAYOUT_SEED", SEED), number("LAYOUT_PROGRAMS", PROGRAMS as u64) as usize);
    if let Ok(part) = env::var(PART) {
        let (template, form) = part.split_once(' ').expect("a template and a form");
        return run_part(template, form.parse().expect("a form"), seed, programs);
    }
    // Each part runs in a process of its own: a trap or a wild store ends that part only.
    let parts = TEMPLATES.iter().flat_map(|(name, _)| [Form::Strided, Form::Physical].map(|form| (*name, form)));
    let trials = parts.map(|(name, form)| {
        let part = format!("{name} {}", form.name());
        Trial::test(format!("{name}/{}", form.name()), move || {
            // glibc fills fresh memory with the complement of this.
            let mut command = Command::new(env::current_exe()?);
            command.env("MALLOC_PERTURB_", (!GARBAGE[1]).to_string());
            command.env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
            let output = command.env(PART, &part).output()?;
            let [stdout, stderr] = [output.stdout, output.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
            match output.status.code() {
                Some(0) => Ok(()),
                Some(DIFFERENT) => Err(Failed::from(format!("LAYOUT_SEED={seed}\n{stderr}"))),
                _ => {
                    let last = stdout.rsplit(MARK).next().unwrap_or_default();
                    Err(Failed::from(format!("LAYOUT_SEED={seed}: {} in\n{last}\n{stderr}", output.status)))
                }
            }
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// Makes, compiles and runs the programs of one template. Prints each program in front of its run, so that the last
/// one is known however the process ends.
fn run_part(template: &str, form: Form, seed: u64, programs: usize) -> ExitCode {
    let (at, make) = TEMPLATES.iter().enumerate().find(|(_, t)| t.0 == template).map(|(k, t)| (k, t.1)).expect("known");
    let mut rng = Rng::with_seed(seed.wrapping_mul(1000).wrapping_add(at as u64));
    let programs: Vec<Program> = (0..programs).map(|_| make(&mut rng)).collect();

    let registry = DialectRegistry::new();
    utility::register_all_dialects(&registry);
    layout_dialect::register(&registry);
    let context = Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    utility::register_all_llvm_translations(&context);
    utility::register_all_passes();
    layout_passes::register();

    let text = |range: &[Program]| {
        range.iter().map(|p| p.named("tiled") + &without_layouts(&p.named("plain"))).collect::<String>()
    };
    let numbered: Vec<Program> = programs.into_iter().enumerate().map(|(k, p)| p.numbered(k)).collect();
    let Some(module) = compile(&context, &text(&numbered), form) else {
        for program in &numbered {
            println!("{MARK}{}", program.text);
            if compile(&context, &text(std::slice::from_ref(program)), form).is_none() {
                eprintln!("does not compile:\n{}", program.text);
            }
        }
        return ExitCode::from(DIFFERENT as u8);
    };
    let (_, llvm) = env::vars()
        .find(|(name, _)| name.starts_with("MLIR_SYS_") && name.ends_with("_PREFIX"))
        .expect("MLIR_SYS_*_PREFIX says where LLVM is; .cargo/config.toml sets it");
    // The engine reads on to a zero byte, whatever the length says.
    let library = format!("{llvm}/lib/libmlir_c_runner_utils.so\0");
    let engine = ExecutionEngine::new(&module, 0, &[library.trim_end_matches('\0')], false, false);
    let mut failed = false;
    for program in &numbered {
        let seed = rng.u64(..);
        println!("{MARK}{}", program.text);
        if let Err(difference) = program.compare(&engine, form, seed) {
            eprintln!("{difference}\n{}", program.text);
            failed = true;
        }
    }
    if failed { ExitCode::from(DIFFERENT as u8) } else { ExitCode::SUCCESS }
}

/// Lowers a module; what went wrong is on standard error.
fn compile<'c>(context: &'c Context, text: &str, form: Form) -> Option<Module<'c>> {
    let text = format!("module attributes {{{}}} {{\n{text}}}\n", board::machine());
    let mut module = Module::parse(context, &text)?;
    let passes = PassManager::new(context);
    let pipeline = format!("builtin.module(layout-to-llvm{{form={}}})", form.name());
    utility::parse_pass_pipeline(passes.as_operation_pass_manager(), &pipeline).expect("a pipeline");
    passes.run(&mut module).ok()?;
    module.as_operation().verify().then_some(module)
}

/// A program's text with all layouts taken away.
fn without_layouts(text: &str) -> String {
    let mut pieces = text.split(", #layout.t");
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        result += piece.split_once('>').expect("a layout ends").1;
    }
    result
}

/// An element type: its name, its bytes, and what it is.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Element(&'static str, usize, Kind);

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Integer,
    Float,
}

const I1: Element = Element("i1", 1, Kind::Integer);
const I8: Element = Element("i8", 1, Kind::Integer);
const I16: Element = Element("i16", 2, Kind::Integer);
const I32: Element = Element("i32", 4, Kind::Integer);
const I64: Element = Element("i64", 8, Kind::Integer);
const BF16: Element = Element("bf16", 2, Kind::Float);
const F32: Element = Element("f32", 4, Kind::Float);
const F64: Element = Element("f64", 8, Kind::Float);
/// All but the smallest.
const ELEMENTS: &[Element] = &[I8, I16, I32, I64, BF16, F32, F64];

impl Element {
    fn bytes(self, n: i64) -> Vec<u8> {
        match self {
            I1 => vec![n as u8 & 1],
            BF16 => (n as f32).to_bits().to_le_bytes()[2..].to_vec(),
            F32 => (n as f32).to_le_bytes().to_vec(),
            F64 => (n as f64).to_le_bytes().to_vec(),
            Element(_, bytes, _) => n.to_le_bytes()[..bytes].to_vec(),
        }
    }

    fn number(self, bytes: &[u8]) -> f64 {
        let mut eight = [0; 8];
        match self {
            I1 => f64::from(bytes[0]),
            BF16 => f64::from(f32::from_le_bytes([0, 0, bytes[0], bytes[1]])),
            F32 => f64::from(f32::from_le_bytes(bytes.try_into().expect("4 bytes"))),
            F64 => f64::from_le_bytes(bytes.try_into().expect("8 bytes")),
            Element(_, n, _) => {
                eight[8 - n..].copy_from_slice(bytes);
                (i64::from_le_bytes(eight) >> (64 - 8 * n)) as f64
            }
        }
    }

    /// The name of an operation of `arith` on this element, `add` say.
    fn op(self, name: &str) -> String {
        match (self.2, name) {
            (Kind::Float, "max" | "min") => format!("arith.{name}imumf"),
            (Kind::Float, _) => format!("arith.{name}f"),
            (Kind::Integer, "max" | "min" | "div") => format!("arith.{name}si"),
            (Kind::Integer, _) => format!("arith.{name}i"),
        }
    }

    fn literal(self, n: i64) -> String {
        match self {
            I1 => (n & 1 != 0).to_string(),
            Element(_, _, Kind::Float) => format!("{n}.0"),
            _ => n.to_string(),
        }
    }
}

/// A layout.
#[derive(Clone, Debug)]
enum Notation {
    Tiled(Layout),
    Spread(Spread),
}

/// The type of a tensor or memref.
#[derive(Clone, Debug)]
struct Array {
    sizes: Vec<i64>,
    element: Element,
    layout: Option<Notation>,
    /// The dimension whose size the type does not tell.
    unknown: Option<usize>,
}

impl Array {
    /// With a random layout, or none.
    fn new(rng: &mut Rng, sizes: &[i64], element: Element) -> Array {
        let layout = match rng.u8(0..8) {
            0 => None,
            1..=4 if !sizes.is_empty() => Some(Notation::Spread(Spread::random(rng, sizes, element.1))),
            _ => Some(Notation::Tiled(random_layout(rng, sizes))),
        };
        Array { sizes: sizes.to_vec(), element, layout, unknown: None }
    }

    /// With a random tiled layout, or none.
    fn tiled(rng: &mut Rng, sizes: &[i64], element: Element) -> Array {
        let layout = (rng.u8(0..8) > 0).then(|| Notation::Tiled(random_layout(rng, sizes)));
        Array { sizes: sizes.to_vec(), element, layout, unknown: None }
    }

    /// The type as text; `kind` is `tensor` or `memref`.
    fn of(&self, kind: &str) -> String {
        let mut text = format!("{kind}<");
        for (d, n) in self.sizes.iter().enumerate() {
            text += &if self.unknown == Some(d) { "?x".to_owned() } else { format!("{n}x") };
        }
        let layout = self.layout.as_ref().map(|layout| match layout {
            Notation::Tiled(layout) => format!(", #layout.tiled<{layout}>"),
            Notation::Spread(spread) => format!(", #layout.tensor_layout<{}>", spread.text(&self.sizes)),
        });
        text + self.element.0 + &layout.unwrap_or_default() + ">"
    }

    fn t(&self) -> String {
        self.of("tensor")
    }

    fn m(&self) -> String {
        self.of("memref")
    }

    fn rank(&self) -> usize {
        self.sizes.len()
    }
}

fn random_layout(rng: &mut Rng, sizes: &[i64]) -> Layout {
    const USUAL: &[&str] =
        &["(8,128)", "(8,128)(2,1)", "(8,128)(4,1)", "(2,2)", "(4)", "(2,4)(2,1)", "(3,4)(2,1)", "(16)(8)(2,1)"];
    loop {
        let mut layout = Layout::row_major(sizes.len());
        rng.shuffle(&mut layout.minor_to_major);
        match rng.u8(0..10) {
            0 => {}
            1..=4 => {
                let tiles = USUAL[rng.usize(..USUAL.len())];
                layout.tiles = Layout::parse(&format!("{{0:T{tiles}}}")).expect("a layout").tiles;
            }
            _ => {
                for _ in 0..rng.usize(1..=3) {
                    let length = rng.usize(1..=sizes.len() + 1);
                    let size = |rng: &mut Rng| TileEntry::Size(rng.i64(1..6));
                    let mut tile: Vec<TileEntry> = (0..length).map(|_| size(rng)).collect();
                    for entry in &mut tile[..length - 1] {
                        if rng.u8(0..6) == 0 {
                            *entry = TileEntry::Combine;
                        }
                    }
                    layout.tiles.push(tile);
                }
            }
        }
        if rng.u8(0..4) == 0 {
            layout.tail_alignment = rng.i64(1..50);
        }
        if Expansion::new(sizes, &layout)
            .is_ok_and(|e| e.allocated_elements() <= 4000 + 2 * e.logical_sizes().iter().product::<i64>())
        {
            return layout;
        }
    }
}

fn random_sizes(rng: &mut Rng, rank: usize) -> Vec<i64> {
    loop {
        let long = rng.usize(0..3 * rank.max(1));
        let size = |d| if d == long { rng.i64(1..150) } else { rng.i64(1..10) };
        let sizes: Vec<i64> = (0..rank).map(size).collect();
        if sizes.iter().product::<i64>() <= 1200 {
            return sizes;
        }
    }
}

fn some_rank(rng: &mut Rng) -> usize {
    [1, 2, 2, 2, 3, 3, 4][rng.usize(..7)]
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.usize(..all.len())]
}

/// What goes into a function.
#[derive(Clone, Debug)]
enum Argument {
    Array(Array),
    Index(i64),
}

/// A function and what it is called with.
#[derive(Debug)]
struct Program {
    /// The text; the function's name starts with `@NAME`, as do those of others beside it.
    text: String,
    arguments: Vec<Argument>,
    result: Option<Array>,
    name: String,
}

impl Program {
    /// A function of tensors `%a0`, `%a1`, .. and indices `%i0`, `%i1`, .. that returns `%r`.
    fn of_tensors(arrays: &[&Array], offsets: &[i64], result: &Array, body: &str) -> Program {
        let text = Program::function(
            arrays,
            offsets,
            "tensor",
            Some(result),
            &format!("{body}\n  return %r : {}", result.t()),
        );
        Program::new(text, arrays, offsets, Some(result))
    }

    /// A function of memrefs `%a0`, `%a1`, .. and indices that returns nothing.
    fn of_memrefs(arrays: &[&Array], offsets: &[i64], body: &str) -> Program {
        let text = Program::function(arrays, offsets, "memref", None, &format!("{body}\n  return"));
        Program::new(text, arrays, offsets, None)
    }

    fn new(text: String, arrays: &[&Array], offsets: &[i64], result: Option<&Array>) -> Program {
        let arrays = arrays.iter().map(|a| Argument::Array((*a).clone()));
        let arguments = arrays.chain(offsets.iter().map(|n| Argument::Index(*n))).collect();
        Program { text, arguments, result: result.cloned(), name: String::new() }
    }

    fn function(arrays: &[&Array], offsets: &[i64], kind: &str, result: Option<&Array>, body: &str) -> String {
        let arrays = arrays.iter().enumerate().map(|(k, a)| format!("%a{k}: {}", a.of(kind)));
        let arguments: Vec<_> = arrays.chain((0..offsets.len()).map(|k| format!("%i{k}: index"))).collect();
        let result = result.map(|r| format!(" -> {}", r.t())).unwrap_or_default();
        let arguments = arguments.join(", ");
        format!("func.func @NAME({arguments}){result} attributes {{llvm.emit_c_interface}} {{\n{body}\n}}\n")
    }

    /// With functions in front of it.
    fn with(mut self, functions: &str) -> Program {
        self.text = format!("{functions}\n{}", self.text);
        self
    }

    fn numbered(mut self, number: usize) -> Program {
        self.name = format!("p{number}");
        self
    }

    fn named(&self, prefix: &str) -> String {
        self.text.replace("@NAME", &format!("@{prefix}_{}", self.name))
    }

    /// Runs it with and without layouts on the same numbers; the error says where they differ.
    fn compare(&self, engine: &ExecutionEngine, form: Form, seed: u64) -> Result<(), String> {
        let run = |prefix: &str, arrays: &dyn Fn(&Array) -> Array| {
            // The same numbers for both.
            let mut rng = Rng::with_seed(seed);
            let mut buffers = Vec::new();
            for argument in &self.arguments {
                if let Argument::Array(array) = argument {
                    let numbers: Vec<i64> =
                        (0..array.sizes.iter().product()).map(|_| random_number(&mut rng)).collect();
                    buffers.push(Buffer::new(&arrays(array), &numbers, form, one_of(&mut rng, &GARBAGE)));
                }
            }
            let result = self.result.as_ref().map(arrays);
            let (result, clean) = call_function(
                engine,
                &format!("{prefix}_{}", self.name),
                &self.arguments,
                &mut buffers,
                result.as_ref(),
            );
            let arguments: Vec<_> = buffers.iter().map(Buffer::numbers).collect();
            (arguments, result, clean && buffers.iter().all(Buffer::fenced))
        };
        let (plain, expected, _) = run("plain", &|a| Array { layout: None, ..a.clone() });
        let (tiled, found, fenced) = run("tiled", &Array::clone);
        if !fenced {
            return Err("it wrote where no element is".into());
        }
        let pairs = plain.iter().zip(&tiled).enumerate().map(|(k, (p, t))| (format!("argument {k}"), p, t));
        for (what, expected, found) in pairs.chain([("the result".to_owned(), &expected, &found)]) {
            let differs = |k: &usize| found[*k].iter().any(|copy| *copy != expected[*k][0]);
            let differences: Vec<usize> = (0..expected.len()).filter(differs).collect();
            if let Some(first) = differences.first() {
                let (e, f) = (expected[*first][0], &found[*first]);
                let count = differences.len();
                return Err(format!("{what}: {count} of {} differ, number {first} is {f:?}, not {e}", expected.len()));
            }
        }
        Ok(())
    }
}

/// Small and never 0, so that one may divide by it.
fn random_number(rng: &mut Rng) -> i64 {
    let n = rng.i64(1..=5);
    if rng.bool() { n } else { -n }
}

/// An array in memory, garbage where no element is and around it.
struct Buffer {
    array: Array,
    /// Of `u64`, for the alignment.
    memory: Vec<u64>,
    /// The byte offsets of all copies of each element, by its row-major number.
    places: Vec<Vec<usize>>,
    garbage: u8,
    /// The descriptor that compiled code takes.
    descriptor: Vec<u64>,
}

impl Buffer {
    fn new(array: &Array, numbers: &[i64], form: Form, garbage: u8) -> Buffer {
        let (places, elements) = places(array);
        let bytes = elements * array.element.1;
        let mut memory = vec![u64::from_ne_bytes([garbage; 8]); (bytes + 2 * FENCE).div_ceil(8)];
        let start = memory.as_mut_ptr() as u64 + FENCE as u64;
        let mut descriptor = vec![start, start, 0];
        let (sizes, strides) = dimensions(array, form);
        descriptor.extend(sizes.into_iter().chain(strides).map(|n| n as u64));
        let mut buffer = Buffer { array: array.clone(), memory, places, garbage, descriptor };
        for (places, n) in buffer.places.clone().into_iter().zip(numbers) {
            for at in places.into_iter().map(|place| FENCE + place) {
                buffer.all_mut()[at..at + array.element.1].copy_from_slice(&array.element.bytes(*n));
            }
        }
        buffer
    }

    fn all(&self) -> &[u8] {
        // SAFETY: bytes may be read from any initialised memory.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.memory.len() * 8) }
    }

    fn all_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and any bytes make `u64`s.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.memory.len() * 8) }
    }

    fn numbers(&self) -> Vec<Vec<f64>> {
        read(&self.array, &self.places, &self.all()[FENCE..])
    }

    /// Whether what surrounds it and its padding are as they were.
    fn fenced(&self) -> bool {
        let (before, rest) = self.all().split_at(FENCE);
        let free = free(&self.array, &self.places, rest.len());
        let rest = rest.iter().zip(free).filter(|(_, free)| *free).map(|(b, _)| b);
        before.iter().chain(rest).all(|b| *b == self.garbage)
    }
}

/// The byte offsets of all copies of each element, by its row-major number, and how many elements memory holds.
fn places(array: &Array) -> (Vec<Vec<usize>>, usize) {
    let layout = match &array.layout {
        Some(Notation::Spread(spread)) => {
            let mut places = spread.offsets(&array.sizes);
            places.iter_mut().flatten().for_each(|offset| *offset *= array.element.1);
            return (places, spread.elements());
        }
        Some(Notation::Tiled(layout)) => layout.clone(),
        None => Layout::row_major(array.rank()),
    };
    let memory = lay_out(&array.sizes, &layout);
    let mut found = vec![Vec::new(); array.sizes.iter().product::<i64>() as usize];
    for (offset, content) in memory.cells.iter().enumerate() {
        if let Some(index) = content {
            let number = array.sizes.iter().zip(index).fold(0, |at, (n, i)| at * n + i);
            found[number as usize].push(offset * array.element.1);
        }
    }
    (found, memory.cells.len())
}

/// For each of so many bytes, whether no element is there.
fn free(array: &Array, places: &[Vec<usize>], bytes: usize) -> Vec<bool> {
    let mut free = vec![true; bytes];
    for place in places.iter().flatten() {
        free[*place..place + array.element.1].fill(false);
    }
    free
}

fn read(array: &Array, places: &[Vec<usize>], bytes: &[u8]) -> Vec<Vec<f64>> {
    let number = |p: &usize| array.element.number(&bytes[*p..*p + array.element.1]);
    places.iter().map(|copies| copies.iter().map(number).collect()).collect()
}

/// The sizes and strides of the memref that an array is lowered to.
fn dimensions(array: &Array, form: Form) -> (Vec<i64>, Vec<i64>) {
    let layout = match &array.layout {
        Some(Notation::Spread(spread)) => return spread.dimensions().into_iter().unzip(),
        Some(Notation::Tiled(layout)) => layout,
        None => {
            let expansion = Expansion::new(&array.sizes, &Layout::row_major(array.rank())).expect("small");
            return (expansion.sizes().to_vec(), expansion.strides().to_vec());
        }
    };
    let mut parts = Expansion::new(&array.sizes, layout).expect("small").parts();
    if form == Form::Physical {
        parts.sort_by_key(|p| p.position);
    }
    parts.iter().map(|p| (p.size, p.stride)).unzip()
}

/// Calls a compiled function and reads its result; also says whether a result that is spread over places has nothing
/// but elements and garbage.
fn call_function(
    engine: &ExecutionEngine,
    name: &str,
    arguments: &[Argument],
    buffers: &mut [Buffer],
    result: Option<&Array>,
) -> (Vec<Vec<f64>>, bool) {
    // Room for the descriptor of any rank; a pointer to it is the first argument.
    let mut returned = vec![0u64; 256];
    let mut values: Vec<u64> = result.iter().map(|_| returned.as_mut_ptr() as u64).collect();
    let mut arrays = buffers.iter_mut();
    for argument in arguments {
        values.push(match argument {
            Argument::Array(_) => arrays.next().expect("a buffer for each array").descriptor.as_mut_ptr() as u64,
            Argument::Index(n) => *n as u64,
        });
    }
    let mut packed: Vec<*mut ()> = values.iter_mut().map(|v| std::ptr::from_mut(v).cast()).collect();
    // SAFETY: the function takes these descriptors and indices, as its signature was made from the same arguments.
    unsafe { engine.invoke_packed(name, &mut packed) }.expect("the function is there");
    let Some(array) = result else { return (Vec::new(), true) };
    let (places, elements) = places(array);
    let start = (returned[1] + returned[2] * array.element.1 as u64) as *const u8;
    // SAFETY: the buffer holds as many elements as the layout counts. It is not freed: it may be an argument's.
    let bytes = unsafe { std::slice::from_raw_parts(start, elements * array.element.1) };
    let clean = !matches!(array.layout, Some(Notation::Spread(_)))
        || bytes.iter().zip(free(array, &places, bytes.len())).all(|(b, free)| !free || GARBAGE.contains(b));
    (read(array, &places, bytes), clean)
}

/// A list like `%a, %b`.
fn list<T>(items: impl IntoIterator<Item = T>, text: impl FnMut(T) -> String) -> String {
    items.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// A `linalg.generic` that sets `%result`, of arrays whose indices are these dimensions of the iteration space.
fn linalg_generic(
    result: &str,
    inputs: &[(String, &Array, &[usize])],
    output: (String, &Array, &[usize]),
    rank: usize,
    body: &str,
) -> String {
    let all: Vec<_> = inputs.iter().chain([&output]).collect();
    let dims = list(0..rank, |d| format!("d{d}"));
    let maps = list(&all, |a| format!("affine_map<({dims}) -> ({})>", list(a.2, |d| format!("d{d}"))));
    let kinds = list(0..rank, |d| (if output.2.contains(&d) { "\"parallel\"" } else { "\"reduction\"" }).into());
    let elements = list(all.iter().enumerate(), |(k, a)| format!("%x{k}: {}", a.1.element.0));
    let ins = match inputs {
        [] => String::new(),
        _ => format!("ins({} : {})", list(inputs, |a| a.0.clone()), list(inputs, |a| a.1.t())),
    };
    format!(
        "  {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {ins} \
         outs({} : {}) {{\n  ^bb0({elements}):\n{body}\n  }} -> {}\n",
        output.0,
        output.1.t(),
        output.1.t()
    )
}

fn empty(name: &str, array: &Array) -> String {
    format!("  {name} = tensor.empty() : {}\n", array.t())
}

fn fill(name: &str, array: &Array, n: i64) -> String {
    let (t, element) = (array.t(), array.element);
    format!(
        "  {name}_e = tensor.empty() : {t}\n  {name}_c = arith.constant {} : {}\n  \
         {name} = linalg.fill ins({name}_c : {}) outs({name}_e : {t}) -> {t}\n",
        element.literal(n),
        element.0,
        element.0
    )
}

fn convert(rng: &mut Rng) -> Program {
    let rank = rng.usize(0..=4);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let [a, b, c] = [(); 3].map(|()| Array::new(rng, &sizes, element));
    let body = format!(
        "  %b = layout.convert %a0 : {} to {}\n  %r = layout.convert %b : {} to {}",
        a.t(),
        b.t(),
        b.t(),
        c.t()
    );
    let twice = rng.bool();
    let once = format!("  %r = layout.convert %a0 : {} to {}", a.t(), c.t());
    Program::of_tensors(&[&a], &[], &c, if twice { &body } else { &once })
}

/// Two or three operands, each in a layout of its own; integers divide, which padding of zeros would trap.
fn elementwise(rng: &mut Rng) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let arrays: Vec<Array> = (0..rng.usize(2..=3)).map(|_| Array::new(rng, &sizes, element)).collect();
    let result = Array::new(rng, &sizes, element);
    let identity: Vec<usize> = (0..rank).collect();
    let last = arrays.len() - 1;
    let first = if element.2 == Kind::Integer { "div" } else { "sub" };
    let body = format!(
        "    %y = {} %x0, %x1 : {t}\n    %z = {} %y, %x{last} : {t}\n    linalg.yield %z : {t}",
        element.op(first),
        element.op(one_of(rng, &["add", "mul", "max"])),
        t = element.0
    );
    let inputs: Vec<_> = arrays.iter().enumerate().map(|(k, a)| (format!("%a{k}"), a, &identity[..])).collect();
    let text = empty("%e", &result) + &linalg_generic("%r", &inputs, ("%e".into(), &result, &identity), rank, &body);
    Program::of_tensors(&arrays.iter().collect::<Vec<_>>(), &[], &result, &text)
}

/// Operations of `arith` on whole tensors, and a comparison and selection, all in one layout.
fn chain(rng: &mut Rng) -> Program {
    let rank = rng.usize(0..=3);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let [a, b] = [(); 2].map(|()| Array::new(rng, &sizes, element));
    let bits = Array { element: I1, ..a.clone() };
    let compare = if element.2 == Kind::Float { "arith.cmpf olt" } else { "arith.cmpi slt" };
    let text = format!(
        "  %b = layout.convert %a1 : {} to {t}\n  %s = {} %a0, %b : {t}\n  %m = {} %s, %a0 : {t}\n  \
         %c = {compare}, %m, %b : {t}\n  %r = arith.select %c, %m, %a0 : {}, {t}",
        b.t(),
        element.op(one_of(rng, &["add", "sub"])),
        element.op(one_of(rng, &["mul", "min", "max"])),
        bits.t(),
        t = a.t(),
    );
    Program::of_tensors(&[&a, &b], &[], &a, &text)
}

/// Two operands and a result, each indexed by some of the dimensions in some order: contractions, broadcasts,
/// transposes, reductions. Every dimension is in some operand.
fn generic(rng: &mut Rng) -> Program {
    let rank = rng.usize(1..=4);
    let extents: Vec<i64> = (0..rank).map(|_| rng.i64(1..9)).collect();
    let mut some = |all: bool| {
        let mut dims: Vec<usize> = (0..rank).filter(|_| all || rng.u8(0..3) > 0).collect();
        rng.shuffle(&mut dims);
        dims
    };
    let maps = [some(false), some(true), some(false)];
    let (narrow, wide) = one_of(rng, &[(I32, I32), (F32, F32), (F64, F64), (I8, I8), (I64, I64)]);
    let sized = |rng: &mut Rng, map: &[usize], element| {
        Array::new(rng, &map.iter().map(|d| extents[*d]).collect::<Vec<_>>(), element)
    };
    let [a, b] = [&maps[0], &maps[1]].map(|m| sized(rng, m, narrow));
    let r = sized(rng, &maps[2], wide);
    let body = format!(
        "    %y = {} %x0, %x1 : {t}\n    %z = {} %y, %x2 : {t}\n    linalg.yield %z : {t}",
        wide.op("mul"),
        wide.op(one_of(rng, &["add", "max", "min"])),
        t = wide.0
    );
    let inputs = [("%a0".to_owned(), &a, &maps[0][..]), ("%a1".to_owned(), &b, &maps[1][..])];
    let text = fill("%e", &r, -3) + &linalg_generic("%r", &inputs, ("%e".into(), &r, &maps[2]), rank, &body);
    Program::of_tensors(&[&a, &b], &[], &r, &text)
}

fn matmul(rng: &mut Rng) -> Program {
    let [m, n, k] = [(); 3].map(|()| if rng.u8(0..4) == 0 { rng.i64(10..40) } else { rng.i64(1..10) });
    let (narrow, wide) = one_of(rng, &[(BF16, F32), (F32, F32), (I8, I32), (F64, F64), (I32, I32)]);
    let batch = if rng.u8(0..4) == 0 { vec![rng.i64(1..4)] } else { Vec::new() };
    let op = if batch.is_empty() { "linalg.matmul" } else { "linalg.batch_matmul" };
    let a = Array::new(rng, &[&batch[..], &[m, k]].concat(), narrow);
    let b = Array::new(rng, &[&batch[..], &[k, n]].concat(), narrow);
    let r = Array::new(rng, &[&batch[..], &[m, n]].concat(), wide);
    let text = fill("%e", &r, 0)
        + &format!("  %r = {op} ins(%a0, %a1 : {}, {}) outs(%e : {r}) -> {r}", a.t(), b.t(), r = r.t());
    Program::of_tensors(&[&a, &b], &[], &r, &text)
}

/// A product whose contraction is spread over an axis that the result leaves alone.
fn contract(rng: &mut Rng) -> Program {
    let [m, n, k] = [rng.i64(1..8), rng.i64(1..8), rng.i64(2..14)];
    let (narrow, wide) = one_of(rng, &[(F32, F32), (I8, I32), (F64, F64)]);
    loop {
        let (a, b) = (Array::new(rng, &[m, k], narrow), Array::new(rng, &[k, n], narrow));
        let r = Array::new(rng, &[m, n], wide);
        let (Some(Notation::Spread(from)), Some(Notation::Spread(to))) = (&a.layout, &r.layout) else { continue };
        if from.only_over(1).into_iter().all(|axis| to.is_over(axis)) {
            continue;
        }
        let text = fill("%e", &r, 3)
            + &format!("  %r = linalg.matmul ins(%a0, %a1 : {}, {}) outs(%e : {r}) -> {r}", a.t(), b.t(), r = r.t());
        return Program::of_tensors(&[&a, &b], &[], &r, &text);
    }
}

/// An operation with two results.
fn pair(rng: &mut Rng) -> Program {
    let (sizes, element) = (random_sizes(rng, 2), one_of(rng, &[I32, F32]));
    let [a, s, r] = [(); 3].map(|()| Array::new(rng, &sizes, element));
    let text = format!(
        "  %s = tensor.empty() : {s}\n  %e = tensor.empty() : {r}\n  %p:2 = linalg.generic {{indexing_maps = [#id, #id, \
         #id], iterator_types = [\"parallel\", \"parallel\"]}} ins(%a0 : {}) outs(%s, %e : {s}, {r}) {{\n  ^bb0(%x0: {t}, \
         %x1: {t}, %x2: {t}):\n    %y = {} %x0, %x0 : {t}\n    linalg.yield %x0, %y : {t}, {t}\n  }} -> ({s}, {r})\n  \
         %c = layout.convert %p#0 : {s} to {r}\n  %r = {} %c, %p#1 : {r}",
        a.t(),
        element.op("add"),
        element.op("mul"),
        s = s.t(),
        r = r.t(),
        t = element.0
    );
    let text = text.replace("#id", "affine_map<(i, j) -> (i, j)>");
    Program::of_tensors(&[&a], &[], &r, &text)
}

/// Sums, least and greatest along some dimensions; the numbers for the latter are all of one sign.
fn reduce(rng: &mut Rng) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, &[I8, I32, I64, F32, F64]));
    let a = Array::new(rng, &sizes, element);
    let kept: Vec<usize> = (0..rank).filter(|d| d + 1 < rank && rng.bool()).collect();
    let r = Array::new(rng, &kept.iter().map(|d| sizes[*d]).collect::<Vec<_>>(), element);
    let (op, start, sign) = one_of(rng, &[("add", 0, 1), ("max", -100, -1), ("min", 100, 1)]);
    // One sign: times itself, negated where the greatest is asked for.
    let body = format!(
        "    %c = arith.constant {} : {t}\n    %q = {mul} %x0, %x0 : {t}\n    %y = {mul} %q, %c : {t}\n    \
         %z = {} %y, %x1 : {t}\n    linalg.yield %z : {t}",
        element.literal(sign),
        element.op(op),
        mul = element.op("mul"),
        t = element.0
    );
    let identity: Vec<usize> = (0..rank).collect();
    let text = fill("%e", &r, start)
        + &linalg_generic("%r", &[("%a0".into(), &a, &identity)], ("%e".into(), &r, &kept), rank, &body);
    Program::of_tensors(&[&a], &[], &r, &text)
}

fn transpose(rng: &mut Rng) -> Program {
    let rank = rng.usize(2..=4);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let mut permutation: Vec<usize> = (0..rank).collect();
    rng.shuffle(&mut permutation);
    let a = Array::new(rng, &sizes, element);
    let r = Array::new(rng, &permutation.iter().map(|d| sizes[*d]).collect::<Vec<_>>(), element);
    let text = empty("%e", &r)
        + &format!("  %r = linalg.transpose ins(%a0 : {}) outs(%e : {}) permutation = {permutation:?}", a.t(), r.t());
    Program::of_tensors(&[&a], &[], &r, &text)
}

/// A slice of one tensor into another, at places that only the caller knows.
fn slices(rng: &mut Rng) -> Program {
    let rank = some_rank(rng);
    let element = one_of(rng, ELEMENTS);
    let (from, to) = (random_sizes(rng, rank), random_sizes(rng, rank));
    let sizes: Vec<i64> = from.iter().zip(&to).map(|(a, b)| rng.i64(1..=*a.min(b))).collect();
    let [a, b, s] = [&from, &to, &sizes].map(|s| Array::new(rng, s, element));
    let s = match &a.layout {
        // The source's layout on other sizes.
        Some(layout) if rng.bool() => Array { layout: Some(layout.clone()), ..s },
        _ => s,
    };
    let mut offsets = Vec::new();
    let mut place = |rng: &mut Rng, within: &[i64]| {
        let strides = sizes.iter().zip(within).map(|(n, w)| if *n > 1 { rng.i64(1..=(w - 1) / (n - 1)) } else { 1 });
        let strides: Vec<i64> = strides.collect();
        // Each start is a number or an argument.
        let starts = list(0..rank, |d| {
            let start = rng.i64(0..=within[d] - 1 - (sizes[d] - 1) * strides[d]);
            if rng.bool() {
                return start.to_string();
            }
            offsets.push(start);
            format!("%i{}", offsets.len() - 1)
        });
        format!("[{starts}] {sizes:?} {strides:?}")
    };
    let (p, q) = (place(rng, &from), place(rng, &to));
    let text = format!(
        "  %s = tensor.extract_slice %a0{p} : {} to {s}\n  %t = {} %s, %s : {s}\n  \
         %r = tensor.insert_slice %t into %a1{q} : {s} into {}",
        a.t(),
        element.op("add"),
        b.t(),
        s = s.t()
    );
    Program::of_tensors(&[&a, &b], &offsets, &b, &text)
}

/// The sum of a slice of a size that only the caller knows, with one index fixed.
fn window(rng: &mut Rng) -> Program {
    let rank = rng.usize(2..=4);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, &[I8, I32, I64, F32, F64]));
    let lengths: Vec<i64> = sizes.iter().map(|n| rng.i64(1..=*n)).collect();
    let starts: Vec<i64> = sizes.iter().zip(&lengths).map(|(n, l)| rng.i64(0..=n - l)).collect();
    let a = Array::new(rng, &sizes, element);
    let (fixed, free) = (rng.usize(..rank), rng.usize(..rank));
    let length = |d: usize| match d {
        _ if d == fixed => "1".to_owned(),
        _ if d == free => format!("%i{rank}"),
        _ => lengths[d].to_string(),
    };
    let kept: Vec<usize> = (0..rank).filter(|d| *d != fixed).collect();
    let slice = Array {
        sizes: kept.iter().map(|d| lengths[*d]).collect(),
        element,
        layout: None,
        unknown: kept.iter().position(|d| *d == free),
    };
    let sum = Array { sizes: Vec::new(), element, layout: None, unknown: None };
    let body = format!("    %y = {} %x0, %x1 : {t}\n    linalg.yield %y : {t}", element.op("add"), t = element.0);
    let identity: Vec<usize> = (0..rank - 1).collect();
    let text = fill("%e", &sum, 0)
        + &format!(
            "  %s = tensor.extract_slice %a0[{}] [{}] {:?} : {} to {}\n",
            list(0..rank, |d| format!("%i{d}")),
            list(0..rank, length),
            vec![1; rank],
            a.t(),
            slice.t()
        )
        + &linalg_generic("%r", &[("%s".into(), &slice, &identity)], ("%e".into(), &sum, &[]), rank - 1, &body);
    Program::of_tensors(&[&a], &[&starts[..], &[lengths[free]]].concat(), &sum, &text)
}

/// Tensors whose outermost size only the caller knows; tiles do not reach it.
fn dynamic(rng: &mut Rng) -> Program {
    let rank = rng.usize(1..=3);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let unknown = rng.usize(..rank);
    let array = |rng: &mut Rng| {
        let mut layout = Layout::row_major(rank);
        layout.minor_to_major.retain(|d| *d != unknown);
        rng.shuffle(&mut layout.minor_to_major);
        layout.minor_to_major.push(unknown);
        let mut length = rank - 1;
        while length > 0 && rng.bool() {
            layout.tiles.push((0..length).map(|_| TileEntry::Size(rng.i64(1..6))).collect());
            length = rng.usize(..=length);
        }
        let layout = (rng.u8(0..6) > 0).then_some(Notation::Tiled(layout));
        Array { sizes: sizes.clone(), element, layout, unknown: Some(unknown) }
    };
    let [a, b, r] = [(); 3].map(|()| array(rng));
    let identity: Vec<usize> = (0..rank).collect();
    let body = format!("    %y = {} %x0, %x1 : {t}\n    linalg.yield %y : {t}", element.op("sub"), t = element.0);
    let inputs = [("%a0".to_owned(), &a, &identity[..]), ("%b".to_owned(), &r, &identity[..])];
    let text = format!(
        "  %d = arith.constant {unknown} : index\n  %n = tensor.dim %a0, %d : {}\n  \
         %e = tensor.empty(%n) : {r}\n  %b = layout.convert %a1 : {} to {r}\n",
        a.t(),
        b.t(),
        r = r.t()
    ) + &linalg_generic("%r", &inputs, ("%e".into(), &r, &identity), rank, &body);
    Program::of_tensors(&[&a, &b], &[], &r, &text)
}

fn pad(rng: &mut Rng) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let [low, high] = [(); 2].map(|()| (0..rank).map(|_| rng.i64(0..3)).collect::<Vec<i64>>());
    let padded: Vec<i64> = (0..rank).map(|d| low[d] + sizes[d] + high[d]).collect();
    let (a, r) = (Array::new(rng, &sizes, element), Array::new(rng, &padded, element));
    let text = format!(
        "  %c = arith.constant {} : {t}\n  %r = tensor.pad %a0 low{low:?} high{high:?} {{\n  ^bb0({}):\n    \
         tensor.yield %c : {t}\n  }} : {} to {}",
        element.literal(7),
        list(0..rank, |d| format!("%j{d}: index")),
        a.t(),
        r.t(),
        t = element.0
    );
    Program::of_tensors(&[&a], &[], &r, &text)
}

/// Dimensions taken together or apart, and what is computed from that.
fn reshape(rng: &mut Rng) -> Program {
    let rank = rng.usize(1..=4);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let mut groups: Vec<Vec<usize>> = vec![vec![0]];
    for d in 1..rank {
        if rng.bool() {
            groups.push(Vec::new());
        }
        groups.last_mut().expect("never empty").push(d);
    }
    let collapsed: Vec<i64> = groups.iter().map(|g| g.iter().map(|d| sizes[*d]).product()).collect();
    let collapse = rng.bool();
    let (from, to) = if collapse { (&sizes, &collapsed) } else { (&collapsed, &sizes) };
    let (a, s, r) = (Array::new(rng, from, element), Array::new(rng, to, element), Array::new(rng, to, element));
    let shape = if collapse { String::new() } else { format!("output_shape {to:?} ") };
    let name = if collapse { "collapse_shape" } else { "expand_shape" };
    let text = format!(
        "  %s = tensor.{name} %a0 {groups:?} {shape}: {} into {s}\n  %d = {} %s, %s : {s}\n  \
         %r = layout.convert %d : {s} to {}",
        a.t(),
        element.op("add"),
        r.t(),
        s = s.t()
    );
    Program::of_tensors(&[&a], &[], &r, &text)
}

/// A loop that carries a tensor and changes one element or all of them each time.
fn a_loop(rng: &mut Rng) -> Program {
    let rank = rng.usize(1..=3);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, &[I8, I32, I64]));
    let [a, b] = [(); 2].map(|()| Array::new(rng, &sizes, element));
    let (t, identity) = (a.t(), (0..rank).collect::<Vec<_>>());
    let d = rng.usize(..rank);
    let index = list(0..rank, |k| if k == d { "%k".into() } else { "%i0".into() });
    let step = match rng.u8(0..3) {
        0 => format!(
            "    %y = tensor.extract %a1[{index}] : {}\n    %z = tensor.extract %c[{index}] : {t}\n    \
             %s = {} %y, %z : {e}\n    %n = tensor.insert %s into %c[{index}] : {t}\n",
            b.t(),
            element.op("mul"),
            e = element.0
        ),
        1 => {
            let body =
                format!("    %y = {} %x0, %x1 : {e}\n    linalg.yield %y : {e}", element.op("sub"), e = element.0);
            linalg_generic("%n", &[("%a1".into(), &b, &identity)], ("%c".into(), &a, &identity), rank, &body)
        }
        _ => {
            let body =
                format!("    %y = {} %x0, %x1 : {e}\n    linalg.yield %y : {e}", element.op("add"), e = element.0);
            let mut row = a.clone();
            row.sizes[d] = 1;
            let starts = list(0..rank, |k| if k == d { "%k".into() } else { "0".into() });
            let place = format!("[{starts}] {:?} {:?}", row.sizes, vec![1; rank]);
            let other = Array { sizes: row.sizes.clone(), ..b.clone() };
            format!(
                "    %p = tensor.extract_slice %c{place} : {t} to {}\n    \
                 %q = tensor.extract_slice %a1{place} : {} to {}\n",
                row.t(),
                b.t(),
                other.t()
            ) + &linalg_generic("%u", &[("%q".into(), &other, &identity)], ("%p".into(), &row, &identity), rank, &body)
                + &format!("    %n = tensor.insert_slice %u into %c{place} : {} into {t}\n", row.t())
        }
    };
    let text = format!(
        "  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n  %end = arith.constant {} : index\n  \
         %r = scf.for %k = %zero to %end step %one iter_args(%c = %a0) -> ({t}) {{\n{step}    scf.yield %n : {t}\n  }}",
        sizes[d]
    );
    Program::of_tensors(&[&a, &b], &[0], &a, &text)
}

fn branch(rng: &mut Rng) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let [a, b, r] = [(); 3].map(|()| Array::new(rng, &sizes, element));
    let text = format!(
        "  %one = arith.constant 1 : index\n  %k = arith.cmpi slt, %i0, %one : index\n  \
         %s = scf.if %k -> ({r}) {{\n    %x = layout.convert %a0 : {} to {r}\n    scf.yield %x : {r}\n  \
         }} else {{\n    %x = layout.convert %a1 : {} to {r}\n    %y = {} %x, %x : {r}\n    scf.yield %y : {r}\n  }}\n  \
         %r = {} %s, %s : {r}",
        a.t(),
        b.t(),
        element.op("mul"),
        element.op("sub"),
        r = r.t()
    );
    Program::of_tensors(&[&a, &b], &[rng.i64(0..2)], &r, &text.replace("%r = arith.sub", "%r = arith.add"))
}

/// Layouts in the signatures of several functions.
fn call(rng: &mut Rng) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let [a, b, r] = [(); 3].map(|()| Array::new(rng, &sizes, element));
    let private = if rng.bool() { "private " } else { "" };
    let helper = format!(
        "func.func {private}@NAME_helper(%x: {a}, %y: {b}) -> ({b}, {a}) {{\n  \
         %z = layout.convert %x : {a} to {b}\n  %s = {add} %z, %y : {b}\n  \
         %w = {add} %x, %x : {a}\n  return %s, %w : {b}, {a}\n}}",
        add = element.op("add"),
        a = a.t(),
        b = b.t()
    );
    let text = format!(
        "  %s:2 = func.call @NAME_helper(%a0, %a1) : ({a}, {b}) -> ({b}, {a})\n  \
         %t:2 = func.call @NAME_helper(%s#1, %s#0) : ({a}, {b}) -> ({b}, {a})\n  \
         %u = layout.convert %s#1 : {a} to {b}\n  %v = {} %t#0, %u : {b}\n  %r = layout.convert %v : {b} to {}",
        element.op("add"),
        r.t(),
        a = a.t(),
        b = b.t()
    );
    Program::of_tensors(&[&a, &b], &[], &r, &text).with(&helper)
}

/// The text of a dense constant of these sizes.
fn nested(sizes: &[i64], next: &mut dyn FnMut() -> String) -> String {
    match sizes {
        [] => next(),
        [n, rest @ ..] => format!("[{}]", list(0..*n, |_| nested(rest, next))),
    }
}

fn constant(rng: &mut Rng) -> Program {
    let rank = rng.usize(0..=3);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, &[I1, I8, I16, I32, I64, BF16, F32, F64]));
    let a = Array::new(rng, &sizes, element);
    let data = if rng.u8(0..4) == 0 {
        element.literal(3)
    } else {
        nested(&sizes, &mut || element.literal(random_number(rng)))
    };
    let op = if element == I1 { "arith.xori".into() } else { element.op("sub") };
    let text = format!("  %c = arith.constant dense<{data}> : {t}\n  %r = {op} %a0, %c : {t}", t = a.t());
    Program::of_tensors(&[&a], &[], &a, &text)
}

/// Loops around `body` over indices `%j0`, `%j1`, .. below these sizes.
fn loops(sizes: &[i64], body: &str) -> String {
    let mut text = "  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n".to_owned();
    for (d, n) in sizes.iter().enumerate() {
        write!(text, "  %n{d} = arith.constant {n} : index\n  scf.for %j{d} = %zero to %n{d} step %one {{\n")
            .expect("a string takes it");
    }
    text + body + &"  }\n".repeat(sizes.len())
}

/// Loads and stores in loops, of one element each, backwards too.
fn loads(rng: &mut Rng) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, &[I1, I8, I16, I32, I64, BF16, F32, F64]));
    let mut permutation: Vec<usize> = (0..rank).collect();
    rng.shuffle(&mut permutation);
    let a = Array::new(rng, &sizes, element);
    let b = Array::new(rng, &permutation.iter().map(|d| sizes[*d]).collect::<Vec<_>>(), element);
    let back = rng.usize(..rank);
    let body = format!(
        "  %last = arith.constant {} : index\n  %back = arith.subi %last, %j{back} : index\n  \
         %x = memref.load %a0[{}] : {}\n  memref.store %x, %a1[{}] : {}\n",
        sizes[back] - 1,
        list(0..rank, |d| format!("%j{d}")),
        a.m(),
        list(&permutation, |d| if *d == back { "%back".into() } else { format!("%j{d}") }),
        b.m()
    );
    Program::of_memrefs(&[&a, &b], &[], &loops(&sizes, &body))
}

/// Affine loops and accesses, with offsets and an unknown one.
fn affine(rng: &mut Rng) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let (a, b) = (Array::new(rng, &sizes, element), Array::new(rng, &sizes, element));
    let extents: Vec<i64> = sizes.iter().map(|n| rng.i64(1..=*n)).collect();
    let offsets: Vec<i64> = sizes.iter().zip(&extents).map(|(n, e)| rng.i64(0..=n - e)).collect();
    let d = rng.usize(..rank);
    let mut text = String::new();
    for (k, n) in extents.iter().enumerate() {
        writeln!(text, "  affine.for %j{k} = 0 to {n} {{").expect("a string takes it");
    }
    write!(
        text,
        "  %x = affine.load %a0[{}] : {}\n  %y = affine.load %a1[{}] : {b}\n  %z = {} %x, %y : {}\n  \
         affine.store %z, %a1[{}] : {b}\n",
        list(0..rank, |k| format!("%j{k} + {}", offsets[k])),
        a.m(),
        list(0..rank, |k| if k == d { "%j".to_owned() + &k.to_string() + " + symbol(%i0)" } else { format!("%j{k}") }),
        element.op("add"),
        element.0,
        list(0..rank, |k| format!("{} - %j{k}", extents[k] - 1)),
        b = b.m()
    )
    .expect("a string takes it");
    text += &"  }\n".repeat(rank);
    Program::of_memrefs(&[&a, &b], &[offsets[d]], &text)
}

/// A buffer of the function's own, copies, conversions and a structured operation.
fn buffers(rng: &mut Rng) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let [a, b, mut c, d] = [(); 4].map(|()| Array::new(rng, &sizes, element));
    // Where sizes are merged, upstream wants them as operands of the allocation.
    while let Some(Notation::Tiled(layout)) = &c.layout
        && layout.tiles.iter().flatten().any(|entry| *entry == TileEntry::Combine)
    {
        c = Array::new(rng, &sizes, element);
    }
    let alloc = if rng.bool() { "memref.alloc()" } else { "memref.alloca()" };
    let free = if alloc == "memref.alloc()" { format!("  memref.dealloc %c : {}", c.m()) } else { String::new() };
    let text = format!(
        "  %c = {alloc} : {c}\n  memref.copy %a0, %c : {} to {c}\n  \
         linalg.add ins(%c, %a1 : {c}, {b}) outs(%c : {c})\n  \
         %d = layout.convert %c : {c} to {d}\n  memref.copy %d, %a1 : {d} to {b}\n{free}",
        a.m(),
        b = b.m(),
        c = c.m(),
        d = d.m()
    );
    Program::of_memrefs(&[&a, &b], &[], &text)
}

/// Vectors read and written across the edges, transposed, with a mask or without. None reach over places.
fn transfer(rng: &mut Rng) -> Program {
    let rank = rng.usize(1..=3);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, &[I8, I32, I64, F32, F64]));
    let (a, b) = (Array::tiled(rng, &sizes, element), Array::tiled(rng, &sizes, element));
    let mut along: Vec<usize> = (0..rank).collect();
    rng.shuffle(&mut along);
    along.truncate(rng.usize(1..=rank.min(2)));
    let lengths: Vec<i64> = along.iter().map(|_| one_of(rng, &[1, 2, 3, 4, 8])).collect();
    let shape = lengths.iter().map(|n| format!("{n}x")).collect::<String>();
    let vector = format!("vector<{shape}{}>", element.0);
    let dims = list(0..rank, |d| format!("d{d}"));
    let map = format!("affine_map<({dims}) -> ({})>", list(&along, |d| format!("d{d}")));
    let starts: Vec<i64> = sizes.iter().map(|n| rng.i64(0..*n)).collect();
    let inside = |k: usize| starts[along[k]] + lengths[k] <= sizes[along[k]];
    let in_bounds = list(0..along.len(), |k| (inside(k) && k % 2 == 0).to_string());
    let index = list(0..rank, |d| format!("%i{d}"));
    // Stock lowering takes masks along the last dimensions only, so elsewhere there is nothing to compare with.
    let last = along.iter().copied().eq(rank - along.len()..rank);
    let masked = if last && rng.bool() { ", %m" } else { "" };
    let counted = |(k, n): (usize, &i64)| format!("  %m{k} = arith.constant {} : index\n", rng.i64(0..=*n));
    let mut text: String = lengths.iter().enumerate().map(counted).collect();
    write!(
        text,
        "  %m = vector.create_mask {} : vector<{shape}i1>\n  %p = arith.constant {} : {}\n  \
         %v = vector.transfer_read %a0[{index}], %p{masked} {{in_bounds = [{in_bounds}], permutation_map = {map}}} \
         : {}, {vector}\n  %w = {} %v, %v : {vector}\n  \
         vector.transfer_write %w, %a1[{index}]{masked} {{in_bounds = [{in_bounds}], permutation_map = {map}}} \
         : {vector}, {}\n",
        list(0..along.len(), |k| format!("%m{k}")),
        element.literal(5),
        element.0,
        a.m(),
        element.op("add"),
        b.m()
    )
    .expect("a string takes it");
    Program::of_memrefs(&[&a, &b], &starts, &text)
}
