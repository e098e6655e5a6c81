//! The cost of a change of a module, by the machine's costs.
//!
//! The instructions that a change leaves alone cost what they did. Of the others, by their names, the new cost less the old
//! one is the cost of the change. A computation that is run several times counts once.

use std::cell::LazyCell;
use std::collections::HashMap;
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::{Array, Graph, Shape, leaves};
use tensor_layout::targets::Target;

/// The costs of a module's instructions.
pub struct Prices<'m> {
    module: &'m Module,
    target: &'m Target,
    graphs: Vec<Graph>,
}

impl<'m> Prices<'m> {
    pub fn new(module: &'m Module, target: &'m Target) -> Prices<'m> {
        Prices { module, target, graphs: module.graphs() }
    }

    /// The additional cost of a changed module; `None` where a changed instruction has no cost on the machine.
    pub fn change(&self, changed: &Module) -> Option<i64> {
        let mut sum = 0_i64;
        for (old, new) in self.module.computations.iter().zip(&changed.computations) {
            let number = |(k, own): (usize, &'m Instruction)| (&*own.name, k);
            let before = LazyCell::new(|| old.instructions.iter().enumerate().map(number).collect::<HashMap<_, _>>());
            for (k, own) in new.instructions.iter().enumerate() {
                let is_there = old.instructions.get(k).is_some_and(|was| was.name == own.name);
                let was = if is_there { Some(k) } else { before.get(&*own.name).copied() };
                if was.is_some_and(|was| is_same(old, &old.instructions[was], new, own)) {
                    continue;
                }
                let cost = was.map_or(Some(0), |was| self.price(old, was))?;
                sum = sum.checked_add(self.price(new, k)?)?.checked_sub(cost)?;
            }
        }
        Some(sum)
    }

    /// The cost of an instruction.
    fn price(&self, computation: &Computation, k: usize) -> Option<i64> {
        let own = &computation.instructions[k];
        if matches!(&*own.opcode, "parameter" | "tuple" | "get-tuple-element" | "bitcast" | "constant") {
            return Some(0);
        }
        let operands: Vec<&Array> =
            own.operands.iter().flat_map(|k| leaves(&computation.instructions[*k].shape)).collect();
        if let ("copy", [from], Shape::Array(to)) = (&*own.opcode, &operands[..], &own.shape) {
            return self.target.relayout_cost(from, &from.layout, &to.layout).ok();
        }
        let results = leaves(&own.shape);
        match own.called[..] {
            [fused] if own.opcode == "fusion" => self.target.fusion_cost(&self.graphs, fused, &operands, &results).ok(),
            _ => self.target.operation_cost(&own.operation, &operands, &results).ok(),
        }
    }
}

/// Whether an instruction does what it did.
fn is_same(old: &Computation, was: &Instruction, new: &Computation, own: &Instruction) -> bool {
    let operands = |(was, own): (&usize, &usize)| old.instructions[*was].shape == new.instructions[*own].shape;
    was.opcode == own.opcode && was.shape == own.shape && was.operands.iter().zip(&own.operands).all(operands)
}
