//! A slow interpreter of HLO, from the definitions of its operations. Shared by tests; no test by itself.

mod algorithms;
pub mod devices;
mod dynamic;
pub mod number;
mod products;
mod random;
pub mod reads;
mod scalar;

use crate::boxes::{indices, is_inside, position};
pub use number::Number;
use reads::{Definition, bit_offsets};
use scalar::element;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Literal, Module, Values};
use tensor_layout::operations::{Array, Operation, Shape, Start, bits, leaves};

/// An array with its elements in row-major order, rounded to its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub element: ElementType,
    pub sizes: Vec<i64>,
    pub data: Vec<Number>,
}

/// The result leaves of a computation for these arguments.
pub fn run(module: &Module, computation: usize, arguments: &[Vec<Value>]) -> Vec<Value> {
    let computation = &module.computations[computation];
    let mut values: Vec<Vec<Value>> = Vec::new();
    for i in &computation.instructions {
        let operands: Vec<Vec<Value>> = i.operands.iter().map(|k| values[*k].clone()).collect();
        let shapes: Vec<&Shape> = i.operands.iter().map(|k| &computation.instructions[*k].shape).collect();
        values.push(match &i.operation {
            Operation::Parameter { number } => arguments[*number].clone(),
            _ => dynamic::sized(module, i, &operands, &shapes),
        });
    }
    values.swap_remove(computation.root)
}

fn array(shape: &Shape) -> &Array {
    match shape {
        Shape::Array(array) => array,
        other => panic!("{other} is no array"),
    }
}

/// Calls back with each index into these sizes, in row-major order.
pub fn each(sizes: &[i64], mut f: impl FnMut(&[i64])) {
    indices(sizes).iter().for_each(|index| f(index));
}

impl Value {
    pub fn at(&self, index: &[i64]) -> Number {
        self.data[self.place(index)]
    }

    fn place(&self, index: &[i64]) -> usize {
        assert!(is_inside(index, &self.sizes), "{index:?} is outside of {:?}", self.sizes);
        position(index, &self.sizes)
    }

    fn build(element: ElementType, sizes: &[i64], mut f: impl FnMut(&[i64]) -> Number) -> Value {
        let mut data = Vec::new();
        each(sizes, |index| data.push(f(index).to(element)));
        Value { element, sizes: sizes.to_vec(), data }
    }

    fn scalar(element: ElementType, x: Number) -> Value {
        Value { element, sizes: Vec::new(), data: vec![x.to(element)] }
    }
}

fn literal(l: &Literal, element: ElementType, sizes: &[i64]) -> Value {
    let data = match &l.values {
        Values::Booleans(all) => all.iter().map(|x| number::truth(*x)).collect(),
        Values::Integers(all) => all.iter().map(|x| Number::Int(*x)).collect(),
        Values::Floats(all) => all.iter().map(|x| Number::Float(*x)).collect(),
        Values::Complex(all) => all.iter().map(|(re, im)| Number::Complex(*re, *im)).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    Value { element, sizes: sizes.to_vec(), data: data.into_iter().map(|x| x.to(element)).collect() }
}

/// Runs a computation on scalars.
fn combine(module: &Module, computation: usize, arguments: &[Number], element: &[ElementType]) -> Vec<Number> {
    let arguments: Vec<Vec<Value>> = arguments.iter().zip(element).map(|(x, e)| vec![Value::scalar(*e, *x)]).collect();
    run(module, computation, &arguments).iter().map(|v| v.data[0]).collect()
}

/// The results of an instruction.
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
            let leaf = |(number, array): (&Option<usize>, _)| number.map_or_else(|| zeros(array), |k| x[k].clone());
            numbers.iter().zip(own).map(leaf).collect()
        }
        Operation::Start(start) => started(module, i, start, operands, shapes),
        Operation::Call { computation } => run(module, *computation, operands),
        Operation::While { condition, body } => {
            let mut state = operands[0].clone();
            while run(module, *condition, &[state.clone()])[0].data[0].int() != 0 {
                state = run(module, *body, &[state]);
            }
            state
        }
        Operation::Conditional { branches } => {
            let branch = branch(&operands[0][0], branches.len());
            run(module, branches[branch], &[operands[branch + 1].clone()])
        }
        Operation::Reduce { .. } | Operation::ReduceWindow { .. } => reduce(module, i, &x, shapes),
        Operation::Scatter(_) => scatter(module, i, &x, shapes),
        Operation::Algorithm(algorithm) => algorithms::algorithm(module, i, algorithm, &x),
        Operation::Constant if matches!(i.shape, Shape::Tuple(_)) => {
            let all = i.literal.as_ref().unwrap().leaves();
            let each = all.into_iter().zip(leaves(&i.shape));
            each.map(|(l, array)| literal(l, array.element, &array.sizes().unwrap())).collect()
        }
        // The start indices in one array.
        Operation::Other { .. } if i.opcode == "dynamic-update-slice" => {
            let row: Vec<Value> = x[2].data.iter().map(|start| Value::scalar(x[2].element, *start)).collect();
            let scalar = Shape::parse("s32[]").unwrap();
            let shapes = [vec![shapes[0], shapes[1]], vec![&scalar; row.len()]].concat();
            let operands: Vec<Vec<Value>> =
                [&operands[..2], &row.into_iter().map(|v| vec![v]).collect::<Vec<_>>()].concat();
            let i = Instruction { operation: Operation::DynamicUpdateSlice, ..i.clone() };
            instruction(module, &i, &operands, &shapes)
        }
        Operation::Constant if i.opcode == "rng-get-and-update-state" => vec![random::state(i)],
        Operation::Elementwise if i.opcode == "rng" => vec![random::numbers(i, &x)],
        Operation::Elementwise if i.opcode == "map" => {
            let to = array(&i.shape).element;
            let types: Vec<ElementType> = x.iter().map(|v| v.element).collect();
            vec![Value::build(to, &x[0].sizes, |at| {
                let arguments: Vec<Number> = x.iter().map(|v| v.at(at)).collect();
                combine(module, i.called[0], &arguments, &types)[0]
            })]
        }
        _ => vec![computed(i, &x, shapes)],
    }
}

