//! Integers as arguments.
//!
//! Python's own conversion of a negative count is an `OverflowError: can't convert negative int to unsigned`, which
//! does not name valid values. Here an invalid number is a `LayoutError`, which is a `ValueError`.

use crate::errors::plain;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use tensor_layout::text::Error;

/// A number of 64 bits, with a sign.
#[derive(Clone, Copy)]
pub struct Whole(pub i64);

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(from: Borrowed<'_, 'py, PyAny>) -> PyResult<Whole> {
        from.extract::<i64>().map(Whole).map_err(|error| {
            if !error.is_instance_of::<PyOverflowError>(from.py()) {
                return error;
            }
            let shown = from.str().map_or_else(|_| "a larger one".to_string(), |text| text.to_string());
            let shown: String = shown.chars().take(40).collect();
            plain(Error::new(format!("expected an integer that fits in 64 bits, found {shown}")).too_large())
        })
    }
}

/// The numbers themselves.
pub fn numbers(all: &[Whole]) -> Vec<i64> {
    all.iter().map(|number| number.0).collect()
}

/// A number from 0 to `most`, for the parameter `name`.
pub fn count(name: &str, number: Whole, most: usize) -> PyResult<usize> {
    let fits = usize::try_from(number.0).ok().filter(|number| *number <= most);
    let limit = if most == usize::MAX { "at least 0".to_string() } else { format!("in 0 to {most}") };
    fits.ok_or_else(|| plain(Error::new(format!("`{name}` must be {limit}, found {}", number.0))))
}

/// Numbers of dimensions, for the parameter `name`.
pub fn dimensions(name: &str, all: &[Whole]) -> PyResult<Vec<usize>> {
    let dimension = |(k, number): (usize, &Whole)| count(&format!("{name}[{k}]"), *number, usize::MAX);
    all.iter().enumerate().map(dimension).collect()
}
