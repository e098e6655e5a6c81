//! TensorLayouts, and what moves between two of them.

use crate::errors::{in_text, plain};
use crate::layouts::Layout;
use crate::machines::{Machine, machine};
use crate::maps::IndexingMap;
use crate::shapes::{Shape, dict};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::fmt;
use tensor_layout::drawing::draw_placement;
use tensor_layout::element::ElementType;
use tensor_layout::maps::Indexing;
use tensor_layout::notations::to_tiled;
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
    fn placement(&self) -> PyResult<Placement> {
        Placement::new(&self.inner, None).map_err(|misplaced| in_text(&self.to_string(), misplaced.error))
    }
}

/// The layout of a view that begins at the first element.
fn view(found: Result<View, Error>) -> PyResult<(TensorLayout, i64)> {
    let View { layout, offset } = found.map_err(plain)?;
    Ok((TensorLayout { inner: layout }, offset))
}

#[pymethods]
impl TensorLayout {
    #[new]
    fn new(text: &str) -> PyResult<TensorLayout> {
        // Two elements in one place are found at the part of the text that puts them there.
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
    fn place<'py>(&self, py: Python<'py>, index: Vec<i64>) -> PyResult<Bound<'py, PyDict>> {
        let placement = self.placement()?;
        let place = placement.place(&index).map_err(plain)?;
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
            at[number] = value.extract()?;
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
    fn reshaped(&self, sizes: Vec<i64>) -> PyResult<(TensorLayout, i64)> {
        view(self.inner.reshaped(&sizes))
    }

    /// The layout after a transpose, and the address of its first element.
    fn transposed(&self, permutation: Vec<usize>) -> PyResult<(TensorLayout, i64)> {
        view(self.inner.transposed(&permutation))
    }

    /// The layout of a slice, `(start, limit, step)` for each dimension, and the address of its first element.
    fn sliced(&self, slices: Vec<(i64, i64, i64)>) -> PyResult<(TensorLayout, i64)> {
        let slice = |(start, limit, step): &(i64, i64, i64)| Slice { start: *start, limit: *limit, step: *step };
        view(self.inner.sliced(&slices.iter().map(slice).collect::<Vec<_>>()))
    }

    /// The same as a tiled layout.
    fn tiled(&self) -> PyResult<Layout> {
        Ok(Layout { inner: to_tiled(&self.placement()?).map_err(|error| in_text(&self.to_string(), error))? })
    }

    fn _repr_svg_(&self) -> Option<String> {
        self.placement().ok().map(draw_placement)
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

/// What moves between two layouts of a tensor.
#[pyclass(frozen, get_all, eq, hash, module = "tensor_layout")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Relayout {
    /// The elements that are written, copies counted.
    pub elements: i64,
    /// Of these, those that stay in their place of the machine.
    pub stay: i64,
    /// Of these, those that stay at their address, too.
    pub unmoved: i64,
    /// For each level of the machine, the outermost first: its name, and the elements that cross it.
    pub levels: Vec<(String, i64)>,
}

#[pymethods]
impl Relayout {
    #[new]
    fn new(elements: i64, stay: i64, unmoved: i64, levels: Vec<(String, i64)>) -> Relayout {
        Relayout { elements, stay, unmoved, levels }
    }

    /// Whether every element stays where it is.
    #[getter]
    fn free(&self) -> bool {
        self.unmoved == self.elements
    }

    fn __repr__(&self) -> String {
        let Relayout { elements, stay, unmoved, levels } = self;
        let levels: Vec<String> = levels.iter().map(|(name, cross)| format!("('{name}', {cross})")).collect();
        format!("Relayout(elements={elements}, stay={stay}, unmoved={unmoved}, levels=[{}])", levels.join(", "))
    }

    #[allow(clippy::type_complexity, reason = "the arguments of the class")]
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (i64, i64, i64, Vec<(String, i64)>)) {
        let own = slf.get().clone();
        (slf.get_type(), (own.elements, own.stay, own.unmoved, own.levels))
    }
}

/// What moves from one layout of a tensor to another: TensorLayouts, shapes, or the text of either. On a machine, level by
/// level of its tree; without, axis by axis. `element` is the type of the elements.
///
/// >>> relayout("((4_PE, 4:1))", "((4:1, 4_PE))")
/// Relayout(elements=16, stay=4, unmoved=4, levels=[('PE', 12)])
/// >>> relayout("f32[8,128]{1,0}", "f32[8,128]{1,0:T(8,128)}").free
/// True
#[pyfunction]
#[pyo3(signature = (before, after, on = None, element = "f32"))]
pub fn relayout(
    py: Python,
    before: Bound<'_, PyAny>,
    after: Bound<'_, PyAny>,
    on: Option<Bound<'_, PyAny>>,
    element: &str,
) -> PyResult<Relayout> {
    let (before, after) = (placement(&before)?, placement(&after)?);
    let machine = on.map(|on| machine(&on)).transpose()?;
    let bits = ElementType::from_name(element).and_then(ElementType::bits);
    let bits = bits.ok_or_else(|| in_text(element, Error::at(0, "expected an element type, such as `f32`")))?;
    let machine = machine.as_ref().map(Machine::machine);
    let found = py.detach(|| places::plan(&before, &after, machine, bits)).map_err(plain)?;
    Ok(Relayout {
        elements: found.elements,
        stay: found.stay,
        unmoved: found.unmoved,
        levels: found.levels.iter().map(|level| (level.axis.clone(), level.cross)).collect(),
    })
}

/// The placement of a TensorLayout, a shape, or the text of either.
fn placement(from: &Bound<'_, PyAny>) -> PyResult<Placement> {
    if let Ok(layout) = from.cast::<TensorLayout>() {
        return layout.get().placement();
    }
    let shape = match from.cast::<Shape>() {
        Ok(shape) => shape.get().clone(),
        Err(_) => {
            let text: String = from.extract()?;
            if places::is_tensor_layout(&text) {
                return Placement::parse(&text).map_err(|misplaced| in_text(&text, misplaced.error));
            }
            Shape::parse(&text)?
        }
    };
    shape.placement()
}
