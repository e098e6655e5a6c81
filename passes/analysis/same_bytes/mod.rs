//! Operations that leave every element at its byte: reshapes, transposes, packings and conversions of layouts.
//!
//! From `{1,0:T(8,128)}` on 64x256 a reshape to 8x8x256 with `{2,1,0:T(8,128)}` moves nothing, nor does the transpose
//! to `{0,1:T(8,128)}`, nor the `linalg.pack` to 8x2x8x128 in row-major order: [`correspondence`] decides, by the
//! offsets that an element has in both tensors. Such an operation needs no buffer of its own. Upstream's bufferization
//! has no form for this with another layout; but a tensor can be turned into a buffer, and a buffer into a tensor:
//!
//! ```text
//! %m = bufferization.to_buffer %x                    the analysis takes it for a write
//! %c = builtin.unrealized_conversion_cast %m, %n     the same bytes under the other type, with its run-time sizes
//! %r = bufferization.to_tensor %c restrict writable  a tensor of its own
//! ```
//!
//! So `%r` shares the buffer of `%x` if nothing reads `%x` afterwards; otherwise `%x` is copied. If neither `%x` nor
//! `%r` is written to, the first two are `read_only` instead, and nothing is copied. `layout-lower-memrefs` lowers the
//! cast to a `memref.reinterpret_cast`.
//!
//! Not covered: part of a buffer, and a destination that is no empty tensor, which are copied as before; TensorLayouts;
//! and a `tensor.reshape` of which both sides have sizes known only at run time besides the outermost one, unless both
//! are in row-major order.

mod correspondence;
mod overwritten;

use crate::analysis::aliases::{has_own_buffer, is_constant, only_reads, updated};
use crate::buffers::index::constant_value;
use crate::buffers::lowered::takes_constant;
use crate::buffers::operations::{SLICE_OR_RESHAPE, UNREALIZED_CAST, is};
use crate::buffers::views::is_read_in_place;
use correspondence::{Correspondence, StoredTensor, packing_sources};
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::operation::OperationMutLike;
use melior::ir::{Attribute, Type, ValueLike};
use overwritten::OverwrittenBuffers;
use std::collections::{HashMap, HashSet};

/// Marks a cast of memrefs that leaves every element at its byte.
pub const MARK: &str = "same_bytes";

/// All that an answer depends on: the operation's name, the number of the operand whose elements are those of the
/// result, the types of the operands and of the result, and the attributes.
type Question<'c> = (&'c str, usize, Vec<Type<'c>>, Vec<(String, Attribute<'c>)>);

/// The operations of a module that keep elements where they are.
#[derive(Default)]
pub struct SameBytes<'c> {
    /// Cached answers.
    known: HashMap<Question<'c>, bool>,
    /// The replacement of each operation.
    aliases: Vec<TensorAlias<'c>>,
}

/// A tensor that aliases the bytes of another.
struct TensorAlias<'c> {
    source: Val<'c>,
    to_buffer: Op<'c>,
    to_tensor: Op<'c>,
}

