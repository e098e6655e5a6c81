//! TensorLayouts.

use crate::errors::{in_text, plain};
use crate::layouts::Layout;
use crate::maps::IndexingMap;
use crate::numbers::{Whole, dimensions, numbers};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::fmt;
use tensor_layout::conversion::to_tiled;
use tensor_layout::drawing::{MOST, draw_placement};
use tensor_layout::maps::Indexing;
use tensor_layout::places::{self, ADDRESS, Held, Placement, Slice, View};
use tensor_layout::text::{Error, did_you_mean};

/// A TensorLayout: a tensor spread over the places of a machine.
///
/// >>> layout = TensorLayout("((4_PE, 3:8), (8:1))")
/// >>> layout.sizes, layout.axes
/// ((12, 8), ('PE',))
/// >>> layout.place((5, 2))
/// {'PE': 1, 'Addr': 18}
/// >>> layout.held({'PE': 1, 'Addr': 18})
/// (5, 2)
#[pyclass(frozen, eq, hash, str, module = "tensor_layout")]
#[derive(Clone)]
pub struct TensorLayout {
    pub inner: places::TensorLayout,
}

impl fmt::Display for TensorLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl PartialEq for TensorLayout {
    fn eq(&self, other: &TensorLayout) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for TensorLayout {}

impl std::hash::Hash for TensorLayout {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.to_string().hash(state);
    }
}

impl TensorLayout {
    /// The layout on its own sizes.
    pub fn placement(&self) -> PyResult<Placement> {
        Placement::new(&self.inner, None).map_err(|misplaced| in_text(&self.to_string(), misplaced.error))
    }
}

/// The layout of a view, and the address of its first element.
fn view(found: Result<View, Error>) -> PyResult<(TensorLayout, i64)> {
    let View { layout, offset } = found.map_err(plain)?;
    Ok((TensorLayout { inner: layout }, offset))
}

#[pymethods]
impl TensorLayout {
    #[new]
    fn new(text: &str) -> PyResult<TensorLayout> {
        // Where two elements collide, the error is at the part of the text that causes it.
        let placement = Placement::parse(text).map_err(|misplaced| in_text(text, misplaced.error))?;
        Ok(TensorLayout { inner: placement.layout().clone() })
    }

    /// The sizes of the tensor.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.sizes().map_err(plain)?)
    }

    /// The sizes with padding.
    #[getter]
    fn padded_sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.padded_sizes().map_err(plain)?)
    }

    /// The named axes, in the order in which the layout names them.
    #[getter]
    fn axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.axes())
    }

    /// The coordinates of the first copy of an element: by axis, and the address as `Addr`.
    fn place<'py>(&self, py: Python<'py>, index: Vec<Whole>) -> PyResult<Bound<'py, PyDict>> {
        let placement = self.placement()?;
        let place = placement.place(&numbers(&index)).map_err(plain)?;
        let names = placement.axes().iter().cloned().chain([ADDRESS.to_string()]);
        dict(py, names.zip(place).collect())
    }

    /// The index of the element at a place; `None` where padding or nothing is.
    fn held<'py>(&self, py: Python<'py>, place: &Bound<'py, PyDict>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let placement = self.placement()?;
        let names: Vec<&str> = placement.axes().iter().map(String::as_str).chain([ADDRESS]).collect();
        let mut at = vec![0; names.len()];
        for (name, value) in place {
            let name: String = name.extract()?;
            let unknown = || Error::new(format!("unknown axis `{name}`{}", did_you_mean(&name, names.iter().copied())));
            let number = names.iter().position(|known| *known == name).ok_or_else(|| plain(unknown()))?;
            at[number] = value.extract::<Whole>()?.0;
        }
        match placement.held(&at).map_err(plain)? {
            Held::Element(index) => Ok(Some(PyTuple::new(py, index)?)),
            Held::Padding | Held::Outside => Ok(None),
        }
    }

    /// The map from an index to the coordinates and the address.
    fn map(&self) -> PyResult<IndexingMap> {
        Ok(IndexingMap { inner: Indexing::Map(self.placement()?.map()) })
    }

    /// The layout after a reshape to these sizes, and the address of its first element.
    fn reshaped(&self, sizes: Vec<Whole>) -> PyResult<(TensorLayout, i64)> {
        view(self.inner.reshaped(&numbers(&sizes)))
    }

    /// The layout after a transpose, and the address of its first element.
    fn transposed(&self, permutation: Vec<Whole>) -> PyResult<(TensorLayout, i64)> {
        view(self.inner.transposed(&dimensions("permutation", &permutation)?))
    }

    /// The layout of a slice, `(start, limit, step)` for each dimension, and the address of its first element.
    fn sliced(&self, slices: Vec<(Whole, Whole, Whole)>) -> PyResult<(TensorLayout, i64)> {
        let slice =
            |(start, limit, step): &(Whole, Whole, Whole)| Slice { start: start.0, limit: limit.0, step: step.0 };
        view(self.inner.sliced(&slices.iter().map(slice).collect::<Vec<_>>()))
    }

    /// The same as a tiled layout.
    fn tiled(&self) -> PyResult<Layout> {
        Ok(Layout { inner: to_tiled(&self.placement()?).map_err(|error| in_text(&self.to_string(), error))? })
    }

    fn _repr_svg_(&self) -> Option<String> {
        self.placement().ok().map(|placement| draw_placement(placement, [MOST; 2]))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("tensor_layout._html")?.call_method1("places", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("TensorLayout('{self}')")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().to_string(),))
    }
}

/// The keys and values as a dictionary.
fn dict<'py, V: IntoPyObject<'py>>(py: Python<'py>, items: Vec<(String, V)>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    items.into_iter().try_for_each(|(key, value)| dict.set_item(key, value))?;
    Ok(dict)
}
