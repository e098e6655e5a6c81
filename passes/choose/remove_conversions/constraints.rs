//! Constraints on layouts: values that must share one, and values with a fixed one.
//!
//! One match over all operations defines them. An operation that is not in it fixes its operands and results.
//!
//! Slices and reshapes have no row of their own: reading one in place costs nothing, whatever the two types are, and
//! one that leaves its block is copied anyhow: see [`is_read_in_place`].

use super::PLANNED;
use super::classes::{Classes, Space};
use crate::analysis::functions::{called_only_functions, callee, ends, symbol, terminators};
use crate::buffers::operations::{ELEMENTWISE, SLICE_OR_RESHAPE, is};
use crate::buffers::views::is_read_in_place;
use layout_ir::{self as ir, Op, Val};
use melior::ir::{BlockRef, ValueLike};
use std::collections::HashMap;

/// The constraints before any conversion is removed.
pub struct Constraints<'c> {
    /// The classes of values that must have one layout.
    pub classes: Classes<'c>,
    /// Functions whose types follow from their blocks.
    pub functions: Vec<Op<'c>>,
}

/// The walk over the operations.
struct Walk<'c> {
    classes: Classes<'c>,
    /// Functions by name, whose argument and result layouts are chosen by their bodies.
    called_only: HashMap<&'c str, Op<'c>>,
    /// Whether each view is only read.
    read_in_place: HashMap<usize, bool>,
}

impl<'c> Constraints<'c> {
    /// The constraints of the operations of a module, each after its parent.
    pub fn of(classes: Classes<'c>, operations: &[Op<'c>]) -> Self {
        let called_only = called_only_functions(operations);
        let functions = called_only.values().copied().collect();
        let mut walk = Walk { classes, called_only, read_in_place: HashMap::new() };
        for op in operations {
            walk.visit(*op);
        }
        Constraints { classes: walk.classes, functions }
    }
}

