//! Access of a nest to the elements of its operands.
//!
//! Views are followed from the value down to its buffer, by composing index maps, so that an access has one buffer and
//! one index into it, whatever slices and reshapes are between.

use crate::buffers::element_encoding::ElementEncoding;
use crate::buffers::index::IndexVars;
use crate::buffers::lowered::LoweredMemRef;
use crate::buffers::operations::{SLICE_OR_RESHAPE, is};
use crate::buffers::parts::row_major;
use crate::buffers::spread::SpreadBuffer;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::{Type, ValueLike};
use std::collections::HashMap;
use std::rc::Rc;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Domain, Interval, simplify};
use tensor_layout::swizzle::Swizzle;

/// The size of a dimension.
#[derive(Clone, Copy)]
pub enum Size<'c> {
    /// A static size.
    Static(i64),
    /// A value.
    Value(Val<'c>),
    /// The size of this dimension of a buffer.
    Dim(Val<'c>, usize),
}

impl<'c> Size<'c> {
    /// The size, if it is static.
    pub fn known(self) -> Option<i64> {
        if let Size::Static(n) = self { Some(n) } else { None }
    }

    /// The size as a value.
    pub fn value(self, b: Builder<'c>) -> Val<'c> {
        match self {
            Size::Static(n) => b.index(n),
            Size::Value(v) => v,
            Size::Dim(base, dim) => b.value("memref.dim", &[base, b.index(dim as i64)], Type::index(b.context()), &[]),
        }
    }
}

/// The access to elements of a logical memref, or of a view of one.
#[derive(Clone)]
pub struct Access<'c> {
    /// The buffer.
    pub base: Val<'c>,
    /// Its layout; `None` if its index is the logical index.
    pub lowered: Option<Rc<LoweredMemRef<'c>>>,
    /// The sizes of the view.
    pub sizes: Vec<Size<'c>>,
    /// The buffer's logical index, over the view's index (the first variables) and the symbols.
    pub logical: Vec<Expr>,
    /// The values of the variables after those of the view's index.
    pub symbols: Vec<Val<'c>>,
    /// The logical sizes of the buffer; `None` where unknown.
    pub shape: Vec<Option<i64>>,
    /// The encoding of the layout's elements in the buffer's.
    pub element_encoding: ElementEncoding<'c>,
    /// The strides of the buffer's dimensions, in elements of the layout; `None` where unknown. If a byte holds
    /// several elements, the last stride is the one inside a byte.
    pub strides: Vec<Option<i64>>,
}

impl<'c> Access<'c> {
    /// The index into the buffer for a view index over `vars`, and the intervals of the logical index in between.
    pub fn index(&self, vars: &mut IndexVars<'c>, view: &[Expr]) -> (Vec<Expr>, Vec<(Expr, Interval)>) {
        let (index, within) = self.unswizzled(vars, view);
        let Some(swizzle) = self.swizzle() else { return (index, within) };
        let address = vars.simplified(&index, &within).remove(0);
        (vec![vars.swizzled(address, swizzle)], within)
    }

    /// [`Access::index`] before the swizzle: an index whose parts are sums, though that of the buffer is none.
    pub fn unswizzled(&self, vars: &mut IndexVars<'c>, view: &[Expr]) -> (Vec<Expr>, Vec<(Expr, Interval)>) {
        let (logical, within) = self.logical(vars, view);
        let index = match &self.lowered {
            Some(lowered) => lowered.index(vars, self.base, &logical),
            None => logical,
        };
        (index, within)
    }

    /// The swizzle of the buffer's only index.
    pub fn swizzle(&self) -> Option<Swizzle> {
        self.lowered.as_ref()?.swizzle()
    }

    /// The logical index of the buffer for a view index over `vars`, and its intervals.
    pub fn logical(&self, vars: &mut IndexVars<'c>, view: &[Expr]) -> (Vec<Expr>, Vec<(Expr, Interval)>) {
        let symbols: Vec<Expr> = self.symbols.iter().map(|v| vars.expr(*v)).collect();
        let by: Vec<Expr> = view.iter().cloned().chain(symbols).collect();
        let logical: Vec<Expr> = self.logical.iter().map(|e| e.substitute(&by)).collect();
        let within = logical.iter().cloned().zip(self.shape.iter().copied().map(ir::indices_below)).collect();
        (logical, within)
    }

    /// The element at an index into the buffer, with all its copies.
    pub fn at(&self, index: Vec<Expr>) -> Reached<'c> {
        let copies = self.spread_buffer().map(SpreadBuffer::copies).unwrap_or_default();
        Reached { base: self.base, element_encoding: self.element_encoding, index, copies }
    }

    /// The buffer's index before the swizzle, in digits if it is spread over places, for a view index over `vars`. Cuts at its divisors
    /// make each expression a sum.
    pub fn cut_index(&self, vars: &mut IndexVars<'c>, view: &[Expr]) -> Vec<Expr> {
        let Some(spread_buffer) = self.spread_buffer() else {
            let (index, within) = self.unswizzled(vars, view);
            return vars.simplified(&index, &within);
        };
        let (logical, within) = self.logical(vars, view);
        let digits: Vec<Expr> = spread_buffer.digits().iter().map(|e| e.substitute(&logical)).collect();
        vars.simplified(&digits, &within)
    }

    /// An estimate of a buffer dimension's stride if it is known only at run time, for comparison with other strides:
    /// larger further out in memory.
    pub fn guess(&self, dim: usize) -> i64 {
        let place = self.lowered.as_ref().map_or(dim, |lowered| lowered.place_in_memory(dim));
        1 << (50 - 2 * place.min(15))
    }

    /// The reason why there is no vector code for these elements, if there is none.
    pub fn only_scalar(&self) -> Option<String> {
        if self.element_encoding.straddles() {
            let bits = self.element_encoding.bits.unwrap_or(0);
            return Some(format!("elements of {bits} bits begin in one byte and end in another"));
        }
        let products = self.lowered.as_ref().is_some_and(|lowered| lowered.has_products());
        products.then(|| "the place of an element is the product of its index and a size known only at run time".into())
    }

    /// The buffer's distribution over places.
    pub fn spread_buffer(&self) -> Option<&SpreadBuffer> {
        self.lowered.as_ref()?.spread_buffer()
    }

    /// Whether the view is the whole buffer. A slice that begins where the buffer does ends before it.
    pub fn is_whole(&self) -> bool {
        let is_all = |(size, n): (&Size, &Option<i64>)| match size {
            Size::Static(size) => Some(*size) == *n,
            Size::Dim(base, _) => n.is_none() && ir::key(*base) == ir::key(self.base),
            Size::Value(_) => false,
        };
        self.logical.iter().enumerate().all(|(d, e)| *e == Expr::Var(d))
            && self.sizes.len() == self.shape.len()
            && self.sizes.iter().zip(&self.shape).all(is_all)
    }

    /// Extends the index to the padding of the buffer's tiles, as another layout of the buffer.
    pub fn fill_tiles(&mut self, whole: Option<Rc<LoweredMemRef<'c>>>) {
        if let Some(whole) = whole {
            self.shape = whole.shape.clone();
            self.sizes = whole.shape.iter().filter_map(|n| n.map(Size::Static)).collect();
            self.lowered = Some(whole);
        }
    }

    /// The simplified index into the buffer for a view index over `vars`.
    pub fn simple_index(&self, vars: &mut IndexVars<'c>, view: &[Expr]) -> Vec<Expr> {
        let (index, within) = self.index(vars, view);
        vars.simplified(&index, &within)
    }
}

