//! The plain memref type that replaces one with a layout.
//!
//! `memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>` has 2×3 tiles of 2×2. Its strided type has one dimension for each
//! part, those of a logical dimension together: `memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>`. The physical type of
//! the same bytes has them in memory order: `memref<2x3x2x2xf32>`. Buffers are allocated in their physical type, of
//! which the strided one is a transpose.
//!
//! A TensorLayout becomes one buffer for all places of the machine: see [`crate::buffers::spread`].

use crate::buffers::spread::{Axes, SpreadBuffer};
use crate::options::Form;
use layout_dialect::element;
use layout_ir::{self as ir, Builder, Shaped, Val};
use melior::ir::{Attribute, Identifier, Location, Type};
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Domain, simplify};
use tensor_layout::places::TensorLayout;
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::Layout;

/// The most elements, padding included, of a constant that is put in the order of a layout. Lowering takes 16 bytes for
/// each, so 1 GiB at most. The padding counts, which a few bytes of program text can make large: `{0:T(3000000000)}`
/// makes three thousand million elements of two.
const MAX_CONSTANT: i64 = 1 << 26;

/// A layout on one shape, lowered.
pub struct Lowered<'c> {
    /// The logical sizes; none where known only at run time.
    pub shape: Vec<Option<i64>>,
    /// The layout's text, for messages and comparison.
    pub layout: String,
    /// The type of values, in the form of the options.
    pub value_type: Type<'c>,
    /// The index into the value type, from the logical index.
    pub exprs: Vec<Expr>,
    /// The strides of the value type's dimensions, in elements; none where unknown.
    pub strides: Vec<Option<i64>>,
    /// The sizes of the value type's dimensions; none where unknown.
    sizes: Vec<Option<i64>>,
    /// Parts in logical order, with the strides of the layout.
    strided_type: Type<'c>,
    /// Parts in memory order, without strides; what is allocated where that has the size of the allocation.
    physical_type: Type<'c>,
    /// The strided type's dimensions in memory order.
    order: Vec<usize>,
    /// For each logical dimension of unknown size, the dimension of the value type that has the same size.
    dynamic: Vec<(usize, usize)>,
    element: Type<'c>,
    storage: Storage,
}

/// How a buffer stores its elements.
enum Storage {
    Tiles { expansion: Expansion, untiled: bool },
    SpreadBuffer(SpreadBuffer),
}

/// A layout of this dialect.
pub enum AnyLayout {
    /// `#layout.tiled`.
    Tiled(Layout),
    /// `#layout.tensor_layout`.
    Tensor(TensorLayout),
}

impl AnyLayout {
    /// The layout of an attribute; `None` for any other attribute.
    pub fn of(attribute: Attribute) -> Option<AnyLayout> {
        layout_dialect::tiled(attribute)
            .map(AnyLayout::Tiled)
            .or_else(|| layout_dialect::tensor_layout(attribute).map(AnyLayout::Tensor))
    }
}

