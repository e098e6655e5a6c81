//! Machines, and the layouts of arrays on them.

use crate::errors::in_text;
use crate::layouts::Layout;
use crate::shapes::shape;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::fmt;
use tensor_layout::places;
use tensor_layout::targets::{Ranked, Target};

/// A machine: its axes, memories and registers. By its name or its text.
///
/// >>> machine = Machine("tpu_v5e")
/// >>> machine.default_layout("f32[1024,129]")
/// Layout('{0,1:T(8,128)}')
/// >>> machine.layouts("bf16[3,1000]")[0]
/// (Layout('{1,0:T(4,128)(2,1)}'), 8192)
#[pyclass(frozen, eq, hash, str, module = "tensor_layout")]
#[derive(Clone)]
pub struct Machine {
    target: Target,
    /// The canonical text, the same for equal machines.
    text: String,
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl PartialEq for Machine {
    fn eq(&self, other: &Machine) -> bool {
        self.text == other.text
    }
}

impl Eq for Machine {}

impl std::hash::Hash for Machine {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Machine {
    fn parse(text: &str) -> PyResult<Machine> {
        let target = Target::parse(text).map_err(|error| in_text(text, error))?;
        Ok(Machine { text: target.machine().to_string(), target })
    }

    /// The machine as the library's type.
    pub fn machine(&self) -> &places::Machine {
        self.target.machine()
    }
}

#[pymethods]
impl Machine {
    #[new]
    fn new(text: &str) -> PyResult<Machine> {
        Machine::parse(text)
    }

    /// The names of the machines that are ready.
    #[staticmethod]
    fn names(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, places::READY.iter().map(|(name, _)| *name).collect::<Vec<_>>())
    }

    /// The unit of all costs, such as `cycle`.
    #[getter]
    fn unit(&self) -> &str {
        self.target.unit()
    }

    /// The layout that an array of this shape has where nobody says another.
    fn default_layout(&self, of: &Bound<'_, PyAny>) -> PyResult<Layout> {
        let shape = shape(of)?;
        let found = self.target.default_layout(shape.array()?.element, &shape.bounds()?);
        Ok(Layout { inner: found.map_err(|error| in_text(&shape.to_string(), error))? })
    }

    /// The layouts that an array of this shape may have, and the bytes that it takes in each, the fewest first.
    fn layouts(&self, of: &Bound<'_, PyAny>) -> PyResult<Vec<(Layout, i64)>> {
        let shape = shape(of)?;
        let found = self.target.layouts(shape.array()?.element, &shape.bounds()?);
        let found = found.map_err(|error| in_text(&shape.to_string(), error))?;
        Ok(found
            .into_iter()
            .map(|Ranked { layout, padded_bytes, .. }| (Layout { inner: layout }, padded_bytes))
            .collect())
    }

    fn __repr__(&self) -> String {
        match places::READY.iter().find(|(_, text)| Machine::parse(text).is_ok_and(|ready| ready == *self)) {
            Some((name, _)) => format!("Machine('{name}')"),
            None => format!("Machine('{self}')"),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().text.clone(),))
    }
}

/// A machine, or the name or the text of one.
pub fn machine(from: &Bound<'_, PyAny>) -> PyResult<Machine> {
    match from.cast::<Machine>() {
        Ok(machine) => Ok(machine.get().clone()),
        Err(_) => Machine::parse(&from.extract::<String>()?),
    }
}
