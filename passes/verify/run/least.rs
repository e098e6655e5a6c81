//! How many steps a function takes at least, from the numbers in its text: what takes too many does not have to run.

use crate::reader::model::{Action, Bound, Expr, Function, Nest, Program, Region, Size, Slot, Type};
use std::collections::BTreeMap;

/// A lower bound of what [`crate::run::Run`] counts for a call.
pub fn steps(program: &Program, function: &Function) -> u64 {
    Least { program, known: BTreeMap::new() }.of_function(function)
}

struct Least<'p> {
    program: &'p Program,
    /// The least steps of functions that were called.
    known: BTreeMap<&'p str, u64>,
}

/// A function, and those of its indices that are constants.
type Numbers<'p> = (&'p Function, BTreeMap<Slot, i64>);

/// The number of elements of a type; none where the program alone has it.
fn elements(r#type: &Type) -> Option<u64> {
    let Type::Shaped { sizes, .. } = r#type else { return Some(1) };
    sizes.iter().try_fold(1_u64, |all, n| all.checked_mul(u64::try_from((*n)?).ok()?))
}

fn bound((_, indices): &Numbers, bound: &Bound) -> Option<i64> {
    let operand = |k: u32| indices.get(bound.operands.get(k as usize)?).copied();
    let all = bound.exprs.iter().map(|expr| expr.at(&operand)).collect::<Option<Vec<i64>>>()?;
    if bound.greatest { all.into_iter().max() } else { all.into_iter().min() }
}

/// How often a loop runs.
fn trips(numbers: &Numbers, lower: &Bound, upper: &Bound, step: Size) -> Option<u64> {
    let step = match step {
        Size::Static(n) => n,
        Size::Slot(slot) => *numbers.1.get(&slot)?,
    };
    let length = bound(numbers, upper)?.checked_sub(bound(numbers, lower)?)?;
    u64::try_from(length).ok()?.checked_next_multiple_of(u64::try_from(step).ok()?)?.checked_div(step as u64)
}

/// The points of the domain of an operation of linalg.
fn points((function, _): &Numbers, nest: &Nest) -> Option<u64> {
    let mut domain = vec![None; nest.dims];
    for (slot, map) in nest.inputs.iter().chain(&nest.outputs).zip(&nest.maps) {
        let Type::Shaped { sizes, .. } = &function.slots[*slot as usize] else { continue };
        for (expr, n) in map.iter().zip(sizes) {
            if let Expr::Operand(d) = expr {
                domain[*d as usize] = domain[*d as usize].or(*n);
            }
        }
    }
    domain.into_iter().try_fold(1_u64, |all, n| all.checked_mul(u64::try_from(n?).ok()?))
}

impl<'p> Least<'p> {
    fn of_function(&mut self, function: &'p Function) -> u64 {
        let Some(body) = &function.body else { return 0 };
        self.of_region(&mut (function, BTreeMap::new()), body)
    }

    /// Counts the least steps; with branches between blocks, only the first block runs for certain.
    fn of_region(&mut self, numbers: &mut Numbers<'p>, region: &'p Region) -> u64 {
        let steps = region.blocks.first().map_or(&[][..], |block| &block.steps);
        let mut all = 0_u64;
        for step in steps {
            if let (Action::Constant(items), [slot]) = (&step.action, &step.results[..])
                && let ([item], Type::Scalar(_)) = (&items[..], &numbers.0.slots[*slot as usize])
            {
                numbers.1.insert(*slot, *item as i64);
            }
            all = all.saturating_add(1).saturating_add(self.of_action(numbers, &step.action, &step.results));
        }
        all
    }

    fn of_action(&mut self, numbers: &mut Numbers<'p>, action: &'p Action, results: &[Slot]) -> u64 {
        let made = |numbers: &Numbers| {
            results.first().map_or(0, |slot| elements(&numbers.0.slots[*slot as usize]).unwrap_or(0))
        };
        // An iteration is a step by itself.
        let (times, own, body) = match action {
            Action::Compute { .. } => return made(numbers),
            Action::Loop { lower, upper, step, body, .. } => (trips(numbers, lower, upper, *step), 1, body),
            Action::Parallel { lower, upper, steps, body, .. } => {
                let each = lower
                    .iter()
                    .zip(upper)
                    .zip(steps)
                    .map(|((lower, upper), step)| trips(numbers, lower, upper, *step));
                (each.into_iter().try_fold(1_u64, |all, n| all.checked_mul(n?)), 1, body)
            }
            Action::Nest(nest) => (points(numbers, nest), 1, &nest.body),
            Action::Generate { source: None, body, .. } => (Some(made(numbers)), 0, body),
            Action::Run(body) => (Some(1), 0, body),
            Action::If { regions, .. } if regions.len() < 2 => return 0,
            Action::If { regions, .. } | Action::Switch { regions, .. } => {
                return regions.iter().map(|region| self.of_region(numbers, region)).min().unwrap_or(0);
            }
            Action::Call { callee, .. } => {
                let Some((name, function)) = self.program.functions.get_key_value(callee) else { return 0 };
                if let Some(known) = self.known.get(&**name) {
                    return *known;
                }
                // One that calls itself may end at once.
                self.known.insert(name, 0);
                let steps = self.of_function(function);
                self.known.insert(name, steps);
                return steps;
            }
            _ => return 0,
        };
        self.of_region(numbers, body).saturating_add(own).saturating_mul(times.unwrap_or(0))
    }
}
