//! Operations of other projects' dialects, from their generic form to upstream's: StableHLO, torch-mlir's, IREE's.

mod attention;
pub mod expand_foreign;
mod fft;
mod gather;
pub mod gather_rows;
#[cfg(not(feature = "stablehlo"))]
#[path = "no_import_stablehlo.rs"]
pub mod import_stablehlo;
#[cfg(feature = "stablehlo")]
pub mod import_stablehlo;
mod inline;
mod operation;
mod scan;
mod scatter;
mod sort;
