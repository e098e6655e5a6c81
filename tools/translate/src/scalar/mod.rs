//! Instructions on single elements, as operations of `arith` and `math`.
//!
//! [`elementwise`] has the table of instructions, [`complex`] those on complex numbers, [`convert`] the conversions between
//! element types, [`field`] arithmetic by one name, [`precision`] rounding to fewer bits, [`order`] the total order of floats, [`literal`] the text of
//! constants.

pub mod complex;
pub mod convert;
pub mod elementwise;
pub mod field;
pub mod literal;
pub mod order;
pub mod precision;
