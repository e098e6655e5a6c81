//! Vector code on bytes that hold several elements.
//!
//! If all operands have one layout, byte `p` of each holds the same elements. A byte whose elements all exist is
//! loaded once, split into registers (the first elements of each byte, the second, and so on), and stored whole.
//! Bitwise operations (`and`, `or`, `xor`, copies) work on the bytes directly.
//!
//! Full tiles are contiguous: in `{1,0:T(32,128)(32,1)E(1)}` each has 512 bytes. They form one loop with vectors. The
//! rest of each dimension, behind its full tiles, is computed element by element, so that padding does not change.

use super::rows::Row;
use crate::buffers::element_encoding::ElementEncoding;
use crate::buffers::index::IndexVars;
use crate::buffers::lowered::LoweredMemRef;
use crate::buffers::operations::{DIVIDES, LANEWISE, is};
use crate::kernel;
use crate::kernel::access::{Operand, Size};
use crate::kernel::body::{Argument, Body};
use crate::kernel::loops::a_loop;
use crate::kernel::nest::Nest;
use crate::pass::options::LowerMemrefsOptions;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::{DenseElementsAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, TypeLike, ValueLike};
use std::collections::HashMap;
use tensor_layout::expr::Expr;
use tensor_layout::maps::Interval;

/// The fewest contiguous bytes that are worth a vector.
const LEAST: i64 = 8;

/// Emits vector code for a nest before `b`. If this is impossible, returns the reason and emits nothing.
pub fn emit<'c>(b: Builder<'c>, nest: &Nest<'c>, body: &Body<'c>, target: &LowerMemrefsOptions) -> Result<(), String> {
    let (lowered, element_encoding) = one_layout(nest)?;
    check(body)?;
    let shape =
        lowered.shape.iter().copied().collect::<Option<Vec<i64>>>().ok_or("its sizes are known only at run time")?;
    let tiles = Tiles::new(lowered, &shape, element_encoding.ratio.elements)?;
    let rows = nest.operands.iter().map(|o| Row::of(o.access.base)).collect::<Result<Vec<_>, _>>()?;
    let starts = rows.iter().map(|row| row.offset).collect::<Option<Vec<i64>>>();
    let starts = starts.ok_or("the offset of a buffer is known only at run time")?;

    let buffers = nest.operands.iter().zip(rows).map(|(o, row)| row.view(b, o.access.base));
    let buffers: Vec<(Val<'c>, i64)> = buffers.zip(starts).collect();
    let kernel = Bytes { nest, body, element_encoding, buffers, on_bits: is_on_bits(nest, body, element_encoding) };
    kernel.full_tiles(b, &tiles, i64::from(target.vector_bits()) / 8);
    for d in 0..shape.len() {
        let first = tiles.full[d] * tiles.scales[d];
        if first == shape[d] {
            continue;
        }
        let ends = (0..shape.len()).map(|e| if e < d { tiles.full[e] * tiles.scales[e] } else { shape[e] });
        let starts: Vec<i64> = (0..shape.len()).map(|e| if e == d { first } else { 0 }).collect();
        kernel.elements(b, &starts, &ends.collect::<Vec<_>>());
    }
    Ok(())
}

/// The layout of all operands.
fn one_layout<'a, 'c>(nest: &'a Nest<'c>) -> Result<(&'a LoweredMemRef<'c>, ElementEncoding<'c>), String> {
    let first = nest.operands[0].access.lowered.as_deref().ok_or("an operand is not in bytes of several elements")?;
    let identity = |o: &Operand<'c>| o.map.iter().enumerate().all(|(d, e)| *e == Expr::Var(d)) && o.access.is_whole();
    let same = |o: &Operand<'c>| {
        o.access.lowered.as_ref().is_some_and(|l| l.layout == first.layout && l.shape == first.shape)
            && o.map.len() == nest.extents.len()
            && identity(o)
    };
    match nest.operands.iter().all(same) {
        true => Ok((first, first.element_encoding)),
        false => Err("its operands hold several elements in a byte, and not in one layout".into()),
    }
}

/// Checks that vectors can compute the whole body.
fn check(body: &Body) -> Result<(), String> {
    if body.initial.is_some() || body.epilogue.is_some() {
        return Err("it reduces elements of which a byte holds several".into());
    }
    for op in body.block.into_iter().flat_map(ir::operations) {
        let name = ir::name(op);
        if name != "linalg.yield" && (is(name, DIVIDES) || !is(name, LANEWISE) || ir::results(op).len() != 1) {
            return Err(format!("'{name}' has no vector form that cannot trap"));
        }
    }
    body.arguments.iter().try_for_each(|(_, from)| match from {
        Argument::Fused(body) => check(body),
        Argument::Accumulator => Err("it reduces elements of which a byte holds several".into()),
        Argument::Element(_) | Argument::Value(_) => Ok(()),
    })
}

