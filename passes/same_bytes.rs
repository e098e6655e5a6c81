//! Operations that leave every element at its byte: reshapes, transposes and conversions of layouts.
//!
//! From `{1,0:T(8,128)}` on 64x256 a reshape to 8x8x256 with `{2,1,0:T(8,128)}` moves nothing, nor does the transpose
//! to `{0,1:T(8,128)}`: [`movement`] decides. Such an operation needs no buffer of its own. Stock bufferization has no
//! form for this with another layout; but a tensor can be turned into a buffer, and a buffer into a tensor:
//!
//! ```text
//! %m = bufferization.to_buffer %x                    the analysis takes it for a write
//! %c = builtin.unrealized_conversion_cast %m         the same bytes under the other type
//! %r = bufferization.to_tensor %c restrict writable  a tensor of its own
//! ```
//!
//! So `%r` shares the buffer of `%x` if nothing reads `%x` afterwards; otherwise `%x` is copied. If neither `%x` nor
//! `%r` is written to, the first two are `read_only` instead, and nothing is copied. `layout-lower-memrefs` lowers the
//! cast to a `memref.reinterpret_cast`.
//!
//! Not covered: operations on dynamic sizes, and on part of a buffer, which is copied as before.

use crate::aliases::{has_own_buffer, is_constant, only_reads};
use crate::buffers::operations::SAME_BYTES;
use crate::buffers::packing::Packing;
use crate::buffers::views::{is_read_in_place, tensor_layout};
use layout_dialect::movement;
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::operation::OperationMutLike;
use melior::ir::{Attribute, Type, ValueLike};
use std::collections::{HashMap, HashSet};
use tensor_layout::analysis::Movement;

/// Marks a cast of memrefs that leaves every element at its byte.
pub const MARK: &str = "same_bytes";

/// The operations of a module that keep elements where they are.
#[derive(Default)]
pub struct SameBytes<'c> {
    /// Cached answers for two types and a permutation.
    known: HashMap<(Type<'c>, Type<'c>, Option<Vec<i64>>), bool>,
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
    /// Whether an operation moves no element of its first operand to another byte.
    pub fn keeps(&mut self, op: Op<'c>) -> bool {
        let permutation = match ir::name(op) {
            "layout.convert" | "tensor.cast" | "tensor.collapse_shape" | "tensor.expand_shape" => None,
            "tensor.extract_slice" if is_whole(op) => None,
            "linalg.transpose" => Some(ir::integers(op, "permutation")),
            _ => return false,
        };
        let Some(result) = ir::results(op).pop() else { return false };
        let source = ir::operands(op)[0];
        if tensor_layout(source).is_none() && tensor_layout(result).is_none() {
            return false;
        }
        let key = (source.r#type(), result.r#type(), permutation);
        *self.known.entry(key).or_insert_with_key(|(from, to, permutation)| {
            packing(*from).is_some_and(|held| packing(*to) == Some(held))
                && matches!(movement(*from, *to, permutation.as_deref()), Ok(Movement::Free))
        })
    }

    /// Makes the result of such an operation alias the bytes of its first operand.
    pub fn show(&mut self, rewriter: &Rewriter, op: Op<'c>) {
        let (b, source, result) = (Builder::before(op), ir::operands(op)[0], ir::result(op, 0));
        let unit = |name| b.named(name, Attribute::unit(b.context()));
        let to_buffer = b.op("bufferization.to_buffer", &[source], &[buffer(b, source)], &[]);
        let cast = b.value(SAME_BYTES, &[ir::result(to_buffer, 0)], buffer(b, result), &[unit(MARK)]);
        let attributes = [unit("restrict"), unit("writable")];
        let to_tensor = b.op("bufferization.to_tensor", &[cast], &[result.r#type()], &attributes);
        ir::replace_all_uses(result, ir::result(to_tensor, 0));
        rewriter.erase(op);
        self.aliases.push(TensorAlias { source, to_buffer, to_tensor });
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

/// Whether a slice is all of its source.
fn is_whole(op: Op) -> bool {
    let source = ir::tensor(ir::operands(op)[0].r#type());
    source.is_some_and(|source| source.shape == ir::sizes(op, "static_sizes") && source.sizes().is_some())
}

/// The encoding of a tensor's elements in memory; `None` for an encoding that is no tiled layout.
fn packing<'c>(t: Type<'c>) -> Option<(Type<'c>, Option<i64>)> {
    let shaped = ir::tensor(t)?;
    let bits = match shaped.layout {
        Some(layout) => layout_dialect::tiled(layout)?.element_bits,
        None => 0,
    };
    Packing::new(shaped.element, bits).ok().map(|packing| (packing.held_in, packing.bits))
}

/// The type of the buffer that bufferization gives a tensor.
fn buffer<'c>(b: Builder<'c>, tensor: Val<'c>) -> Type<'c> {
    let shaped = ir::tensor(tensor.r#type()).expect("a tensor");
    let space = shaped.layout.map(|layout| layout_dialect::pending_attribute(layout).expect("a layout"));
    ir::memref_type(b.location, &Shaped { layout: None, space, ..shaped }).expect("elements of a buffer")
}
