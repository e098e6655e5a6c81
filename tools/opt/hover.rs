//! Layouts in hovers of the language server: sizes, waste and strides.
//!
//! MLIR's server shows the types of values and operations under the pointer, and a dialect cannot add to them. So
//! MLIR's server runs as a child process, and its answers pass through here. For types with layouts in a hover's text,
//! such as `tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>`, the facts of the layout are added below: 15 elements, 60
//! bytes; with padding 24 elements. Every other message passes unchanged.
//!
//! A dynamic size of dimension 0 is `n0`: `memref<?x3xf32, #layout.tiled<{1,0}>>` has `n0 * 3` elements and the strides
//! `[3, 1]`. Not shown: a layout without a type, as in a hover over an alias `#t`, and tiles of dynamic sizes,
//! whose number is not a product of sizes.

use crate::written::{self, Amount, percent, types};
use layout_dialect::element;
use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::r#type::{MemRefType, RankedTensorType, ShapedTypeLike};
use melior::ir::{Attribute, Type};
use serde_json::Value;
use std::cell::OnceCell;
use std::fmt::Write as _;
use tensor_layout::places::Placement;
use tensor_layout::tiled::Expansion;

/// The most explained types of one hover. An operation may have thousands.
const MAX_TYPES: usize = 8;

/// Adds the facts of the layouts in a hover; false where there are none. The context is created for the first type.
pub fn explain(context: &OnceCell<Context>, message: &mut Value) -> bool {
    let Some(Value::String(text)) = message.pointer_mut("/result/contents/value") else { return false };
    let mut seen: Vec<&str> = Vec::new();
    let mut facts = String::new();
    for (_, found) in types(text) {
        if seen.len() < MAX_TYPES && !seen.contains(&found) {
            seen.push(found);
            if let Some(lines) = lines(context.get_or_init(context_of_types), found) {
                let _ = write!(facts, "\n`{found}`\n\n{lines}");
            }
        }
    }
    text.push_str(&facts);
    !facts.is_empty()
}

/// A context that parses types of all dialects; each is loaded when a type names it. Errors are dropped: some candidate
/// texts are no types.
pub fn context_of_types() -> Context {
    // Dialects alone: the passes have one registry for the process, which two threads must not change at a time.
    let registry = DialectRegistry::new();
    layout_dialect::register(&registry);
    melior::utility::register_all_dialects(&registry);
    let context = Context::new_with_registry(&registry, false);
    context.attach_diagnostic_handler(|_| true);
    context
}

/// The facts of a type's layout.
pub struct Facts {
    /// The sizes of the tensor without and with padding.
    pub amounts: [Amount; 2],
    /// The positions of the elements, as a line of markdown.
    places: String,
}

impl Facts {
    /// The facts of a type's layout; `None` without a layout of this dialect, or with dynamic sizes.
    pub fn of(context: &Context, text: &str) -> Option<Facts> {
        let parsed = Type::parse(context, text)?;
        let sizes = layout_dialect::shape(parsed)?.into_iter().collect::<Option<Vec<i64>>>()?;
        let (layout, element) = layout_and_element(parsed)?;
        if let Some(layout) = layout_dialect::tiled(layout) {
            let expansion = Expansion::new(&sizes, &layout).ok()?;
            return Some(Facts {
                amounts: written::amounts(&expansion, &layout, element::bits(element)?)?,
                places: format!("in memory: sizes {:?}, strides {:?}", expansion.sizes(), expansion.strides()),
            });
        }
        let placement = Placement::new(&layout_dialect::tensor_layout(layout)?, Some(&sizes)).ok()?;
        let axes = placement.axes().iter().zip(placement.extents()).map(|(axis, n)| format!("{axis} {n}"));
        let axes = axes.collect::<Vec<String>>().join(", ");
        let spread = if axes.is_empty() { axes } else { format!(", over {axes}") };
        Some(Facts {
            amounts: [placement.elements(), placement.padded_elements()].map(|n| Amount::new(n, None)),
            places: format!("{} elements at a place{spread}", placement.local_elements()),
        })
    }

    /// The facts as lines of markdown.
    pub fn lines(&self) -> String {
        let [logical, padded] = self.amounts.map(|amount| match amount.bytes {
            Some(bytes) => format!("{} elements, {bytes} bytes", amount.elements),
            None => format!("{} elements", amount.elements),
        });
        format!("- {logical}; with padding {padded}: {}\n- {}\n", percent(self.amounts), self.places)
    }
}

/// The facts of a type's layout, as lines of markdown; also for dynamic sizes, if the layout has no tiles.
pub fn lines(context: &Context, text: &str) -> Option<String> {
    if let Some(facts) = Facts::of(context, text) {
        return Some(facts.lines());
    }
    let parsed = Type::parse(context, text)?;
    let sizes = layout_dialect::shape(parsed)?;
    let (layout, element) = layout_and_element(parsed)?;
    let layout = layout_dialect::tiled(layout)?;
    if layout.is_tiled() || layout.tail_alignment > 1 || !sizes.contains(&None) {
        return None;
    }
    let bits = if layout.element_bits == 0 { (element::bits(element)? + 7) / 8 * 8 } else { layout.element_bits };
    let all: Vec<usize> = (0..sizes.len()).collect();
    let strides: Vec<String> = all
        .iter()
        .map(|dim| {
            let at = layout.minor_to_major.iter().position(|minor| minor == dim)?;
            product(1, &layout.minor_to_major[..at], &sizes)
        })
        .collect::<Option<_>>()?;
    let shown: Vec<String> = all.iter().map(|dim| product(1, &[*dim], &sizes)).collect::<Option<_>>()?;
    let mut taken = format!("- {} elements", product(1, &all, &sizes)?);
    if bits % 8 == 0 {
        let _ = write!(taken, ", {} bytes", product(bits / 8, &all, &sizes)?);
    }
    Some(format!("{taken}\n- in memory: sizes [{}], strides [{}]\n", shown.join(", "), strides.join(", ")))
}

