//! An evaluator of programs on all devices at once, one instruction at a time, by the definitions of exchanges.

use super::{Number, Value, each, instruction, run};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Collective, Exchange, Operation, Shape, leaves};

/// The number of elements in the entry's result.
pub fn results(module: &Module) -> usize {
    let entry = &module.computations[module.entry];
    leaves(&entry.result().shape)[0].sizes().expect("sizes").iter().product::<i64>() as usize
}

/// The results of the entry on each device for its arguments.
pub fn all(module: &Module, partitions: usize, numbers: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let entry = &module.computations[module.entry];
    let devices = numbers.len();
    // Indexed by instruction and device.
    let mut values: Vec<Vec<Vec<Value>>> = Vec::new();
    for i in &entry.instructions {
        let operands = |d: usize| i.operands.iter().map(|k| values[*k][d].clone()).collect::<Vec<_>>();
        let shapes: Vec<&Shape> = i.operands.iter().map(|k| &entry.instructions[*k].shape).collect();
        let number = |n: usize| vec![Value::scalar(ElementType::U32, Number::Int(n as i128))];
        values.push(match &i.operation {
            Operation::Parameter { .. } => {
                let sizes = vec![numbers[0].len() as i64];
                let own = |data: &Vec<f64>| Value {
                    element: ElementType::F64,
                    sizes: sizes.clone(),
                    data: data.iter().map(|x| Number::Float(*x)).collect(),
                };
                numbers.iter().map(|data| vec![own(data)]).collect()
            }
            Operation::Collective(c) => {
                let given: Vec<Vec<Value>> = (0..devices).map(|d| operands(d).concat()).collect();
                (0..devices).map(|d| exchanged(module, i, c, &given, d)).collect()
            }
            _ if i.opcode == "partition-id" => (0..devices).map(|d| number(d % partitions)).collect(),
            _ if i.opcode == "replica-id" => (0..devices).map(|d| number(d / partitions)).collect(),
            _ => (0..devices).map(|d| instruction(module, i, &operands(d), &shapes)).collect(),
        });
    }
    let root = &values[entry.root];
    root.iter().map(|leaves| leaves[0].data.iter().map(|x| x.real()).collect()).collect()
}

/// The result of an exchange on device `d`, from the operands of all devices.
fn exchanged(module: &Module, i: &Instruction, c: &Collective, given: &[Vec<Value>], d: usize) -> Vec<Value> {
    match c.exchange {
        Exchange::Ragged => return vec![ragged(c, given, d)],
        Exchange::PermuteBlocks { sets } => return blocks(c, sets, given, d),
        _ => {}
    }
    let arrays = leaves(&i.shape);
    let each_result = arrays.iter().enumerate().map(|(k, array)| {
        let sizes = array.sizes().expect("sizes");
        Value::build(array.element, &sizes, |index| element(module, i, c, given, (d, k), index))
    });
    each_result.collect()
}

/// An element of result `k` on device `d`.
fn element(
    module: &Module,
    i: &Instruction,
    c: &Collective,
    given: &[Vec<Value>],
    (d, k): (usize, usize),
    index: &[i64],
) -> Number {
    let own = c.groups.iter().find(|group| group.contains(&(d as i64)));
    let place = || own.and_then(|group| group.iter().position(|device| *device == d as i64)).expect("a place") as i64;
    let at = |device: i64, operand: usize, index: &[i64]| given[device as usize][operand].at(index);
    let with = |dim: usize, n: i64| {
        let mut index = index.to_vec();
        index[dim] = n;
        index
    };
    let size = |dim: usize| given[d][k].sizes[dim];
    let combined = |index: &[i64]| {
        let group = own.expect("a group");
        let all = group.iter().map(|device| at(*device, k, index));
        all.reduce(|a, b| {
            let scalar = |x| vec![Value::scalar(given[d][k].element, x)];
            run(module, i.called[0], &[scalar(a), scalar(b)])[0].data[0]
        })
        .expect("a device")
    };
    match c.exchange {
        Exchange::Gather { dim } => {
            let from = own.expect("a group")[(index[dim] / size(dim)) as usize];
            at(from, k, &with(dim, index[dim] % size(dim)))
        }
        Exchange::Reduce => combined(index),
        Exchange::ReduceTogether => reduced_together(module, i, given, own.expect("a group"), k, index),
        Exchange::ReduceScatter { dim } => {
            let part = size(dim) / own.expect("a group").len() as i64;
            combined(&with(dim, place() * part + index[dim]))
        }
        Exchange::AllToAll { dim: Some(dim) } => {
            let part = size(dim) / own.expect("a group").len() as i64;
            let from = own.expect("a group")[(index[dim] / part) as usize];
            at(from, k, &with(dim, place() * part + index[dim] % part))
        }
        Exchange::AllToAll { dim: None } => at(own.expect("a group")[k], place() as usize, index),
        Exchange::Broadcast => own.map_or(Number::Int(0), |group| at(group[0], k, index)),
        Exchange::Permute => {
            let source = c.groups.iter().find(|pair| pair[1] == d as i64);
            source.map_or(Number::Int(0), |pair| at(pair[0], k, index))
        }
        Exchange::Ragged | Exchange::PermuteBlocks { .. } => unreachable!("they are on their own"),
    }
}

