//! Bitcasts: the same bytes with other sizes, in another layout, as elements of another type or width.

use super::bits::recast;
use super::shapes::reshape;
use crate::builder::{Builder, Operand};
use crate::scalar::convert;
use crate::syntax::dims;
use crate::tensor::{ImportResult, Tensor, tensors};
use tensor_layout::analysis::maps;
use tensor_layout::expr::{Expr, Named};
use tensor_layout::hlo::Instruction;
use tensor_layout::maps::{IndexingMap, Interval};
use tensor_layout::operations::{Array, Dim, Operation, Shape, bits, leaves};
use tensor_layout::tiled::{Expansion, Layout};

/// Writes a bitcast. Elements of another width are converted in memory order: from the operand's elements as a line, in
/// the order of its tiles, to the result's line.
pub fn bitcast(b: &mut Builder, i: &Instruction, operand: &Shape, from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    // A tuple of one array is this array.
    let (Some(&a), Some(&to)) = (leaves(operand).first(), leaves(&i.shape).first()) else {
        return Err("a `bitcast` without an array cannot be imported".into());
    };
    let Some((wide, narrow)) = bits(a).zip(bits(to)).filter(|(from, to)| from != to) else {
        return same_width(b, [operand, &i.shape], from, out);
    };
    let before = line(a, None)?;
    let whole = before.sizes().and_then(|sizes| sizes.iter().try_fold(wide, |all, n| all.checked_mul(*n)));
    let after = line(to, Some(whole.ok_or("the number of bits does not fit in 64 bits")? / narrow))?;
    let shapes = [before.clone(), after.clone()].map(Shape::Array);
    let [first, second] = [&shapes[0], &shapes[1]].map(|shape| tensors(shape).map(|mut all| all.remove(0)));
    let t = if before == *a { from.clone() } else { same_width(b, [operand, &shapes[0]], from, &first?)? };
    if after == *to {
        return recast(b, [&before, to], &t, out);
    }
    let t = recast(b, [&before, &after], &t, &second?)?;
    same_width(b, [&shapes[1], &i.shape], &t, out)
}

/// The array itself, if it has no tiles; otherwise its memory as a line of `length` elements, or of all.
fn line(array: &Array, length: Option<i64>) -> ImportResult<Array> {
    if !array.layout.is_tiled() {
        return Ok(array.clone());
    }
    let sizes = array.sizes().ok_or("sizes without a bound cannot be imported")?;
    let expansion = Expansion::new(&sizes, &array.layout).map_err(|error| error.message)?;
    let element_bits = array.layout.element_bits;
    let layout = Layout { element_bits, ..Layout::row_major(1) };
    Ok(Array {
        element: array.element,
        dims: vec![Dim::Exact(length.unwrap_or(expansion.allocated_elements()))],
        layout,
    })
}

/// A bitcast between elements of the same width: each element is read at its index in the operand, by the map between
/// the two layouts.
fn same_width(b: &mut Builder, [operand, result]: [&Shape; 2], from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let found = maps(&Operation::Bitcast, &[operand], &[result]).map_err(|error| error.message)?;
    let access = found.reads(0, 0).ok_or("a `bitcast` of this shape cannot be imported")?;
    if let Some(reason) = access.unknown.first() {
        return Err(format!("this `bitcast` cannot be imported: {reason}").into());
    }
    let is_row_major = |array: &Array| array.layout == Layout::row_major(array.dims.len());
    if from.element == out.element && [operand, result].into_iter().flat_map(leaves).all(is_row_major) {
        return Ok(reshape(b, from, out));
    }
    let width = |shape: &Shape| leaves(shape).first().map(|array| (array.element.bytes(), array.layout.element_bits));
    let map = match &access.maps[..] {
        // All of the result is padding of the operand.
        [] => return Ok(b.empty(out)),
        [mapped] if mapped.map.ranges == 0 && width(operand) == width(result) => &mapped.map,
        _ => return Err("a `bitcast` to elements of another width cannot be imported".into()),
    };
    let index: Vec<String> = map.results.iter().map(|e| Named(e, &|v| format!("d{v}")).to_string()).collect();
    if index.iter().any(|e| e.contains("min(") || e.contains("max(")) {
        return Err(
            "this `bitcast` cannot be imported: its map has a minimum or a maximum, which no affine map has".into()
        );
    }
    if is_everywhere(map, from, out) {
        let (of, elements) = (from.element_text.clone(), [from.element, out.element]);
        return b.each(vec![Operand::new(from, index.join(", "))], out, |w, args| {
            let cast = convert::reinterpreted(w, &args[0], elements[0], elements[1]);
            cast.ok_or_else(|| format!("a `bitcast` of {of} to {} cannot be imported", out.element_text).into())
        });
    }
    extracted(b, &index, from, out)
}

/// Whether a map from the index of `out` to the index of `from` can be the indexing map of a `linalg.generic`: it has a
/// value at every index, and where a result is one loop, the loop runs over the whole dimension.
fn is_everywhere(map: &IndexingMap, from: &Tensor, out: &Tensor) -> bool {
    map.domain.constraints.is_empty()
        && map.domain.vars.iter().zip(&out.sizes).all(|(within, n)| *within == Interval::new(0, n - 1))
        && map.results.iter().zip(&from.sizes).all(|(e, n)| !matches!(e, Expr::Var(v) if out.sizes[*v] != *n))
}

/// Each element of a bitcast by `tensor.extract`. Where the map has no value the result is undefined: the element at
/// the nearest index is read.
fn extracted(b: &mut Builder, index: &[String], from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let source = b.without_encoding(from);
    let rank = out.sizes.len();
    b.each(Vec::new(), out, |w, _| {
        let loops: Vec<String> = (0..rank).map(|k| w.op(&format!("linalg.index {k} : index"))).collect();
        let mut at = Vec::with_capacity(index.len());
        for (e, n) in index.iter().zip(&source.sizes) {
            let map = format!("affine_map<({}) -> ({e})>", dims(0..rank));
            let place = w.op(&format!("affine.apply {map}({})", loops.join(", ")));
            at.push(w.between(&place, n - 1));
        }
        let value = w.op(&format!("tensor.extract {}[{}] : {}", source.name, at.join(", "), source.ty));
        let cast = convert::reinterpreted(w, &value, from.element, out.element);
        cast.ok_or_else(|| {
            format!("a `bitcast` of {} to {} cannot be imported", source.element_text, out.element_text).into()
        })
    })
}
