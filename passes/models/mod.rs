//! Models of operations of other compilers: what an operation computes, as a function.
//!
//! ```text
//! %y = mini.product %x, %w   <->   %y = call @model(%x, %w)
//!                                  func.func private @model(%x, %w) { linalg.generic .. }
//! ```
//!
//! A model is the interface `LayoutOpInterface` of C++, a [`LayoutOp`] that is registered, or a function of the module with
//! the attribute [`MODEL`]. Whoever asks what an operation computes gets a function, and knows functions already:
//!
//! | who | what becomes of the operation |
//! |---|---|
//! | plan, removal of conversions | a call, and with the types of the call the operation again (`ModelCalls::restore`) |
//! | `layout-expand-operations` | the operations of the function |
//! | verification | the same, in the copies of the program that are compared |
//! | indexing analysis | it stays; the maps are those of the function |
//!
//! An operation that takes certain layouts alone has conversions to them around the call, which stay. Not promised: that a
//! conversion which a plan puts inside of the function is made; the loops of the function read their operands as they are.
//!
//! Operations in the function that have models become calls in turn. The functions of the module that are models have no part
//! in plans: they are declarations until the operations are back. So no other pass sees their layouts as its own to choose.

mod calls;
pub mod expand_operations;
mod find;
mod generic;
mod layout_op;
#[cfg(test)]
mod tests;

pub(crate) use calls::{ModelCalls, Purpose, expanded};
pub(crate) use find::Models;
pub use layout_op::{IteratorType, LayoutOp, Loops, register_model};

use crate::pass::diagnostic::Diagnostic;
use crate::pass::upstream;
use find::Kind;
use layout_dialect::{COST, MODEL};
use layout_ir::{self as ir, Builder, Op, Shaped, Val};
use melior::ir::attribute::{StringAttribute, TypeAttribute};
use melior::ir::operation::{OperationBuilder, OperationLike, OperationMutLike};
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, Block, BlockLike, BlockRef, Operation, Region, RegionLike, Type, ValueLike};
use std::sync::Arc;

/// The name of the operation whose function, while it is a call, an operation is or is in.
pub(crate) fn model_of<'c>(op: Op<'c>) -> Option<&'c str> {
    std::iter::successors(Some(op), |op| ir::parent(*op)).find_map(|op| ir::attribute(op, MODEL).and_then(ir::text))
}

/// What is known of an operation.
pub(crate) struct Model<'c> {
    /// The operation.
    pub op: Op<'c>,
    source: Source<'c>,
    /// The operations in whose models it is, from the outermost one.
    around: Vec<Kind<'c>>,
}

/// Who knows it.
enum Source<'c> {
    Methods(Arc<dyn LayoutOp>),
    Function(Op<'c>),
}

/// The types of the arguments and results of a function with a body.
fn function_types<'c>(function: Op<'c>) -> Option<[Vec<Type<'c>>; 2]> {
    ir::blocks(function).first()?;
    ir::function(ir::type_in(ir::attribute(function, "function_type")?)?).map(|(inputs, results)| [inputs, results])
}

/// A type without its layout.
fn bare(t: Type) -> Type {
    ir::tensor(t).map_or(t, |tensor| ir::tensor_type(&Shaped { layout: None, ..tensor }))
}

