//! MLIR's text of types, symbols and strings: `tensor<2x3xf32, #layout.tiled<{1,0}>>`, `@main`, `"a \22quoted\22"`.

use tensor_layout::element::ElementType;
use tensor_layout::operations::Array;

/// The name of a function, as a symbol.
pub fn symbol(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    match name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(plain) {
        true => format!("@{name}"),
        false => format!("@{}", quoted(name)),
    }
}

/// A string literal.
pub fn quoted(text: &str) -> String {
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

/// The type of an element; `None` where MLIR has none.
pub fn element_type(e: ElementType) -> Option<String> {
    use ElementType::{BF16, C64, C128, F16, F32, F64, Opaque, Pred, Token};
    Some(match e {
        Token => return None,
        // A handle for the functions that make and take it.
        Opaque => "i64".to_string(),
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
pub fn plain(sizes: &[i64], element: &str) -> String {
    let sizes: String = sizes.iter().map(|n| format!("{n}x")).collect();
    format!("tensor<{sizes}{element}>")
}

/// The type of an array, with its layout as the encoding. A scalar has none.
pub fn encoded(array: &Array, sizes: &[i64], element: &str) -> String {
    if sizes.is_empty() {
        return plain(sizes, element);
    }
    let sizes: String = sizes.iter().map(|n| format!("{n}x")).collect();
    format!("tensor<{sizes}{element}, #layout.tiled<{}>>", array.layout)
}

/// The loop variables `d0, d3` of an affine map.
pub fn dims(of: impl IntoIterator<Item = usize>) -> String {
    of.into_iter().map(|k| format!("d{k}")).collect::<Vec<_>>().join(", ")
}
