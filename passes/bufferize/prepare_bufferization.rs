//! `layout-prepare-bufferization`: prepares tensors with tiled layouts for upstream's bufferization.
//!
//! Upstream's bufferization drops a tensor's encoding, unless an option makes it the memory space of the buffer. So
//! each `#layout.tiled` is wrapped as `#layout.pending`, which survives as a memory space and which
//! `layout-lower-memrefs` reads afterwards. Besides:
//!
//! - `layout.convert` becomes a copy into an empty tensor of the other layout, or with `layout.await` an asynchronous
//!   copy, see `async_copies`;
//! - elementwise operations, with layouts or without, become `linalg.generic` on an empty tensor (upstream's pass loses
//!   the encoding of results, and lets an operation overwrite its operand: a chain of them is then one alias set, and
//!   bufferization takes time cubic in its length), and a bitcast joins the one that computes its operand;
//!   `tensor.splat` becomes `linalg.fill`, `tensor.generate` a
//!   `linalg.generic`, `tensor.concat` insertions, `tensor.pad` a fill and an insertion;
//! - `linalg.softmax`, also of memrefs, `linalg.pack` and `linalg.unpack` become upstream's decompositions, with layouts
//!   or without;
//! - conversions between buffers and tensors (`bufferization.to_tensor`, `to_buffer`) use the layout of the
//!   tensor, with a copy if the buffer's type has another;
//! - a reshape whose index is a product of run-time sizes is applied to a row-major copy;
//! - reshapes, transposes, packings and conversions that leave every element at its byte share the buffer of their
//!   operand, see `same_bytes`, and tensors that a loop inserts are computed in their destination, see `destinations`;
//! - slices and insertions with ambiguous dropped dimensions keep all of them, see `rank_reduction`;
//! - `scf.index_switch` of tensors becomes a tree of `scf.if`, which upstream's analysis knows;
//! - what is loaded from and stored in global variables of `ml_program` is copied, see `globals`;
//! - a slice or reshape that leaves its block, by a branch, loop, call or return, is copied first: a buffer knows its
//!   layout and part of one does not;
//! - so is one whose layout differs from its source's, unless it is only read: a buffer that bufferization allocates
//!   for it would have the layout of its source;
//! - tensor arguments of public functions are read-only unless an attribute says otherwise, as callers are unknown;
//! - an encoding that is no layout, and no memory space of a memref, is dropped, as bufferization does
//!   by itself;
//! - a block argument that other blocks write and then read is copied, see `branches`;
//! - alias sets are kept small, see `aliases`;
//! - buffers that the program itself frees are marked, so that upstream leaves them alone.
//!
//! Programs that cannot be lowered later are refused here, before anything has changed.

use crate::analysis::aliases;
use crate::analysis::same_bytes::{SameBytes, is_whole, run_time_sizes};
use crate::bufferize::pad_generate_concat::{concatenate, generate, pad};
use crate::bufferize::rank_reduction::name_dimensions;
use crate::bufferize::switches::{self, as_branches};
use crate::bufferize::{branches, deallocate, destinations, globals};
use crate::buffers::async_copies::{is_async, start};
use crate::buffers::lowered::{AnyLayout, LoweredMemRef};
use crate::buffers::operations::{BOUNDARY, BUFFERIZES, ELEMENTWISE, SLICE_OR_RESHAPE, is};
use crate::buffers::spread::Axes;
use crate::buffers::type_converter::{TypeConverter, has_nested_layout};
use crate::buffers::views::{changes_layout, has_affine_index, is_read_in_place, tensor_layout};
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::Form;
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream;
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::attribute::{ArrayAttribute, BoolAttribute, DictionaryAttribute};
use melior::ir::operation::OperationMutLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Location, Type, TypeLike, ValueLike};
use std::collections::{HashMap, HashSet};
use tensor_layout::expr::Expr;
use tensor_layout::limits::NESTED_TENSORS;

