//! The names of attributes.
//!
//! XLA's attributes grow with its versions, so that an unknown one is kept as text. One that is written nearly as a known
//! one is an error: `lowr=true` would leave `lower` false without saying so.

use super::raw::RawInstruction;
use crate::text::{Error, excerpt, nearest};
use std::collections::HashSet;

/// The attributes of instructions, in order.
const KNOWN: &[&str] = &[
    "algorithm",
    "all_reduce_id",
    "api_version",
    "async_execution_thread",
    "async_group_id",
    "backend_config",
    "batch_group_count",
    "body",
    "branch_computations",
    "called_computations",
    "calls",
    "channel_id",
    "collapsed_slice_dims",
    "condition",
    "constrain_layout",
    "control-predecessors",
    "cross_program_prefetch_index",
    "custom_call_has_side_effect",
    "custom_call_target",
    "delta",
    "dim_labels",
    "dimensions",
    "direction",
    "distribution",
    "domain",
    "dynamic_slice_sizes",
    "entry",
    "epsilon",
    "exit",
    "exponent_bits",
    "false_computation",
    "feature_group_count",
    "feature_index",
    "fft_length",
    "fft_type",
    "frontend_attributes",
    "index",
    "index_vector_dim",
    "indices_are_sorted",
    "infeed_config",
    "input_batching_dims",
    "inserted_window_dims",
    "iota_dimension",
    "is_associative",
    "is_cross_program_prefetch",
    "is_host_transfer",
    "is_reverse",
    "is_stable",
    "k",
    "kind",
    "largest",
    "left_side",
    "lhs_batch_dims",
    "lhs_contracting_dims",
    "lhs_ragged_dims",
    "literal",
    "lower",
    "mantissa_bits",
    "metadata",
    "num_carries",
    "offset_dims",
    "operand_batching_dims",
    "operand_layout_constraints",
    "operand_precision",
    "origin",
    "outfeed_config",
    "outfeed_shape",
    "output_to_operand_aliasing",
    "padding",
    "parameter_replication",
    "replica_groups",
    "result_accuracy",
    "rhs_batch_dims",
    "rhs_contracting_dims",
    "rhs_group_dims",
    "scatter",
    "scatter_dims_to_operand_dims",
    "scatter_indices_batching_dims",
    "select",
    "sharding",
    "slice",
    "slice_sizes",
    "source_target_pairs",
    "sparsity",
    "start_index_map",
    "start_indices_batching_dims",
    "statistics",
    "to_apply",
    "transpose_a",
    "transpose_b",
    "true_computation",
    "type",
    "unique_indices",
    "unit_diagonal",
    "update_window_dims",
    "use_global_device_ids",
    "window",
];

/// Refuses a name that is not known and [`nearest`] to one that is, and that the instruction does not have. `others` are
/// unknown names that are like none.
pub(super) fn check<'a>(instruction: &RawInstruction<'a>, others: &mut HashSet<&'a str>) -> Result<(), Error> {
    for attribute in &instruction.attributes {
        let name = attribute.name;
        if KNOWN.binary_search(&name).is_ok() || others.contains(name) {
            continue;
        }
        let Some(near) = nearest(name, KNOWN.iter().copied()) else {
            others.insert(name);
            continue;
        };
        if instruction.attributes.iter().all(|a| a.name != near) {
            let message = format!("unknown attribute `{}`; did you mean `{near}`?", excerpt(name));
            return Err(Error::at(attribute.name_at, message).unknown());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_in_order() {
        assert!(super::KNOWN.is_sorted());
    }
}