/// The types with which an operation is called, each with whether it takes no other layout.
pub(crate) struct Signature<'c> {
    operands: Vec<(Type<'c>, bool)>,
    results: Vec<(Type<'c>, bool)>,
}

impl<'c> Model<'c> {
    /// The cost that the operation gives itself.
    fn cost(&self) -> Option<i64> {
        match &self.source {
            Source::Methods(model) => model.cost(self.op),
            Source::Function(function) => ir::attribute(*function, COST).and_then(ir::integer),
        }
    }

    fn signature(&self, purpose: Purpose) -> Result<Signature<'c>, Diagnostic<'c>> {
        let operands = ir::operands(self.op);
        let taken = |first: usize, values: Vec<Val<'c>>| {
            let taken = |(k, v): (usize, &Val<'c>)| match purpose {
                Purpose::Values => Ok((v.r#type(), false)),
                Purpose::Layouts | Purpose::Costs => self.taken(first + k, v.r#type()),
            };
            values.iter().enumerate().map(taken).collect::<Result<_, _>>()
        };
        let results = taken(operands.len(), ir::results(self.op))?;
        Ok(Signature { operands: taken(0, operands)?, results })
    }

    /// The type in which the operation takes a value, numbered with the operands and then the results.
    fn taken(&self, number: usize, t: Type<'c>) -> Result<(Type<'c>, bool), Diagnostic<'c>> {
        let Some(tensor) = ir::tensor(t) else { return Ok((t, false)) };
        let layouts = match &self.source {
            Source::Methods(model) => model.layouts(self.op, number),
            Source::Function(function) => {
                let [inputs, results] = function_types(*function).unwrap_or_default();
                inputs.into_iter().chain(results).nth(number).and_then(|t| ir::tensor(t)?.layout).into_iter().collect()
            }
        };
        let own = layouts.iter().find(|layout| Some(**layout) == tensor.layout);
        let Some(layout) = own.or(layouts.first()).copied() else { return Ok((t, false)) };
        let taken = ir::checked_tensor_type(ir::location(self.op), &Shaped { layout: Some(layout), ..tensor });
        taken
            .map(|taken| (taken, true))
            .ok_or_else(|| self.wrong(format!("has a model with the layout {layout} for {t}")))
    }

    /// A function that computes what the operation does. `place` puts it, still empty, where it is to be.
    ///
    /// # Errors
    /// A model that is wrong; MLIR may have reported why.
    pub fn function(
        &self,
        name: &str,
        purpose: Purpose,
        place: &dyn Fn(Operation<'c>) -> Op<'c>,
    ) -> Result<(Op<'c>, Signature<'c>), Vec<Diagnostic<'c>>> {
        upstream::load_dialects_of_models(self.op);
        let cost = self.cost();
        if let Some(cost) = cost.filter(|cost| *cost < 0) {
            return Err(vec![self.wrong(format!("has the cost {cost}, expected 0 or more"))]);
        }
        let is_static = |v: &Val<'c>| ir::tensor(v.r#type()).is_some_and(|tensor| tensor.sizes().is_some());
        let is_stub = purpose == Purpose::Costs && cost.is_some() && ir::results(self.op).iter().all(is_static);
        let signature = self.signature(purpose).map_err(|error| vec![error])?;
        if let Source::Function(model) = self.source
            && let found @ 2.. = ir::blocks(model).len()
        {
            return Err(vec![self.wrong(format!("has a model of {found} blocks, expected one block"))]);
        }
        let model = if let Source::Function(model) = self.source { Some(model).filter(|_| !is_stub) } else { None };
        let function = place(self.declaration(name, &signature, model));
        let block = ir::blocks(function)[0];
        let values = match &self.source {
            _ if is_stub => {
                let (b, results) = (self.at_end(block), ir::results(self.op));
                results.iter().map(|result| b.value("tensor.empty", &[], result.r#type(), &[])).collect()
            }
            Source::Methods(model) => self.expanded(&**model, block).map_err(|message| vec![self.wrong(message)])?,
            Source::Function(_) => readdressed(function, &signature.operands),
        };
        self.finish(function, &signature, values)?;
        Ok((function, signature))
    }

    /// A private function of a signature: a copy of another one, or one with an empty block.
    fn declaration(&self, name: &str, signature: &Signature<'c>, copied: Option<Op<'c>>) -> Operation<'c> {
        let (b, location) = (Builder::before(self.op), ir::location(self.op));
        let types = |all: &[(Type<'c>, bool)]| all.iter().map(|(t, _)| *t).collect::<Vec<_>>();
        let [inputs, results] = [types(&signature.operands), types(&signature.results)];
        let text = |text: &str| -> Attribute<'c> { StringAttribute::new(b.context(), text).into() };
        let mut function = copied.map_or_else(
            || {
                let region = Region::new();
                region.append_block(Block::new(&inputs.iter().map(|t| (*t, location)).collect::<Vec<_>>()));
                let builder = OperationBuilder::new("func.func", location).add_regions([region]);
                builder.build().expect("a function can be built")
            },
            |copied| (*copied).clone(),
        );
        let r#type = FunctionType::new(b.context(), &inputs, &results);
        function.set_attribute("function_type", TypeAttribute::new(r#type.into()).into());
        for (attribute, value) in [("sym_name", name), ("sym_visibility", "private"), (MODEL, ir::name(self.op))] {
            function.set_attribute(attribute, text(value));
        }
        function
    }

    /// Appends what the operation computes to a block, whose arguments are the operands.
    fn expanded(&self, model: &dyn LayoutOp, block: BlockRef<'c, 'c>) -> Result<Vec<Val<'c>>, String> {
        let values = upstream::kept(model.expand(self.op, &block)?);
        if !values.is_empty() || ir::results(self.op).is_empty() {
            return Ok(values);
        }
        generic::generic(model, self.op, self.at_end(block), &ir::arguments(block))
    }

    /// A builder before the return of a block, which may still have to be made.
    fn at_end(&self, block: BlockRef<'c, 'c>) -> Builder<'c> {
        if ir::operations(block).last().is_none_or(|end| ir::name(*end) != "func.return") {
            let end = OperationBuilder::new("func.return", ir::location(self.op)).build();
            block.append_operation(end.expect("a return can be built"));
        }
        Builder::before(ir::operations(block).pop().expect("the block ends with a return"))
    }

    /// Lets a function return these values, which may have other layouts than its results.
    fn finish(
        &self,
        function: Op<'c>,
        signature: &Signature<'c>,
        values: Vec<Val<'c>>,
    ) -> Result<(), Vec<Diagnostic<'c>>> {
        let wrong = |message: String| Err(vec![self.wrong(format!("has a model {message}"))]);
        let [found, expected] = [values.len(), signature.results.len()];
        if found != expected {
            return wrong(format!("of {found} results, expected {expected}"));
        }
        let block = ir::blocks(function)[0];
        let b = self.at_end(block);
        for (number, (value, (t, _))) in values.iter().zip(&signature.results).enumerate() {
            if bare(value.r#type()) != bare(*t) {
                return wrong(format!("whose result {number} is {}, expected {t}", value.r#type()));
            }
        }
        let results = values.into_iter().zip(&signature.results);
        let results: Vec<_> = results.map(|(v, (t, keep))| convert(b, v, *t, *keep)).collect();
        ir::set_operands(b.before, &results);
        ir::set_location(function, ir::location(self.op));
        if function.verify() { Ok(()) } else { wrong("that is no valid function".to_owned()) }
    }

    /// The error that the model is wrong.
    fn wrong(&self, message: String) -> Diagnostic<'c> {
        Diagnostic::error(ir::location(self.op), format!("'{}' op {message}", ir::name(self.op)))
    }
}

/// A value in another type; with `keep` in a conversion that stays.
fn convert<'c>(b: Builder<'c>, v: Val<'c>, t: Type<'c>, keep: bool) -> Val<'c> {
    if v.r#type() == t && !keep {
        return v;
    }
    let attributes = if keep { vec![b.named("keep", Attribute::unit(b.context()))] } else { Vec::new() };
    b.value("layout.convert", &[v], t, &attributes)
}

/// Gives the arguments of a function other layouts; its operations read them as they were. Returns what it returns.
fn readdressed<'c>(function: Op<'c>, types: &[(Type<'c>, bool)]) -> Vec<Val<'c>> {
    let block = ir::blocks(function)[0];
    let all = ir::operations(block);
    for (argument, (t, _)) in ir::arguments(block).into_iter().zip(types) {
        let (uses, own) = (ir::uses(argument), argument.r#type());
        ir::set_type(argument, *t);
        let as_it_was = convert(Builder::before(all[0]), argument, own, false);
        uses.into_iter().for_each(|(user, number)| ir::edit(user).set_operand(number, as_it_was));
    }
    ir::operands(all[all.len() - 1])
}
