//! Fixed layouts: those that instructions keep, for any choice of the compiler around them.
//!
//! | text | fixed layouts |
//! |---|---|
//! | `custom-call(..), operand_layout_constraints={..}` | the operands, in the listed layouts, and the results |
//! | `custom_call_target="LayoutConstraint"` | the results |
//! | `output_to_operand_aliasing={{0}: (1, {})}` | a result of a custom call, in the layout of the aliased operand |
//! | `infeed`, `recv` | the received arrays |
//! | `outfeed`, `send` | the sent arrays: as in `outfeed_shape` or the result of the `send` |
//! | `all-reduce(..), constrain_layout=true`, and other such collectives | the results |
//! | `metadata={preserve_layout=true}` | the results |
//!
//! The start of an asynchronous pair keeps the layouts of the operation that it runs. An omitted layout is row-major.
//! Every other layout is the compiler's choice, also for a custom call without constraints.

use super::aliases::pairs;
use super::module::{Computation, Instruction};
use super::raw::RawAttribute;
use crate::operations::facts::FixedLayouts;
use crate::operations::shape::{Shape, count, leaves};
use crate::tiled::layout::Layout;

/// The fixed layouts of an instruction; `None` if all layouts are free.
pub(super) fn fixed_layouts(computation: &Computation, instruction: &Instruction) -> Option<FixedLayouts> {
    let opcode = instruction.opcode.as_str();
    let base = opcode.strip_suffix("-start").unwrap_or(opcode);
    let operands: Vec<&Shape> =
        instruction.operands.iter().map(|operand| &computation.instructions[*operand].shape).collect();
    let mut found = FixedLayouts { results: preserves(instruction), ..FixedLayouts::default() };
    match base {
        "custom-call" => {
            if let Some(shapes) = instruction.operand_layouts() {
                found.operands = shapes.iter().flat_map(layouts).collect();
                found.results = true;
            }
            found.results |= instruction.string("custom_call_target").as_deref() == Some("LayoutConstraint");
            found.aliases = aliases(instruction, &operands);
        }
        "infeed" | "recv" => found.results = true,
        "send" => {
            if let Shape::Tuple(parts) = &instruction.shape {
                found.operands = parts.first().map_or(Vec::new(), layouts);
            }
        }
        "outfeed" => {
            let said = instruction.attribute("outfeed_shape").and_then(|text| Shape::parse(text).ok());
            let said = said.as_ref().or(operands.first().copied());
            found.operands = said.map_or(Vec::new(), layouts);
        }
        _ => found.results |= instruction.flag("constrain_layout"),
    }
    (found != FixedLayouts::default()).then_some(found)
}

/// The layouts of the arrays of a shape.
fn layouts(shape: &Shape) -> Vec<Option<Layout>> {
    leaves(shape).into_iter().map(|array| Some(array.layout.clone())).collect()
}

/// Pairs of a result array of a custom call and the operand array that it aliases.
fn aliases(instruction: &Instruction, operands: &[&Shape]) -> Vec<(usize, usize)> {
    let Some(text) = instruction.attribute("output_to_operand_aliasing") else { return Vec::new() };
    // The memory analysis, which depends more on this attribute, reports a malformed one.
    let found = pairs(text, &instruction.shape, operands).unwrap_or_default();
    let first = |operand: usize| operands[..operand].iter().map(|shape| count(shape)).sum::<usize>();
    found.into_iter().map(|own| (own.result, first(own.operand) + own.leaf)).collect()
}

/// Whether the metadata has `preserve_layout=true`.
fn preserves(instruction: &Instruction) -> bool {
    let metadata = instruction.attributes.iter().filter(|attribute| attribute.name == "metadata");
    let fields = metadata
        .filter_map(|own| RawAttribute { name: &own.name, name_at: own.at, at: own.at, text: &own.text }.fields().ok());
    fields.flatten().any(|field| field.name == "preserve_layout" && field.text == "true")
}
