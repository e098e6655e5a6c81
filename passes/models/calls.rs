//! Operations with models as calls of functions.

use super::find::Models;
use super::{Model, Signature, convert};
use crate::analysis::execution_counts::ExecutionCounts;
use crate::analysis::functions::{inline_body, symbol};
use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Builder, Op, Rewriter};
use melior::ir::attribute::{FlatSymbolRefAttribute, StringAttribute};
use melior::ir::operation::OperationBuilder;
use melior::ir::{Region, ValueLike};
use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};

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
    /// Whether it is in the function of another operation.
    is_inside: bool,
}

/// The operations of a module that are calls.
pub struct ModelCalls<'c> {
    rewriter: &'c Rewriter,
    calls: Vec<ModelCall<'c>>,
    detached: Vec<DetachedModel<'c>>,
}

/// A function that is a model, in a module of its own, and the declaration in its place.
struct DetachedModel<'c> {
    function: Op<'c>,
    declaration: Op<'c>,
}

impl<'c> ModelCalls<'c> {
    /// Replaces each operation below `root` that has a model by a call of a function of its own, and so in these functions.
    /// Where only layouts or costs are asked for, the functions that are models become declarations.
    ///
    /// # Errors
    /// A model that is wrong; then nothing has changed.
    pub fn of(rewriter: &'c Rewriter, root: Op<'c>, purpose: Purpose) -> Result<ModelCalls<'c>, Vec<Diagnostic<'c>>> {
        let (models, all) = (Models::of(root), purpose == Purpose::Values);
        let found = models.below(root, all)?;
        let functions: RefCell<Vec<Op<'c>>> = RefCell::default();
        let built = build(root, &models, found, purpose, &functions).inspect_err(|_| {
            functions.take().into_iter().for_each(|function| rewriter.erase(function));
        })?;
        // Only now, as the functions are copies of those in the module.
        let calls = built.into_iter().map(|(model, built)| ModelCall::new(rewriter, &model, built)).collect();
        let mut moved = models.functions().filter(|_| !all).peekable();
        let elsewhere = moved.peek().and_then(|_| rewriter.parse("func.func private @end()"));
        let end = elsewhere.and_then(|module| ir::operations(*ir::blocks(module).first()?).pop());
        let detached =
            end.map_or_else(Vec::new, |end| moved.map(|function| DetachedModel::new(function, end)).collect());
        Ok(ModelCalls { rewriter, calls, detached })
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
        for ModelCall { op, call, function, is_inside, .. } in self.calls {
            if is_inside {
                self.rewriter.erase(function);
                continue;
            }
            let op = Builder::before(call).copy(op);
            ir::set_operands(op, &ir::operands(call));
            for (own, called) in ir::results(op).into_iter().zip(ir::results(call)) {
                ir::set_type(own, called.r#type());
                ir::replace_all_uses(called, own);
            }
            self.rewriter.erase(call);
            self.rewriter.erase(function);
        }
        for DetachedModel { function, declaration } in self.detached {
            ir::move_before(function, declaration);
            self.rewriter.erase(declaration);
        }
    }
}

/// Models with the functions that they are called as.
type Built<'c> = Vec<(Model<'c>, (Op<'c>, Signature<'c>))>;

/// Builds the functions of operations with models, and of those in the functions; `functions` are all that are built.
fn build<'c>(
    root: Op<'c>,
    models: &Models<'c>,
    found: Vec<Model<'c>>,
    purpose: Purpose,
    functions: &RefCell<Vec<Op<'c>>>,
) -> Result<Built<'c>, Vec<Diagnostic<'c>>> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let names: HashSet<&str> = ir::all_operations(root).into_iter().filter_map(symbol).collect();
    let mut names = (0..).map(|number| format!("layout.model.{number}")).filter(|name| !names.contains(&**name));
    let (mut built, mut errors, mut left) = (Vec::new(), Vec::new(), VecDeque::from(found));
    while let Some(model) = left.pop_front() {
        let place = |function| {
            let function = Builder::before(outermost(model.op)).insert(function);
            functions.borrow_mut().push(function);
            function
        };
        let name = names.next().expect("numbers do not end");
        match model.function(&name, purpose, &place) {
            Ok(own) => {
                left.extend(models.inside(&model, own.0)?);
                built.push((model, own));
            }
            Err(own) => errors.extend(own),
        }
    }
    if errors.is_empty() { Ok(built) } else { Err(errors) }
}

impl<'c> DetachedModel<'c> {
    /// Moves a function before `end`, which is in another module.
    fn new(function: Op<'c>, end: Op<'c>) -> DetachedModel<'c> {
        let b = Builder::before(function);
        let kept = ["sym_name", "function_type"].into_iter();
        let mut attributes: Vec<_> = kept.filter_map(|n| Some(b.named(n, ir::attribute(function, n)?))).collect();
        attributes.push(b.named("sym_visibility", StringAttribute::new(b.context(), "private")));
        let declaration = OperationBuilder::new("func.func", ir::location(function)).add_attributes(&attributes);
        let declaration = declaration.add_regions([Region::new()]).build().expect("a declaration can be built");
        let declaration = b.insert(declaration);
        ir::move_before(function, end);
        DetachedModel { function, declaration }
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
        ModelCall { op: copy, call, function, cost: model.cost().unwrap_or(0), is_inside: !model.around.is_empty() }
    }
}

/// Puts the operations of models in the place of the operations below `root` that have one; returns whether there are any.
///
/// # Errors
/// A model that is wrong, or is made of its own operation.
pub fn expand<'c>(rewriter: &'c Rewriter, root: Op<'c>) -> Result<bool, Vec<Diagnostic<'c>>> {
    let calls = ModelCalls::of(rewriter, root, Purpose::Values)?.calls;
    let any = !calls.is_empty();
    calls.into_iter().for_each(|own| inline_body(rewriter, own.call, own.function));
    Ok(any)
}

/// A copy of a module with its operations expanded; the module itself where none has a model.
///
/// # Errors
/// Those of [`expand`].
pub fn expanded<'c>(rewriter: &'c Rewriter, module: Op<'c>) -> Result<Op<'c>, Vec<Diagnostic<'c>>> {
    if Models::of(module).below(module, true)?.is_empty() {
        return Ok(module);
    }
    let copy = rewriter.copy(module);
    expand(rewriter, copy)?;
    Ok(copy)
}

/// The operation of a module's body that an operation is in.
fn outermost<'c>(op: Op<'c>) -> Op<'c> {
    let is_module = |op: &Op<'c>| ir::name(*op) == "builtin.module";
    std::iter::successors(Some(op), |op| ir::parent(*op).filter(|parent| !is_module(parent))).last().unwrap_or(op)
}
