//! Indexing maps.

use crate::errors::{in_text, plain};
use crate::numbers::{Whole, numbers};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::fmt;
use tensor_layout::maps::{self, Equality, Indexing};
use tensor_layout::text::Error;

/// An indexing map, as XLA writes it: results computed from variables, and a domain.
///
/// >>> split = IndexingMap("(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 11]")
/// >>> split(7)
/// (1, 3)
/// >>> join = IndexingMap("(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 2], d1 in [0, 3]")
/// >>> split.then(join).simplify()
/// IndexingMap('(d0) -> (d0), domain: d0 in [0, 11]')
#[pyclass(frozen, eq, hash, str, module = "tensor_layout")]
#[derive(Clone)]
pub struct IndexingMap {
    pub inner: Indexing,
}

impl fmt::Display for IndexingMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Compares the texts; `same_as` compares the functions.
impl PartialEq for IndexingMap {
    fn eq(&self, other: &IndexingMap) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for IndexingMap {}

impl std::hash::Hash for IndexingMap {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.to_string().hash(state);
    }
}

#[pymethods]
impl IndexingMap {
    #[new]
    fn new(text: &str) -> PyResult<IndexingMap> {
        Ok(IndexingMap { inner: Indexing::parse(text).map_err(|error| in_text(text, error))? })
    }

    /// The map in normal form.
    fn simplify(&self, py: Python) -> IndexingMap {
        IndexingMap { inner: py.detach(|| self.inner.simplify()) }
    }

    /// This map and then the other one, simplified.
    fn then(&self, py: Python, second: &Bound<'_, IndexingMap>) -> PyResult<IndexingMap> {
        let second = &second.get().inner;
        let maps = [self.inner.clone(), second.clone()];
        Ok(IndexingMap { inner: py.detach(|| Indexing::compose(&maps)).map_err(plain)? })
    }

    /// The results at a point, one number for each variable; `None` outside of the domain.
    #[pyo3(signature = (*point))]
    fn __call__<'py>(&self, py: Python<'py>, point: Vec<Whole>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(map) = self.inner.map() else {
            return Err(plain(Error::new(format!("{self} has no values"))));
        };
        map.evaluate(&numbers(&point)).map_err(plain)?.map(|results| PyTuple::new(py, results)).transpose()
    }

    /// Whether both are the same function; `None` if neither could be shown.
    ///
    /// >>> a = IndexingMap("(d0) -> (d0 mod 2), domain: d0 in [0, 9]")
    /// >>> a.same_as(IndexingMap("(d0) -> (d0 - d0 floordiv 2 * 2), domain: d0 in [0, 9]"))
    /// True
    fn same_as(&self, py: Python, other: &Bound<'_, IndexingMap>) -> Option<bool> {
        let other = &other.get().inner;
        match py.detach(|| self.inner.compare(other)) {
            Equality::Equal => Some(true),
            Equality::Different { .. } => Some(false),
            Equality::Unknown { .. } => None,
        }
    }

    /// The number of variables.
    #[getter]
    fn variables(&self) -> usize {
        self.inner.map().map_or(0, maps::IndexingMap::variables)
    }

    fn __repr__(&self) -> String {
        format!("IndexingMap('{self}')")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().to_string(),))
    }
}
