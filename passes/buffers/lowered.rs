//! The plain memref type that replaces one with a layout.
//!
//! `memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>` has 2×3 tiles of 2×2. Its strided type has one dimension for each
//! part, grouped by logical dimension: `memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>`. The physical type of
//! the same bytes has them in memory order: `memref<2x3x2x2xf32>`. Buffers are allocated in their physical type; the
//! strided one is its transpose. If an allocation has more than the type shows (tail padding, metadata), or
//! a size that only the type's leading dimensions carry, it has one dimension. See [`Parts`] and [`ElementEncoding`].
//!
//! A swizzled layout becomes one dimension of addresses; the index is that of the layout below, and each access flips its
//! bits.
//!
//! A TensorLayout becomes one buffer for all places of the machine: see [`crate::buffers::spread`]. An `affine_map` has its
//! results as dimensions: see [`crate::buffers::maps`].

use crate::buffers::element_encoding::ElementEncoding;
use crate::buffers::index::IndexVars;
use crate::buffers::maps::MappedDims;
use crate::buffers::operations::UNREALIZED_CAST;
use crate::buffers::parts::{Parts, row_major};
use crate::buffers::products::Products;
use crate::buffers::spread::{Axes, SpreadBuffer};
use crate::pass::options::Form;
use layout_dialect::element;
use layout_ir::{self as ir, Builder, Shaped, Val};
use melior::ir::{AffineMap, Attribute, Identifier, Location, Type, ValueLike};
use tensor_layout::expr::Expr;
use tensor_layout::limits;
use tensor_layout::maps::Interval;
use tensor_layout::places::TensorLayout;
use tensor_layout::swizzle::Swizzle;
use tensor_layout::swizzled::SwizzledLayout;
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::Layout;

/// The most elements, padding included, of a constant that is reordered for a layout. Lowering takes 16 bytes for
/// each, so 1 GiB at most. Padding counts, as a few bytes of program text can make it large: `{0:T(3000000000)}`
/// makes three thousand million elements of two.
const MAX_CONSTANT: i64 = limits::CONSTANT_ELEMENTS;

/// A layout on one shape, lowered.
pub struct LoweredMemRef<'c> {
    /// The logical sizes; `None` where known only at run time.
    pub shape: Vec<Option<i64>>,
    /// The layout's text, for messages and comparison.
    pub layout: String,
    /// The type of values, in the form of the options.
    pub value_type: Type<'c>,
    /// The index into the value type, from the logical index and the products; then the step inside its element at
    /// which the layout's element begins, if this may be another than the first. Swizzles come after it.
    pub index_exprs: Vec<Expr>,
    /// The strides of these, in steps; `None` where unknown. A step is a layout element if several share one byte and
    /// none spans two.
    pub element_strides: Vec<Option<i64>>,
    /// The products of run-time values in the index and in the sizes.
    products: Products,
    /// The encoding of the layout's elements in the value type's.
    pub element_encoding: ElementEncoding<'c>,
    /// The sizes of the value type's dimensions; `None` where unknown.
    sizes: Vec<Option<i64>>,
    /// The strides of the value type's dimensions, in its elements; `None` where unknown.
    type_strides: Vec<Option<i64>>,
    /// The value type's dimensions in memory order, outermost first.
    memory_order: Vec<usize>,
    /// Parts in logical order, with the strides of the layout.
    strided_type: Type<'c>,
    /// Parts in memory order; without strides, unless a prefix or a size needs them.
    physical_type: Type<'c>,
    /// The strided type's dimensions in memory order.
    strided_memory_order: Vec<usize>,
    /// For each logical dimension of dynamic size, the dimension of the value type that has the same size.
    dynamic: Vec<(usize, usize)>,
    /// For each dimension of the value type of dynamic size, the size over the logical sizes and the products.
    run_time: Vec<(usize, Expr)>,
    storage: Storage,
}

