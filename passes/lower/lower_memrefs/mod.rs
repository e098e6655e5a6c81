//! `layout-lower-memrefs`: memrefs with tiled layouts become plain strided ones, with the operations that use them.
//!
//! A memref is lowered if its layout is `#layout.tiled`, `#layout.tensor_layout` or an `affine_map` without strides, or
//! if its memory space is `#layout.pending`, the form in which a tensor's layout survives bufferization. Such a memref
//! is called *tiled* here, also without tiles. The phases, each over the operations in program order:
//!
//! 1. *Convert types* (`state.rs`, lowered types in `types.rs`): tiled buffers get their lowered types in place.
//! 2. *Rewrite* operations on tiled buffers. Slices and reshapes are followed to their buffer by composing index
//!    maps. `memory.rs` lowers allocations, reads and writes. A structured operation becomes scalar loops, or with
//!    `vectorize` vector code (`nests.rs`), in steps of its own:
//!    - *fuse*: an operation that the next one can compute on the way is not emitted but recorded in `fused_into`;
//!    - *wait*: consecutive kernels wait for the last of them; those over the same rows of buffers larger than
//!      the cache are fused by blocks of rows (`one_pass.rs`);
//!    - *widen*: with `padding=typed` the kernel runs over whole tiles if that changes no result (`padding.rs`);
//!    - *plan and emit* the kernel of an operation with everything fused into it;
//!    - if the kernel cannot be vectorised, each of its operations is rewritten alone, once: `no_fusion` ends the
//!      recursion. An operation that cannot be vectorised alone becomes scalar loops, with a remark.
//! 3. *Erase* (`Lowering::erase_views`) the slices and reshapes, which have no users any more.
//!
//! Copies of buffers without other users are removed first: afterwards they are loops.
//!
//! The pass works on a copy of the module and replaces the original only if everything was lowered,
//! so a failure leaves the module unchanged.

mod memory;
mod nests;
mod one_pass;
mod padding;
mod padding_fills;
mod padding_state;
mod state;
mod types;

use crate::analysis::ownership;
use crate::analysis::same_bytes::MARK;
use crate::buffers::globals;
use crate::buffers::operations::{FORWARDS, SLICE_OR_RESHAPE, STRIDED, UNREALIZED_CAST, is, is_approximable};
use crate::buffers::parts::row_major;
use crate::buffers::spread::Axes;
use crate::buffers::type_converter::TypeConverter;
use crate::kernel::access::is_slice_of_pending;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::{Form, LowerMemrefsOptions, Target};
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream::{self, FastMath};
use layout_dialect::TRIP_COUNT;
use layout_ir::{self as ir, Builder, Op, Shaped, Val};
use melior::ir::operation::OperationMutLike;
use melior::ir::{Location, Type};
use state::Lowering;

/// Lowers all tiled memrefs of a module. On failure reports the reasons and changes nothing.
pub(crate) fn run<'c>(stage: StageInput<'c, LowerMemrefsOptions>) -> StageResult<'c> {
    let StageInput { rewriter, options, .. } = stage;
    let module = rewriter.root();
    options.check().map_err(|message| vec![Diagnostic::error(ir::location(module), message)])?;
    let root = rewriter.copy(module);
    for function in ir::blocks(root).into_iter().flat_map(ir::operations).filter(|op| ir::name(*op) == "func.func") {
        ownership::instead_of_copies(rewriter, function);
        if ir::attribute(function, ownership::COPIES_WITH_TAIL).is_some() {
            memory::copy_with_tail(function);
        }
    }
    let mut operations = ir::all_operations(root);
    let strided = as_strided(&operations);
    let sorted = globals::sort(root, &operations);
    if sorted {
        operations = ir::all_operations(root);
    }
    let allowed = options.approximate && allow_approximations(&operations);
    let mut lowering = Lowering::new(rewriter, root, options, &operations);
    let vectors = options.vectorize != Target::None && !lowering.maps.is_empty();
    if !lowering.convert_types(&operations) && !vectors && lowering.errors.is_empty() && !sorted && !allowed && !strided
    {
        return Ok(Next::Unchanged);
    }
    for op in operations {
        lowering.visit(op);
    }
    lowering.erase_views();
    if !lowering.errors.is_empty() {
        return Err(lowering.errors);
    }
    lowering.remarks.iter().for_each(upstream::emit);
    rewriter.replace_contents(module, root);
    Ok(Next::Changed)
}

/// The plain memref that takes the place of one with a tiled layout.
///
/// # Errors
/// The reason why the layout cannot be lowered.
pub(crate) fn lowered_type<'c>(t: Type<'c>, location: Location<'c>, form: Form) -> Result<Type<'c>, String> {
    types::lower_type(t, location, form, &Axes::default()).map(|lowered| lowered.value_type)
}

/// Converts layouts that are affine maps with a strided form to `strided`, or drops them if row-major.
/// Returns false if there are none, and no operation is lowered whatever its types: see [`is_lowered_alone`].
fn as_strided<'c>(operations: &[Op<'c>]) -> bool {
    let mut any = false;
    let mut convert = TypeConverter::new(|t: Type<'c>| {
        let shaped = ir::memref(t).filter(|shaped| shaped.layout.and_then(ir::affine_map).is_some())?;
        let (strides, offset) = ir::strides_and_offset(t)?;
        any = true;
        let location = ir::location(*operations.first()?);
        let plain = strides == row_major(&shaped.shape) && !strides.contains(&None) && offset == Some(0);
        let layout = (!plain).then(|| ir::strided(location, offset, &strides));
        ir::memref_type(location, &Shaped { layout, ..shaped })
    });
    operations.iter().for_each(|op| convert.operation(*op));
    any || operations.iter().any(|op| is_lowered_alone(*op))
}

