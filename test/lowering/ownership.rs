//! Buffer ownership: random programs with conditions, loops and calls, run with an allocator that records them. Every
//! buffer is freed once, except returned ones, and none is used afterwards.
//!
//! Freed memory is filled with garbage and never reused, so a use after it changes a result. Results are compared with
//! an evaluator of the same programs. The same programs run with their buffers in arenas of each kind, where the bytes
//! of a buffer are filled with ones at allocation and at deallocation.

use crate::jit;
use fastrand::Rng;
use layout_passes::{Arena, Form, add_passes};
use layout_runtime::{Descriptor, Engine, Passed};
use layout_test::Sample;
use melior::Context;
use melior::ir::Module;
use melior::pass::PassManager;
use std::alloc::{Layout, alloc};
use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// Rows and columns of every array, of `i32`.
const SIZES: [usize; 2] = [3, 5];
/// The types of arrays; only the second has a layout.
const TYPES: [&str; 2] = ["tensor<3x5xi32>", "tensor<3x5xi32, #layout.tiled<{1,0:T(2,2)}>>"];
/// The number of programs that are compiled together.
const BATCH: usize = 20;

type Elements = [i32; SIZES[0] * SIZES[1]];

/// A step of a program. Arrays are numbered in the order of their definitions.
#[derive(Clone, Debug)]
enum Step {
    /// The sum of two arrays of one type.
    Sum(usize, usize),
    /// An array with one changed element, perhaps in place.
    Insert(usize),
    /// An array with its first two rows shifted down, through a slice.
    Slide(usize),
    /// An array converted to the other layout.
    Convert(usize),
    /// A call of a private function, which returns the array and twice the array.
    Call(usize),
    /// One of two blocks, by the condition of this number.
    If(usize, [Block; 2]),
    /// A loop of a run-time trip count, with the block's results as its next operands.
    For(Vec<usize>, Block),
    /// The same loop as `scf.while`.
    While(Vec<usize>, Block),
}

/// Steps, and the arrays that they return.
#[derive(Clone, Debug)]
struct Block {
    steps: Vec<Step>,
    gives: Vec<usize>,
}

/// The run-time arguments of a program besides two arrays.
#[derive(Clone, Copy, Debug)]
struct Told {
    conditions: [bool; 2],
    times: usize,
}

/// A random block. `types` has the type of each array so far.
fn block(rng: &mut Rng, types: &mut Vec<usize>, depth: usize, wanted: Option<&[usize]>) -> Block {
    let outside = types.len();
    let mut steps = Vec::new();
    for _ in 0..rng.usize(1..5) {
        let any = rng.usize(0..types.len());
        let step = match rng.usize(0..if depth == 0 { 5 } else { 9 }) {
            0 => Step::Sum(any, of_type(rng, types, types[any])),
            1 => Step::Insert(any),
            2 => Step::Slide(any),
            3 => Step::Convert(any),
            4 => Step::Call(of_type(rng, types, 1)),
            5 | 6 => {
                let gives: Vec<usize> = (0..rng.usize(1..3)).map(|_| rng.usize(0..2)).collect();
                let blocks = [0, 1].map(|_| block(rng, &mut types.clone(), depth - 1, Some(&gives)));
                types.extend(&gives);
                steps.push(Step::If(rng.usize(0..2), blocks));
                continue;
            }
            kind => {
                let from: Vec<usize> = (0..rng.usize(1..4)).map(|_| rng.usize(0..types.len())).collect();
                let carried: Vec<usize> = from.iter().map(|v| types[*v]).collect();
                let mut inside = types.clone();
                inside.extend(&carried);
                let body = block(rng, &mut inside, depth - 1, Some(&carried));
                types.extend(&carried);
                steps.push(if kind == 7 { Step::For(from, body) } else { Step::While(from, body) });
                continue;
            }
        };
        match &step {
            Step::Convert(v) => types.push(1 - types[*v]),
            Step::Call(_) => types.extend([1, 1]),
            _ => types.push(types[any]),
        }
        steps.push(step);
    }
    let gives = match wanted {
        Some(wanted) => wanted.iter().map(|t| of_type(rng, types, *t)).collect(),
        None => (0..rng.usize(1..4)).map(|_| rng.usize(0..types.len())).collect(),
    };
    if wanted.is_some() {
        types.truncate(outside);
    }
    Block { steps, gives }
}

