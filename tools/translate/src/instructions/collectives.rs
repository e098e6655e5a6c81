//! Exchanges between devices: calls, or the result of device 0 where all hold the same.

use super::Site;
use super::computation::applied;
use super::shapes;
use crate::builder::{Builder, Generic, Operand};
use crate::collectives::{Collectives, combination, device, function, is_local, parameters};
use crate::syntax::{dims, plain};
use crate::tensor::{ImportResult, Tensor};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::{Collective, Exchange};

/// Writes an exchange. Each operand has one result; whole operands that are exchanged go together.
pub fn collective(
    b: &mut Builder,
    site: &Site,
    c: &Collective,
    ins: &[Tensor],
    outs: &[Tensor],
) -> ImportResult<Vec<Tensor>> {
    let i = site.i;
    let single = b.collectives == Collectives::Single;
    if c.exchange == Exchange::Ragged {
        return ragged(b, i, c, ins, &outs[0]).map(|t| vec![t]);
    }
    let ins = ins.iter().zip(outs).map(|(t, out)| b.precise(t, out)).collect::<ImportResult<Vec<_>>>()?;
    if c.exchange == (Exchange::AllToAll { dim: None }) {
        if single || is_local(c) {
            let (_, place) = own(c);
            return Ok(outs.iter().map(|out| b.converted(&ins[place as usize], out)).collect());
        }
        return exchanged_whole(b, i, c, &ins, outs);
    }
    if c.exchange == Exchange::ReduceTogether {
        let ins: Vec<Tensor> = ins.iter().map(|t| b.without_encoding(t)).collect();
        let done = match single || is_local(c) {
            true => folded(b, i, own(c).0, &ins, None)?,
            false => gathered(b, i, c, &ins)?,
        };
        return Ok(done.iter().zip(outs).map(|(t, out)| b.converted(t, out)).collect());
    }
    let each = ins.iter().zip(outs).map(|(t, out)| {
        let t = b.without_encoding(t);
        let done = match single || is_local(c) {
            true => alone(b, i, c, &t, out)?,
            false => called(b, i, c, &t, out)?,
        };
        Ok(b.converted(&done, out))
    });
    each.collect()
}

/// The number of the running device.
pub fn device_id(b: &mut Builder, i: &Instruction, out: &Tensor) -> Tensor {
    let value = match b.collectives {
        Collectives::Single => b.w.constant("0", "i32"),
        Collectives::Calls => {
            let callee = b.w.declared.exchange(device(&i.opcode), String::new(), "i32");
            b.w.op(&format!("func.call {callee}() : () -> i32"))
        }
    };
    b.named(out, &format!("tensor.from_elements {value} : {}", out.ty))
}

/// The size of device 0's group, and its place in it; a group of one where it is in none.
fn own(c: &Collective) -> (i64, i64) {
    let place = |group: &Vec<i64>| group.iter().position(|device| *device == 0).map(|place| (group.len(), place));
    let (n, place) = c.groups.iter().find_map(place).unwrap_or((1, 0));
    (n as i64, place as i64)
}

/// The result of device 0 where all hold the same; the tensors have no encoding.
fn alone(b: &mut Builder, i: &Instruction, c: &Collective, t: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let (n, place) = own(c);
    Ok(match c.exchange {
        Exchange::Gather { dim } => copies(b, t, dim, n)?,
        Exchange::Reduce => folded(b, i, n, std::slice::from_ref(t), None)?.remove(0),
        Exchange::ReduceScatter { dim } => {
            let whole = folded(b, i, n, std::slice::from_ref(t), None)?;
            part(b, &whole[0], dim, [n, place])
        }
        Exchange::AllToAll { dim: Some(dim) } => {
            let part = part(b, t, dim, [n, place]);
            copies(b, &part, dim, n)?
        }
        Exchange::Permute if !c.groups.iter().any(|pair| pair[1] == 0) => zeros(b, t),
        Exchange::Broadcast if !c.groups.iter().any(|group| group.contains(&0)) => zeros(b, t),
        _ => Tensor { sizes: out.sizes.clone(), ..t.clone() },
    })
}

fn zeros(b: &mut Builder, t: &Tensor) -> Tensor {
    let zero = b.zero(t);
    b.filled(t, &zero)
}

