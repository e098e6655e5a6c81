//! A slow interpreter of HLO, written from what its operations mean. Shared by tests; no test by itself.

use crate::elements::Definition;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Literal, Module, Values};
use tensor_layout::operations::{Array, Operation, Shape, Start, leaves};

/// An array with its elements in row-major order. All types are kept as `f64`, rounded as the type demands.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub element: ElementType,
    pub sizes: Vec<i64>,
    pub data: Vec<f64>,
}

/// The leaves of what a computation gives for these arguments.
pub fn run(module: &Module, computation: usize, arguments: &[Vec<Value>]) -> Vec<Value> {
    let computation = &module.computations[computation];
    let mut values: Vec<Vec<Value>> = Vec::new();
    for i in &computation.instructions {
        let operands: Vec<Vec<Value>> = i.operands.iter().map(|k| values[*k].clone()).collect();
        let shapes: Vec<&Shape> = i.operands.iter().map(|k| &computation.instructions[*k].shape).collect();
        values.push(match &i.operation {
            Operation::Parameter { number } => arguments[*number].clone(),
            _ => instruction(module, i, &operands, &shapes),
        });
    }
    values.swap_remove(computation.root)
}

/// A number as an element of a type.
pub fn rounded(e: ElementType, x: f64) -> f64 {
    match e {
        ElementType::F32 => f64::from(x as f32),
        ElementType::BF16 => {
            let bits = (x as f32).to_bits();
            let up = (bits.wrapping_add(0x7fff + ((bits >> 16) & 1))) & 0xffff_0000;
            f64::from(f32::from_bits(if x.is_nan() { bits } else { up }))
        }
        ElementType::F64 => x,
        ElementType::Pred => f64::from(u8::from(x != 0.0)),
        _ => {
            let bits = e.bits().expect("a number") as u32;
            let all = (x as i128).rem_euclid(1i128 << bits);
            (if e.is_signed() && all >= 1i128 << (bits - 1) { all - (1i128 << bits) } else { all }) as f64
        }
    }
}

/// The bits of a number.
fn bits(e: ElementType, x: f64) -> u64 {
    match e {
        ElementType::F32 => (x as f32).to_bits().into(),
        ElementType::BF16 => u64::from((x as f32).to_bits() >> 16),
        e if e.is_float() => panic!("the bits of {} are not interpreted", e.name()),
        e => (x as i128).rem_euclid(1 << e.bits().expect("a number")) as u64,
    }
}

/// The number with these bits.
fn of_bits(e: ElementType, bits: u64) -> f64 {
    match e {
        ElementType::F32 => f64::from(f32::from_bits(bits as u32)),
        ElementType::BF16 => f64::from(f32::from_bits((bits as u32) << 16)),
        e if e.is_float() => panic!("the bits of {} are not interpreted", e.name()),
        e => rounded(e, bits as f64),
    }
}

fn array(shape: &Shape) -> &Array {
    match shape {
        Shape::Array(array) => array,
        other => panic!("{other} is no array"),
    }
}

/// Calls back with each index into these sizes, in row-major order.
pub fn each(sizes: &[i64], mut f: impl FnMut(&[i64])) {
    let mut index = vec![0; sizes.len()];
    if sizes.contains(&0) {
        return;
    }
    loop {
        f(&index);
        let Some(k) = (0..sizes.len()).rev().find(|k| index[*k] + 1 < sizes[*k]) else { return };
        index[k] += 1;
        index[k + 1..].fill(0);
    }
}

impl Value {
    pub fn at(&self, index: &[i64]) -> f64 {
        self.data[self.place(index)]
    }

    fn place(&self, index: &[i64]) -> usize {
        index.iter().zip(&self.sizes).fold(0, |at, (i, n)| {
            assert!((0..*n).contains(i), "{index:?} is outside of {:?}", self.sizes);
            at * n + i
        }) as usize
    }

    fn build(element: ElementType, sizes: &[i64], mut f: impl FnMut(&[i64]) -> f64) -> Value {
        let mut data = Vec::new();
        each(sizes, |index| data.push(rounded(element, f(index))));
        Value { element, sizes: sizes.to_vec(), data }
    }

