//! A slow evaluator of tensor programs on all processes in lockstep: each operation runs at one process after the
//! other, and collectives by their definitions. All numbers are 64-bit, whatever their types.

mod scalar;
pub mod tensor;

use layout_ir::{self as ir, Op, Val};
use melior::ir::{BlockRef, ValueLike};
use scalar::{constant, elements, number, scalar};
use std::collections::HashMap;
use std::rc::Rc;
use tensor::{Tensor, combined, coordinates, each, group, joined};

#[derive(Clone, Debug)]
pub enum Value {
    Number(f64),
    Tensor(Rc<Tensor>),
}

impl Value {
    pub fn number(&self) -> f64 {
        match self {
            Value::Number(x) => *x,
            Value::Tensor(_) => panic!("a number"),
        }
    }

    pub fn tensor(&self) -> &Tensor {
        match self {
            Value::Tensor(tensor) => tensor,
            Value::Number(_) => panic!("a tensor"),
        }
    }

    fn of(tensor: Tensor) -> Value {
        Value::Tensor(Rc::new(tensor))
    }
}

/// A module that runs on several processes.
pub struct Processes<'m> {
    functions: HashMap<String, Op<'m>>,
    /// The processes along each axis.
    grid: Vec<usize>,
    values: Vec<HashMap<usize, Value>>,
    /// The indices of the running structured operations, the innermost last.
    indices: Vec<Vec<usize>>,
    /// The calls of functions without a body: the process, the function and the arguments.
    pub called: Vec<(usize, String, Vec<Value>)>,
}