/// Part `number` of `n` along a dimension.
fn part(b: &mut Builder, t: &Tensor, dim: usize, [n, number]: [i64; 2]) -> Tensor {
    let (mut sizes, mut offsets) = (t.sizes.clone(), vec!["0".to_string(); t.sizes.len()]);
    sizes[dim] /= n;
    offsets[dim] = (number * sizes[dim]).to_string();
    b.extract_slice(t, &offsets, &sizes, &vec![1; sizes.len()])
}

/// A tensor of `n` copies one after the other along a dimension.
fn copies(b: &mut Builder, t: &Tensor, dim: usize, n: i64) -> ImportResult<Tensor> {
    let like = |sizes: Vec<i64>| Tensor { ty: plain(&sizes, &t.element_text), sizes, ..t.clone() };
    let (mut apart, mut joined) = (t.sizes.clone(), t.sizes.clone());
    apart.insert(dim, n);
    joined[dim] *= n;
    let kept = (0..apart.len()).filter(|k| *k != dim);
    let spread = b.moved(Operand::new(t, dims(kept)), &like(apart))?;
    Ok(shapes::reshape(b, &spread, &like(joined)))
}

/// Combines `n` tensors by the instruction's computation: copies of `first`, or parts of tensors along a dimension,
/// with `first` as the first part.
fn folded(
    b: &mut Builder,
    i: &Instruction,
    n: i64,
    first: &[Tensor],
    parts: Option<(&[Tensor], usize)>,
) -> ImportResult<Vec<Tensor>> {
    let number = *i.called.first().ok_or("a reduction needs a computation")?;
    let stays = matches!(combination(b.module, number), Some("minimum" | "maximum" | "and" | "or"));
    if n == 1 || stays && parts.is_none() {
        return Ok(first.to_vec());
    }
    let [one, all] = ["1", &n.to_string()].map(|k| b.w.constant(k, "index"));
    let (module, of) = (b.module, first.iter().map(|t| t.element).collect::<Vec<_>>());
    b.repeat([&one, &all, &one], first, |b, k, so_far| {
        let next = match parts {
            None => first.to_vec(),
            Some((whole, dim)) => {
                let part = |(t, whole): (&Tensor, &Tensor)| {
                    let size = b.w.constant(&t.sizes[dim].to_string(), "index");
                    let mut offsets = vec!["0".to_string(); t.sizes.len()];
                    offsets[dim] = b.w.on_index("muli", k, &size);
                    b.extract_slice(whole, &offsets, &t.sizes, &vec![1; t.sizes.len()])
                };
                first.iter().zip(whole).map(part).collect()
            }
        };
        let generic = Generic {
            loops: first[0].sizes.len(),
            ins: so_far.iter().chain(&next).map(Operand::own).collect(),
            outs: first.to_vec(),
            inits: vec![None; first.len()],
        };
        let pairs = of.repeat(2);
        b.generic(generic, |w, args| applied(module, number, w, &args[..pairs.len()], &pairs, &of))
    })
}

/// The result of a call, for one operand without an encoding.
fn called(b: &mut Builder, i: &Instruction, c: &Collective, t: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let like = |sizes: Vec<i64>| Tensor { ty: plain(&sizes, &t.element_text), sizes, ..t.clone() };
    let known = i.called.first().is_none_or(|number| combination(b.module, *number).is_some());
    let n = c.groups.first().map_or(1, Vec::len) as i64;
    match c.exchange {
        Exchange::Permute if c.groups.is_empty() => Ok(zeros(b, t)),
        Exchange::Reduce if !known => {
            let all = gathered(b, i, c, std::slice::from_ref(t))?;
            all.into_iter().next().ok_or_else(|| "a reduction needs an operand".into())
        }
        Exchange::ReduceScatter { dim } if !known => {
            let parts = call(b, i, c, t, t, dim);
            let first = part(b, &parts, dim, [n, 0]);
            Ok(folded(b, i, n, &[first], Some((&[parts], dim)))?.remove(0))
        }
        Exchange::Gather { dim } | Exchange::ReduceScatter { dim } | Exchange::AllToAll { dim: Some(dim) } => {
            Ok(call(b, i, c, t, &like(out.sizes.clone()), dim))
        }
        _ => Ok(call(b, i, c, t, &like(out.sizes.clone()), usize::MAX)),
    }
}