impl<'c> Lowered<'c> {
    /// Lowers a layout, a TensorLayout on a machine with these axes; the error is the reason why it cannot be.
    pub fn new(
        location: Location<'c>,
        logical: &Shaped<'c>,
        layout: &AnyLayout,
        axes: &Axes,
        form: Form,
    ) -> Result<Self, String> {
        match layout {
            AnyLayout::Tiled(layout) => Self::tiled(location, logical, layout, form),
            AnyLayout::Tensor(layout) => Self::tensor(location, logical, layout, axes),
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
        Ok(Lowered {
            shape: logical.shape.clone(),
            layout: layout.to_string(),
            value_type,
            exprs: spread_buffer.exprs(),
            order: (0..sizes.len()).collect(),
            strides,
            sizes,
            strided_type: value_type,
            physical_type: if dense { value_type } else { row },
            dynamic: Vec::new(),
            element: logical.element,
            storage: Storage::SpreadBuffer(spread_buffer),
        })
    }

    fn tiled(location: Location<'c>, logical: &Shaped<'c>, layout: &Layout, form: Form) -> Result<Self, String> {
        supported(logical, layout)?;
        // For an unknown size the expansion takes 2: its dimension must become one whole part, checked below.
        let stand_in: Vec<i64> = logical.shape.iter().map(|n| n.unwrap_or(2)).collect();
        let expansion = Expansion::new(&stand_in, layout).map_err(|e| e.message)?;
        let Parts { mut exprs, mut sizes, mut strides, mut dynamic } = Parts::of(&logical.shape, &expansion)?;
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        // Without elements any order will do, and strides of 0 would be none.
        match sizes.contains(&Some(0)) {
            true => strides = row_major(&sizes),
            false => {
                let positions: Vec<usize> = expansion.parts().iter().map(|p| p.position).collect();
                order.sort_by_key(|k| positions[*k]);
            }
        }

        let plain = Shaped { layout: None, ..logical.clone() };
        let in_memory: Vec<Option<i64>> = order.iter().map(|k| sizes[*k]).collect();
        let physical_type = ir::memref_type(location, &Shaped { shape: in_memory.clone(), ..plain.clone() });
        let strided = (strides != row_major(&sizes)).then(|| ir::strided(location, Some(0), &strides));
        let strided_type = ir::memref_type(location, &Shaped { shape: sizes.clone(), layout: strided, ..plain });
        let (Some(physical_type), Some(strided_type)) = (physical_type, strided_type) else {
            return Err("its parts do not make a memref type".into());
        };
        if form == Form::Physical {
            exprs = order.iter().map(|k| exprs[*k].clone()).collect();
            dynamic.iter_mut().for_each(|d| d.1 = order.iter().position(|k| *k == d.1).unwrap_or(d.1));
            strides = row_major(&in_memory);
            sizes = in_memory;
        }
        Ok(Lowered {
            shape: logical.shape.clone(),
            layout: layout.to_string(),
            value_type: if form == Form::Physical { physical_type } else { strided_type },
            exprs,
            strides,
            sizes,
            strided_type,
            physical_type,
            order,
            dynamic,
            element: logical.element,
            storage: Storage::Tiles { expansion, untiled: !layout.is_tiled() },
        })
    }

    /// The places that a TensorLayout is spread over.
    pub fn spread_buffer(&self) -> Option<&SpreadBuffer> {
        if let Storage::SpreadBuffer(spread_buffer) = &self.storage { Some(spread_buffer) } else { None }
    }

    /// The dimension of the value type whose size is that of a logical dimension of unknown size.
    pub fn dim_of_size(&self, logical: usize) -> Option<usize> {
        self.dynamic.iter().find(|d| d.0 == logical).map(|d| d.1)
    }

    /// Allocates with `op`, `memref.alloc` or `memref.alloca`; `sizes` has a value for each unknown logical size.
    pub fn allocate(
        &self,
        b: Builder<'c>,
        op: &str,
        sizes: &[Val<'c>],
        attributes: &[(Identifier<'c>, Attribute<'c>)],
    ) -> Val<'c> {
        // The allocation's unknown sizes come in memory order, which is that of the physical type.
        let mut unknown: Vec<(usize, Val<'c>)> = Vec::new();
        for ((_, part), size) in self.dynamic.iter().zip(sizes) {
            let position = if self.is_physical() {
                *part
            } else {
                self.order.iter().position(|k| k == part).expect("the order is a permutation")
            };
            unknown.push((position, *size));
        }
        unknown.sort_by_key(|u| u.0);
        let operands: Vec<Val<'c>> = unknown.into_iter().map(|u| u.1).collect();
        let segments = b.segments(&[operands.len() as i32, 0]);
        let attributes: Vec<_> = attributes.iter().copied().chain([segments]).collect();
        let allocation = b.value(op, &operands, self.allocation_type(b.location), &attributes);
        self.view(b, allocation)
    }

    /// The type of the allocation: the physical type, or one row where tail padding makes it longer.
    pub fn allocation_type(&self, location: Location<'c>) -> Type<'c> {
        let Storage::Tiles { expansion, .. } = &self.storage else { return self.physical_type };
        let allocated = expansion.allocated_elements();
        if allocated == expansion.elements() || !self.dynamic.is_empty() {
            return self.physical_type;
        }
        let space = ir::memref(self.physical_type).and_then(|t| t.space);
        let row = Shaped { shape: vec![Some(allocated)], element: self.element, layout: None, space };
        ir::memref_type(location, &row).expect("a row of elements that are in a memref makes a memref")
    }

    /// The value that an allocation is seen as.
    pub fn view(&self, b: Builder<'c>, allocation: Val<'c>) -> Val<'c> {
        let row = self.spread_buffer().is_some() && !self.is_physical();
        if row || self.allocation_type(b.location) != self.physical_type {
            return b.reinterpret(allocation, self.value_type, &self.sizes, &[], &self.strides, &[]);
        }
        if self.is_physical() { allocation } else { self.strided_view(b, allocation) }
    }

    /// For an untiled layout, the value with one dimension for each logical one and their strides, which is what
    /// MLIR's own operations on strided memrefs expect.
    pub fn logical_view(&self, b: Builder<'c>, value: Val<'c>) -> Option<Val<'c>> {
        if !matches!(self.storage, Storage::Tiles { untiled: true, .. }) {
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
        let inverse: Vec<Expr> = (0..self.order.len())
            .map(|k| Expr::Var(self.order.iter().position(|o| *o == k).expect("the order is a permutation")))
            .collect();
        let permutation = b.named("permutation", b.map(inverse.len(), &inverse, &|v| v));
        b.value("memref.transpose", &[physical], self.strided_type, &[permutation])
    }

    /// The elements of the allocation, padding included.
    fn allocated_elements(&self) -> i64 {
        match &self.storage {
            Storage::Tiles { expansion, .. } => expansion.allocated_elements(),
            Storage::SpreadBuffer(spread_buffer) => spread_buffer.elements(),
        }
    }

    /// Whether a constant has at most [`MAX_CONSTANT`] elements in this layout.
    pub fn holds_constant(&self) -> bool {
        self.allocated_elements() <= MAX_CONSTANT
    }

    /// For each element of the allocation, the logical element that is there, by its row-major number.
    ///
    /// # Errors
    /// More than [`MAX_CONSTANT`] elements.
    pub fn gather(&self) -> Result<Vec<Option<usize>>, String> {
        let count = self.allocated_elements();
        if !self.holds_constant() {
            let bytes = element::least_bits(self.element).unsigned_abs().div_ceil(8);
            return Err(format!(
                "a constant must have at most {MAX_CONSTANT} elements with padding, found {count} ({} bytes)",
                u128::from(bytes) * u128::from(count.unsigned_abs())
            ));
        }
        let mut from = vec![None; usize::try_from(count).map_err(|e| e.to_string())?];
        let shape: Option<Vec<i64>> = self.shape.iter().copied().collect();
        let shape = shape.ok_or("its sizes are known only at run time")?;
        let mut index = vec![0i64; shape.len()];
        let total = elements(&shape).ok_or("the number of its elements overflows 64 bits")?;
        for k in 0..total {
            match &self.storage {
                Storage::Tiles { expansion, .. } => {
                    let offset = expansion.offset(&index).map_err(|e| e.message)?;
                    from[offset as usize] = Some(k as usize);
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

/// The parts of tiled sizes, in logical order.
struct Parts {
    exprs: Vec<Expr>,
    /// None where known only at run time.
    sizes: Vec<Option<i64>>,
    /// None where known only at run time.
    strides: Vec<Option<i64>>,
    /// For each logical dimension of unknown size, the part that is all of it.
    dynamic: Vec<(usize, usize)>,
}

impl Parts {
    /// The parts of these sizes, of which the expansion has the known ones.
    fn of(shape: &[Option<i64>], expansion: &Expansion) -> Result<Parts, String> {
        let vars = shape.iter().copied().map(ir::indices_below).collect();
        let domain = Domain { vars, constraints: Vec::new() };
        let expanded = simplify(&expansion.exprs(), &domain);
        let parts = expansion.parts();
        let exprs: Vec<Expr> = parts.iter().map(|p| expanded[p.position].clone()).collect();
        let mut sizes: Vec<Option<i64>> = parts.iter().map(|p| Some(p.size)).collect();
        let mut strides: Vec<Option<i64>> = parts.iter().map(|p| Some(p.stride)).collect();
        let mut dynamic = Vec::new();
        for (d, _) in shape.iter().enumerate().filter(|(_, n)| n.is_none()) {
            let whole = exprs.iter().position(|e| *e == Expr::Var(d)).ok_or_else(|| {
                format!("the size of dimension {d} is dynamic and tiled: a tiled dimension must have a static size")
            })?;
            sizes[whole] = None;
            // The strides of what is further out in memory are multiples of this size.
            for (k, _) in parts.iter().enumerate().filter(|(_, p)| p.position < parts[whole].position) {
                strides[k] = None;
            }
            dynamic.push((d, whole));
        }
        if expansion.allocated_elements() != expansion.elements() && !dynamic.is_empty() {
            return Err("tail padding L(n) must have static sizes".into());
        }
        Ok(Parts { exprs, sizes, strides, dynamic })
    }
}

/// Refuses what a memref cannot express of a layout.
fn supported(logical: &Shaped, layout: &Layout) -> Result<(), String> {
    if !layout.splits.is_empty() {
        return Err("its elements are split over several memories (SC)".into());
    }
    if layout.metadata_prefix != 0 {
        return Err("it starts with metadata (M), which a memref cannot hold".into());
    }
    let stored = ir::bits(logical.element).map(|n| (n + 7) / 8 * 8);
    match (layout.element_bits, stored) {
        (0, _) => Ok(()),
        (n, Some(stored)) if n == stored => Ok(()),
        (n, Some(stored)) => Err(format!("expected E({stored}) for elements of {}, found E({n})", logical.element)),
        (n, None) => Err(format!("expected no E for elements of {}, found E({n})", logical.element)),
    }
}

/// The number of elements of these sizes; `None` where it overflows.
fn elements(sizes: &[i64]) -> Option<i64> {
    if sizes.contains(&0) { Some(0) } else { sizes.iter().try_fold(1i64, |n, size| n.checked_mul(*size)) }
}

/// The strides of sizes without padding, last dimension fastest; none before an unknown size.
pub fn row_major(sizes: &[Option<i64>]) -> Vec<Option<i64>> {
    let mut strides = vec![Some(1i64); sizes.len()];
    for k in (1..sizes.len()).rev() {
        strides[k - 1] = strides[k].zip(sizes[k]).map(|(stride, size)| stride.saturating_mul(size));
    }
    strides
}