/// The storage of a buffer's elements.
enum Storage {
    /// By the sizes into which the tiles of a layout cut the logical ones, or by the logical sizes without tiles.
    Expanded {
        expansion: Expansion,
        untiled: bool,
        /// The elements of the memref in front of the first.
        prefix: i64,
        /// The multiple to which the number of elements is rounded up.
        tail: i64,
        /// Whether the allocation has one dimension.
        one_dimensional: bool,
    },
    SpreadBuffer(SpreadBuffer),
    /// A map from the logical index to the index.
    Mapped,
    /// A map from the logical index to the address before the swizzle.
    Swizzled(Swizzle),
}

/// A layout to be lowered.
pub enum AnyLayout<'c> {
    /// `#layout.tiled`.
    Tiled(Layout),
    /// `#layout.tensor_layout`.
    Tensor(TensorLayout),
    /// `#layout.swizzled`.
    Swizzled(SwizzledLayout),
    /// An `affine_map` without a strided form.
    Map(AffineMap<'c>),
}

impl<'c> AnyLayout<'c> {
    /// The layout of a memref; `None` for one that upstream's operations accept.
    pub fn of_memref(t: Type<'c>) -> Option<AnyLayout<'c>> {
        let layout = ir::memref(t)?.layout?;
        let map = || ir::affine_map(layout).filter(|_| ir::strides_and_offset(t).is_none()).map(AnyLayout::Map);
        AnyLayout::of(layout).or_else(map)
    }

    /// The layout of an attribute of this dialect; `None` for any other attribute.
    pub fn of(attribute: Attribute) -> Option<AnyLayout<'static>> {
        layout_dialect::tiled(attribute)
            .map(AnyLayout::Tiled)
            .or_else(|| layout_dialect::tensor_layout(attribute).map(AnyLayout::Tensor))
            .or_else(|| layout_dialect::swizzled(attribute).map(AnyLayout::Swizzled))
    }

    /// The memory space that the layout states; 0 is the main memory.
    pub fn memory_space(&self) -> u8 {
        match self {
            AnyLayout::Tiled(layout) => layout.memory_space,
            AnyLayout::Swizzled(layout) => layout.memory_space(),
            AnyLayout::Tensor(_) | AnyLayout::Map(_) => 0,
        }
    }
}

impl<'c> LoweredMemRef<'c> {
    /// Lowers a layout, a TensorLayout on a machine with these axes; the error is the reason why it cannot be.
    pub fn new(
        location: Location<'c>,
        logical: &Shaped<'c>,
        layout: &AnyLayout<'c>,
        axes: &Axes,
        form: Form,
    ) -> Result<Self, String> {
        match layout {
            AnyLayout::Tiled(layout) => Self::tiled(location, logical, layout, form),
            AnyLayout::Tensor(layout) => Self::tensor(location, logical, layout, axes),
            AnyLayout::Swizzled(layout) => Self::swizzled(location, logical, layout),
            AnyLayout::Map(map) => Self::mapped(location, logical, *map),
        }
    }

    fn mapped(location: Location<'c>, logical: &Shaped<'c>, map: AffineMap<'c>) -> Result<Self, String> {
        let MappedDims { exprs, sizes, dynamic } = MappedDims::of(&logical.shape, map)?;
        let rank = logical.shape.len();
        let (products, _) = Products::of(&logical.shape, &Layout::row_major(rank));
        let plain = Shaped { shape: sizes.clone(), layout: None, ..logical.clone() };
        let value_type = ir::memref_type(location, &plain).ok_or("the results of its map do not make a memref type")?;
        let strides = row_major(&sizes);
        let mut run_time: Vec<_> = dynamic.iter().map(|(d, k)| (*k, products.size(*d))).collect();
        run_time.sort_by_key(|run_time| run_time.0);
        let lowered = Self::in_order(logical, value_type, exprs, [sizes, strides], Storage::Mapped);
        Ok(LoweredMemRef { layout: map.to_string(), products, dynamic, run_time, ..lowered })
    }

