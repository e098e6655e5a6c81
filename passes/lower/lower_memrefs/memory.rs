//! Lowers operations that allocate, read, write and forward buffers.

use super::state::Lowering;
use super::types::tiled_layout;
use crate::analysis::ownership;
use crate::buffers::async_copies::DmaStart;
use crate::buffers::element_encoding::ElementEncoding;
use crate::buffers::index::{IndexVars, constant_value, indices};
use crate::buffers::lowered::{AnyLayout, LoweredMemRef};
use crate::buffers::maps::one_to_one;
use crate::kernel::access::is_slice_of_pending;
use crate::kernel::transfers;
use layout_ir::{self as ir, Builder, Op, Shaped, Val};
use melior::ir::attribute::TypeAttribute;
use melior::ir::operation::OperationMutLike;
use melior::ir::{Type, ValueLike};
use std::rc::Rc;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{IndexingMap, Interval};
use tensor_layout::tiled::Layout;

/// Copies the returned buffers whose layout has tail padding. A copy by buffer deallocation would have the length of the
/// lowered type, without the tail.
pub(super) fn copy_with_tail(function: Op) {
    let of_tail =
        |t: Type| tiled_layout(t).and_then(layout_dialect::tiled).is_some_and(|layout| layout.tail_alignment > 1);
    for (op, operand) in ownership::copied(function) {
        let value = ir::operands(op)[operand];
        if of_tail(value.r#type()) {
            ir::edit(op).set_operand(operand, Builder::before(op).copied_buffer(value, value.r#type()));
        }
    }
}

const TOO_FAR: &str = "its strides reach over too many elements to count";

/// Whether an operation allocates a memref with a `strided` layout, which has no conversion to LLVM.
pub(super) fn allocates_strides(op: Op) -> bool {
    let shaped = || ir::memref(ir::result(op, 0).r#type());
    matches!(ir::name(op), "memref.alloc" | "memref.alloca")
        && shaped().and_then(|shaped| shaped.layout).is_some_and(|layout| ir::strides_of(layout).is_some())
}

impl<'c> Lowering<'c> {
    /// Allocates the span of the strides as one dimension, and views it with these strides.
    pub(super) fn strided_allocation(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let t = ir::result(op, 0).r#type();
        let shaped = ir::memref(t).ok_or("it is not a memref")?;
        let (strides, offset) = ir::strides_and_offset(t).ok_or("it has no strides")?;
        let known = strides.iter().copied().collect::<Option<Vec<i64>>>().zip(offset);
        let (steps, first) = known.ok_or_else(|| {
            format!(
                "the strides and the offset of what it allocates must be numbers, found {t}: allocate the elements \
                 without a layout, and give strides that are values to a memref.reinterpret_cast"
            )
        })?;
        let operands = ir::operands(op);
        let dynamic = &operands[..shaped.shape.iter().filter(|n| n.is_none()).count()];
        if !dynamic.is_empty() && steps.iter().any(|step| *step < 0) {
            return Err(
                "strides of what it allocates must not be negative where a size is known only at run time".into()
            );
        }
        let index = (0..steps.len()).fold(Expr::Const(first), |sum, d| sum + Expr::Var(d).times(steps[d]));
        // A dynamic size is assumed not to reach the next stride.
        let sizes = shaped.shape.iter().zip(&steps).map(|(n, step)| {
            n.unwrap_or_else(|| {
                steps.iter().filter(|outer| *outer > step).min().map_or(2, |outer| outer / (*step).max(1))
            })
        });
        let sizes: Vec<i64> = sizes.collect();
        let mut reached = Interval::new(0, -1);
        if !sizes.contains(&0) {
            let places = IndexingMap::of_sizes(&sizes, vec![index]);
            reached = places.image()[0];
            if reached.lo < 0 {
                return Err(format!("an element of what it allocates is at {}, before the first", reached.lo));
            }
            one_to_one(&places)?;
        }
        let mut vars = IndexVars::default();
        let mut values = dynamic.iter();
        let mut reach = Expr::Const(first);
        for (n, step) in shaped.shape.iter().zip(&steps) {
            let size = match n {
                Some(n) => Expr::Const(*n),
                None => values
                    .next()
                    .map(|v| vars.var(*v, Interval::new(0, i64::MAX)))
                    .ok_or("it has too few size operands")?,
            };
            reach = reach + size.times(*step);
        }
        let span = dynamic.is_empty().then(|| reached.hi.checked_add(1).ok_or(TOO_FAR)).transpose()?;
        let row = Shaped { shape: vec![span], layout: None, ..shaped.clone() };
        let row = ir::memref_type(b.location, &row).ok_or(TOO_FAR)?;
        let count: Vec<Val<'c>> = if span.is_none() { vec![vars.value(b, &reach)] } else { Vec::new() };
        let kept = ir::attributes(op).into_iter().filter(|a| a.0 != "operandSegmentSizes");
        let attributes: Vec<_> =
            kept.map(|(name, a)| b.named(&name, a)).chain([b.segments(&[count.len() as i32, 0])]).collect();
        let row = b.value(ir::name(op), &count, row, &attributes);
        let made = b.reinterpret(row, t, (&[Some(first)], &[]), (&shaped.shape, dynamic), (&strides, &[]));
        self.replace(op, &[made]);
        Ok(())
    }

    pub(super) fn allocation(
        &mut self,
        b: Builder<'c>,
        op: Op<'c>,
        lowered: Rc<LoweredMemRef<'c>>,
    ) -> Result<(), String> {
        let sizes = lowered.shape.iter().filter(|n| n.is_none()).count();
        let operands = ir::operands(op);
        // The symbols of the layout's map follow; the type already has them as sizes.
        let operands = operands.get(..sizes).ok_or("it has too few size operands")?;
        let attributes: Vec<_> = ir::attributes(op)
            .into_iter()
            .filter(|a| a.0 != "operandSegmentSizes")
            .map(|(name, a)| b.named(&name, a))
            .collect();
        let made = lowered.allocate(b, ir::name(op), operands, &attributes);
        self.buffers.lowered.insert(ir::key(made), lowered);
        self.replace(op, &[made]);
        Ok(())
    }

    pub(super) fn global(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let t = ir::attribute(op, "type").and_then(ir::type_in).ok_or("it has no type")?;
        if tiled_layout(t).is_none() {
            return Ok(());
        }
        let Some(lowered) = self.lowered(t, b.location) else { return Ok(()) };
        let allocation = lowered.allocation_type(b.location);
        if let Some(value) = ir::attribute(op, "initial_value").filter(|a| !ir::is_unit(*a)) {
            let constant = ir::constant(value).ok_or("its value is not a dense constant in the module")?;
            let shape = ir::memref(allocation).ok_or("its type is not a memref")?;
            let data = ir::tensor_type(&Shaped { layout: None, space: None, ..shape });
            self.note_constant(op, &constant);
            let value = match (lowered.element_encoding.bits, constant.splat) {
                (None, true) => constant.resplat(data),
                (None, false) => constant.gathered(data, lowered.row_major_numbers()?.into_iter()),
                (Some(bits), true) if !lowered.element_encoding.straddles() => {
                    constant.packed_splat(data, bits as usize)
                }
                (Some(bits), _) => {
                    constant.packed(data, lowered.bits_before(), bits as usize, &lowered.row_major_numbers()?)
                }
            };
            let value = value.ok_or("the bytes of its elements are not known")?;
            ir::edit(op).set_attribute("initial_value", value);
        }
        ir::edit(op).set_attribute("type", TypeAttribute::new(allocation).into());
        Ok(())
    }

    pub(super) fn get_global(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let lowered = self.buffers.lowered[&ir::key(ir::result(op, 0))].clone();
        let name = ir::attribute(op, "name").ok_or("it names no global")?;
        let allocation = lowered.allocation_type(b.location);
        let allocation = b.value("memref.get_global", &[], allocation, &[b.named("name", name)]);
        let made = lowered.view(b, allocation, &[]);
        self.buffers.lowered.insert(ir::key(made), lowered);
        self.replace(op, &[made]);
        Ok(())
    }

    pub(super) fn load(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let operands = ir::operands(op);
        let mut vars = IndexVars::default();
        let index = self.element(op, operands[0], &operands[1..], &mut vars)?;
        let affine = ir::name(op) == "affine.load";
        let loaded = self.buffers.access(operands[0])?.at(index).load(&vars, b, affine);
        self.replace(op, &[loaded]);
        Ok(())
    }

    pub(super) fn store(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let operands = ir::operands(op);
        let mut vars = IndexVars::default();
        let index = self.element(op, operands[1], &operands[2..], &mut vars)?;
        let affine = ir::name(op) == "affine.store";
        self.buffers.access(operands[1])?.at(index).store(&vars, b, operands[0], affine);
        self.replace(op, &[]);
        Ok(())
    }

    /// Lowers an access to one element: operand `memref`, followed by its indices, becomes the buffer and the index in
    /// it.
    pub(super) fn on_element(&mut self, b: Builder<'c>, op: Op<'c>, memref: usize) -> Result<(), String> {
        let operands = ir::operands(op);
        let access = self.buffers.access(operands[memref])?;
        let ElementEncoding { element, memref_element: stored, ratio, .. } = access.element_encoding;
        if !access.element_encoding.is_whole() && ratio.is_one() {
            return Err(format!(
                "an element of {element} is stored as one of {stored}, and no atomic operation converts between them"
            ));
        }
        if !access.element_encoding.is_whole() {
            return Err("an element that shares its bytes with others cannot be updated atomically".into());
        }
        if access.spread_buffer().is_some() {
            return Err("an element of a TensorLayout may be at several places, which cannot be updated at once".into());
        }
        let at = self.element_of_buffer(b, op, memref)?;
        ir::set_operands(op, &[&operands[..memref], &at].concat());
        Ok(())
    }

    /// Lowers a prefetch: of the element, or of the memref element that contains it, at the first of its places.
    pub(super) fn prefetch(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let at = self.element_of_buffer(b, op, 0)?;
        let attributes = ["isWrite", "localityHint", "isDataCache"];
        let kept = attributes.iter().filter_map(|name| Some(b.named(name, ir::attribute(op, name)?)));
        b.op("memref.prefetch", &at, &[], &kept.collect::<Vec<_>>());
        self.replace(op, &[]);
        Ok(())
    }

    /// The buffer of operand `memref`, and the buffer index of the element that the operands after it select.
    fn element_of_buffer(&mut self, b: Builder<'c>, op: Op<'c>, memref: usize) -> Result<Vec<Val<'c>>, String> {
        let operands = ir::operands(op);
        let mut vars = IndexVars::default();
        let index = self.element(op, operands[memref], &operands[memref + 1..], &mut vars)?;
        let base = self.buffers.access(operands[memref])?.base;
        let rank = ir::memref(base.r#type()).ok_or("it is not a memref")?.shape.len();
        Ok([base].into_iter().chain(index[..rank].iter().map(|e| vars.value(b, e))).collect())
    }

    /// The buffer index of the element at an operation's plain indices.
    fn element(
        &mut self,
        op: Op<'c>,
        memref: Val<'c>,
        operands: &[Val<'c>],
        vars: &mut IndexVars<'c>,
    ) -> Result<Vec<Expr>, String> {
        let view = indices(op, operands, vars)?;
        Ok(self.buffers.access(memref)?.simple_index(vars, &view))
    }

    /// Lowers a vector read or write.
    pub(super) fn transfer(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let is_spread = |v: &Val<'c>| {
            self.buffers.reach(*v) && self.buffers.access(*v).is_ok_and(|access| access.spread_buffer().is_some())
        };
        if ir::operands(op).iter().any(is_spread) {
            return Err("a vector cannot cross the places of a TensorLayout".into());
        }
        let made = transfers::lower(&self.buffers, b, op)?;
        self.replace(op, &made);
        Ok(())
    }

    /// Lowers an operation on strided memrefs to the strided view of an untiled buffer.
    pub(super) fn strided(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let source = ir::operands(op)[0];
        let lowered = self.buffers.get(source).ok_or("its source is not a buffer")?;
        let view = lowered.logical_view(b, source);
        let view = view.ok_or_else(|| format!("expected a buffer with strides, found layout {}", lowered.layout))?;
        ir::edit(op).set_operand(0, view);
        Ok(())
    }

    /// Lowers a cast between static and dynamic sizes to a cast if both types have the same dimensions and strides. If a
    /// tiled size becomes static or dynamic, the dimension that carries it disappears or appears; and a dimension of
    /// size 1 may have another stride than one of dynamic size.
    pub(super) fn cast(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
        self.whole_only(&[source])?;
        let (Some(from), Some(to)) = (self.buffers.get(source), self.buffers.get(result).cloned()) else {
            return Ok(());
        };
        if !from.carries() && !to.carries() && from.may_have_type_of(&to) {
            return Ok(());
        }
        let sizes = self.buffers.access(source)?.sizes;
        let unknown = sizes.iter().zip(&to.shape).filter(|(_, n)| n.is_none());
        let sizes: Vec<Val<'c>> = unknown.map(|(size, _)| size.value(b)).collect();
        let made = to.reinterpreted(b, source, &sizes);
        self.buffers.lowered.insert(ir::key(made), to);
        self.replace(op, &[made]);
        Ok(())
    }

    pub(super) fn dim(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let operands = ir::operands(op);
        let access = self.buffers.access(operands[0])?;
        let value = match constant_value(operands[1]) {
            Some(which) => {
                let size = usize::try_from(which).ok().and_then(|k| access.sizes.get(k).copied());
                size.ok_or_else(|| format!("its dimension must be below the rank, found {which}"))?.value(b)
            }
            None => {
                // A dynamic dimension number selects among all sizes.
                let sizes: Vec<Val<'c>> = access.sizes.iter().map(|size| size.value(b)).collect();
                let mut known = *sizes.last().ok_or("it has no dimension")?;
                for (k, size) in sizes.iter().enumerate().rev().skip(1) {
                    let this = b.equal(operands[1], b.index(k as i64));
                    known = b.value("arith.select", &[this, *size, known], size.r#type(), &[]);
                }
                known
            }
        };
        self.replace(op, &[value]);
        Ok(())
    }

    /// Views the memory of a buffer as another type, with each element at the same byte.
    pub(super) fn same_bytes(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let (operands, result) = (ir::operands(op), ir::result(op, 0));
        let (source, sizes) = operands.split_first().ok_or("it has no operand")?;
        self.whole_only(&[*source])?;
        let tiled = self.buffers.get(result).cloned();
        let lowered = tiled.clone().map_or_else(|| self.row_major(b, result.r#type()), Ok)?;
        let unknown = lowered.shape.iter().filter(|n| n.is_none()).count();
        if ir::memref(source.r#type()).is_none() || sizes.len() != unknown {
            return Err(format!("its operands must be a memref and {unknown} sizes"));
        }
        let made = lowered.reinterpreted(b, *source, sizes);
        if let Some(lowered) = tiled {
            self.buffers.lowered.insert(ir::key(made), lowered);
        }
        self.replace(op, &[made]);
        Ok(())
    }

    /// The lowered form of a memref without a layout.
    fn row_major(&self, b: Builder<'c>, t: Type<'c>) -> Result<Rc<LoweredMemRef<'c>>, String> {
        let shaped = ir::memref(t).ok_or("its result is not a memref")?;
        let layout = AnyLayout::Tiled(Layout::row_major(shaped.shape.len()));
        LoweredMemRef::new(b.location, &shaped, &layout, &self.types.axes, self.types.form).map(Rc::new)
    }

    /// Lowers a DMA copy of a whole buffer to one of the same layout: a copy of its bytes, padding included.
    pub(super) fn dma_start(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let start = DmaStart::of(op).ok_or("it has not the operands that it needs")?;
        let sides = [&start.from, &start.to];
        self.whole_only(&sides.map(|side| side.0))?;
        let sizes = |v: Val<'c>| match self.buffers.get(v) {
            Some(lowered) => lowered.shape.iter().copied().collect::<Option<Vec<i64>>>(),
            None => ir::memref(v.r#type()).and_then(|t| t.sizes()),
        };
        let all = sides.map(|side| sizes(side.0).and_then(|sizes| sizes.into_iter().try_fold(1, i64::checked_mul)));
        let starts = sides.iter().flat_map(|side| &side.1).chain(&start.tag.1).all(|v| constant_value(*v) == Some(0));
        let whole = starts && start.stride.is_none() && all == [constant_value(start.elements); 2];
        if !whole || all[0].is_none() {
            return Err("a copy of a buffer with a layout must be one of all its elements".into());
        }
        let spans = sides.map(|side| span(side.0.r#type()).map(|(span, element)| (span, element.to_string())));
        let [Some(from), Some(to)] = spans else { return Err("it has too many bytes to count".into()) };
        if from != to {
            return Err("both sides must have one layout".into());
        }
        let (zero, count) = (b.index(0), b.index(from.0));
        let side = |v: Val<'c>| {
            let rank = ir::memref(v.r#type()).map_or(0, |t| t.shape.len());
            [vec![v], vec![zero; rank]].concat()
        };
        let tag = [vec![start.tag.0], start.tag.1.clone()].concat();
        b.op("memref.dma_start", &[side(start.from.0), side(start.to.0), vec![count], tag].concat(), &[], &[]);
        for (user, _) in ir::uses(start.tag.0).into_iter().filter(|(user, _)| ir::name(*user) == "memref.dma_wait") {
            let last = ir::operands(user).len() - 1;
            let count = Builder::before(user).index(from.0);
            ir::edit(user).set_operand(last, count);
        }
        self.replace(op, &[]);
        Ok(())
    }

    /// Checks that an operation with only new types takes no part of a buffer.
    pub(super) fn whole_only(&self, operands: &[Val<'c>]) -> Result<(), String> {
        match operands.iter().any(|v| is_slice_of_pending(*v)) {
            false => Ok(()),
            true => Err("expected a whole tiled buffer, found a slice or reshape of one".into()),
        }
    }
}

/// The number of elements from the first to the last of a memref of static shape, and their type.
fn span<'c>(t: Type<'c>) -> Option<(i64, Type<'c>)> {
    let shaped = ir::memref(t)?;
    let sizes = shaped.sizes()?;
    if sizes.contains(&0) {
        return Some((0, shaped.element));
    }
    let Some(layout) = shaped.layout else {
        return Some((sizes.into_iter().try_fold(1, i64::checked_mul)?, shaped.element));
    };
    let strides = ir::strides_of(layout)?.into_iter().collect::<Option<Vec<i64>>>()?;
    let step = |(size, stride): (&i64, &i64)| (size - 1).checked_mul(*stride);
    let steps = sizes.iter().zip(&strides).map(step);
    Some((steps.into_iter().try_fold(1i64, |span, step| span.checked_add(step?))?, shaped.element))
}
