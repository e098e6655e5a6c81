//! Vector reads and writes of tiled buffers.
//!
//! If the elements of a vector are contiguous inside a tile, in the buffer's last dimension, the operation
//! becomes a vector load or store of the lowered buffer. Otherwise it becomes a loop over its elements; masked elements
//! and elements outside the logical sizes of a transfer are not accessed.

use crate::buffers::index::{IndexVars, indices};
use crate::kernel::access::{Access, Buffers};
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, ValueLike};
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Form, Interval};

/// A vector operation taken apart.
struct Transfer<'c> {
    write: bool,
    /// The stored value; for reads the value of elements out of bounds, if the operation has one.
    value: Option<Val<'c>>,
    mask: Option<Val<'c>>,
    vector: ir::Vector<'c>,
    vector_type: Type<'c>,
    /// The logical index of the first element.
    first: Vec<Expr>,
    /// The logical dimension of each dimension of the vector; `None` for a broadcast.
    along: Vec<Option<usize>>,
    /// Whether each dimension of the vector is inside the logical sizes.
    in_bounds: Vec<bool>,
}

/// Lowers a vector operation before `b`; returns its results.
pub fn lower<'c>(buffers: &Buffers<'c>, b: Builder<'c>, op: Op<'c>) -> Result<Vec<Val<'c>>, String> {
    let name = ir::name(op);
    let operands = ir::operands(op);
    let write = matches!(name, "vector.store" | "vector.transfer_write" | "affine.vector_store");
    let plain = matches!(name, "vector.load" | "vector.store" | "affine.vector_load" | "affine.vector_store");
    if !plain && !matches!(name, "vector.transfer_read" | "vector.transfer_write") {
        return Err("expected a vector load, store or transfer".into());
    }
    let vector_type = if write { operands[0].r#type() } else { ir::result(op, 0).r#type() };
    let vector = ir::vector(vector_type).ok_or("its vector must have a fixed length")?;
    let (base, rest) = operands[usize::from(write)..].split_first().ok_or("it has no memref")?;
    let access = buffers.access(*base)?;
    if access.element_encoding.element != vector.element {
        return Err("the elements of its memref are not those of its vector".into());
    }
    let rank = access.sizes.len();
    let mut vars = IndexVars::default();
    let index_operands = if plain { rest } else { &rest[..rank] };
    let first = indices(op, index_operands, &mut vars)?;
    let mut transfer = Transfer {
        write,
        value: write.then(|| operands[0]),
        mask: None,
        along: (rank.saturating_sub(vector.shape.len())..rank).map(Some).collect(),
        in_bounds: vec![true; vector.shape.len()],
        first,
        vector,
        vector_type,
    };
    if !plain {
        if !write {
            transfer.value = Some(rest[rank]);
        }
        transfer.mask = rest.get(rank + usize::from(!write)).copied();
        transfer.in_bounds = ir::booleans(op, "in_bounds").ok_or("its `in_bounds` must be an array of booleans")?;
        let map = ir::attribute(op, "permutation_map").and_then(ir::affine_map).and_then(affine::exprs_of_map);
        let along = map.ok_or("it has no permutation map")?.into_iter().map(|e| match e {
            Expr::Var(d) => Some(d),
            _ => None,
        });
        transfer.along = along.collect();
    }
    if transfer.in_bounds.len() != transfer.vector.shape.len() {
        return Err("its in_bounds must have an entry for each dimension of the vector".into());
    }
    if transfer.vector.shape.len() != transfer.along.len() {
        return Err("its vector has more dimensions than its memref".into());
    }
    if transfer.mask.is_none()
        && let Some(results) = contiguous(b, &access, &mut vars, &transfer)
    {
        return Ok(results);
    }
    element_by_element(b, &access, &mut vars, &transfer)
}

