//! Operations with models as calls of functions.

use super::{Model, Models, Signature, convert};
use crate::analysis::execution_counts::ExecutionCounts;
use crate::analysis::functions::{inline_body, symbol};
use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Builder, Op, Rewriter};
use melior::ir::ValueLike;
use melior::ir::attribute::FlatSymbolRefAttribute;
use std::cell::RefCell;
use std::collections::HashSet;

/// What the functions are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To compute the results, of operands in any layouts.
    Values,
    /// To say which layouts are taken.
    Layouts,
    /// To say that and what it costs. Where an operation says its cost itself, nothing is computed.
    Costs,
}

/// An operation that is a call.
struct ModelCall<'c> {
    /// A copy of the operation, without operands.
    op: Op<'c>,
    call: Op<'c>,
    function: Op<'c>,
    cost: i64,
}

/// The operations of a module that are calls.
pub struct ModelCalls<'c> {
    rewriter: &'c Rewriter,
    calls: Vec<ModelCall<'c>>,
}

impl<'c> ModelCalls<'c> {
    /// Replaces each operation below `root` that has a model by a call of a function of its own.
    ///
    /// # Errors
    /// A model that is wrong; then nothing has changed.
    pub fn of(rewriter: &'c Rewriter, root: Op<'c>, purpose: Purpose) -> Result<ModelCalls<'c>, Vec<Diagnostic<'c>>> {
        let found = with_models(root);
        if found.is_empty() {
            return Ok(ModelCalls { rewriter, calls: Vec::new() });
        }
        let names: HashSet<&str> = ir::all_operations(root).into_iter().filter_map(symbol).collect();
        let names = (0..).map(|number| format!("layout.model.{number}")).filter(|name| !names.contains(&**name));
        let functions: RefCell<Vec<Op<'c>>> = RefCell::default();
        let (mut built, mut errors) = (Vec::new(), Vec::new());
        for (model, name) in found.iter().zip(names) {
            let place = |function| {
                let function = Builder::before(outermost(model.op)).insert(function);
                functions.borrow_mut().push(function);
                function
            };
            built.push(model.function(&name, purpose, &place).map_err(|own| errors.push(own)));
        }
        if !errors.is_empty() {
            functions.into_inner().into_iter().for_each(|function| rewriter.erase(function));
            return Err(errors.concat());
        }
        let call = |(model, built): (&Model<'c>, _)| Some(ModelCall::new(rewriter, model, Result::ok(built)?));
        Ok(ModelCalls { rewriter, calls: found.iter().zip(built).filter_map(call).collect() })
    }

    /// The costs that the operations say, each as often as it runs.
    pub fn cost(&self, module: Op<'c>) -> i64 {
        if self.calls.is_empty() {
            return 0;
        }
        let runs = ExecutionCounts::of(&ir::all_operations(module));
        let times = |call: &ModelCall<'c>| i64::try_from(runs.of_op(call.call)).unwrap_or(i64::MAX).max(1);
        self.calls.iter().fold(0i64, |all, call| all.saturating_add(call.cost.saturating_mul(times(call))))
    }

    /// Puts the operations back, with the operands and the result types of their calls.
    pub fn restore(self) {
        for ModelCall { op, call, function, .. } in self.calls {
            let op = Builder::before(call).copy(op);
            ir::set_operands(op, &ir::operands(call));
            for (own, called) in ir::results(op).into_iter().zip(ir::results(call)) {
                ir::set_type(own, called.r#type());
                ir::replace_all_uses(called, own);
            }
            self.rewriter.erase(call);
            self.rewriter.erase(function);
        }
    }
}

impl<'c> ModelCall<'c> {
    fn new(rewriter: &'c Rewriter, model: &Model<'c>, (function, signature): (Op<'c>, Signature<'c>)) -> ModelCall<'c> {
        let (op, b) = (model.op, Builder::before(model.op));
        let operands = ir::operands(op).into_iter().zip(&signature.operands);
        let operands: Vec<_> = operands.map(|(v, (t, keep))| convert(b, v, *t, *keep)).collect();
        let types: Vec<_> = signature.results.iter().map(|(t, _)| *t).collect();
        let name = symbol(function).expect("a function has a name");
        let callee = b.named("callee", FlatSymbolRefAttribute::new(b.context(), name));
        let call = b.op("func.call", &operands, &types, &[callee]);
        for (own, called) in ir::results(op).into_iter().zip(ir::results(call)) {
            ir::replace_all_uses(own, convert(b, called, own.r#type(), false));
        }
        let copy = rewriter.copy(op);
        ir::set_operands(copy, &[]);
        rewriter.erase(op);
        ModelCall { op: copy, call, function, cost: model.cost().unwrap_or(0) }
    }
}

/// How deep models may be made of operations with models.
const DEEPEST: usize = 4;

/// Puts the operations of models in the place of the operations below `root` that have one; returns whether there are any.
///
/// # Errors
/// A model that is wrong, or is made of its own operation.
pub fn expand<'c>(rewriter: &'c Rewriter, root: Op<'c>) -> Result<bool, Vec<Diagnostic<'c>>> {
    for depth in 0..=DEEPEST {
        let calls = ModelCalls::of(rewriter, root, Purpose::Values)?.calls;
        if calls.is_empty() {
            return Ok(depth > 0);
        }
        calls.into_iter().for_each(|own| inline_body(rewriter, own.call, own.function));
    }
    let left = with_models(root);
    let deep = |model: &Model<'c>| model.wrong(format!("has a model that is more than {DEEPEST} models deep"));
    if left.is_empty() { Ok(true) } else { Err(left.iter().take(1).map(deep).collect()) }
}

/// A copy of a module with its operations expanded; the module itself where none has a model.
///
/// # Errors
/// Those of [`expand`].
pub fn expanded<'c>(rewriter: &'c Rewriter, module: Op<'c>) -> Result<Op<'c>, Vec<Diagnostic<'c>>> {
    if with_models(module).is_empty() {
        return Ok(module);
    }
    let copy = rewriter.copy(module);
    expand(rewriter, copy)?;
    Ok(copy)
}

/// The operations with models, those inside of others left out.
fn with_models<'c>(root: Op<'c>) -> Vec<Model<'c>> {
    let (models, mut found, mut stack) = (Models::of(root), Vec::new(), vec![root]);
    while let Some(op) = stack.pop() {
        match models.get(op) {
            Some(model) => found.push(model),
            None => stack.extend(ir::blocks(op).into_iter().flat_map(ir::operations)),
        }
    }
    found.reverse();
    found
}

/// The operation of a module's body that an operation is in.
fn outermost<'c>(op: Op<'c>) -> Op<'c> {
    let is_module = |op: &Op<'c>| ir::name(*op) == "builtin.module";
    std::iter::successors(Some(op), |op| ir::parent(*op).filter(|parent| !is_module(parent))).last().unwrap_or(op)
}
