//! Operations of other projects' dialects: from their generic form to upstream's dialects.

mod attention;
pub mod expand_foreign;
mod fft;
mod gather;
mod inline;
mod operation;
mod scan;
mod scatter;
mod sort;