/// An array of a type, preferably a recent one. The first two are of the two types.
fn of_type(rng: &mut Rng, types: &[usize], wanted: usize) -> usize {
    let from = if rng.bool() { 0 } else { types.len().saturating_sub(3) };
    let found: Vec<usize> = (from..types.len()).filter(|v| types[*v] == wanted).collect();
    rng.choice(found).unwrap_or(wanted)
}

/// The text of a block, with the types and the names of its arrays so far.
struct BlockWriter<'a> {
    text: &'a mut String,
    types: Vec<usize>,
    names: Vec<String>,
}

impl BlockWriter<'_> {
    /// Writes a block that ends with a terminator, perhaps of a first operand and its type.
    fn block(&mut self, block: &Block, end: &str) {
        for step in &block.steps {
            let (made, types) = self.step(step);
            self.names.extend(made);
            self.types.extend(types);
        }
        let (end, first) = end.split_once(' ').unwrap_or((end, ""));
        let first = first.split_once(',');
        let values = block.gives.iter().map(|v| self.names[*v].clone());
        let values: Vec<String> = first.map(|f| f.0.to_owned()).into_iter().chain(values).collect();
        let types = block.gives.iter().map(|v| TYPES[self.types[*v]]);
        let types: Vec<&str> = first.map(|f| f.1).into_iter().chain(types).collect();
        writeln!(self.text, "{end} {} : {}", values.join(", "), types.join(", ")).unwrap();
    }

    /// Writes a block inside of this one, with further arrays.
    fn inner(&mut self, block: &Block, end: &str, names: &[String], types: &[usize]) {
        let (names, types) = ([&self.names, names].concat(), [&self.types, types].concat());
        BlockWriter { text: self.text, types, names }.block(block, end);
    }

    /// Writes a step; the names and types of its results.
    fn step(&mut self, step: &Step) -> (Vec<String>, Vec<usize>) {
        let n = self.text.len();
        let name = |v: &usize| self.names[*v].clone();
        let typed = |v: &usize| TYPES[self.types[*v]];
        match step {
            Step::Sum(a, b) => {
                writeln!(self.text, "%n{n} = arith.addi {}, {} : {}", name(a), name(b), typed(a)).unwrap();
                (vec![format!("%n{n}")], vec![self.types[*a]])
            }
            Step::Insert(a) => {
                writeln!(self.text, "%n{n} = tensor.insert %seven into {}[%one, %two] : {}", name(a), typed(a))
                    .unwrap();
                (vec![format!("%n{n}")], vec![self.types[*a]])
            }
            Step::Slide(a) => {
                let (a, t) = (name(a), typed(a));
                let row = t.replacen('3', "2", 1);
                writeln!(self.text, "%s{n} = tensor.extract_slice {a}[0, 0] [2, 5] [1, 1] : {t} to {row}").unwrap();
                writeln!(self.text, "%n{n} = tensor.insert_slice %s{n} into {a}[1, 0] [2, 5] [1, 1] : {row} into {t}")
                    .unwrap();
                (vec![format!("%n{n}")], vec![self.types[step.operand()]])
            }
            Step::Convert(a) => {
                let to = 1 - self.types[*a];
                writeln!(self.text, "%n{n} = layout.convert {} : {} to {}", name(a), typed(a), TYPES[to]).unwrap();
                (vec![format!("%n{n}")], vec![to])
            }
            Step::Call(a) => {
                let t = TYPES[1];
                writeln!(self.text, "%n{n}:2 = func.call @twice({}) : ({t}) -> ({t}, {t})", name(a)).unwrap();
                (vec![format!("%n{n}#0"), format!("%n{n}#1")], vec![1, 1])
            }
            Step::If(condition, blocks) => {
                let types = kinds(&blocks[0], &self.types);
                let all: Vec<&str> = types.iter().map(|t| TYPES[*t]).collect();
                writeln!(self.text, "%n{n}:{} = scf.if %c{condition} -> ({}) {{", types.len(), all.join(", ")).unwrap();
                self.inner(&blocks[0], "scf.yield", &[], &[]);
                self.text.push_str("} else {\n");
                self.inner(&blocks[1], "scf.yield", &[], &[]);
                self.text.push_str("}\n");
                ((0..types.len()).map(|k| format!("%n{n}#{k}")).collect(), types)
            }
            Step::For(from, body) => self.for_loop(n, from, body),
            Step::While(from, body) => self.while_loop(n, from, body),
        }
    }

    fn for_loop(&mut self, n: usize, from: &[usize], body: &Block) -> (Vec<String>, Vec<usize>) {
        let types: Vec<usize> = from.iter().map(|v| self.types[*v]).collect();
        let inside = carried("x", n, types.len());
        let (count, assigned, all) = (types.len(), self.assigned(&inside, from), listed(&types));
        writeln!(
            self.text,
            "%n{n}:{count} = scf.for %i{n} = %zero to %times step %one iter_args({assigned}) -> ({all}) {{"
        )
        .unwrap();
        self.inner(body, "scf.yield", &inside, &types);
        self.text.push_str("}\n");
        ((0..count).map(|k| format!("%n{n}#{k}")).collect(), types)
    }

    fn while_loop(&mut self, n: usize, from: &[usize], body: &Block) -> (Vec<String>, Vec<usize>) {
        let types: Vec<usize> = from.iter().map(|v| self.types[*v]).collect();
        let (before, inside) = (carried("b", n, types.len()), carried("x", n, types.len()));
        let arguments: Vec<String> =
            inside.iter().zip(&types).map(|(name, t)| format!("{name}: {}", TYPES[*t])).collect();
        let (assigned, all) = (self.assigned(&before, from), listed(&types));
        writeln!(
            self.text,
            "%n{n}:{} = scf.while (%j{n} = %zero, {assigned}) : (index, {all}) -> (index, {all}) {{\n\
             %k{n} = arith.cmpi ult, %j{n}, %times : index\n\
             scf.condition(%k{n}) %j{n}, {} : index, {all}\n}} do {{\n^bb0(%i{n}: index, {}):\n\
             %l{n} = arith.addi %i{n}, %one : index",
            types.len() + 1,
            before.join(", "),
            arguments.join(", ")
        )
        .unwrap();
        self.inner(body, &format!("scf.yield %l{n},index"), &inside, &types);
        self.text.push_str("}\n");
        ((1..=types.len()).map(|k| format!("%n{n}#{k}")).collect(), types)
    }

    /// The first values of a loop's arrays.
    fn assigned(&self, to: &[String], from: &[usize]) -> String {
        to.iter().zip(from).map(|(to, v)| format!("{to} = {}", self.names[*v])).collect::<Vec<_>>().join(", ")
    }
}

