//! The output of print operations.

use crate::reader::model::{Element, Operator, PrintPiece};
use crate::run::machine::Value;
use crate::run::terms::Term;
use crate::run::{Frame, Printed, Run, Stop};

impl<'p> Run<'p> {
    /// Notes what is printed, in this order, which iterations that run in any order do not have.
    pub fn print(&mut self, frame: &Frame<'p>, pieces: &[PrintPiece]) -> Result<(), Stop> {
        if self.iterations.is_some() {
            return self.unknown("a print in a loop whose iterations come in any order");
        }
        for piece in pieces {
            self.count(1)?;
            match piece {
                PrintPiece::Text(more) => match self.printed.last_mut() {
                    Some(Printed::Text(text)) => text.push_str(more),
                    _ => self.printed.push(Printed::Text(more.clone())),
                },
                PrintPiece::Element(slot, lane) => {
                    let element = self.element(frame, *slot)?;
                    let value = self.get(frame, *slot)?;
                    let item = match &value {
                        Value::Many(many) => many.items.get(*lane).copied(),
                        one => one.item(self.terms).filter(|_| *lane == 0),
                    };
                    let Some(item) = item else { return self.unknown("a lane that is not there") };
                    let (of, item) = self.widened(element, item);
                    self.printed.push(Printed::Element(of, item));
                }
            }
        }
        Ok(())
    }

    /// An integer of fewer bits than those of a number of bytes is printed as a longer one: an `i1` without its sign.
    fn widened(&mut self, from: &Element, item: Term) -> (String, Term) {
        let bits = from.bits.max(8).next_power_of_two();
        if !from.text.starts_with('i') || !from.integer || bits == from.bits || bits > 64 {
            return (from.text.clone(), item);
        }
        let to = Element::new(format!("i{bits}"), bits);
        let name = if from.bits == 1 { "arith.extui" } else { "arith.extsi" }.to_owned();
        let operator = Operator { name, attributes: String::new(), flags: 0, from: from.clone(), to: to.clone() };
        let number = self.terms.operator(&operator);
        (to.text, self.terms.apply(number, &[item]))
    }
}
