//! Programs on ragged tiles, of which kernels go over whole ones: chains of operations on memrefs, in loops and branches,
//! whose padding holds what nothing knows, what a constant has, or what was computed of it.
//!
//! What is chosen of constants makes other numbers of padding than of elements, so that a reduction which reads padding
//! that is not neutral is wrong.

use crate::array::{Array, Notation, Source};
use crate::element::{Element, F32, F64, I8, I16, I32, Kind};
use crate::program::Program;
use serde_json::{Value, json};
use tensor_layout::tiled::{Layout, TileEntry};

/// The most that an element may be that is computed with again, where all numbers are integers.
const MOST: f64 = 300.0;
/// The most that a sum may be, which a loop may make four times: f32 holds all integers up to 2^24.
const SUM: f64 = (1 << 22) as f64;

/// A value of the program: an argument, an allocation or a constant.
struct Variable {
    array: Array,
    /// Which dimensions it has.
    dims: Vec<usize>,
    /// Whether all of its elements have been written.
    ready: bool,
    /// Whether the program may write to it.
    writable: bool,
    /// The greatest size of an element.
    most: f64,
    /// Whether all elements are 0, or powers of two up to 2: products of many are exact.
    powers: bool,
}

/// A program in the making.
struct Maker<'a, 'b> {
    rng: &'a mut Source<'b>,
    element: Element,
    variables: Vec<Variable>,
    steps: Vec<Value>,
    /// How many loops or branches are around.
    depth: usize,
    /// How many names have been given.
    names: usize,
}

/// What a program does next, where there is what it needs.
#[derive(Clone, Copy)]
enum Step {
    Fill,
    Choose,
    Binary,
    Absolute,
    Reduce,
    Product,
    Begin,
    End,
    Pick,
    Call,
}

/// Sums, products and extremes of chains of elementwise operations.
pub fn reductions(rng: &mut Source) -> Program {
    const STEPS: &[Step] = &[Step::Choose, Step::Binary, Step::Reduce, Step::Reduce, Step::Fill, Step::Absolute];
    program(rng, STEPS)
}

/// Matrix products, of products too.
pub fn products(rng: &mut Source) -> Program {
    const STEPS: &[Step] = &[Step::Product, Step::Choose, Step::Product, Step::Binary, Step::Reduce, Step::Fill];
    program(rng, STEPS)
}

/// The same in loops and branches, where what comes later runs before as well.
pub fn loops(rng: &mut Source) -> Program {
    const STEPS: &[Step] =
        &[Step::Begin, Step::Reduce, Step::Choose, Step::Product, Step::End, Step::Absolute, Step::Fill];
    program(rng, STEPS)
}

/// Buffers that are chosen by a branch, or handed to another function, which writes to them.
pub fn aliases(rng: &mut Source) -> Program {
    const STEPS: &[Step] = &[Step::Reduce, Step::Pick, Step::Call, Step::Choose, Step::Binary, Step::Call];
    program(rng, STEPS)
}