impl<'c> Walk<'c> {
    fn visit(&mut self, op: Op<'c>) {
        let (operands, results) = (ir::operands(op), ir::results(op));
        match ir::name(op) {
            "layout.convert" if ir::attribute(op, PLANNED).is_some() => self.fix_all(op),
            "layout.convert" if ir::attribute(op, "keep").is_some() => self.classes.fix(results[0]),
            "layout.convert"
            | "tensor.empty"
            | "tensor.splat"
            | "tensor.from_elements"
            | "tensor.pad"
            | "tensor.extract"
            | "tensor.dim" => {}
            "arith.constant" if ir::attribute(op, "value").and_then(ir::constant).is_some() => {}
            // The parts are inserted one by one, which needs static sizes.
            "tensor.concat" if is_static(&operands) => {}
            "tensor.insert" | "tensor.insert_slice" => self.classes.same(operands[1], results[0]),
            "tensor.cast" if [operands[0], results[0]].iter().any(|v| ir::tensor(v.r#type()).is_none()) => {
                self.fix_all(op)
            }
            "tensor.cast" => self.classes.same(operands[0], results[0]),
            "linalg.softmax" => self.all_same(operands.into_iter().chain(results)),
            "func.func" => self.function(op),
            // The parent operation handles its operands.
            "func.return" | "scf.yield" | "scf.condition" | "linalg.yield" | "tensor.yield" => {}
            "func.call" => self.call(op, &operands, &results),
            "scf.if" | "scf.index_switch" | "scf.execute_region" => {
                for end in terminators(op) {
                    self.pairs(&results, &ir::operands(end));
                }
            }
            "scf.for" => self.for_loop(op, &operands[3..], &results),
            "scf.while" => self.while_loop(op, &operands, &results),
            name if is(name, SLICE_OR_RESHAPE) => self.view(operands[0], results[0]),
            name if is(name, ELEMENTWISE) => self.all_same(operands.into_iter().chain(results)),
            _ if ir::indexing_maps(op).is_some() => {
                // The updated operands come last, one for each result.
                let inputs = operands.len().saturating_sub(results.len());
                self.pairs(&results, &operands[inputs..]);
            }
            _ => self.fix_all(op),
        }
    }

    /// Requires one layout for each pair.
    fn pairs(&mut self, some: &[Val<'c>], others: &[Val<'c>]) {
        some.iter().zip(others).for_each(|(a, b)| self.classes.same(*a, *b));
    }

    fn all_same(&mut self, values: impl Iterator<Item = Val<'c>>) {
        let tensors: Vec<Val<'c>> = values.filter(|v| ir::tensor(v.r#type()).is_some()).collect();
        tensors.windows(2).for_each(|pair| self.classes.same(pair[0], pair[1]));
    }

    /// Fixes everything around an unknown operation.
    fn fix_all(&mut self, op: Op<'c>) {
        let ends = terminators(op).flat_map(ir::operands).collect::<Vec<_>>();
        let arguments = ir::blocks(op).into_iter().flat_map(ir::arguments);
        let values = ir::operands(op).into_iter().chain(ir::results(op)).chain(arguments).chain(ends);
        values.for_each(|v| self.classes.fix(v));
        // Branches target blocks of the parent operation.
        let around = ir::parent(op).filter(|_| ir::name(op).starts_with("cf."));
        let blocks = around.map(ir::blocks).unwrap_or_default();
        blocks.into_iter().skip(1).flat_map(ir::arguments).for_each(|v| self.classes.fix(v));
    }

    fn function(&mut self, op: Op<'c>) {
        let called_only = symbol(op).and_then(|name| self.called_only.get(name)) == Some(&op);
        let mut returned = ends(op).map(ir::operands);
        if !called_only {
            ir::blocks(op)
                .first()
                .map(|b: &BlockRef<'c, 'c>| ir::arguments(*b))
                .into_iter()
                .flatten()
                .for_each(|v| self.classes.fix(v));
            returned.flatten().for_each(|v| self.classes.fix(v));
        } else if let Some(first) = returned.next() {
            returned.for_each(|others| self.pairs(&first, &others));
        }
    }

    fn call(&mut self, op: Op<'c>, operands: &[Val<'c>], results: &[Val<'c>]) {
        let Some(callee) = callee(op).and_then(|name| self.called_only.get(name)).copied() else {
            return self.fix_all(op);
        };
        if let (Some(entry), Some(end)) = (ir::blocks(callee).first(), ends(callee).next()) {
            self.pairs(operands, &ir::arguments(*entry));
            self.pairs(results, &ir::operands(end));
        }
    }

    /// A `for` loop: its initial values, its block's arguments after the induction variable, and its yielded values.
    fn for_loop(&mut self, op: Op<'c>, starts: &[Val<'c>], results: &[Val<'c>]) {
        self.pairs(results, starts);
        let (Some(body), Some(end)) = (ir::blocks(op).first().copied(), terminators(op).next()) else { return };
        self.pairs(results, &ir::arguments(body)[1..]);
        self.pairs(results, &ir::operands(end));
    }

    /// A `while` loop: the second region yields to the initial values; the condition forwards to the results.
    fn while_loop(&mut self, op: Op<'c>, starts: &[Val<'c>], results: &[Val<'c>]) {
        let blocks = ir::blocks(op);
        let ends: Vec<Op<'c>> = terminators(op).collect();
        let ([before, after], [condition, end]) = (&blocks[..], &ends[..]) else { return self.fix_all(op) };
        self.pairs(starts, &ir::arguments(*before));
        self.pairs(starts, &ir::operands(*end));
        self.pairs(results, &ir::operands(*condition)[1..]);
        self.pairs(results, &ir::arguments(*after));
    }

    /// Constrains a slice or reshape that is not only read in place to layouts that cost no copy.
    fn view(&mut self, source: Val<'c>, result: Val<'c>) {
        let [from, to] = [source, result].map(|v| ir::tensor(v.r#type()));
        let (Some(from), Some(to)) = (from, to) else { return };
        // A view of a part of a spread tensor, or one with another memory, stays unchanged.
        let spaces = [from.layout, to.layout].map(Space::of);
        if spaces.contains(&Space::Other)
            || from.layout != to.layout && !spaces.contains(&Space::Unstated) && spaces[0] != spaces[1]
        {
            self.classes.fix(source);
            self.classes.fix(result);
        } else if from.layout == to.layout && !is_read_in_place(result, &mut self.read_in_place) {
            match from.shape.len() == to.shape.len() {
                true => self.classes.same(source, result),
                false => [source, result].into_iter().for_each(|v| self.classes.fix(v)),
            }
        }
    }
}

fn is_static(values: &[Val]) -> bool {
    values.iter().filter_map(|v| ir::tensor(v.r#type())).all(|t| t.sizes().is_some())
}