impl<'c> SameBytes<'c> {
    /// The operand that an operation hands on without moving an element to another byte.
    pub fn source(&mut self, op: Op<'c>) -> Option<Val<'c>> {
        let number = handed_on(op)?;
        let (operands, result) = (ir::operands(op), ir::result(op, 0));
        let types = operands.iter().chain([&result]).map(|v| v.r#type()).collect();
        let known = self.known.entry((ir::name(op), number, types, ir::attributes(op)));
        let keeps = *known.or_insert_with(|| {
            let [Some(from), Some(to)] = [operands[number], result].map(|v| StoredTensor::of(v.r#type())) else {
                return false;
            };
            // Rows of any sizes have the same elements at the same index.
            let rows = from.row().zip(to.row()).filter(|_| ir::name(op) == "tensor.reshape");
            let (from, to) = rows.unwrap_or((from, to));
            Correspondence::of(op, number, [&from.shape, &to.shape])
                .is_some_and(|pairs| pairs.keeps_offsets([&from, &to]))
        });
        keeps.then_some(operands[number])
    }

    /// The slices and reshapes, in program order, through which such an operation gets all of a buffer; `None` for
    /// another operation, and for one that gets part of a buffer.
    pub fn views_before(&mut self, op: Op<'c>, mut is_view: impl FnMut(Val<'c>) -> bool) -> Option<Vec<Op<'c>>> {
        let (mut found, mut at) = (Vec::new(), self.source(op)?);
        while is_view(at) {
            let view = ir::defining_op(at).filter(|op| is(ir::name(*op), SLICE_OR_RESHAPE))?;
            at = self.source(view)?;
            found.push(view);
        }
        found.reverse();
        Some(found)
    }

    /// Makes the result of such an operation alias the bytes of that operand.
    pub fn alias_bytes(&mut self, rewriter: &Rewriter, op: Op<'c>) {
        let number = handed_on(op).expect("the operation hands on an operand");
        let (b, source, result) = (Builder::before(op), ir::operands(op)[number], ir::result(op, 0));
        let unit = |name| b.named(name, Attribute::unit(b.context()));
        let to_buffer = b.op("bufferization.to_buffer", &[source], &[buffer(b, source)], &[]);
        let operands: Vec<Val> = [ir::result(to_buffer, 0)].into_iter().chain(run_time_sizes(b, op, source)).collect();
        let cast = b.value(UNREALIZED_CAST, &operands, buffer(b, result), &[unit(MARK)]);
        let attributes = [unit("restrict"), unit("writable")];
        let to_tensor = b.op("bufferization.to_tensor", &[cast], &[result.r#type()], &attributes);
        ir::replace_all_uses(result, ir::result(to_tensor, 0));
        rewriter.erase(op);
        self.aliases.push(TensorAlias { source, to_buffer, to_tensor });
    }

    /// Makes the aliases show copies of tensors whose buffer is overwritten without being read. `copied` emits a copy of
    /// a tensor.
    pub fn copy_overwritten(&mut self, module: Op<'c>, copied: impl Fn(Builder<'c>, Val<'c>) -> Val<'c>) {
        if self.aliases.is_empty() {
            return;
        }
        let mut overwritten = OverwrittenBuffers::of(module);
        for alias in &mut self.aliases {
            if overwritten.may_hold(alias.source) {
                alias.source = copied(Builder::before(alias.to_buffer), alias.source);
                ir::edit(alias.to_buffer).set_operand(0, alias.source);
            }
        }
    }

    /// Marks the aliases as read-only if both the tensor and its alias are only read.
    pub fn mark_read_only(&self) {
        let mut known = HashMap::new();
        let result = |alias: &TensorAlias<'c>| ir::result(alias.to_tensor, 0);
        let read = self.aliases.iter().filter(|alias| is_read_in_place(result(alias), &mut known));
        let read: Vec<&TensorAlias> = read.collect();
        let reading: HashSet<usize> = read.iter().map(|alias| ir::op_key(alias.to_buffer)).collect();
        let is_only_read = |source: Val<'c>| {
            let reads = |at: &(Op<'c>, usize)| reading.contains(&ir::op_key(at.0)) || only_reads(*at);
            (is_constant(source) || has_own_buffer(source)) && ir::uses(source).iter().all(reads)
        };
        for alias in read.into_iter().filter(|alias| is_only_read(alias.source)) {
            let unit = Attribute::unit(Builder::before(alias.to_buffer).context());
            ir::edit(alias.to_buffer).set_attribute("read_only", unit);
            let writable = ir::edit(alias.to_tensor).remove_attribute("writable");
            writable.expect("it was made with this attribute");
        }
    }
}

/// The value of an operation that only moves the elements of a constant, each to one place. `None` for any other, and
/// where lowering takes no such constant.
pub fn moved_constant<'c>(op: Op<'c>) -> Option<Attribute<'c>> {
    let number = handed_on(op)?;
    let (source, t) = (ir::operands(op)[number], ir::result(op, 0).r#type());
    let made = ir::defining_op(source).filter(|op| ir::name(*op) == "arith.constant")?;
    let constant = ir::constant(ir::attribute(made, "value")?)?;
    // What a conversion says, such as `keep` or `async`, is said of a copy.
    let is_kept = ir::name(op) == "layout.convert" && !ir::attributes(op).is_empty();
    if is_kept || !takes_constant(t) {
        return None;
    }
    if matches!(ir::name(op), "linalg.pack" | "linalg.unpack") {
        return packed_constant(op, &constant, t);
    }
    if ir::indexing_maps(op).is_none() {
        return constant.reshaped(t);
    }
    let [from, to] = [source.r#type(), t].map(|t| ir::tensor(t).map(|t| t.shape).unwrap_or_default());
    let sources = Correspondence::of(op, number, [&from, &to])?.sources(&from)?;
    constant.resplat(t).or_else(|| constant.gathered(t, sources.map(Some)))
}

/// The value of a `linalg.pack` or `linalg.unpack` of a constant; `None` for padding other than zeros.
fn packed_constant<'c>(op: Op<'c>, constant: &ir::Constant<'c>, t: Type<'c>) -> Option<Attribute<'c>> {
    let shapes = [ir::operands(op)[0].r#type(), t].map(|t| ir::tensor(t).and_then(|t| t.sizes()));
    let [Some(from), Some(to)] = shapes else { return None };
    let pads = ir::name(op) == "linalg.pack" && from.iter().product::<i64>() != to.iter().product();
    let padding =
        ir::operands(op).get(2).and_then(|v| ir::defining_op(*v)).and_then(|made| ir::attribute(made, "value"));
    let scalar = Shaped { shape: Vec::new(), element: constant.element, layout: None, space: None };
    let zero = || ir::constant(ir::zeros(ir::tensor_type(&scalar)))?.splat_element();
    if pads && (padding.is_none() || padding != zero()) {
        return None;
    }
    let splat = constant.resplat(t).filter(|_| !pads);
    splat.or_else(|| constant.gathered(t, packing_sources(op, [from, to])?))
}

/// The number of the operand whose elements are those of the result, in another order perhaps. A structured operation
/// hands on what its body yields, into an empty tensor.
fn handed_on(op: Op) -> Option<usize> {
    match ir::name(op) {
        "layout.convert"
        | "tensor.bitcast"
        | "tensor.cast"
        | "tensor.collapse_shape"
        | "tensor.expand_shape"
        | "tensor.reshape" => Some(0),
        "tensor.extract_slice" => is_whole(op).then_some(0),
        "linalg.pack" | "linalg.unpack" => empty(op).map(|_| 0),
        _ => {
            let body = *ir::blocks(op).first().filter(|_| ir::indexing_maps(op).is_some())?;
            let [end] = ir::operations(body)[..] else { return None };
            let [yielded] = ir::operands(end)[..] else { return None };
            let read = ir::arguments(body).into_iter().position(|argument| argument == yielded)?;
            empty(op).filter(|_| read + 1 < ir::operands(op).len()).map(|_| read)
        }
    }
}

/// The empty tensor that an operation writes its result into.
fn empty(op: Op<'_>) -> Option<Op<'_>> {
    let into = match ir::name(op) {
        "linalg.pack" | "linalg.unpack" => Some(1),
        _ => updated(op, 0).filter(|_| ir::indexing_maps(op).is_some()),
    };
    let empty = ir::defining_op(*ir::operands(op).get(into?)?)?;
    match ir::name(empty) {
        "tensor.empty" => Some(empty),
        "bufferization.alloc_tensor" => {
            let is_copy = ir::integers(empty, "operandSegmentSizes").get(1) == Some(&1);
            (!is_copy && ir::attribute(empty, "memory_space").is_none()).then_some(empty)
        }
        _ => None,
    }
}

/// The run-time sizes of the result of an operation that hands on `source`.
pub fn run_time_sizes<'c>(b: Builder<'c>, op: Op<'c>, source: Val<'c>) -> Vec<Val<'c>> {
    let [from, to] = [source, ir::result(op, 0)].map(|v| ir::tensor(v.r#type()).expect("a tensor").shape);
    let (index, empty) = (Type::index(b.context()), empty(op));
    let size = |d: usize| match from[d] {
        Some(n) => b.index(n),
        None => b.value("tensor.dim", &[source, b.index(d as i64)], index, &[]),
    };
    let product = |x: Val<'c>, y: Val<'c>| b.value("arith.muli", &[x, y], index, &[]);
    let unknown = (0..to.len()).filter(|d| to[*d].is_none());
    match (ir::name(op), empty) {
        (_, Some(empty)) => ir::operands(empty).into_iter().take(unknown.count()).collect(),
        ("tensor.extract_slice", _) => dynamic_sizes(op),
        ("tensor.reshape", _) => {
            let shape = ir::operands(op)[1];
            let element = ir::tensor(shape.r#type()).expect("a tensor of sizes").element;
            let extract = |d: usize| b.value("tensor.extract", &[shape, b.index(d as i64)], element, &[]);
            let size = |v| if element == index { v } else { b.value("arith.index_cast", &[v], index, &[]) };
            unknown.map(extract).map(size).collect()
        }
        ("tensor.expand_shape", _) => ir::operands(op)[1..].to_vec(),
        ("tensor.collapse_shape", _) => {
            let groups = ir::reassociation(op).unwrap_or_default();
            unknown.filter_map(|d| groups[d].iter().map(|d| size(*d)).reduce(product)).collect()
        }
        _ => unknown.map(size).collect(),
    }
}

/// Whether a slice is all of its source.
pub fn is_whole(op: Op) -> bool {
    let source = ir::operands(op)[0];
    let Some(Shaped { shape, .. }) = ir::tensor(source.r#type()) else { return false };
    let own = (0..shape.len()).filter(|d| shape[*d].is_none());
    let is_size = |(size, d): (Val, usize)| {
        let dim = ir::defining_op(size).filter(|op| ir::name(*op) == "tensor.dim").map(ir::operands);
        dim.is_some_and(|of| of[0] == source && constant_value(of[1]) == Some(d as i64))
    };
    // A stride of -1 reverses the elements.
    ir::sizes(op, "static_strides").iter().all(|step| *step == Some(1))
        && shape == ir::sizes(op, "static_sizes")
        && dynamic_sizes(op).into_iter().zip(own).all(is_size)
}

/// The sizes of a slice that are known only at run time.
fn dynamic_sizes(slice: Op<'_>) -> Vec<Val<'_>> {
    let segments = ir::integers(slice, "operandSegmentSizes");
    let [source, offsets, sizes, ..] = segments[..] else { return Vec::new() };
    ir::operands(slice).into_iter().skip((source + offsets) as usize).take(sizes as usize).collect()
}

/// The type of the buffer that bufferization gives a tensor.
fn buffer<'c>(b: Builder<'c>, tensor: Val<'c>) -> Type<'c> {
    let shaped = ir::tensor(tensor.r#type()).expect("a tensor");
    let space = shaped.layout.map(|layout| layout_dialect::pending_attribute(layout).expect("a layout"));
    ir::memref_type(b.location, &Shaped { layout: None, space, ..shaped }).expect("elements of a buffer")
}
