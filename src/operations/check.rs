//! Checks of an operation against its operands and results.

use crate::operations::operation::Operation;
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::rules::arrays::{Arrays, Verdict};
use crate::operations::rules::dot::Dot;
use crate::operations::rules::{
    algorithms, collectives, dims, dot, elementwise, gather, loops, pairs, reduce, slices, tuples, windows,
};
use crate::operations::shape::{Array, Shape, leaves};
use crate::operations::sizes::Sizes;

impl Operation {
    /// Checks the operation with these operands and results; tuples count as their arrays.
    ///
    /// - `sizes_c1`: no size is negative.
    ///
    /// Each operation has further rules of its own, except operations that run computations, and unknown ones.
    ///
    /// # Errors
    /// The first rule that does not hold, its subject, and the correction.
    ///
    /// ```
    /// use tensor_layout::operations::{Operation, Shape, Subject};
    /// let [x, y] = ["f32[2,3]", "f32[2,3]"].map(|text| Shape::parse(text).unwrap());
    /// let refusal = Operation::Transpose { permutation: vec![1, 0] }.check(&[&x], &[&y]).unwrap_err();
    /// assert_eq!((refusal.rule, refusal.subject), ("transpose_c4", Subject::Result(0)));
    /// assert_eq!(refusal.to_string(), "result 0 must have the sizes [3, 2], found [2, 3]");
    /// ```
    pub fn check(&self, operands: &[&Shape], results: &[&Shape]) -> Result<(), Refusal> {
        let to = arrays(results);
        if let Operation::GetTupleElement { index } = self {
            // Only the one element is visited: a tuple of many elements may have as many users.
            let results = to.iter().map(|array| Sizes::of(array)).collect();
            return tuples::get_tuple_element(*index, operands, results);
        }
        let from = arrays(operands);
        let sizes = |all: &[&Array]| all.iter().map(|array| Sizes::of(array)).collect();
        let arrays = Arrays::new(sizes(&from), sizes(&to));
        self.check_arrays(operands, &from, &to, &arrays)
    }

    /// The sizes of `results` arrays that the operation defines from these operands; `None` if operands and fields do
    /// not determine them, as for a reshape. A size is unknown if the operand's size that determines it is unknown.
    ///
    /// # Errors
    /// As [`Operation::check`].
    ///
    /// ```
    /// use tensor_layout::operations::{Operation, Shape, Sizes};
    /// let x = Shape::parse("f32[2,3]").unwrap();
    /// let transpose = Operation::Transpose { permutation: vec![1, 0] };
    /// assert_eq!(transpose.result_sizes(&[&x], 1).unwrap(), Some(vec![Sizes(vec![Some(3), Some(2)])]));
    /// assert_eq!(Operation::Reshape.result_sizes(&[&x], 1).unwrap(), None);
    /// ```
    pub fn result_sizes(&self, operands: &[&Shape], results: usize) -> Result<Option<Vec<Sizes>>, Refusal> {
        if matches!(self, Operation::GetTupleElement { .. } | Operation::Start(_)) {
            return Ok(None);
        }
        let from = arrays(operands);
        let wanted = Arrays::wanted(from.iter().map(|array| Sizes::of(array)).collect(), results);
        self.check_arrays(operands, &from, &[], &wanted)?;
        Ok(wanted.said())
    }

    /// Checks the operation with the arrays of its operands and results.
    fn check_arrays(&self, operands: &[&Shape], from: &[&Array], to: &[&Array], arrays: &Arrays) -> Verdict {
        not_negative(arrays)?;
        match self {
            Operation::Elementwise => elementwise::elementwise(arrays),
            Operation::Select => elementwise::select(arrays),
            Operation::Iota { dim } => elementwise::iota(*dim, arrays),
            Operation::Constant => elementwise::constant(arrays),
            Operation::Parameter { .. } => elementwise::parameter(arrays),
            Operation::Broadcast { dims } => dims::broadcast(dims, arrays),
            Operation::Transpose { permutation } => dims::transpose(permutation, arrays),
            Operation::Reverse { dims } => dims::reverse(dims, arrays),
            Operation::Reshape => dims::reshape(arrays),
            Operation::Bitcast => dims::bitcast(arrays, from, to),
            Operation::Concatenate { dim } => dims::concatenate(*dim, arrays),
            Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
                dot::dot(&Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting }, arrays)
            }
            Operation::Reduce { dims } => reduce::reduce(dims, arrays),
            Operation::ReduceWindow { window } => windows::reduce_window(window, arrays),
            Operation::Convolution(convolution) => windows::convolution(convolution, arrays),
            Operation::Slice { starts, limits, strides } => slices::slice([starts, limits, strides], arrays),
            Operation::Pad { low, high, interior } => slices::pad([low, high, interior], arrays),
            Operation::DynamicSlice { sizes } => slices::dynamic_slice(sizes, arrays),
            Operation::DynamicUpdateSlice => slices::dynamic_update_slice(arrays),
            Operation::InsertSlice { starts, strides } => slices::insert_slice([starts, strides], arrays),
            Operation::Gather(fields) => gather::gather(fields, arrays),
            Operation::Scatter(fields) => gather::scatter(fields, arrays),
            Operation::Algorithm(one) => algorithms::algorithm(one, arrays),
            Operation::Collective(fields) => collectives::collective(fields, arrays),
            Operation::Loops(nest) => loops::loops(nest, arrays),
            Operation::Tuple => tuples::tuple(arrays),
            Operation::Leaves { numbers } => pairs::leaves(numbers, arrays),
            Operation::Start(start) => pairs::start(start, operands, to, arrays),
            Operation::GetTupleElement { .. }
            | Operation::Call { .. }
            | Operation::While { .. }
            | Operation::Conditional { .. }
            | Operation::Other { .. } => Ok(()),
        }
    }
}

fn arrays<'a>(shapes: &[&'a Shape]) -> Vec<&'a Array> {
    shapes.iter().flat_map(|shape| leaves(shape)).collect()
}

fn not_negative(arrays: &Arrays) -> Verdict {
    let operands = arrays.ins.iter().enumerate().map(|(k, sizes)| (Subject::Operand(k), sizes));
    let results = arrays.given().iter().enumerate().map(|(k, sizes)| (Subject::Result(k), sizes));
    for (subject, sizes) in operands.chain(results) {
        if let Some(n) = sizes.0.iter().flatten().find(|n| **n < 0) {
            return Err(Refusal::new("sizes_c1", subject, format!("must have sizes of at least 0, found {n}")));
        }
    }
    Ok(())
}
