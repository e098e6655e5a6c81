//! The names of attributes, and the operations that have them.
//!
//! XLA's attributes grow with its versions, so an unknown one is skipped with a warning. A near miss of a known name is
//! an error: `lowr=true` would leave `lower` false. An attribute of another operation is an error as in XLA:
//! `slice={[0:2]}` of an `add` would be lost.

use super::opcodes;
use super::raw::{RawAttribute, RawInstruction};
use crate::text::{Error, excerpt, nearest};

/// The operations of an attribute that every instruction may have.
const ANYWHERE: &[&str] = &[];

/// The placeholder for the parts of every asynchronous pair, such as `sort-start`. They also have the attributes of the
/// operation that they run; `async` stands for `async-start`, which names a computation.
const PAIR: &str = "pair";

/// The attributes of instructions, sorted, each with its operations.
static KNOWN: &[(&str, &[&str])] = &[
    ("algorithm", &["dot", "ragged-dot", "rng-bit-generator", "scaled-dot"]),
    ("all_reduce_id", &["all-reduce"]),
    ("api_version", &["custom-call"]),
    ("async_execution_thread", &[PAIR]),
    ("async_group_id", &[PAIR]),
    ("backend_config", ANYWHERE),
    ("batch_group_count", &["convolution", "custom-call"]),
    ("body", &["while"]),
    ("branch_computations", &["conditional"]),
    ("called_computations", &["custom-call"]),
    ("calls", &["async", "call", "fusion"]),
    (
        "channel_id",
        &[
            "all-gather",
            "all-reduce",
            "all-to-all",
            "collective-broadcast",
            "collective-permute",
            "ragged-all-to-all",
            "recv",
            "recv-done",
            "reduce-scatter",
            "send",
            "send-done",
        ],
    ),
    ("collapsed_slice_dims", &["gather"]),
    ("condition", &["while"]),
    ("constrain_layout", &["all-gather", "all-reduce", "all-to-all", "reduce-scatter"]),
    ("control-predecessors", ANYWHERE),
    ("conv_kind", &["convolution"]),
    ("cross_program_prefetch_index", &["copy-start"]),
    ("custom_call_has_side_effect", &["custom-call"]),
    ("custom_call_target", &["custom-call"]),
    ("delta", &["rng-get-and-update-state"]),
    ("dim_labels", &["convolution", "custom-call"]),
    (
        "dimensions",
        &[
            "all-gather",
            "all-to-all",
            "broadcast",
            "concatenate",
            "get-dimension-size",
            "map",
            "ragged-all-to-all",
            "reduce",
            "reduce-scatter",
            "reverse",
            "scan",
            "set-dimension-size",
            "sort",
            "transpose",
        ],
    ),
    ("direction", &["compare"]),
    ("distribution", &["rng"]),
    ("domain", &["domain"]),
    ("dynamic_slice_sizes", &["dynamic-slice"]),
    ("epsilon", &["batch-norm-grad", "batch-norm-inference", "batch-norm-training"]),
    ("exponent_bits", &["reduce-precision"]),
    ("false_computation", &["conditional"]),
    ("feature_group_count", &["convolution", "custom-call"]),
    ("feature_index", &["batch-norm-grad", "batch-norm-inference", "batch-norm-training"]),
    ("fft_length", &["fft"]),
    ("fft_type", &["fft"]),
    ("frontend_attributes", ANYWHERE),
    ("has_dynamic_root", &["collective-broadcast"]),
    ("index", &["get-tuple-element"]),
    ("index_vector_dim", &["gather", "scatter"]),
    ("indices_are_sorted", &["gather", "scatter"]),
    ("infeed_config", &["infeed"]),
    ("inferred_dimension", &["reshape"]),
    ("input_batching_dims", &["scatter"]),
    ("inserted_window_dims", &["scatter"]),
    ("iota_dimension", &["iota"]),
    ("is_associative", &["scan"]),
    ("is_composite", &["call"]),
    ("is_cross_program_prefetch", &["copy-start"]),
    ("is_host_transfer", &["recv", "recv-done", "send", "send-done"]),
    ("is_reverse", &["scan"]),
    ("is_stable", &["sort", "topk"]),
    ("k", &["topk"]),
    ("kind", &["fusion"]),
    ("largest", &["topk"]),
    ("left_side", &["triangular-solve"]),
    ("lhs_batch_dims", &["dot", "ragged-dot", "scaled-dot"]),
    ("lhs_contracting_dims", &["dot", "ragged-dot", "scaled-dot"]),
    ("lhs_ragged_dims", &["ragged-dot"]),
    ("literal", &["custom-call"]),
    ("lower", &["cholesky", "triangular-solve"]),
    ("mantissa_bits", &["reduce-precision"]),
    ("metadata", ANYWHERE),
    ("mode", &["all-reduce", "reduce-scatter"]),
    ("num_carries", &["scan"]),
    ("offset_dims", &["gather"]),
    ("operand_batching_dims", &["gather"]),
    ("operand_layout_constraints", &["custom-call"]),
    ("operand_precision", &["convolution", "custom-call", "dot", "ragged-dot", "scaled-dot"]),
    ("origin", ANYWHERE),
    ("outfeed_config", &["outfeed"]),
    ("outfeed_shape", &["outfeed"]),
    ("output_to_operand_aliasing", &["custom-call", "fusion", PAIR]),
    ("padding", &["pad"]),
    ("padding_type", &["custom-call"]),
    ("parameter_replication", ANYWHERE),
    (
        "replica_groups",
        &["all-gather", "all-reduce", "all-to-all", "collective-broadcast", "ragged-all-to-all", "reduce-scatter"],
    ),
    (
        "result_accuracy",
        &[
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atanh",
            "cbrt",
            "cosh",
            "cosine",
            "erf",
            "exponential",
            "exponential-minus-one",
            "log",
            "log-plus-one",
            "logistic",
            "rsqrt",
            "sine",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
        ],
    ),
    ("rhs_batch_dims", &["dot", "ragged-dot", "scaled-dot"]),
    ("rhs_contracting_dims", &["dot", "ragged-dot", "scaled-dot"]),
    ("rhs_group_dims", &["ragged-dot"]),
    ("scatter", &["select-and-scatter"]),
    ("scatter_dims_to_operand_dims", &["scatter"]),
    ("scatter_indices_batching_dims", &["scatter"]),
    ("schedule", &["custom-call"]),
    ("select", &["select-and-scatter"]),
    ("sharding", ANYWHERE),
    ("slice", &["slice"]),
    ("slice_sizes", &["collective-permute", "gather"]),
    ("source_target_pairs", &["collective-permute"]),
    ("sparsity", &["dot"]),
    ("start_index_map", &["gather"]),
    ("start_indices_batching_dims", &["gather"]),
    ("statistics", ANYWHERE),
    (
        "to_apply",
        &[
            "all-reduce",
            "async",
            "call",
            "custom-call",
            "fusion",
            "map",
            "reduce",
            "reduce-scatter",
            "reduce-window",
            "scan",
            "scatter",
            "sort",
        ],
    ),
    ("transpose_a", &["triangular-solve"]),
    ("transpose_b", &["triangular-solve"]),
    ("true_computation", &["conditional"]),
    ("type", &["compare"]),
    ("unique_indices", &["scatter"]),
    ("unit_diagonal", &["triangular-solve"]),
    ("update_window_dims", &["scatter"]),
    ("use_global_device_ids", &["all-gather", "all-reduce", "reduce-scatter"]),
    ("window", &["convolution", "custom-call", "reduce-window", "select-and-scatter"]),
];