/// A program of such steps.
fn program(rng: &mut Source, kinds: &[Step]) -> Program {
    let element = rng.choice(&[F32, F32, F64, I32, I16, I8]);
    let tiles: Vec<i64> = rng.choice(&[[8, 16, 16], [4, 32, 16], [8, 8, 8], [2, 32, 4], [16, 16, 16]]).to_vec();
    let extent = |rng: &mut Source, tile: &i64| {
        let whole = tile * rng.i64(2..=3).max(16 / tile);
        whole - rng.i64(0..=whole / 12)
    };
    let extents: Vec<i64> = tiles.iter().map(|tile| extent(rng, tile)).collect();
    let mut variables = Vec::new();
    let variable = |rng: &mut Source, dims: &[usize]| {
        let sizes: Vec<i64> = dims.iter().map(|d| extents[*d]).collect();
        let mut layout = Layout::row_major(dims.len());
        if rng.one_in(4) {
            layout.minor_to_major.reverse();
        }
        // A tile has the sizes of the dimensions in the order of memory.
        let of = |d: &usize| TileEntry::Size(tiles[dims[*d]]);
        layout.tiles.push(layout.minor_to_major.iter().rev().map(of).collect());
        let tiled = !dims.is_empty() && !rng.plain && !rng.one_in(10);
        let array = Array { sizes, element, layout: tiled.then_some(Notation::Tiled(layout)), unknown: Vec::new() };
        Variable { array, dims: dims.to_vec(), ready: true, writable: true, most: 5.0, powers: false }
    };
    const ARGUMENTS: &[&[usize]] = &[&[0, 1], &[0, 1], &[1, 2], &[0, 2], &[0], &[1], &[]];
    for dims in ARGUMENTS {
        variables.push(variable(rng, dims));
    }
    let locals: &[&[usize]] = &[&[0, 1], &[0, 1], &[0, 1], &[1, 2], &[0, 2], &[0]];
    variables.extend(locals.iter().map(|dims| Variable { ready: false, ..variable(rng, dims) }));
    for dims in [[0, 1], [1, 2]] {
        let powers = rng.bool();
        variables.push(Variable { writable: false, powers, most: 2.0, ..variable(rng, &dims) });
    }
    let mut maker = Maker { rng, element, variables, steps: Vec::new(), depth: 0, names: 0 };
    for _ in 0..maker.rng.usize(8..14) {
        let kind = maker.rng.choice(kinds);
        maker.step(kind);
    }
    while maker.depth > 0 {
        maker.end();
    }
    // Constants whose elements are alike, and others.
    let first = ARGUMENTS.len() + locals.len();
    let data: Vec<String> = (first..maker.variables.len()).map(|k| maker.data(k)).collect();
    let condition = maker.rng.i64(0..=1);
    let (steps, arrays): (_, Vec<Array>) = (maker.steps, maker.variables.into_iter().map(|v| v.array).collect());
    Program::new("padding", &arrays[..ARGUMENTS.len()].iter().collect::<Vec<_>>())
        .indices(&[condition])
        .list("types", arrays)
        .set("count", ARGUMENTS.len())
        .set("constants", first)
        .set("data", data)
        .set("steps", steps)
        .ordered(true)
}

impl Maker<'_, '_> {
    fn step(&mut self, step: Step) {
        match step {
            Step::Fill => self.fill(),
            Step::Choose => self.choose(),
            Step::Binary => self.binary(),
            Step::Absolute => self.absolute(),
            Step::Reduce => self.reduce(),
            Step::Product => self.product(),
            Step::Begin => self.begin(),
            Step::End => self.end(),
            Step::Pick => self.pick(),
            Step::Call => self.call(),
        }
    }

    /// One of the variables of these dimensions, that may be read or written; `None` where there is none.
    fn variable(&mut self, written: bool, fits: &dyn Fn(&Variable) -> bool) -> Option<usize> {
        let wanted = |v: &Variable| if written { v.writable && !v.dims.is_empty() } else { v.ready };
        let all: Vec<usize> =
            (0..self.variables.len()).filter(|k| wanted(&self.variables[*k]) && fits(&self.variables[*k])).collect();
        (!all.is_empty()).then(|| self.rng.choice(&all))
    }

    fn dims(&self, k: usize) -> Vec<usize> {
        self.variables[k].dims.clone()
    }

    /// Takes note of what a step wrote. What a branch writes may be missing.
    fn wrote(&mut self, to: usize, most: f64, powers: bool) {
        let variable = &mut self.variables[to];
        let both = self.depth > 0;
        variable.ready |= !both;
        variable.most = if both { variable.most.max(most) } else { most };
        variable.powers = powers && (!both || variable.powers);
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%n{}", self.names)
    }