/// The names of a loop's arrays.
fn carried(prefix: &str, n: usize, count: usize) -> Vec<String> {
    (0..count).map(|k| format!("%{prefix}{n}_{k}")).collect()
}

fn listed(types: &[usize]) -> String {
    types.iter().map(|t| TYPES[*t]).collect::<Vec<_>>().join(", ")
}

impl Step {
    /// The operand of a step on one array.
    fn operand(&self) -> usize {
        match self {
            Step::Sum(a, _) | Step::Insert(a) | Step::Slide(a) | Step::Convert(a) | Step::Call(a) => *a,
            _ => panic!("a step on blocks"),
        }
    }
}

/// The types of a block's results.
fn kinds(block: &Block, types: &[usize]) -> Vec<usize> {
    let mut types = types.to_vec();
    for step in &block.steps {
        match step {
            Step::Convert(a) => types.push(1 - types[*a]),
            Step::Call(_) => types.extend([1, 1]),
            Step::If(_, blocks) => types.extend(kinds(&blocks[0], &types)),
            Step::For(from, _) | Step::While(from, _) => {
                let of: Vec<usize> = from.iter().map(|v| types[*v]).collect();
                types.extend(of);
            }
            one => types.push(types[one.operand()]),
        }
    }
    block.gives.iter().map(|v| types[*v]).collect()
}

