//! The operations of a module that have models.

use super::layout_op::{self, Interface};
use super::{Model, Source, bare, function_types};
use crate::pass::diagnostic::Diagnostic;
use crate::pass::upstream;
use layout_dialect::{MODEL, has_no_model};
use layout_ir::{self as ir, Op};
use melior::ir::operation::OperationLike;
use melior::ir::{Type, ValueLike};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How deep models may be made of operations with models. A model in Rust may build an operation of other types each time,
/// without an end.
const DEEPEST: usize = 4;

/// What a model is for: the name of an operation, and the types of its operands and results without layouts.
pub type Kind<'c> = (&'c str, [Vec<Type<'c>>; 2]);

/// The models of a module.
pub struct Models<'c> {
    /// The functions that are models, by the names of operations.
    functions: BTreeMap<&'c str, Vec<Op<'c>>>,
}

impl<'c> Models<'c> {
    /// The models for the operations below `root`.
    pub fn of(root: Op<'c>) -> Models<'c> {
        let mut functions: BTreeMap<&str, Vec<Op>> = BTreeMap::new();
        for op in ir::blocks(root).into_iter().flat_map(ir::operations) {
            if let Some(name) = ir::attribute(op, MODEL).and_then(ir::text) {
                functions.entry(name).or_default().push(op);
            }
        }
        Models { functions }
    }

    /// The functions with bodies that are models.
    pub fn functions(&self) -> impl Iterator<Item = Op<'c>> {
        self.functions.values().flatten().copied().filter(|function| !ir::blocks(*function).is_empty())
    }

    /// The model of an operation.
    pub fn get(&self, op: Op<'c>) -> Option<Model<'c>> {
        let function = || {
            let functions = self.functions.get(ir::name(op))?;
            let (_, own) = kind(op);
            functions.iter().find(|function| taken(**function).as_ref() == Some(&own)).copied()
        };
        let source = match layout_op::registered(ir::name(op)) {
            _ if upstream::has_model(op) => Source::Methods(Arc::new(Interface)),
            Some(model) => Source::Methods(model),
            None => Source::Function(function()?),
        };
        Some(Model { op, source, around: Vec::new() })
    }

    /// The operations below `root` with models; with `bodies` also those in functions that are models.
    ///
    /// # Errors
    /// An operation that no model can stand for, and a second model for the same operations.
    pub fn below(&self, root: Op<'c>, bodies: bool) -> Result<Vec<Model<'c>>, Vec<Diagnostic<'c>>> {
        let (mut found, mut errors, mut stack) = (Vec::new(), Vec::new(), vec![root]);
        while let Some(op) = stack.pop() {
            if let Some(model) = self.get(op) {
                errors.extend(unsupported(op).map(|found| {
                    model.wrong(format!(
                        "has a model, so it must have no regions or successors, must not end its block, and must not be a \
                         constant or of the dialects builtin, func, layout and llvm; found {found}"
                    ))
                }));
                found.push(model);
            }
            if bodies || op == root || ir::attribute(op, MODEL).is_none() {
                stack.extend(ir::blocks(op).into_iter().flat_map(ir::operations));
            }
        }
        found.reverse();
        errors.reverse();
        errors.extend(self.duplicates());
        if errors.is_empty() { Ok(found) } else { Err(errors) }
    }

    /// The operations with models in the function of another one.
    ///
    /// # Errors
    /// Those of [`Models::below`], and models that are made of their own operation or are too deep.
    pub fn inside(&self, outer: &Model<'c>, function: Op<'c>) -> Result<Vec<Model<'c>>, Vec<Diagnostic<'c>>> {
        let mut found = self.below(function, true)?;
        let mut around = outer.around.clone();
        around.push(kind(outer.op));
        for model in &mut found {
            if around.contains(&kind(model.op)) {
                return Err(vec![model.wrong("has a model that is made of this operation itself".to_owned())]);
            }
            if around.len() > DEEPEST {
                return Err(vec![model.wrong(format!("has a model that is more than {DEEPEST} models deep"))]);
            }
            model.around.clone_from(&around);
        }
        Ok(found)
    }

    /// The errors that two functions are models of the same operations.
    fn duplicates(&self) -> Vec<Diagnostic<'c>> {
        let mut errors = Vec::new();
        for (name, functions) in &self.functions {
            let types: Vec<_> = functions.iter().map(|function| taken(*function)).collect();
            for (number, function) in functions.iter().enumerate() {
                if types[number].is_some() && types[..number].contains(&types[number]) {
                    let message = format!("'func.func' op is a second model of '{name}' for the same types");
                    errors.push(Diagnostic::error(ir::location(*function), message));
                }
            }
        }
        errors
    }
}

/// The kind of an operation.
fn kind<'c>(op: Op<'c>) -> Kind<'c> {
    let types = [ir::operands(op), ir::results(op)].map(|all| all.iter().map(|v| bare(v.r#type())).collect());
    (ir::name(op), types)
}

/// The types of the operations that a function is a model of.
fn taken<'c>(function: Op<'c>) -> Option<[Vec<Type<'c>>; 2]> {
    function_types(function).map(|all| all.map(|types| types.into_iter().map(bare).collect()))
}

/// Why no call can be in the place of an operation.
fn unsupported(op: Op) -> Option<String> {
    let name = ir::name(op);
    let ends = || ir::parent(op).is_some_and(|parent| ir::name(parent) != "builtin.module") && ir::next(op).is_none();
    match (op.region_count(), op.successor_count()) {
        (0, 0) if has_no_model(name) => Some(format!("'{name}'")),
        (0, 0) => ends().then(|| "it at the end of its block".to_owned()),
        (0, successors) => Some(format!("successors: {successors}")),
        (regions, _) => Some(format!("regions: {regions}")),
    }
}
