//! Programs on ragged tiles, whose kernels iterate over whole tiles: chains of operations on memrefs, in loops and
//! branches. Their padding is unknown, constant, or computed from constants.
//!
//! Selections between constants give padding other numbers than the elements, so a reduction that reads padding which
//! is not neutral is wrong.

use super::padding_numbers::{MOST, data, number};
use crate::array::{Array, Notation, Source};
use crate::element::{Element, F32, F64, I8, I16, I32, Kind};
use crate::program::Program;
use serde_json::{Value, json};
use tensor_layout::tiled::{Layout, TileEntry};

/// The limit of a sum, which a loop may make four times as large: f32 holds all integers up to 2^24.
const SUM: f64 = (1 << 22) as f64;

/// The dimensions of each argument.
const ARGUMENTS: &[&[usize]] =
    &[&[0, 1], &[0, 1], &[1, 2], &[0, 2], &[0, 2], &[0], &[0], &[0], &[0], &[1], &[1], &[1], &[2], &[]];

/// A value of the program: an argument, an allocation or a constant.
struct Variable {
    array: Array,
    /// The dimensions of the iteration space that index it.
    dims: Vec<usize>,
    /// Whether all of its elements have been written.
    ready: bool,
    /// Whether the program may write to it.
    writable: bool,
    /// The largest magnitude of an element.
    most: f64,
    /// Whether all elements are 0 or powers of two up to 2, so that products of many are exact.
    powers: bool,
    /// The assumed contents of its padding.
    known: Known,
    /// Whether it is the result of a reduction, which the caller compares.
    result: bool,
}

/// The assumed contents of padding.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Nothing,
    /// One value.
    Value,
    /// 0, a value that no element has.
    Zero,
}

/// A program builder.
struct Maker<'a, 'b> {
    rng: &'a mut Source<'b>,
    element: Element,
    variables: Vec<Variable>,
    steps: Vec<Value>,
    /// The depth of nested loops and branches.
    depth: usize,
    /// The number of names so far.
    names: usize,
}

/// A kind of step, which is skipped if no variable suits it.
#[derive(Clone, Copy)]
enum Step {
    Fill,
    Apart,
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
    const STEPS: &[Step] =
        &[Step::Apart, Step::Choose, Step::Apart, Step::Binary, Step::Apart, Step::Reduce, Step::Fill, Step::Absolute];
    program(rng, STEPS)
}

/// Matrix products, at times of products.
pub fn products(rng: &mut Source) -> Program {
    const STEPS: &[Step] =
        &[Step::Product, Step::Choose, Step::Product, Step::Binary, Step::Product, Step::Reduce, Step::Absolute];
    program(rng, STEPS)
}

/// Reductions and products in loops and branches, where a later operation also runs before an earlier one.
pub fn loops(rng: &mut Source) -> Program {
    const STEPS: &[Step] =
        &[Step::Begin, Step::Reduce, Step::Choose, Step::Product, Step::Reduce, Step::End, Step::Absolute, Step::Apart];
    program(rng, STEPS)
}

/// Buffers that a branch selects or a callee writes to.
pub fn aliases(rng: &mut Source) -> Program {
    const STEPS: &[Step] = &[Step::Reduce, Step::Pick, Step::Call, Step::Choose, Step::Apart, Step::Call];
    program(rng, STEPS)
}

/// The iteration space of a program: the size and the tile of each dimension.
struct Extents {
    element: Element,
    tiles: Vec<i64>,
    sizes: Vec<i64>,
}

impl Extents {
    fn random(rng: &mut Source) -> Extents {
        let element = rng.choice(&[F32, F32, F64, I32, I16, I8]);
        let tiles: Vec<i64> = rng.choice(&[[8, 16, 16], [4, 32, 16], [8, 8, 8], [2, 32, 4], [16, 16, 16]]).to_vec();
        let size = |tile: &i64| {
            let whole = tile * rng.i64(2..=3).max(16 / tile);
            whole - rng.i64(0..=whole / 12)
        };
        let sizes = tiles.iter().map(size).collect();
        Extents { element, tiles, sizes }
    }

    /// An array with these dimensions, at times in tiles.
    fn variable(&self, rng: &mut Source, dims: &[usize]) -> Variable {
        let sizes: Vec<i64> = dims.iter().map(|d| self.sizes[*d]).collect();
        let mut layout = Layout::row_major(dims.len());
        if rng.one_in(4) {
            layout.minor_to_major.reverse();
        }
        // The tile of each dimension has its own size, listed in memory order.
        let tile = |d: &usize| TileEntry::Size(self.tiles[dims[*d]]);
        layout.tiles.push(layout.minor_to_major.iter().rev().map(tile).collect());
        let tiled = !dims.is_empty() && !rng.plain && !rng.one_in(10);
        let layout = tiled.then_some(Notation::Tiled(layout));
        Variable {
            array: Array { sizes, element: self.element, layout, unknown: Vec::new() },
            dims: dims.to_vec(),
            ready: true,
            writable: true,
            most: 5.0,
            powers: false,
            known: Known::Nothing,
            result: false,
        }
    }
}