    /// A number that a body or a fill has, its text and its size.
    fn number(&mut self) -> (String, f64) {
        let infinite = self.rng.one_in(8);
        let negative = self.rng.bool();
        match self.element {
            F32 if infinite => (if negative { "0xFF800000" } else { "0x7F800000" }.into(), 1.0),
            F64 if infinite => (if negative { "0xFFF0000000000000" } else { "0x7FF0000000000000" }.into(), 1.0),
            Element { kind: Kind::Float, .. } => {
                let n = self.rng.choice(&["0.0", "0.0", "1.0", "2.0"]);
                (if negative { format!("-{n}") } else { n.into() }, 2.0)
            }
            of if infinite => {
                let greatest = (1i64 << (of.bits - 1)) - 1;
                (if negative { -greatest - 1 } else { greatest }.to_string(), MOST)
            }
            _ => (self.rng.choice(&[0, 0, 1, -1, 2]).to_string(), 2.0),
        }
    }

    /// The elements of a constant: one, or random ones.
    fn data(&mut self, k: usize) -> String {
        let sizes = self.variables[k].array.sizes.clone();
        let powers = self.variables[k].powers;
        let number = |maker: &mut Self| {
            let n = if powers { maker.rng.choice(&[1, -1, 2]) } else { maker.rng.i64(-2..=2) };
            format!("{n}{}", maker.element.point())
        };
        if self.rng.bool() {
            return number(self);
        }
        let row =
            |maker: &mut Self| format!("[{}]", (0..sizes[1]).map(|_| number(maker)).collect::<Vec<_>>().join(", "));
        format!("[{}]", (0..sizes[0]).map(|_| row(self)).collect::<Vec<_>>().join(", "))
    }

    /// A structured operation from these to that, with this body; loops are the dimensions in order.
    fn generic(&mut self, inputs: &[usize], output: usize, body: &[String], result: &str) {
        let mut all: Vec<usize> = inputs.iter().chain([&output]).flat_map(|k| self.dims(*k)).collect();
        all.sort_unstable();
        all.dedup();
        let place = |d: &usize| all.iter().position(|other| other == d).expect("one of them");
        let operand = |k: &usize| json!({"x": k, "dims": self.dims(*k).iter().map(place).collect::<Vec<_>>()});
        let step = json!({
            "kind": "generic",
            "inputs": inputs.iter().map(operand).collect::<Vec<_>>(),
            "output": operand(&output),
            "rank": all.len(),
            "body": body,
            "result": result,
        });
        self.steps.push(step);
    }

    /// Fills a buffer with a number.
    fn fill_with(&mut self, to: usize, number: &str) {
        self.steps.push(json!({"kind": "fill", "to": to, "number": number, "name": self.names}));
        self.names += 1;
    }

    fn fill(&mut self) {
        let Some(to) = self.variable(true, &|v| v.dims.len() == 2) else { return };
        let (number, most) = self.number();
        self.fill_with(to, &number);
        self.wrote(to, most, most <= 2.0);
    }

    /// One of two constants, by a comparison with a third; at times in place.
    fn choose(&mut self) {
        let Some(x) = self.variable(false, &|v| v.dims.len() == 2) else { return };
        let dims = self.dims(x);
        let Some(to) = self.variable(true, &|v| v.dims == dims) else { return };
        let [with, then, otherwise] = [(); 3].map(|()| self.number());
        let t = self.element.name;
        let predicate = self.rng.choice(&["eq", "lt", "ge"]);
        let predicate =
            if self.element.kind == Kind::Integer { predicate.replace("lt", "ult") } else { predicate.into() };
        let compare = match (self.element.kind, &*predicate) {
            (Kind::Float, of) => format!("arith.cmpf o{of}"),
            (Kind::Integer, "ge") => "arith.cmpi sge".into(),
            (Kind::Integer, of) => format!("arith.cmpi {of}"),
        };
        let body = [
            format!("%w = arith.constant {} : {t}", with.0),
            format!("%y = arith.constant {} : {t}", then.0),
            format!("%z = arith.constant {} : {t}", otherwise.0),
            format!("%c = {compare}, %x0, %w : {t}"),
            format!("%r = arith.select %c, %y, %z : {t}"),
        ];
        self.generic(&[x], to, &body, "%r");
        let most = then.1.max(otherwise.1);
        self.wrote(to, most, most <= 2.0);
    }

