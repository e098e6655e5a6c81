//! Computations on scalars, written where they are used: in the region of a `linalg.generic`, or in a loop.

use crate::scalar::convert::converted;
use crate::scalar::elementwise;
use crate::tensor::Done;
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Module;
use tensor_layout::operations::Operation;
use tensor_layout::operations::Shape;
use tensor_layout::operations::leaves;

/// What a computation gives for arguments of types `from`, as values of types `to`.
///
/// # Errors
/// An instruction of the computation has no counterpart on scalars.
pub fn applied(
    module: &Module,
    computation: usize,
    w: &mut Writer,
    arguments: &[String],
    from: &[ElementType],
    to: &[ElementType],
) -> Done<Vec<String>> {
    let given = inlined(module, computation, w, arguments, from)?;
    let own = leaves(&module.computations[computation].result().shape);
    let each = given.iter().zip(own).zip(to);
    each.map(|((value, array), to)| converted(w, value, array.element, *to)).collect()
}

/// The number of leaves before a part of a tuple.
pub fn first_leaf(tuple: &Shape, index: usize) -> Option<usize> {
    let Shape::Tuple(parts) = tuple else { return None };
    Some(parts.get(..index)?.iter().map(|part| leaves(part).len()).sum())
}

/// A computation on scalars, written where it is used, with arguments of types `from`; the leaves of its root.
fn inlined(
    module: &Module,
    computation: usize,
    w: &mut Writer,
    arguments: &[String],
    from: &[ElementType],
) -> Done<Vec<String>> {
    let computation = &module.computations[computation];
    let mut values: Vec<Vec<String>> = Vec::new();
    for i in &computation.instructions {
        let operands: Vec<String> = i.operands.iter().flat_map(|k| values[*k].clone()).collect();
        let arrays = i.operands.iter().flat_map(|k| leaves(&computation.instructions[*k].shape));
        let from_operands: Vec<ElementType> = arrays.map(|array| array.element).collect();
        let own = match &i.shape {
            Shape::Array(array) if array.dims.is_empty() => Some(array.element),
            _ => None,
        };
        values.push(match (&i.operation, own) {
            (Operation::Parameter { number }, Some(e)) => {
                vec![converted(w, &arguments[*number], from[*number], e)?]
            }
            (Operation::Tuple, _) => operands,
            (Operation::GetTupleElement { index }, _) => {
                let tuple = &computation.instructions[i.operands[0]].shape;
                let first = first_leaf(tuple, *index).ok_or("the operand must be a tuple")?;
                operands[first..first + leaves(&i.shape).len()].to_vec()
            }
            (Operation::Call { computation }, _) => inlined(module, *computation, w, &operands, &from_operands)?,
            (Operation::Constant, Some(e)) => vec![elementwise::constant(w, i, e)?],
            (Operation::Elementwise | Operation::Select, Some(e)) => {
                vec![elementwise::elementwise(w, i, &operands, &from_operands, e)?]
            }
            (Operation::Broadcast { .. } | Operation::Reshape, Some(e)) => {
                vec![converted(w, &operands[0], from_operands[0], e)?]
            }
            _ => return Err(format!("`{}` cannot be imported into a computation on scalars", i.opcode)),
        });
    }
    Ok(values.swap_remove(computation.root))
}