/// An element of a buffer.
pub struct Reached<'c> {
    /// The buffer, or the part of it at a place.
    pub base: Val<'c>,
    /// The encoding of the layout's elements in the buffer's.
    pub element_encoding: ElementEncoding<'c>,
    /// The index into it.
    pub index: Vec<Expr>,
    /// Copies to keep equal: the dimension that they are along, their number, their stride.
    pub copies: Vec<(usize, i64, i64)>,
}

impl<'c> Reached<'c> {
    /// Loads the element, with an affine operation if `affine` is set and this is allowed.
    pub fn load(&self, vars: &IndexVars<'c>, b: Builder<'c>, affine: bool) -> Val<'c> {
        self.element_encoding.load(vars, b, self.base, &self.index, affine)
    }

    /// Stores the element and all its copies, with an affine operation if `affine` is set and this is allowed.
    pub fn store(&self, vars: &IndexVars<'c>, b: Builder<'c>, value: Val<'c>, affine: bool) {
        if self.copies.is_empty() {
            return self.element_encoding.store(vars, b, value, self.base, &self.index, affine);
        }
        let mut b = b;
        let mut at: Vec<Val<'c>> = self.index.iter().map(|e| vars.value(b, e)).collect();
        for &(axis, extent, stride) in &self.copies {
            let index = Type::index(b.context());
            let bounds = [b.index(0), b.index(extent * stride), b.index(stride)];
            let (op, end) = b.with_body("scf.for", &bounds, &[], &[], &[index], "scf.yield");
            b = b.at(end);
            let step = ir::arguments(ir::blocks(op)[0])[0];
            at[axis] = b.value("arith.addi", &[at[axis], step], index, &[]);
        }
        let operands: Vec<_> = [value, self.base].into_iter().chain(at).collect();
        b.op("memref.store", &operands, &[], &[]);
    }
}