/// The product of a number and the sizes of some dimensions: `n0 * 12`; `None` where 64 bits do not hold the number.
fn product(times: i64, dims: &[usize], sizes: &[Option<i64>]) -> Option<String> {
    let mut dims = dims.to_vec();
    dims.sort_unstable();
    let known = dims.iter().filter_map(|dim| sizes[*dim]).try_fold(times, i64::checked_mul)?;
    let unknown = dims.iter().filter(|dim| sizes[**dim].is_none()).map(|dim| format!("n{dim}"));
    let mut factors: Vec<String> = unknown.collect();
    if known != 1 || factors.is_empty() {
        factors.push(known.to_string());
    }
    Some(if known == 0 { "0".into() } else { factors.join(" * ") })
}

/// The layout and the element type of a tensor or memref type.
fn layout_and_element(of: Type) -> Option<(Attribute, Type)> {
    let layout = layout_dialect::layout(of)?;
    let element = RankedTensorType::try_from(of).map(|tensor| tensor.element());
    Some((layout, element.or_else(|_| MemRefType::try_from(of).map(|memref| memref.element())).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::MAX_DEPTH;

    #[test]
    fn types_with_layouts_are_found_and_explained() {
        let text = "(tensor<3x5xf32>) -> tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>, memref<?x4xf8E4M3FN, #layout.tiled<{1,0}>>";
        let found: Vec<_> = types(text).map(|(_, found)| found).collect();
        let context = context_of_types();
        let of_type = |text| lines(&context, text);
        assert_eq!(found[1], "tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>");
        assert_eq!(found.len(), 3);
        assert_eq!(of_type(found[0]), None);
        let expected = "- n0 * 4 elements, n0 * 4 bytes\n- in memory: sizes [n0, 4], strides [4, 1]\n";
        assert_eq!(of_type(found[2]).as_deref(), Some(expected));
        let turned = of_type("tensor<?x3x?xf32, #layout.tiled<{0,2,1}>>");
        let expected =
            "- n0 * n2 * 3 elements, n0 * n2 * 12 bytes\n- in memory: sizes [n0, 3, n2], strides [1, n0 * n2, n0]\n";
        assert_eq!(turned.as_deref(), Some(expected));
        let wide = of_type("memref<?xi1, #layout.tiled<{0:E(32)}>>");
        assert_eq!(wide.as_deref(), Some("- n0 elements, n0 * 4 bytes\n- in memory: sizes [n0], strides [1]\n"));
        // A number of tiles is no product of sizes, and 64 bits do not hold this stride.
        assert_eq!(of_type("memref<?x4xf32, #layout.tiled<{1,0:T(8,128)}>>"), None);
        let large = "memref<?x9223372036854775807x9223372036854775807xf32, #layout.tiled<{2,1,0}>>";
        assert_eq!(of_type(large), None);
        let expected = "- 15 elements, 60 bytes; with padding 24 elements, 96 bytes: 37.5 % waste\n\
            - in memory: sizes [2, 3, 2, 2], strides [12, 4, 2, 1]\n";
        assert_eq!(of_type(found[1]).as_deref(), Some(expected));
        let spread = of_type("tensor<10x7xf32, #layout.tensor_layout<(10,7)/((3:7, 4_PE), (7:1))>>");
        let expected = "- 70 elements; with padding 84 elements: 16.7 % waste\n- 21 elements at a place, over PE 4\n";
        assert_eq!(spread.as_deref(), Some(expected));
        let complex = of_type("memref<3xcomplex<f32>, #layout.tiled<{0:T(2)}>, #gpu.address_space<workgroup>>");
        let expected = "- 3 elements, 24 bytes; with padding 4 elements, 32 bytes: 25.0 % waste\n\
            - in memory: sizes [2, 2], strides [2, 1]\n";
        assert_eq!(complex.as_deref(), Some(expected));
        // An `i1` has a byte; bits that `E(32)` adds are padding, as in the reports of programs.
        let wide = of_type("tensor<10x7xi1, #layout.tiled<{1,0:E(32)}>>");
        let expected = "- 70 elements, 70 bytes; with padding 70 elements, 280 bytes: 75.0 % waste\n\
            - in memory: sizes [10, 7], strides [7, 1]\n";
        assert_eq!(wide.as_deref(), Some(expected));
        let packed = of_type("tensor<7xi4, #layout.tiled<{0:T(4)E(4)}>>");
        let expected = "- 7 elements, 4 bytes; with padding 8 elements, 4 bytes: 0.0 % waste\n\
            - in memory: sizes [2, 4], strides [4, 1]\n";
        assert_eq!(packed.as_deref(), Some(expected));
    }

    #[test]
    fn text_that_is_no_type_is_left_alone() {
        let context = context_of_types();
        for text in
            ["tensor<", "tensor<)>", "memref<,>", "tensor<xx, #layout.tiled<", "tensor<99999999999999999999xf32>"]
        {
            types(text).for_each(|(_, found)| assert!(Facts::of(&context, found).is_none(), "{found}"));
        }
        let deep = |n: usize| format!("{}f32{}", "memref<2x".repeat(n), ">".repeat(n));
        assert_eq!(types(&deep(MAX_DEPTH)).count(), MAX_DEPTH);
        assert_eq!(types(&deep(MAX_DEPTH + 1)).count(), MAX_DEPTH);
    }
}
