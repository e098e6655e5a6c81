//! Contents of the padding of buffers during lowering.
//!
//! Only kernels over whole tiles write padding. So the padding of a buffer holds one value at an operation if
//!
//! - the buffer is an allocation with only known uses, a constant, or an argument with a `layout.padding`;
//! - a kernel before it, in its block or a surrounding one, wrote this value into all padding;
//! - all later kernels that write its padding write the same value.
//!
//! If a reduction needs another value, the pass fills the padding of its inputs first, if they are such allocations
//! and nothing relies on the old contents. The fill is placed after the last kernel that wrote the buffer, outside of
//! the loops around the reduction that begin later.
//!
//! In a loop, kernels after the operation also run before it. So if the operation relies on padding and is inside a
//! loop that does not contain the writing kernel, later kernels of the loop must preserve the padding. Operations are
//! visited in program order, so each is known before the first kernel that could break it.

use super::padding_fills::Fill;
use super::padding_state::{Writer, block, root};
use super::state::Lowering;
use crate::analysis::functions::symbol;
use crate::buffers::operations::{SAME_BUFFER, is};
use crate::kernel::body::Body;
use crate::kernel::nest::Nest;
use crate::kernel::padding::{Content, KnownPadding, PaddingWrite, Widened, widen};
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::Padding;
use layout_dialect::PADDING;
use layout_ir::{self as ir, Builder, Constant, Op, Val};
use melior::ir::attribute::AttributeLike;
use melior::ir::{Attribute, TypeLike, ValueLike};
use std::collections::HashSet;

impl<'c> Lowering<'c> {
    /// Rounds the dimensions of a nest up to whole tiles, as far as the options and the known padding allow.
    pub(super) fn widened(&mut self, op: Op<'c>, nest: &mut Nest<'c>, body: &Body<'c>) -> (Widened<'c>, Vec<Fill<'c>>) {
        if self.options.padding == Padding::Masked {
            return (Widened::default(), Vec::new());
        }
        let roots: Vec<Val<'c>> = nest.operands.iter().map(|o| root(o.access.base)).collect();
        let first = roots.len() - nest.outputs;
        let is_written = |v: Val<'c>| roots[first..].iter().any(|other| ir::key(*other) == ir::key(v));
        // An input that is also written differs in the next iteration of a loop.
        let reads = |k: usize| if k < first { !is_written(roots[k]) } else { body.initial.is_some() };
        let padding_values =
            (0..roots.len()).map(|k| reads(k).then(|| self.padding_value(roots[k], op)).flatten()).collect();
        let kept = roots[first..].iter().map(|v| self.kept(*v, op)).collect();
        let mut tiles = std::mem::take(&mut self.padding.tiles);
        let mut known = KnownPadding { padding_values, kept };
        let fills = self.fills(op, nest, body, &known, &mut tiles);
        for fill in &fills {
            for (value, _) in
                known.padding_values.iter_mut().zip(&roots).filter(|(_, root)| ir::key(**root) == ir::key(fill.root))
            {
                *value = Some(fill.value);
            }
        }
        let widened = widen(nest, body, &known, &self.options, ir::location(op), &mut tiles);
        self.padding.tiles = tiles;
        (widened, fills)
    }

