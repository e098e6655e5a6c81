//! Random programs over random layouts, each run twice: as it is, and with the layouts taken away.
//!
//! Each template below makes programs: functions from tensors or memrefs, most of them laid out somehow, to a result.
//! They are lowered by the pipeline `layout-to-llvm` in both forms and run in this process on buffers that the slow
//! evaluator of `definition.rs` lays out. Padding and what surrounds the buffers is filled with garbage. Afterwards
//! every element must be what the program without layouts left there, where the definition says that it is, and what
//! surrounds the buffers must not have changed. All numbers are small integers, so floating-point sums are exact.
//!
//! As many programs, of larger sizes, become vector code, with other options for every few of them. Where these allow no
//! other rounding and the program says in which order it adds, the numbers are such that every sum is rounded: then all
//! bits must be those of the program without layouts, one element at a time.
//!
//! `LAYOUT_SEED` and `LAYOUT_PROGRAMS` (for each template and form) make a longer run; a report names the seed.

mod board;
#[expect(dead_code, reason = "the expanded sizes are for those who test the maths")]
mod definition;

use board::Spread;
use definition::lay_out;
use fastrand::Rng;
use layout_passes::{Form, Options, Parallel, Target};
use libtest_mimic::{Arguments, Failed, Trial};
use melior::{
    Context, ExecutionEngine, diagnostic::DiagnosticSeverity, dialect::DialectRegistry, ir::Module,
    ir::operation::OperationLike, pass::PassManager, utility,
};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::{env, fmt::Write, process::Command, process::ExitCode, slice};
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::{Layout, TileEntry};

/// Programs for each template and form, unless `LAYOUT_PROGRAMS` says otherwise; as many again become vector code.
const PROGRAMS: usize = 8;
/// How many programs become vector code with the same options.
const BATCH: usize = 4;
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

/// How far numbers may be from what is expected, relatively, where they are rounded in another order.
const TOLERANCE: f64 = 1e-5;

/// Random numbers, and what they are for.
struct Source {
    rng: Rng,
    /// Whether vector code is made: sizes are larger then, and layouts leave more elements side by side.
    vectors: bool,
    /// Whether nothing has a layout.
    plain: bool,
}

impl Deref for Source {
    type Target = Rng;

    fn deref(&self) -> &Rng {
        &self.rng
    }
}

impl DerefMut for Source {
    fn deref_mut(&mut self) -> &mut Rng {
        &mut self.rng
    }
}

/// Makes a program.
type Template = fn(&mut Source) -> Program;

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
    ("cast", cast),
    ("fold", fold),
    ("batches", batches),
    ("views", views),
    ("softmax", softmax),
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
    let rng = Rng::with_seed(seed.wrapping_mul(1000).wrapping_add(at as u64));
    let mut source = Source { rng, vectors: false, plain: false };
    let mut numbered = Vec::new();
    for k in 0..2 * programs {
        source.vectors = k >= programs;
        source.plain = source.vectors && source.u8(0..10) == 0;
        numbered.push(make(&mut source).numbered(k));
    }
    let (scalar, vectors) = numbered.split_at(programs);

    let registry = DialectRegistry::new();
    utility::register_all_dialects(&registry);
    layout_dialect::register(&registry);
    let context = Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    utility::register_all_llvm_translations(&context);
    utility::register_all_passes();
    layout_passes::register();

    let (_, llvm) = env::vars()
        .find(|(name, _)| name.starts_with("MLIR_SYS_") && name.ends_with("_PREFIX"))
        .expect("MLIR_SYS_*_PREFIX says where LLVM is; .cargo/config.toml sets it");
    // The engine reads on to a zero byte, whatever the length says.
    let library = format!("{llvm}/lib/libmlir_c_runner_utils.so\0");
    let engine = |texts: &[String], options| {
        let (module, scalar) = compile(&context, texts, options)?;
        let engine = ExecutionEngine::new(&module, 0, &[library.trim_end_matches('\0')], false, false);
        Some((engine, scalar))
    };
    let all: Vec<String> = numbered.iter().map(|p| without_layouts(&p.named("plain"))).collect();
    let Some((plain, _)) = engine(&all, form.into()) else {
        for (program, text) in numbered.iter().zip(all) {
            if compile(&context, &[text], form.into()).is_none() {
                eprintln!("does not compile without layouts:\n{}", program.text);
            }
        }
        return ExitCode::from(DIFFERENT as u8);
    };
    let mut batches = vec![(scalar, Options::from(form))];
    batches.extend(vectors.chunks(BATCH).map(|batch| (batch, random_options(&mut source, form))));
    let mut failed = false;
    for (batch, options) in batches {
        let texts: Vec<String> = batch.iter().map(|p| p.named("tiled")).collect();
        println!("{MARK}compiling with {options}\n{}", texts.concat());
        let Some((tiled, scalar)) = engine(&texts, options) else {
            for (program, text) in batch.iter().zip(texts) {
                println!("{MARK}{options}\n{}", program.text);
                if compile(&context, &[text], options).is_none() {
                    eprintln!("does not compile with {options}:\n{}", program.text);
                }
            }
            failed = true;
            continue;
        };
        for (program, scalar) in batch.iter().zip(scalar) {
            let seed = source.u64(..);
            let vectors = options.vectorize != Target::None && !scalar;
            println!("{MARK}{options}{}\n{}", if vectors { ", all in vectors" } else { "" }, program.text);
            // One at a time, they may come in the order of memory.
            if program.digits && !vectors {
                continue;
            }
            let rounding = match () {
                () if vectors && program.ordered && !options.reassociate && !options.contract => Rounding::Same,
                () if program.rounded => Rounding::Other,
                () => Rounding::None,
            };
            if let Err(difference) = program.compare(&plain, &tiled, form, seed, rounding) {
                eprintln!("{difference}, with {options}\n{}", program.text);
                failed = true;
            }
        }
    }
    if failed { ExitCode::from(DIFFERENT as u8) } else { ExitCode::SUCCESS }
}

