//! Calls: the statements of a function stand where it is called.

use crate::proof::flatten::{Flat, Flatten, Known};
use crate::reader::model::Slot;

/// How deep calls may be in each other. Statements of inner calls are made by the same recursion as those of loops.
const DEPTH: usize = 32;

/// Why calls are not followed.
pub const TOO_MANY: &str = "calls that take more steps";

/// How many values a function may have with those that it calls. Models with a function for each operation stay below 20,000;
/// a function that calls another twice, which calls another twice, and so on, has no end.
pub const VALUES: usize = 1 << 17;

impl Flatten<'_> {
    /// The statements of a function that the module has, on the caller's values and memory.
    pub(super) fn call(&mut self, callee: &str, arguments: &[Slot]) -> Flat<Vec<Known>> {
        let function = self.module.functions.get(callee).ok_or("a function that is not there")?;
        let body = function.body.as_ref().ok_or_else(|| format!("@{callee} is only declared"))?;
        if self.calls == DEPTH || self.program.values.len() > self.most {
            return Err(TOO_MANY.to_owned());
        }
        let arguments = arguments.iter().map(|slot| self.known(*slot)).collect::<Flat<Vec<_>>>()?;
        let outer = std::mem::replace(&mut self.function, function);
        let known = std::mem::take(&mut self.known);
        let overwriting = std::mem::take(&mut self.overwriting);
        let on_stack = self.on_stack.len();
        self.calls += 1;
        let results = self.region(body, &arguments)?;
        self.calls -= 1;
        (self.function, self.known, self.overwriting) = (outer, known, overwriting);
        // What a function has on the stack is gone when it ends.
        let gone =
            |known: &Known| matches!(known, Known::View(view) if self.on_stack[on_stack..].contains(&view.buffer));
        if results.iter().any(gone) {
            return Err("memory of the stack that a function returns".to_owned());
        }
        Ok(results)
    }
}