    fn swizzled(location: Location<'c>, logical: &Shaped<'c>, layout: &SwizzledLayout) -> Result<Self, String> {
        let sizes = logical.sizes().ok_or("a swizzled layout must have static sizes")?;
        let addresses = layout.on(&sizes).map_err(|e| e.message)?;
        let row = vec![Some(addresses.size)];
        let plain = Shaped { shape: row.clone(), layout: None, ..logical.clone() };
        let value_type = ir::memref_type(location, &plain).ok_or("its addresses do not make a memref type")?;
        let storage = Storage::Swizzled(layout.swizzle);
        let lowered = Self::in_order(logical, value_type, vec![addresses.inner], [row, vec![Some(1)]], storage);
        Ok(LoweredMemRef { layout: layout.to_string(), ..lowered })
    }

    /// A memref of whole elements with its dimensions in memory order.
    fn in_order(
        logical: &Shaped<'c>,
        value_type: Type<'c>,
        exprs: Vec<Expr>,
        [sizes, strides]: [Vec<Option<i64>>; 2],
        storage: Storage,
    ) -> Self {
        LoweredMemRef {
            shape: logical.shape.clone(),
            layout: String::new(),
            value_type,
            index_exprs: exprs,
            products: Products::default(),
            element_encoding: ElementEncoding::whole(logical.element),
            memory_order: (0..sizes.len()).collect(),
            strided_memory_order: (0..sizes.len()).collect(),
            type_strides: strides.clone(),
            element_strides: strides,
            sizes,
            strided_type: value_type,
            physical_type: value_type,
            dynamic: Vec::new(),
            run_time: Vec::new(),
            storage,
        }
    }

    fn tensor(
        location: Location<'c>,
        logical: &Shaped<'c>,
        layout: &TensorLayout,
        axes: &Axes,
    ) -> Result<Self, String> {
        let spread_buffer = SpreadBuffer::new(logical, layout, axes)?;
        let count = elements(&spread_buffer.sizes());
        let known = |numbers: Vec<i64>| numbers.into_iter().map(Some).collect::<Vec<_>>();
        let (sizes, strides) = (known(spread_buffer.sizes()), known(spread_buffer.strides()));
        let plain = Shaped { layout: None, ..logical.clone() };
        let row = ir::memref_type(location, &Shaped { shape: vec![Some(spread_buffer.elements())], ..plain.clone() });
        let dense = strides == row_major(&sizes) && count == Some(spread_buffer.elements());
        let strided = (strides != row_major(&sizes)).then(|| ir::strided(location, Some(0), &strides));
        let value_type = ir::memref_type(location, &Shaped { shape: sizes.clone(), layout: strided, ..plain });
        let (Some(row), Some(value_type)) = (row, value_type) else {
            return Err("its places do not make a memref type".into());
        };
        let exprs = spread_buffer.exprs();
        let storage = Storage::SpreadBuffer(spread_buffer);
        let lowered = Self::in_order(logical, value_type, exprs, [sizes, strides], storage);
        let physical_type = if dense { value_type } else { row };
        Ok(LoweredMemRef { layout: layout.to_string(), physical_type, ..lowered })
    }

