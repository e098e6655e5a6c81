//! The parts of a foreign operation, checked: inputs, outputs, attributes, and the region.

use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Op, Shaped, Val};
use melior::ir::{Type, TypeLike, ValueLike};

/// The values that replace the results of an operation.
pub type Expanded<'c> = Result<Vec<Val<'c>>, Diagnostic<'c>>;

/// An operation with inputs and outputs, whose results have the types of the outputs.
pub struct Foreign<'c> {
    pub op: Op<'c>,
    pub ins: Vec<Operand<'c>>,
    pub outs: Vec<Operand<'c>>,
}

/// An operand: a scalar, or a tensor without a layout.
#[derive(Clone)]
pub struct Operand<'c> {
    pub value: Val<'c>,
    /// The sizes; none for a scalar.
    pub shape: Vec<Option<i64>>,
    /// The type of an element, or of the scalar.
    pub element: Type<'c>,
    pub is_tensor: bool,
}

impl<'c> Operand<'c> {
    pub fn text(&self) -> String {
        self.value.r#type().to_string()
    }

    /// Whether the elements are integers that `arith` computes with.
    pub fn has_integers(&self) -> bool {
        self.element.is_integer() && self.element.to_string().starts_with('i')
    }

    /// Whether the elements can be indices.
    pub fn has_indices(&self) -> bool {
        self.has_integers() || self.element.is_index()
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The tensor type of other sizes, with the same elements.
    pub fn resized(&self, shape: Vec<Option<i64>>) -> Type<'c> {
        ir::tensor_type(&Shaped { shape, element: self.element, layout: None, space: None })
    }
}

impl<'c> Foreign<'c> {
    /// Takes an operation apart.
    ///
    /// # Errors
    /// Missing groups of operands, memrefs, layouts, and results that are no outputs.
    pub fn of(op: Op<'c>) -> Result<Foreign<'c>, Diagnostic<'c>> {
        let mut foreign = Foreign { op, ins: Vec::new(), outs: Vec::new() };
        let operands = ir::operands(op);
        let groups = ir::integers(op, "operandSegmentSizes");
        let sum: i128 = groups.iter().map(|n| i128::from(*n)).sum();
        let fits = groups.iter().all(|n| *n >= 0) && sum == operands.len() as i128;
        if groups.len() != 2 || !fits {
            let count = operands.len();
            return Err(foreign.refused(format!(
                "expected operandSegmentSizes of inputs and outputs, {count} in all, found {groups:?}"
            )));
        }
        let mut all = operands.into_iter().map(|v| foreign.operand(v)).collect::<Result<Vec<_>, _>>()?;
        foreign.outs = all.split_off(groups[0] as usize);
        foreign.ins = all;
        let outputs: Vec<Type> = foreign.outs.iter().map(|out| out.value.r#type()).collect();
        let results: Vec<Type> = ir::results(op).iter().map(|v| v.r#type()).collect();
        if outputs != results {
            return Err(foreign.refused(format!(
                "expected results of the types of the outputs, ({}), found ({})",
                joined(&outputs),
                joined(&results)
            )));
        }
        if foreign.outs.iter().any(|out| !out.is_tensor) {
            return Err(foreign.refused("expected tensors as outputs, found a scalar"));
        }
        Ok(foreign)
    }

    fn operand(&self, value: Val<'c>) -> Result<Operand<'c>, Diagnostic<'c>> {
        let ty = value.r#type();
        match ir::tensor(ty) {
            Some(Shaped { shape, element, layout: None, .. }) => Ok(Operand { value, shape, element, is_tensor: true }),
            Some(_) => Err(self.refused(format!("expected tensors without layouts, found {ty}"))),
            None if ty.to_string().contains('<') => {
                Err(self.refused(format!("expected tensors of known rank, or scalars, found {ty}")))
            }
            None => Ok(Operand { value, shape: Vec::new(), element: ty, is_tensor: false }),
        }
    }

    /// The name without that of the dialect.
    pub fn name(&self) -> &'c str {
        ir::name(self.op).split_once('.').map_or("", |(_, name)| name)
    }

    /// Whether the operation is torch-mlir's.
    pub fn is_torch(&self) -> bool {
        ir::name(self.op).starts_with("tm_tensor.")
    }

    /// The error that the operation cannot be lowered.
    pub fn refused(&self, reason: impl AsRef<str>) -> Diagnostic<'c> {
        let message = format!("'{}' op cannot be lowered: {}", ir::name(self.op), reason.as_ref());
        Diagnostic::error(ir::location(self.op), message)
    }

