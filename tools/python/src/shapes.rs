//! Shapes, and whether bytes move between two of them.

use crate::arrays;
use crate::errors::{in_text, plain};
use crate::layouts::Layout;
use crate::maps::IndexingMap;
use crate::numbers::{Whole, dimensions, numbers};
use crate::places::TensorLayout;
use layout_inspect::wrong_transpose;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::fmt;
use tensor_layout::analysis;
use tensor_layout::conversion::to_tensor_layout;
use tensor_layout::drawing::{MOST, draw_array};
use tensor_layout::maps::{Indexing, IndexingMap as Map};
use tensor_layout::operations::{self, Array, Operation, leaves};
use tensor_layout::packing::Packer;
use tensor_layout::places::Placement;
use tensor_layout::text::Error;
use tensor_layout::tiled::Expansion;

/// A shape as XLA writes it: the type of the elements, sizes and a layout; or a tuple of shapes.
///
/// >>> shape = Shape("f32[3,5]{1,0:T(2,2)}")
/// >>> shape.sizes, shape.logical_bytes, shape.padded_bytes
/// ((3, 5), 60, 96)
/// >>> shape.offset((2, 3)), shape.index(17), shape.index(23)
/// (17, (2, 3), None)
/// >>> Shape("f32[2]{0:T(0)}")
/// Traceback (most recent call last):
///     ...
/// tensor_layout.LayoutError: a tile size must be at least 1, found 0
///   f32[2]{0:T(0)}
///              ^
#[pyclass(frozen, eq, hash, str, module = "tensor_layout")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    pub inner: operations::Shape,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Shape {
    /// Reads a shape.
    pub fn parse(text: &str) -> PyResult<Shape> {
        Ok(Shape { inner: operations::Shape::parse(text).map_err(|error| in_text(text, error))? })
    }

    /// The error in the text of the shape; one without a place is about the sizes.
    fn wrong(&self, error: Error) -> PyErr {
        let text = self.to_string();
        let at = error.at.or_else(|| text.find('[').map(|k| k + 1));
        in_text(&text, error.with_offset(at))
    }

    /// The shape as an array; an error for any other shape.
    pub fn array(&self) -> PyResult<&Array> {
        match &self.inner {
            operations::Shape::Array(array) | operations::Shape::Buffer(array) if array.element.is_data() => Ok(array),
            _ => Err(in_text(&self.to_string(), Error::at(0, "expected an array, found another shape"))),
        }
    }

    /// The sizes; the bound of a dimension with one.
    pub fn bounds(&self) -> PyResult<Vec<i64>> {
        self.array()?
            .sizes()
            .ok_or_else(|| self.wrong(Error::new("every size must be known or have a bound, found `?`")))
    }

    fn expansion(&self) -> PyResult<Expansion> {
        Expansion::new(&self.bounds()?, &self.array()?.layout).map_err(|error| self.wrong(error))
    }

    /// The same layout as a TensorLayout, on the sizes.
    pub fn placement(&self) -> PyResult<Placement> {
        let layout = self.tensor_layout()?.inner;
        Placement::new(&layout, Some(&self.bounds()?)).map_err(|misplaced| self.wrong(misplaced.error))
    }

    fn packer(&self) -> PyResult<Packer> {
        Packer::new(self.array()?).map_err(|error| self.wrong(error))
    }

    /// A function of `tensor_layout._arrays` on this shape.
    fn of_arrays<'py>(slf: &Bound<'py, Self>, name: &str, more: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let arguments = std::iter::once(slf.as_any().clone()).chain(more).collect::<Vec<_>>();
        slf.py().import("tensor_layout._arrays")?.call_method1(name, PyTuple::new(slf.py(), arguments)?)
    }
}

#[pymethods]
impl Shape {
    #[new]
    fn new(text: &str) -> PyResult<Shape> {
        Shape::parse(text)
    }

    /// The shape of an array of these elements and sizes; row-major without a layout.
    #[staticmethod]
    #[pyo3(signature = (element, sizes, layout = None))]
    fn of(element: &str, sizes: Vec<Whole>, layout: Option<&Bound<'_, Layout>>) -> PyResult<Shape> {
        let sizes: Vec<String> = sizes.iter().map(|size| size.0.to_string()).collect();
        let layout = layout.map_or(String::new(), |layout| layout.get().to_string());
        Shape::parse(&format!("{element}[{}]{layout}", sizes.join(",")))
    }