    fn tiled(location: Location<'c>, logical: &Shaped<'c>, layout: &Layout, form: Form) -> Result<Self, String> {
        let mut element_encoding = ElementEncoding::new(logical.element, layout.element_bits)?;
        let prefix = prefix(layout, element_encoding)?;
        let parts = Parts::of(&logical.shape, layout, element_encoding.ratio)?;
        let transposed = parts.order.clone();
        let physical = parts.clone().in_memory_order();
        let memref = |parts: &Parts| {
            let plain = prefix == 0 && parts.is_row_major();
            let layout = (!plain).then(|| ir::strided(location, Some(prefix), &parts.strides));
            let shaped = Shaped {
                shape: parts.sizes.clone(),
                element: element_encoding.memref_element,
                layout,
                space: logical.space,
            };
            ir::memref_type(location, &shaped).ok_or("its parts do not make a memref type")
        };
        let (strided_type, physical_type) = (memref(&parts)?, memref(&physical)?);
        let (value_type, parts) = match form {
            Form::Physical => (physical_type, physical),
            Form::Strided => (strided_type, parts),
        };
        element_encoding.fastest = parts.fastest;
        let tail = if layout.is_tiled() { layout.tail_alignment } else { 1 };
        let longer = match parts.run_time.is_empty() {
            true => parts.expansion.allocated_elements() != parts.expansion.elements(),
            false => tail > 1,
        };
        let in_steps = |stride: &Option<i64>| stride.and_then(|n| n.checked_mul(element_encoding.ratio.elements));
        Ok(LoweredMemRef {
            shape: logical.shape.clone(),
            layout: layout.to_string(),
            value_type,
            element_strides: parts.strides.iter().map(in_steps).chain(parts.digit.iter().map(|_| Some(1))).collect(),
            index_exprs: parts.exprs.into_iter().chain(parts.digit).collect(),
            products: parts.products,
            element_encoding,
            sizes: parts.sizes,
            type_strides: parts.strides,
            memory_order: parts.order,
            strided_type,
            physical_type,
            strided_memory_order: transposed,
            dynamic: parts.dynamic,
            run_time: parts.run_time,
            storage: Storage::Expanded {
                expansion: parts.expansion,
                untiled: !layout.is_tiled(),
                prefix,
                tail,
                one_dimensional: longer || prefix != 0 || parts.carriers != 0,
            },
        })
    }

    /// The distribution of a TensorLayout over places.
    pub fn spread_buffer(&self) -> Option<&SpreadBuffer> {
        if let Storage::SpreadBuffer(spread_buffer) = &self.storage { Some(spread_buffer) } else { None }
    }

    /// The swizzle of the only index into the value type.
    pub fn swizzle(&self) -> Option<Swizzle> {
        if let Storage::Swizzled(swizzle) = self.storage { Some(swizzle) } else { None }
    }

    /// The sizes of the value type's dimensions; `None` where unknown.
    #[cfg(feature = "vectorize")]
    pub fn sizes(&self) -> &[Option<i64>] {
        &self.sizes
    }

    /// The number of value-type dimensions further out in memory.
    pub fn place_in_memory(&self, dim: usize) -> usize {
        self.memory_order.iter().position(|k| *k == dim).unwrap_or(dim)
    }

    /// The dimension of the value type whose size equals the dynamic size of a logical dimension.
    pub fn dim_of_size(&self, logical: usize) -> Option<usize> {
        self.dynamic.iter().find(|d| d.0 == logical).map(|d| d.1)
    }

    /// Allocates with `op`, `memref.alloc` or `memref.alloca`; `sizes` has a value for each dynamic logical size.
    pub fn allocate(
        &self,
        b: Builder<'c>,
        op: &str,
        sizes: &[Val<'c>],
        attributes: &[(Identifier<'c>, Attribute<'c>)],
    ) -> Val<'c> {
        let operands = if self.run_time.is_empty() { Vec::new() } else { self.allocation_sizes(b, sizes) };
        let segments = b.segments(&[operands.len() as i32, 0]);
        let attributes: Vec<_> = attributes.iter().copied().chain([segments]).collect();
        let allocation = b.value(op, &operands, self.allocation_type(b.location), &attributes);
        self.view(b, allocation, sizes)
    }