/// Asks for vector code of some kind.
fn random_options(rng: &mut Rng, form: Form) -> Options {
    Options {
        form,
        vectorize: one_of(rng, &Target::ALL[1..]),
        vector_bits: one_of(rng, &[0, 0, 0, 0, 64, 128, 256, 512]),
        vector_registers: one_of(rng, &[0, 0, 0, 8, 11, 16, 32]),
        reassociate: rng.u8(0..3) == 0,
        contract: rng.u8(0..3) == 0,
        cache_bytes: one_of(rng, &[0, 0, 1, 1000, 1 << 20]),
        parallel: one_of(rng, Parallel::ALL),
    }
}

/// How results may be rounded.
#[derive(Clone, Copy, PartialEq)]
enum Rounding {
    /// Not at all.
    None,
    /// As without layouts.
    Same,
    /// In any way.
    Other,
}

/// Lowers a module of these programs; what went wrong is on standard error. Also tells of which programs something stays
/// one element at a time although vectors were asked for.
fn compile<'c>(context: &'c Context, texts: &[String], options: Options) -> Option<(Module<'c>, Vec<bool>)> {
    let remarks = Rc::new(RefCell::new(Vec::new()));
    let told = remarks.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let is_remark = matches!(diagnostic.severity(), DiagnosticSeverity::Remark);
        if is_remark {
            // As in `loc("-":12:3)`.
            let location = diagnostic.location().to_string();
            let line =
                location.split("\":").nth(1).and_then(|rest| rest.split(':').next()).and_then(|n| n.parse().ok());
            told.borrow_mut().push(line.unwrap_or(0usize));
        }
        is_remark
    });
    let text = format!("module attributes {{{}}} {{\n{}}}\n", board::machine(), texts.concat());
    let lowered = Module::parse(context, &text).and_then(|mut module| {
        let passes = PassManager::new(context);
        let pipeline = format!("builtin.module(layout-to-llvm{{{options}}})");
        utility::parse_pass_pipeline(passes.as_operation_pass_manager(), &pipeline).expect("a pipeline");
        passes.run(&mut module).ok()?;
        module.as_operation().verify().then_some(module)
    });
    context.detach_diagnostic_handler(handler);
    // The first line is the module's.
    let mut next = 2;
    let scalar = texts.iter().map(|text| {
        let lines = next..next + text.lines().count();
        next = lines.end;
        remarks.borrow().iter().any(|line| *line == 0 || lines.contains(line))
    });
    lowered.map(|module| (module, scalar.collect()))
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
const F16: Element = Element("f16", 2, Kind::Float);
const BF16: Element = Element("bf16", 2, Kind::Float);
const F32: Element = Element("f32", 4, Kind::Float);
const F64: Element = Element("f64", 8, Kind::Float);
/// All but the smallest.
const ELEMENTS: &[Element] = &[I8, I16, I32, I64, F16, BF16, F32, F64];

impl Element {
    fn bytes(self, n: f64) -> Vec<u8> {
        match self {
            I1 => vec![n as i64 as u8 & 1],
            F16 => {
                let bits = (n as f32).to_bits();
                let exponent = if n == 0.0 { 0 } else { (bits >> 23 & 0xff) + 15 - 127 };
                ((bits >> 16 & 0x8000 | exponent << 10 | bits >> 13 & 0x3ff) as u16).to_le_bytes().to_vec()
            }
            BF16 => (n as f32).to_bits().to_le_bytes()[2..].to_vec(),
            F32 => (n as f32).to_le_bytes().to_vec(),
            F64 => n.to_le_bytes().to_vec(),
            Element(_, bytes, _) => (n as i64).to_le_bytes()[..bytes].to_vec(),
        }
    }