    /// The type of the elements, `f32`.
    #[getter]
    fn element(&self) -> PyResult<&'static str> {
        Ok(self.array()?.element.name())
    }

    /// The logical sizes; of a dimension with a bound, the bound.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.bounds()?)
    }

    /// The layout.
    #[getter]
    fn layout(&self) -> PyResult<Layout> {
        Ok(Layout { inner: self.array()?.layout.clone() })
    }

    /// The number of dimensions.
    #[getter]
    fn rank(&self) -> PyResult<usize> {
        Ok(self.array()?.dims.len())
    }

    /// The arrays of the shape, those of a tuple from left to right.
    #[getter]
    fn leaves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let leaf = |array: &Array| Bound::new(py, Shape { inner: operations::Shape::Array(array.clone()) });
        PyTuple::new(py, leaves(&self.inner).into_iter().map(leaf).collect::<PyResult<Vec<_>>>()?)
    }

    /// The bytes of the elements themselves.
    #[getter]
    fn logical_bytes(&self) -> PyResult<i64> {
        self.expansion()?.logical_bytes(self.array()?.element).map_err(|error| self.wrong(error))
    }

    /// The bytes of memory taken, padding included.
    #[getter]
    fn padded_bytes(&self) -> PyResult<i64> {
        self.expansion()?.padded_bytes(self.array()?.element).map_err(|error| self.wrong(error))
    }

    /// The elements that memory is taken for.
    #[getter]
    fn padded_elements(&self) -> PyResult<i64> {
        Ok(self.expansion()?.allocated_elements())
    }

    /// The sizes in memory order, tiles taken apart, majormost first.
    #[getter]
    fn expanded<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.expansion()?.sizes())
    }

    /// The strides of `expanded`, in elements.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.expansion()?.strides())
    }

    /// The offset of the element at a logical index, in elements.
    fn offset(&self, index: Vec<Whole>) -> PyResult<i64> {
        self.expansion()?.offset(&numbers(&index)).map_err(plain)
    }

    /// The logical index of the element at an offset; `None` for padding.
    fn index<'py>(&self, py: Python<'py>, offset: Whole) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let index = self.expansion()?.index(offset.0).map_err(plain)?;
        index.map(|index| PyTuple::new(py, index)).transpose()
    }

    /// The map from a logical index to its offset in elements.
    ///
    /// >>> Shape("f32[16,256]{1,0:T(8,128)}").map()(9, 130)
    /// (3202,)
    fn map(&self) -> PyResult<IndexingMap> {
        let expansion = self.expansion()?;
        if expansion.is_split_across_memories() {
            return Err(
                self.wrong(Error::new("the layout is cut across memories (`SC`): an offset needs the memory it is in"))
            );
        }
        let map = Map::of_sizes(expansion.logical_sizes(), vec![expansion.offset_expr()]);
        Ok(IndexingMap { inner: Indexing::simplify(&Indexing::Map(map)) })
    }

    /// The same layout as a TensorLayout.
    ///
    /// >>> Shape("f32[16,256]{1,0:T(8,128)}").tensor_layout()
    /// TensorLayout('((2:2048, 8:128), (2:1024, 128:1))')
    fn tensor_layout(&self) -> PyResult<TensorLayout> {
        let layout = to_tensor_layout(&self.expansion()?, &self.array()?.layout).map_err(|error| self.wrong(error))?;
        Ok(TensorLayout { inner: layout })
    }

    /// The offset of each element, in elements: an array of the logical sizes.
    ///
    /// >>> Shape("f32[2,3]{0,1}").offsets()
    /// array([[0, 2, 4],
    ///        [1, 3, 5]])
    fn offsets<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Shape::of_arrays(slf, "offsets", Vec::new())
    }

    /// The memory of an array in this layout: one dimension, padding where no element is.
    ///
    /// Elements that take their own whole bytes are of the type of the array; else the memory is bytes.
    ///
    /// >>> import numpy as np
    /// >>> Shape("s8[2,3]{1,0:T(2,2)}").pack(np.arange(6, dtype=np.int8).reshape(2, 3), padding=-1)
    /// array([ 0,  1,  3,  4,  2, -1,  5, -1], dtype=int8)
    #[pyo3(signature = (array, padding = None))]
    fn pack<'py>(
        slf: &Bound<'py, Self>,
        array: Bound<'py, PyAny>,
        padding: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let padding = padding.unwrap_or_else(|| slf.py().None().into_bound(slf.py()));
        Shape::of_arrays(slf, "pack", vec![array, padding])
    }

    /// The array that a memory in this layout holds.
    fn unpack<'py>(slf: &Bound<'py, Self>, memory: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Shape::of_arrays(slf, "unpack", vec![memory])
    }

    #[getter]
    fn _memory_bytes(&self) -> PyResult<usize> {
        Ok(self.packer()?.memory_bytes())
    }

    /// Whether the shape is an array whose sizes are known.
    #[getter]
    fn _is_laid_out(&self) -> bool {
        self.expansion().is_ok()
    }

    fn _pack(&self, py: Python, dense: PyBuffer<u8>, padding: Vec<u8>, memory: PyBuffer<u8>) -> PyResult<()> {
        arrays::pack(py, &self.packer()?, &dense, &padding, &memory)
    }

    fn _unpack(&self, py: Python, memory: PyBuffer<u8>, dense: PyBuffer<u8>) -> PyResult<()> {
        arrays::unpack(py, &self.packer()?, &memory, &dense)
    }

    fn _offsets(&self, py: Python, offsets: PyBuffer<i64>) -> PyResult<()> {
        arrays::offsets(py, &self.packer()?, &offsets)
    }

    fn _repr_svg_(&self) -> Option<String> {
        self.array().ok().and_then(|array| draw_array(array, [MOST; 2]).ok())
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("tensor_layout._html")?.call_method1("shape", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("Shape('{self}')")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().to_string(),))
    }
}

