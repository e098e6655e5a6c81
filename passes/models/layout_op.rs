//! Models in Rust, registered for a name.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::upstream;
use layout_ir::{self as ir, Op, Val};
use melior::ir::{AffineMap, Attribute, Block, BlockRef, OperationRef, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The type of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IteratorType {
    /// Its iterations are independent.
    Parallel,
    /// Its iterations combine elements.
    Reduction,
}

/// The loops of an operation.
#[derive(Clone, Debug)]
pub struct Loops<'c> {
    /// The type of each loop.
    pub iterators: Vec<IteratorType>,
    /// For each operand, and then for each result, the map from the loops to the index of an element.
    pub maps: Vec<AffineMap<'c>>,
    /// The first value of the elements of each result, where a loop is a reduction; zero for those that are left out.
    pub initial_values: Vec<Attribute<'c>>,
}

/// What an operation on tensors computes: `LayoutOpInterface` in Rust, for operations of any name, registered or not.
///
/// It gives its loops and their body, or it gives `expand`. Errors are reported at the operation.
pub trait LayoutOp: Send + Sync {
    /// The loops.
    ///
    /// # Errors
    /// The operation is not one that the model knows.
    fn loops<'c>(&self, _op: OperationRef<'c, '_>) -> Result<Loops<'c>, String> {
        Err("has a model with neither loops nor an expansion".to_owned())
    }

    /// Appends the scalar computation to a block, whose arguments are one element of each operand and then the former one of
    /// each result; returns the elements of the results.
    ///
    /// # Errors
    /// The operation is not one that the model knows.
    fn body<'c, 'b>(&self, _op: OperationRef<'c, '_>, _block: &'b Block<'c>) -> Result<Vec<Value<'c, 'b>>, String> {
        Err("has a model without a body".to_owned())
    }

    /// Appends operations that compute the results to a block, whose arguments are the operands; `None` where the loops say
    /// it.
    ///
    /// # Errors
    /// The operation is not one that the model knows.
    fn expand<'c, 'b>(
        &self,
        _op: OperationRef<'c, '_>,
        _block: &'b Block<'c>,
    ) -> Result<Option<Vec<Value<'c, 'b>>>, String> {
        Ok(None)
    }

    /// The layouts that a value takes, the best one first; none are all. Values are the operands and then the results.
    fn layouts<'c>(&self, _op: OperationRef<'c, '_>, _value: usize) -> Vec<Attribute<'c>> {
        Vec::new()
    }

    /// The cost in the unit of the machine, in any layouts that the operation takes; without it, plans count its loops.
    fn cost(&self, _op: OperationRef) -> Option<i64> {
        None
    }
}

static MODELS: RwLock<BTreeMap<String, Arc<dyn LayoutOp>>> = RwLock::new(BTreeMap::new());

/// Makes a model known for the operations of a name, such as `mini.product`, in this process. A later one replaces it.
pub fn register_model(name: &str, model: impl LayoutOp + 'static) {
    MODELS.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::new(model));
}

/// The model of a name.
pub fn registered(name: &str) -> Option<Arc<dyn LayoutOp>> {
    MODELS.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
}

/// Appends what an operation computes to a block.
///
/// # Errors
/// The model is wrong.
pub fn expand<'c>(
    model: &dyn LayoutOp,
    op: Op<'c>,
    block: BlockRef<'c, 'c>,
) -> Result<Vec<Val<'c>>, Vec<Diagnostic<'c>>> {
    let wrong = |message| vec![Diagnostic::error(ir::location(op), format!("'{}' op {message}", ir::name(op)))];
    if let Some(values) = upstream::in_block(block, |block| model.expand(op, block)).map_err(wrong)? {
        return Ok(values);
    }
    let loops = model.loops(op).map_err(wrong)?;
    let reductions: Vec<bool> = loops.iterators.iter().map(|of| *of == IteratorType::Reduction).collect();
    let mut error = None;
    let mut body = |inner: BlockRef<'c, 'c>| {
        let built = upstream::in_block(inner, |inner| model.body(op, inner).map(Some));
        built.map_err(|message| error = Some(message)).ok().flatten()
    };
    let made = upstream::expand_loops(op, block, (&reductions, &loops.maps, &loops.initial_values), &mut body);
    made.ok_or_else(|| error.map_or_else(Vec::new, wrong))
}
