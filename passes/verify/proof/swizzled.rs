//! Swizzled buffers, with the addresses before the swizzle.
//!
//! A swizzle moves elements within blocks, so that a program that reaches each element of whole blocks at `swizzle(x)`
//! computes what one does that reaches it at `x`. The address of a swizzled layout is that of the layout below; so
//! each access of lowered memory has to be swizzled in the same way. A vector at `x` is one at `swizzle(x)` where all
//! of its lanes are in one run, which is shown with the bounds.

use crate::proof::flatten::Flat;
use crate::proof::statements::{BlockId, BufferId, Contents, FunctionResult, Maker, Statement, Statements};
use crate::proof::subscript::{Subscript, ValueId};
use crate::reader::calc::Calc;
use crate::reader::swizzles::Swizzle;
use std::collections::BTreeMap;

/// How the accesses of a buffer are swizzled, as far as they show it: numbers are addresses of any swizzle.
type FoundSwizzle = Option<Option<Swizzle>>;

/// Takes the swizzles out of the addresses of lowered memory: that of swizzled layouts, and that of the function alone.
///
/// # Errors
/// Memory of a swizzled layout that is not swizzled so.
pub fn take_out(meant: &Statements, made: &mut Statements) -> Flat<()> {
    let mut swizzles: BTreeMap<BufferId, Option<Swizzle>> = BTreeMap::new();
    for pair in meant.results.iter().zip(&made.results) {
        let (FunctionResult::Elements(before), FunctionResult::Elements(after)) = pair else { continue };
        let stated = before.there.as_ref().unwrap_or(&before.here).swizzle();
        // Memory that has its layout still.
        let is_logical = after.here.swizzle().is_some() || after.there.is_some();
        let stated = stated.filter(|_| !is_logical);
        if swizzles.insert(after.buffer, stated).is_some_and(|known| known != stated) {
            return Err("memory of several swizzles".to_owned());
        }
    }
    for buffer in 0..made.buffers.len() {
        let shown = made.shown(buffer);
        match (swizzles.get(&buffer), shown) {
            (Some(Some(stated)), Some(own)) if own != Some(*stated) => {
                return Err("memory that is not swizzled as its layout says".to_owned());
            }
            (Some(Some(swizzle)), _) => made.take_out(buffer, *swizzle)?,
            (None, Some(Some(swizzle))) => made.take_out(buffer, swizzle)?,
            _ => {}
        }
    }
    Ok(())
}

/// The address of an access: a swizzle of another with so much behind it, or any other.
enum Form {
    Number(i64),
    Swizzled(Swizzle, Subscript, i64),
    Other,
}

impl Statements {
    fn accesses(&self, of: BufferId) -> Vec<(BlockId, usize)> {
        let statements = self.blocks.iter().enumerate().flat_map(|(block, body)| {
            body.statements.iter().enumerate().map(move |(number, statement)| ((block, number), statement))
        });
        let reaches = |statement: &Statement| match statement {
            Statement::Store { buffer, .. } => *buffer == of,
            Statement::Value(value) => matches!(self.values[*value].0, Maker::Load { buffer, .. } if buffer == of),
            _ => false,
        };
        statements.filter(|(_, statement)| reaches(statement)).map(|(at, _)| at).collect()
    }

    fn form(&self, address: &Subscript) -> Form {
        match address {
            Subscript::Constant(n) => Form::Number(*n),
            Subscript::Value(value) => match &self.values[*value].0 {
                Maker::Subscript(s) => self.form(s),
                _ => self
                    .flips(*value)
                    .map_or(Form::Other, |(swizzle, x)| Form::Swizzled(swizzle, Subscript::Value(x), 0)),
            },
            Subscript::Sum(all) => match &all[..] {
                [s, Subscript::Constant(more)] => match self.form(s) {
                    Form::Swizzled(swizzle, x, 0) => Form::Swizzled(swizzle, x, *more),
                    _ => Form::Other,
                },
                _ => Form::Other,
            },
            _ => Form::Other,
        }
    }

    /// The swizzle of an index, if a value is that: `x xor ((x and mask) shifted)`.
    fn flips(&self, value: ValueId) -> Option<(Swizzle, ValueId)> {
        let [a, b] = self.operands(value, &[Calc::Xor])?.1;
        [(a, b), (b, a)].into_iter().find_map(|(x, flipped)| {
            let (shift, [flipping, by]) = self.operands(flipped, &[Calc::ShrU, Calc::Shl])?;
            let (_, [y, mask]) = self.operands(flipping, &[Calc::And])?;
            let by = self.number(by).filter(|by| *by >= 0)?;
            let swizzle = Swizzle { mask: self.number(mask)?, down: if shift == Calc::Shl { -by } else { by } };
            (x == y && swizzle.is_valid()).then_some((swizzle, x))
        })
    }

    /// The operands of an operation on indices that computes one of these, and promises nothing.
    fn operands(&self, value: ValueId, of: &[Calc]) -> Option<(Calc, [ValueId; 2])> {
        let Maker::Elements { operation, operands } = &self.values[value].0 else { return None };
        let is_index = &*operation.element().text == "index" && operation.flags == 0 && of.contains(&operation.calc());
        is_index.then(|| operands[..].try_into().ok()).flatten().map(|operands| (operation.calc(), operands))
    }

    fn number(&self, value: ValueId) -> Option<i64> {
        if let Maker::Subscript(Subscript::Constant(n)) = self.values[value].0 { Some(n) } else { None }
    }

    fn shown(&self, buffer: BufferId) -> FoundSwizzle {
        let mut shown = None;
        for at in self.accesses(buffer) {
            let own = match self.access(at).map(|access| self.form(access.0)) {
                Some(Form::Number(_)) => continue,
                Some(Form::Swizzled(swizzle, ..)) => Some(swizzle),
                _ => None,
            };
            if shown.is_some_and(|shown| shown != own) {
                return Some(None);
            }
            shown = Some(own);
        }
        shown
    }

    /// Takes the swizzle out of the addresses of a buffer.
    fn take_out(&mut self, buffer: BufferId, swizzle: Swizzle) -> Flat<()> {
        let (size, contents) = &self.buffers[buffer];
        let is_moved = buffer >= self.arguments && matches!(contents, Some(Contents::Named(_) | Contents::Table(_)));
        if is_moved || !swizzle.is_valid() || swizzle.blocks(*size) != Some(*size) {
            return Err("memory that a swizzle does not keep".to_owned());
        }
        for at in self.accesses(buffer) {
            let Some((address, stride, lanes, _)) = self.access(at) else { continue };
            let (x, behind) = match self.form(address) {
                Form::Number(n) => (Subscript::Constant(swizzle.of(n)), 0),
                Form::Swizzled(_, x, behind) => (x, behind),
                Form::Other => return Err("memory that is swizzled in part".to_owned()),
            };
            if lanes > 1 || behind != 0 {
                if lanes > 1 && stride != 1 {
                    return Err("a vector of swizzled memory".to_owned());
                }
                self.runs.insert(at, (x.clone(), swizzle.run()));
            }
            let to = if behind == 0 { x } else { Subscript::Sum(vec![x, Subscript::Constant(behind)]) };
            match &mut self.blocks[at.0].statements[at.1] {
                Statement::Store { address, .. } => *address = to,
                Statement::Value(value) => {
                    if let Maker::Load { address, .. } = &mut self.values[*value].0 {
                        *address = to;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}
