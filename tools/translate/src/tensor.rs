//! The values that an instruction gives: a tensor for each array of its shape.

use crate::syntax::{element_type, encoded, plain};
use tensor_layout::element::ElementType;
use tensor_layout::operations::{Array, Dim, Shape, count, leaves};
use tensor_layout::text::Error;
use tensor_layout::tiled::Expansion;

/// A result, or why the instruction cannot be imported.
pub type ImportResult<T> = Result<T, Fault>;

/// Why an instruction cannot be imported.
#[derive(Debug)]
pub struct Fault {
    message: String,
    /// The byte at which the instruction at fault begins, where that is one of a computation that the instruction calls.
    at: Option<usize>,
}

impl Fault {
    /// The same of an instruction that calls the computation of the instruction at byte `at`, unless a deeper one is known.
    pub fn inside(self, at: usize) -> Fault {
        Fault { at: self.at.or(Some(at)), ..self }
    }

    /// The error of the instruction at byte `at`.
    pub fn error(self, at: usize) -> Error {
        Error::at(self.at.unwrap_or(at), self.message)
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Fault {
        Fault { message, at: None }
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Fault {
        Fault::from(message.to_string())
    }
}

/// A value of tensor type: its name, and the array it is.
#[derive(Clone)]
pub struct Tensor {
    /// `%3`; empty for a result that has no operation yet.
    pub name: String,
    pub sizes: Vec<i64>,
    pub element: ElementType,
    /// The type of an element.
    pub element_text: String,
    /// The type of the tensor, with its encoding.
    pub ty: String,
}

impl Tensor {
    /// The type without the encoding.
    pub fn plain(&self) -> String {
        plain(&self.sizes, &self.element_text)
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
        Tensor { name: String::new(), sizes: Vec::new(), element, element_text: of.to_string(), ty: plain(&[], of) }
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

/// How many values a shape has: an array and its sizes that vary, and none of a token, which only puts operations in an
/// order.
pub fn values(shape: &Shape) -> usize {
    match shape {
        Shape::Tuple(parts) => parts.iter().map(values).sum(),
        Shape::Array(array) | Shape::Buffer(array) => of_array(array),
    }
}

/// How many values an array has.
fn of_array(array: &Array) -> usize {
    if array.element == ElementType::Token { 0 } else { 1 + bounded(array) }
}

/// Whether these are values of a shape, as [`tensors`] has them: one with another size, or with a size that varies where
/// the shape has an exact one, would be taken for another value by whatever uses the shape.
pub fn fits(shape: &Shape, all: &[Tensor]) -> bool {
    let mut all = all.iter();
    let arrays = leaves(shape).into_iter().filter(|array| array.element != ElementType::Token);
    let all_fit = arrays.into_iter().all(|array| {
        let is_own = |t: &Tensor| t.sizes.iter().copied().map(Some).eq(array.dims.iter().map(|dim| dim.bound()));
        let is_size = |t: Option<&Tensor>| t.is_some_and(|t| t.sizes.is_empty() && t.element == ElementType::S32);
        all.next().is_some_and(|t| t.element == array.element && is_own(t))
            && (0..bounded(array)).all(|_| is_size(all.next()))
    });
    all_fit && all.next().is_none()
}

/// The number of dimensions whose size is up to a bound.
fn bounded(array: &Array) -> usize {
    array.dims.iter().filter(|dim| matches!(dim, Dim::Bounded(_))).count()
}

/// The shape with the bounds as sizes.
pub fn static_shape(shape: &Shape) -> Shape {
    let fixed = |array: &Array| {
        let exact = |dim: &Dim| dim.bound().map_or(*dim, Dim::Exact);
        Array { dims: array.dims.iter().map(exact).collect(), ..array.clone() }
    };
    match shape {
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(static_shape).collect()),
        Shape::Array(array) => Shape::Array(fixed(array)),
        Shape::Buffer(array) => Shape::Buffer(fixed(array)),
    }
}

/// The tensors of a shape, without names: one of each array, with the bounds as sizes, and behind it a scalar for each
/// dimension whose size is up to a bound; none of a token.
pub fn tensors(shape: &Shape) -> ImportResult<Vec<Tensor>> {
    let mut all = Vec::new();
    for array in leaves(shape).into_iter().filter(|array| array.element != ElementType::Token) {
        all.push(tensor(array)?);
        all.extend(std::iter::repeat_n(Tensor::scalar(ElementType::S32, "i32"), bounded(array)));
    }
    Ok(all)
}

/// The number of leaves before a part of a tuple.
pub fn first_leaf(tuple: &Shape, index: usize) -> Option<usize> {
    let Shape::Tuple(parts) = tuple else { return None };
    Some(parts.get(..index)?.iter().map(count).sum())
}

/// The values of each array of a shape, as [`tensors`] has them: with the sizes of the array; none of a token.
pub fn by_leaf(shape: &Shape, all: &[Tensor]) -> Vec<Vec<Tensor>> {
    let mut rest = all;
    let own = |array: &Array| {
        let (own, others) = rest.split_at(of_array(array));
        rest = others;
        own.to_vec()
    };
    leaves(shape).into_iter().map(own).collect()
}

fn tensor(array: &Array) -> ImportResult<Tensor> {
    let sizes = array.dims.iter().map(|dim| match dim {
        Dim::Exact(n) | Dim::Bounded(n) => Ok(*n),
        Dim::Unbounded => Err("sizes without a bound cannot be imported".into()),
    });
    let sizes = sizes.collect::<ImportResult<Vec<i64>>>()?;
    let of = element_type(array.element).ok_or_else(|| format!("`{}` cannot be imported", array.element.name()))?;
    // Elements and bytes must fit in 64 bits, with the padding: products of sizes are not checked after this.
    let expansion = Expansion::new(&sizes, &array.layout).map_err(|error| error.message)?;
    if array.element.bytes().is_some() {
        expansion.padded_bytes(array.element).map_err(|error| error.message)?;
    }
    let ty = encoded(array, &sizes, &of);
    Ok(Tensor { name: String::new(), sizes, element: array.element, element_text: of, ty })
}