/// The results of a block.
fn evaluate(block: &Block, told: Told, mut arrays: Vec<Elements>) -> Vec<Elements> {
    for step in &block.steps {
        let made = match step {
            Step::Sum(a, b) => vec![std::array::from_fn(|k| arrays[*a][k].wrapping_add(arrays[*b][k]))],
            Step::Insert(a) => {
                let mut array = arrays[*a];
                array[SIZES[1] + 2] = 7;
                vec![array]
            }
            Step::Slide(a) => {
                let from = |k: usize| if k < SIZES[1] { k } else { k - SIZES[1] };
                vec![std::array::from_fn(|k| arrays[*a][from(k)])]
            }
            Step::Convert(a) => vec![arrays[*a]],
            Step::Call(a) => vec![arrays[*a], arrays[*a].map(|x| x.wrapping_add(x))],
            Step::If(condition, blocks) => {
                evaluate(&blocks[usize::from(!told.conditions[*condition])], told, arrays.clone())
            }
            Step::For(from, body) | Step::While(from, body) => {
                let mut carried: Vec<Elements> = from.iter().map(|v| arrays[*v]).collect();
                for _ in 0..told.times {
                    carried = evaluate(body, told, [arrays.clone(), carried].concat());
                }
                carried
            }
        };
        arrays.extend(made);
    }
    block.gives.iter().map(|v| arrays[*v]).collect()
}

/// The offset of each element in the buffer of an array.
fn place(kind: usize, element: usize) -> usize {
    let (i, j) = (element / SIZES[1], element % SIZES[1]);
    if kind == 0 { element } else { (i / 2 * 3 + j / 2) * 4 + i % 2 * 2 + j % 2 }
}

/// The live and the freed buffers by address, and the errors.
#[derive(Default)]
struct Watched {
    live: HashMap<usize, Box<[u128]>>,
    freed: HashMap<usize, Box<[u128]>>,
    wrong: Vec<String>,
}

static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);

