//! The cost of a relayout of a tensor: the elements that move.

use crate::errors::{in_text, plain};
use crate::machines::{Machine, machine};
use crate::numbers::Whole;
use crate::places::TensorLayout;
use crate::shapes::Shape;
use pyo3::prelude::*;
use pyo3::types::PyType;
use tensor_layout::element::ElementType;
use tensor_layout::places::{self, Placement};

/// The elements that a relayout of a tensor moves.
#[pyclass(frozen, get_all, eq, hash, module = "tensor_layout")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Relayout {
    /// The elements that are written, copies counted.
    pub elements: i64,
    /// The part of these that stays in its place of the machine.
    pub stay: i64,
    /// The part of these that stays at its address, too.
    pub unmoved: i64,
    /// For each level of the machine, the outermost first: its name, and the elements that cross it.
    pub levels: Vec<(String, i64)>,
}

#[pymethods]
impl Relayout {
    #[new]
    fn new(elements: Whole, stay: Whole, unmoved: Whole, levels: Vec<(String, Whole)>) -> Relayout {
        let levels = levels.into_iter().map(|(name, n)| (name, n.0)).collect();
        Relayout { elements: elements.0, stay: stay.0, unmoved: unmoved.0, levels }
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

/// The elements that move from one layout of a tensor to another: TensorLayouts, shapes, or the text of either. On a
/// machine, level by level of its tree; without, axis by axis. `element` is the type of the elements.
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
    let (_, bits) = ElementType::parse_data(element).map_err(|error| in_text(element, error))?;
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