    fn scalar(element: ElementType, x: f64) -> Value {
        Value { element, sizes: Vec::new(), data: vec![rounded(element, x)] }
    }
}

fn literal(l: &Literal, element: ElementType, sizes: &[i64]) -> Value {
    let data = match &l.values {
        Values::Booleans(all) => all.iter().map(|x| f64::from(u8::from(*x))).collect(),
        Values::Integers(all) => all.iter().map(|x| *x as f64).collect(),
        Values::Floats(all) => all.iter().map(|x| rounded(element, *x)).collect(),
        other => panic!("{other:?}"),
    };
    Value { element, sizes: sizes.to_vec(), data }
}

/// What an elementwise instruction makes of one element of each operand, the first of type `from`.
fn element(i: &Instruction, from: ElementType, to: ElementType, x: &[f64]) -> f64 {
    let op = &*i.opcode;
    let known = match x {
        [a] => float_function(op, *a).or_else(|| conversion(op, from, to, *a)),
        [a, b] if from.is_float() => float_arithmetic(op, *a, *b).or_else(|| comparison(i, *a, *b)),
        [a, b] => integer_arithmetic(op, from, *a as i128, *b as i128).or_else(|| comparison(i, *a, *b)),
        [a, b, c] if op == "clamp" => Some(b.max(*a).min(*c)),
        [a, b, c] if op == "select" => Some(if *a != 0.0 { *b } else { *c }),
        _ => None,
    };
    known.unwrap_or_else(|| panic!("`{op}` is not interpreted"))
}

/// Functions of one number, most of them of real numbers only.
fn float_function(op: &str, x: f64) -> Option<f64> {
    Some(match op {
        "copy" | "opt-barrier" | "custom-call" => x,
        "negate" => -x,
        "abs" => x.abs(),
        "sign" if x == 0.0 || x.is_nan() => x,
        "sign" => x.signum(),
        "exponential" => x.exp(),
        "exponential-minus-one" => x.exp_m1(),
        "log" => x.ln(),
        "log-plus-one" => x.ln_1p(),
        "tanh" => x.tanh(),
        "logistic" => 1.0 / (1.0 + (-x).exp()),
        "sqrt" => x.sqrt(),
        "rsqrt" => 1.0 / x.sqrt(),
        "cbrt" => x.cbrt(),
        "sine" => x.sin(),
        "cosine" => x.cos(),
        "tan" => x.tan(),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        "round-nearest-even" => x.round_ties_even(),
        "round-nearest-afz" => x.round(),
        "is-finite" => truth(x.is_finite()),
        _ => return None,
    })
}

/// A number as another type, and the negation of bits.
fn conversion(op: &str, from: ElementType, to: ElementType, x: f64) -> Option<f64> {
    Some(match op {
        "not" if from == ElementType::Pred => 1.0 - x,
        "not" => -1.0 - x,
        // Integers saturate.
        "convert" if from.is_float() && !to.is_float() && to != ElementType::Pred => {
            let bits = to.bits().unwrap() as i32;
            let (lo, hi) = match to.is_signed() {
                true => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0),
                false => (0.0, 2f64.powi(bits) - 1.0),
            };
            if x.is_nan() { 0.0 } else { x.trunc().clamp(lo, hi) }
        }
        "convert" => x,
        "bitcast-convert" => of_bits(to, bits(from, x)),
        _ => return None,
    })
}

fn float_arithmetic(op: &str, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        "add" => a + b,
        "subtract" => a - b,
        "multiply" => a * b,
        "divide" => a / b,
        "remainder" => a % b,
        "maximum" | "minimum" if a.is_nan() || b.is_nan() => f64::NAN,
        "maximum" => a.max(b),
        "minimum" => a.min(b),
        "power" => a.powf(b),
        "atan2" => a.atan2(b),
        _ => return None,
    })
}