fn watched<T>(f: impl FnOnce(&mut Watched) -> T) -> T {
    f(WATCHED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// `malloc` for compiled code.
extern "C" fn allocate(bytes: usize) -> *mut c_void {
    let mut memory = vec![u128::from_ne_bytes([0x55; 16]); bytes.div_ceil(16).max(1)].into_boxed_slice();
    let start = memory.as_mut_ptr();
    watched(|all| all.live.insert(start as usize, memory));
    start.cast()
}

/// `aligned_alloc` for compiled code. The code keeps this memory, so it is not recorded.
extern "C" fn allocate_aligned(alignment: usize, bytes: usize) -> *mut c_void {
    let layout = Layout::from_size_align(bytes, alignment).expect("what C's function takes");
    // SAFETY: an arena is not empty.
    unsafe { alloc(layout) }.cast()
}

/// `free` for compiled code.
extern "C" fn release(start: *mut c_void) {
    watched(|all| match all.live.remove(&(start as usize)) {
        Some(mut memory) => {
            memory.fill(u128::from_ne_bytes([0xaa; 16]));
            all.freed.insert(start as usize, memory);
        }
        None if start.is_null() => {}
        None if all.freed.contains_key(&(start as usize)) => all.wrong.push("a buffer is freed twice".into()),
        None => all.wrong.push("what is freed was not allocated".into()),
    });
}

/// A program and its types.
struct Program {
    block: Block,
    gives: Vec<usize>,
    text: String,
}

fn program(rng: &mut Rng, number: usize) -> Program {
    let block = block(rng, &mut vec![0, 1], 2, None);
    let gives = kinds(&block, &[0, 1]);
    let results: Vec<&str> = gives.iter().map(|t| TYPES[*t]).collect();
    let mut text = format!(
        "func.func @p{number}(%a0: {}, %a1: {}, %c0: i1, %c1: i1, %times: index) -> ({})\n\
         attributes {{llvm.emit_c_interface}} {{\n\
         %zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n%two = arith.constant 2 : index\n\
         %seven = arith.constant 7 : i32\n",
        TYPES[0],
        TYPES[1],
        results.join(", ")
    );
    let names = vec!["%a0".to_owned(), "%a1".to_owned()];
    BlockWriter { text: &mut text, types: vec![0, 1], names }.block(&block, "return");
    text.push_str("}\n");
    Program { block, gives, text }
}

/// The descriptor of an array.
fn descriptor(kind: usize, form: Form, start: u64) -> Descriptor {
    let (sizes, strides): (&[i64], &[i64]) = match (kind, form) {
        (0, _) => (&[3, 5], &[5, 1]),
        (_, Form::Strided) => (&[2, 2, 3, 2], &[12, 2, 4, 1]),
        (_, Form::Physical) => (&[2, 3, 2, 2], &[12, 4, 2, 1]),
    };
    Descriptor::new(start, 0, sizes, strides)
}

/// Runs a program. Returns its error, if any.
fn run(
    engine: &Engine,
    number: usize,
    program: &Program,
    (form, arena): (Form, Arena),
    told: Told,
) -> Result<(), String> {
    let inputs: [Elements; 2] = [0, 1].map(|k| std::array::from_fn(|n| (n as i32 + 1) * (k + 1)));
    let mut memory = [vec![-1i32; 15], vec![-1i32; 24]];
    for (kind, memory) in memory.iter_mut().enumerate() {
        inputs[kind].iter().enumerate().for_each(|(n, x)| memory[place(kind, n)] = *x);
    }
    let before = memory.clone();
    let pointers = memory.each_mut().map(|memory| memory.as_mut_ptr() as u64);
    let memories = (0..2).map(|kind| Passed::Memory(descriptor(kind, form, pointers[kind])));
    let conditions = told.conditions.map(|condition| Passed::Number(condition.into()));
    let given = (arena == Arena::Argument).then(|| Given::to(engine, number));
    let own = given.iter().map(|given| Passed::Memory(Descriptor::new(given.start(), 0, &[given.bytes as i64], &[1])));
    let passed: Vec<Passed> =
        memories.chain(conditions).chain([Passed::Number(told.times as u64)]).chain(own).collect();
    let mut results: Vec<Descriptor> = program.gives.iter().map(|kind| descriptor(*kind, form, 0)).collect();
    watched(|all| *all = Watched::default());
    // SAFETY: the function takes these descriptors and numbers: they made its signature.
    unsafe { engine.invoke(&format!("p{number}"), &mut results, &passed) }.map_err(|error| error.message)?;
    let wanted = evaluate(&program.block, told, inputs.to_vec());
    for ((kind, wanted), result) in program.gives.iter().zip(wanted).zip(&results) {
        let expected = descriptor(*kind, form, 0);
        if (result.sizes(), result.strides()) != (expected.sizes(), expected.strides()) {
            return Err(format!("found the descriptor {result:?}"));
        }
        let start = result.start() as *const i32;
        // SAFETY: a result has the elements of its type.
        let found: Elements = std::array::from_fn(|n| unsafe { *start.add(place(*kind, n)) });
        if found != wanted {
            return Err(format!("expected {wanted:?}, found {found:?}"));
        }
        if watched(|all| all.live.remove(&(result.allocated() as usize))).is_none() {
            return Err("a result is not the caller's, or is returned twice".into());
        }
    }
    if memory != before {
        return Err("an argument was written to".into());
    }
    if given.is_some_and(|given| !given.is_sound()) {
        return Err("what surrounds the arena was written to".into());
    }
    watched(|all| match (all.wrong.pop(), all.live.len()) {
        (Some(wrong), _) => Err(wrong),
        (None, 0) => Ok(()),
        (None, leaked) => Err(format!("{leaked} buffers are not freed")),
    })
}

/// The arena argument of a call, with garbage around it.
struct Given {
    memory: Vec<u8>,
    before: usize,
    bytes: usize,
}

impl Given {
    const GARBAGE: u8 = 0x5a;
    const AROUND: usize = 256;

    fn to(engine: &Engine, number: usize) -> Given {
        let says = engine.lookup(&format!("p{number}_arena_bytes")).expect("the function says how many bytes");
        // SAFETY: the function takes no arguments and returns 64 bits.
        let bytes = unsafe { std::mem::transmute::<*mut (), extern "C" fn() -> i64>(says) }() as usize;
        let memory = vec![Given::GARBAGE; bytes + 2 * Given::AROUND];
        let before = Given::AROUND / 2 + memory[Given::AROUND / 2..].as_ptr().align_offset(64);
        Given { memory, before, bytes }
    }

    fn start(&self) -> u64 {
        self.memory[self.before..].as_ptr() as u64
    }

    fn is_sound(&self) -> bool {
        let around = self.memory[..self.before].iter().chain(&self.memory[self.before + self.bytes..]);
        around.copied().all(|byte| byte == Given::GARBAGE)
    }
}

/// Compiles the programs of a seed and runs each in all ways.
fn check(context: &Context, seed: u64, form: Form, arena: Arena) {
    let mut rng = Rng::with_seed(seed);
    let programs: Vec<Program> = (0..BATCH).map(|number| program(&mut rng, number)).collect();
    let t = TYPES[1];
    let mut text = format!(
        "func.func private @twice(%x: {t}) -> ({t}, {t}) {{\n%y = arith.addi %x, %x : {t}\n\
         return %x, %y : {t}, {t}\n}}\n"
    );
    programs.iter().for_each(|program| text.push_str(&program.text));
    let mut module = Module::parse(context, &text).unwrap_or_else(|| panic!("{text}"));
    let passes = PassManager::new(context);
    let (form_name, arena_name) = (form.name(), arena.name());
    let plan = format!("layout-plan-memory{{arena={arena_name} buffers=0 poison}}");
    let text_of_passes = format!("layout-to-memref{{form={form_name}}},{plan},layout-convert-to-llvm{{arena=none}}");
    add_passes(passes.as_operation_pass_manager(), &text_of_passes).expect("a pipeline");
    passes.run(&mut module).unwrap_or_else(|_| panic!("{text}"));
    let engine = jit::engine(&module);
    // SAFETY: all three satisfy the contracts of C's functions.
    unsafe {
        engine.register("malloc", allocate as *mut ());
        engine.register("free", release as *mut ());
        engine.register("aligned_alloc", allocate_aligned as *mut ());
    }
    for (number, program) in programs.iter().enumerate() {
        for bits in 0..16 {
            let told = Told { conditions: [bits & 1 != 0, bits & 2 != 0], times: bits >> 2 };
            if let Err(wrong) = run(&engine, number, program, (form, arena), told) {
                panic!("seed {seed}, {form:?}, {arena:?}, {told:?}: {wrong}\n{}", program.text);
            }
        }
    }
}

/// `LAYOUT_PROGRAMS` sets the number of batches for each form.
#[test]
fn every_buffer_is_freed_once() {
    let context = jit::context();
    let batches = std::env::var("LAYOUT_PROGRAMS").map_or(3, |n| n.parse().expect("a number"));
    let kinds = Arena::ALL.iter().flat_map(|arena| [Form::Strided, Form::Physical].map(|form| (form, *arena)));
    let cases = (0..batches).flat_map(|seed| kinds.clone().map(move |kind| (seed, kind)));
    for (seed, (form, arena)) in Sample::from_env().select(cases) {
        check(&context, seed, form, arena);
    }
}