/// Combines the updates one after the other, at the positions that [`Definition`] gives.
fn scatter(module: &Module, i: &Instruction, x: &[&Value], shapes: &[&Shape]) -> Vec<Value> {
    let n = x.len() / 2;
    let definition = Definition::new(&i.operation, shapes, std::slice::from_ref(&&i.shape));
    let types: Vec<ElementType> = x[..n].iter().chain(&x[n + 1..]).map(|v| v.element).collect();
    let mut out: Vec<Value> = x[..n].iter().map(|v| (*v).clone()).collect();
    let sizes = out[0].sizes.clone();
    each(&sizes, |index| {
        let mut updates = Vec::new();
        definition.reads(0, index, &|operand, at| x[operand].at(at).int() as i64, &mut |operand, at| {
            updates.extend(at.filter(|_| operand == n + 1));
        });
        let place = out[0].place(index);
        for at in updates {
            let old = out.iter().map(|v| v.data[place]);
            let arguments: Vec<Number> = old.chain(x[n + 1..].iter().map(|v| v.at(&at))).collect();
            let new = combine(module, i.called[0], &arguments, &types);
            out.iter_mut().zip(new).for_each(|(v, new)| v.data[place] = new.to(v.element));
        }
    });
    out
}

/// A zero array.
fn zeros(array: &Array) -> Value {
    Value::build(array.element, &array.sizes().unwrap(), |_| Number::Int(0).to(array.element))
}

/// The result of an asynchronous start: the operation's results, its operands, and zeros.
fn started(module: &Module, i: &Instruction, start: &Start, operands: &[Vec<Value>], shapes: &[&Shape]) -> Vec<Value> {
    let all = leaves(&i.shape);
    let (first, count) = start.results;
    let made: Vec<Shape> = all[first..first + count].iter().map(|array| Shape::Array((*array).clone())).collect();
    let shape = if let [one] = &made[..] { one.clone() } else { Shape::Tuple(made) };
    let opcode = i.opcode.strip_suffix("-start").unwrap_or(&i.opcode).to_string();
    let inner = Instruction { opcode, operation: start.operation.clone(), shape, ..i.clone() };
    let (made, given) = (instruction(module, &inner, operands, shapes), operands.concat());
    let leaf = |(k, array): (usize, &&Array)| match (start.result(k), start.operand(k)) {
        (Some(result), _) => made[result].clone(),
        (None, Some(operand)) => given[operand].clone(),
        (None, None) => zeros(array),
    };
    all.iter().enumerate().map(leaf).collect()
}

