//! Instructions on single elements, as operations of `arith` and `math`.
//!
//! `small` has the floats of 8 and 4 bits, `formats` their formats, [`elementwise`] the table of instructions,
//! [`complex`] the complex numbers, [`convert`] the conversions between element types, [`precision`] rounding to fewer
//! bits, [`order`] the total order of floats, [`literal`] the text of constants.

pub mod complex;
pub mod convert;
pub mod elementwise;
pub mod literal;
pub mod order;
pub mod precision;
mod small;