    /// An error unless the condition holds.
    pub fn require(&self, holds: bool, reason: impl AsRef<str>) -> Result<(), Diagnostic<'c>> {
        if holds { Ok(()) } else { Err(self.refused(reason)) }
    }

    /// Checks the numbers of inputs and outputs.
    pub fn check_counts(&self, ins: &[usize], outs: &[usize]) -> Result<(), Diagnostic<'c>> {
        let list = |all: &[usize]| all.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
        for (kind, found, wanted) in [("inputs", self.ins.len(), ins), ("outputs", self.outs.len(), outs)] {
            self.require(wanted.contains(&found), format!("expected {} {kind}, found {found}", list(wanted)))?;
        }
        Ok(())
    }

    /// Checks that two operands have the same sizes, as far as they are known.
    pub fn check_same(&self, a: (&str, &[Option<i64>]), b: (&str, &[Option<i64>])) -> Result<(), Diagnostic<'c>> {
        let agree = a.1.len() == b.1.len() && a.1.iter().zip(b.1).all(|(x, y)| x == y || x.is_none() || y.is_none());
        self.require(
            agree,
            format!("expected {} of the sizes of {}, {}, found {}", a.0, b.0, sizes_text(b.1), sizes_text(a.1)),
        )
    }

    /// An attribute that is a dimension of a tensor of some rank.
    pub fn dimension(&self, rank: usize) -> Result<usize, Diagnostic<'c>> {
        let found = ir::attribute(self.op, "dimension").and_then(ir::integer);
        let valid = found.and_then(|n| usize::try_from(n).ok()).filter(|n| *n < rank);
        let text = found.map_or("none".into(), |n| n.to_string());
        valid.ok_or_else(|| self.refused(format!("expected a `dimension` below the rank, {rank}, found {text}")))
    }

    /// The dimensions that the elements of an index are for.
    pub fn dimension_map(&self, rank: usize) -> Result<Vec<usize>, Diagnostic<'c>> {
        let found = ir::integers(self.op, "dimension_map");
        let dims: Vec<usize> = found.iter().filter_map(|n| usize::try_from(*n).ok()).filter(|n| *n < rank).collect();
        if dims.is_empty() || dims.len() != found.len() || !are_distinct(&dims) {
            return Err(self.refused(format!(
                "expected a `dimension_map` of distinct dimensions below the rank, {rank}, found {found:?}"
            )));
        }
        Ok(dims)
    }

    /// Checks that the operation has one region of one block, with arguments and results of these types.
    pub fn check_region(&self, arguments: &[Type], results: &[Type]) -> Result<(), Diagnostic<'c>> {
        let blocks = ir::blocks(self.op);
        let [block] = blocks[..] else {
            return Err(self.refused(format!("expected a region of one block, found {}", blocks.len())));
        };
        let types = |values: Vec<Val<'c>>| values.iter().map(|v| v.r#type()).collect::<Vec<_>>();
        let found = types(ir::arguments(block));
        let wrong = |what: &str, wanted: &[Type], found: &[Type]| {
            self.refused(format!("expected a region with {what} ({}), found ({})", joined(wanted), joined(found)))
        };
        if found != arguments {
            return Err(wrong("arguments", arguments, &found));
        }
        let end = ir::operations(block).pop().filter(|end| ir::name(*end).ends_with(".yield"));
        let end = end.ok_or_else(|| self.refused("expected a region that ends with a yield"))?;
        let found = types(ir::operands(end));
        if found == results { Ok(()) } else { Err(wrong("results", results, &found)) }
    }
}

/// Whether no dimension is there twice.
pub fn are_distinct(dims: &[usize]) -> bool {
    (0..dims.len()).all(|k| !dims[..k].contains(&dims[k]))
}

fn joined(types: &[Type]) -> String {
    types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")
}

fn sizes_text(sizes: &[Option<i64>]) -> String {
    let texts: Vec<String> = sizes.iter().map(|n| n.map_or("?".into(), |n| n.to_string())).collect();
    format!("[{}]", texts.join(", "))
}
