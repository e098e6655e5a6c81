//! The plain memref of an array in a tiled layout, for callers of compiled functions.
//!
//! `f32[3,5]{1,0:T(2,2)}` becomes `memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>` in the strided form, and in the physical
//! form `memref<2x3x2x2xf32>`. The rule is that of lowering, [`Parts`].

use crate::buffers::element_encoding::UnitsPerElement;
use crate::buffers::parts::Parts;
use crate::pass::options::Form;
use tensor_layout::operations::Array;
use tensor_layout::text::Error;

/// The sizes and strides of the memref for an array of static sizes.
///
/// ```
/// use layout_passes::{Form, MemRefForm};
/// let array = "f32[3,5]{1,0:T(2,2)}".parse().unwrap();
/// let strided = MemRefForm::new(&array, Form::Strided).unwrap();
/// assert_eq!((strided.sizes, strided.strides), (vec![2, 2, 3, 2], vec![12, 2, 4, 1]));
/// let physical = MemRefForm::new(&array, Form::Physical).unwrap();
/// assert_eq!((physical.sizes, physical.strides), (vec![2, 3, 2, 2], vec![12, 4, 2, 1]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemRefForm {
    /// The size of each dimension.
    pub sizes: Vec<i64>,
    /// The stride of each dimension, in elements of the memref.
    pub strides: Vec<i64>,
}

impl MemRefForm {
    /// The form of an array; a bounded size counts as its bound.
    ///
    /// # Errors
    /// Layouts that lowering refuses, metadata (`M`), cuts across memories (`SC`), and sizes without a bound.
    pub fn new(array: &Array, form: Form) -> Result<MemRefForm, Error> {
        let (layout, element) = (&array.layout, array.element);
        let Some(own) = element.bits() else { return Err(Error::new(format!("`{element}` has no data"))) };
        if layout.metadata_prefix != 0 || !layout.splits.is_empty() {
            return Err(Error::new(format!("expected a layout without `M` and `SC`, found {layout}")));
        }
        let sizes = array.sizes().ok_or_else(|| Error::new("every size must be known or have a bound, found `?`"))?;
        let ratio = UnitsPerElement::new(&element, own, layout.element_bits).map_err(Error::new)?;
        let sizes: Vec<_> = sizes.into_iter().map(Some).collect();
        let parts = Parts::of(&sizes, layout, ratio.unwrap_or(UnitsPerElement::ONE)).map_err(Error::new)?;
        let parts = match form {
            Form::Strided => parts,
            Form::Physical => parts.in_memory_order(),
        };
        let known = |numbers: Vec<Option<i64>>| numbers.into_iter().collect::<Option<Vec<i64>>>();
        let found = known(parts.sizes).zip(known(parts.strides));
        let (sizes, strides) = found.ok_or_else(|| Error::new(format!("{array} has an unknown stride")))?;
        Ok(MemRefForm { sizes, strides })
    }
}
