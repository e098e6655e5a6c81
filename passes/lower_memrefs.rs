//! `layout-lower-memrefs`: memrefs with tiled layouts become plain strided ones, with the operations that use them.
//!
//! A memref is *tiled* when its layout is `#layout.tiled` or `#layout.tensor_layout`, or when its memory space is
//! `#layout.pending`, as which a tensor's layout survives bufferization. The phases, each over the operations in
//! the order of the program:
//!
//! 1. *Convert types* (`Lowering::convert_types`): tiled buffers get their lowered types in place.
//! 2. *Rewrite* (`Lowering::rewrite`) what reaches into a tiled buffer. Slices and reshapes are followed to their
//!    buffer by composing index maps. A structured operation becomes scalar loops, or with `vectorize` vector code
//!    (`Lowering::in_vectors`), which has steps of its own:
//!    - *fuse*: an operation that the next one can compute on the way is not emitted but noted in `fused_into`;
//!    - *plan and emit* the kernel of an operation with all that was fused into it;
//!    - if the kernel cannot be vectorised, each of its operations is rewritten alone, once: `no_fusion` ends the
//!      recursion. One that cannot be vectorised alone becomes scalar loops, with a remark.
//! 3. *Erase* (`Lowering::erase_views`) the slices and reshapes, which nothing uses any more.
//!
//! The pass works on a copy of the module and puts it in place of the original only when everything could be lowered,
//! so a failure leaves the module as it was.

use crate::buffers::globals;
use crate::buffers::index::{IndexVars, constant_value, indices};
use crate::buffers::lowered::{AnyLayout, Lowered};
use crate::buffers::operations::{FORWARDS, STRIDED, VIEW, is};
use crate::buffers::spread::Axes;
use crate::buffers::type_converter::{TypeConverter, has_nested_layout};
use crate::diagnostic::Diagnostic;
use crate::kernel::access::{Access, Buffers, Operand, Size, is_view};
use crate::kernel::body::{Argument, Body};
use crate::kernel::combiner::Combiner;
use crate::kernel::fusion::{Described, Fusion};
use crate::kernel::nest::{Nest, copy_nest};
use crate::kernel::places;
use crate::kernel::{self, transfers};
use crate::options::{Form, Options, Target};
use crate::{upstream, vectorize};
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::attribute::TypeAttribute;
use melior::ir::operation::OperationMutLike;
use melior::ir::{AffineMap, Attribute, BlockRef, Location, Type, ValueLike};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tensor_layout::expr::Expr;
use tensor_layout::tiled::Layout;

/// Lowers all tiled memrefs of a module; or reports what could not be lowered, and changes nothing.
pub fn run<'c>(rewriter: &'c Rewriter, options: Options) -> Result<(), Vec<Diagnostic<'c>>> {
    let module = rewriter.root();
    options.check().map_err(|message| vec![Diagnostic::error(ir::location(module), message)])?;
    let root = rewriter.copy(module);
    let mut operations = ir::all_operations(root);
    let sorted = globals::sort(root, &operations);
    if sorted {
        operations = ir::all_operations(root);
    }
    let mut lowering = Lowering::new(rewriter, root, options, &operations);
    let vectors = options.vectorize != Target::None && !lowering.maps.is_empty();
    if !lowering.convert_types(&operations) && !vectors && lowering.errors.is_empty() && !sorted {
        return Ok(());
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
    Ok(())
}

/// A pass over one module.
struct Lowering<'c> {
    rewriter: &'c Rewriter,
    options: Options,
    types: Types<'c>,
    /// What tiled buffers are lowered to, and how their elements are reached.
    buffers: Buffers<'c>,
    /// The indexing maps of structured operations.
    maps: HashMap<usize, Vec<AffineMap<'c>>>,
    /// Operations whose code is part of the kernel of the one with this key, in order.
    fused_into: HashMap<usize, Vec<Op<'c>>>,
    /// Operations that are lowered alone, as a kernel with others could not be vectorised.
    no_fusion: HashSet<usize>,
    /// Operations that are gone, by their old address.
    erased: HashSet<usize>,
    /// Slices and reshapes of pending buffers, sources first.
    views: Vec<Op<'c>>,
    errors: Vec<Diagnostic<'c>>,
    /// Remarks, emitted if there are no errors.
    remarks: Vec<Diagnostic<'c>>,
}