impl<'m> Processes<'m> {
    /// The processes of a module with a grid, or one process without it.
    pub fn new(module: Op<'m>) -> Processes<'m> {
        let (mut functions, mut grid) = (HashMap::new(), vec![1]);
        for op in ir::operations(ir::blocks(module)[0]) {
            match ir::name(op) {
                "func.func" => drop(functions.insert(text(op, "sym_name"), op)),
                "shard.grid" => grid = numbers(op, "shape"),
                other => panic!("`{other}` is not evaluated"),
            }
        }
        let values = vec![HashMap::new(); grid.iter().product()];
        Processes { functions, grid, values, indices: Vec::new(), called: Vec::new() }
    }

    /// The number of processes.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The results of a function on each process for its arguments.
    pub fn run(&mut self, name: &str, arguments: &[Vec<Value>]) -> Vec<Vec<Value>> {
        let all: Vec<usize> = (0..self.count()).collect();
        self.call(name, &all, arguments)
    }

    fn call(&mut self, name: &str, active: &[usize], arguments: &[Vec<Value>]) -> Vec<Vec<Value>> {
        let function = self.functions[name];
        let Some(entry) = ir::blocks(function).first().copied() else {
            let calls = active.iter().zip(arguments);
            self.called.extend(calls.map(|(process, own)| (*process, name.to_string(), own.clone())));
            return vec![Vec::new(); active.len()];
        };
        self.block(entry, active, arguments)
    }

    fn get(&self, process: usize, v: Val<'m>) -> Value {
        self.values[process].get(&ir::key(v)).unwrap_or_else(|| panic!("{v} has no value")).clone()
    }

    fn set(&mut self, process: usize, v: Val<'m>, value: Value) {
        if let (Value::Tensor(own), Some(t)) = (&value, ir::tensor(v.r#type())) {
            let sizes: Vec<Option<i64>> = own.sizes.iter().map(|size| Some(*size as i64)).collect();
            assert!(
                t.shape.iter().zip(&sizes).all(|(a, b)| a.is_none() || a == b) && t.shape.len() == sizes.len(),
                "{v}: {sizes:?}"
            );
        }
        self.values[process].insert(ir::key(v), value);
    }

    /// The terminator operands of a block, on each process that runs it.
    fn block(&mut self, block: BlockRef<'m, 'm>, active: &[usize], arguments: &[Vec<Value>]) -> Vec<Vec<Value>> {
        for (process, own) in active.iter().zip(arguments) {
            for (v, value) in ir::arguments(block).into_iter().zip(own) {
                self.set(*process, v, value.clone());
            }
        }
        let mut operations = ir::operations(block);
        let end = operations.pop().expect("a terminator");
        for op in operations {
            self.operation(op, active);
        }
        active.iter().map(|process| ir::operands(end).into_iter().map(|v| self.get(*process, v)).collect()).collect()
    }

    fn operation(&mut self, op: Op<'m>, active: &[usize]) {
        let operands = ir::operands(op);
        let at = |own: &Self, k: usize| -> Vec<Value> { active.iter().map(|p| own.get(*p, operands[k])).collect() };
        let results: Vec<Vec<Value>> = match ir::name(op) {
            "func.call" => {
                let of = |p: &usize| operands.iter().map(|v| self.get(*p, *v)).collect();
                let arguments: Vec<Vec<Value>> = active.iter().map(of).collect();
                let name = ir::attribute(op, "callee").expect("a callee").to_string();
                self.call(name.trim_start_matches('@'), active, &arguments)
            }
            "scf.if" => return self.conditional(op, active),
            "scf.for" => {
                let bound = |k: usize| {
                    let all: Vec<f64> = at(self, k).iter().map(Value::number).collect();
                    assert!(all.iter().all(|x| *x == all[0]), "processes have other bounds");
                    all[0]
                };
                let (mut i, end, step) = (bound(0), bound(1), bound(2));
                let of = |p: &usize| operands[3..].iter().map(|v| self.get(*p, *v)).collect();
                let mut carried: Vec<Vec<Value>> = active.iter().map(of).collect();
                while i < end {
                    let arguments: Vec<Vec<Value>> =
                        carried.into_iter().map(|own| [vec![Value::Number(i)], own].concat()).collect();
                    carried = self.block(ir::blocks(op)[0], active, &arguments);
                    i += step;
                }
                carried
            }
            name if name.starts_with("shard.") => self.collective(op, active),
            _ => active.iter().map(|process| self.local(op, *process)).collect(),
        };
        for (process, own) in active.iter().zip(results) {
            ir::results(op).into_iter().zip(own).for_each(|(v, value)| self.set(*process, v, value));
        }
    }

    /// A conditional: each process takes the branch of its condition.
    fn conditional(&mut self, op: Op<'m>, active: &[usize]) {
        let blocks = ir::blocks(op);
        for (k, block) in blocks.into_iter().enumerate() {
            let goes = |p: &&usize| (self.get(**p, ir::operands(op)[0]).number() != 0.0) == (k == 0);
            let own: Vec<usize> = active.iter().filter(goes).copied().collect();
            let given = self.block(block, &own, &vec![Vec::new(); own.len()]);
            for (process, values) in own.iter().zip(given) {
                ir::results(op).into_iter().zip(values).for_each(|(v, value)| self.set(*process, v, value));
            }
        }
    }

    /// The result of a collective on each process.
    fn collective(&mut self, op: Op<'m>, active: &[usize]) -> Vec<Vec<Value>> {
        let own = |process: usize| coordinates(process, &self.grid);
        let axes = |name| numbers(op, name);
        match ir::name(op) {
            "shard.process_linear_index" => return active.iter().map(|p| vec![Value::Number(*p as f64)]).collect(),
            "shard.process_multi_index" => {
                let of = |p: &usize| axes("axes").iter().map(|axis| Value::Number(own(*p)[*axis] as f64)).collect();
                return active.iter().map(of).collect();
            }
            _ => {}
        }
        assert_eq!(active.len(), self.count(), "`{}` needs all processes", ir::name(op));
        let input = |process: usize| self.get(process, ir::operands(op)[0]).tensor().clone();
        let dim = |name| ir::attribute(op, name).and_then(ir::integer).expect("a dimension") as usize;
        let kind = || {
            let text = ir::attribute(op, "reduction").map_or("<partial sum>".into(), |a| a.to_string());
            text.split_once("partial ").expect("a reduction").1.trim_end_matches('>').to_string()
        };
        let of = |process: usize| {
            let all = group(process, &self.grid, &axes("grid_axes"));
            let place = all.iter().position(|other| *other == process).expect("a process is in its group");
            let tensors = || all.iter().map(|other| input(*other)).collect::<Vec<_>>();
            // The partner process of a send or receive in process `other`.
            let partner = |of: Op<'m>, other: usize, name: &str| {
                assert_eq!(ir::sizes(of, name), vec![None; axes("grid_axes").len()]);
                let mut index = own(other);
                let values = ir::operands(of);
                let at = values[1..].iter().map(|v| self.get(other, *v).number() as usize);
                axes("grid_axes").iter().zip(at).for_each(|(axis, at)| index[*axis] = at);
                index.iter().zip(&self.grid).fold(0, |k, (at, size)| k * size + at)
            };
            match ir::name(op) {
                "shard.all_gather" => joined(&tensors(), dim("gather_axis")),
                "shard.shift" => match shifted(op, place, all.len()) {
                    Some(from) => input(all[from]),
                    None => Tensor::build(&input(process).sizes, |_| f64::NAN),
                },
                "shard.all_slice" => input(process).part(dim("slice_axis"), place, all.len()),
                "shard.all_reduce" => combined(&tensors(), &kind()),
                "shard.reduce_scatter" => combined(&tensors(), &kind()).part(dim("scatter_axis"), place, all.len()),
                "shard.all_to_all" => {
                    let part = |other: &Tensor| other.part(dim("split_axis"), place, all.len());
                    joined(&tensors().iter().map(part).collect::<Vec<_>>(), dim("concat_axis"))
                }
                // The receiver checks the destination.
                "shard.send" => input(process),
                "shard.recv" => {
                    let source = partner(op, process, "source");
                    let sent = ir::defining_op(ir::operands(op)[0]).expect("what was sent");
                    assert_eq!(ir::name(sent), "shard.send");
                    assert_eq!(partner(sent, source, "destination"), process, "what is received goes elsewhere");
                    input(source)
                }
                other => panic!("`{other}` is not evaluated"),
            }
        };
        (0..self.count()).map(|process| vec![Value::of(of(process))]).collect()
    }

    /// The result of an operation that needs only one process.
    fn local(&mut self, op: Op<'m>, process: usize) -> Vec<Value> {
        let operands: Vec<Value> = ir::operands(op).into_iter().map(|v| self.get(process, v)).collect();
        let result = ir::results(op).first().copied();
        let sizes = || sizes_of(result.expect("a result"));
        let tensor = |k: usize| operands[k].tensor();
        let one = match ir::name(op) {
            "arith.constant" => match ir::tensor(result.expect("a constant").r#type()) {
                Some(_) => Value::of(elements(op, &sizes())),
                None => Value::Number(constant(op)),
            },
            "affine.apply" => {
                let map = ir::attribute(op, "map").and_then(ir::affine_map).expect("a map");
                let point: Vec<i64> = operands.iter().map(|v| v.number() as i64).collect();
                let e = &layout_dialect::affine::exprs_of_map(map).expect("an affine map")[0];
                Value::Number(e.evaluate(&point).expect("a number") as f64)
            }
            "linalg.index" => {
                let dim = ir::attribute(op, "dim").and_then(ir::integer).expect("a loop") as usize;
                Value::Number(self.indices.last().expect("a structured operation")[dim] as f64)
            }
            "linalg.softmax" => {
                Value::of(softmax(tensor(0), ir::attribute(op, "dimension").and_then(ir::integer).unwrap() as usize))
            }
            "layout.convert" => operands[0].clone(),
            "tensor.cast" => operands[0].clone(),
            "tensor.empty" => Value::of(Tensor::build(&sizes(), |_| f64::NAN)),
            "tensor.splat" => Value::of(Tensor::build(&sizes(), |_| operands[0].number())),
            "tensor.dim" => Value::Number(tensor(0).sizes[operands[1].number() as usize] as f64),
            "tensor.extract" => {
                let index: Vec<usize> = operands[1..].iter().map(|v| v.number() as usize).collect();
                Value::Number(tensor(0).at(&index))
            }
            "tensor.insert" => Value::of(inserted(&operands)),
            "tensor.expand_shape" | "tensor.collapse_shape" => {
                if ir::name(op) == "tensor.expand_shape" {
                    assert_eq!(numbers(op, "static_output_shape"), sizes());
                }
                Value::of(Tensor { sizes: sizes(), data: tensor(0).data.clone() })
            }
            "tensor.concat" => {
                let dim = ir::attribute(op, "dim").and_then(ir::integer).expect("a dimension") as usize;
                Value::of(joined(&operands.iter().map(|v| v.tensor().clone()).collect::<Vec<_>>(), dim))
            }
            "tensor.extract_slice" => {
                let (at, taken) = (slice(op), numbers(op, "static_sizes"));
                let data: Vec<f64> = each(&taken).map(|index| tensor(0).at(&at(&index))).collect();
                Value::of(Tensor { sizes: sizes(), data })
            }
            "tensor.insert_slice" => Value::of(inserted_slice(op, tensor(0), tensor(1))),
            "tensor.pad" => Value::of(self.padded(op, process, tensor(0), sizes())),
            "tensor.generate" => {
                let data = each(&sizes()).map(|index| self.element_at(op, process, &index)).collect();
                Value::of(Tensor { sizes: sizes(), data })
            }
            _ if ir::indexing_maps(op).is_some() => return self.structured(op, process, &operands),
            _ => elementwise(op, &operands),
        };
        if result.is_some() { vec![one] } else { Vec::new() }
    }

    /// The value that the body of an operation yields at an index.
    fn element_at(&mut self, op: Op<'m>, process: usize, index: &[usize]) -> f64 {
        let point: Vec<Value> = index.iter().map(|at| Value::Number(*at as f64)).collect();
        self.block(ir::blocks(op)[0], &[process], &[point])[0][0].number()
    }

    /// A tensor with padding, each element of which the body yields.
    fn padded(&mut self, op: Op<'m>, process: usize, source: &Tensor, sizes: Vec<usize>) -> Tensor {
        let low = numbers(op, "static_low");
        let mut data = Vec::new();
        for index in each(&sizes) {
            let inside: Option<Vec<usize>> = index.iter().zip(&low).map(|(at, low)| at.checked_sub(*low)).collect();
            let inside = inside.filter(|own| own.iter().zip(&source.sizes).all(|(at, size)| at < size));
            data.push(inside.map_or_else(|| self.element_at(op, process, &index), |own| source.at(&own)));
        }
        Tensor { sizes, data }
    }

    /// A structured operation, one iteration at a time.
    fn structured(&mut self, op: Op<'m>, process: usize, operands: &[Value]) -> Vec<Value> {
        let maps = ir::indexing_maps(op).expect("a structured operation");
        let maps: Vec<_> =
            maps.into_iter().map(|map| layout_dialect::affine::exprs_of_map(map).expect("affine")).collect();
        let loops = ir::indexing_maps(op).expect("a structured operation")[0].dim_count();
        let mut extents = vec![usize::MAX; loops];
        for (v, map) in operands.iter().zip(&maps) {
            let Value::Tensor(tensor) = v else { continue };
            for (e, size) in map.iter().zip(&tensor.sizes) {
                if let tensor_layout::expr::Expr::Var(own) = e {
                    assert!(extents[*own] == usize::MAX || extents[*own] == *size, "loops of other sizes in {op}");
                    extents[*own] = *size;
                }
            }
        }
        let first = operands.len() - ir::results(op).len();
        let mut outputs: Vec<Tensor> = operands[first..].iter().map(|v| v.tensor().clone()).collect();
        let block = ir::blocks(op)[0];
        for index in each(&extents) {
            let point: Vec<i64> = index.iter().map(|at| *at as i64).collect();
            let at = |map: &[tensor_layout::expr::Expr]| -> Vec<usize> {
                map.iter().map(|e| e.evaluate(&point).expect("a number") as usize).collect()
            };
            let mut arguments = Vec::with_capacity(operands.len());
            for (k, v) in operands.iter().enumerate() {
                arguments.push(match v {
                    Value::Number(x) => Value::Number(*x),
                    Value::Tensor(_) if k >= first => Value::Number(outputs[k - first].at(&at(&maps[k]))),
                    Value::Tensor(tensor) => Value::Number(tensor.at(&at(&maps[k]))),
                });
            }
            self.indices.push(index);
            let made = self.block(block, &[process], &[arguments]);
            self.indices.pop();
            for (k, x) in made[0].iter().enumerate() {
                let place = outputs[k].place(&at(&maps[first + k]));
                outputs[k].data[place] = x.number();
            }
        }
        outputs.into_iter().map(Value::of).collect()
    }
}

/// A tensor with one element replaced: the operands are the element, the tensor, and the index.
fn inserted(operands: &[Value]) -> Tensor {
    let index: Vec<usize> = operands[2..].iter().map(|v| v.number() as usize).collect();
    let mut new = operands[1].tensor().clone();
    let place = new.place(&index);
    new.data[place] = operands[0].number();
    new
}

fn inserted_slice(op: Op, part: &Tensor, into: &Tensor) -> Tensor {
    let (at, mut new) = (slice(op), into.clone());
    for (index, x) in each(&numbers(op, "static_sizes")).zip(&part.data) {
        let place = new.place(&at(&index));
        new.data[place] = *x;
    }
    new
}

/// An operation on numbers, or on each element of tensors.
fn elementwise(op: Op, operands: &[Value]) -> Value {
    let Some(like) = operands.iter().find(|v| matches!(v, Value::Tensor(_))) else {
        return Value::Number(scalar(op, &operands.iter().map(Value::number).collect::<Vec<_>>()));
    };
    let sizes = like.tensor().sizes.clone();
    let lane = |k: usize| {
        let element = |v: &Value| if let Value::Tensor(t) = v { t.data[k] } else { v.number() };
        operands.iter().map(element).collect::<Vec<_>>()
    };
    let data = (0..like.tensor().data.len()).map(|k| scalar(op, &lane(k))).collect();
    Value::of(Tensor { sizes, data })
}

fn softmax(x: &Tensor, dim: usize) -> Tensor {
    let along = |index: &[usize]| {
        let mut line = index.to_vec();
        (0..x.sizes[dim])
            .map(|k| {
                line[dim] = k;
                x.at(&line)
            })
            .collect::<Vec<f64>>()
    };
    Tensor::build(&x.sizes, |index| {
        let most = along(&index).into_iter().fold(f64::NEG_INFINITY, f64::max);
        (x.at(&index) - most).exp() / along(&index).into_iter().map(|y| (y - most).exp()).sum::<f64>()
    })
}

/// The function from a slice's index to the source index.
fn slice(op: Op) -> impl Fn(&[usize]) -> Vec<usize> {
    let [offsets, strides] = ["static_offsets", "static_strides"].map(|name| numbers(op, name));
    move |index| index.iter().enumerate().map(|(dim, at)| offsets[dim] + at * strides[dim]).collect()
}

pub fn sizes_of(v: Val) -> Vec<usize> {
    let sizes = ir::tensor(v.r#type()).and_then(|t| t.sizes()).expect("a tensor of static sizes");
    sizes.into_iter().map(|size| size as usize).collect()
}

/// The integers of an array attribute, of any width.
fn numbers(op: Op, name: &str) -> Vec<usize> {
    let text = ir::attribute(op, name).unwrap_or_else(|| panic!("{name} of {op}")).to_string();
    let list = text.split_once(':').map_or("", |own| own.1).trim_end_matches('>');
    list.split(',').filter(|own| !own.trim().is_empty()).map(|own| number(own.trim()) as usize).collect()
}

fn text(op: Op, name: &str) -> String {
    ir::attribute(op, name).and_then(ir::text).expect("a text").to_string()
}

/// The place in a group of `count` processes that shifts its tensor to `place`, if there is one.
fn shifted(op: Op, place: usize, count: usize) -> Option<usize> {
    let offset = ir::attribute(op, "offset").and_then(ir::integer).expect("an offset");
    let (from, count) = (place as i64 - offset, count as i64);
    let is_sent = ir::attribute(op, "rotate").is_some() || (0..count).contains(&from);
    is_sent.then_some(from.rem_euclid(count) as usize)
}