/// An element of result `k` of a reduction of all operands at once.
fn reduced_together(
    module: &Module,
    i: &Instruction,
    given: &[Vec<Value>],
    group: &[i64],
    k: usize,
    index: &[i64],
) -> Number {
    let scalar = |v: &Value| vec![Value::scalar(v.element, v.at(index))];
    let all = |device: &i64| given[*device as usize].iter().map(scalar).collect::<Vec<_>>();
    let both = |a: Vec<Vec<Value>>, b: Vec<Vec<Value>>| {
        let done = run(module, i.called[0], &[a, b].concat());
        done.into_iter().map(|value| vec![value]).collect()
    };
    group.iter().map(all).reduce(both).expect("a device")[k][0].data[0]
}

/// The outputs of device `d`, with the blocks from other devices.
fn blocks(c: &Collective, sets: usize, given: &[Vec<Value>], d: usize) -> Vec<Value> {
    let count = c.blocks.len() / sets;
    let mut outs = given[d][count..2 * count].to_vec();
    let ranks: usize = c.blocks.iter().map(Vec::len).sum();
    let mut before = 2 * count;
    for (k, block) in c.blocks.iter().enumerate() {
        // The start of a block in a device's array, clamped to fit.
        let begin = |device: usize, first: usize, sizes: &[i64]| -> Vec<i64> {
            let at = |n: usize| (given[device][first + n].data[0].int() as i64).clamp(0, sizes[n] - block[n]);
            (0..block.len()).map(at).collect()
        };
        let length = c.groups.len() / sets;
        let set = &c.groups[k % sets * length..][..length];
        if let Some(pair) = set.iter().find(|pair| pair[1] == d as i64) {
            let input = &given[pair[0] as usize][k / sets];
            let from = begin(pair[0] as usize, before, &input.sizes);
            let out = &mut outs[k / sets];
            let to = begin(d, before + ranks, &out.sizes);
            each(block, |at| {
                let place = |begin: &[i64]| begin.iter().zip(at).map(|(a, b)| a + b).collect::<Vec<i64>>();
                let to = out.place(&place(&to));
                out.data[to] = input.at(&place(&from));
            });
        }
        before += block.len();
    }
    outs
}

/// The output of device `d`, with the rows from other devices.
fn ragged(c: &Collective, given: &[Vec<Value>], d: usize) -> Value {
    let group = c.groups.iter().find(|group| group.contains(&(d as i64))).expect("a group");
    let place = group.iter().position(|device| *device == d as i64).expect("a place");
    let mut out = given[d][1].clone();
    let row: i64 = out.sizes[1..].iter().product();
    for from in group.iter().map(|device| &given[*device as usize]) {
        let updates = from[2].data.len() / group.len();
        for k in place * updates..(place + 1) * updates {
            let [start, count, to] = [2, 3, 4].map(|list| (from[list].data[k].int() as i64 * row) as usize);
            out.data[to..to + count].copy_from_slice(&from[0].data[start..start + count]);
        }
    }
    out
}