/// Whether an operation is lowered without a tiled buffer, too.
fn is_lowered_alone(op: Op) -> bool {
    memory::allocates_strides(op) || is_same_bytes(op) || ir::attribute(op, TRIP_COUNT).is_some()
}

/// Whether an operation is the cast of a buffer that leaves every element at its byte.
fn is_same_bytes(op: Op) -> bool {
    ir::name(op) == UNREALIZED_CAST && ir::attribute(op, MARK).is_some()
}

/// Marks operations with polynomial approximations as approximable; returns false if there are none.
fn allow_approximations(operations: &[Op]) -> bool {
    let mut any = false;
    for op in operations.iter().filter(|op| is_approximable(**op)) {
        let flags = FastMath::of(*op).with(FastMath::APPROXIMATE);
        ir::edit(*op).set_attribute("fastmath", flags.attribute(Builder::before(*op).context()));
        any = true;
    }
    any
}

impl<'c> Lowering<'c> {
    fn visit(&mut self, op: Op<'c>) {
        if self.erased.contains(&ir::op_key(op)) {
            return;
        }
        let name = ir::name(op);
        let _ = ir::edit(op).remove_attribute(TRIP_COUNT);
        if name == "memref.global" || self.touches(op) || is_lowered_alone(op) {
            // The operation may be erased afterwards.
            let location = ir::location(op);
            if let Err(reason) = self.with_origins(op, |lowering| lowering.rewrite(op)) {
                self.error(location, format!("'{name}' op cannot be lowered: {reason}"));
            }
        } else if self.options.vectorize != Target::None
            && (self.maps.contains_key(&ir::op_key(op)) || name == "memref.copy")
        {
            // A program without layouts gets vectors as well; upstream's passes handle operations that are not on
            // buffers.
            let _ = self.try_fuse_or_vectorize(op);
        }
    }

    /// Whether an operation accesses a tiled buffer.
    fn touches(&self, op: Op<'c>) -> bool {
        ir::operands(op).into_iter().chain(ir::results(op)).any(|v| self.buffers.reach(v))
    }

    /// Rewrites an operation on a tiled buffer; the error is the reason why this is impossible.
    fn rewrite(&mut self, op: Op<'c>) -> Result<(), String> {
        let b = Builder::before(op);
        let operands = ir::operands(op);
        match ir::name(op) {
            "memref.alloc" | "memref.alloca" => match self.buffers.get(ir::result(op, 0)).cloned() {
                Some(lowered) => self.allocation(b, op, lowered),
                None => self.strided_allocation(b, op),
            },
            "memref.global" => self.global(b, op),
            "memref.get_global" => self.get_global(b, op),
            "memref.load" | "affine.load" => self.load(b, op),
            "memref.store" | "affine.store" => self.store(b, op),
            "memref.atomic_rmw" => self.on_element(b, op, 1),
            "memref.generic_atomic_rmw" => self.on_element(b, op, 0),
            "memref.prefetch" | "affine.prefetch" => self.prefetch(b, op),
            "memref.dim" => self.dim(b, op),
            "memref.copy" => self.lower_structured(b, op),
            "layout.convert" => self.convert(b, op),
            name if name.starts_with("vector.") || name.starts_with("affine.vector_") => self.transfer(b, op),
            name if is(name, SLICE_OR_RESHAPE) && is_slice_of_pending(ir::result(op, 0)) => {
                let access = self.buffers.access(ir::result(op, 0))?;
                self.buffers.views.insert(ir::key(ir::result(op, 0)), access);
                self.views.push(op);
                Ok(())
            }
            name if is(name, STRIDED) && self.buffers.get(ir::result(op, 0)).is_none() => self.strided(b, op),
            "memref.cast" => self.cast(b, op),
            UNREALIZED_CAST if is_same_bytes(op) => self.same_bytes(b, op),
            "memref.dealloc" => self.whole_only(&operands),
            "memref.dma_start" => self.dma_start(b, op),
            name if is(name, FORWARDS) => self.whole_only(&operands),
            _ if self.maps.contains_key(&ir::op_key(op)) => self.lower_structured(b, op),
            _ => Err(self.unsupported(op)),
        }
    }

    fn unsupported(&self, op: Op<'c>) -> String {
        let buffer = |v: &Val<'c>| self.buffers.get(*v);
        let values: Vec<_> = ir::operands(op).into_iter().chain(ir::results(op)).collect();
        match values.iter().find_map(buffer) {
            Some(lowered) => format!("unsupported operation on a buffer with layout {}", lowered.layout),
            None => "unsupported operation on part of a tiled buffer".into(),
        }
    }

    /// Erases views without users, innermost first.
    fn erase_views(&mut self) {
        for op in std::mem::take(&mut self.views).into_iter().rev() {
            if !ir::is_used(ir::result(op, 0)) {
                self.rewriter.erase(op);
            } else if self.errors.is_empty() {
                self.error(ir::location(op), format!("'{}' op cannot be lowered: a use of it remains", ir::name(op)));
            }
        }
    }
}