/// Prepares a module. On failure reports the reasons and changes nothing.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let rewriter = stage.rewriter;
    let module = rewriter.root();
    let operations = ir::all_operations(module);
    let mut errors = refused(&operations, &Axes::of(module, &operations));
    errors.extend(nested_too_deep(&operations));
    errors.extend(globals::refused(&operations));
    errors.extend(deallocate::refused_calls(module));
    if !errors.is_empty() {
        return Err(errors);
    }
    // Bufferization and later passes skip nested modules.
    let functions = ir::blocks(module).into_iter().flat_map(ir::operations).filter(|op| ir::name(*op) == "func.func");
    for function in functions {
        read_only_arguments(function);
        deallocate::mark(function);
    }
    let mut same_bytes = SameBytes::default();
    decompose(rewriter, &mut same_bytes)?;
    globals::separate(rewriter, |b, tensor| copied(b, tensor, tensor.r#type()));
    let (gone, read, views) = (HashSet::new(), HashMap::new(), HashMap::new());
    let mut tensors = TensorRewriter { rewriter, same_bytes: &mut same_bytes, gone, read, views };
    ir::all_operations(module).into_iter().for_each(|op| tensors.rewrite(op));
    copy_where_needed(rewriter, same_bytes);
    wrap_layouts(module);
    branches::copy_arguments(&ir::all_operations(module), |b, tensor| copied(b, tensor, tensor.r#type()));
    aliases::bound(module, |b, tensor| copied(b, tensor, tensor.r#type()));
    Ok(Next::Changed)
}

/// Decomposes the operations of which upstream's bufferization knows only the parts.
fn decompose<'c>(rewriter: &'c Rewriter, same_bytes: &mut SameBytes<'c>) -> Result<(), Vec<Diagnostic<'c>>> {
    for op in ir::all_operations(rewriter.root()) {
        match ir::name(op) {
            "linalg.softmax" if is_tensor(ir::operands(op)[0]) => softmax(rewriter, op)?,
            "linalg.softmax" => softmax(rewriter, on_tensors(rewriter, op))?,
            "linalg.pack" | "linalg.unpack" if is_tensor(ir::operands(op)[0]) && same_bytes.source(op).is_none() => {
                decompose_pack(rewriter, op)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Operations on tensors, rewritten into ones that bufferize with layouts. The first rule that applies is the one:
/// operations without elements, and those that keep all bytes, have none of the later needs.
struct TensorRewriter<'a, 'c> {
    rewriter: &'c Rewriter,
    same_bytes: &'a mut SameBytes<'c>,
    /// Operations that an earlier one has taken along.
    gone: HashSet<usize>,
    /// Known results of [`is_read_in_place`].
    read: HashMap<usize, bool>,
    /// Known results of [`may_share_part_of_buffer`].
    views: HashMap<usize, bool>,
}

impl<'c> TensorRewriter<'_, 'c> {
    fn rewrite(&mut self, op: Op<'c>) {
        if self.gone.contains(&ir::op_key(op)) {
            return;
        }
        let mut op = op;
        if ir::name(op) == "tensor.pad" && adds_nothing(op) {
            self.gone.extend(ir::all_operations(op).into_iter().map(ir::op_key));
            op = as_cast(self.rewriter, op);
        }
        if !self.keep_bytes(op) {
            self.copy_or_compute(op);
        }
    }

    /// Rewrites an operation whose result has the bytes of its operand, or none. Returns whether it is one.
    fn keep_bytes(&mut self, op: Op<'c>) -> bool {
        match ir::name(op) {
            "layout.convert" if starts_async_copy(op, &mut self.views) => start(self.rewriter, op),
            "layout.await" => replace(self.rewriter, op, ir::operands(op)[0]),
            "layout.convert" if is_tensor(ir::result(op, 0)) && destinations::convert(self.rewriter, op) => {}
            name if is(name, SLICE_OR_RESHAPE) && is_identity(op) => {
                replace(self.rewriter, op, ir::operands(op)[0]);
            }
            // Upstream's operations on buffers refuse an offset at the end of a dimension, and a size that was unknown
            // and is 0.
            name if is(name, SLICE_OR_RESHAPE) && is_without_elements(op) => {
                let b = Builder::before(op);
                let sizes = run_time_sizes(b, op, ir::operands(op)[0]);
                replace(self.rewriter, op, b.value("tensor.empty", &sizes, ir::result(op, 0).r#type(), &[]));
            }
            "tensor.bitcast" if join_producer(self.rewriter, op) => {}
            _ if self.alias_views(op) => {}
            // It keeps the bytes of a part of a buffer, which is copied first.
            "linalg.pack" | "linalg.unpack" if is_tensor(ir::operands(op)[0]) => {
                let source = ir::operands(op)[0];
                ir::edit(op).set_operand(0, copied(Builder::before(op), source, source.r#type()));
                self.same_bytes.alias_bytes(self.rewriter, op);
            }
            _ => return false,
        }
        true
    }

    /// Gives an operation the buffer of its operand, behind views that keep all bytes. A slice or reshape that is only
    /// read stays a view.
    fn alias_views(&mut self, op: Op<'c>) -> bool {
        let is_view = is(ir::name(op), SLICE_OR_RESHAPE)
            && !needs_row_major(op, &mut self.views)
            && (!changes_layout(op) || is_read_in_place(ir::result(op, 0), &mut self.read))
            && !leaves_block(op);
        if is_view {
            return false;
        }
        let views = self.same_bytes.views_before(op, |v| may_share_part_of_buffer(v, &mut self.views));
        let Some(views) = views else { return false };
        for view in views {
            self.gone.insert(ir::op_key(view));
            self.same_bytes.alias_bytes(self.rewriter, view);
        }
        self.same_bytes.alias_bytes(self.rewriter, op);
        true
    }

    /// Rewrites an operation that copies its operand or computes.
    fn copy_or_compute(&mut self, op: Op<'c>) {
        let (rewriter, views) = (self.rewriter, &mut self.views);
        match ir::name(op) {
            "layout.convert" if is_tensor(ir::result(op, 0)) => {
                let copy = copied(Builder::before(op), ir::operands(op)[0], ir::result(op, 0).r#type());
                replace(rewriter, op, copy);
            }
            "tensor.extract_slice" | "tensor.insert_slice" | "tensor.parallel_insert_slice"
                if name_dimensions(rewriter, op, copied) => {}
            "tensor.concat" if ir::operands(op).into_iter().any(has_no_elements) || reaches_layouts(op, views) => {
                concatenate(rewriter, op);
            }
            "tensor.pad" if has_no_elements(ir::operands(op)[0]) || reaches_layouts(op, views) => {
                self.gone.extend(ir::all_operations(op).into_iter().map(ir::op_key));
                pad(rewriter, op);
            }
            "scf.index_switch" if ir::results(op).into_iter().any(is_tensor) => as_branches(rewriter, op),
            "tensor.splat" if touches_layouts(op) => splat(rewriter, op),
            "tensor.generate" if touches_layouts(op) => generate(rewriter, op),
            "tensor.reshape" | "tensor.expand_shape" | "tensor.collapse_shape" if needs_row_major(op, views) => {
                in_row_major(op);
            }
            "bufferization.materialize_in_destination" if is_tensor(ir::operands(op)[1]) => materialize(rewriter, op),
            "bufferization.alloc_tensor" if touches_layouts(op) => allocate(rewriter, op),
            "bufferization.to_tensor" | "bufferization.to_buffer" => convert_buffer(op),
            name if is(name, SLICE_OR_RESHAPE)
                && changes_layout(op)
                && !is_read_in_place(ir::result(op, 0), &mut self.read) =>
            {
                copy_result(op, ir::result(op, 0).r#type());
            }
            name if is(name, ELEMENTWISE) && ir::results(op).into_iter().all(is_tensor) => {
                elementwise(rewriter, op);
            }
            _ => {}
        }
    }
}

/// Copies tensors that share memory with one that is overwritten, or that leave their block as a part of a buffer.
fn copy_where_needed<'c>(rewriter: &'c Rewriter, mut same_bytes: SameBytes<'c>) {
    let module = rewriter.root();
    same_bytes.copy_overwritten(module, |b, tensor| copied(b, tensor, tensor.r#type()));
    same_bytes.mark_read_only();
    destinations::slice(rewriter);
    copy_leaving_views(&ir::all_operations(module));
}

/// Whether a conversion starts an asynchronous copy, of a tensor with a buffer of its own.
fn starts_async_copy<'c>(op: Op<'c>, views: &mut HashMap<usize, bool>) -> bool {
    is_async(op) && !may_share_part_of_buffer(ir::operands(op)[0], views)
}

/// The first operation that yields tensors inside too many others that do: each level doubles the time of
/// bufferization's analysis. For nested `scf.if`, 20 levels take it 1.3 s, 22 5.6 s and 24 21 s.
fn nested_too_deep<'c>(operations: &[Op<'c>]) -> Option<Diagnostic<'c>> {
    let mut depths: HashMap<_, usize> = HashMap::new();
    // An operation comes before those inside it.
    let too_deep = operations.iter().find(|op| {
        let outer = ir::parent(**op).and_then(|parent| depths.get(&ir::op_key(parent))).copied().unwrap_or_default();
        let hands_on = ir::name(**op).starts_with("scf.") && ir::results(**op).into_iter().any(is_tensor);
        let own = match ir::name(**op) {
            "scf.index_switch" => switches::levels(**op),
            _ => 1,
        };
        let depth = if hands_on { outer + own } else { outer };
        if !ir::blocks(**op).is_empty() {
            depths.insert(ir::op_key(**op), depth);
        }
        depth > NESTED_TENSORS
    })?;
    let message = format!(
        "'{}' op cannot be bufferized: loops and conditions that hand on tensors must nest at most {NESTED_TENSORS} deep, \
         found more",
        ir::name(*too_deep)
    );
    Some(Diagnostic::error(ir::location(*too_deep), message))
}

/// Replaces a softmax of memrefs by one of tensors, whose result is copied into the output: the input may be the same
/// buffer. Returns the new one.
fn on_tensors<'c>(rewriter: &'c Rewriter, op: Op<'c>) -> Op<'c> {
    let b = Builder::before(op);
    let [input, output] = [0, 1].map(|k| ir::operands(op)[k]);
    let of = |memref: Val<'c>| {
        let shaped = ir::memref(memref.r#type()).expect("a memref");
        Shaped { layout: shaped.layout.filter(|layout| AnyLayout::of(*layout).is_some()), space: None, ..shaped }
    };
    let unit = Attribute::unit(b.context());
    let read = |memref| {
        let t = ir::tensor_type(&of(memref));
        b.value("bufferization.to_tensor", &[memref], t, &[b.named("restrict", unit)])
    };
    let (read, sizes) = (read(input), read(output));
    let into = empty(b, sizes, sizes.r#type());
    let softmax = b.op("linalg.softmax", &[read, into], &[into.r#type()], &b.attributes_of(op));
    let buffer = ir::memref_type(b.location, &of(output)).expect("a type that memrefs have");
    let made = b.value("bufferization.to_buffer", &[ir::result(softmax, 0)], buffer, &[b.named("read_only", unit)]);
    b.op("memref.copy", &[made, output], &[], &[]);
    rewriter.erase(op);
    softmax
}

/// Replaces a softmax by its decomposition. Upstream gives the parts the type of the input, and
/// the last of them that of the output: so the input is first converted to the layout of the output.
fn softmax<'c>(rewriter: &'c Rewriter, op: Op<'c>) -> Result<(), Vec<Diagnostic<'c>>> {
    let (input, output) = (ir::operands(op)[0], ir::operands(op)[1]);
    if input.r#type() != output.r#type() {
        let input = copied(Builder::before(op), input, output.r#type());
        ir::edit(op).set_operand(0, input);
    }
    let location = ir::location(op);
    if !upstream::decompose(op) {
        return Err(vec![Diagnostic::error(location, "'linalg.softmax' op cannot be decomposed")]);
    }
    rewriter.erase(op);
    Ok(())
}

/// Replaces a `linalg.pack` by upstream's padding, reshape and transpose, and a `linalg.unpack` by a transpose, reshape,
/// slice and copy. Upstream gives the parts the encoding of the packed tensor, which may have another rank: so layouts
/// are removed from all types during the decomposition. The last part then writes into the output itself.
fn decompose_pack<'c>(rewriter: &'c Rewriter, op: Op<'c>) -> Result<(), Vec<Diagnostic<'c>>> {
    let (name, location) = (ir::name(op), ir::location(op));
    let (b, result) = (Builder::before(op), ir::result(op, 0));
    let t = result.r#type();
    let [source, output] = [0, 1].map(|k| {
        let operand = ir::operands(op)[k];
        let plain = b.op("tensor.cast", &[operand], &[ir::without_layout(operand.r#type())], &[]);
        ir::edit(op).set_operand(k, ir::result(plain, 0));
        (operand, plain)
    });
    let after = ir::next(op).expect("a tensor operation is no terminator");
    let end = Builder::before(after).op("tensor.cast", &[result], &[t], &[]);
    ir::replace_all_uses(result, ir::result(end, 0));
    ir::edit(end).set_operand(0, result);
    ir::set_type(result, ir::without_layout(t));
    if !upstream::decompose(op) {
        return Err(vec![Diagnostic::error(location, format!("'{name}' op cannot be decomposed"))]);
    }
    let made = ir::operands(end)[0];
    ir::replace_all_uses(ir::result(output.1, 0), output.0);
    ir::set_type(made, t);
    ir::replace_all_uses(ir::result(end, 0), made);
    rewriter.erase(end);
    rewriter.erase(output.1);
    if ir::result(source.1, 0).r#type() == source.0.r#type() {
        ir::replace_all_uses(ir::result(source.1, 0), source.0);
        rewriter.erase(source.1);
    }
    Ok(())
}

/// Whether a `tensor.pad` adds no padding: its widths are 0, or the sizes are known and those of the source.
fn adds_nothing(op: Op) -> bool {
    let [source, result] =
        [ir::operands(op)[0], ir::result(op, 0)].map(|v| ir::tensor(v.r#type()).and_then(|t| t.sizes()));
    let widths = || ["static_low", "static_high"].into_iter().flat_map(|name| ir::sizes(op, name));
    source.is_some() && source == result || widths().all(|n| n == Some(0))
}

/// Whether a tensor has a size of 0.
fn has_no_elements(v: Val) -> bool {
    ir::tensor(v.r#type()).is_some_and(|t| t.shape.contains(&Some(0)))
}

/// Whether a slice or reshape of a tensor is its source.
fn is_identity(op: Op) -> bool {
    let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
    is_tensor(result) && source.r#type() == result.r#type() && (ir::name(op) != "tensor.extract_slice" || is_whole(op))
}

/// Whether a slice or reshape leaves its block, so that it is copied unless it has all of a buffer.
fn leaves_block(op: Op) -> bool {
    let result = ir::result(op, 0);
    tensor_layout(result).is_some() && ir::uses(result).into_iter().any(|(user, _)| is(ir::name(user), BOUNDARY))
}

/// Whether a slice or reshape has no elements, and the sizes of its result are those that it is given.
fn is_without_elements(op: Op) -> bool {
    let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
    let [Some(from), Some(to)] = [source, result].map(|v| ir::tensor(v.r#type())) else { return false };
    let keeps_rank = from.shape.len() == to.shape.len() || to.sizes().is_some();
    [source, result].into_iter().any(has_no_elements) && (ir::name(op) != "tensor.extract_slice" || keeps_rank)
}

/// Replaces the result of an operation.
fn replace<'c>(rewriter: &Rewriter, op: Op<'c>, with: Val<'c>) {
    ir::replace_all_uses(ir::result(op, 0), with);
    rewriter.erase(op);
}

/// Replaces an operation that only changes the layout of its first operand by a `tensor.cast`.
fn as_cast<'c>(rewriter: &Rewriter, op: Op<'c>) -> Op<'c> {
    let cast = Builder::before(op).op("tensor.cast", &[ir::operands(op)[0]], &[ir::result(op, 0).r#type()], &[]);
    replace(rewriter, op, ir::result(cast, 0));
    cast
}

/// Whether a reshape of tensors with layouts, if it moves elements, must do so between row-major copies.
fn needs_row_major<'c>(op: Op<'c>, views: &mut HashMap<usize, bool>) -> bool {
    match ir::name(op) {
        "tensor.reshape" => touches_layouts(op),
        "tensor.expand_shape" | "tensor.collapse_shape" => !has_affine_index(op) && reaches_layouts(op, views),
        _ => false,
    }
}

/// Makes a reshape read a row-major copy and define a row-major tensor, which is copied into the layout of its result.
fn in_row_major(op: Op) {
    let b = Builder::before(op);
    for (k, operand) in ir::operands(op).into_iter().enumerate() {
        // The source may be part of a tensor with a layout even if it has none itself; other operands are sizes.
        if k == 0 || tensor_layout(operand).is_some() {
            ir::edit(op).set_operand(k, copied(b, operand, ir::without_layout(operand.r#type())));
        }
    }
    let result = ir::result(op, 0);
    let t = result.r#type();
    if tensor_layout(result).is_some() {
        ir::set_type(result, ir::without_layout(t));
        copy_result(op, t);
    }
}

/// Copies a tensor into another one, whose old elements are not read.
fn materialize(rewriter: &Rewriter, op: Op) {
    let (operands, t) = (ir::operands(op), ir::result(op, 0).r#type());
    let copy = Builder::before(op).named_structured("linalg.copy", &operands, &[1, 1], t);
    replace(rewriter, op, ir::result(copy, 0));
}

/// An empty tensor, or a copy of another one.
fn allocate(rewriter: &Rewriter, op: Op) {
    let (b, result) = (Builder::before(op), ir::result(op, 0));
    let operands = ir::operands(op);
    let segments = ir::integers(op, "operandSegmentSizes");
    let sizes = segments.first().and_then(|n| usize::try_from(*n).ok()).unwrap_or_default();
    let made = match segments.get(1) {
        Some(1) => copied(b, operands[sizes], result.r#type()),
        _ => b.value("tensor.empty", &operands[..sizes], result.r#type(), &[]),
    };
    replace(rewriter, op, made);
}

/// Gives the buffer side of a `bufferization.to_tensor` or `to_buffer` the type that bufferization will give the
/// tensor, and converts between it and the program's type: with equal layouts nothing moves.
fn convert_buffer(op: Op) {
    let (given, made) = (ir::operands(op)[0], ir::result(op, 0));
    let enters = ir::name(op) == "bufferization.to_tensor";
    let (tensor, buffer) = if enters { (made, given) } else { (given, made) };
    let Some(shaped) = ir::memref(buffer.r#type()) else { return };
    let layout = tensor_layout(tensor);
    if layout.is_none() && AnyLayout::of_memref(buffer.r#type()).is_none() {
        return;
    }
    let space = layout.and_then(|layout| layout_dialect::pending_attribute(layout).ok());
    let Some(t) = ir::memref_type(ir::location(op), &Shaped { layout: None, space, ..shaped }) else { return };
    if enters {
        let converted = Builder::before(op).value("layout.convert", &[buffer], t, &[]);
        ir::edit(op).set_operand(0, converted);
        return;
    }
    let said = buffer.r#type();
    ir::set_type(buffer, t);
    let after = Builder::before(ir::next(op).expect("it is no terminator")).located(op);
    let converted = after.op("layout.convert", &[buffer], &[said], &[]);
    ir::replace_all_uses(buffer, ir::result(converted, 0));
    ir::edit(converted).set_operand(0, buffer);
}

/// Fills an empty tensor with a scalar.
fn splat(rewriter: &Rewriter, op: Op) {
    let result = ir::result(op, 0);
    let b = Builder::before(op);
    let (scalar, sizes) = ir::operands(op).split_first().map(|(s, n)| (*s, n.to_vec())).expect("a scalar");
    let empty = b.value("tensor.empty", &sizes, result.r#type(), &[]);
    let filled = b.named_structured("linalg.fill", &[scalar, empty], &[1, 1], result.r#type());
    replace(rewriter, op, ir::result(filled, 0));
}

/// Copies slices and reshapes that leave their block.
fn copy_leaving_views(operations: &[Op]) {
    let (mut views, mut slices) = (HashMap::new(), HashMap::new());
    for op in operations.iter().filter(|op| is(ir::name(**op), BOUNDARY)) {
        let leaves_function = matches!(ir::name(*op), "func.return" | "func.call");
        for (k, v) in ir::operands(*op).into_iter().enumerate() {
            let of_layout = tensor_layout(v).is_some() && may_share_part_of_buffer(v, &mut views);
            let is_slice = leaves_function && has_unknown_strides(v) && may_share_slice(v, &mut slices);
            if of_layout || is_slice {
                let copy = copied(Builder::before(*op), v, v.r#type());
                ir::edit(*op).set_operand(k, copy);
            }
        }
    }
}

/// Wraps each layout as `#layout.pending`.
fn wrap_layouts(module: Op) {
    let mut wrap = TypeConverter::new(|t| {
        let shaped = ir::tensor(t)?;
        let encoding = shaped.layout?;
        let layout = match AnyLayout::of(encoding) {
            Some(_) => Some(layout_dialect::pending_attribute(encoding).ok()?),
            // Bufferization would use it as the memory space of a memref.
            None if upstream::is_memory_space(encoding) => return None,
            None => None,
        };
        Some(ir::tensor_type(&Shaped { layout, ..shaped }))
    });
    for op in ir::all_operations(module) {
        wrap.operation(op);
    }
}

/// The parts of a module that lowering would fail on, each with the reason.
fn refused<'c>(operations: &[Op<'c>], axes: &Axes) -> Vec<Diagnostic<'c>> {
    let mut errors = Vec::new();
    let mut types: HashSet<Type<'c>> = HashSet::new();
    for op in operations {
        let (name, location) = (ir::name(*op), ir::location(*op));
        if let Some(reason) = unsupported(*op) {
            errors.push(Diagnostic::error(location, format!("'{name}' op cannot be lowered: {reason}")));
            continue;
        }
        let arguments = ir::blocks(*op).into_iter().flat_map(ir::arguments);
        let mut named: Vec<Type<'c>> = ir::results(*op).into_iter().chain(arguments).map(|v| v.r#type()).collect();
        let function = ir::attribute(*op, "function_type").and_then(ir::type_in).and_then(ir::function);
        named.extend(function.into_iter().flat_map(|(inputs, results)| inputs.into_iter().chain(results)));
        for t in named {
            if !types.insert(t) {
                continue;
            }
            let reason = match has_nested_layout(t) {
                true => Some("a type nested in it contains a layout".to_string()),
                false => not_lowered(t, location, axes),
            };
            errors.extend(reason.map(|reason| Diagnostic::error(location, format!("cannot lower {t}: {reason}"))));
        }
    }
    errors
}

/// The reason why an operation on tensors cannot be lowered, if there is one.
fn unsupported(op: Op) -> Option<&'static str> {
    let name = ir::name(op);
    if matches!(name, "linalg.pack" | "linalg.unpack") && ir::sizes(op, "static_inner_tiles").contains(&None) {
        return Some("the sizes of its inner tiles must be constants, found one that is known only at run time");
    }
    if name == "tensor.bitcast" && !ir::operands(op).into_iter().chain(ir::results(op)).all(has_bits) {
        return Some("its elements must be floating-point numbers or integers without a sign in their type");
    }
    if name == "linalg.softmax" && is_tensor(ir::operands(op)[0]) != is_tensor(ir::operands(op)[1]) {
        return Some("its input and its output must be both tensors or both memrefs");
    }
    if name == "builtin.module" {
        let nested = ir::parent(op).is_some() && has_layouts(op);
        return nested.then_some("bufferization does not look into nested modules");
    }
    if !touches_layouts(op) {
        return None;
    }
    if !is(name, BUFFERIZES) && ir::indexing_maps(op).is_none() {
        return Some("unsupported operation on a tiled tensor");
    }
    match name {
        "arith.constant" if ir::attribute(op, "value").and_then(ir::constant).is_none() => {
            Some("its value is not a dense constant in the module")
        }
        "tensor.cast" if !is_tensor(ir::result(op, 0)) => Some("a tensor without a rank has no layout"),
        "bufferization.alloc_tensor" if ir::attribute(op, "memory_space").is_some() => Some(
            "the memory space of a tensor with a layout must be that of the layout, S(n): leave `memory_space` out",
        ),
        _ => None,
    }
}

/// The reason why the layout of a tensor type cannot be lowered, if there is one.
fn not_lowered<'c>(t: Type<'c>, location: Location<'c>, axes: &Axes) -> Option<String> {
    let shaped = ir::tensor(t)?;
    let layout = AnyLayout::of(shaped.layout?)?;
    LoweredMemRef::new(location, &Shaped { layout: None, ..shaped }, &layout, axes, Form::Strided).err()
}

fn is_tensor(v: Val) -> bool {
    ir::tensor(v.r#type()).is_some()
}

/// Whether `arith.bitcast` accepts the elements.
fn has_bits(v: Val) -> bool {
    let element = element_of(v.r#type());
    element.is_float() || IntegerType::try_from(element).is_ok_and(|integer| integer.is_signless())
}

fn touches_layouts(op: Op) -> bool {
    ir::operands(op).into_iter().chain(ir::results(op)).any(|v| tensor_layout(v).is_some())
}

/// Whether an operation has layouts, or an operand may be in the buffer of a tensor with one.
fn reaches_layouts<'c>(op: Op<'c>, views: &mut HashMap<usize, bool>) -> bool {
    touches_layouts(op) || ir::operands(op).into_iter().any(|v| is_tensor(v) && may_share_part_of_buffer(v, views))
}

/// Whether a tensor below an operation has a layout.
fn has_layouts(op: Op) -> bool {
    ir::all_operations(op).into_iter().any(|op| {
        let arguments = ir::blocks(op).into_iter().flat_map(ir::arguments);
        touches_layouts(op) || arguments.into_iter().any(|v| tensor_layout(v).is_some())
    })
}

/// Whether a tensor may get part of another's buffer, or that buffer in another shape. The result of an operation that
/// updates a tensor is in that tensor's buffer.
fn may_share_part_of_buffer<'c>(v: Val<'c>, known: &mut HashMap<usize, bool>) -> bool {
    may_share(v, known, &|name| is(name, SLICE_OR_RESHAPE))
}

/// Whether a tensor may be in the buffer of a slice. Upstream gives functions buffers without gaps, and casts a slice to one
/// where sizes that are known only at run time hide its strides.
fn may_share_slice<'c>(v: Val<'c>, known: &mut HashMap<usize, bool>) -> bool {
    may_share(v, known, &|name| name == "tensor.extract_slice")
}

/// Whether the strides of a buffer without gaps depend on sizes that are known only at run time.
fn has_unknown_strides(v: Val) -> bool {
    ir::tensor(v.r#type()).is_some_and(|t| t.shape.iter().skip(1).any(Option::is_none))
}

/// Whether a tensor may be in the buffer of the result of an operation that makes parts of buffers.
fn may_share<'c>(v: Val<'c>, known: &mut HashMap<usize, bool>, makes_part: &dyn Fn(&str) -> bool) -> bool {
    let mut stack = vec![v];
    let mut seen = Vec::new();
    let mut found = false;
    while let Some(v) = stack.pop() {
        if let Some(known) = known.get(&ir::key(v)) {
            found |= known;
            continue;
        }
        let Some(op) = ir::defining_op(v) else { continue };
        known.insert(ir::key(v), false);
        seen.push(ir::key(v));
        let operands = ir::operands(op);
        match ir::name(op) {
            name if makes_part(name) => found = true,
            name if is(name, SLICE_OR_RESHAPE) => stack.push(operands[0]),
            "tensor.insert" | "tensor.insert_slice" => stack.push(operands[1]),
            "arith.select" => stack.extend(&operands[1..]),
            _ if ir::indexing_maps(op).is_some() => {
                // The updated operands come last, one for each result.
                let inputs = operands.len().saturating_sub(ir::results(op).len());
                stack.extend(ir::result_number(v).and_then(|result| operands.get(inputs + result)));
            }
            _ => {}
        }
    }
    if found {
        // Visited values may be views: an extra copy does no harm.
        known.extend(seen.into_iter().map(|k| (k, true)));
    }
    found
}

/// Copies the result of a slice or reshape to a tensor of type `t`, for all its users.
fn copy_result<'c>(op: Op<'c>, t: Type<'c>) {
    let result = ir::result(op, 0);
    let after = ir::next(op).expect("a tensor operation is no terminator");
    let copy = copied(Builder::before(after).located(op), result, t);
    let reader = ir::defining_op(copy).expect("a copy is made by an operation");
    ir::replace_all_uses(result, copy);
    ir::edit(reader).set_operand(0, result);
    for (user, operand) in ir::uses(copy).into_iter().filter(|u| ir::name(u.0) == "tensor.dim") {
        // Users before the copy are the sizes that it needs.
        if ir::comes_before(user, reader) {
            ir::edit(user).set_operand(operand, result);
        }
    }
}

/// A copy of a tensor in a new tensor of another type.
fn copied<'c>(b: Builder<'c>, from: Val<'c>, to: Type<'c>) -> Val<'c> {
    let empty = empty(b, from, to);
    ir::result(b.named_structured("linalg.copy", &[from, empty], &[1, 1], to), 0)
}

/// An empty tensor of type `t` with the sizes of another.
fn empty<'c>(b: Builder<'c>, like: Val<'c>, t: Type<'c>) -> Val<'c> {
    let shape = ir::tensor(t).expect("a tensor type").shape;
    let index = Type::index(b.context());
    let unknown = (0..shape.len()).filter(|d| shape[*d].is_none());
    let sizes: Vec<Val<'c>> = unknown.map(|d| b.value("tensor.dim", &[like, b.index(d as i64)], index, &[])).collect();
    b.value("tensor.empty", &sizes, t, &[])
}

/// Replaces an elementwise operation by a structured one with the same operation inside; returns it, if it has a
/// tensor.
pub fn elementwise<'c>(rewriter: &Rewriter, op: Op<'c>) -> Option<Op<'c>> {
    let b = Builder::before(op);
    let operands = ir::operands(op);
    let results = ir::results(op);
    let like = operands.iter().copied().find(|v| is_tensor(*v))?;
    let types: Vec<_> = results.iter().map(|r| r.r#type()).collect();
    let rank = ir::tensor(like.r#type()).map_or(0, |t| t.shape.len());
    let outputs: Vec<_> = types.iter().map(|t| empty(b, like, *t)).collect();
    let identity: Vec<Expr> = (0..rank).map(Expr::Var).collect();
    let map = |v: &Val| b.map(rank, if is_tensor(*v) { &identity } else { &[] }, &|v| v);
    let maps: Vec<Attribute> = operands.iter().chain(&outputs).map(map).collect();
    let parallel = Attribute::parse(b.context(), "#linalg.iterator_type<parallel>").expect("linalg is loaded");
    let all: Vec<_> = operands.iter().chain(&outputs).copied().collect();
    let arguments: Vec<_> = all.iter().map(|v| element_of(v.r#type())).collect();
    let attributes = [
        b.named("indexing_maps", ArrayAttribute::new(b.context(), &maps)),
        b.named("iterator_types", ArrayAttribute::new(b.context(), &vec![parallel; rank])),
        b.segments(&[operands.len() as i32, outputs.len() as i32]),
    ];
    let (generic, end) = b.with_body("linalg.generic", &all, &types, &attributes, &arguments, "linalg.yield");
    let arguments = ir::arguments(ir::blocks(generic)[0]);
    let attributes = b.attributes_of(op);
    let elements: Vec<_> = types.iter().map(|t| element_of(*t)).collect();
    let name = if ir::name(op) == "tensor.bitcast" { "arith.bitcast" } else { ir::name(op) };
    let inner = b.at(end).op(name, &arguments[..operands.len()], &elements, &attributes);
    ir::set_operands(end, &ir::results(inner));
    for (old, new) in results.into_iter().zip(ir::results(generic)) {
        ir::replace_all_uses(old, new);
    }
    rewriter.erase(op);
    Some(generic)
}

/// Moves a bitcast of a tensor that nothing else uses into the `linalg.generic` that computes all its elements, in any
/// order: a buffer of the operand's type is not needed. Returns whether there is one.
fn join_producer<'c>(rewriter: &Rewriter, op: Op<'c>) -> bool {
    let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
    let producer = ir::defining_op(source).filter(|op| ir::name(*op) == "linalg.generic");
    let Some((producer, number)) = producer.zip(ir::result_number(source)) else { return false };
    let (operands, body) = (ir::operands(producer), ir::blocks(producer)[0]);
    let output = operands.len() - ir::results(producer).len() + number;
    let (argument, end) = (ir::arguments(body)[output], ir::operations(body).pop().expect("a terminator"));
    let is_permutation = ir::indexing_maps(producer).is_some_and(|maps| maps[output].is_permutation());
    let Some(empty) = ir::defining_op(operands[output]).filter(|op| ir::name(*op) == "tensor.empty") else {
        return false;
    };
    let is_same_shape = ir::tensor(source.r#type()).map(|t| t.shape) == ir::tensor(result.r#type()).map(|t| t.shape);
    if !is_same_shape || !is_permutation || ir::is_used(argument) || ir::uses(source).len() != 1 {
        return false;
    }
    let (t, element) = (result.r#type(), element_of(result.r#type()));
    let into = Builder::before(empty).value("tensor.empty", &ir::operands(empty), t, &[]);
    let bits = Builder::before(end).value("arith.bitcast", &[ir::operands(end)[number]], element, &[]);
    ir::edit(producer).set_operand(output, into);
    ir::edit(end).set_operand(number, bits);
    ir::set_type(argument, element);
    ir::set_type(source, t);
    replace(rewriter, op, source);
    true
}

/// The element type of a tensor, or the type of a scalar.
fn element_of<'c>(t: Type<'c>) -> Type<'c> {
    ir::tensor(t).map_or(t, |t| t.element)
}

/// Marks the tensor arguments of a public function as not writable, unless they are marked.
fn read_only_arguments(op: Op) {
    let b = Builder::before(op);
    let context = b.context();
    let private = ir::attribute(op, "sym_visibility").is_some_and(|a| ir::text(a) == Some("private"));
    let Some((inputs, _)) = ir::attribute(op, "function_type").and_then(ir::type_in).and_then(ir::function) else {
        return;
    };
    if private || !inputs.iter().any(|t| ir::tensor(*t).is_some()) {
        return;
    }
    let given = ir::elements(op, "arg_attrs");
    let key = "bufferization.writable";
    let dictionaries: Vec<Attribute> = (0..inputs.len())
        .map(|k| {
            let mut entries = given.get(k).map(|d| ir::entries(*d)).unwrap_or_default();
            if ir::tensor(inputs[k]).is_some() && !entries.iter().any(|e| e.0 == key) {
                entries.push((key.to_owned(), BoolAttribute::new(context, false).into()));
            }
            let entries: Vec<_> = entries.iter().map(|(name, a)| (Identifier::new(context, name), *a)).collect();
            DictionaryAttribute::new(context, &entries).into()
        })
        .collect();
    ir::edit(op).set_attribute("arg_attrs", ArrayAttribute::new(context, &dictionaries).into());
}
