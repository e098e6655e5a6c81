//! Changes types wherever a module names them: values, function types, globals, constants.

use crate::pass::upstream;
use layout_ir::{self as ir, Op};
use melior::ir::attribute::{AttributeLike, TypeAttribute};
use melior::ir::operation::OperationMutLike;
use melior::ir::{Attribute, Type, ValueLike};
use std::collections::HashMap;

/// Whether a type contains a layout that no pass converts: in a tuple, or in the element of a buffer.
pub fn has_nested_layout(t: Type) -> bool {
    match ir::memref(t).or_else(|| ir::tensor(t)) {
        Some(shaped) => upstream::contains_layout(shaped.element),
        None => ir::function(t).is_none() && upstream::contains_layout(t),
    }
}

/// Changes types by one rule, remembering its results.
pub struct TypeConverter<'c, F> {
    rule: F,
    known: HashMap<Type<'c>, Type<'c>>,
}

impl<'c, F: FnMut(Type<'c>) -> Option<Type<'c>>> TypeConverter<'c, F> {
    /// The rule returns a type to use in place of another, or none to keep it.
    pub fn new(rule: F) -> Self {
        TypeConverter { rule, known: HashMap::new() }
    }

    /// The same with results of the rule from before.
    pub fn with(known: HashMap<Type<'c>, Type<'c>>, rule: F) -> Self {
        TypeConverter { rule, known }
    }

    /// The results of the rule.
    pub fn into_known(self) -> HashMap<Type<'c>, Type<'c>> {
        self.known
    }

    /// Changes a type, or the types in a function type.
    pub fn of(&mut self, t: Type<'c>) -> Type<'c> {
        if let Some(known) = self.known.get(&t) {
            return *known;
        }
        let new = match ir::function(t) {
            Some((inputs, results)) => {
                let inputs: Vec<_> = inputs.into_iter().map(|t| self.of(t)).collect();
                let results: Vec<_> = results.into_iter().map(|t| self.of(t)).collect();
                ir::function_type(t, &inputs, &results)
            }
            None => (self.rule)(t).unwrap_or(t),
        };
        self.known.insert(t, new);
        new
    }

    /// Changes all types in an operation itself: of its results, its blocks' arguments, a function, a global,
    /// and a constant, which keeps its data. Other attributes stay.
    pub fn operation(&mut self, op: Op<'c>) {
        let arguments = ir::blocks(op).into_iter().flat_map(ir::arguments);
        for value in ir::results(op).into_iter().chain(arguments) {
            let (old, new) = (value.r#type(), self.of(value.r#type()));
            if new != old {
                ir::set_type(value, new);
            }
        }
        // None of these operations has operands, and this test is faster than looking for attributes by name.
        if !ir::operands(op).is_empty() {
            return;
        }
        for name in ["function_type", "type", "value"] {
            if let Some(new) = ir::attribute(op, name).and_then(|a| self.attribute(a)) {
                ir::edit(op).set_attribute(name, new);
            }
        }
    }

    fn attribute(&mut self, attribute: Attribute<'c>) -> Option<Attribute<'c>> {
        if let Some(t) = ir::type_in(attribute) {
            let new = self.of(t);
            return (new != t).then(|| TypeAttribute::new(new).into());
        }
        let constant = ir::constant(attribute)?;
        let t = attribute.r#type();
        let new = self.of(t);
        if new == t { None } else { constant.reshaped(new) }
    }
}