/// The types that have been looked at.
struct Types<'c> {
    form: Form,
    axes: Axes,
    lowered: HashMap<Type<'c>, Option<Rc<Lowered<'c>>>>,
    /// Whether a type contains a layout that no pass converts.
    nested_layout: HashMap<Type<'c>, bool>,
}

impl<'c> Lowering<'c> {
    fn new(rewriter: &'c Rewriter, root: Op<'c>, options: Options, operations: &[Op<'c>]) -> Self {
        let axes = Axes::of(root, operations);
        // Named operations make their maps from their operands' types, so they are read before those change.
        let structured = operations.iter().filter(|op| ir::name(**op).starts_with("linalg."));
        Lowering {
            rewriter,
            options,
            types: Types { form: options.form, axes, lowered: HashMap::new(), nested_layout: HashMap::new() },
            buffers: Buffers::default(),
            maps: structured.filter_map(|op| Some((ir::op_key(*op), ir::indexing_maps(*op)?))).collect(),
            fused_into: HashMap::new(),
            no_fusion: HashSet::new(),
            erased: HashSet::new(),
            views: Vec::new(),
            errors: Vec::new(),
            remarks: Vec::new(),
        }
    }

    fn error(&mut self, location: Location<'c>, message: String) {
        self.errors.push(Diagnostic::error(location, message));
    }

    /// Gives all tiled buffers their lowered types and takes note of them. False where there are none.
    fn convert_types(&mut self, operations: &[Op<'c>]) -> bool {
        let mut known = HashMap::new();
        let mut found = false;
        for op in operations {
            let location = ir::location(*op);
            let arguments = ir::blocks(*op).into_iter().flat_map(ir::arguments);
            for value in ir::results(*op).into_iter().chain(arguments) {
                let t = value.r#type();
                if tiled_layout(t).is_none() {
                    if *self.types.nested_layout.entry(t).or_insert_with(|| has_nested_layout(t)) {
                        self.error(location, format!("cannot lower {t}: a type nested in it contains a layout"));
                    }
                    continue;
                }
                found = true;
                if is_view(value) {
                    continue;
                }
                if let Some(lowered) = self.lowered(t, location) {
                    self.buffers.lowered.insert(ir::key(value), lowered);
                }
            }
            if is(ir::name(*op), VIEW) && is_view(ir::result(*op, 0)) {
                continue;
            }
            if ir::name(*op) == "memref.global" {
                // Its type becomes that of the allocation, once its data have been looked at.
                found |= ir::attribute(*op, "type").and_then(ir::type_in).is_some_and(|t| tiled_layout(t).is_some());
                continue;
            }
            let mut converter = TypeConverter::with(std::mem::take(&mut known), |t| {
                tiled_layout(t)?;
                found = true;
                self.lowered(t, location).map(|l| l.value_type)
            });
            converter.operation(*op);
            known = converter.into_known();
        }
        found
    }

    /// The lowered form of a tiled type; where there is none, an error at `location`, once for each type.
    fn lowered(&mut self, t: Type<'c>, location: Location<'c>) -> Option<Rc<Lowered<'c>>> {
        if let Some(known) = self.types.lowered.get(&t) {
            return known.clone();
        }
        let made = lower_type(t, location, self.types.form, &self.types.axes);
        let made = made.map(Rc::new).map_err(|reason| self.error(location, format!("cannot lower {t}: {reason}"))).ok();
        self.types.lowered.insert(t, made.clone());
        made
    }

    fn fusion(&self) -> Fusion<'_, 'c> {
        Fusion { buffers: &self.buffers, maps: &self.maps, fused_into: &self.fused_into }
    }

    fn visit(&mut self, op: Op<'c>) {
        if self.erased.contains(&ir::op_key(op)) {
            return;
        }
        let name = ir::name(op);
        let touched = name == "memref.global"
            || ir::operands(op).into_iter().chain(ir::results(op)).any(|v| self.buffers.reach(v));
        if touched {
            // It may be gone afterwards.
            let location = ir::location(op);
            if let Err(reason) = self.rewrite(op) {
                self.error(location, format!("'{name}' op cannot be lowered: {reason}"));
            }
        } else if self.options.vectorize != Target::None
            && (self.maps.contains_key(&ir::op_key(op)) || name == "memref.copy")
        {
            // A program without layouts gets vectors as well; what is not for buffers is left to upstream's passes.
            let _ = self.in_vectors(Builder::before(op), op);
        }
    }

    /// Rewrites an operation that reaches into a tiled buffer; the error is the reason why it cannot be.
    fn rewrite(&mut self, op: Op<'c>) -> Result<(), String> {
        let b = Builder::before(op);
        let operands = ir::operands(op);
        match ir::name(op) {
            "memref.alloc" | "memref.alloca" => self.allocation(b, op),
            "memref.global" => self.global(b, op),
            "memref.get_global" => self.get_global(b, op),
            "memref.load" | "affine.load" => self.load(b, op),
            "memref.store" | "affine.store" => self.store(b, op),
            "memref.dim" => self.dim(b, op),
            "memref.copy" => self.buffer_copy(b, op),
            "layout.convert" => self.convert(b, op),
            name if name.starts_with("vector.") || name.starts_with("affine.vector_") => self.transfer(b, op),
            name if is(name, VIEW) && is_view(ir::result(op, 0)) => {
                let access = self.buffers.access(ir::result(op, 0))?;
                self.buffers.views.insert(ir::key(ir::result(op, 0)), access);
                self.views.push(op);
                Ok(())
            }
            name if is(name, STRIDED) && self.buffers.get(ir::result(op, 0)).is_none() => self.strided(b, op),
            "memref.cast" => self.cast(b, op),
            "memref.dealloc" => self.whole_only(&operands),
            name if is(name, FORWARDS) => self.whole_only(&operands),
            _ if self.maps.contains_key(&ir::op_key(op)) => self.structured(b, op),
            _ => Err(self.unsupported(op)),
        }
    }

    fn load(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let operands = ir::operands(op);
        let mut vars = IndexVars::default();
        let index = self.element(op, operands[0], &operands[1..], &mut vars)?;
        let affine = ir::name(op) == "affine.load";
        let loaded = self.buffers.access(operands[0])?.at(index).load(&vars, b, affine);
        self.replace(op, &[loaded]);
        Ok(())
    }

    fn store(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let operands = ir::operands(op);
        let mut vars = IndexVars::default();
        let index = self.element(op, operands[1], &operands[2..], &mut vars)?;
        let affine = ir::name(op) == "affine.store";
        self.buffers.access(operands[1])?.at(index).store(&vars, b, operands[0], affine);
        self.replace(op, &[]);
        Ok(())
    }

    fn buffer_copy(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        if self.options.vectorize != Target::None && self.in_vectors(b, op)? {
            return Ok(());
        }
        let [from, to] = [0, 1].map(|k| self.buffers.access(ir::operands(op)[k]));
        kernel::emit(&copy_nest(from?, to?), b, |inner| inner.store(1, inner.load(0)));
        self.replace(op, &[]);
        Ok(())
    }

    /// A read or write of a vector.
    fn transfer(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
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

    /// An operation on strided memrefs takes the strided view of an untiled buffer.
    fn strided(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let source = ir::operands(op)[0];
        let lowered = self.buffers.get(source).ok_or("its source is not a buffer")?;
        let view = lowered.logical_view(b, source);
        let view = view.ok_or_else(|| format!("expected a buffer with strides, found layout {}", lowered.layout))?;
        ir::edit(op).set_operand(0, view);
        Ok(())
    }

    /// An operation that needs no more than the right types, which it has, unless it takes part of a buffer.
    fn whole_only(&self, operands: &[Val<'c>]) -> Result<(), String> {
        match operands.iter().any(|v| is_view(*v)) {
            false => Ok(()),
            true => Err("expected a whole tiled buffer, found a slice or reshape of one".into()),
        }
    }

    /// A cast that says more or less of the sizes is still one where both types have the same dimensions. Where a tiled
    /// size becomes known or unknown, the dimension that carries it goes or comes.
    fn cast(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
        self.whole_only(&[source])?;
        let (Some(from), Some(to)) = (self.buffers.get(source), self.buffers.get(result).cloned()) else {
            return Ok(());
        };
        if !from.carries() && !to.carries() {
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

    fn unsupported(&self, op: Op<'c>) -> String {
        let buffer = |v: &Val<'c>| self.buffers.get(*v);
        let values: Vec<_> = ir::operands(op).into_iter().chain(ir::results(op)).collect();
        match values.iter().find_map(buffer) {
            Some(lowered) => format!("unsupported operation on a buffer with layout {}", lowered.layout),
            None => "unsupported operation on part of a tiled buffer".into(),
        }
    }

    /// Removes an operation in favour of these values for its results.
    fn replace(&mut self, op: Op<'c>, by: &[Val<'c>]) {
        for (old, new) in ir::results(op).into_iter().zip(by) {
            ir::replace_all_uses(old, *new);
        }
        for gone in ir::all_operations(op) {
            self.erased.insert(ir::op_key(gone));
            self.maps.remove(&ir::op_key(gone));
        }
        self.rewriter.erase(op);
    }

    fn allocation(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let result = ir::result(op, 0);
        let lowered = self.buffers.lowered[&ir::key(result)].clone();
        let sizes = lowered.shape.iter().filter(|n| n.is_none()).count();
        let operands = ir::operands(op);
        // After them come symbols of the layout's map, which the type already has as sizes.
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

    fn global(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
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
            let value = match (lowered.packing.bits, constant.splat) {
                (None, true) => constant.resplat(data),
                (None, false) => constant.gathered(data, &lowered.gather()?),
                (Some(bits), true) => constant.packed_splat(data, bits as usize),
                (Some(bits), false) => constant.packed(data, bits as usize, &lowered.gather()?),
            };
            let value = value.ok_or("the bytes of its elements are not known")?;
            ir::edit(op).set_attribute("initial_value", value);
        }
        ir::edit(op).set_attribute("type", TypeAttribute::new(allocation).into());
        Ok(())
    }

    fn get_global(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let lowered = self.buffers.lowered[&ir::key(ir::result(op, 0))].clone();
        let name = ir::attribute(op, "name").ok_or("it names no global")?;
        let allocation = lowered.allocation_type(b.location);
        let allocation = b.value("memref.get_global", &[], allocation, &[b.named("name", name)]);
        let made = lowered.view(b, allocation, &[]);
        self.buffers.lowered.insert(ir::key(made), lowered);
        self.replace(op, &[made]);
        Ok(())
    }

    /// The index into the buffer of the element that an operation with plain indices names.
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

    fn dim(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let operands = ir::operands(op);
        let access = self.buffers.access(operands[0])?;
        let value = match constant_value(operands[1]) {
            Some(which) => {
                let size = usize::try_from(which).ok().and_then(|k| access.sizes.get(k).copied());
                size.ok_or_else(|| format!("its dimension must be below the rank, found {which}"))?.value(b)
            }
            None => {
                // The size of the dimension that it is, of all of them.
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

    fn convert(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
        if ir::memref(result.r#type()).is_none() {
            return Ok(());
        }
        let to = self.buffers.get(result).cloned();
        if source.r#type() == result.r#type()
            && self.buffers.get(source).map(|l| &l.layout) == to.as_ref().map(|l| &l.layout)
        {
            self.replace(op, &[source]);
            return Ok(());
        }
        let from = self.buffers.access(source)?;
        let unknown = from.sizes.iter().filter(|n| n.known().is_none());
        let sizes: Vec<Val<'c>> = unknown.map(|n| n.value(b)).collect();
        let made = match to {
            Some(lowered) => {
                let made = lowered.allocate(b, "memref.alloc", &sizes, &[]);
                self.buffers.lowered.insert(ir::key(made), lowered);
                made
            }
            None => b.value("memref.alloc", &sizes, result.r#type(), &[b.segments(&[sizes.len() as i32, 0])]),
        };
        let to = self.buffers.access(made)?;
        self.copy(b, from, to);
        self.replace(op, &[made]);
        Ok(())
    }

    /// Copies all elements.
    fn copy(&mut self, b: Builder<'c>, from: Access<'c>, to: Access<'c>) {
        let nest = copy_nest(from, to);
        if self.options.vectorize != Target::None {
            let source = (nest.operands[0].access.base, Argument::Element(0));
            match vectorize::emit(b, &nest, &Body::simple(vec![source], None), &self.options) {
                Ok(()) => return,
                Err(reason) => self.remarks.push(scalar_remark(b.location, &reason)),
            }
        }
        kernel::emit(&nest, b, |inner| inner.store(1, inner.load(0)));
    }

    /// A structured operation becomes a nest with its body inside.
    fn structured(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        if self.options.vectorize != Target::None && self.in_vectors(b, op)? {
            return Ok(());
        }
        let Described { values, number, inputs, mut nest, body } = self.fusion().described(op)?;
        let body = body.ok_or("it has no body")?;
        let arguments = ir::arguments(body);
        let combined = self.split_reduction(b, &mut nest, body);
        if !is_copy(body, &nest) {
            self.relayout_inputs(b, &mut nest);
        }
        kernel::emit(&nest, b, |inner| {
            for (k, argument) in arguments.iter().enumerate() {
                match number[k] {
                    Some(n) if ir::is_used(*argument) => ir::replace_all_uses(*argument, inner.load(n)),
                    Some(_) => {}
                    None => ir::replace_all_uses(*argument, values[k]),
                }
            }
            for payload in ir::operations(body) {
                if ir::name(payload) == "linalg.yield" {
                    let stored = ir::operands(payload);
                    for (value, k) in stored.into_iter().zip(inputs..) {
                        inner.store(number[k].expect("outputs are buffers"), value);
                    }
                    continue;
                }
                ir::move_before(payload, inner.b.before);
                for op in ir::all_operations(payload) {
                    symbols_to_dims(op);
                    if ir::name(op) == "linalg.index"
                        && let Some(dim) = ir::attribute(op, "dim").and_then(ir::integer)
                    {
                        let index = inner.dim(Builder::before(op), dim as usize);
                        self.replace(op, &[index]);
                    }
                }
            }
        });
        if let Some((combiner, output)) = combined {
            combine(b, &nest, output, &combiner);
        }
        self.replace(op, &[]);
        Ok(())
    }

    /// Vector code for a structured operation or a copy, as the header says; false where it is to become scalar loops.
    fn in_vectors(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<bool, String> {
        let key = ir::op_key(op);
        if let Some(consumer) = self.fusion().consumer(op).filter(|_| !self.no_fusion.contains(&key)) {
            let parts = self.fused_into.remove(&key).unwrap_or_default();
            self.fused_into.entry(ir::op_key(consumer)).or_default().extend(parts.into_iter().chain([op]));
            return Ok(true);
        }
        let made = self.fusion().fused(op).and_then(|(nest, body)| vectorize::emit(b, &nest, &body, &self.options));
        let parts = self.fused_into.remove(&key).unwrap_or_default();
        match made {
            Ok(()) => {
                for part in parts.into_iter().chain([op]) {
                    self.replace(part, &[]);
                }
                Ok(true)
            }
            Err(reason) if parts.is_empty() => {
                self.remarks.push(scalar_remark(b.location, &reason));
                Ok(false)
            }
            Err(_) => {
                for part in parts {
                    self.no_fusion.insert(ir::op_key(part));
                    self.rewrite(part)?;
                }
                self.no_fusion.insert(key);
                self.in_vectors(b, op)
            }
        }
    }

    /// Where an input is spread over axes that the output of a reduction does not have, and the elements may be added
    /// in any order, lets each place reduce its share: the nest then writes a buffer of partial results. Returns how
    /// they are to be combined, and the output.
    fn split_reduction(
        &mut self,
        b: Builder<'c>,
        nest: &mut Nest<'c>,
        body: BlockRef<'c, 'c>,
    ) -> Option<(Combiner<'c>, Operand<'c>)> {
        if !places::outputs_cover_places(nest) {
            return None;
        }
        let contracted = places::contraction(nest);
        let combiner = Combiner::of(body).filter(|combiner| combiner.reorders(&self.options))?;
        if contracted.is_empty() {
            return None;
        }
        // Sums of parts may overflow where the whole does not.
        if ir::attribute(combiner.op, "overflowFlags").is_some() {
            let none = Attribute::parse(b.context(), "#arith.overflow<none>").expect("an attribute of arith");
            ir::edit(combiner.op).set_attribute("overflowFlags", none);
        }
        let output = nest.operands.last()?;
        let lowered = output.access.lowered.clone()?;
        let base = lowered.allocate(b, "memref.alloc", &[], &[]);
        self.buffers.lowered.insert(ir::key(base), lowered);
        let partial = Operand::new(Access { base, ..output.access.clone() }, output.map.clone());
        let sizes: Vec<Size<'c>> = output.access.sizes.clone();
        let identity = (0..sizes.len()).map(Expr::Var).collect();
        let whole = Operand::new(partial.access.clone(), identity);
        let neutral = b.constant(combiner.neutral);
        let fill = Nest { extents: sizes, operands: vec![whole], outputs: 1, contracted: Vec::new(), repeats: true };
        kernel::emit(&fill, b, |inner| inner.store(0, neutral));
        nest.contracted = contracted;
        let output = std::mem::replace(nest.operands.last_mut()?, partial);
        Some((combiner, output))
    }

    /// Copies inputs that a place needs and does not hold into layouts in which it does.
    fn relayout_inputs(&mut self, b: Builder<'c>, nest: &mut Nest<'c>) {
        if !places::outputs_cover_places(nest) {
            return;
        }
        for (k, layout) in places::inputs_to_relayout(nest, b) {
            let Some(shaped) = ir::memref(nest.operands[k].access.base.r#type()) else { continue };
            let shape = nest.operands[k].access.sizes.iter().map(|n| n.known()).collect();
            let shaped = Shaped { shape, layout: None, ..shaped };
            // Without such a layout, each element is fetched when it is needed.
            let Ok(lowered) =
                Lowered::new(b.location, &shaped, &AnyLayout::Tensor(layout), &self.types.axes, self.types.form)
            else {
                continue;
            };
            let lowered = Rc::new(lowered);
            let made = lowered.allocate(b, "memref.alloc", &[], &[]);
            self.buffers.lowered.insert(ir::key(made), lowered);
            let Ok(to) = self.buffers.access(made) else { continue };
            self.copy(b, nest.operands[k].access.clone(), to.clone());
            nest.operands[k].access = to;
        }
    }

    /// Erases the views that no one uses any more, innermost first.
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

/// The remark with the reason why an operation becomes scalar loops although `vectorize` is set.
fn scalar_remark<'c>(location: Location<'c>, reason: &str) -> Diagnostic<'c> {
    Diagnostic::remark(location, format!("not vectorised: {reason}"))
}

/// Adds to an output what each place has put in its partial results, the last operand of the nest.
fn combine<'c>(b: Builder<'c>, nest: &Nest<'c>, output: Operand<'c>, combiner: &Combiner<'c>) {
    let Some(partial) = nest.operands.last() else { return };
    let Some(spread_buffer) = partial.access.spread_buffer() else { return };
    let mut extents = output.access.sizes.clone();
    let identity: Vec<Expr> = (0..extents.len()).map(Expr::Var).collect();
    let mut across: Vec<(usize, usize)> = Vec::new();
    for part in &nest.contracted {
        if !across.iter().any(|known| known.0 == part.axis) {
            across.push((part.axis, extents.len()));
            extents.push(Size::Static(spread_buffer.places[part.axis]));
        }
    }
    let partial = Operand { access: partial.access.clone(), map: identity.clone(), across };
    let operands = vec![partial, Operand::new(output.access, identity)];
    let sums = Nest { extents, operands, outputs: 1, contracted: Vec::new(), repeats: true };
    kernel::emit(&sums, b, |inner| {
        let operands = [inner.load(1), inner.load(0)];
        let kept = b.attributes_of(combiner.op);
        let sum = inner.b.value(ir::name(combiner.op), &operands, operands[0].r#type(), &kept);
        inner.store(1, sum);
    });
}

/// Whether a structured operation does no more than copy its input element by element.
fn is_copy(body: BlockRef, nest: &Nest) -> bool {
    let operations = ir::operations(body);
    let [end] = operations[..] else { return false };
    let same = nest.operands.windows(2).all(|pair| pair[0].map == pair[1].map);
    same && nest.operands.len() == 2
        && ir::operands(end).first().map(|v| ir::key(*v)) == ir::arguments(body).first().map(|v| ir::key(*v))
}

/// Makes the symbols of an affine map dimensions: a variable of a loop is no symbol where `linalg.index` was one.
fn symbols_to_dims(op: Op) {
    if !matches!(ir::name(op), "affine.apply" | "affine.max" | "affine.min") {
        return;
    }
    let Some(map) = ir::attribute(op, "map").and_then(ir::affine_map) else { return };
    if let (1.., Some(exprs)) = (map.symbol_count(), affine::exprs_of_map(map)) {
        let map = Builder::before(op).map(map.dim_count() + map.symbol_count(), &exprs, &|v| v);
        ir::edit(op).set_attribute("map", map);
    }
}

/// The layout of a type: in its own slot, or pending in that of the memory space.
fn tiled_layout<'c>(t: Type<'c>) -> Option<Attribute<'c>> {
    let shaped = ir::memref(t)?;
    let own = shaped.layout.filter(|a| AnyLayout::of(*a).is_some());
    own.or_else(|| shaped.space.and_then(layout_dialect::pending))
}

fn lower_type<'c>(t: Type<'c>, location: Location<'c>, form: Form, axes: &Axes) -> Result<Lowered<'c>, String> {
    let shaped = ir::memref(t).ok_or("it is not a memref")?;
    let own = shaped.layout.and_then(AnyLayout::of);
    let pending = shaped.space.and_then(layout_dialect::pending);
    let (layout, space) = match (own, pending) {
        (None, Some(carried)) if shaped.layout.is_none() => (AnyLayout::of(carried), None),
        (Some(layout), None) => (Some(layout), shaped.space),
        _ => return Err("it is a slice whose buffer is not known here".into()),
    };
    let layout = layout.ok_or("it carries no layout")?;
    let context = ir::location_context(location);
    let context = ir::borrowed(&context);
    let of_layout = if let AnyLayout::Tiled(layout) = &layout { i64::from(layout.memory_space) } else { 0 };
    let of_layout = (of_layout != 0).then(|| layout_dialect::memory_space_attribute(context, of_layout)).transpose();
    let of_layout = of_layout.map_err(|error| error.message)?;
    let space = match (space, of_layout) {
        (Some(given), Some(own)) if given != own => {
            let own = layout_dialect::memory_space(own).unwrap_or(0);
            return Err(format!("its memory space must be that of its layout, S({own}), found {given}"));
        }
        (given, own) => given.or(own),
    };
    let shaped = Shaped { layout: None, space, ..shaped };
    let lowered = Lowered::new(location, &shaped, &layout, axes, form);
    // A layout that is pending and cannot be is that of a buffer of which bufferization has copied a slice or reshape.
    // The copy is no more than a buffer of its own, and its layout is free.
    match pending.is_some() && lowered.is_err() {
        true => Lowered::new(location, &shaped, &AnyLayout::Tiled(Layout::row_major(shaped.shape.len())), axes, form),
        false => lowered,
    }
}
