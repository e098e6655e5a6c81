//! The loops of an operation as a `linalg.generic`.

use super::layout_op::{IteratorType, LayoutOp, Loops};
use crate::pass::upstream;
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::{AffineMap, Attribute, Type, TypeLike, ValueLike};
use tensor_layout::expr::Expr;

/// Builds the `linalg.generic` of an operation's loops for these operands; returns its results.
///
/// # Errors
/// Loops or a body that are none of the operation, as far as MLIR's verifier does not find it.
pub fn generic<'c>(
    model: &dyn LayoutOp,
    op: Op<'c>,
    b: Builder<'c>,
    operands: &[Val<'c>],
) -> Result<Vec<Val<'c>>, String> {
    let loops = model.loops(op)?;
    let results = ir::results(op);
    let indices = indices(&loops, &[operands, &results].concat())?;
    let starts = results.iter().enumerate().map(|(k, result)| start(b, &loops, &indices, operands, (k, *result)));
    let starts = starts.collect::<Result<Vec<_>, _>>()?;
    let iterator = |of: &IteratorType| {
        let name = if *of == IteratorType::Reduction { "reduction" } else { "parallel" };
        Attribute::parse(b.context(), &format!("#linalg.iterator_type<{name}>")).expect("an attribute of linalg")
    };
    let list = |all: Vec<Attribute<'c>>| ArrayAttribute::new(b.context(), &all);
    let attributes = [
        b.named("indexing_maps", list(loops.maps.iter().map(|map| ir::affine_map_attribute(*map)).collect())),
        b.named("iterator_types", list(loops.iterators.iter().map(iterator).collect())),
        b.segments(&[operands.len() as i32, starts.len() as i32]),
    ];
    let all = [operands, &starts].concat();
    let elements: Vec<Type> = all.iter().map(|v| ir::tensor(v.r#type()).map_or(v.r#type(), |t| t.element)).collect();
    let types: Vec<Type> = results.iter().map(|v| v.r#type()).collect();
    let (generic, end) = b.with_body("linalg.generic", &all, &types, &attributes, &elements, "linalg.yield");
    let body = ir::blocks(generic)[0];
    let values = upstream::kept(model.body(op, &body)?);
    if values.len() != results.len() {
        return Err(format!("has a body of {} values, expected {}", values.len(), results.len()));
    }
    // They were appended after it.
    ir::operations(body).into_iter().filter(|op| *op != end).for_each(|op| ir::move_before(op, end));
    ir::set_operands(end, &values);
    Ok(ir::results(generic))
}

/// The index that each map gives an element, as expressions of the loops.
fn indices<'c>(loops: &Loops<'c>, values: &[Val<'c>]) -> Result<Vec<Vec<Expr>>, String> {
    if loops.maps.len() != values.len() {
        return Err(format!(
            "has {} indexing maps, expected {}, one for each operand and result",
            loops.maps.len(),
            values.len()
        ));
    }
    let index = |(map, v): (&AffineMap<'c>, &Val<'c>)| {
        let rank = ir::tensor(v.r#type()).map_or(0, |tensor| tensor.shape.len());
        let fits = map.dim_count() == loops.iterators.len() && map.symbol_count() == 0 && map.result_count() == rank;
        let known = affine::exprs_of_map(*map).filter(|_| fits);
        known.ok_or_else(|| {
            let (t, count) = (v.r#type(), loops.iterators.len());
            format!("has the indexing map {map} for {t}, expected one from {count} loops to {rank} dimensions")
        })
    };
    loops.maps.iter().zip(values).map(index).collect()
}

/// The tensor that the loops of a result start from.
fn start<'c>(
    b: Builder<'c>,
    loops: &Loops<'c>,
    indices: &[Vec<Expr>],
    operands: &[Val<'c>],
    (number, result): (usize, Val<'c>),
) -> Result<Val<'c>, String> {
    let t = result.r#type();
    let tensor = ir::tensor(t).ok_or_else(|| format!("makes {t}, expected a tensor of known rank"))?;
    let mut sizes = Vec::new();
    for (dim, _) in tensor.shape.iter().enumerate().filter(|(_, size)| size.is_none()) {
        let own = &indices[operands.len() + number][dim];
        let place = |(v, index): (&Val<'c>, &Vec<Expr>)| Some((*v, index.iter().position(|e| e == own)?));
        let (operand, of) = operands
            .iter()
            .zip(indices)
            .find_map(place)
            .ok_or_else(|| format!("has no operand that gives the size of dimension {dim} of result {number}"))?;
        sizes.push(b.value("tensor.dim", &[operand, b.index(of as i64)], Type::index(b.context()), &[]));
    }
    let empty = b.value("tensor.empty", &sizes, t, &[]);
    if !loops.iterators.contains(&IteratorType::Reduction) {
        return Ok(empty);
    }
    let zero = || {
        let element = tensor.element;
        let digits = if element.is_float() { "0.0" } else { "0" };
        let is_number = element.is_float() || element.is_integer() || element.is_index();
        is_number.then(|| Attribute::parse(b.context(), &format!("{digits} : {element}"))).flatten()
    };
    let initial = loops.initial_values.get(number).copied().flatten().or_else(zero);
    let initial = initial.map(|value| b.constant(value)).filter(|value| value.r#type() == tensor.element);
    let value =
        initial.ok_or_else(|| format!("has no initial value of type {} for result {number}", tensor.element))?;
    Ok(ir::result(b.named_structured("linalg.fill", &[value, empty], &[1, 1], t), 0))
}