    fn number(self, bytes: &[u8]) -> f64 {
        let mut eight = [0; 8];
        match self {
            I1 => f64::from(bytes[0]),
            F16 => {
                let bits = u16::from_le_bytes([bytes[0], bytes[1]]);
                let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff) / 1024.0);
                let size = match exponent {
                    0 => fraction * 2f64.powi(-14),
                    31 if fraction == 0.0 => f64::INFINITY,
                    31 => f64::NAN,
                    _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
                };
                if bits >> 15 == 1 { -size } else { size }
            }
            BF16 => f64::from(f32::from_le_bytes([0, 0, bytes[0], bytes[1]])),
            F32 => f64::from(f32::from_le_bytes(bytes.try_into().expect("4 bytes"))),
            F64 => f64::from_le_bytes(bytes.try_into().expect("8 bytes")),
            Element(_, n, _) => {
                eight[8 - n..].copy_from_slice(bytes);
                (i64::from_le_bytes(eight) >> (64 - 8 * n)) as f64
            }
        }
    }

    /// A number that is one of few such that the element holds, so that sums of them are rounded.
    fn rough_number(self, rng: &mut Rng) -> f64 {
        let least = match self {
            F16 => -12,
            F32 | BF16 => -20,
            F64 => -50,
            _ => return random_number(rng) as f64,
        };
        f64::from(rng.i32(1..128)) * 2f64.powi(rng.i32(least..=0)) * if rng.bool() { 1.0 } else { -1.0 }
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
    fn new(rng: &mut Source, sizes: &[i64], element: Element) -> Array {
        // No places where vectors are wanted, or hardly ever.
        let kind = rng.u8(0..8);
        let layout = match kind {
            _ if rng.plain => None,
            1..=4 if rng.vectors && rng.u8(0..12) > 0 => Some(Notation::Tiled(random_layout(rng, sizes))),
            0 => None,
            1..=4 if !sizes.is_empty() => Some(Notation::Spread(Spread::random(rng, sizes, element.1))),
            _ => Some(Notation::Tiled(random_layout(rng, sizes))),
        };
        Array { sizes: sizes.to_vec(), element, layout, unknown: None }
    }

    /// With a random tiled layout, or none.
    fn tiled(rng: &mut Source, sizes: &[i64], element: Element) -> Array {
        let layout = (!rng.plain && rng.u8(0..8) > 0).then(|| Notation::Tiled(random_layout(rng, sizes)));
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

fn random_layout(rng: &mut Source, sizes: &[i64]) -> Layout {
    const USUAL: &[&str] =
        &["(8,128)", "(8,128)(2,1)", "(8,128)(4,1)", "(2,2)", "(4)", "(2,4)(2,1)", "(3,4)(2,1)", "(16)(8)(2,1)"];
    const WIDE: &[&str] = &[
        "(8,128)",
        "(8,128)(2,1)",
        "(8,128)(4,1)",
        "(16,128)(2,1)",
        "(8,32)(4,1)",
        "(4,16)(2,1)",
        "(8,16)(8,1)",
        "(16,16)",
        "(8,8)",
        "(4,64)",
        "(2,32)",
        "(256)",
        "(16)",
        "(8,24)",
        "(32,8)(2,1)",
        "(16,32)(8,4)",
        "(4,12)(2,1)",
    ];
    const SIZES: &[i64] = &[1, 2, 2, 3, 4, 4, 5, 8, 8, 12, 16, 16, 32];
    loop {
        let mut layout = Layout::row_major(sizes.len());
        rng.shuffle(&mut layout.minor_to_major);
        match rng.u8(0..10) {
            0 => {}
            1..=4 => {
                let tiles = if rng.vectors { one_of(rng, WIDE) } else { one_of(rng, USUAL) };
                layout.tiles = Layout::parse(&format!("{{0:T{tiles}}}")).expect("a layout").tiles;
            }
            _ => {
                for _ in 0..rng.usize(1..=3) {
                    let length = rng.usize(1..=sizes.len() + 1);
                    let size = |rng: &mut Source| {
                        TileEntry::Size(if rng.vectors { one_of(rng, SIZES) } else { rng.i64(1..6) })
                    };
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

fn random_sizes(rng: &mut Source, rank: usize) -> Vec<i64> {
    if rng.vectors && rng.u8(0..6) > 0 {
        return wide_sizes(rng, rank);
    }
    loop {
        let long = rng.usize(0..3 * rank.max(1));
        let size = |d| if d == long { rng.i64(1..150) } else { rng.i64(1..10) };
        let sizes: Vec<i64> = (0..rank).map(size).collect();
        if sizes.iter().product::<i64>() <= 1200 {
            return sizes;
        }
    }
}

/// Sizes of whole vectors and of such with ragged ends: one or two that are large.
fn wide_sizes(rng: &mut Rng, rank: usize) -> Vec<i64> {
    const WHOLE: &[i64] = &[8, 16, 16, 24, 32, 32, 64, 128, 256];
    loop {
        let (long, second) = (rng.usize(0..rank.max(1)), rng.usize(0..2 * rank.max(1)));
        let whole = rng.bool();
        let size = |d| match d {
            _ if whole && (d == long || d == second) => one_of(rng, WHOLE),
            _ if d == long => rng.i64(10..300),
            _ if d == second => rng.i64(6..70),
            _ => rng.i64(1..8),
        };
        let sizes: Vec<i64> = (0..rank).map(size).collect();
        if sizes.iter().product::<i64>() <= 3000 {
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
    /// Whether it says in which order sums are added up, so that vector code rounds them as it does.
    ordered: bool,
    /// Whether its numbers are rounded whatever goes in.
    rounded: bool,
    /// Whether numbers that are not rounded, too, are what they are in that order only.
    digits: bool,
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
        Program {
            text,
            arguments,
            result: result.cloned(),
            name: String::new(),
            ordered: true,
            rounded: false,
            digits: false,
        }
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

    /// Says whether what it adds is added in the order in which it is written down. Each place adds its own share.
    fn ordered(self, ordered: bool) -> Program {
        let arrays = self.arguments.iter().filter_map(|a| if let Argument::Array(a) = a { Some(a) } else { None });
        let spread = arrays.chain(&self.result).any(|a| matches!(a.layout, Some(Notation::Spread(_))));
        Program { ordered: ordered && !spread, ..self }
    }

    fn numbered(mut self, number: usize) -> Program {
        self.name = format!("p{number}");
        self
    }

    fn named(&self, prefix: &str) -> String {
        self.text.replace("@NAME", &format!("@{prefix}_{}", self.name))
    }

    /// Runs it with and without layouts on the same numbers; the error says where they differ.
    fn compare(
        &self,
        plain: &ExecutionEngine,
        tiled: &ExecutionEngine,
        form: Form,
        seed: u64,
        rounding: Rounding,
    ) -> Result<(), String> {
        let tolerance = if rounding == Rounding::Other { TOLERANCE } else { 0.0 };
        let run = |engine: &ExecutionEngine, prefix: &str, arrays: &dyn Fn(&Array) -> Array| {
            // The same numbers for both.
            let mut rng = Rng::with_seed(seed);
            let mut buffers = Vec::new();
            for argument in &self.arguments {
                if let Argument::Array(array) = argument {
                    let number = |rng: &mut Rng| match rounding {
                        Rounding::Same => array.element.rough_number(rng),
                        _ => random_number(rng) as f64,
                    };
                    let numbers: Vec<f64> = (0..array.sizes.iter().product()).map(|_: i64| number(&mut rng)).collect();
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
        let (plain, expected, _) = run(plain, "plain", &|a| Array { layout: None, ..a.clone() });
        let (tiled, found, fenced) = run(tiled, "tiled", &Array::clone);
        if !fenced {
            return Err("it wrote where no element is".into());
        }
        let pairs = plain.iter().zip(&tiled).enumerate().map(|(k, (p, t))| (format!("argument {k}"), p, t));
        for (what, expected, found) in pairs.chain([("the result".to_owned(), &expected, &found)]) {
            let same =
                |a: f64, b: f64| a == b || (a - b).abs() <= tolerance * b.abs().max(1.0) || (a.is_nan() && b.is_nan());
            let differs = |k: &usize| found[*k].iter().any(|copy| !same(*copy, expected[*k][0]));
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
    fn new(array: &Array, numbers: &[f64], form: Form, garbage: u8) -> Buffer {
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

fn convert(rng: &mut Source) -> Program {
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
fn elementwise(rng: &mut Source) -> Program {
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
fn chain(rng: &mut Source) -> Program {
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
fn generic(rng: &mut Source) -> Program {
    let rank = rng.usize(1..=4);
    let mut extents: Vec<i64> = (0..rank).map(|_| rng.i64(1..9)).collect();
    if rng.vectors && rank < 4 {
        let long = rng.usize(..rank);
        extents[long] = rng.i64(8..60);
    }
    let mut some = |all: bool| {
        let mut dims: Vec<usize> = (0..rank).filter(|_| all || rng.u8(0..3) > 0).collect();
        rng.shuffle(&mut dims);
        dims
    };
    let maps = [some(false), some(true), some(false)];
    let (narrow, wide) = one_of(rng, &[(I32, I32), (F32, F32), (F64, F64), (I8, I8), (I64, I64)]);
    let sized = |rng: &mut Source, map: &[usize], element| {
        Array::new(rng, &map.iter().map(|d| extents[*d]).collect::<Vec<_>>(), element)
    };
    let [a, b] = [&maps[0], &maps[1]].map(|m| sized(rng, m, narrow));
    let r = sized(rng, &maps[2], wide);
    let op = one_of(rng, &["add", "max", "min"]);
    let body = format!(
        "    %y = {} %x0, %x1 : {t}\n    %z = {} %y, %x2 : {t}\n    linalg.yield %z : {t}",
        wide.op("mul"),
        wide.op(op),
        t = wide.0
    );
    let inputs = [("%a0".to_owned(), &a, &maps[0][..]), ("%a1".to_owned(), &b, &maps[1][..])];
    let text = fill("%e", &r, -3) + &linalg_generic("%r", &inputs, ("%e".into(), &r, &maps[2]), rank, &body);
    let ordered = op != "add" || maps[2].len() + 1 >= rank;
    Program::of_tensors(&[&a, &b], &[], &r, &text).ordered(ordered)
}

fn matmul(rng: &mut Source) -> Program {
    let larger = if rng.vectors { 2 } else { 4 };
    let [m, n, k] = [(); 3].map(|()| if rng.u8(0..larger) == 0 { rng.i64(10..40) } else { rng.i64(1..10) });
    let (narrow, wide) = one_of(rng, &[(BF16, F32), (F32, F32), (I8, I32), (F64, F64), (I32, I32)]);
    let batch = if rng.u8(0..4) == 0 { vec![rng.i64(1..4)] } else { Vec::new() };
    let op = if batch.is_empty() { "linalg.matmul" } else { "linalg.batch_matmul" };
    let a = Array::new(rng, &[&batch[..], &[m, k]].concat(), narrow);
    let b = Array::new(rng, &[&batch[..], &[k, n]].concat(), narrow);
    let r = Array::new(rng, &[&batch[..], &[m, n]].concat(), wide);
    let text = fill("%e", &r, 0)
        + &format!("  %r = {op} ins(%a0, %a1 : {}, {}) outs(%e : {r}) -> {r}", a.t(), b.t(), r = r.t());
    Program::of_tensors(&[&a, &b], &[], &r, &text).ordered(true)
}

/// A product whose contraction is spread over an axis that the result leaves alone.
fn contract(rng: &mut Source) -> Program {
    let [m, n, k] = [rng.i64(1..8), rng.i64(1..8), rng.i64(2..14)];
    let (narrow, wide) = one_of(rng, &[(F32, F32), (I8, I32), (F64, F64)]);
    let vectors = std::mem::take(&mut rng.vectors);
    rng.plain = false;
    loop {
        let (a, b) = (Array::new(rng, &[m, k], narrow), Array::new(rng, &[k, n], narrow));
        let r = Array::new(rng, &[m, n], wide);
        let (Some(Notation::Spread(from)), Some(Notation::Spread(to))) = (&a.layout, &r.layout) else { continue };
        if from.only_over(1).into_iter().all(|axis| to.is_over(axis)) {
            continue;
        }
        rng.vectors = vectors;
        let text = fill("%e", &r, 3)
            + &format!("  %r = linalg.matmul ins(%a0, %a1 : {}, {}) outs(%e : {r}) -> {r}", a.t(), b.t(), r = r.t());
        return Program::of_tensors(&[&a, &b], &[], &r, &text).ordered(false);
    }
}

/// An operation with two results.
fn pair(rng: &mut Source) -> Program {
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
fn reduce(rng: &mut Source) -> Program {
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
    Program::of_tensors(&[&a], &[], &r, &text).ordered(true)
}

fn transpose(rng: &mut Source) -> Program {
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
fn slices(rng: &mut Source) -> Program {
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
fn window(rng: &mut Source) -> Program {
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
fn dynamic(rng: &mut Source) -> Program {
    let rank = rng.usize(1..=3);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let unknown = rng.usize(..rank);
    let array = |rng: &mut Source| {
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

fn pad(rng: &mut Source) -> Program {
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
fn reshape(rng: &mut Source) -> Program {
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
fn a_loop(rng: &mut Source) -> Program {
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

fn branch(rng: &mut Source) -> Program {
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
fn call(rng: &mut Source) -> Program {
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

/// Sets `%result` to a number as another element; no operation where they are the same.
fn as_element(result: &str, number: &str, from: Element, to: Element) -> (String, String) {
    let name = match (from.2, to.2) {
        _ if from == to => return (String::new(), number.to_owned()),
        (Kind::Integer, Kind::Integer) => ["arith.extsi", "arith.trunci"][usize::from(to.1 < from.1)],
        (Kind::Float, Kind::Float) => ["arith.extf", "arith.truncf"][usize::from(to.1 < from.1)],
        (Kind::Integer, Kind::Float) => "arith.sitofp",
        (Kind::Float, Kind::Integer) => "arith.fptosi",
    };
    (format!("    {result} = {name} {number} : {} to {}\n", from.0, to.0), result.to_owned())
}

fn shuffled(rng: &mut Rng, mut dims: Vec<usize>) -> Vec<usize> {
    rng.shuffle(&mut dims);
    dims
}

fn of_extents(rng: &mut Source, extents: &[i64], dims: &[usize], element: Element) -> Array {
    Array::new(rng, &dims.iter().map(|d| extents[*d]).collect::<Vec<_>>(), element)
}

/// Operands of any elements, transposed and repeated, and indices, to a result of another element.
fn cast(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let sizes = random_sizes(rng, rank);
    let wide = one_of(rng, &[F32, F32, F64, I32, I64]);
    let (mut arrays, mut maps, mut body, mut sum) = (Vec::new(), Vec::new(), String::new(), String::new());
    for k in 0..rng.usize(1..=3) {
        let dims = (0..rank).filter(|_| k == 0 || rng.bool()).collect();
        let (dims, element) = (shuffled(rng, dims), one_of(rng, ELEMENTS));
        arrays.push(of_extents(rng, &sizes, &dims, element));
        maps.push(dims);
        let (text, number) = as_element(&format!("%w{k}"), &format!("%x{k}"), element, wide);
        body += &text;
        let op = wide.op(one_of(rng, &["add", "sub", "max", "min"]));
        body += &if k == 0 { String::new() } else { format!("    %s{k} = {op} {sum}, {number} : {}\n", wide.0) };
        sum = if k == 0 { number } else { format!("%s{k}") };
    }
    if rng.u8(0..3) == 0 {
        let bits = if wide.1 == 8 { I64 } else { I32 };
        write!(
            body,
            "    %i = linalg.index {} : index\n    %seven = arith.constant 7 : index\n    \
             %j = arith.andi %i, %seven : index\n    %k = arith.index_cast %j : index to {}\n",
            rng.usize(..rank),
            bits.0
        )
        .expect("a string takes it");
        let (text, number) = as_element("%l", "%k", bits, wide);
        writeln!(body, "{text}    %m = {} {sum}, {number} : {}", wide.op("add"), wide.0).expect("a string takes it");
        sum = "%m".into();
    }
    if rng.u8(0..3) == 0 {
        let compare = if wide.2 == Kind::Float { "arith.cmpf ogt" } else { "arith.cmpi sgt" };
        write!(
            body,
            "    %zero = arith.constant {} : {t}\n    %c = {compare}, {sum}, %zero : {t}\n    \
             %n = arith.select %c, {sum}, %zero : {t}\n",
            wide.literal(0),
            t = wide.0
        )
        .expect("a string takes it");
        sum = "%n".into();
    }
    let dims = if rng.bool() { (0..rank).collect() } else { shuffled(rng, (0..rank).collect()) };
    let element = one_of(rng, ELEMENTS);
    let r = of_extents(rng, &sizes, &dims, element);
    let (text, number) = as_element("%y", &sum, wide, element);
    write!(body, "{text}    linalg.yield {number} : {}", element.0).expect("a string takes it");
    let inputs: Vec<_> =
        arrays.iter().zip(&maps).enumerate().map(|(k, (a, m))| (format!("%a{k}"), a, &m[..])).collect();
    let text = empty("%e", &r) + &linalg_generic("%r", &inputs, ("%e".into(), &r, &dims), rank, &body);
    // Large numbers are none of an integer's.
    let fits = element.2 == Kind::Float || wide.2 == Kind::Integer;
    Program::of_tensors(&arrays.iter().collect::<Vec<_>>(), &[], &r, &text).ordered(fits)
}

/// A reduction over any dimensions, of elements that are made wider, onto a result that is given.
fn fold(rng: &mut Source) -> Program {
    const PAIRS: &[(Element, Element)] = &[
        (F32, F32),
        (BF16, F32),
        (F16, F32),
        (F64, F64),
        (F32, F64),
        (I8, I32),
        (I16, I32),
        (I32, I32),
        (I64, I64),
        (I8, I8),
        (I16, I16),
        (I8, I16),
    ];
    let rank = some_rank(rng);
    let extents = random_sizes(rng, rank);
    let mut kept = shuffled(rng, (0..rank).collect());
    kept.truncate(rng.usize(..rank));
    let of_a = if rng.bool() { (0..rank).collect() } else { shuffled(rng, (0..rank).collect()) };
    let mut reduced = of_a.clone();
    reduced.retain(|d| !kept.contains(d));
    // Without layouts, one element at a time, they are added in the order of memory.
    let in_order = reduced.is_sorted();
    let (narrow, wide) = one_of(rng, PAIRS);
    let ops: &[&str] = match rng.vectors && in_order && wide.2 == Kind::Integer {
        true => &["add", "max", "min", "mul", "next"],
        false => &["add", "max", "min"],
    };
    let op = one_of(rng, ops);
    let a = of_extents(rng, &extents, &of_a, narrow);
    let r = of_extents(rng, &extents, &kept, wide);
    let (mut body, number) = as_element("%w", "%x0", narrow, wide);
    let (last, mut inputs, mut arrays) = (rng.bool(), vec![("%a0".to_owned(), &a, &of_a[..])], vec![&a, &r]);
    // Something for each row.
    let dims: Vec<usize> = shuffled(rng, (0..rank).collect()).into_iter().take(1).collect();
    let scale = of_extents(rng, &extents, &dims, wide);
    let (sum, mut value) = if last { ("%x2", "%v".to_owned()) } else { ("%x1", number.clone()) };
    if last {
        inputs.push(("%a2".to_owned(), &scale, &dims[..]));
        arrays.push(&scale);
        writeln!(body, "    %v = {} {number}, %x1 : {}", wide.op("mul"), wide.0).expect("a string takes it");
    }
    if op == "next" {
        // As digits, so that the order shows.
        writeln!(body, "    %three = arith.constant 3 : {t}\n    %u = arith.muli {sum}, %three : {t}", t = wide.0)
            .expect("a string takes it");
        value = format!("%u, {value}");
    } else if rng.bool() {
        value = format!("{value}, {sum}");
    } else {
        value = format!("{sum}, {value}");
    }
    let name = wide.op(if op == "next" { "add" } else { op });
    write!(body, "    %z = {name} {value} : {t}\n    linalg.yield %z : {t}", t = wide.0).expect("a string takes it");
    let text = linalg_generic("%r", &inputs, ("%a1".into(), &r, &kept), rank, &body);
    let program = Program::of_tensors(&arrays, &[], &r, &text).ordered(in_order || matches!(op, "max" | "min"));
    Program { digits: op == "next", ..program }
}

/// A contraction whose dimensions stand in any order everywhere, with batches of it.
fn batches(rng: &mut Source) -> Program {
    const PAIRS: &[(Element, Element)] =
        &[(F32, F32), (BF16, F32), (F16, F32), (F64, F64), (I8, I32), (I16, I32), (I32, I32), (BF16, F64), (I8, I16)];
    let (narrow, wide) = one_of(rng, PAIRS);
    let rank = if rng.u8(0..3) > 0 { 4 } else { 3 };
    // The dimensions of rows, columns, what is summed over, and batches.
    let roles = shuffled(rng, (0..rank).collect());
    let mut extents: Vec<i64> = (0..rank).map(|_| rng.i64(1..8)).collect();
    if rng.vectors {
        for role in &roles[..3] {
            extents[*role] = if rng.bool() { rng.i64(8..34) } else { one_of(rng, &[1, 4, 8, 16, 32]) };
        }
    }
    let map = |rng: &mut Rng, which: [usize; 2]| {
        let dims = which.into_iter().chain(3..rank).map(|k| roles[k]).collect();
        if rng.bool() { dims } else { shuffled(rng, dims) }
    };
    let maps = [[0, 2], [2, 1], [0, 1]].map(|which| map(rng, which));
    let [a, b] = [0, 1].map(|k| of_extents(rng, &extents, &maps[k], narrow));
    let r = of_extents(rng, &extents, &maps[2], wide);
    let [(x, p), (y, q)] = [0, 1].map(|k| as_element(&format!("%w{k}"), &format!("%x{k}"), narrow, wide));
    let body = format!(
        "{x}{y}    %m = {} {p}, {q} : {t}\n    %z = {} %x2, %m : {t}\n    linalg.yield %z : {t}",
        wide.op("mul"),
        wide.op("add"),
        t = wide.0
    );
    let inputs = [("%a0".to_owned(), &a, &maps[0][..]), ("%a1".to_owned(), &b, &maps[1][..])];
    let text = fill("%e", &r, 1) + &linalg_generic("%r", &inputs, ("%e".into(), &r, &maps[2]), rank, &body);
    Program::of_tensors(&[&a, &b], &[], &r, &text).ordered(true)
}

/// Copies from a part of a plain buffer to a laid-out one, and on to a part of another plain one.
fn views(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, ELEMENTS));
    let b = Array::tiled(rng, &sizes, element);
    let mut text = String::new();
    let mut part = |rng: &mut Rng, of: &str, name: &str| {
        let steps: Vec<i64> = sizes.iter().map(|n| if *n < 20 && rng.u8(0..4) == 0 { 2 } else { 1 }).collect();
        let starts: Vec<i64> = sizes.iter().map(|_| if rng.bool() { 0 } else { rng.i64(0..4) }).collect();
        let whole: Vec<i64> = (0..rank).map(|d| starts[d] + sizes[d] * steps[d] + rng.i64(0..2)).collect();
        let array = Array { sizes: whole.clone(), element, layout: None, unknown: None };
        let own: Vec<i64> = (0..rank).map(|d| whole[d + 1..].iter().product::<i64>()).collect();
        let offset: i64 = own.iter().zip(&starts).map(|(s, n)| s * n).sum();
        let strides: Vec<i64> = own.iter().zip(&steps).map(|(s, n)| s * n).collect();
        let shape = sizes.iter().map(|n| format!("{n}x")).collect::<String>();
        let offset = if offset == 0 { String::new() } else { format!(", offset: {offset}") };
        let view = format!("memref<{shape}{}, strided<{strides:?}{offset}>>", element.0);
        writeln!(text, "  {name} = memref.subview {of}{starts:?} {sizes:?} {steps:?} : {} to {view}", array.m())
            .expect("a string takes it");
        (array, view)
    };
    let (a, from) = part(rng, "%a0", "%s");
    let (c, to) = part(rng, "%a2", "%d");
    write!(text, "  memref.copy %s, %a1 : {from} to {b}\n  memref.copy %a1, %d : {b} to {to}", b = b.m())
        .expect("a string takes it");
    Program::of_memrefs(&[&a, &b, &c], &[], &text)
}

/// The softmax along one dimension: the greatest of each row, a sum, and what is computed from them.
fn softmax(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), one_of(rng, &[F32, F32, F64]));
    let (a, x, r) =
        (Array::new(rng, &sizes, element), Array::new(rng, &sizes, element), Array::new(rng, &sizes, element));
    let along = rng.usize(..rank);
    let (all, kept): (Vec<usize>, Vec<usize>) = ((0..rank).collect(), (0..rank).filter(|d| *d != along).collect());
    let [most, sum] = [(); 2].map(|()| of_extents(rng, &sizes, &kept, element));
    let t = element.0;
    let yields = |body: &str| format!("{body}\n    linalg.yield %y : {t}");
    let greatest = yields(&format!("    %y = arith.maximumf %x0, %x1 : {t}"));
    let power = yields(&format!("    %d = arith.subf %x0, %x1 : {t}\n    %y = math.exp %d : {t}"));
    let total = yields(&format!("    %y = arith.addf %x0, %x1 : {t}"));
    let share = yields(&format!("    %y = arith.divf %x0, %x1 : {t}"));
    let [from, powers, greatests, sums] =
        [("%a0", &a, &all), ("%x", &x, &all), ("%m", &most, &kept), ("%s", &sum, &kept)]
            .map(|(name, array, dims)| (name.to_owned(), array, &dims[..]));
    let text = fill("%n", &most, -1000)
        + &linalg_generic("%m", slice::from_ref(&from), ("%n".into(), &most, &kept), rank, &greatest)
        + &empty("%e", &x)
        + &linalg_generic("%x", &[from, greatests], ("%e".into(), &x, &all), rank, &power)
        + &fill("%o", &sum, 0)
        + &linalg_generic("%s", slice::from_ref(&powers), ("%o".into(), &sum, &kept), rank, &total)
        + &empty("%f", &r)
        + &linalg_generic("%r", &[powers, sums], ("%f".into(), &r, &all), rank, &share);
    Program { rounded: true, ..Program::of_tensors(&[&a], &[], &r, &text).ordered(true) }
}

/// The text of a dense constant of these sizes.
fn nested(sizes: &[i64], next: &mut dyn FnMut() -> String) -> String {
    match sizes {
        [] => next(),
        [n, rest @ ..] => format!("[{}]", list(0..*n, |_| nested(rest, next))),
    }
}

fn constant(rng: &mut Source) -> Program {
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
fn loads(rng: &mut Source) -> Program {
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
fn affine(rng: &mut Source) -> Program {
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
fn buffers(rng: &mut Source) -> Program {
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
fn transfer(rng: &mut Source) -> Program {
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
