//! An order of a program's instances that is the same for every order of its text.
//!
//! A text may list independent instructions in any order. Candidates are looked for with limits, and the instances that
//! are looked at first fill them, so these instances must not depend on the text: with a list of two candidates, `a` and
//! then `b` would find others than `b` and then `a`, and the plans would differ in cost.
//!
//! The order is that of a depth-first walk from the results of the program, in the order of their numbers: an instance
//! comes after its operands, and these in their own order. The second operand of a loop's merge, which the body makes, is
//! walked to when all before it is done. Other instances whose work is [needed](Program::needed) follow, each after its
//! operands, sorted by a hash of what they compute, and then dead code. Two of them have the same hash where they compute
//! the same from the same operands, and then either may be first.
//!
//! Dead code is no user of arrays and offers no candidates: it costs nothing, wherever in the text it is.

use super::program::{Instance, InstanceKind, Program};
use rustc_hash::FxHasher;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// The instances of a program in an order that its text does not change.
#[derive(Clone, Debug)]
pub struct CanonicalOrder {
    /// The numbers of the instances, in this order.
    pub instances: Vec<usize>,
    /// The place of each instance in it.
    places: Vec<usize>,
    /// See [`Program::needed`].
    pub needed: Vec<bool>,
}

impl CanonicalOrder {
    /// The order of a program's instances.
    pub fn new(program: &Program) -> CanonicalOrder {
        let count = program.instances.len();
        let mut walk = DepthFirst { program, entered: vec![false; count], order: Vec::with_capacity(count) };
        let mut results: Vec<(usize, usize)> = Vec::new();
        let mut read = vec![false; count];
        for (k, instance) in program.instances.iter().enumerate() {
            if let InstanceKind::Result(number) = instance.kind {
                results.push((number, k));
            }
            makers(program, instance).filter(|by| *by < k).for_each(|by| read[by] = true);
        }
        results.sort_unstable();
        results.into_iter().for_each(|(_, k)| walk.from(k));
        let (hashes, needed) = (hashes(program), program.needed());
        let mut others: Vec<usize> = (0..count).filter(|k| !read[*k] || needed[*k]).collect();
        others.sort_by_key(|k| (!needed[*k], hashes[*k]));
        others.into_iter().for_each(|k| walk.from(k));
        let mut places = vec![0; count];
        walk.order.iter().enumerate().for_each(|(place, k)| places[*k] = place);
        CanonicalOrder { instances: walk.order, places, needed }
    }

    /// The instances of which the work is needed, in this order.
    pub fn working(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.instances.iter().copied().filter(|k| self.needed[*k])
    }

    /// The instances that read each array and are no dead code, with the number of the operand, in this order.
    pub fn users(&self, program: &Program) -> Vec<Vec<(usize, usize)>> {
        let mut users = program.users();
        for own in &mut users {
            own.retain(|(user, _)| self.needed[*user]);
            own.sort_unstable_by_key(|(user, operand)| (self.places[*user], *operand));
        }
        users
    }
}

/// A depth-first walk from instances to the makers of their operands.
struct DepthFirst<'p, 'a> {
    program: &'p Program<'a>,
    entered: Vec<bool>,
    order: Vec<usize>,
}

/// The next step of the walk at an instance.
enum Visit {
    Enter(usize),
    Leave(usize),
}

impl DepthFirst<'_, '_> {
    /// Adds an instance, all that it needs, and the bodies of the loops among these.
    fn from(&mut self, k: usize) {
        let mut starts = VecDeque::from([k]);
        while let Some(start) = starts.pop_front() {
            let mut open = vec![Visit::Enter(start)];
            while let Some(visit) = open.pop() {
                match visit {
                    Visit::Enter(k) if self.entered[k] => {}
                    Visit::Enter(k) => {
                        self.entered[k] = true;
                        open.push(Visit::Leave(k));
                        let makers: Vec<usize> = makers(self.program, &self.program.instances[k]).collect();
                        open.extend(makers.into_iter().rev().filter(|by| *by < k).map(Visit::Enter));
                    }
                    Visit::Leave(k) => {
                        self.order.push(k);
                        starts.extend(makers(self.program, &self.program.instances[k]).filter(|by| *by > k));
                    }
                }
            }
        }
    }
}

/// The instances that make the operands of one.
fn makers<'p>(program: &'p Program, instance: &'p Instance) -> impl Iterator<Item = usize> + 'p {
    instance.operands.iter().map(|made| program.made[*made].by)
}

/// A hash of what each instance computes, from what: layouts of the text are no part of it.
fn hashes(program: &Program) -> Vec<u64> {
    let mut found = vec![0; program.instances.len()];
    // In the second round merges know what the bodies of their loops make.
    for _ in 0..2 {
        for (k, instance) in program.instances.iter().enumerate() {
            let mut hasher = FxHasher::default();
            let Instance { kind, times, rounds, once, .. } = instance;
            (format!("{kind:?}"), times, rounds, once).hash(&mut hasher);
            for made in &instance.results {
                let array = program.made[*made].array;
                (array.element, &array.dims).hash(&mut hasher);
            }
            for made in &instance.operands {
                (found[program.made[*made].by], program.made[*made].result).hash(&mut hasher);
            }
            found[k] = hasher.finish();
        }
    }
    found
}