/// Whether a reshape or a transpose moves bytes.
#[pyclass(frozen, get_all, eq, hash, module = "tensor_layout")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Movement {
    /// `True` if every element stays at its byte, `False` if one moves, `None` if that is not known.
    pub free: Option<bool>,
    /// Why, in words.
    pub reason: String,
    /// The layout of the result with which it would be free, if one was found.
    pub free_with: Option<String>,
}

#[pymethods]
impl Movement {
    #[new]
    fn new(free: Option<bool>, reason: String, free_with: Option<String>) -> Movement {
        Movement { free, reason, free_with }
    }

    fn __repr__(&self) -> String {
        self.reason.clone()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Option<bool>, String, Option<String>)) {
        let own = slf.get().clone();
        (slf.get_type(), (own.free, own.reason, own.free_with))
    }
}

/// Whether a reshape from the first shape to the second moves bytes; with `transpose`, whether that transpose does: its
/// entry `k` is the dimension of the first shape that becomes dimension `k` of the second.
///
/// >>> moves("f32[8,128]{1,0:T(8,128)}", "f32[1024]{0:T(1024)}")
/// free: every element stays at its byte
/// >>> moves("f32[8,128]{1,0}", "f32[128,8]{1,0}", transpose=(1, 0)).free_with
/// '{0,1}'
#[pyfunction]
#[pyo3(signature = (before, after, transpose = None))]
pub fn moves(
    py: Python,
    before: Bound<'_, PyAny>,
    after: Bound<'_, PyAny>,
    transpose: Option<Vec<Whole>>,
) -> PyResult<Movement> {
    let (before, after) = (shape(&before)?, shape(&after)?);
    let permutation = transpose.map(|transpose| dimensions("transpose", &transpose)).transpose()?;
    let operation = permutation.map_or(Operation::Reshape, |permutation| Operation::Transpose { permutation });
    if let Some(error) = wrong_transpose(&operation, &before.inner, &after.inner, "`transpose`") {
        return Err(plain(error));
    }
    let found = py.detach(|| analysis::movement(&operation, &before.inner, &after.inner));
    let found = found.map_err(|error| after.wrong(error))?;
    let (free, with) = match &found {
        analysis::Movement::Free => (Some(true), None),
        analysis::Movement::Unknown { .. } => (None, None),
        analysis::Movement::Moves { nearest, .. } => (Some(false), nearest.as_ref().ok().map(ToString::to_string)),
    };
    Ok(Movement { free, reason: found.to_string(), free_with: with })
}

/// A shape, or the text of one.
pub fn shape(from: &Bound<'_, PyAny>) -> PyResult<Shape> {
    match from.cast::<Shape>() {
        Ok(shape) => Ok(shape.get().clone()),
        Err(_) => Shape::parse(&from.extract::<String>()?),
    }
}
