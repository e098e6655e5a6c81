//! Operations of linalg in the evaluator.

use crate::reader::model::{End, Expr, Nest, Slot};
use crate::run::machine::{Value, each_index};
use crate::run::{Frame, Run, Stop};
use std::rc::Rc;

impl<'p> Run<'p> {
    /// An operation of linalg.
    pub fn nest(&mut self, frame: &mut Frame<'p>, nest: &'p Nest) -> Result<Vec<Value>, Stop> {
        let slots: Vec<Slot> = nest.inputs.iter().chain(&nest.outputs).copied().collect();
        let mut values = self.all(frame, &slots)?;
        let mut domain = vec![None; nest.dims];
        for (map, value) in nest.maps.iter().zip(&values) {
            for (expr, n) in map.iter().zip(value.sizes()) {
                if let Expr::Operand(d) = expr {
                    let d = *d as usize;
                    if domain[d].is_some_and(|known| known != *n) {
                        return self.fault("operands of sizes that differ");
                    }
                    domain[d] = Some(*n);
                }
            }
        }
        let Some(domain) = domain.into_iter().collect::<Option<Vec<i64>>>() else { return self.unknown("a domain") };
        let block = &nest.body.blocks[0];
        let End::Yield { values: yielded, .. } = &block.end else { return self.unknown("a branch") };
        let (first, at) = (nest.inputs.len(), self.at);
        // So that the elements of outputs are changed in place.
        for slot in &nest.outputs {
            if let Value::Many(many) = self.get(frame, *slot)? {
                let position = slots.iter().rposition(|other| other == slot).unwrap_or(first);
                values[position] = Value::Many(Rc::new((*many).clone()));
            }
        }
        let mut indices: Vec<Vec<i64>> = nest.maps.iter().map(|map| vec![0; map.len()]).collect();
        each_index(&domain, |point| {
            self.at = at;
            for (map, index) in nest.maps.iter().zip(&mut indices) {
                for (expr, index) in map.iter().zip(index) {
                    *index = match expr {
                        Expr::Operand(d) => point[*d as usize],
                        expr => match expr.at(&|d| point.get(d as usize).copied()) {
                            Some(index) => index,
                            None => return self.fault("an index that is no number"),
                        },
                    };
                }
            }
            for (k, slot) in block.arguments.iter().enumerate() {
                let element = match &values[k] {
                    Value::Many(many) => self.scalar(frame, *slot, many.items[self.number(&many.sizes, &indices[k])?]),
                    // An output that the body does not read may have no contents yet.
                    Value::View(view) => {
                        let view = view.clone();
                        let term = self.element_at(&view, &indices[k], None)?;
                        let term = self.terms.alone(term, self.element(frame, *slot)?);
                        self.scalar(frame, *slot, term)
                    }
                    scalar => scalar.clone(),
                };
                frame.1[*slot as usize] = Some(element);
            }
            for (slot, dim) in &nest.indices {
                frame.1[*slot as usize] = Some(Value::Index(point[*dim]));
            }
            block.steps.iter().try_for_each(|step| self.step(frame, step))?;
            self.count(values.len())?;
            for (k, slot) in yielded.iter().enumerate() {
                let Some(item) = self.get(frame, *slot)?.item(self.terms) else { return self.unknown("this element") };
                match &mut values[first + k] {
                    Value::View(view) => {
                        let view = view.clone();
                        self.element_at(&view, &indices[first + k], Some((item, None)))?;
                    }
                    Value::Many(many) => {
                        let number = index_of(&many.sizes, &indices[first + k]);
                        Rc::make_mut(many).items[number] = item;
                    }
                    _ => return self.unknown("an output that is one element"),
                }
            }
            Ok(())
        })?;
        Ok(values.split_off(first))
    }
}

/// The row-major number of an index inside of a shape.
fn index_of(sizes: &[i64], index: &[i64]) -> usize {
    index.iter().zip(sizes).fold(0, |number, (i, n)| number * *n as usize + *i as usize)
}
