//! Operations on elements and on the lanes of vectors.

use crate::compile::{Compiler, gives};
use crate::machine::{Done, Instruction, Machine, Value, each_index, number};
use crate::mlir::{self, DYNAMIC, Kind, Op};
use crate::terms::{self, CONTRACT, Item, flags};
use melior::ir::{ValueLike, operation::OperationLike};

/// For each lane, the operand and its lane.
type Lanes = Vec<(usize, usize)>;

/// The types of an operation's operands and results.
pub fn types(op: Op) -> Option<[Vec<Kind>; 2]> {
    let operands = op.operands().map(|operand| mlir::kind(operand.r#type())).collect::<Option<_>>()?;
    Some([operands, op.results().map(|result| mlir::kind(result.r#type())).collect::<Option<_>>()?])
}

impl Compiler<'_> {
    /// An operation of `arith`, `math` or `vector`.
    pub fn elements(&mut self, op: Op, name: &str) -> Option<Instruction> {
        let (operands, results) = (self.operands(op), self.results(op));
        let (dialect, short) = name.split_once('.')?;
        let [from, to] = types(op)?;
        match (dialect, short) {
            ("arith", "constant") => {
                let (items, kind) = (mlir::constant(mlir::attribute(op, "value")?, &to[0])?, to[0].clone());
                gives(results[0], move |m| m.shaped(items.clone(), &kind))
            }
            ("arith" | "vector", "bitcast") => {
                (from[0].element.bits == to[0].element.bits).then_some(())?;
                gives(results[0], move |m| Ok(m.frame[operands[0]].clone()))
            }
            ("arith" | "math", _) if to.len() == 1 => self.elementwise(op, name, &from, &to[0]),
            ("vector", "fma") => self.elementwise(op, "math.fma", &from, &to[0]),
            ("vector", "print") => {
                let text = format!("{from:?} {:?}", mlir::attributes(op));
                Some(Box::new(move |m| {
                    let items = operands.iter().map(|slot| m.items(*slot)).collect::<Done<Vec<_>>>()?;
                    m.effects.push((text.clone(), items.first().map_or(vec![], |items| items.to_vec())));
                    Ok(())
                }))
            }
            ("vector" | "tensor", _) if to.len() == 1 => {
                let (lanes, kind) = (lanes(op, short, &from, &to[0])?, to[0].clone());
                gives(results[0], move |m| {
                    m.step(lanes.len())?;
                    let all = operands.iter().map(|slot| m.items(*slot)).collect::<Done<Vec<_>>>()?;
                    let items = lanes.iter().map(|(operand, lane)| all[*operand].get(*lane).copied());
                    m.shaped(items.collect::<Option<_>>().ok_or("a lane that is not there")?, &kind)
                })
            }
            _ => None,
        }
    }

    fn elementwise(&mut self, op: Op, name: &str, from: &[Kind], to: &Kind) -> Option<Instruction> {
        let (operands, result, kind) = (self.operands(op), self.results(op)[0], to.clone());
        let (mut attributes, mut set) = (String::new(), 0);
        for (name, value) in mlir::attributes(op) {
            match flags(&name, &value) {
                Some(more) => set |= more,
                None => attributes += &format!("{name} = {value}; "),
            }
        }
        let of = [&from.last()?.element, &to.element];
        let others = from.iter().filter(|other| other.element != *of[0]);
        attributes.extend(others.map(|other| format!("{} ", other.element.text)));
        let mut operation = terms::operation(name, &attributes, of, set, self.allowed);
        if name == "math.fma" && self.allowed & CONTRACT != 0 {
            let [product, sum] = ["arith.mulf", "arith.addf"].map(|name| {
                let operation = terms::operation(name, &attributes, of, set, self.allowed);
                self.terms.operation(operation)
            });
            operation.fused = Some((product, sum));
        }
        let (id, is_select) = (self.terms.operation(operation), name == "arith.select");
        let one = move |m: &mut Machine, items: &[Item]| match items {
            [Item::Number(n), yes, no] if is_select => Ok(if n & 1 == 1 { *yes } else { *no }),
            [_, yes, no] if is_select && yes == no => Ok(*yes),
            _ => m.terms.apply(id, items),
        };
        gives(result, move |m| {
            m.step(1)?;
            if kind.kind == 's' {
                let items = operands.iter().map(|slot| m.item(*slot)).collect::<Done<Vec<_>>>()?;
                return Ok(Value::Item(one(m, &items)?));
            }
            let all = operands.iter().map(|slot| m.items(*slot)).collect::<Done<Vec<_>>>()?;
            let mut items = vec![];
            for k in 0..all.last().map_or(0, |items| items.len()) {
                m.step(1)?;
                // A condition may be one for all lanes.
                let lane = all.iter().map(|items| items.get(if items.len() == 1 { 0 } else { k }).copied());
                let lane = lane.collect::<Option<Vec<_>>>().ok_or("operands of other sizes")?;
                items.push(one(m, &lane)?);
            }
            m.shaped(items, &kind)
        })
    }
}

/// Where the lanes of an operation's result are from.
fn lanes(op: Op, name: &str, from: &[Kind], to: &Kind) -> Option<Lanes> {
    let list = |name: &str| mlir::integers(op, name).filter(|all| !all.contains(&DYNAMIC));
    let first = from.first().map(|kind| kind.sizes.clone()).unwrap_or_default();
    let (sizes, count) = (&to.sizes, mlir::count(&to.sizes)?);
    let mut found: Lanes = vec![];
    match name {
        "shape_cast" => found.extend((0..count).map(|lane| (0, lane))),
        "from_elements" => found.extend((0..count).map(|lane| (lane, 0))),
        "interleave" => found.extend((0..count).map(|lane| (lane % 2, lane / 2))),
        "extract" => {
            let start = number(&first, &[list("static_position")?, vec![0; sizes.len()]].concat())?;
            found.extend((start..start + count).map(|lane| (0, lane)));
        }
        "insert" => {
            let start = number(sizes, &[list("static_position")?, vec![0; first.len()]].concat())?;
            let part = start..start + mlir::count(&first)?;
            found.extend((0..count).map(|lane| if part.contains(&lane) { (0, lane - start) } else { (1, lane) }));
        }
        "shuffle" => {
            let (mask, rows) = (list("mask")?, *first.first()?);
            let row = count / mask.len();
            for at in mask {
                let (operand, at) = if at < rows { (0, usize::try_from(at).ok()?) } else { (1, (at - rows) as usize) };
                found.extend((0..row).map(|lane| (operand, at * row + lane)));
            }
        }
        "broadcast" | "splat" => each_index(sizes, |index| {
            let last = index[index.len() - first.len()..].iter().zip(&first);
            let at: Vec<i64> = last.map(|(i, n)| if *n == 1 { 0 } else { *i }).collect();
            found.push((0, number(&first, &at).ok_or("sizes that do not fit")?));
            Ok(())
        })
        .ok()?,
        _ => return None,
    }
    Some(found)
}