/// An operand of a nest, with the elements that the iteration reads or writes.
pub struct Operand<'c> {
    /// The access to its elements.
    pub access: Access<'c>,
    /// Its index over the dimensions of the iteration space.
    pub map: Vec<Expr>,
    /// Pairs of an axis and a dimension: the coordinate along the axis is the dimension's index, not this place's.
    pub across: Vec<(usize, usize)>,
}

impl<'c> Operand<'c> {
    /// An operand of which each place accesses only its own part.
    pub fn new(access: Access<'c>, map: Vec<Expr>) -> Self {
        Operand { access, map, across: Vec::new() }
    }
}

/// The tiled buffers of a module.
#[derive(Default)]
pub struct Buffers<'c> {
    /// Their layouts, by value.
    pub lowered: HashMap<usize, Rc<LoweredMemRef<'c>>>,
    /// The accesses to lowered views, by value.
    pub views: HashMap<usize, Access<'c>>,
}

impl<'c> Buffers<'c> {
    /// The layout of a tiled buffer.
    pub fn get(&self, v: Val<'c>) -> Option<&Rc<LoweredMemRef<'c>>> {
        self.lowered.get(&ir::key(v))
    }

    /// Whether a value is a tiled buffer or a view of one.
    pub fn reach(&self, v: Val<'c>) -> bool {
        self.get(v).is_some() || is_slice_of_pending(v)
    }

    /// The access to a memref's elements; views are followed to their buffer.
    pub fn access(&self, v: Val<'c>) -> Result<Access<'c>, String> {
        // Views from the value down to the buffer, without recursion: chains may be long.
        let mut chain = Vec::new();
        let mut base = v;
        let known = |v: Val<'c>| self.views.get(&ir::key(v));
        while known(base).is_none() && !self.lowered.contains_key(&ir::key(base)) && is_slice_of_pending(base) {
            let op = ir::defining_op(base).ok_or("its buffer is not known")?;
            chain.push(op);
            base = ir::operands(op)[0];
        }
        let mut access = match known(base) {
            Some(access) => access.clone(),
            None => self.whole(base)?,
        };
        for op in chain.into_iter().rev() {
            access = view(op, access)?;
        }
        Ok(access)
    }

    /// The access to a whole memref, tiled or not.
    fn whole(&self, base: Val<'c>) -> Result<Access<'c>, String> {
        let lowered = self.lowered.get(&ir::key(base)).cloned();
        let plain = ir::memref(base.r#type()).ok_or("an operand is not a memref")?;
        let (shape, strides) = match &lowered {
            Some(lowered) => (lowered.shape.clone(), lowered.element_strides.clone()),
            None => {
                let strides = plain.layout.and_then(ir::strides_of).unwrap_or_else(|| row_major(&plain.shape));
                (plain.shape.clone(), strides)
            }
        };
        let size = |(d, n): (usize, &Option<i64>)| match *n {
            None => Size::Dim(base, lowered.as_ref().and_then(|l| l.dim_of_size(d)).unwrap_or(d)),
            Some(n) => Size::Static(n),
        };
        let sizes = shape.iter().enumerate().map(size).collect();
        let logical = (0..shape.len()).map(Expr::Var).collect();
        let element_encoding = lowered.as_ref().map_or(ElementEncoding::whole(plain.element), |l| l.element_encoding);
        Ok(Access { base, lowered, sizes, logical, symbols: Vec::new(), shape, element_encoding, strides })
    }
}

/// Whether a value is a view of a pending buffer: a part, or another shape.
pub fn is_slice_of_pending(v: Val) -> bool {
    let mut v = v;
    loop {
        let shaped = ir::memref(v.r#type());
        let pending = shaped.as_ref().and_then(|t| t.space).and_then(layout_dialect::pending).is_some();
        let Some(op) = ir::defining_op(v).filter(|_| pending) else { return false };
        match ir::name(op) {
            "memref.cast" if shaped.is_some_and(|t| t.layout.is_none()) => v = ir::operands(op)[0],
            name => return is(name, SLICE_OR_RESHAPE),
        }
    }
}

/// The dimension groups of a reshape.
fn groups(op: Op) -> Result<Vec<Vec<usize>>, String> {
    ir::reassociation(op).ok_or_else(|| "its `reassociation` must be an array of arrays of integers".into())
}

/// A view's part of its source.
struct Shown<'c> {
    /// The sizes of the view.
    sizes: Vec<Size<'c>>,
    /// The source's index, over the view's index (the first variables), the source's symbols, and the view's own
    /// symbols.
    index: Vec<Expr>,
    /// The values of the view's own symbols.
    symbols: Vec<Val<'c>>,
}

/// The access through one more view.
fn view<'c>(op: Op<'c>, source: Access<'c>) -> Result<Access<'c>, String> {
    let shape = ir::memref(ir::result(op, 0).r#type()).ok_or("it is not a memref")?.shape;
    let Shown { sizes, index, symbols } = match ir::name(op) {
        "memref.cast" => cast(&source, &shape),
        "memref.subview" => subview(op, &source, &shape)?,
        "memref.collapse_shape" => collapsed(op, &source)?,
        "memref.expand_shape" => expanded(op, &shape)?,
        _ => return Err("it is not a view".into()),
    };
    debug_assert_eq!(index.len(), source.sizes.len());
    let old = (0..source.symbols.len()).map(|k| Expr::Var(shape.len() + k));
    let by: Vec<Expr> = index.into_iter().chain(old).collect();
    let logical: Vec<Expr> = source.logical.iter().map(|e| e.substitute(&by)).collect();
    let symbols: Vec<Val<'c>> = source.symbols.iter().copied().chain(symbols).collect();
    // Simplified, so that a slice of a slice of a slice costs as much as a slice.
    let inside = |n: &Size| n.known().map_or(Interval::new(0, i64::MAX), |n| Interval::new(0, n - 1));
    let vars = sizes.iter().map(inside).chain(symbols.iter().map(|_| Interval::ALL)).collect();
    let logical = simplify(&logical, &Domain { vars, constraints: Vec::new() });
    Ok(Access { sizes, logical, symbols, ..source })
}

/// The same elements; the type may know more of the sizes.
fn cast<'c>(source: &Access<'c>, shape: &[Option<i64>]) -> Shown<'c> {
    let size = |(size, n): (&Size<'c>, &Option<i64>)| n.map_or(*size, Size::Static);
    let sizes = source.sizes.iter().zip(shape).map(size).collect();
    Shown { sizes, index: (0..shape.len()).map(Expr::Var).collect(), symbols: Vec::new() }
}

/// `offset + stride * i` in each dimension that the result keeps.
fn subview<'c>(op: Op<'c>, source: &Access<'c>, shape: &[Option<i64>]) -> Result<Shown<'c>, String> {
    let operands = ir::operands(op);
    let segments = ir::integers(op, "operandSegmentSizes");
    let values = segments.get(1).and_then(|n| usize::try_from(*n).ok()).ok_or("it has no operandSegmentSizes")?;
    // Operands after the source: offsets that are values, then sizes that are.
    let (mut offset, mut size) = (1, 1 + values);
    let [offsets, lengths, strides] =
        ["static_offsets", "static_sizes", "static_strides"].map(|name| ir::sizes(op, name));
    let mut shown = Shown { sizes: Vec::new(), index: Vec::new(), symbols: Vec::new() };
    for ((from, n), stride) in offsets.into_iter().zip(lengths).zip(strides) {
        let from = if let Some(from) = from {
            Expr::Const(from)
        } else {
            let symbol = source.symbols.len() + shown.symbols.len();
            shown.symbols.push(operands[offset]);
            offset += 1;
            Expr::Var(shape.len() + symbol)
        };
        let length = if let Some(n) = n {
            Size::Static(n)
        } else {
            size += 1;
            Size::Value(operands[size - 1])
        };
        let stride = stride.ok_or("its stride is known only at run time")?;
        // The result drops a dimension of size 1, or keeps it: either way its index is 0.
        if shape.get(shown.sizes.len()).is_some_and(|kept| *kept == n) {
            shown.index.push(from + Expr::Var(shown.sizes.len()).times(stride));
            shown.sizes.push(length);
        } else {
            shown.index.push(from);
        }
    }
    match shown.sizes.len() == shape.len() {
        true => Ok(shown),
        false => Err("the dimensions that its result keeps are ambiguous".into()),
    }
}

/// A collapse: each index is a digit of the index in the collapsed dimension.
fn collapsed<'c>(op: Op<'c>, source: &Access<'c>) -> Result<Shown<'c>, String> {
    let mut shown = Shown { sizes: Vec::new(), index: vec![Expr::Const(0); source.sizes.len()], symbols: Vec::new() };
    for (k, group) in groups(op)?.into_iter().enumerate() {
        let dims: Vec<usize> = group.into_iter().filter(|d| source.sizes[*d].known() != Some(1)).collect();
        let Some((first, inner)) = dims.split_first() else {
            shown.sizes.push(Size::Static(1));
            continue;
        };
        let mut below = 1i64;
        for d in inner.iter().rev() {
            let size = source.sizes[*d].known().ok_or(RESHAPES)?;
            shown.index[*d] = Expr::Var(k).floor_div(below.max(1)).modulo(size.max(1));
            below = below.checked_mul(size).ok_or(OVERFLOW)?;
        }
        shown.index[*first] = Expr::Var(k).floor_div(below.max(1));
        shown.sizes.push(match source.sizes[*first] {
            Size::Static(n) => Size::Static(n.checked_mul(below).ok_or(OVERFLOW)?),
            size if below == 1 => size,
            size => {
                let b = Builder::before(op);
                Size::Value(b.value("arith.muli", &[size.value(b), b.index(below)], Type::index(b.context()), &[]))
            }
        });
    }
    Ok(shown)
}

/// An expansion: each index is the sum of the indices in the expanded dimensions.
fn expanded<'c>(op: Op<'c>, shape: &[Option<i64>]) -> Result<Shown<'c>, String> {
    // Operands after the source: the sizes that are values.
    let mut values = ir::operands(op).into_iter().skip(1);
    let size = |n: &Option<i64>| n.map(Size::Static).or_else(|| values.next().map(Size::Value));
    let sizes: Vec<Size<'c>> = shape.iter().map(size).collect::<Option<_>>().ok_or(RESHAPES)?;
    let mut index = Vec::new();
    for group in groups(op)? {
        let (mut sum, mut below) = (Expr::Const(0), Some(1i64));
        for d in group.into_iter().rev().filter(|d| shape[*d] != Some(1)) {
            let inner = below.ok_or(RESHAPES)?;
            sum = Expr::Var(d).times(inner) + sum;
            below = shape[d].map(|n| inner.checked_mul(n).ok_or(OVERFLOW)).transpose()?;
        }
        index.push(sum);
    }
    Ok(Shown { sizes, index, symbols: Vec::new() })
}

const RESHAPES: &str = "the index of a reshape must not be a product of sizes that are known only at run time";
const OVERFLOW: &str = "its sizes overflow";