/// Whether a body does the same to each bit, of elements without spare bits.
fn is_on_bits(nest: &Nest, body: &Body, element_encoding: ElementEncoding) -> bool {
    let bitwise =
        |op: Op| matches!(ir::name(op), "arith.andi" | "arith.ori" | "arith.xori" | "arith.constant" | "linalg.yield");
    fn all(body: &Body, of: &dyn Fn(Op) -> bool) -> bool {
        let made = |from: &Argument| if let Argument::Fused(body) = from { all(body, of) } else { true };
        body.block.is_none_or(|block| ir::operations(block).into_iter().all(of))
            && body.arguments.iter().all(|(_, from)| made(from))
    }
    let element = element_encoding.element;
    ir::bits(element) == element_encoding.bits
        && element.is_integer()
        && nest.operands.iter().all(|o| o.access.element_encoding.element == element)
        && all(body, &bitwise)
}

/// The full tiles of a layout, in bytes.
struct Tiles {
    /// For each dimension, the elements of a tile along it.
    scales: Vec<i64>,
    /// For each dimension, the number of full tiles.
    full: Vec<i64>,
    /// The loops over tiles: iterations, and stride in bytes.
    loops: Vec<(i64, i64)>,
    /// The contiguous bytes in each iteration.
    run: i64,
}

impl Tiles {
    fn new(lowered: &LoweredMemRef, shape: &[i64], count: i64) -> Result<Tiles, String> {
        let sizes = lowered.sizes().iter().copied().collect::<Option<Vec<i64>>>().ok_or("its sizes are unknown")?;
        let (mut scales, mut inside) = (vec![0; shape.len()], vec![1i64; shape.len()]);
        let (mut grid, mut within) = (Vec::new(), Vec::new());
        for (k, size) in sizes.iter().enumerate() {
            let stride = lowered.element_strides[k].ok_or("its strides are unknown")? / count;
            match (quotient(&lowered.index_exprs[k]), dim(&lowered.index_exprs[k])) {
                (Some((d, scale)), _) => {
                    scales[d] = scale;
                    grid.push((d, *size, stride));
                }
                (None, Some(d)) => {
                    inside[d] = inside[d].saturating_mul(*size);
                    within.push((stride, *size));
                }
                (None, None) if *size == 1 => {}
                (None, None) => return Err("no dimension of its buffer is one of whole tiles".into()),
            }
        }
        if let Some(d) = lowered.index_exprs.last().and_then(dim) {
            inside[d] = inside[d].saturating_mul(count);
        }
        for (d, scale) in scales.iter_mut().enumerate() {
            if *scale == 0 {
                *scale = shape[d];
            }
            if inside[d] != *scale {
                return Err("its tiles are padded inside".into());
            }
        }
        within.sort_unstable();
        let run =
            within.iter().try_fold(1i64, |run, (stride, size)| (*stride == run).then(|| run.checked_mul(*size))?);
        let mut tiles = Tiles {
            full: shape.iter().zip(&scales).map(|(n, scale)| n / scale).collect(),
            scales,
            loops: Vec::new(),
            run: run.ok_or("its tiles are not contiguous")?,
        };
        // Adjacent tiles form one run.
        let mut open = true;
        while let Some(next) = grid.iter().position(|(_, _, stride)| open && *stride == tiles.run) {
            let (d, size, _) = grid.swap_remove(next);
            open = tiles.full[d] == size && size * tiles.scales[d] == shape[d];
            tiles.run *= tiles.full[d];
        }
        grid.sort_by_key(|(_, _, stride)| std::cmp::Reverse(*stride));
        tiles.loops = grid.into_iter().map(|(d, _, stride)| (tiles.full[d], stride)).collect();
        match tiles.run >= LEAST && tiles.full.iter().all(|n| *n > 0) {
            true => Ok(tiles),
            false => Err(format!("expected {LEAST} contiguous bytes whose elements are all there")),
        }
    }
}

/// The dimension and divisor of an index that is a quotient of a dimension.
fn quotient(e: &Expr) -> Option<(usize, i64)> {
    match e {
        Expr::Var(d) => Some((*d, 1)),
        Expr::FloorDiv(of, by) => quotient(of).and_then(|(d, scale)| Some((d, scale.checked_mul(*by)?))),
        _ => None,
    }
}

