//! Layouts as functions, and calculations with them.

use crate::errors::{in_text, plain};
use crate::numbers::{Whole, dimensions};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::fmt;
use tensor_layout::algebra::{self, Banks, Digit, Mode, Slice, Tiler};
use tensor_layout::drawing::{MOST, draw_function};
use tensor_layout::maps::Equality;
use tensor_layout::notations::{Answer, calculate};
use tensor_layout::text::Error;

/// A layout as a function from coordinates to places: the value of an expression of the algebra of layouts.
///
/// >>> layout = LayoutFunction("(6,2):(8,2)") @ LayoutFunction("(4,3):(3,1)")
/// >>> layout, layout(5), layout((1, 1))
/// (LayoutFunction('((2,2),3):((24,2),8)'), 32, 32)
/// >>> layout.equal(LayoutFunction("12:24"))
/// (2, 0)
/// >>> LayoutFunction("(2,2):(1,6)").complement(24)
/// LayoutFunction('(3,2):(2,12)')
/// >>> LayoutFunction("f32[3,5]{1,0:T(2,2)}")
/// LayoutFunction('(3/(2,2),5/(2,3)):((2,12),(1,4))')
#[pyclass(frozen, eq, hash, str, module = "tensor_layout")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LayoutFunction {
    pub inner: algebra::LayoutFunction,
}

impl fmt::Display for LayoutFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// A layout, a size, or a text.
#[derive(FromPyObject)]
enum Operand<'py> {
    Function(Bound<'py, LayoutFunction>),
    Size(i64),
    Text(String),
}

impl Operand<'_> {
    fn layout(self) -> PyResult<algebra::LayoutFunction> {
        match self {
            Operand::Function(layout) => Ok(layout.get().inner.clone()),
            Operand::Text(text) => Ok(LayoutFunction::new(&text)?.inner),
            Operand::Size(size) => {
                let address = Mode::Digit(Digit::new(size, 0, 1));
                algebra::LayoutFunction::new(Vec::new(), address).map_err(plain)
            }
        }
    }
}

/// A layout for all modes, or one for each.
#[derive(FromPyObject)]
enum Tiles<'py> {
    Layout(Operand<'py>),
    Modes(Vec<Option<Tiles<'py>>>),
}

impl Tiles<'_> {
    fn tiler(self) -> PyResult<Tiler> {
        match self {
            Tiles::Layout(operand) => operand.layout().map(Tiler::Layout),
            Tiles::Modes(modes) => {
                let mode = |mode: Option<Tiles>| mode.map(Tiles::tiler).transpose();
                modes.into_iter().map(mode).collect::<PyResult<_>>().map(Tiler::Modes)
            }
        }
    }
}

/// The index of an element, or its coordinates.
#[derive(FromPyObject)]
enum Index {
    Index(i64),
    Coordinates(Vec<i64>),
}

type Found = PyResult<LayoutFunction>;

fn found(inner: Result<algebra::LayoutFunction, Error>) -> Found {
    Ok(LayoutFunction { inner: inner.map_err(plain)? })
}

#[pymethods]
impl LayoutFunction {
    #[new]
    fn new(text: &str) -> PyResult<LayoutFunction> {
        match calculate(text).map_err(|error| in_text(text, error))? {
            Answer::Layout(inner) => Ok(LayoutFunction { inner: *inner }),
            _ => Err(in_text(text, Error::at(0, "expected a layout, found another value"))),
        }
    }

