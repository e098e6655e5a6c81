//! Loops whose end data decide, as statements: what they carry is in buffers, as it is at the beginning of each iteration.
//!
//! ```text
//! %r = scf.while (%a = %m) {           copy %m to A
//!   ..                                 loop { ..
//!   scf.condition(%c) %a, %b               end unless %c
//! } do { ^bb0(%p, %q): ..                  ..             %p is A, %q is %b
//!   scf.yield %n }                         copy %n to A }
//! ```
//!
//! A buffer for carried memory is a copy in the place of the memory itself. That is right where no store writes the
//! copy or its source as long as the copy is read. Where it is freed, or there behind the loop, the memory has no other
//! name.

use crate::proof::flatten::{Flat, Flatten, Known};
use crate::proof::statements::{BlockId, Body, BufferId, Maker, Statement, Statements};
use crate::proof::subscript::{Subscript, ValueId};
use crate::proof::view::MemoryView;
use crate::reader::model::{Kind, Region, Slot, Type};
use std::collections::{BTreeMap, BTreeSet};

/// Memory that a loop carries: the buffer in its place, and of what this is a copy, at first and after an iteration.
#[derive(Clone, Copy)]
struct CarriedMemory {
    state: BufferId,
    first: BufferId,
    next: BufferId,
}

/// The last statement of a loop that reads each buffer, and the first one that writes it.
struct Accesses {
    last_read: BTreeMap<BufferId, usize>,
    first_write: BTreeMap<BufferId, usize>,
}

impl Accesses {
    fn new(program: &Statements, block: BlockId) -> Accesses {
        let (mut last_read, mut first_write) = (BTreeMap::new(), BTreeMap::new());
        for (number, buffer, is_write) in accesses(program, block) {
            if is_write {
                first_write.entry(buffer).or_insert(number);
            } else {
                last_read.insert(buffer, number);
            }
        }
        Accesses { last_read, first_write }
    }

    fn has(&self, buffer: BufferId) -> bool {
        self.last_read.contains_key(&buffer) || self.first_write.contains_key(&buffer)
    }
}

/// The buffers that a block reads and writes, in which of its statements, and whether it writes.
fn accesses(program: &Statements, block: BlockId) -> Vec<(usize, BufferId, bool)> {
    let mut all = vec![];
    for (number, statement) in program.blocks[block].statements.iter().enumerate() {
        match statement {
            Statement::Store { buffer, .. } => all.push((number, *buffer, true)),
            Statement::Loop(inner) => {
                all.extend(
                    accesses(program, *inner).into_iter().map(|(_, buffer, is_write)| (number, buffer, is_write)),
                );
            }
            Statement::Value(value) => {
                if let Maker::Load { buffer, .. } = &program.values[*value].0 {
                    all.push((number, *buffer, false));
                }
            }
            Statement::Allocate(_) => {}
        }
    }
    all
}

/// The buffers of views.
fn buffers(known: &[Known]) -> Vec<BufferId> {
    let buffer = |known: &Known| if let Known::View(view) = known { Some(view.buffer) } else { None };
    known.iter().filter_map(buffer).collect()
}