/// The only dimension in an index.
fn dim(e: &Expr) -> Option<usize> {
    let mut dims = Vec::new();
    e.for_each_var(&mut |d| dims.push(d));
    dims.dedup();
    if let [d] = dims[..] { Some(d) } else { None }
}

/// A kernel under construction.
struct Bytes<'a, 'c> {
    nest: &'a Nest<'c>,
    body: &'a Body<'c>,
    element_encoding: ElementEncoding<'c>,
    /// Each operand as a view of bytes, and the offset of its first element.
    buffers: Vec<(Val<'c>, i64)>,
    on_bits: bool,
}

impl<'c> Bytes<'_, 'c> {
    /// The loops over full tiles; inside, a loop over vectors of at most `widest` bytes.
    fn full_tiles(&self, b: Builder<'c>, tiles: &Tiles, widest: i64) {
        let mut vars = IndexVars::default();
        let mut b = b;
        let mut start = Vec::new();
        for (iterations, stride) in &tiles.loops {
            let var = vars.unbound(Interval::new(0, iterations - 1));
            b = a_loop(b, &mut vars, var, &[Expr::Const(*iterations)], true);
            start.push(Expr::Var(var).times(*stride));
        }
        // The rest of a run takes shorter vectors, each half as long as the one before.
        let (mut done, mut width) = (0, widest);
        while width > 0 {
            let vectors = (tiles.run - done) / width;
            if vectors > 0 {
                let var = vars.unbound(Interval::new(0, vectors - 1));
                let inside = a_loop(b, &mut vars, var, &[Expr::Const(vectors)], true);
                let at = start.iter().cloned().chain([Expr::Var(var).times(width), Expr::Const(done)]);
                self.vector(inside, &vars, &Expr::sum(at.collect()), width);
                done += vectors * width;
            }
            width /= 2;
        }
    }

    /// One vector of bytes.
    fn vector(&self, b: Builder<'c>, vars: &IndexVars<'c>, at: &Expr, width: i64) {
        let byte = self.element_encoding.memref_element;
        let bytes = ir::vector_type(&[width], byte);
        let place = |b: Builder<'c>, operand: usize| {
            let (buffer, first) = self.buffers[operand];
            [buffer, vars.value(b, &(at.clone() + Expr::Const(first)))]
        };
        let mut loaded: HashMap<usize, Val<'c>> = HashMap::new();
        let mut load = |operand: usize| {
            *loaded.entry(operand).or_insert_with(|| b.value("vector.load", &place(b, operand), bytes, &[]))
        };
        let mut stored: Vec<Option<Val<'c>>> = vec![None; self.nest.outputs];
        for digit in 0..if self.on_bits { 1 } else { self.element_encoding.ratio.elements } {
            let shift = |name: &str, v: Val<'c>, bits: i64| match digit {
                0 => v,
                _ => b.value(name, &[v, splat(b, byte, width, digit * bits)], bytes, &[]),
            };
            let mut element = |operand: usize| match self.nest.operands[operand].access.element_encoding {
                ElementEncoding { element, bits: Some(bits), .. } if !self.on_bits => {
                    let own = integer(b, element);
                    let low = shift("arith.shrui", load(operand), bits);
                    let low = b.value("arith.trunci", &[low], ir::vector_type(&[width], own), &[]);
                    let t = ir::vector_type(&[width], element);
                    if own == element { low } else { b.value("arith.bitcast", &[low], t, &[]) }
                }
                _ => load(operand),
            };
            let lanes = |t: Type<'c>| ir::vector_type(&[width], if self.on_bits { byte } else { t });
            let broadcast = |v: Val<'c>| b.value("vector.broadcast", &[self.repeated(b, v)], lanes(v.r#type()), &[]);
            let made = compute(b, self.body, &mut element, &lanes, &broadcast);
            let first = self.nest.operands.len() - self.nest.outputs;
            for (k, value) in made.into_iter().enumerate() {
                let ElementEncoding { element, bits: Some(bits), .. } =
                    self.nest.operands[first + k].access.element_encoding
                else {
                    continue;
                };
                let value = match self.on_bits {
                    true => value,
                    false => {
                        let own = integer(b, element);
                        let t = ir::vector_type(&[width], own);
                        let value = if own == element { value } else { b.value("arith.bitcast", &[value], t, &[]) };
                        shift("arith.shli", b.value("arith.extui", &[value], bytes, &[]), bits)
                    }
                };
                stored[k] = Some(stored[k].map_or(value, |others| b.value("arith.ori", &[others, value], bytes, &[])));
            }
        }
        let first = self.nest.operands.len() - self.nest.outputs;
        for (k, value) in stored.into_iter().enumerate() {
            let operands: Vec<Val<'c>> = value.into_iter().chain(place(b, first + k)).collect();
            b.op("vector.store", &operands, &[], &[]);
        }
    }

    /// A scalar ready for broadcast: for a bitwise operation, a byte filled with the element.
    fn repeated(&self, b: Builder<'c>, v: Val<'c>) -> Val<'c> {
        if !self.on_bits {
            return v;
        }
        let byte = self.element_encoding.memref_element;
        let bits = self.element_encoding.bits.unwrap_or(8);
        let pattern = b.constant(IntegerAttribute::new(byte, 0xff / ((1 << bits) - 1)).into());
        let wide = b.value("arith.extui", &[v], byte, &[]);
        b.value("arith.muli", &[wide, pattern], byte, &[])
    }

    /// Computes the elements from `starts` to `ends`, one at a time.
    fn elements(&self, b: Builder<'c>, starts: &[i64], ends: &[i64]) {
        let map = || starts.iter().enumerate().map(|(d, start)| Expr::Var(d) + Expr::Const(*start)).collect();
        let part = Nest {
            extents: starts.iter().zip(ends).map(|(start, end)| Size::Static(end - start)).collect(),
            operands: self.nest.operands.iter().map(|o| Operand::new(o.access.clone(), map())).collect(),
            outputs: self.nest.outputs,
            reduced_over_places: Vec::new(),
            repeats: true,
        };
        let first = part.operands.len() - part.outputs;
        kernel::emit(&part, b, |inner| {
            let made = compute(inner.b, self.body, &mut |operand| inner.load(operand), &|t| t, &|v| v);
            for (k, value) in made.into_iter().enumerate() {
                inner.store(first + k, value);
            }
        });
    }
}

