//! Relayouts and slices as the strided copies that a DMA engine performs.
//!
//! ```text
//! %1 = layout.convert %0 : tensor<4x256xf32> to tensor<4x256xf32, #layout.tiled<{1,0:T(4,128)S(1)}>>
//!
//! [2, 4, 128] elements, from 0 by [128, 256, 1] in memory space 0, to 0 by [512, 128, 1] in memory space 1
//! ```
//!
//! The first counter is the outermost; offsets and strides are in elements of the buffer that a layout describes.
//! Layouts that differ only in the memory space need one run of all elements, padding included.

use super::site::shape;
use crate::pass::diagnostic::{Diagnostic, Severity};
use layout_ir::{self as ir, Op, Val};
use melior::ir::ValueLike;
use tensor_layout::operations::{Array, Shape};
use tensor_layout::text::Error;
use tensor_layout::tiled::Layout;
use tensor_layout::transfers::{CopyRules, StridedCopy, Window, strided_copies, whole_copy};

/// The most copies that are listed.
const MOST: usize = 16;

/// The copies of a conversion or slice of tiled tensors as a remark, with a note for each, and notes for the start and
/// wait of an asynchronous one; `None` for any other operation.
pub fn remark<'c>(op: Op<'c>) -> Option<Diagnostic<'c>> {
    let (location, (sides, window)) = (ir::location(op), parts(op)?);
    let [from, to] = [0, 1].map(|side: usize| sides[side].layout.memory_space);
    let note = |copy: &StridedCopy| {
        let StridedCopy { sizes, from: first, from_strides, to: second, to_strides, .. } = copy;
        let message = format!(
            "{sizes:?} elements, from {first} by {from_strides:?} in memory space {from}, \
             to {second} by {to_strides:?} in memory space {to}"
        );
        (location, message)
    };
    let (message, mut notes) = match copies(&sides, window) {
        Ok(all) => {
            let plural = if all.len() == 1 { "copy" } else { "copies" };
            let mut notes: Vec<_> = all.iter().take(MOST).map(note).collect();
            if all.len() > MOST {
                notes.push((location, format!("and {} more", all.len() - MOST)));
            }
            (format!("`{}` is {} strided {plural}", ir::name(op), all.len()), notes)
        }
        Err(error) => (format!("the strided copies of `{}` are not known: {error}", ir::name(op)), Vec::new()),
    };
    if ir::name(op) == "layout.convert" && ir::attribute(op, "async").is_some() {
        notes.push((location, "it starts here".into()));
        let waits = ir::uses(ir::result(op, 0)).into_iter().filter(|(user, _)| ir::name(*user) == "layout.await");
        notes.extend(waits.map(|(wait, _)| {
            let next = ir::next(wait).unwrap_or(wait);
            (ir::location(next), format!("it is done before `{}`", ir::name(next)))
        }));
    }
    Some(Diagnostic { severity: Severity::Remark, location, message, notes })
}

/// The source and the result of an operation, and the copied elements; no elements if known only at run time.
fn parts(op: Op) -> Option<([Array; 2], Option<Window>)> {
    let operands = ir::operands(op);
    match ir::name(op) {
        "layout.convert" => {
            let sides = sides(operands[0], ir::result(op, 0))?;
            let window = sides[0].sizes().map(|sizes| Window::whole(&sizes));
            Some((sides, window))
        }
        "tensor.extract_slice" => Some((sides(operands[0], ir::result(op, 0))?, window(op))),
        "tensor.insert_slice" => {
            let into = window(op).filter(|window| window.steps.iter().all(|step| *step == 1)).map(|window| {
                let mut into = Window::whole(&window.sizes);
                into.to = window.from;
                into
            });
            Some((sides(operands[0], operands[1])?, into))
        }
        _ => None,
    }
}

/// The source and the result, both tensors of one rank with a tiled or row-major layout.
fn sides(from: Val, to: Val) -> Option<[Array; 2]> {
    let side = |v: Val| {
        let tensor = ir::tensor(v.r#type())?;
        let known = tensor.layout.is_none_or(|layout| layout_dialect::tiled(layout).is_some());
        match shape(v.r#type()) {
            Shape::Array(array) if known => Some(array),
            _ => None,
        }
    };
    let sides = [side(from)?, side(to)?];
    (sides[0].dims.len() == sides[1].dims.len()).then_some(sides)
}

/// The elements of a slice with static offsets, sizes and strides, which form its whole result.
fn window(op: Op) -> Option<Window> {
    let known = |name| ir::sizes(op, name).into_iter().collect::<Option<Vec<i64>>>();
    let [offsets, sizes, strides] = ["static_offsets", "static_sizes", "static_strides"].map(known);
    Some(Window::slice(&sizes?, &offsets?, &strides?))
}

/// # Errors
/// A dynamic offset or size, or too many copies.
fn copies([from, to]: &[Array; 2], window: Option<Window>) -> Result<Vec<StridedCopy>, Error> {
    let window =
        window.ok_or_else(|| Error::new("an offset, size or step is known only at run time, or no copy has it"))?;
    let as_it_is = Layout { memory_space: to.layout.memory_space, ..from.layout.clone() } == to.layout;
    let whole = [from, to].iter().all(|side| side.sizes().as_ref() == Some(&window.sizes));
    match as_it_is && whole {
        true => Ok(vec![whole_copy(from)?]),
        false => strided_copies(from, to, &window, &CopyRules::default()),
    }
}