/// Arithmetic of integers and truth values. Division by 0 gives -1, its remainder the dividend; a shift by the width or
/// more shifts everything out.
fn integer_arithmetic(op: &str, of: ElementType, a: i128, b: i128) -> Option<f64> {
    let width = i128::from(of.bits().unwrap_or(64));
    let fits = (0..width).contains(&b);
    let whole = match op {
        "add" if of == ElementType::Pred => i128::from(a + b != 0),
        "add" => a + b,
        "subtract" => a - b,
        "multiply" => a * b,
        "divide" if b == 0 => -1,
        "divide" => a / b,
        "remainder" if b == 0 => a,
        "remainder" => a % b,
        "maximum" => a.max(b),
        "minimum" => a.min(b),
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "shift-left" if fits => a << b,
        "shift-right-logical" if fits => a.rem_euclid(1 << width) >> b,
        "shift-left" | "shift-right-logical" => 0,
        "shift-right-arithmetic" => a >> if fits { b } else { width - 1 },
        "power" => return Some((a as f64).powf(b as f64)),
        _ => return None,
    };
    Some(whole as f64)
}

fn comparison(i: &Instruction, a: f64, b: f64) -> Option<f64> {
    (i.opcode == "compare").then(|| {
        truth(match i.attribute("direction").unwrap() {
            "EQ" => a == b,
            "NE" => a != b,
            "LT" => a < b,
            "LE" => a <= b,
            "GT" => a > b,
            _ => a >= b,
        })
    })
}

fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}

/// A computation on scalars.
fn combine(module: &Module, computation: usize, arguments: &[f64], element: &[ElementType]) -> Vec<f64> {
    let arguments: Vec<Vec<Value>> = arguments.iter().zip(element).map(|(x, e)| vec![Value::scalar(*e, *x)]).collect();
    run(module, computation, &arguments).iter().map(|v| v.data[0]).collect()
}

/// What an instruction gives.
pub fn instruction(module: &Module, i: &Instruction, operands: &[Vec<Value>], shapes: &[&Shape]) -> Vec<Value> {
    let x: Vec<&Value> = operands.iter().flatten().collect();
    match &i.operation {
        Operation::Tuple => operands.concat(),
        Operation::GetTupleElement { index } => {
            let Shape::Tuple(parts) = shapes[0] else { panic!("no tuple") };
            let first: usize = parts[..*index].iter().map(|part| leaves(part).len()).sum();
            operands[0][first..first + leaves(&parts[*index]).len()].to_vec()
        }
        Operation::Leaves { numbers } => {
            let own = leaves(&i.shape);
            let nothing = |array: &Array| Value::build(array.element, &array.sizes().unwrap(), |_| 0.0);
            let leaf = |(number, array): (&Option<usize>, _)| number.map_or_else(|| nothing(array), |k| x[k].clone());
            numbers.iter().zip(own).map(leaf).collect()
        }
        Operation::Start(start) => started(module, i, start, operands, shapes),
        Operation::Call { computation } => run(module, *computation, operands),
        Operation::While { condition, body } => {
            let mut state = operands[0].clone();
            while run(module, *condition, &[state.clone()])[0].data[0] != 0.0 {
                state = run(module, *body, &[state]);
            }
            state
        }
        Operation::Conditional { branches } => {
            let branch = branch(&operands[0][0], branches.len());
            run(module, branches[branch], &[operands[branch + 1].clone()])
        }
        Operation::Reduce { .. } | Operation::ReduceWindow { .. } => reduce(module, i, &x, shapes),
        _ => vec![computed(i, &x, shapes)],
    }
}

/// What the start of an asynchronous pair gives: what it makes, its operands, and zeros.
fn started(module: &Module, i: &Instruction, start: &Start, operands: &[Vec<Value>], shapes: &[&Shape]) -> Vec<Value> {
    let all = leaves(&i.shape);
    let (first, count) = start.results;
    let made: Vec<Shape> = all[first..first + count].iter().map(|array| Shape::Array((*array).clone())).collect();
    let shape = if let [one] = &made[..] { one.clone() } else { Shape::Tuple(made) };
    let opcode = i.opcode.strip_suffix("-start").unwrap_or(&i.opcode).to_string();
    let inner = Instruction { opcode, operation: start.operation.clone(), shape, ..i.clone() };
    let (made, given) = (instruction(module, &inner, operands, shapes), operands.concat());
    let leaf = |(k, array): (usize, &&Array)| match (start.result(k), start.operand(k, given.len())) {
        (Some(result), _) => made[result].clone(),
        (None, Some(operand)) => given[operand].clone(),
        (None, None) => Value::build(array.element, &array.sizes().unwrap(), |_| 0.0),
    };
    all.iter().enumerate().map(leaf).collect()
}