/// Emits one vector load or store, if the elements are contiguous in the buffer.
fn contiguous<'c>(
    b: Builder<'c>,
    access: &Access<'c>,
    vars: &mut IndexVars<'c>,
    t: &Transfer<'c>,
) -> Option<Vec<Val<'c>>> {
    let [length] = t.vector.shape[..] else { return None };
    let along = t.along[0]?;
    if ir::bits(t.vector.element).is_some_and(|n| n % 8 != 0) || !access.element_encoding.is_whole() {
        // A vector packs such elements; a buffer gives each its own bytes, or other bits.
        return None;
    }
    if access.strides.last() != Some(&Some(1)) {
        return None;
    }
    if !t.in_bounds[0] {
        let n = access.sizes[along].known()?;
        let first = Form::new(&vars.domain).interval(&t.first[along]);
        if first.lo < 0 || first.hi == i64::MAX || first.hi > n - length {
            return None;
        }
    }
    let step = vars.unbound(Interval::new(0, length - 1));
    let mut view = t.first.clone();
    view[along] = view[along].clone() + Expr::Var(step);
    let moving = access.simple_index(vars, &view);
    let (last, outer) = moving.split_last()?;
    let uses = |e: &Expr| {
        let mut found = false;
        e.for_each_var(&mut |v| found |= v == step);
        found
    };
    let start = vars.simplified(&[last.clone() + Expr::Var(step).times(-1)], &[]).pop()?;
    if outer.iter().any(uses) || uses(&start) {
        return None;
    }
    let index: Vec<Val<'c>> = outer.iter().chain([&start]).map(|e| vars.value(b, e)).collect();
    Some(if t.write {
        let operands: Vec<_> = [t.value?, access.base].into_iter().chain(index).collect();
        b.op("vector.store", &operands, &[], &[]);
        Vec::new()
    } else {
        let operands: Vec<_> = [access.base].into_iter().chain(index).collect();
        vec![b.value("vector.load", &operands, t.vector_type, &[])]
    })
}

/// Emits a loop over the vector's elements, viewed as one dimension.
fn element_by_element<'c>(
    b: Builder<'c>,
    access: &Access<'c>,
    vars: &mut IndexVars<'c>,
    t: &Transfer<'c>,
) -> Result<Vec<Val<'c>>, String> {
    let count = t.vector.shape.iter().try_fold(1i64, |n, size| n.checked_mul(*size));
    let count = count.ok_or("the number of its elements overflows 64 bits")?;
    let row = ir::vector_type(&[count], t.vector.element);
    let bit: Type<'c> = IntegerType::new(b.context(), 1).into();
    let mask = t.mask.map(|m| as_row(b, m, bit));
    let start = match (t.write, t.value) {
        (true, Some(v)) => as_row(b, v, t.vector.element),
        (false, Some(padding)) => b.value("vector.broadcast", &[padding], row, &[]),
        (_, None) => b.constant(ir::zeros(row)),
    };
    let index = Type::index(b.context());
    let carried: Vec<Val<'c>> = if t.write { Vec::new() } else { vec![start] };
    let results: Vec<Type<'c>> = carried.iter().map(|v| v.r#type()).collect();
    let bounds = [b.index(0), b.index(count), b.index(1)];
    let operands: Vec<_> = bounds.into_iter().chain(carried).collect();
    let arguments: Vec<_> = [index].into_iter().chain(results.iter().copied()).collect();
    let (a_loop, end) = b.with_body("scf.for", &operands, &results, &[], &arguments, "scf.yield");
    let arguments = ir::arguments(ir::blocks(a_loop)[0]);
    let inside = b.at(end);

    let number = vars.unbound(Interval::new(0, count - 1));
    vars.bind(number, arguments[0]);
    let Element { view, masked } = element(t, number);
    let condition = is_there(inside, access, vars, t, &view, mask.map(|mask| (mask, masked)));
    let (place, ends) = match condition {
        None => (inside, None),
        Some(condition) => {
            let (then, otherwise) = inside.conditional(condition, &results);
            (inside.at(then), Some((then, otherwise)))
        }
    };
    let at = access.simple_index(vars, &view);
    if t.write {
        let value = place.value("vector.extract", &[start, arguments[0]], t.vector.element, &[dynamic_position(place)]);
        access.at(at).store(vars, place, value, false);
        return Ok(Vec::new());
    }
    let value = access.at(at).load(vars, place, false);
    let operands = [value, arguments[1], arguments[0]];
    let mut next = place.value("vector.insert", &operands, row, &[dynamic_position(place)]);
    if let Some((then, otherwise)) = ends {
        ir::set_operands(then, &[next]);
        ir::set_operands(otherwise, &[arguments[1]]);
        next = ir::result(ir::parent(then).expect("a branch is in its scf.if"), 0);
    }
    ir::set_operands(end, &[next]);
    let read = ir::result(a_loop, 0);
    Ok(vec![if row == t.vector_type { read } else { b.value("vector.shape_cast", &[read], t.vector_type, &[]) }])
}

