//! The values that an instruction gives: a tensor for each array of its shape.

use crate::syntax::{element_type, encoded, plain};
use tensor_layout::element::ElementType;
use tensor_layout::operations::leaves;
use tensor_layout::operations::{Array, Dim, Shape};
use tensor_layout::tiled::Expansion;

/// A result, or why the instruction cannot be imported.
pub type Done<T> = Result<T, String>;

/// A value of tensor type: its name, and the array it is.
#[derive(Clone)]
pub struct Tensor {
    /// `%3`; empty for a result that has no operation yet.
    pub name: String,
    pub sizes: Vec<i64>,
    pub element: ElementType,
    /// The type of an element.
    pub of: String,
    /// The type of the tensor, with its encoding.
    pub ty: String,
}

impl Tensor {
    /// The type without the encoding.
    pub fn plain(&self) -> String {
        plain(&self.sizes, &self.of)
    }

    pub fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }

    /// The results of an operation whose types are those of `like`, by their names.
    pub fn named(names: Vec<String>, like: Vec<Tensor>) -> Vec<Tensor> {
        names.into_iter().zip(like).map(|(name, t)| Tensor { name, ..t }).collect()
    }

    /// A tensor of rank 0 without a name.
    pub fn scalar(element: ElementType, of: &str) -> Tensor {
        Tensor { name: String::new(), sizes: Vec::new(), element, of: of.to_string(), ty: plain(&[], of) }
    }
}

/// The names of tensors, with commas between them.
pub fn names(all: &[Tensor]) -> String {
    all.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The types of tensors, with commas between them.
pub fn types(all: &[Tensor]) -> String {
    all.iter().map(|t| t.ty.as_str()).collect::<Vec<_>>().join(", ")
}

/// How many arrays of a shape are values: all but tokens, which only put operations in an order.
pub fn values(shape: &Shape) -> usize {
    match shape {
        Shape::Tuple(parts) => parts.iter().map(values).sum(),
        Shape::Array(array) | Shape::Buffer(array) => usize::from(array.element != ElementType::Token),
    }
}

/// The tensors of a shape, without names; none of a token.
pub fn tensors(shape: &Shape) -> Done<Vec<Tensor>> {
    leaves(shape).into_iter().filter(|array| array.element != ElementType::Token).map(tensor).collect()
}

/// The value of each array of a shape; none of a token.
pub fn by_leaf(shape: &Shape, values: &[Tensor]) -> Vec<Option<Tensor>> {
    let mut values = values.iter();
    let value = |array: &Array| if array.element == ElementType::Token { None } else { values.next().cloned() };
    leaves(shape).into_iter().map(value).collect()
}

fn tensor(array: &Array) -> Done<Tensor> {
    let sizes = array.dims.iter().map(|dim| match dim {
        Dim::Exact(n) => Ok(*n),
        _ => Err("sizes that are known only at run time cannot be imported".to_string()),
    });
    let sizes = sizes.collect::<Done<Vec<i64>>>()?;
    let of = element_type(array.element).ok_or_else(|| format!("`{}` cannot be imported", array.element.name()))?;
    // The number of elements must fit in 64 bits, with the padding: products of sizes are not checked after this.
    Expansion::new(&sizes, &array.layout).map_err(|error| error.message)?;
    let ty = encoded(array, &sizes, &of);
    Ok(Tensor { name: String::new(), sizes, element: array.element, of, ty })
}
