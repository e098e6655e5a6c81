//! Tiled layouts.

use crate::errors::{in_text, plain};
use crate::numbers::{Whole, count, dimensions};
use pyo3::prelude::*;
use std::fmt;
use tensor_layout::text::Error;
use tensor_layout::tiled::{self, TileEntry, memory_space};

/// A tiled layout as XLA writes it: the order of dimensions in memory, and the tiles they are cut into.
///
/// >>> layout = Layout("{1,0:T(8,128)(2,1)S(1)}")
/// >>> layout.minor_to_major, layout.tiles, layout.memory_space
/// ((1, 0), ((8, 128), (2, 1)), 1)
/// >>> Layout.of((1, 0), tiles=[(8, 128)])
/// Layout('{1,0:T(8,128)}')
#[pyclass(frozen, eq, hash, str, module = "tensor_layout")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    pub inner: tiled::Layout,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[pymethods]
impl Layout {
    #[new]
    fn new(text: &str) -> PyResult<Layout> {
        Ok(Layout { inner: tiled::Layout::parse(text).map_err(|error| in_text(text, error))? })
    }

    /// The layout of these numbers; an entry `None` of a tile merges its dimension into the next (`*`).
    #[staticmethod]
    #[pyo3(
        signature = (minor_to_major, tiles = Vec::new(), memory_space = Whole(0), element_bits = Whole(0)),
        text_signature = "(minor_to_major, tiles=..., memory_space=0, element_bits=0)"
    )]
    fn of(
        minor_to_major: Vec<Whole>,
        tiles: Vec<Vec<Option<Whole>>>,
        memory_space: Whole,
        element_bits: Whole,
    ) -> PyResult<Layout> {
        let minor_to_major = dimensions("minor_to_major", &minor_to_major)?;
        let space = count("memory_space", memory_space, usize::from(memory_space::MAX))?;
        let element_bits = element_bits.0;
        let entry = |entry: Option<Whole>| entry.map_or(TileEntry::Combine, |size| TileEntry::Size(size.0));
        let row_major = tiled::Layout::row_major(minor_to_major.len().min(tiled::Layout::MAX_RANK));
        let made = tiled::Layout {
            minor_to_major,
            tiles: tiles.into_iter().map(|tile| tile.into_iter().map(entry).collect()).collect(),
            memory_space: space as u8,
            element_bits,
            ..row_major
        };
        // The printed text is parsed again, so one grammar checks the numbers.
        let text = made.to_string();
        let inner = tiled::Layout::parse(&text).map_err(|error| in_text(&text, error))?;
        if inner == made {
            Ok(Layout { inner })
        } else {
            Err(plain(Error::new("a tile must have an entry, found none")))
        }
    }

    /// The logical dimensions, fastest varying in memory first.
    #[getter]
    fn minor_to_major<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.inner.minor_to_major)
    }

    /// The tiles, first applied first; `None` is an entry that merges its dimension into the next.
    #[getter]
    fn tiles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        let size = |entry: &TileEntry| match entry {
            TileEntry::Size(size) => Some(*size),
            TileEntry::Combine => None,
        };
        let tile = |tile: &Vec<TileEntry>| pyo3::types::PyTuple::new(py, tile.iter().map(size).collect::<Vec<_>>());
        pyo3::types::PyTuple::new(py, self.inner.tiles.iter().map(tile).collect::<PyResult<Vec<_>>>()?)
    }

    /// The number of dimensions.
    #[getter]
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    /// The number of the memory space, 0 for the main memory.
    #[getter]
    fn memory_space(&self) -> u8 {
        self.inner.memory_space
    }

    /// The bits that an element takes; 0 for the whole bytes of its type.
    #[getter]
    fn element_bits(&self) -> i64 {
        self.inner.element_bits
    }

    /// The expression that makes the layout in `jax.experimental.layout`; `None` where JAX has no words for it.
    #[getter]
    fn jax(&self) -> Option<String> {
        tiled::jax(&self.inner)
    }

    fn __repr__(&self) -> String {
        format!("Layout('{self}')")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, pyo3::types::PyType>, (String,)) {
        (slf.get_type(), (slf.get().to_string(),))
    }
}