/// A vector with all its elements in one dimension.
fn as_row<'c>(b: Builder<'c>, v: Val<'c>, element: Type<'c>) -> Val<'c> {
    let count = ir::vector(v.r#type()).map_or(1, |v| v.shape.iter().product());
    let row = ir::vector_type(&[count], element);
    if v.r#type() == row { v } else { b.value("vector.shape_cast", &[v], row, &[]) }
}

/// One element of a vector.
struct Element {
    /// Its index in the memref.
    view: Vec<Expr>,
    /// Its index in the mask.
    masked: Expr,
}

/// The element with this variable as its row-major number.
fn element(t: &Transfer, number: usize) -> Element {
    let mut view = t.first.clone();
    let mut below = 1i64;
    // A mask has one dimension for each of the memref's that the vector runs along, in the memref's order.
    let mut masked: Vec<(usize, i64, Expr)> = Vec::new();
    for (along, n) in t.along.iter().zip(&t.vector.shape).rev() {
        let digit = Expr::Var(number).floor_div(below.max(1)).modulo((*n).max(1));
        below *= n;
        if let Some(d) = *along {
            view[d] = view[d].clone() + digit.clone();
            masked.push((d, *n, digit));
        }
    }
    masked.sort_by_key(|m| m.0);
    let masked = masked.into_iter().fold(Expr::Const(0), |sum, (_, n, digit)| sum.times(n) + digit);
    Element { view, masked }
}

/// The condition under which an element is read or written: inside the logical sizes, and not masked out.
fn is_there<'c>(
    b: Builder<'c>,
    access: &Access<'c>,
    vars: &IndexVars<'c>,
    t: &Transfer<'c>,
    view: &[Expr],
    mask: Option<(Val<'c>, Expr)>,
) -> Option<Val<'c>> {
    let bit: Type<'c> = IntegerType::new(b.context(), 1).into();
    let less = |d: usize| {
        let at = vars.simplified(&[view[d].clone()], &[]).remove(0);
        let size = access.sizes[d].value(b);
        b.value("arith.cmpi", &[vars.value(b, &at), size], bit, &[predicate(b, 2)])
    };
    let bounded = t.along.iter().zip(&t.in_bounds).rev().filter(|(_, in_bounds)| !**in_bounds);
    let mut conditions: Vec<Val<'c>> = bounded.filter_map(|(along, _)| along.map(less)).collect();
    if let Some((mask, at)) = mask {
        let at = vars.value(b, &vars.simplified(&[at], &[])[0]);
        conditions.push(b.value("vector.extract", &[mask, at], bit, &[dynamic_position(b)]));
    }
    conditions.into_iter().reduce(|x, y| b.value("arith.andi", &[x, y], bit, &[]))
}

/// The attribute for a vector position given as an operand.
fn dynamic_position<'c>(b: Builder<'c>) -> (melior::ir::Identifier<'c>, Attribute<'c>) {
    b.named("static_position", ir::sizes_attribute(b.context(), &[None]))
}

/// The predicate of an `arith.cmpi`; 2 is signed less than.
fn predicate<'c>(b: Builder<'c>, number: i64) -> (melior::ir::Identifier<'c>, Attribute<'c>) {
    let t = IntegerType::new(b.context(), 64).into();
    b.named("predicate", melior::ir::attribute::IntegerAttribute::new(t, number))
}
