//! The native half of the Python package `tensor_layout`: its classes and functions.
//!
//! An object holds a text and its meaning. Two objects are equal if their canonical texts are; pickling stores the
//! text. Errors are `LayoutError`, with the text and the place at fault. Long computations run without the lock of the
//! interpreter.

#![deny(unsafe_code)]

mod algebra;
mod arrays;
mod errors;
mod layouts;
mod machines;
mod maps;
mod numbers;
mod places;
mod programs;
mod relayouts;
mod shapes;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<algebra::LayoutFunction>()?;
    module.add_class::<layouts::Layout>()?;
    module.add_class::<shapes::Shape>()?;
    module.add_class::<places::TensorLayout>()?;
    module.add_class::<machines::Machine>()?;
    module.add_class::<maps::IndexingMap>()?;
    module.add_class::<shapes::Movement>()?;
    module.add_class::<relayouts::Relayout>()?;
    module.add_function(wrap_pyfunction!(shapes::moves, module)?)?;
    module.add_function(wrap_pyfunction!(relayouts::relayout, module)?)?;
    module.add_function(wrap_pyfunction!(programs::program_text, module)?)?;
    module.add_function(wrap_pyfunction!(programs::memory_report, module)?)?;
    module.add_function(wrap_pyfunction!(programs::memory_page, module)?)?;
    module.add_function(wrap_pyfunction!(programs::memory_tensors, module)?)?;
    module.add_function(wrap_pyfunction!(programs::memory_difference, module)?)?;
    module.add_function(wrap_pyfunction!(programs::layout_plan, module)?)
}
