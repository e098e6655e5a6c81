//! Programs of other dialects as operations that lowering knows.

#[cfg(not(feature = "stablehlo"))]
#[path = "no_import_stablehlo.rs"]
pub mod import_stablehlo;
#[cfg(feature = "stablehlo")]
pub mod import_stablehlo;
