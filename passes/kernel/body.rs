//! The computation of a kernel for each element: the body of a structured operation with the bodies fused into it.
//!
//! For `exp(a + b)` in two operations, the exponential's body has one argument, [`Argument::Fused`] with the sum's
//! body. This has two, [`Argument::Element`] of the first and second operand of the kernel's nest.

use crate::buffers::operations::{LANEWISE, LIBRARY_CALL, WIDENS, is, is_approximable};
use crate::kernel::combiner::Combiner;
use crate::pass::options::LowerMemrefsOptions;
use crate::pass::upstream::FastMath;
use layout_ir::{self as ir, Op, Val};
use melior::ir::{BlockRef, TypeLike, ValueLike};
use std::rc::Rc;

/// The computation for each element: the body of a structured operation with the bodies fused into it.
pub struct Body<'c> {
    /// The arguments of the body, each with its source.
    pub arguments: Vec<(Val<'c>, Argument<'c>)>,
    /// The body; `None` copies its one argument.
    pub block: Option<BlockRef<'c, 'c>>,
    /// The initial value of a reduction.
    pub initial: Option<Argument<'c>>,
    /// The body that transforms a reduction's results before they are stored.
    pub epilogue: Option<Rc<Body<'c>>>,
    /// The number of operands, from the first, that are read in each step of a reduction.
    pub reduction_inputs: usize,
}

/// The source of a body's argument.
#[derive(Clone)]
pub enum Argument<'c> {
    /// The element of an operand of the nest.
    Element(usize),
    /// The same value everywhere.
    Value(Val<'c>),
    /// The accumulated value of a reduction.
    Accumulator,
    /// The value that another body yields.
    Fused(Rc<Body<'c>>),
}

/// The widest vectors, in bits, for which LLVM knows functions of the C library's vector maths.
const LIBRARY_BITS: u32 = 256;

impl<'c> Body<'c> {
    /// A body that yields one value for each element.
    pub fn simple(arguments: Vec<(Val<'c>, Argument<'c>)>, block: Option<BlockRef<'c, 'c>>) -> Self {
        Body { arguments, block, initial: None, epilogue: None, reduction_inputs: 0 }
    }

    /// This body and all bodies inside it, itself first.
    fn all(&self) -> Vec<&Body<'c>> {
        let made = self.arguments.iter().filter_map(|(_, from)| match from {
            Argument::Fused(body) => Some(body.all()),
            _ => None,
        });
        [self]
            .into_iter()
            .chain(made.flatten())
            .chain(self.epilogue.iter().flat_map(|epilogue| epilogue.all()))
            .collect()
    }

    fn operations(&self) -> Vec<Op<'c>> {
        self.all().into_iter().filter_map(|body| body.block).flat_map(ir::operations).collect()
    }

    /// Whether the body uses indices.
    pub fn has_index(&self) -> bool {
        self.operations().into_iter().any(|op| ir::name(op) == "linalg.index")
    }

    /// The bits of the widest computed value; 8 if there is none.
    pub fn widest(&self) -> Result<i64, String> {
        let mut widest = 8;
        for op in self.operations() {
            match ir::name(op) {
                "linalg.yield" => continue,
                "linalg.index" => {
                    widest = 64;
                    continue;
                }
                name if is(name, LANEWISE) && ir::results(op).len() == 1 => {}
                name => return Err(format!("'{name}' has no vector form that cannot trap")),
            }
            let t = ir::result(op, 0).r#type();
            match ir::bits(t) {
                Some(n @ (1 | 8 | 16 | 32 | 64)) => widest = widest.max(n),
                None if t.is_index() => widest = 64,
                _ => return Err(format!("values must have 1, 8, 16, 32 or 64 bits, found {t}")),
            }
        }
        Ok(widest)
    }

    /// Inputs that are only used through an operation that widens them.
    pub fn widenings(&self) -> Vec<(usize, Op<'c>)> {
        let arguments: Vec<&(Val<'c>, Argument<'c>)> =
            self.all().into_iter().flat_map(|body| &body.arguments).collect();
        let operand = |from: &Argument| if let Argument::Element(operand) = from { Some(*operand) } else { None };
        let once = |operand: usize| arguments.iter().filter(|a| self::Body::is(&a.1, operand)).count() == 1;
        let widening = |(argument, from): &&(Val<'c>, Argument<'c>)| {
            let operand = operand(from).filter(|operand| once(*operand))?;
            let [(op, _)] = ir::uses(*argument)[..] else { return None };
            let widens = is(ir::name(op), WIDENS) && ir::bits(argument.r#type()) != Some(1);
            widens.then_some((operand, op))
        };
        arguments.iter().filter_map(widening).collect()
    }

    /// Whether results are unchanged elements of operands.
    pub fn only_moves(&self) -> bool {
        let is_argument = |v: &Val<'c>| self.arguments.iter().any(|(argument, _)| argument == v);
        let hands_on = |block| matches!(ir::operations(block)[..], [end] if ir::operands(end).iter().all(is_argument));
        let elements = self.arguments.iter().all(|(_, from)| matches!(from, Argument::Element(_)));
        elements && self.initial.is_none() && self.block.is_none_or(hands_on)
    }

    pub fn is(from: &Argument, operand: usize) -> bool {
        matches!(from, Argument::Element(o) if *o == operand)
    }

    /// The widest vector to compute with, in bits.
    pub fn most_bits(&self, target: &LowerMemrefsOptions) -> u32 {
        let approximated = |op| is_approximable(op) && FastMath::of(op).has(FastMath::APPROXIMATE);
        let calls = self.operations().into_iter().any(|op| is(ir::name(op), LIBRARY_CALL) && !approximated(op));
        if calls { target.vector_bits().min(LIBRARY_BITS) } else { target.vector_bits() }
    }

    /// The operation that combines results in any order, if there is one.
    pub fn combiner(&self) -> Option<Combiner<'c>> {
        Combiner::of(self.block?)
    }

    /// Whether results may be combined in any order.
    pub fn reorders(&self, target: &LowerMemrefsOptions) -> bool {
        self.combiner().is_some_and(|combiner| combiner.reorders(target))
    }
}