    /// The sum, difference, product or greater of two, of which one may be a row or column that is repeated.
    fn binary(&mut self) {
        let Some(x) = self.variable(false, &|v| v.dims.len() == 2) else { return };
        let dims = self.dims(x);
        let Some(y) = self.variable(false, &|v| v.dims.iter().all(|d| dims.contains(d)) && !v.dims.is_empty()) else {
            return;
        };
        let Some(to) = self.variable(true, &|v| v.dims == dims) else { return };
        let op = self.rng.choice(&["add", "sub", "mul", "max", "min"]);
        let [p, q] = [x, y].map(|k| self.variables[k].most);
        let most = if op == "mul" { p * q } else { p + q };
        if most > MOST {
            return;
        }
        let body = [format!("%r = {} %x0, %x1 : {}", self.element.op(op), self.element.name)];
        self.generic(&[x, y], to, &body, "%r");
        self.wrote(to, most, false);
    }

    /// The size of each, of whose padding nothing is known afterwards.
    fn absolute(&mut self) {
        let Some(x) = self.variable(false, &|v| v.dims.len() == 2) else { return };
        let dims = self.dims(x);
        let Some(to) = self.variable(true, &|v| v.dims == dims) else { return };
        let name = if self.element.kind == Kind::Float { "math.absf" } else { "math.absi" };
        self.generic(&[x], to, &[format!("%r = {name} %x0 : {}", self.element.name)], "%r");
        let Variable { most, powers, .. } = self.variables[x];
        self.wrote(to, most, powers);
    }

    /// A reduction of one, or of the products of two, on a constant or on what is in memory.
    fn reduce(&mut self) {
        let Some(x) = self.variable(false, &|v| v.dims.len() == 2) else { return };
        let dims = self.dims(x);
        let kept: Vec<usize> = dims.iter().copied().filter(|_| self.rng.one_in(3)).collect();
        let Some(to) = self.variable(true, &|v| v.dims == kept).filter(|to| *to != x).or_else(|| self.scalar(&kept))
        else {
            return;
        };
        let y = self.rng.one_in(4).then(|| self.variable(false, &|v| v.dims == dims)).flatten().filter(|y| *y != to);
        let size: f64 = self.variables[x].array.sizes.iter().product::<i64>() as f64;
        let (p, powers) = (self.variables[x].most, self.variables[x].powers);
        let most = p * y.map_or(1.0, |y| self.variables[y].most);
        let integers = self.element.kind == Kind::Integer;
        let ops: &[&str] = match (integers, powers && y.is_none()) {
            (true, _) => &["add", "add", "mul", "max", "min", "and", "or", "xor"],
            (false, true) => &["add", "add", "mul", "max", "min"],
            (false, false) => &["add", "add", "add", "max", "min"],
        };
        let op = self.rng.choice(ops);
        let (start, _) = self.number();
        // A product of all elements may be infinite on the way, or not, by its order.
        if !integers && (op == "mul" && kept.is_empty() || size * most > SUM) {
            return;
        }
        let begins = !self.rng.one_in(4) || op == "mul" || self.variables[to].most + size * most > SUM;
        if begins {
            self.fill_with(to, &start);
        }
        let (t, mut body, mut element) = (self.element.name, Vec::new(), "%x0");
        if y.is_some() {
            body.push(format!("%p = {} %x0, %x1 : {t}", self.element.op("mul")));
            element = "%p";
        }
        let sum = if y.is_some() { "%x2" } else { "%x1" };
        let (first, second) = if self.rng.bool() { (element, sum) } else { (sum, element) };
        body.push(format!("%r = {} {first}, {second} : {t}", self.element.op(op)));
        let inputs: Vec<usize> = [x].into_iter().chain(y).collect();
        self.generic(&inputs, to, &body, "%r");
        self.wrote(to, self.variables[to].most + size * most, false);
    }

