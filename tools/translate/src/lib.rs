//! HLO as MLIR: `func`, `linalg`, `tensor`, `arith`, `math` and `scf` on tensors whose encodings are the layouts of the
//! text.
//!
//! Each computation becomes a function, the entry a public one; tuples become several values. Elementwise instructions,
//! broadcasts, transposes, reductions and products become `linalg.generic` on the tensors as they lie. What `tensor` has
//! an operation for, such as slices, goes through tensors without an encoding, since those operations want one encoding
//! on both sides; `layout.convert` stands before and behind. Each operation's location names its instruction.
//!
//! Numbers follow HLO where `arith` leaves them open: division by zero, shifts past the width, and conversions out of
//! range have the values that HLO gives them.
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

mod function;
mod scalar;

use function::Function;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Module;
use tensor_layout::operations::Array;
use tensor_layout::text::Error;

/// The module as MLIR's text. `text` and `file` are what it was read from, for locations.
///
/// # Errors
/// Each instruction that has no counterpart, at its place in the text.
pub fn import(module: &Module, text: &str, file: &str) -> Result<String, Vec<Error>> {
    let (mut out, mut errors) = (String::from("module {\n"), Vec::new());
    // Lines are found by counting on from the last instruction.
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(k, _)| k + 1)).collect();
    for number in 0..module.computations.len() {
        Function::new(module, number, file, &starts).import(&mut out, &mut errors);
    }
    out.push_str("}\n");
    errors.sort_by_key(|error| error.at);
    if errors.is_empty() { Ok(out) } else { Err(errors) }
}

/// The name of a function, as a symbol.
fn symbol(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    match name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(plain) {
        true => format!("@{name}"),
        false => format!("@{}", quoted(name)),
    }
}

/// A string literal.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', byte.into()]),
            b' '..=b'~' => out.push(byte.into()),
            _ => out.push_str(&format!("\\{byte:02X}")),
        }
    }
    out.push('"');
    out
}

/// The type of an element; none where MLIR has none.
fn element(e: ElementType) -> Option<String> {
    use ElementType::{BF16, C64, C128, F16, F32, F64, Opaque, Pred, Token};
    Some(match e {
        Token | Opaque => return None,
        C64 => "complex<f32>".to_string(),
        C128 => "complex<f64>".to_string(),
        Pred => "i1".to_string(),
        BF16 | F16 | F32 | F64 => e.name().to_string(),
        // f8e4m3fn is f8E4M3FN
        _ if e.is_float() => format!("f{}", e.name()[1..].to_uppercase()),
        _ => format!("i{}", e.bits()?),
    })
}

/// The type of a tensor with these sizes, without an encoding.
fn plain(sizes: &[i64], element: &str) -> String {
    let sizes: String = sizes.iter().map(|n| format!("{n}x")).collect();
    format!("tensor<{sizes}{element}>")
}

/// The type of an array, its layout as the encoding.
fn encoded(array: &Array, sizes: &[i64], element: &str) -> String {
    if sizes.is_empty() {
        return plain(sizes, element);
    }
    let sizes: String = sizes.iter().map(|n| format!("{n}x")).collect();
    format!("tensor<{sizes}{element}, #layout.tiled<{}>>", array.layout)
}
