//! HLO as MLIR: `func`, `linalg`, `tensor`, `arith`, `math`, `complex` and `scf` on tensors whose encodings are the
//! layouts of the text.
//!
//! Each computation becomes a function, the entry a public one; a tuple becomes several values. Elementwise
//! instructions, broadcasts, transposes, reductions and products become `linalg.generic` on tensors in their layouts.
//! Instructions with an operation in `tensor`, such as slices, work on tensors without an encoding, since those
//! operations require the same encoding on both sides; a `layout.convert` before and after changes the layout. Each
//! operation's location names its instruction.
//!
//! Where `arith` leaves a result undefined, HLO's definition holds: for divisions by zero, shifts by the width
//! or more, and conversions out of range.
//!
//! The files, from the ground: `syntax` and `writer` are MLIR's text, `tensor` the values, `scalar` instructions on
//! single elements, `collectives` the functions for exchanges between devices, `external` other external functions,
//! `builder` operations on tensors, `loops` loops that update tensors, `template` programs written as MLIR,
//! `instructions` the table of instructions, `function` a computation. Not promised: that the text of an operation is the same in the next version.
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
mod external;
mod function;
mod instructions;
mod loops;
mod scalar;
mod syntax;
mod template;
mod tensor;
mod writer;

pub use collectives::Collectives;
pub use external::Elided;

use external::Declarations;
use function::{Source, function};
use std::io::{self, Write};
use tensor_layout::hlo::Module;
use tensor_layout::text::Error;

/// The options of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The treatment of exchanges between devices.
    pub collectives: Collectives,
    /// The treatment of constants whose value the text leaves out.
    pub elided: Elided,
}

/// The reason why a module was not imported.
#[derive(Debug)]
pub enum Failure {
    /// Each instruction that has no counterpart, at its place in the text.
    Wrong(Vec<Error>),
    /// The text could not be written.
    Output(io::Error),
}

/// The module as MLIR's text. `text` and `file` are its source, for locations.
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
    let mut out = Vec::new();
    match write(module, text, file, options, &mut out) {
        Ok(_) => Ok(String::from_utf8_lossy(&out).into_owned()),
        Err(Failure::Wrong(errors)) => Err(errors),
        Err(Failure::Output(error)) => Err(vec![Error::new(error.to_string())]),
    }
}

/// Writes the module as MLIR's text, function by function; returns the definitions that a runner must add, each with
/// its place.
///
/// # Errors
/// Each instruction that has no counterpart, at its place in the text. Then the module's last `}` is not written, so
/// the partial text cannot pass for the whole.
pub fn write(
    module: &Module,
    text: &str,
    file: &str,
    options: Options,
    out: &mut dyn Write,
) -> Result<Vec<Error>, Failure> {
    let source = Source::new(file, text);
    let mut declared = Declarations::new(options.elided, module.computations.iter().map(|c| &*c.name));
    let mut errors = Vec::new();
    let mut print = |text: &str| out.write_all(text.as_bytes()).map_err(Failure::Output);
    print("module {\n")?;
    for number in 0..module.computations.len() {
        match function(module, number, &source, options.collectives, &mut declared) {
            Ok(function) if errors.is_empty() => {
                print(&declared.take())?;
                print(&function)?;
            }
            Ok(_) => {}
            Err(more) => errors.extend(more),
        }
    }
    if !errors.is_empty() {
        // Instructions that call one computation have the same fault.
        errors.sort_by_key(|error| error.at);
        errors.dedup_by_key(|error| error.at);
        return Err(Failure::Wrong(errors));
    }
    print("}\n")?;
    Ok(declared.wanted)
}
