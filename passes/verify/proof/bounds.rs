//! Proofs that accesses are inside of their buffers, and that parallel iterations are independent.

use crate::proof::follow::Proof;
use crate::proof::linear::{Linear, Shown, Space, Undecided, unproved};
use crate::proof::provenance::Provenance;
use crate::proof::statements::{BlockId, FunctionResult, Maker, Statement};
use crate::proof::subscript::{Subscript, ValueId};
use crate::proof::value::{LoopPosition, Thunk};

impl Proof<'_> {
    /// Checks that no buffer from outside of a parallel loop is both read and written in it: iterations have no order.
    pub(super) fn apart(&self, side: usize) -> Shown<()> {
        let program = self.programs[side];
        for block in (0..program.blocks.len()).filter(|block| program.blocks[*block].parallel) {
            let inside = |mut at: BlockId| loop {
                if at == block {
                    return true;
                }
                let Some((parent, _)) = program.blocks[at].parent else { return false };
                at = parent;
            };
            let (mut made, mut read, mut written) = (Vec::new(), Vec::new(), Vec::new());
            for body in (0..program.blocks.len()).filter(|at| inside(*at)).map(|at| &program.blocks[at]) {
                for statement in &body.statements {
                    match statement {
                        Statement::Allocate(buffer) => made.push(*buffer),
                        Statement::Store { buffer, .. } => written.push(*buffer),
                        Statement::Value(value) => {
                            if let Maker::Load { buffer, .. } = &program.values[*value].0 {
                                read.push(*buffer);
                            }
                        }
                        Statement::Loop(_) => {}
                    }
                }
            }
            if written.iter().any(|buffer| read.contains(buffer) && !made.contains(buffer)) {
                return unproved("memory that a parallel loop reads and writes");
            }
        }
        Ok(())
    }

    /// Checks that no store writes an argument whose elements do not fill its memory: the rest has an unknown owner.
    pub(super) fn beside(&self) -> Shown<()> {
        let [meant, made] = self.programs;
        for result in meant.results.iter().rev().take(meant.arguments) {
            let FunctionResult::Elements(argument) = result else { continue };
            if argument.here.fills(&argument.sizes) {
                continue;
            }
            let mut all = meant.blocks.iter().chain(&made.blocks).flat_map(|body| &body.statements);
            if all.any(|one| matches!(one, Statement::Store { buffer, .. } if *buffer == argument.buffer)) {
                return unproved("an argument that is written, with memory between its elements");
            }
        }
        Ok(())
    }

    /// Proves that each load and store of a program is inside of its buffer.
    pub(super) fn within(&mut self, side: usize) -> Shown<()> {
        let program = self.programs[side];
        let last = program.last_asserted();
        // Before the last assertion, nothing of the first program is known to be done.
        let promised = std::mem::take(&mut self.index_ranges);
        let facts = std::mem::take(&mut self.without_ranges);
        let facts = self.replace_facts(facts);
        self.accesses_within(side, &|at| Some(program.outermost(at)) <= last)?;
        self.replace_facts(facts);
        self.index_ranges = promised;
        self.accesses_within(side, &|at| Some(program.outermost(at)) > last)
    }

    /// Proves that these loads and stores of a program are inside of their buffers.
    fn accesses_within(&mut self, side: usize, is_one: &dyn Fn((BlockId, usize)) -> bool) -> Shown<()> {
        let program = self.programs[side];
        let promised = self.index_ranges.len();
        for (block, body) in program.blocks.iter().enumerate() {
            let chain = program.counted_loops(block);
            let statements = body.statements.iter().enumerate();
            for (number, statement) in statements.filter(|(number, _)| is_one((block, *number))) {
                let (buffer, address, stride, lanes, mask) = match statement {
                    Statement::Store { buffer, address, stride, lanes, mask, .. } => {
                        (*buffer, address, *stride, *lanes, *mask)
                    }
                    Statement::Value(value) => match &program.values[*value].0 {
                        Maker::Load { buffer, address, stride, lanes, mask } => {
                            (*buffer, address, *stride, *lanes, *mask)
                        }
                        _ => continue,
                    },
                    Statement::Loop(_) | Statement::Allocate(_) => continue,
                };
                self.note_bounds(side, (block, number), &chain, program.buffers[buffer].0);
                let place = self.iterations(side, &chain)?;
                let lane = Linear::var(self.space.var(lanes));
                let size = program.buffers[buffer].0;
                let is_of_data = self.is_of_data(side, address);
                self.cases(&mut |proof| {
                    proof.index_ranges.truncate(promised);
                    if is_of_data && !proof.assume_asserted(side, (block, number), &place)? {
                        return Ok(());
                    }
                    for block in &chain {
                        let iteration = proof.iteration_of(*block, &place)?;
                        for upper in &program.blocks[*block].uppers {
                            let upper = proof.subscript(side, upper, &Linear::default(), &place)?;
                            if !proof.space.at_least_zero(&upper.minus(&iteration)?.add(-1)?)? {
                                return Ok(());
                            }
                        }
                    }
                    if let Some(mask) = mask {
                        let mask = Thunk::Value { side, value: mask, lane: lane.clone(), place: place.clone() };
                        match proof.known(mask) {
                            Ok(Some(false)) => return Ok(()),
                            Err(stop @ (Undecided::Split(..) | Undecided::Order(..))) => return Err(stop),
                            _ => {}
                        }
                    }
                    let address =
                        proof.subscript(side, address, &Linear::default(), &place)?.plus(&lane.times(stride)?)?;
                    let inside = proof.space.at_least_zero(&address)?
                        && proof.space.at_least_zero(&Linear::constant(size - 1).minus(&address)?)?;
                    if let Some((first, run)) = program.runs.get(&(block, number)) {
                        let first = proof.subscript(side, first, &Linear::default(), &place)?;
                        let runs = [proof.space.divide(&first, *run)?.0, proof.space.divide(&address, *run)?.0];
                        if !proof.space.is_zero(&runs[0].minus(&runs[1])?)? {
                            return unproved("a vector of several runs of a swizzle");
                        }
                    }
                    if inside { Ok(()) } else { unproved("an access outside of its buffer") }
                })?;
                // A range that assertions say of this access holds at its place alone.
                self.index_ranges.truncate(promised);
            }
        }
        Ok(())
    }

    fn is_of_data(&self, side: usize, index: &Subscript) -> bool {
        let mut values = vec![];
        index.values(&mut values);
        values.iter().any(|value| self.provenances[side][*value] == Provenance::Data)
    }

    /// Any iteration of these loops, in a new space.
    pub(super) fn iterations(&mut self, side: usize, chain: &[BlockId]) -> Shown<LoopPosition> {
        self.memo.forget(0);
        self.space = Space::default();
        let mut place = LoopPosition::default();
        for block in chain {
            let extent = self.most_trips(side, *block, &place)?;
            let var = self.space.var(extent);
            let lower = self.lower(side, *block, &place)?;
            place.at.insert(*block, Linear::var(var).times(self.programs[side].blocks[*block].step)?.plus(&lower)?);
        }
        Ok(place)
    }

    /// Checks that the second program divides by constants alone, none of them 0 or -1. Another divisor may be an
    /// element that no result depends on, in its own iteration or lane, by which the first program does not divide.
    pub(super) fn divides(&self) -> Shown<()> {
        for (maker, _) in &self.programs[1].values {
            let Maker::Elements { operation, operands } = maker else { continue };
            let ([_, by], true) = (&operands[..], operation.calc().divides()) else { continue };
            if !self.is_divisor(*by, u64::MAX >> 64_u32.saturating_sub(operation.element().bits).min(63)) {
                return unproved("a division by what is no number");
            }
        }
        Ok(())
    }

    /// Whether a value is numbers other than 0 and -1, whose bits are `ones`.
    fn is_divisor(&self, value: ValueId, ones: u64) -> bool {
        let good = |bits: u64| bits != 0 && bits & ones != ones;
        match &self.programs[1].values[value].0 {
            Maker::Constant(items, ..) => items.iter().all(|item| good(*item)),
            Maker::Subscript(Subscript::Constant(n)) => good(*n as u64),
            Maker::Lanes(sources) => sources.iter().all(|(source, _)| self.is_divisor(*source, ones)),
            _ => false,
        }
    }
}