/// The operands of all devices of a group, gathered and combined.
fn gathered(b: &mut Builder, i: &Instruction, c: &Collective, ins: &[Tensor]) -> ImportResult<Vec<Tensor>> {
    if c.groups.iter().any(|group| group.len() != c.groups[0].len()) {
        return Err(format!("`{}` with this computation needs groups of as many devices each", i.opcode).into());
    }
    let n = c.groups.first().map_or(1, Vec::len) as i64;
    let with = |t: &Tensor, n: i64| {
        let sizes = [&[n], &t.sizes[..]].concat();
        Tensor { ty: plain(&sizes, &t.element_text), sizes, ..t.clone() }
    };
    let (mut first, mut all) = (Vec::new(), Vec::new());
    for t in ins {
        let own = shapes::reshape(b, t, &with(t, 1));
        all.push(call(b, i, c, &own, &with(t, n), 0));
        first.extend(all.last().map(|whole| part(b, whole, 0, [n, 0])));
    }
    let whole = folded(b, i, n, &first, Some((&all, 0)))?;
    Ok(whole.iter().zip(ins).map(|(whole, t)| shapes::reshape(b, whole, t)).collect())
}

/// Exchanges whole operands: stacks them, exchanges along the new dimension, and takes them apart.
fn exchanged_whole(
    b: &mut Builder,
    i: &Instruction,
    c: &Collective,
    ins: &[Tensor],
    outs: &[Tensor],
) -> ImportResult<Vec<Tensor>> {
    let like = |sizes: Vec<i64>| Tensor { ty: plain(&sizes, &ins[0].element_text), sizes, ..ins[0].clone() };
    let with = |n: i64| [&[n], &ins[0].sizes[..]].concat();
    let rows: Vec<Tensor> = ins.iter().map(|t| shapes::reshape(b, t, &like(with(1)))).collect();
    let all = like(with(ins.len() as i64));
    let stacked = shapes::concatenate(b, 0, &rows, &all);
    let exchanged = call(b, i, c, &stacked, &all, 0);
    let row = |(k, out): (usize, &Tensor)| {
        let mut starts = vec![0; all.sizes.len()];
        starts[0] = k as i64;
        let row = shapes::slice(b, &starts, &vec![1; starts.len()], &exchanged, &like(with(1)));
        shapes::reshape(b, &row, out)
    };
    Ok(outs.iter().enumerate().map(row).collect())
}

/// Writes a ragged all-to-all: operands give the rows and their destinations.
fn ragged(b: &mut Builder, i: &Instruction, c: &Collective, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let (input, output) = (b.without_encoding(&ins[0]), b.precise(&ins[1], &ins[0])?);
    let output = b.without_encoding(&output);
    let lists = ins[2..].iter().map(|t| {
        let wide =
            Tensor { element: ElementType::S64, element_text: "i64".into(), ty: plain(&t.sizes, "i64"), ..t.clone() };
        b.each(vec![Operand::own(t)], &wide, |w, args| {
            crate::scalar::convert::converted(w, &args[0], t.element, ElementType::S64)
        })
    });
    let lists = lists.collect::<ImportResult<Vec<_>>>()?;
    let done = match b.collectives == Collectives::Single || is_local(c) {
        true => ragged_alone(b, c, &input, output, &lists)?,
        false => {
            let ty = &output.ty;
            let begun = b.named(&output, &format!("bufferization.alloc_tensor() copy({}) : {ty}", output.name));
            let lists: Vec<String> = lists.iter().map(|t| buffer(b, t)).collect();
            exchange(b, i, c, &input, &begun, &lists, usize::MAX)
        }
    };
    let done = b.precise(&done, out)?;
    Ok(b.converted(&done, out))
}