impl Flatten<'_> {
    /// The statements of `scf.while`, whose first region says whether it goes on, or of an `scf.for` that carries memory.
    pub(super) fn repeat(
        &mut self,
        carried: &[Slot],
        header: Body,
        before: Option<&Region>,
        after: &Region,
    ) -> Flat<Vec<Known>> {
        if self.mask.is_some() || !self.program.is_single(self.block) {
            return Err(
                "a loop whose end data decide, or that carries memory, in another loop or under a condition".to_owned()
            );
        }
        let memory: Vec<usize> = (0..carried.len()).filter(|k| self.is_memory(carried[*k])).collect();
        let around = self.carries_memory;
        if around && !memory.is_empty() {
            // Which other names the memory of the inner loop has in the outer one is not followed.
            return Err("memory that loops in each other carry".to_owned());
        }
        self.carries_memory = around || !memory.is_empty();
        let first = carried.iter().map(|slot| self.known(*slot)).collect::<Flat<Vec<_>>>()?;
        let states = carried.iter().map(|slot| self.state(*slot)).collect::<Flat<Vec<_>>>()?;
        let outer = self.enter(header);
        for k in &memory {
            self.homes[states[*k].buffer] = self.block;
            self.heap.push(states[*k].buffer);
        }
        let arguments: Vec<Known> =
            states.iter().zip(&first).map(|(state, first)| self.in_state(state, first)).collect();
        let (passed, inside) = match before {
            Some(before) => {
                let mut passed = self.region(before, &arguments)?;
                let Known::Value(condition) = passed.remove(0) else {
                    return Err("memory in the place of a value".to_owned());
                };
                let exit = self.program.blocks[self.block].statements.len();
                self.program.blocks[self.block].exit = Some((exit, condition));
                (passed.clone(), passed)
            }
            None => {
                let index = self.make(Maker::Iteration(self.block));
                let index = Known::Value(self.induction(after, index));
                (arguments.clone(), [vec![index], arguments].concat())
            }
        };
        let ended = self.ended.clone();
        let next = self.region(after, &inside)?;
        let memory = memory.into_iter().map(|k| {
            let [first, next] = [&first, &next].map(|all| buffers(&all[k..=k]));
            Ok(CarriedMemory { state: states[k].buffer, first: first[0], next: *next.first().ok_or("no memory")? })
        });
        let memory = memory.collect::<Flat<Vec<_>>>()?;
        let owned = self.owned(&memory, &buffers(&passed))?;
        self.yield_states(carried, &states, &next)?;
        self.leave(outer, (&memory, &owned), (&buffers(&passed), ended))?;
        self.carries_memory = around;
        match before {
            Some(_) => Ok(passed),
            None => Ok(states.iter().zip(&first).map(|(state, first)| self.in_state(state, first)).collect()),
        }
    }

    pub(super) fn is_memory(&self, slot: Slot) -> bool {
        matches!(self.type_of(slot), Type::Shaped { kind: Kind::MemRef, .. })
    }

    /// A buffer with a value, or with a copy of memory.
    fn state(&mut self, slot: Slot) -> Flat<MemoryView> {
        match self.known(slot)? {
            Known::View(_) => {
                let source = self.view_of(slot)?;
                self.copied(slot, &source)
            }
            Known::Value(value) => {
                let state = self.fresh(slot, None, false)?;
                self.keep(&state, value);
                Ok(state)
            }
        }
    }

    /// Stores all lanes of a value.
    fn keep(&mut self, state: &MemoryView, value: ValueId) {
        let (buffer, lanes) = (state.buffer, self.program.buffers[state.buffer].0);
        let store = Statement::Store { buffer, address: Subscript::Constant(0), stride: 1, lanes, value, mask: None };
        self.program.blocks[self.block].statements.push(store);
    }

    /// The value that a loop carries in a buffer, at the beginning of an iteration.
    fn in_state(&mut self, state: &MemoryView, first: &Known) -> Known {
        let (buffer, lanes) = (state.buffer, self.program.buffers[state.buffer].0);
        match first {
            Known::View(_) => Known::View(state.clone()),
            Known::Value(_) => {
                let address = Subscript::Constant(0);
                Known::Value(self.make(Maker::Load { buffer, address, stride: 1, lanes, mask: None }))
            }
        }
    }

    /// Leaves what an iteration yields in the buffers of what the next one begins with.
    fn yield_states(&mut self, carried: &[Slot], states: &[MemoryView], next: &[Known]) -> Flat<()> {
        let (mut of_views, mut views) = (vec![], vec![]);
        for ((state, slot), known) in states.iter().zip(carried).zip(next) {
            match known {
                Known::Value(value) => self.keep(state, *value),
                Known::View(view) => {
                    of_views.push(state.clone());
                    views.push((view.clone(), *slot));
                }
            }
        }
        self.yield_tensors(&of_views, &views)
    }

    /// The buffers in the place of carried memory that is there under no other name.
    ///
    /// # Errors
    /// Where memory is written while a copy of it is read.
    fn owned(&self, memory: &[CarriedMemory], passed: &[BufferId]) -> Flat<BTreeSet<BufferId>> {
        let mut accesses = Accesses::new(&self.program, self.block);
        // An iteration that there is no longer is where one with a number ends.
        let exit = self.program.blocks[self.block].exit.map_or(0, |(exit, _)| exit);
        passed.iter().for_each(|buffer| {
            let last = accesses.last_read.entry(*buffer).or_default();
            *last = exit.max(*last);
        });
        // What stays is read again by the next iteration, if at all.
        let is_read = |one: &CarriedMemory| one.next != one.state || accesses.last_read.contains_key(&one.state);
        let read_next: Vec<&CarriedMemory> = memory.iter().filter(|one| is_read(one)).collect();
        for one in read_next {
            accesses.last_read.insert(one.next, self.program.blocks[self.block].statements.len());
        }
        let is_new = |buffer: BufferId| self.homes[buffer] == self.block;
        for one in memory {
            let written = |buffer: BufferId| accesses.first_write.get(&buffer).copied();
            let is_stale = |other: BufferId| {
                let read = accesses.last_read.get(&one.state);
                !is_new(other) && written(other).is_some_and(|write| read.is_some_and(|read| write <= *read))
            };
            if written(one.state).is_some() || is_stale(one.first) || is_stale(one.next) {
                return Err("memory that a loop carries, and that is written meanwhile".to_owned());
            }
        }
        let alone = |of: fn(&CarriedMemory) -> BufferId, buffer: BufferId| {
            memory.iter().filter(|one| of(one) == buffer).count() == 1
        };
        let is_free = |buffer: BufferId| self.heap.contains(&buffer) && !self.ended.contains(&buffer);
        let parent = self.program.blocks[self.block].parent.map(|(parent, _)| parent);
        let begins_alone = |first: BufferId| {
            is_free(first)
                && Some(self.homes[first]) == parent
                && alone(|one| one.first, first)
                && !accesses.has(first)
                && memory.iter().all(|one| one.next != first)
        };
        let mut owned: BTreeSet<BufferId> =
            memory.iter().filter(|one| begins_alone(one.first)).map(|one| one.state).collect();
        // What is handed on from one to another is so, too.
        while let Some(other) = memory.iter().find(|one| {
            let is_state = memory.iter().any(|other| other.state == one.next);
            let goes_on = is_free(one.next) && is_new(one.next) && alone(|one| one.next, one.next);
            owned.contains(&one.state) && (!goes_on || is_state && !owned.contains(&one.next))
        }) {
            owned.remove(&other.state);
        }
        Ok(owned)
    }

    /// Ends a loop, of which `passed` and the memory in it are there afterwards. `ended` are the buffers that the last iteration
    /// frees.
    fn leave(
        &mut self,
        outer: BlockId,
        (memory, owned): (&[CarriedMemory], &BTreeSet<BufferId>),
        (passed, ended): (&[BufferId], BTreeSet<BufferId>),
    ) -> Flat<()> {
        let freed = std::mem::replace(&mut self.ended, ended);
        let is_gone = |buffer: &BufferId| {
            self.ended.contains(buffer) || self.on_stack.contains(buffer) && self.homes[*buffer] == self.block
        };
        let is_lost = |buffer: BufferId| freed.contains(&buffer) || self.on_stack.contains(&buffer);
        if passed.iter().any(is_gone) || memory.iter().any(|one| is_lost(one.next)) {
            return Err("memory that a loop hands on, and that is freed".to_owned());
        }
        for one in memory {
            let is_passed = passed.contains(&one.state);
            match (owned.contains(&one.state), freed.contains(&one.state)) {
                (true, is_freed) => self.ended.extend((is_freed || is_passed).then_some(one.first)),
                (false, true) => return Err("memory that is freed, and that may have another name".to_owned()),
                (false, false) => {
                    // What it may be is to stay as it is.
                    let others = memory.iter().filter(|other| is_passed && !owned.contains(&other.state));
                    let same: Vec<BufferId> = others.flat_map(|one| [one.state, one.first, one.next]).collect();
                    self.heap.retain(|buffer| !same.contains(buffer) && *buffer != one.state);
                    self.constants.extend(same);
                }
            }
        }
        let block = std::mem::replace(&mut self.block, outer);
        let last = passed.iter().chain(owned);
        last.for_each(|buffer| {
            if self.homes[*buffer] == block {
                self.homes[*buffer] = outer;
            }
        });
        Ok(())
    }
}