/// The branch that a value selects.
fn branch(selector: &Value, branches: usize) -> usize {
    let (last, chosen) = (branches - 1, selector.data[0].int());
    match selector.element {
        ElementType::Pred => usize::from(chosen == 0),
        _ => usize::try_from(chosen).map_or(last, |chosen| chosen.min(last)),
    }
}

/// The result of an instruction that computes each element from operand elements.
fn computed(i: &Instruction, x: &[&Value], shapes: &[&Shape]) -> Value {
    let (out, sizes) = (array(&i.shape).element, array(&i.shape).sizes().unwrap());
    match &i.operation {
        // A buffer with later writes.
        Operation::Constant if i.literal.is_none() => return zeros(array(&i.shape)),
        Operation::Constant => return literal(i.literal.as_ref().unwrap(), out, &sizes),
        Operation::Iota { dim } => return Value::build(out, &sizes, |index| Number::Int(index[*dim].into())),
        _ => {}
    }
    let definition = Definition::new(&i.operation, shapes, std::slice::from_ref(&&i.shape));
    let held = |operand: usize, at: &[i64]| x[operand].at(at).int() as i64;
    let from: Vec<ElementType> = x.iter().map(|v| v.element).collect();
    Value::build(out, &sizes, |index| {
        let mut reads = Vec::new();
        definition.reads(0, index, &held, &mut |operand, at| {
            reads.extend(at.map(|at| x[operand].at(&at)));
        });
        match &i.operation {
            Operation::Elementwise | Operation::Select => element(i, &from, out, &reads),
            Operation::Dot { .. } | Operation::Convolution(_) => {
                let products = reads.chunks(2).map(|pair| number::product(pair[0].parts(), pair[1].parts()));
                let (re, im) = products.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                if out.is_complex() { Number::Complex(re, im) } else { Number::Float(re) }
            }
            // Padding may have any contents.
            Operation::Bitcast if bits(array(shapes[0])) != bits(array(&i.shape)) => {
                let (width, to) = (bits(array(shapes[0])).unwrap(), bits(array(&i.shape)).unwrap());
                let begin = bit_offsets(array(&i.shape)).0[position(index, &sizes)];
                // The read begins at the operand element that holds the first bit.
                let parts = reads.iter().zip(0..).map(|(x, k)| u128::from(x.bits(from[0])) << (k * width));
                Number::of_bits(out, (parts.sum::<u128>() >> (begin % width)) as u64 & (u64::MAX >> (64 - to)))
            }
            Operation::Bitcast => {
                reads.first().map_or(Number::Int(7), |read| Number::of_bits(out, read.bits(x[0].element)))
            }
            // Splits an element along the last dimension.
            Operation::Broadcast { .. } if i.opcode == "bitcast-convert" => {
                let (part, width) = (*index.last().unwrap(), out.bits().unwrap());
                Number::of_bits(out, reads[0].bits(x[0].element) >> (part * width) & ((1 << width) - 1))
            }
            // All other operations move elements; indices come after the data.
            _ => reads[0],
        }
    })
}

/// Reduces initial values and input elements into each result element; padding is skipped.
fn reduce(module: &Module, i: &Instruction, x: &[&Value], shapes: &[&Shape]) -> Vec<Value> {
    let n = x.len() / 2;
    let definition = Definition::new(&i.operation, shapes, std::slice::from_ref(&&i.shape));
    let sizes = definition.outs[0].clone();
    let inits: Vec<Number> = x[n..].iter().map(|init| init.data[0]).collect();
    let types: Vec<ElementType> = (0..2 * n).map(|k| x[n + k % n].element).collect();
    let mut out: Vec<Value> =
        (0..n).map(|k| Value { element: types[k], sizes: sizes.clone(), data: Vec::new() }).collect();
    each(&sizes, |index| {
        let mut reads = Vec::new();
        definition.reads(0, index, &|_, _| panic!("a reduction reads no indices"), &mut |operand, at| {
            if operand < n {
                reads.extend(at.map(|at| x[operand].at(&at)));
            }
        });
        let combined = reads
            .chunks(n)
            .fold(inits.clone(), |sums, values| combine(module, i.called[0], &[&sums, values].concat(), &types));
        out.iter_mut().zip(combined).for_each(|(value, sum)| value.data.push(sum.to(value.element)));
    });
    out
}
