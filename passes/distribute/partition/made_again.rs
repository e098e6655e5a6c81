//! Tensors that are free to recompute in another sharding: empty ones, fills, and splat constants.

use super::sharded::{Sharded, is_tensor};
use layout_ir::{self as ir, Builder, Val};
use melior::ir::Attribute;
use melior::ir::attribute::AttributeLike;

/// A cheap definition of a tensor.
#[derive(Clone, Copy)]
pub enum MadeAgain<'c> {
    /// Undefined elements.
    Empty,
    /// This value for each element.
    Filled(Val<'c>),
    /// A splat constant.
    Alike(Attribute<'c>),
}

impl<'c> MadeAgain<'c> {
    /// The cheap definition of a value; `None` if its computation has a cost.
    pub fn of(v: Val<'c>) -> Option<MadeAgain<'c>> {
        let op = ir::defining_op(v)?;
        match ir::name(op) {
            "tensor.empty" => ir::operands(op).is_empty().then_some(MadeAgain::Empty),
            "tensor.splat" => Some(MadeAgain::Filled(ir::operands(op)[0])),
            "linalg.fill" => Some(MadeAgain::Filled(ir::operands(op)[0])).filter(|_| !is_tensor(ir::operands(op)[0])),
            "arith.constant" => {
                let value = ir::attribute(op, "value")?;
                ir::constant(value).filter(|constant| constant.splat).map(|_| MadeAgain::Alike(value))
            }
            _ => None,
        }
    }

    /// Emits the tensor in another sharding; `None` if its sizes are known only at run time.
    pub fn make(self, b: Builder<'c>, to: &Sharded<'c>) -> Option<Val<'c>> {
        let t = to.r#type()?;
        let empty = || b.value("tensor.empty", &[], t, &[]);
        Some(match self {
            MadeAgain::Empty => empty(),
            MadeAgain::Filled(value) => ir::result(b.named_structured("linalg.fill", &[value, empty()], &[1, 1], t), 0),
            MadeAgain::Alike(value) => b.constant(ir::constant(value)?.resplat(t)?),
        })
    }

    /// The value of all elements, if it is a constant.
    pub fn element(self) -> Option<Attribute<'c>> {
        match self {
            MadeAgain::Empty => None,
            MadeAgain::Filled(value) => {
                let op = ir::defining_op(value).filter(|op| ir::name(*op) == "arith.constant")?;
                ir::attribute(op, "value")
            }
            MadeAgain::Alike(value) => ir::constant(value)?.splat_element(),
        }
    }
}

/// Whether an attribute is a floating-point or integer zero.
pub fn is_zero(attribute: Attribute) -> bool {
    match melior::ir::attribute::FloatAttribute::try_from(attribute) {
        Ok(float) => float.value() == 0.0,
        Err(_) => attribute.is_integer() && ir::integer(attribute) == Some(0),
    }
}