    /// Records the padding that a kernel with these operands writes and relies on.
    pub(super) fn note_padding(&mut self, op: Op<'c>, bases: &[Val<'c>], widened: Widened<'c>) {
        if self.options.padding == Padding::Report {
            let dims = widened.dims.iter().map(|(dim, from, to)| format!("d{dim} runs to {to} in place of {from}"));
            let written = widened.written.iter().flatten().map(|(value, _)| match value {
                Some(value) => format!("padding of the output holds {value}"),
                None => "padding of the output is not known".into(),
            });
            let all: Vec<String> = dims.chain(written).chain(widened.reasons.iter().cloned()).collect();
            if !all.is_empty() {
                self.remarks.push(Diagnostic::remark(ir::location(op), all.join("; ")));
            }
        }
        for operand in widened.relied {
            let base = root(bases[operand]);
            if let Some((value, inside)) = self.writer(base, op)
                && let Some(around) = inside
            {
                self.padding.needed.entry(ir::key(base)).or_default().push((value, around));
            }
        }
        let first = bases.len() - widened.written.len();
        for (base, written) in bases[first..].iter().zip(widened.written) {
            let Some((value, all)) = written else { continue };
            let writer = Writer { value, all, block: block(op) };
            self.padding.writers.entry(ir::key(root(*base))).or_default().push(writer);
        }
    }

    /// Records that padding holds a value from an operation on.
    pub(super) fn note_fill(&mut self, root: Val<'c>, value: Attribute<'c>, from: Op<'c>) {
        let writer = Writer { value: Some(value), all: true, block: block(from) };
        self.padding.writers.entry(ir::key(root)).or_default().push(writer);
    }

    /// Records the padding of a read-only global of numbers: its only element, or zeros.
    pub(super) fn note_constant(&mut self, global: Op<'c>, value: &Constant<'c>) {
        let name = ir::attribute(global, "sym_name").and_then(ir::text);
        let zero = || {
            let number = if value.element.is_float() { "0.0" } else { "0" };
            Attribute::parse(Builder::before(global).context(), &format!("{number} : {}", value.element))
        };
        let element = value.element;
        if let Some(name) = name.filter(|_| ir::attribute(global, "constant").is_some())
            && (element.is_float() || element.is_integer() || element.is_index())
            && let Some(padding) = value.splat_element().or_else(zero)
        {
            self.padding.constants.insert(name.to_owned(), padding);
        }
    }

    /// The contents of a buffer's padding before an operation.
    fn padding_value(&mut self, base: Val<'c>, op: Op<'c>) -> Content<'c> {
        if let Some(global) = ir::defining_op(base).filter(|op| ir::name(*op) == "memref.get_global") {
            let name = ir::attribute(global, "name")?.to_string();
            return self.padding.constants.get(name.trim_start_matches('@')).copied();
        }
        if let Some(promised) = self.promised(base) {
            return self.is_owned(base).then_some(promised);
        }
        if !self.is_owned(base) {
            return None;
        }
        self.writer(base, op).map(|known| known.0)
    }

    /// The value that an earlier kernel wrote into all padding, if it is still there. Also returns the operation in
    /// that kernel's block that contains `op`, if it is another one.
    fn writer(&self, base: Val<'c>, op: Op<'c>) -> Option<(Attribute<'c>, Option<usize>)> {
        let around: Vec<Op<'c>> = std::iter::successors(Some(op), |op| ir::parent(*op)).collect();
        let mut known: Content = None;
        for writer in self.padding.writers.get(&ir::key(base))?.iter().rev() {
            let value = writer.value?;
            if known.is_some_and(|known| known != value) {
                return None;
            }
            known = Some(value);
            let inside = around.iter().find(|around| block(**around) == writer.block);
            if let Some(inside) = inside.filter(|_| writer.all) {
                return Some((value, (*inside != op).then(|| ir::op_key(*inside))));
            }
        }
        None
    }

    /// The values that a kernel may write into the padding of a buffer.
    pub(super) fn kept(&mut self, base: Val<'c>, op: Op<'c>) -> PaddingWrite<'c> {
        let around: HashSet<usize> = std::iter::successors(Some(op), |op| ir::parent(*op)).map(ir::op_key).collect();
        let needed = self.padding.needed.get(&ir::key(base)).into_iter().flatten();
        let needed = needed.filter(|(_, inside)| around.contains(inside)).map(|needed| needed.0).next();
        match needed.or_else(|| self.promised(base)) {
            Some(value) => PaddingWrite::Only(value),
            None if self.may_be_promised(base) => PaddingWrite::Forbidden,
            None => PaddingWrite::Any,
        }
    }

    /// Whether a buffer may be an argument with padding that an outside caller relies on: if a branch chooses it, a
    /// loop carries it, or it was passed to a function.
    fn may_be_promised(&self, base: Val<'c>) -> bool {
        let promised = ir::memref(base.r#type()).is_some_and(|t| self.padding.promised.contains(&t.element));
        let known = match (ir::defining_op(base), ir::block_argument(base)) {
            (Some(op), _) => matches!(ir::name(op), "memref.alloc" | "memref.alloca"),
            (None, Some((function, number))) => is_own(base, function, number) && !self.is_referred(function),
            (None, None) => false,
        };
        promised && !known
    }

    fn is_referred(&self, function: Op<'c>) -> bool {
        symbol(function).is_none_or(|name| self.padding.referred.contains(name))
    }

    /// The `layout.padding` of an argument; `None` if the module refers to the function, as its callers are not
    /// checked.
    fn promised(&self, base: Val<'c>) -> Content<'c> {
        let (function, number) = ir::block_argument(base)?;
        if !is_own(base, function, number) || self.is_referred(function) {
            return None;
        }
        let promises = ir::elements(function, "arg_attrs");
        let promise = promises.get(number).map(|of| ir::entries(*of)).unwrap_or_default();
        let promise = promise.into_iter().find(|(name, _)| name == PADDING)?.1;
        let fits = ir::memref(base.r#type()).is_some_and(|t| promise.r#type() == t.element);
        fits.then_some(promise)
    }

    /// Whether a buffer is an allocation, or an argument that is one, whose users write its padding only
    /// where this is recorded.
    pub(super) fn is_owned(&mut self, base: Val<'c>) -> bool {
        if let Some(known) = self.padding.owned.get(&ir::key(base)) {
            return *known;
        }
        let own = match ir::defining_op(base) {
            Some(op) => matches!(ir::name(op), "memref.alloc" | "memref.alloca"),
            None => self.promised(base).is_some(),
        };
        let owned = own && self.only_known_uses(base);
        self.padding.owned.insert(ir::key(base), owned);
        owned
    }

    fn only_known_uses(&self, base: Val<'c>) -> bool {
        let mut seen = vec![base];
        while let Some(v) = seen.pop() {
            for (user, operand) in ir::uses(v) {
                match ir::name(user) {
                    name if is(name, SAME_BUFFER) => seen.extend(ir::results(user)),
                    "memref.dealloc" | "memref.dim" | "memref.copy" | "memref.load" | "affine.load" => {}
                    "memref.prefetch" | "memref.extract_aligned_pointer_as_index" => {}
                    "memref.store" | "affine.store" if operand == 1 => {}
                    name if name.starts_with("vector.") || name.starts_with("affine.vector_") => {}
                    _ if self.maps.contains_key(&ir::op_key(user)) => {}
                    _ => return false,
                }
            }
        }
        true
    }
}

/// Whether a block argument is the function's argument of this number.
fn is_own(base: Val, owner: Op, number: usize) -> bool {
    let entry = ir::blocks(owner).first().copied().filter(|_| ir::name(owner) == "func.func");
    entry.is_some_and(|entry| ir::arguments(entry).get(number).is_some_and(|own| ir::key(*own) == ir::key(base)))
}
