//! Tensors that cost nothing to make in another way: empty ones, filled ones, and constants whose elements are all alike.

use super::sharded::{Sharded, is_tensor};
use layout_ir::{self as ir, Builder, Val};
use melior::ir::Attribute;
use melior::ir::attribute::AttributeLike;

/// How a tensor is made.
#[derive(Clone, Copy)]
pub enum MadeAgain<'c> {
    /// With any elements.
    Empty,
    /// With this value for each element.
    Filled(Val<'c>),
    /// As this constant, whose elements are all alike.
    Alike(Attribute<'c>),
}

impl<'c> MadeAgain<'c> {
    /// How a value is made; none where it costs something.
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

    /// The tensor, spread in some way; none where its sizes are known only at run time.
    pub fn make(self, b: Builder<'c>, to: &Sharded<'c>) -> Option<Val<'c>> {
        let t = to.r#type()?;
        let empty = || b.value("tensor.empty", &[], t, &[]);
        Some(match self {
            MadeAgain::Empty => empty(),
            MadeAgain::Filled(value) => ir::result(b.named_structured("linalg.fill", &[value, empty()], &[1, 1], t), 0),
            MadeAgain::Alike(value) => b.constant(ir::constant(value)?.resplat(t)?),
        })
    }

    /// The one value of all elements, as far as it is a constant.
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