    /// The dynamic sizes of the allocation, in the order of its dimensions.
    fn allocation_sizes(&self, b: Builder<'c>, sizes: &[Val<'c>]) -> Vec<Val<'c>> {
        let known = self.run_time_sizes(b, sizes);
        if !self.is_one_dimensional() {
            // The allocation's dimensions are in memory order.
            return self
                .memory_order
                .iter()
                .filter_map(|k| known.iter().find(|size| size.0 == *k))
                .map(|size| size.1)
                .collect();
        }
        let Storage::Expanded { prefix, tail, .. } = self.storage else { return Vec::new() };
        let index = Type::index(b.context());
        let product = |x: Val<'c>, y: Val<'c>| b.value("arith.muli", &[x, y], index, &[]);
        let dims = self.memory_order.iter().filter(|k| self.type_strides[**k] != Some(0));
        let dims = dims.map(|k| match known.iter().find(|size| size.0 == *k) {
            Some(size) => size.1,
            None => b.index(self.sizes[*k].unwrap_or(1)),
        });
        let mut count = dims.reduce(product).unwrap_or_else(|| b.index(1));
        // The tail is counted in elements of the layout that would fill the bytes.
        let ratio = self.element_encoding.ratio;
        let rounded = |v: Val<'c>, f: &dyn Fn(Expr) -> Expr| {
            let mut vars = IndexVars::default();
            let e = f(vars.var(v, Interval::new(0, i64::MAX)));
            vars.value(b, &e)
        };
        let up = |e: Expr, by: i64| (e + Expr::Const(by - 1)).floor_div(by);
        if tail > 1 || prefix != 0 {
            let elements = |n: Expr| n.times(ratio.elements).floor_div(ratio.units);
            let whole = |n: Expr| up(up(elements(n), tail).times(tail).times(ratio.units), ratio.elements);
            count = rounded(count, &|n| whole(n) + Expr::Const(prefix));
        }
        vec![count]
    }

    /// The dynamic sizes of the value type's dimensions, from a value for each dynamic logical size.
    fn run_time_sizes(&self, b: Builder<'c>, sizes: &[Val<'c>]) -> Vec<(usize, Val<'c>)> {
        let mut vars = IndexVars::default();
        let mut sizes = sizes.iter();
        let logical = self.shape.iter().map(|n| match n {
            Some(n) => Expr::Const(*n),
            None => sizes.next().map_or(Expr::Const(0), |v| vars.var(*v, Interval::new(0, i64::MAX))),
        });
        let logical: Vec<Expr> = logical.collect();
        // Sizes depend on sizes only, so any index will do.
        let terms =
            self.products.terms(&vec![Expr::Const(0); logical.len()], &logical, |factors| vars.product(factors));
        let sizes = self.run_time.iter().map(|(k, size)| {
            let size = vars.simplified(&[size.substitute(&terms)], &[]).remove(0);
            (*k, vars.value(b, &size))
        });
        sizes.collect()
    }

    /// The index into the value type, and then the step in its element, for a logical index into a value.
    pub fn index(&self, vars: &mut IndexVars<'c>, value: Val<'c>, logical: &[Expr]) -> Vec<Expr> {
        if self.products.is_empty() {
            return self.index_exprs.iter().map(|e| e.substitute(logical)).collect();
        }
        let size = |(d, n): (usize, &Option<i64>)| match n {
            Some(n) => Expr::Const(*n),
            None => vars.size(value, self.dim_of_size(d).expect("each unknown size is that of a dimension")),
        };
        let sizes: Vec<Expr> = self.shape.iter().enumerate().map(size).collect();
        let terms = self.products.terms(logical, &sizes, |factors| vars.product(factors));
        self.index_exprs.iter().map(|e| e.substitute(&terms)).collect()
    }

    /// Whether an index into the value type has products of run-time values.
    pub fn has_products(&self) -> bool {
        !self.products.is_empty()
    }

    /// Whether the value type has dimensions that only carry a logical size.
    pub fn carries(&self) -> bool {
        matches!(self.storage, Storage::Expanded { .. })
            && self.run_time.iter().any(|(k, _)| self.type_strides[*k] == Some(0))
    }

    /// Whether no size and no stride of the value type is known to differ from that of another.
    pub fn may_have_type_of(&self, other: &LoweredMemRef) -> bool {
        let agree = |own: &[Option<i64>], other: &[Option<i64>]| {
            own.len() == other.len() && own.iter().zip(other).all(|(a, b)| a.is_none() || b.is_none() || a == b)
        };
        agree(&self.sizes, &other.sizes) && agree(&self.type_strides, &other.type_strides)
    }

    /// The type of the allocation: the physical type, or one dimension if that does not cover all of it.
    pub fn allocation_type(&self, location: Location<'c>) -> Type<'c> {
        let Storage::Expanded { expansion, prefix, .. } = &self.storage else { return self.physical_type };
        if !self.is_one_dimensional() {
            return self.physical_type;
        }
        let units = self.element_encoding.ratio.units_of(expansion.allocated_elements()).unwrap_or(i64::MAX);
        let units = self.run_time.is_empty().then_some(units.saturating_add(*prefix));
        let space = ir::memref(self.physical_type).and_then(|t| t.space);
        let row = Shaped { shape: vec![units], element: self.element_encoding.memref_element, layout: None, space };
        ir::memref_type(location, &row).expect("a row of elements that are in a memref makes a memref")
    }

    /// Whether the allocation of a tiled layout has one dimension.
    fn is_one_dimensional(&self) -> bool {
        matches!(self.storage, Storage::Expanded { one_dimensional: true, .. })
    }

    /// The view of an allocation as a value; `sizes` has a value for each dynamic logical size.
    pub fn view(&self, b: Builder<'c>, allocation: Val<'c>, sizes: &[Val<'c>]) -> Val<'c> {
        let row = self.is_one_dimensional() || self.spread_buffer().is_some() && !self.is_physical();
        match row {
            true => self.reinterpreted(b, allocation, sizes),
            false if self.is_physical() => allocation,
            false => self.strided_view(b, allocation),
        }
    }

    /// The value of this type and these sizes at the start of another value's memory.
    pub fn reinterpreted(&self, b: Builder<'c>, from: Val<'c>, sizes: &[Val<'c>]) -> Val<'c> {
        let known = self.run_time_sizes(b, sizes);
        let index = Type::index(b.context());
        let size = |k: usize| known.iter().find(|size| size.0 == k).map(|size| size.1);
        // Dynamic strides, from the innermost dimension outwards: each is the previous one times its size.
        let mut strides: Vec<Option<Val<'c>>> = vec![None; self.sizes.len()];
        for pair in self.memory_order.windows(2).rev() {
            let (outer, inner) = (pair[0], pair[1]);
            if self.type_strides[outer].is_none() {
                let size = size(inner).unwrap_or_else(|| b.index(self.sizes[inner].unwrap_or(0)));
                let stride = strides[inner].unwrap_or_else(|| b.index(self.type_strides[inner].unwrap_or(0)));
                strides[outer] = Some(b.value("arith.muli", &[size, stride], index, &[]));
            }
        }
        let sizes: Vec<Val<'c>> = known.into_iter().map(|size| size.1).collect();
        let strides: Vec<Val<'c>> = strides.into_iter().flatten().collect();
        let offset = if let Storage::Expanded { prefix, .. } = self.storage { prefix } else { 0 };
        b.reinterpret(
            with_elements(b, from, self.element_encoding.memref_element),
            self.value_type,
            (&[Some(offset)], &[]),
            (&self.sizes, &sizes),
            (&self.type_strides, &strides),
        )
    }

    /// For an untiled layout, the value with one strided dimension for each logical one, the form that
    /// MLIR's own operations on strided memrefs expect.
    pub fn logical_view(&self, b: Builder<'c>, value: Val<'c>) -> Option<Val<'c>> {
        if !matches!(self.storage, Storage::Expanded { untiled: true, .. }) || !self.element_encoding.is_whole() {
            return None;
        }
        Some(if self.is_physical() { self.strided_view(b, value) } else { value })
    }

    fn is_physical(&self) -> bool {
        self.value_type == self.physical_type
    }

    /// The strided view of a value of physical type.
    fn strided_view(&self, b: Builder<'c>, physical: Val<'c>) -> Val<'c> {
        if self.strided_type == self.physical_type {
            return physical;
        }
        let inverse: Vec<Expr> = (0..self.strided_memory_order.len())
            .map(|k| {
                Expr::Var(self.strided_memory_order.iter().position(|o| *o == k).expect("the order is a permutation"))
            })
            .collect();
        let permutation = b.named("permutation", b.map(inverse.len(), &inverse, &|v| v));
        b.value("memref.transpose", &[physical], self.strided_type, &[permutation])
    }

    /// The same memory as an array with only full tiles, in which padding has an index; `None` if all tiles are full,
    /// or sizes are known only at run time.
    pub fn whole_tiles(&self, location: Location<'c>) -> Option<LoweredMemRef<'c>> {
        let Storage::Expanded { expansion, .. } = &self.storage else { return None };
        let shape = self.shape.iter().copied().collect::<Option<Vec<i64>>>()?;
        let whole = expansion.whole_sizes();
        if whole == shape || !self.element_encoding.is_whole() {
            return None;
        }
        let shape = whole.into_iter().map(Some).collect();
        let logical = Shaped { shape, element: self.element_encoding.element, layout: None, space: None };
        let form = if self.is_physical() { Form::Physical } else { Form::Strided };
        let made = Self::tiled(location, &logical, &self.layout.parse().ok()?, form).ok()?;
        (made.sizes == self.sizes && made.type_strides == self.type_strides).then_some(made)
    }

    /// The element slots of the allocation: the number before the first element (metadata), and the total. If
    /// elements begin inside bytes, metadata takes no slots.
    fn slots(&self) -> (i64, i64) {
        let ratio = self.element_encoding.ratio;
        match &self.storage {
            Storage::Expanded { expansion, .. } if self.element_encoding.straddles() => {
                (0, expansion.allocated_elements())
            }
            Storage::Expanded { expansion, prefix, .. } => {
                let units = ratio.units_of(expansion.allocated_elements()).unwrap_or(i64::MAX);
                (prefix.saturating_mul(ratio.elements), units.saturating_add(*prefix).saturating_mul(ratio.elements))
            }
            Storage::SpreadBuffer(spread_buffer) => (0, spread_buffer.elements()),
            Storage::Mapped | Storage::Swizzled(_) => {
                (0, self.sizes.iter().try_fold(1i64, |n, size| n.checked_mul((*size)?)).unwrap_or(i64::MAX))
            }
        }
    }

    /// The bits of metadata before the first of [`LoweredMemRef::row_major_numbers`].
    pub fn bits_before(&self) -> usize {
        match self.storage {
            Storage::Expanded { prefix, .. } if self.element_encoding.straddles() => {
                usize::try_from(prefix).unwrap_or(0) * 8
            }
            _ => 0,
        }
    }

    /// Whether a constant has at most [`MAX_CONSTANT`] elements in this layout.
    pub fn holds_constant(&self) -> bool {
        self.slots().1 <= MAX_CONSTANT
    }

    /// For each element slot of the allocation, the row-major number of its logical element.
    ///
    /// # Errors
    /// More than [`MAX_CONSTANT`] elements, and sizes known only at run time.
    pub fn row_major_numbers(&self) -> Result<Vec<Option<usize>>, String> {
        let shape: Option<Vec<i64>> = self.shape.iter().copied().collect();
        let shape = shape.ok_or("its sizes are known only at run time")?;
        let (first, count) = self.slots();
        if !self.holds_constant() {
            let bits = self
                .element_encoding
                .bits
                .unwrap_or_else(|| element::stored_bits(element::least_bits(self.element_encoding.element)));
            return Err(format!(
                "a constant must have at most {MAX_CONSTANT} elements with padding, found {count} ({} bytes)",
                (u128::from(bits.unsigned_abs()) * u128::from(count.unsigned_abs())).div_ceil(8)
            ));
        }
        let mut from = vec![None; usize::try_from(count).map_err(|e| e.to_string())?];
        let mut index = vec![0i64; shape.len()];
        let total = elements(&shape).ok_or("the number of its elements overflows 64 bits")?;
        for k in 0..total {
            match &self.storage {
                Storage::Expanded { expansion, .. } => {
                    let offset = first + expansion.offset(&index).map_err(|e| e.message)?;
                    from[offset as usize] = Some(k as usize);
                }
                Storage::Mapped | Storage::Swizzled(_) => {
                    let digit = |(e, stride): (&Expr, &Option<i64>)| e.evaluate(&index)?.checked_mul((*stride)?);
                    let mut digits = self.index_exprs.iter().zip(&self.type_strides).map(digit);
                    let offset = digits.try_fold(0i64, |sum, digit| sum.checked_add(digit?));
                    let offset = offset.ok_or("the place of an element overflows 64 bits")?;
                    let place = self.swizzle().map_or(offset, |swizzle| swizzle.of(offset));
                    from[place as usize] = Some(k as usize);
                }
                Storage::SpreadBuffer(spread_buffer) => {
                    for offset in spread_buffer.offsets(&index)? {
                        from[offset as usize] = Some(k as usize);
                    }
                }
            }
            for d in (0..index.len()).rev() {
                index[d] += 1;
                if index[d] < shape[d] {
                    break;
                }
                index[d] = 0;
            }
        }
        Ok(from)
    }
}

/// Whether a constant of a tensor type has at most [`MAX_CONSTANT`] elements in its layout, if that is a tiled one.
pub fn takes_constant(t: Type) -> bool {
    let Some(shaped) = ir::tensor(t) else { return false };
    let Some(layout) = shaped.layout.and_then(layout_dialect::tiled) else { return true };
    let expansion = shaped.sizes().map(|sizes| Expansion::new(&sizes, &layout));
    expansion.is_some_and(|made| made.is_ok_and(|made| made.allocated_elements() <= MAX_CONSTANT))
}

/// The number of memref elements of metadata before those of the layout.
///
/// # Errors
/// Splits, and metadata that are no whole elements.
fn prefix(layout: &Layout, element_encoding: ElementEncoding) -> Result<i64, String> {
    if !layout.splits.is_empty() {
        return Err("its elements are split over several memories (SC), and a memref is in one".into());
    }
    let bytes = element::stored_bits(element::least_bits(element_encoding.memref_element)) / 8;
    match layout.metadata_prefix % bytes {
        0 => Ok(layout.metadata_prefix / bytes),
        _ => Err(format!(
            "its metadata (M) must be a multiple of {bytes} bytes, as the offset of a memref counts elements, found {}",
            layout.metadata_prefix
        )),
    }
}

/// The number of elements of these sizes; `None` where it overflows.
fn elements(sizes: &[i64]) -> Option<i64> {
    if sizes.contains(&0) { Some(0) } else { sizes.iter().try_fold(1i64, |n, size| n.checked_mul(*size)) }
}

/// A buffer viewed with elements of another type that has as many bytes. A descriptor has no element type, so the cast
/// is gone with `reconcile-unrealized-casts`.
pub fn with_elements<'c>(b: Builder<'c>, buffer: Val<'c>, element: Type<'c>) -> Val<'c> {
    let shaped = ir::memref(buffer.r#type()).expect("a buffer is a memref");
    if shaped.element == element {
        return buffer;
    }
    let t = ir::memref_type(b.location, &Shaped { element, ..shaped }).expect("elements of a buffer");
    b.value(UNREALIZED_CAST, &[buffer], t, &[])
}
