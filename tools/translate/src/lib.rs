//! HLO as MLIR: `func`, `linalg`, `tensor`, `arith`, `math` and `scf` on tensors whose encodings are the layouts of the
//! text.
//!
//! Each computation becomes a function, the entry a public one; a tuple becomes several values. Elementwise
//! instructions, broadcasts, transposes, reductions and products become `linalg.generic` on tensors in their layouts.
//! Instructions that have an operation in `tensor`, such as slices, work on tensors without an encoding, since those
//! operations want the same encoding on both sides; a `layout.convert` before and after changes the layout. Each
//! operation's location names its instruction.
//!
//! Where `arith` leaves a result undefined, it is the one that HLO defines: of divisions by zero, shifts by the width
//! or more, and conversions out of range.
//!
//! The files, from the ground: `syntax` and `writer` are MLIR's text, `tensor` the values, `scalar` instructions
//! on single elements, `builder` operations on tensors, `instructions` the table of instructions, `function` a
//! computation. Not promised: that the text of an operation is the same in the next version.
//!
//! ```
//! let text = "HloModule m
//! ENTRY main {
//!   x = f32[2,3]{1,0:T(2,128)} parameter(0)
//!   ROOT y = f32[2,3]{0,1} negate(x)
//! }";
//! let module = tensor_layout::hlo::Module::parse(text).unwrap();
//! let mlir = layout_translate::import(&module, text, "m.hlo").unwrap();
//! assert!(mlir.contains("func.func @main(%a0: tensor<2x3xf32, #layout.tiled<{1,0:T(2,128)}>>"));
//! assert!(mlir.contains("arith.negf"));
//! ```

mod builder;
mod collectives;
mod function;
mod instructions;
mod scalar;
mod syntax;
mod tensor;
mod writer;

pub use collectives::Collectives;

use function::{Source, function};
use tensor_layout::hlo::Module;
use tensor_layout::text::Error;

/// What is imported how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What becomes of exchanges between devices.
    pub collectives: Collectives,
}

/// The module as MLIR's text. `text` and `file` are what it was read from, for locations.
///
/// # Errors
/// Each instruction that has no counterpart, at its place in the text.
pub fn import(module: &Module, text: &str, file: &str) -> Result<String, Vec<Error>> {
    import_with(module, text, file, Options::default())
}

/// The same, with options.
///
/// # Errors
/// Each instruction that has no counterpart, at its place in the text.
pub fn import_with(module: &Module, text: &str, file: &str, options: Options) -> Result<String, Vec<Error>> {
    let (mut out, mut errors) = (String::from("module {\n"), Vec::new());
    let source = Source::new(file, text);
    out.push_str(&collectives::declarations(module, options.collectives));
    for number in 0..module.computations.len() {
        errors.extend(function(module, number, &source, options.collectives, &mut out).err().into_iter().flatten());
    }
    out.push_str("}\n");
    errors.sort_by_key(|error| error.at);
    if errors.is_empty() { Ok(out) } else { Err(errors) }
}