/// The values that a body yields for these elements. `lanes` maps each scalar type to the vector type.
fn compute<'c>(
    b: Builder<'c>,
    body: &Body<'c>,
    element: &mut dyn FnMut(usize) -> Val<'c>,
    lanes: &dyn Fn(Type<'c>) -> Type<'c>,
    broadcast: &dyn Fn(Val<'c>) -> Val<'c>,
) -> Vec<Val<'c>> {
    let mut values: HashMap<usize, Val<'c>> = HashMap::new();
    let mut first = None;
    for (argument, from) in &body.arguments {
        if body.block.is_some() && !ir::is_used(*argument) {
            continue;
        }
        let value = match from {
            Argument::Element(operand) => element(*operand),
            Argument::Value(v) => broadcast(*v),
            Argument::Fused(body) => compute(b, body, element, lanes, broadcast)[0],
            Argument::Accumulator => unreachable!("it has been checked that nothing is reduced"),
        };
        first.get_or_insert(value);
        values.insert(ir::key(*argument), value);
    }
    let Some(block) = body.block else { return first.into_iter().collect() };
    for op in ir::operations(block) {
        let inside = b.located(op);
        let known = |v: Val<'c>| values.get(&ir::key(v)).copied().unwrap_or_else(|| broadcast(v));
        let made = match ir::name(op) {
            "linalg.yield" => return ir::operands(op).into_iter().map(known).collect(),
            "arith.constant" => broadcast(inside.constant(ir::attribute(op, "value").expect("a constant has a value"))),
            name => {
                let operands: Vec<Val<'c>> = ir::operands(op).into_iter().map(known).collect();
                let t = lanes(ir::result(op, 0).r#type());
                inside.value(name, &operands, t, &inside.attributes_of(op))
            }
        };
        values.insert(ir::key(ir::result(op, 0)), made);
    }
    Vec::new()
}

/// The integer type of an element's width.
fn integer<'c>(b: Builder<'c>, element: Type<'c>) -> Type<'c> {
    match ir::bits(element) {
        Some(bits) if element.is_float() => IntegerType::new(b.context(), bits as u32).into(),
        _ => element,
    }
}

/// A vector of one number.
fn splat<'c>(b: Builder<'c>, element: Type<'c>, width: i64, number: i64) -> Val<'c> {
    let number = IntegerAttribute::new(element, number).into();
    let t = ir::vector_type(&[width], element);
    b.constant(DenseElementsAttribute::new(t, &[number]).expect("a number makes a constant").into())
}
