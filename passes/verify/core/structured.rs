//! Operations of linalg, and padding.

use crate::compile::{Compiler, gives, int};
use crate::machine::{Done, Instruction, Machine, Origin, Value, each_index};
use crate::mlir::{self, Expr, Op};
use crate::terms::Item;

impl Compiler<'_> {
    pub fn structured(&mut self, op: Op, name: &str) -> Option<Instruction> {
        let (operands, results) = (self.operands(op), self.results(op));
        match name {
            "linalg.index" => {
                let dim = mlir::integer(mlir::attribute(op, "dim")?)? as usize;
                let at = move |m: &mut Machine| m.domain.last()?.get(dim).copied();
                return gives(results[0], move |m| Ok(int(at(m).ok_or("no such dimension")?)));
            }
            "tensor.pad" => {
                let (body, parts) = (self.region(op, 0)?, self.segments(op)?);
                let of = |k: usize, name| Some(Self::mixed(&mlir::integers(op, name)?, &parts[k]));
                let (low, high) = (of(1, "static_low")?, of(2, "static_high")?);
                return gives(results[0], move |m| {
                    let (low, high, inner) = (m.index(&low)?, m.index(&high)?, m.view(operands[0])?);
                    let grown = |d: usize| inner.sizes[d].saturating_add(low[d]).saturating_add(high[d]);
                    let sizes: Vec<i64> = (0..low.len()).map(grown).collect();
                    let mut items = Vec::with_capacity(m.count(&sizes)?);
                    each_index(&sizes, |index| {
                        m.step(1)?;
                        let at: Vec<i64> = index.iter().zip(&low).map(|(i, low)| i.saturating_sub(*low)).collect();
                        items.push(match inner.address(&at) {
                            Some(_) => m.load(&inner, &at)?,
                            None => match body.run(m, index.iter().map(|i| int(*i)).collect())?.first() {
                                Some(Value::Item(item)) => *item,
                                _ => return Err("no element".into()),
                            },
                        });
                        Ok(())
                    })?;
                    Ok(Value::Memory(m.allocate(items, &sizes, Origin::Heap)?))
                });
            }
            _ => (),
        }
        // Its body at each point of its domain, in lexicographic order.
        let (maps, body) = (mlir::indexing_maps(op)?, self.region(op, 0)?);
        let (dims, inputs) = (maps.first()?.0, operands.len().checked_sub(body.end.len())?);
        (maps.len() == operands.len()).then_some(())?;
        Some(Box::new(move |m| {
            let mut values = m.values(&operands);
            let mut extents = vec![None; dims];
            for (k, (_, map)) in maps.iter().enumerate() {
                let Value::Memory(view) = &values[k] else { continue };
                for (e, n) in map.iter().zip(&view.sizes) {
                    let Expr::Operand(d) = e else { continue };
                    let other = extents[*d].replace(*n).filter(|other| other != n);
                    other.map_or(Ok(()), |_| Err("operands of other sizes"))?;
                }
                // A tensor that comes out begins as the one that goes in.
                if k >= inputs && !results.is_empty() {
                    values[k] = Value::Memory(m.copy(operands[k])?);
                }
            }
            let extents = extents.into_iter().collect::<Option<Vec<i64>>>().ok_or("a dimension of no operand")?;
            each_index(&extents, |index| {
                m.step(1)?;
                let at = |(_, map): &(usize, Vec<Expr>)| map.iter().map(|e| e.value(index)).collect::<Option<Vec<_>>>();
                let places = maps.iter().map(at).collect::<Option<Vec<_>>>().ok_or("an index beyond 64 bits")?;
                let argument = |(k, value): (usize, &Value)| match value {
                    // An output that the body does not use is not read.
                    Value::Memory(_) if !body.used[k] => Ok(Value::Item(Item::Undefined)),
                    Value::Memory(view) => Ok(Value::Item(m.load(view, &places[k])?)),
                    other => Ok(other.clone()),
                };
                let arguments = values.iter().enumerate().map(argument).collect::<Done<Vec<_>>>()?;
                m.domain.push(index.to_vec());
                let yielded = body.run(m, arguments)?;
                m.domain.pop();
                for (k, value) in yielded.into_iter().enumerate() {
                    let (Value::Memory(view), Value::Item(item)) = (&values[inputs + k], value) else {
                        return Err("an output that is no memory".into());
                    };
                    m.store(view, &places[inputs + k], item)?;
                }
                Ok(())
            })?;
            m.assign(&results, values.split_off(inputs))
        }))
    }
}