/// The branch that a value selects.
fn branch(selector: &Value, branches: usize) -> usize {
    let (last, chosen) = (branches - 1, selector.data[0]);
    match selector.element {
        ElementType::Pred => usize::from(chosen == 0.0),
        _ if chosen < 0.0 => last,
        _ => (chosen as usize).min(last),
    }
}

/// The value of an instruction that computes each element from elements of the operands.
fn computed(i: &Instruction, x: &[&Value], shapes: &[&Shape]) -> Value {
    let (out, sizes) = (array(&i.shape).element, array(&i.shape).sizes().unwrap());
    match &i.operation {
        // A buffer that is written later.
        Operation::Constant if i.literal.is_none() => return Value::build(out, &sizes, |_| 0.0),
        Operation::Constant => return literal(i.literal.as_ref().unwrap(), out, &sizes),
        Operation::Iota { dim } => return Value::build(out, &sizes, |index| index[*dim] as f64),
        _ => {}
    }
    let definition = Definition::new(&i.operation, shapes, std::slice::from_ref(&&i.shape));
    let held = |operand: usize, at: &[i64]| x[operand].at(at) as i64;
    Value::build(out, &sizes, |index| {
        let mut reads = Vec::new();
        definition.reads(0, index, &held, &mut |operand, at| {
            reads.extend(at.map(|at| x[operand].at(&at)));
        });
        match &i.operation {
            Operation::Elementwise | Operation::Select => element(i, x[0].element, out, &reads),
            Operation::Dot { .. } | Operation::Convolution(_) => {
                reads.chunks(2).fold(0.0, |sum, pair| sum + pair[0] * pair[1])
            }
            // Padding may be anything.
            Operation::Bitcast => reads.first().map_or(7.0, |read| of_bits(out, bits(x[0].element, *read))),
            // An element is taken apart along the last dimension.
            Operation::Broadcast { .. } if i.opcode == "bitcast-convert" => {
                let (part, width) = (*index.last().unwrap(), out.bits().unwrap());
                of_bits(out, bits(x[0].element, reads[0]) >> (part * width) & ((1 << width) - 1))
            }
            // All others move elements; indices come after.
            _ => reads[0],
        }
    })
}

/// Combines elements of the inputs, or their initial values in padding, into those of the result.
fn reduce(module: &Module, i: &Instruction, x: &[&Value], shapes: &[&Shape]) -> Vec<Value> {
    let n = x.len() / 2;
    let definition = Definition::new(&i.operation, shapes, std::slice::from_ref(&&i.shape));
    let sizes = definition.outs[0].clone();
    let inits: Vec<f64> = x[n..].iter().map(|init| init.data[0]).collect();
    let types: Vec<ElementType> = (0..2 * n).map(|k| x[n + k % n].element).collect();
    let mut out: Vec<Value> =
        (0..n).map(|k| Value { element: types[k], sizes: sizes.clone(), data: Vec::new() }).collect();
    each(&sizes, |index| {
        let mut reads = Vec::new();
        definition.reads(0, index, &|_, _| panic!("a reduction reads no indices"), &mut |operand, at| {
            if operand < n {
                reads.push(at.map_or(inits[operand], |at| x[operand].at(&at)));
            }
        });
        let combined = reads
            .chunks(n)
            .fold(inits.clone(), |sums, values| combine(module, i.called[0], &[&sums, values].concat(), &types));
        out.iter_mut().zip(combined).for_each(|(value, sum)| value.data.push(rounded(value.element, sum)));
    });
    out
}