    /// The argument of rank 0, where nothing is kept.
    fn scalar(&self, kept: &[usize]) -> Option<usize> {
        kept.is_empty().then(|| self.variables.iter().position(|v| v.dims.is_empty())).flatten()
    }

    /// A matrix product, on a constant or on what is in memory.
    fn product(&mut self) {
        let Some(x) = self.variable(false, &|v| v.dims == [0, 1]) else { return };
        let Some(y) = self.variable(false, &|v| v.dims == [1, 2]) else { return };
        let Some(to) = self.variable(true, &|v| v.dims == [0, 2]) else { return };
        let start = self.rng.choice(&["0", "0", "-0", "1"]);
        let start = if self.element.kind == Kind::Float { format!("{start}.0") } else { start.replace("-0", "0") };
        let [p, q, before] = [x, y, to].map(|k| self.variables[k].most);
        let most = p * q * self.variables[x].array.sizes.iter().max().map_or(1.0, |n| *n as f64);
        if most > SUM {
            return;
        }
        if !self.rng.one_in(4) || before + most > SUM {
            self.fill_with(to, &start);
        }
        let t = self.element.name;
        let body = [
            format!("%p = {} %x0, %x1 : {t}", self.element.op("mul")),
            format!("%r = {} %x2, %p : {t}", self.element.op("add")),
        ];
        self.generic(&[x, y], to, &body, "%r");
        self.wrote(to, before + most, false);
    }

    /// A loop of two iterations, or a branch that the caller decides on.
    fn begin(&mut self) {
        if self.depth == 2 {
            return;
        }
        self.depth += 1;
        let name = self.name();
        let line = match self.rng.one_in(3) {
            false => format!("scf.for {name} = %zero to %two step %one {{"),
            true => "scf.if %condition {".to_owned(),
        };
        self.steps.push(json!({"kind": "text", "line": line}));
    }

    fn end(&mut self) {
        if self.depth > 0 {
            self.depth -= 1;
            self.steps.push(json!({"kind": "text", "line": "}"}));
        }
    }

    /// One of two buffers, by a branch that the caller decides on, and another number for each of its elements.
    fn pick(&mut self) {
        let Some(x) = self.variable(true, &|v| v.ready && v.dims.len() == 2) else { return };
        let text = self.variables[x].array.of("memref");
        let Some(y) = self.variable(true, &|v| v.ready && v.array.of("memref") == text) else { return };
        self.change("pick", x, y);
    }

    /// Hands a buffer to a function that makes another number of each of its elements.
    fn call(&mut self) {
        let Some(x) = self.variable(true, &|v| v.ready && v.dims.len() == 2) else { return };
        self.change("call", x, x);
    }

    fn change(&mut self, kind: &str, x: usize, y: usize) {
        let (first, second) = (self.number(), self.number());
        let t = self.element.name;
        let compare = if self.element.kind == Kind::Float { "arith.cmpf ogt" } else { "arith.cmpi sgt" };
        let body = [
            format!("%p = arith.constant {} : {t}", first.0),
            format!("%q = arith.constant {} : {t}", second.0),
            format!("%c = {compare}, %x0, %q : {t}"),
            format!("%r = arith.select %c, %p, %q : {t}"),
        ];
        let name = self.name();
        self.steps.push(json!({"kind": kind, "x": x, "y": y, "body": body, "name": name.trim_start_matches('%')}));
        let most = first.1.max(second.1);
        for k in [x, y] {
            let both = self.variables[k].most.max(most);
            self.wrote(k, both, false);
        }
    }
}