/// The attributes of the header, sorted.
static OF_HEADER: &[&str] = &[
    "alias_passthrough_params",
    "allow_spmd_sharding_propagation_to_output",
    "allow_spmd_sharding_propagation_to_parameters",
    "buffer_donor",
    "entry_computation_layout",
    "frontend_attributes",
    "input_output_alias",
    "is_scheduled",
    "num_partitions",
    "replica_count",
];

/// The operations of an attribute, if it is known.
fn known(name: &str) -> Option<&'static [&'static str]> {
    KNOWN.binary_search_by_key(&name, |known| known.0).ok().map(|k| KNOWN[k].1)
}

/// Warnings about unknown attributes of the header.
pub(super) fn unknown(header: &[RawAttribute]) -> Vec<Error> {
    header.iter().filter(|attribute| OF_HEADER.binary_search(&attribute.name).is_err()).map(skipped).collect()
}

/// Warnings about unknown attributes of an instruction.
pub(super) fn unknown_of(instruction: &RawInstruction) -> Vec<Error> {
    instruction.attributes.iter().filter(|attribute| known(attribute.name).is_none()).map(skipped).collect()
}

fn skipped(attribute: &RawAttribute) -> Error {
    let name = excerpt(attribute.name);
    Error::at(
        attribute.name_at,
        format!("unknown attribute `{name}`, which is skipped: it may be of another version of XLA"),
    )
    .unknown()
}

/// Rejects an unknown name that is [`nearest`] to a known one the instruction lacks, and an attribute that the
/// operation does not have.
pub(super) fn check(instruction: &RawInstruction) -> Result<(), Error> {
    for attribute in &instruction.attributes {
        let name = attribute.name;
        if let Some(operations) = known(name) {
            // An unknown operation has its own error.
            if !has(instruction.opcode, operations) && opcodes::find(instruction.opcode).is_some() {
                return Err(Error::at(attribute.name_at, misplaced(instruction.opcode, name)));
            }
            continue;
        }
        let Some(near) = nearest(name, KNOWN.iter().map(|known| known.0)) else { continue };
        if instruction.attributes.iter().all(|a| a.name != near) {
            let message = format!("unknown attribute `{}`; did you mean `{near}`?", excerpt(name));
            return Err(Error::at(attribute.name_at, message).unknown());
        }
    }
    Ok(())
}

/// Whether an operation has an attribute of these operations.
fn has(opcode: &str, operations: &[&str]) -> bool {
    let of = |name| operations.contains(&name);
    let in_pair = || opcodes::in_pair(opcode).is_some_and(|base| of(PAIR) || of(base));
    operations == ANYWHERE || of(opcode) || in_pair()
}

/// The message for an attribute that an operation does not have.
fn misplaced(opcode: &str, name: &str) -> String {
    let own = KNOWN.iter().filter(|known| known.1 != ANYWHERE && has(opcode, known.1));
    let own: Vec<String> = own.map(|known| format!("`{}`", known.0)).collect();
    match own.is_empty() {
        true => format!("`{opcode}` must have no attributes of its own, found `{name}`"),
        false => format!("`{opcode}` must have no attributes of its own but {}, found `{name}`", own.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(KNOWN.is_sorted() && OF_HEADER.is_sorted());
    }

    #[test]
    fn attributes_are_of_operations_that_there_are() {
        for name in KNOWN.iter().flat_map(|known| known.1).filter(|name| ![PAIR, "async"].contains(name)) {
            assert!(opcodes::find(name).is_some(), "{name}");
        }
    }
}