/// The result of device 0 where all hold the same: from each device the rows for device 0.
fn ragged_alone(
    b: &mut Builder,
    c: &Collective,
    input: &Tensor,
    output: Tensor,
    lists: &[Tensor],
) -> ImportResult<Tensor> {
    let ((n, place), rank) = (own(c), output.sizes.len());
    let (mut output, updates) = (output, lists[0].sizes[0] / n);
    for u in place * updates..(place + 1) * updates {
        let at = b.w.constant(&u.to_string(), "index");
        let numbers: Vec<String> = lists[..3]
            .iter()
            .map(|t| {
                let value = b.w.op(&format!("tensor.extract {}[{at}] : {}", t.name, t.ty));
                b.w.op(&format!("arith.index_cast {value} : i64 to index"))
            })
            .collect();
        let [from, count, to] = &numbers[..] else { return Err("a ragged exchange has lists".into()) };
        output = b.each(vec![Operand::own(&output)], &output.clone(), |w, args| {
            let place: Vec<String> = (0..rank).map(|k| w.op(&format!("linalg.index {k} : index"))).collect();
            let row = w.op(&format!("arith.subi {}, {to} : index", place[0]));
            let zero = w.constant("0", "index");
            let [behind, before] = [("sge", &zero), ("slt", count)]
                .map(|(how, limit)| w.op(&format!("arith.cmpi {how}, {row}, {limit} : index")));
            let inside = w.op(&format!("arith.andi {behind}, {before} : i1"));
            let source = w.op(&format!("arith.addi {row}, {from} : index"));
            let source = w.between(&source, (input.sizes[0] - 1).max(0));
            let index = [&[source], &place[1..]].concat().join(", ");
            let value = w.op(&format!("tensor.extract {}[{index}] : {}", input.name, input.ty));
            Ok(w.select(&inside, &value, &args[0], &input.element_text))
        })?;
    }
    Ok(output)
}

/// A call with a new result.
pub fn call(b: &mut Builder, i: &Instruction, c: &Collective, t: &Tensor, out: &Tensor, dim: usize) -> Tensor {
    let begun = b.named(out, &format!("bufferization.alloc_tensor() : {}", out.ty));
    exchange(b, i, c, t, &begun, &[], dim)
}

/// A call that writes into a tensor of its own; `usize::MAX` as `dim` means none.
fn exchange(
    b: &mut Builder,
    i: &Instruction,
    c: &Collective,
    t: &Tensor,
    out: &Tensor,
    lists: &[String],
    dim: usize,
) -> Tensor {
    let sent = buffer(b, t);
    let memref = out.ty.replacen("tensor", "memref", 1);
    let received = b.w.op(&format!("bufferization.to_buffer {} : {} to {memref}", out.name, out.ty));
    let unranked = b.w.op(&format!("memref.cast {received} : {memref} to memref<*x{}>", out.element_text));
    let dim = b.w.constant(&i64::try_from(dim).unwrap_or(-1).to_string(), "i64");
    let groups = groups(b, c);
    let channel = i.numbers("channel_id").and_then(|all| all.first().copied()).unwrap_or(0);
    let channel = b.w.constant(&channel.to_string(), "i64");
    let name = function(b.module, i, c.exchange, t.element);
    let callee = b.w.declared.exchange(name, parameters(c.exchange, &t.element_text), "");
    let arguments = [&[sent, unranked], lists, &[dim, groups, channel]].concat().join(", ");
    b.w.located(&format!("func.call {callee}({arguments}) : ({}) -> ()", parameters(c.exchange, &t.element_text)));
    b.named(out, &format!("bufferization.to_tensor {received} restrict writable : {memref} to {}", out.ty))
}

/// A tensor without an encoding as a read-only unranked buffer.
fn buffer(b: &mut Builder, t: &Tensor) -> String {
    let memref = t.ty.replacen("tensor", "memref", 1);
    let buffer = b.w.op(&format!("bufferization.to_buffer {} read_only : {} to {memref}", t.name, t.ty));
    b.w.op(&format!("memref.cast {buffer} : {memref} to memref<*x{}>", t.element_text))
}

/// The groups, a row each; a shorter row ends with -1.
fn groups(b: &mut Builder, c: &Collective) -> String {
    let most = c.groups.iter().map(Vec::len).max().unwrap_or(0);
    let row = |group: &Vec<i64>| {
        let numbers = group.iter().copied().chain(std::iter::repeat(-1)).take(most).map(|n| n.to_string());
        format!("[{}]", numbers.collect::<Vec<_>>().join(", "))
    };
    let rows: Vec<String> = c.groups.iter().map(row).collect();
    let sizes = vec![c.groups.len() as i64, most as i64];
    let ty = plain(&sizes, "i64");
    let name = b.w.op(&format!("arith.constant dense<[{}]> : {ty}", rows.join(", ")));
    buffer(b, &Tensor { name, sizes, element: ElementType::S64, element_text: "i64".to_string(), ty })
}
