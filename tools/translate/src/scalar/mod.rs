//! Instructions on single elements, as operations of `arith` and `math`.
//!
//! [`elementwise`] has the table of instructions, [`convert`] the conversions between element types, [`literal`] the text
//! of constants.

pub mod convert;
pub mod elementwise;
pub mod literal;
