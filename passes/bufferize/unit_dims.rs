//! Reads through reshapes that only add or drop dimensions of size 1.
//!
//! ```text
//! %y = tensor.expand_shape %x [[0], [1, 2]] : tensor<8x128xf32> into tensor<8x128x1xf32>
//! generic {(i, j, k) -> (i, j, k)} ins(%y)        =>      generic {(i, j, k) -> (i, j)} ins(%x)
//! ```
//!
//! A view of a plain buffer is a value of its own, so that kernels on both sides of the reshape could not share rows.

use crate::buffers::views::is_spread;
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::ValueLike;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationMutLike;
use tensor_layout::expr::Expr;

/// Lets the inputs of a `linalg.generic` be the sources of such reshapes, if each loop keeps an operand of its size.
pub fn read_through(op: Op) {
    let maps = ir::indexing_maps(op).unwrap_or_default().into_iter().map(affine::exprs_of_map);
    let Some(mut maps) = maps.collect::<Option<Vec<Vec<Expr>>>>() else { return };
    let loops = ir::elements(op, "iterator_types").len();
    let mut changed = false;
    for k in 0..maps.len().saturating_sub(ir::results(op).len()) {
        let found = std::iter::successors(Some((ir::operands(op)[k], maps[k].clone())), |(v, map)| source(*v, map));
        let Some((v, map)) = found.skip(1).last() else { continue };
        let old = std::mem::replace(&mut maps[k], map);
        if (0..loops).all(|of| maps.iter().any(|map| map.contains(&Expr::Var(of)))) {
            ir::edit(op).set_operand(k, v);
            changed = true;
        } else {
            maps[k] = old;
        }
    }
    if changed {
        let b = Builder::before(op);
        let maps: Vec<_> = maps.iter().map(|map| b.map(loops, map, &|v| v)).collect();
        ir::edit(op).set_attribute("indexing_maps", ArrayAttribute::new(b.context(), &maps).into());
    }
}

/// The source of such a reshape, and its index for that of the result; none of tensors that are spread over places.
fn source<'c>(v: Val<'c>, index: &[Expr]) -> Option<(Val<'c>, Vec<Expr>)> {
    let op = ir::defining_op(v)?;
    let expands = match ir::name(op) {
        "tensor.expand_shape" => true,
        "tensor.collapse_shape" => false,
        _ => return None,
    };
    let source = ir::operands(op).first().copied().filter(|source| !is_spread(*source))?;
    let of_source = ir::tensor(source.r#type())?.shape;
    let longer = if expands { ir::tensor(v.r#type())?.shape } else { of_source.clone() };
    let mut at = vec![Expr::Const(0); of_source.len()];
    for (k, group) in ir::reassociation(op)?.into_iter().enumerate() {
        let mut dims = group.into_iter().filter(|d| longer[*d] != Some(1));
        let (dim, more) = (dims.next(), dims.next());
        let (to, from) = if expands { (Some(k), dim) } else { (dim, Some(k)) };
        match (to, from) {
            _ if more.is_some() => return None,
            (Some(to), Some(from)) => at[to] = index[from].clone(),
            _ => {}
        }
    }
    Some((source, at))
}
