//! An array with sizes up to a bound, as tensors.

use crate::builder::{Builder, Operand};
use crate::tensor::{ImportResult, Tensor};
use tensor_layout::operations::{Array, Dim};

/// An array: the tensor of its bounds, and its sizes where they vary.
pub struct Varying {
    pub data: Tensor,
    pub sizes: Vec<Option<Tensor>>,
}

impl Varying {
    /// The array of these tensors.
    pub fn new(array: &Array, tensors: &[Tensor]) -> Varying {
        let mut sizes = tensors[1..].iter();
        let size = |dim: &Dim| if matches!(dim, Dim::Bounded(_)) { sizes.next().cloned() } else { None };
        let sizes = array.dims.iter().map(size).collect();
        Varying { data: tensors[0].clone(), sizes }
    }
}

/// The sizes of an array as numbers of type `index`.
pub fn indices(b: &mut Builder, bounds: &[i64], sizes: &[Option<Tensor>]) -> Vec<String> {
    let each = bounds.iter().zip(sizes);
    each.map(|(n, size)| match size {
        None => b.w.index(*n),
        Some(size) => {
            let size = b.scalar(size);
            b.w.op(&format!("arith.index_cast {size} : i32 to index"))
        }
    })
    .collect()
}

/// The data, with a value in place of the elements past the sizes of these dimensions.
pub fn masked(b: &mut Builder, v: &Varying, dims: &[usize], value: &str) -> ImportResult<Tensor> {
    let bounded: Vec<(usize, &Tensor)> = dims.iter().filter_map(|dim| Some((*dim, v.sizes[*dim].as_ref()?))).collect();
    if bounded.is_empty() {
        return Ok(v.data.clone());
    }
    let sizes: Vec<(usize, String)> = bounded.into_iter().map(|(dim, size)| (dim, b.scalar(size))).collect();
    b.each(vec![Operand::own(&v.data)], &v.data, |w, args| {
        let mut element = args[0].clone();
        for (dim, size) in &sizes {
            let index = w.op(&format!("linalg.index {dim} : index"));
            let index = w.index_as(&index, "i32");
            let inside = w.compare("slt", &index, size, "i32");
            element = w.select(&inside, &element, value, &v.data.element_text);
        }
        Ok(element)
    })
}
