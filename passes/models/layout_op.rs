//! The interface of models, and those that are registered for a name.

use crate::pass::upstream;
use melior::ir::operation::OperationLike;
use melior::ir::{AffineMap, Attribute, Block, OperationRef, Value};
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
    pub initial_values: Vec<Option<Attribute<'c>>>,
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

    /// Appends operations that compute the results to a block, whose arguments are the operands; without results the loops
    /// are taken.
    ///
    /// # Errors
    /// The operation is not one that the model knows.
    fn expand<'c, 'b>(&self, _op: OperationRef<'c, '_>, _block: &'b Block<'c>) -> Result<Vec<Value<'c, 'b>>, String> {
        Ok(Vec::new())
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

/// `LayoutOpInterface` of C++.
pub struct Interface;

impl LayoutOp for Interface {
    fn loops<'c>(&self, op: OperationRef<'c, '_>) -> Result<Loops<'c>, String> {
        let (reduces, maps) = upstream::model_loops(op);
        let iterator = |reduces| if reduces { IteratorType::Reduction } else { IteratorType::Parallel };
        let initial = (0..op.result_count()).map(|result| upstream::model_initial_value(op, result));
        Ok(Loops { iterators: reduces.into_iter().map(iterator).collect(), maps, initial_values: initial.collect() })
    }

    fn body<'c, 'b>(&self, op: OperationRef<'c, '_>, block: &'b Block<'c>) -> Result<Vec<Value<'c, 'b>>, String> {
        Ok(upstream::model_body(op, block))
    }

    fn expand<'c, 'b>(&self, op: OperationRef<'c, '_>, block: &'b Block<'c>) -> Result<Vec<Value<'c, 'b>>, String> {
        upstream::model_expansion(op, block).ok_or_else(|| "has a model that cannot expand it".to_owned())
    }

    fn layouts<'c>(&self, op: OperationRef<'c, '_>, value: usize) -> Vec<Attribute<'c>> {
        upstream::model_layouts(op, value)
    }

    fn cost(&self, op: OperationRef) -> Option<i64> {
        upstream::model_cost(op)
    }
}