    /// The names of the axes; the address has none.
    #[getter]
    fn axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.axes())
    }

    /// The sizes of the modes.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.sizes())
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> i64 {
        self.inner.size()
    }

    /// The place of an index or of coordinates: its address, or the coordinates along all axes and the address.
    fn __call__<'py>(&self, py: Python<'py>, index: Index) -> PyResult<Bound<'py, PyAny>> {
        let index = match index {
            Index::Index(index) if (0..self.inner.size()).contains(&index) => index,
            Index::Index(index) => self.inner.index(&[index]).map_err(plain)?,
            Index::Coordinates(at) => self.inner.index(&at).map_err(plain)?,
        };
        match &self.inner.place(index)[..] {
            [address] => Ok(address.into_pyobject(py)?.into_any()),
            place => Ok(PyTuple::new(py, place)?.into_any()),
        }
    }

    /// This layout at the places of another.
    fn compose(&self, inner: Operand) -> Found {
        found(self.inner.compose(&inner.layout()?))
    }

    fn __matmul__(&self, inner: Operand) -> Found {
        self.compose(inner)
    }

    fn __truediv__(&self, tile: Tiles) -> Found {
        self.logical_divide(tile)
    }

    fn __mul__(&self, over: Tiles) -> Found {
        self.logical_product(over)
    }

    /// The layout of places that takes each to the index of its element.
    fn inverse(&self) -> Found {
        found(self.inner.inverse())
    }

    /// The largest layout of places from 0 on that takes each to an index there.
    fn right_inverse(&self) -> Found {
        found(self.inner.right_inverse())
    }

    /// A layout of places that takes that of each element to its index.
    fn left_inverse(&self) -> Found {
        found(self.inner.left_inverse())
    }

    /// The layout of what is between the places of this one, within a size.
    #[pyo3(signature = (size = None))]
    fn complement(&self, size: Option<i64>) -> Found {
        found(self.inner.complement(size))
    }

    /// The same function with the fewest digits.
    fn coalesce(&self) -> LayoutFunction {
        LayoutFunction { inner: self.inner.coalesce() }
    }

    /// The elements of a tile, and the tiles.
    fn logical_divide(&self, tile: Tiles) -> Found {
        found(self.inner.logical_divide(&tile.tiler()?))
    }

    /// The tiles of all modes as one mode, and the rests.
    fn zipped_divide(&self, tile: Tiles) -> Found {
        found(self.inner.zipped_divide(&tile.tiler()?))
    }

    /// The tiles of all modes as one mode, and a mode for each rest.
    fn tiled_divide(&self, tile: Tiles) -> Found {
        found(self.inner.tiled_divide(&tile.tiler()?))
    }

    /// A mode for each tile and each rest.
    fn flat_divide(&self, tile: Tiles) -> Found {
        found(self.inner.flat_divide(&tile.tiler()?))
    }

    /// This layout, repeated over another.
    fn logical_product(&self, over: Tiles) -> Found {
        found(self.inner.logical_product(&over.tiler()?))
    }

    /// The blocks of all modes as one mode, and the repetitions.
    fn zipped_product(&self, over: Tiles) -> Found {
        found(self.inner.zipped_product(&over.tiler()?))
    }

    /// The blocks of all modes as one mode, and a mode for each repetition.
    fn tiled_product(&self, over: Tiles) -> Found {
        found(self.inner.tiled_product(&over.tiler()?))
    }

    /// The product, each mode of this layout inside of that of the other.
    fn blocked_product(&self, over: Operand) -> Found {
        found(self.inner.blocked_product(&over.layout()?))
    }

    /// The product, each mode of the other layout inside of that of this one.
    fn raked_product(&self, over: Operand) -> Found {
        found(self.inner.raked_product(&over.layout()?))
    }

    /// The modes in another order.
    fn permute(&self, order: Vec<Whole>) -> Found {
        found(self.inner.permute(&dimensions("order", &order)?))
    }

    /// The layout on some coordinates: `None` for all of a mode, a number, or first and end.
    fn restrict(&self, slices: Vec<Option<Cut>>) -> Found {
        let slice = |cut: &Option<Cut>| match cut {
            None => Slice::All,
            Some(Cut::At(at)) => Slice::At(*at),
            Some(Cut::Range(from, to)) => Slice::Range(*from, *to),
        };
        found(self.inner.restrict(&slices.iter().map(slice).collect::<Vec<_>>()))
    }

    /// `None` if both are the same function; else the first coordinates with other places, or `()` if sizes differ.
    fn equal<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Option<Bound<'py, PyTuple>>> {
        difference(py, self.inner.equal(&other.layout()?))
    }

    /// `None` if the whole is this layout, repeated; else the coordinates that show that it is not.
    fn divides<'py>(&self, py: Python<'py>, whole: Operand) -> PyResult<Option<Bound<'py, PyTuple>>> {
        difference(py, self.inner.divides(&whole.layout()?).map_err(plain)?)
    }

    /// The elements that move to another layout along each axis, the outermost first; `None` is the address.
    fn relayout(&self, to: Operand) -> PyResult<Vec<(Option<String>, i64)>> {
        Ok(self.inner.relayout(&to.layout()?).map_err(plain)?.levels)
    }

    /// The elements of the widest accesses of a thread to memory, and their number.
    #[pyo3(signature = (memory, most = 4))]
    fn vectors(&self, memory: Operand, most: i64) -> PyResult<(i64, i64)> {
        let vectors = self.inner.vectors(&memory.layout()?, most).map_err(plain)?;
        Ok((vectors.width, vectors.accesses))
    }

    /// The most words of one bank in an access of so many lanes of so many bytes each; 1 is no conflict.
    #[pyo3(signature = (lanes = 32, bytes = 4, banks = 32, word = 4))]
    fn conflicts(&self, lanes: i64, bytes: i64, banks: i64, word: i64) -> PyResult<i64> {
        let mut memory = Banks::default();
        (memory.count, memory.word) = (banks, word);
        Ok(self.inner.conflicts(memory, lanes, bytes).map_err(plain)?.ways)
    }

    fn _repr_svg_(&self) -> String {
        draw_function(&self.inner, [MOST; 2])
    }

    fn __repr__(&self) -> String {
        format!("LayoutFunction('{self}')")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().to_string(),))
    }
}

/// A coordinate, or the first and the end of a range.
#[derive(FromPyObject)]
enum Cut {
    At(i64),
    Range(i64, i64),
}

fn difference(py: Python<'_>, equality: Equality) -> PyResult<Option<Bound<'_, PyTuple>>> {
    match equality {
        Equality::Equal => Ok(None),
        Equality::Different { witness, .. } => PyTuple::new(py, witness.unwrap_or_default()).map(Some),
        Equality::Unknown { reason } => Err(plain(Error::new(reason).undecided())),
    }
}