/// A program of these kinds of steps.
fn program(rng: &mut Source, kinds: &[Step]) -> Program {
    let extents = Extents::random(rng);
    let mut variables = Vec::new();
    for (k, dims) in ARGUMENTS.iter().enumerate() {
        let made = extents.variable(rng, dims);
        let known = match made.array.promised(k) {
            Some(0) => Known::Zero,
            Some(_) => Known::Value,
            None => Known::Nothing,
        };
        variables.push(Variable { known, ..made });
    }
    let locals: &[&[usize]] = &[&[0, 1], &[0, 1], &[1, 2], &[0, 2], &[0]];
    variables.extend(locals.iter().map(|dims| Variable { ready: false, ..extents.variable(rng, dims) }));
    for dims in [[0, 1], [1, 2], [0, 1]] {
        let powers = rng.bool();
        let known = if powers { Known::Zero } else { Known::Value };
        variables.push(Variable { writable: false, powers, most: 2.0, known, ..extents.variable(rng, &dims) });
    }
    let mut maker = Maker { rng, element: extents.element, variables, steps: Vec::new(), depth: 0, names: 0 };
    for _ in 0..maker.rng.usize(12..24) {
        let kind = maker.rng.choice(kinds);
        maker.step(kind);
    }
    while maker.depth > 0 {
        maker.end();
    }
    // Constants, splats and others.
    let first = ARGUMENTS.len() + locals.len();
    let constants = &maker.variables[first..];
    let data: Vec<String> = constants.iter().map(|v| data(maker.rng, &v.array, v.powers)).collect();
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
            Step::Apart => self.apart(),
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

    /// A random fitting variable to read or to write; `None` if no variable fits.
    fn variable(&mut self, written: bool, fits: &dyn Fn(&Variable) -> bool) -> Option<usize> {
        let wanted = |v: &Variable| if written { v.writable && !v.dims.is_empty() } else { v.ready };
        let all: Vec<usize> =
            (0..self.variables.len()).filter(|k| wanted(&self.variables[*k]) && fits(&self.variables[*k])).collect();
        // Prefers inputs whose padding is known, and allocations as outputs.
        let weight = |k: &usize| match &self.variables[*k] {
            v if written && v.result => false,
            v if written => !v.ready || v.known == Known::Nothing && *k >= ARGUMENTS.len(),
            v => v.known != Known::Nothing,
        };
        let some: Vec<usize> = all.iter().copied().filter(weight).collect();
        let from = if some.is_empty() || self.rng.one_in(3) { all } else { some };
        (!from.is_empty()).then(|| self.rng.choice(&from))
    }

    /// The padding of a result of these operands.
    fn known(&self, from: &[usize]) -> Known {
        let all = from.iter().all(|k| self.variables[*k].known != Known::Nothing);
        if all { Known::Value } else { Known::Nothing }
    }

    fn dims(&self, k: usize) -> Vec<usize> {
        self.variables[k].dims.clone()
    }

    /// Records a write. Inside a branch or loop the old contents may remain.
    fn wrote(&mut self, to: usize, most: f64, powers: bool, known: Known) {
        let variable = &mut self.variables[to];
        variable.known = known;
        let both = self.depth > 0;
        variable.ready |= !both;
        variable.most = if both { variable.most.max(most) } else { most };
        variable.powers = powers && (!both || variable.powers);
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%n{}", self.names)
    }

    fn number(&mut self) -> (String, f64) {
        number(self.rng, self.element)
    }

    /// A structured operation; the loops are the dimensions in order.
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
        self.wrote(to, most, most <= 2.0, Known::Value);
    }

    /// Different numbers for padding and for elements, selected by a comparison with 0; then a reduction.
    fn apart(&mut self) {
        let Some(x) = self.variable(false, &|v| v.dims.len() == 2 && v.known == Known::Zero) else { return };
        let dims = self.dims(x);
        let Some(to) = self.variable(true, &|v| v.dims == dims) else { return };
        let zero = format!("0{}", self.element.point());
        // A sum of zeros of one sign, with zeros of the other sign in padding, shows its initial value.
        let signs = self.element.kind == Kind::Float && self.rng.one_in(3);
        let numbers = match signs {
            true => [zero.clone(), format!("-{zero}")].map(|n| (n, 0.0)),
            false => [(); 2].map(|()| self.number()),
        };
        self.choose_between(x, to, ("eq", &zero), numbers);
        if self.rng.one_in(6) {
            self.absolute_of(to, to);
        }
        self.reduce_of(to);
    }

    /// A selection between two constants by a comparison with a third, at times in place.
    fn choose(&mut self) {
        let Some(x) = self.variable(false, &|v| v.dims.len() == 2) else { return };
        let dims = self.dims(x);
        let Some(to) = self.variable(true, &|v| v.dims == dims) else { return };
        let (predicate, with) = (self.rng.choice(&["eq", "lt", "ge"]), self.number());
        let numbers = [(); 2].map(|()| self.number());
        self.choose_between(x, to, (predicate, &with.0), numbers);
    }

    fn choose_between(
        &mut self,
        x: usize,
        to: usize,
        (predicate, with): (&str, &str),
        [then, otherwise]: [(String, f64); 2],
    ) {
        let t = self.element.name;
        let predicate =
            if self.element.kind == Kind::Integer { predicate.replace("lt", "ult") } else { predicate.into() };
        let compare = match (self.element.kind, &*predicate) {
            (Kind::Float, of) => format!("arith.cmpf o{of}"),
            (Kind::Integer, "ge") => "arith.cmpi sge".into(),
            (Kind::Integer, of) => format!("arith.cmpi {of}"),
        };
        let body = [
            format!("%w = arith.constant {with} : {t}"),
            format!("%y = arith.constant {} : {t}", then.0),
            format!("%z = arith.constant {} : {t}", otherwise.0),
            format!("%c = {compare}, %x0, %w : {t}"),
            format!("%r = arith.select %c, %y, %z : {t}"),
        ];
        self.generic(&[x], to, &body, "%r");
        let most = then.1.max(otherwise.1);
        self.wrote(to, most, most <= 2.0, self.known(&[x]));
    }

    /// The sum, difference, product or maximum of two operands, one of them at times a broadcast row or column.
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
        self.wrote(to, most, false, self.known(&[x, y]));
    }

    /// The absolute value, whose padding is unknown.
    fn absolute(&mut self) {
        let Some(x) = self.variable(false, &|v| v.dims.len() == 2) else { return };
        let dims = self.dims(x);
        let Some(to) = self.variable(true, &|v| v.dims == dims) else { return };
        self.absolute_of(x, to);
    }

    fn absolute_of(&mut self, x: usize, to: usize) {
        let name = if self.element.kind == Kind::Float { "math.absf" } else { "math.absi" };
        self.generic(&[x], to, &[format!("%r = {name} %x0 : {}", self.element.name)], "%r");
        let Variable { most, powers, .. } = self.variables[x];
        self.wrote(to, most, powers, Known::Nothing);
    }

    /// A reduction of one operand or of the product of two, onto a constant or onto the output's old contents.
    fn reduce(&mut self) {
        let Some(x) = self.variable(false, &|v| v.dims.len() == 2) else { return };
        self.reduce_of(x);
    }

    fn reduce_of(&mut self, x: usize) {
        let dims = self.dims(x);
        let kept: Vec<usize> = match self.rng.u8(0..8) {
            0 => Vec::new(),
            1 => dims.clone(),
            _ => vec![self.rng.choice(&dims)],
        };
        let Some(to) = self.result(&kept).filter(|to| *to != x) else { return };
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
        // A product of all elements may overflow to infinity in one order and not in another.
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
        self.wrote(to, self.variables[to].most + size * most, false, Known::Nothing);
    }

    /// A writable argument of these dimensions without a result yet; at times an allocation.
    fn result(&mut self, dims: &[usize]) -> Option<usize> {
        if self.rng.one_in(6) && !dims.is_empty() {
            return self.variable(true, &|v| v.dims == dims);
        }
        let free = |k: &usize| self.variables[*k].dims == dims && !self.variables[*k].result;
        let all: Vec<usize> = (0..ARGUMENTS.len()).filter(free).collect();
        let to = (!all.is_empty()).then(|| self.rng.choice(&all))?;
        self.variables[to].result = true;
        Some(to)
    }

    /// A matrix product, onto a constant or onto the output's old contents.
    fn product(&mut self) {
        let Some(x) = self.variable(false, &|v| v.dims == [0, 1]) else { return };
        let Some(y) = self.variable(false, &|v| v.dims == [1, 2]) else { return };
        let to = if self.rng.bool() { self.result(&[0, 2]) } else { self.variable(true, &|v| v.dims == [0, 2]) };
        let Some(to) = to else { return };
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
        self.wrote(to, before + most, false, Known::Nothing);
    }

    /// A loop of two iterations, or a branch on an argument.
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

    /// A branch that selects one of two buffers, and an update of all its elements.
    fn pick(&mut self) {
        let Some(x) = self.variable(true, &|v| v.ready && v.dims.len() == 2) else { return };
        let text = self.variables[x].array.of("memref");
        let Some(y) = self.variable(true, &|v| v.ready && v.array.of("memref") == text) else { return };
        self.change("pick", x, y);
    }

    /// A call of a function that updates all elements of a buffer.
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
            self.wrote(k, both, false, self.variables[k].known);
        }
    }
}
