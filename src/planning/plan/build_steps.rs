//! The time in which a problem is built: the caller is asked at every few steps whether to go on.

use crate::solver::Progress;
use tensor_layout::text::Error;

/// The text of progress while costs are computed, before a search.
pub const COSTS: &str = "costs";

/// Short steps between two questions.
const SHORT: u64 = 256;

/// How many steps are done, and who is asked.
pub struct BuildSteps<'g> {
    go_on: &'g mut dyn FnMut(&Progress) -> bool,
    done: u64,
    every: u64,
}

impl<'g> BuildSteps<'g> {
    /// None is done; steps are short.
    pub fn new(go_on: &'g mut dyn FnMut(&Progress) -> bool) -> BuildSteps<'g> {
        BuildSteps { go_on, done: 0, every: SHORT }
    }

    /// Steps that take long: before each, the caller is asked.
    pub fn long(go_on: &'g mut dyn FnMut(&Progress) -> bool) -> BuildSteps<'g> {
        BuildSteps { every: 1, ..BuildSteps::new(go_on) }
    }

    /// Begins a step: an array, an instance, an operand.
    ///
    /// # Errors
    /// [`ErrorKind::Undecided`](tensor_layout::text::ErrorKind::Undecided): the caller says no.
    pub fn step(&mut self) -> Result<(), Error> {
        let is_asked = self.done.is_multiple_of(self.every);
        self.done += 1;
        if is_asked && !(self.go_on)(&Progress::new(COSTS, self.done)) {
            return Err(Error::new("not decided: the time ended before all costs were known").undecided());
        }
        Ok(())
    }
}
