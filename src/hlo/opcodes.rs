//! The operations of HLO: one row each.

use super::rules::*;
use crate::text::did_you_mean;

/// A row of the table.
#[derive(Clone, Copy)]
pub(super) struct Opcode {
    /// The name in the text.
    pub name: &'static str,
    /// The least and greatest number of operands.
    pub operands: (usize, usize),
    /// The rule that checks an instruction and derives its operation.
    pub rule: OpcodeRule,
    /// For the start of an asynchronous pair: the rule of the operation that it runs.
    pub wrapped: Option<OpcodeRule>,
    /// For rules without indexing maps: the reason. For elementwise rules: the element classes
    /// of operands: `p` for `pred`, `s` and `u` signed and unsigned integers, `f` floats, `c` complex.
    pub note: &'static str,
}

const fn row(name: &'static str, least: usize, most: usize, rule: OpcodeRule, note: &'static str) -> Opcode {
    Opcode { name, operands: (least, most), rule, wrapped: None, note }
}

const MANY: usize = usize::MAX;
const FLOAT: &str = "fc";

/// All operations, sorted by name.
static OPCODES: &[Opcode] = &[
    row("abs", 1, 1, magnitude, "sfc"),
    row("acos", 1, 1, elementwise, FLOAT),
    row("acosh", 1, 1, elementwise, FLOAT),
    row("add", 2, 2, elementwise, ANY),
    row("add-dependency", 2, 2, dependency, ""),
    row("after-all", 0, MANY, token, "a token has no elements"),
    row("all-gather", 1, MANY, all_gather, ""),
    row("all-reduce", 1, MANY, all_reduce, ""),
    row("all-to-all", 1, MANY, all_to_all, ""),
    row("and", 2, 2, elementwise, "psu"),
    row("asin", 1, 1, elementwise, FLOAT),
    row("asinh", 1, 1, elementwise, FLOAT),
    row("atan2", 2, 2, elementwise, FLOAT),
    row("atanh", 1, 1, elementwise, FLOAT),
    row("batch-norm-grad", 5, 5, batch_norm_grad, ""),
    row("batch-norm-inference", 5, 5, batch_norm_inference, ""),
    row("batch-norm-training", 3, 3, batch_norm_training, ""),
    row("bitcast", 1, 1, bitcast, ""),
    row("bitcast-convert", 1, 1, bitcast_convert, ""),
    row("broadcast", 1, 1, broadcast, ""),
    row("call", 0, MANY, call, ""),
    row("cbrt", 1, 1, elementwise, FLOAT),
    row("ceil", 1, 1, elementwise, "f"),
    row("cholesky", 1, 1, cholesky, FLOAT),
    row("clamp", 3, 3, clamp, ANY),
    row("collective-broadcast", 1, MANY, collective_broadcast, ""),
    row("collective-permute", 1, MANY, collective_permute, ""),
    row("compare", 2, 2, compare, ANY),
    row("complex", 2, 2, complex, "f"),
    row("concatenate", 1, MANY, concatenate, ""),
    row("conditional", 2, MANY, conditional, ""),
    row("constant", 0, 0, constant, ""),
    row("convert", 1, 1, convert, ANY),
    row("convolution", 2, 2, convolution, ""),
    row("copy", 1, 1, elementwise, ANY),
    row("cosh", 1, 1, elementwise, FLOAT),
    row("cosine", 1, 1, elementwise, FLOAT),
    row("count-leading-zeros", 1, 1, elementwise, "su"),
    row("custom-call", 0, MANY, custom_call, "only its target knows what it does"),
    row("divide", 2, 2, elementwise, ANY),
    row("domain", 1, 1, elementwise, ANY),
    row("dot", 2, 2, dot, ""),
    row("dynamic-reshape", 1, MANY, dynamic_reshape, ""),
    row("dynamic-slice", 1, MANY, dynamic_slice, ""),
    row("dynamic-update-slice", 2, MANY, dynamic_update_slice, ""),
    row("erf", 1, 1, elementwise, "f"),
    row("exponential", 1, 1, elementwise, FLOAT),
    row("exponential-minus-one", 1, 1, elementwise, FLOAT),
    row("fft", 1, 1, fft, FLOAT),
    row("floor", 1, 1, elementwise, "f"),
    row("fusion", 0, MANY, call, ""),
    row("gather", 2, 2, gather, ""),
    row("get-dimension-size", 1, 1, dimension_size, ""),
    row("get-tuple-element", 1, 1, get_tuple_element, ""),
    row("imag", 1, 1, magnitude, FLOAT),
    row("infeed", 0, 1, infeed, ""),
    row("iota", 0, 0, iota, ""),
    row("is-finite", 1, 1, is_finite, "f"),
    row("log", 1, 1, elementwise, FLOAT),
    row("log-plus-one", 1, 1, elementwise, FLOAT),
    row("logistic", 1, 1, elementwise, FLOAT),
    row("map", 1, MANY, map, ANY),
    row("maximum", 2, 2, elementwise, ANY),
    row("minimum", 2, 2, elementwise, ANY),
    row("multiply", 2, 2, elementwise, ANY),
    row("negate", 1, 1, elementwise, "sufc"),
    row("not", 1, 1, elementwise, "psu"),
    row("opt-barrier", 1, 1, elementwise, ANY),
    row("or", 2, 2, elementwise, "psu"),
    row("outfeed", 1, 2, token, "a token has no elements"),
    row("pad", 2, 2, pad, ""),
    row("parameter", 0, 0, parameter, ""),
    row("partition-id", 0, 0, device_id, "the number of the device has no operand's elements"),
    row("popcnt", 1, 1, elementwise, "su"),
    row("power", 2, 2, elementwise, ANY),
    row("ragged-all-to-all", 6, 6, ragged_all_to_all, ""),
    row("ragged-dot", 3, 3, ragged_dot, ""),
    row("real", 1, 1, magnitude, FLOAT),
    row("recv", 1, 1, recv, ""),
    row("recv-done", 1, 1, recv_done, ""),
    row("reduce", 2, MANY, reduce, ""),
    row("reduce-precision", 1, 1, reduce_precision, "f"),
    row("reduce-scatter", 1, MANY, reduce_scatter, ""),
    row("reduce-window", 2, MANY, reduce_window, ""),
    row("remainder", 2, 2, elementwise, ANY),
    row("replica-id", 0, 0, device_id, "the number of the device has no operand's elements"),
    row("reshape", 1, 1, reshape, ""),
    row("reverse", 1, 1, reverse, ""),
    row("rng", 2, 3, random, ANY),
    row("rng-bit-generator", 1, 1, random_bits, "u"),
    row("rng-get-and-update-state", 0, 0, state, ""),
    row("round-nearest-afz", 1, 1, elementwise, "f"),
    row("round-nearest-even", 1, 1, elementwise, "f"),
    row("rsqrt", 1, 1, elementwise, FLOAT),
    row("scaled-dot", 4, 4, scaled_dot, "f"),
    row("scan", 1, MANY, scan, ""),
    row("scatter", 3, MANY, scatter, ""),
    row("select", 3, 3, select, ANY),
    row("select-and-scatter", 3, 3, select_and_scatter, ""),
    row("send", 2, 2, send, ""),
    row("send-done", 1, 1, send_done, ""),
    row("set-dimension-size", 2, 2, set_dimension_size, ""),
    row("shift-left", 2, 2, elementwise, "su"),
    row("shift-right-arithmetic", 2, 2, elementwise, "su"),
    row("shift-right-logical", 2, 2, elementwise, "su"),
    row("sign", 1, 1, elementwise, "sfc"),
    row("sine", 1, 1, elementwise, FLOAT),
    row("sinh", 1, 1, elementwise, FLOAT),
    row("slice", 1, 1, slice, ""),
    row("sort", 1, MANY, sort, ""),
    row("sqrt", 1, 1, elementwise, FLOAT),
    row("stochastic-convert", 2, 2, stochastic_convert, "fu"),
    row("subtract", 2, 2, elementwise, ANY),
    row("tan", 1, 1, elementwise, FLOAT),
    row("tanh", 1, 1, elementwise, FLOAT),
    row("topk", 1, 1, top_k, ANY),
    row("transpose", 1, 1, transpose, ""),
    row("triangular-solve", 2, 2, triangular_solve, FLOAT),
    row("tuple", 0, MANY, tuple, ""),
    row("while", 1, 1, while_loop, ""),
    row("xor", 2, 2, elementwise, "psu"),
];

/// The row of an operation, also for `op-start`, `op-update` and `op-done` with any `op`, or with `async`, which names
/// a computation.
pub(super) fn find(name: &str) -> Option<Opcode> {
    let row_of = |name| OPCODES.binary_search_by_key(&name, |opcode| opcode.name).ok().map(|i| OPCODES[i]);
    let base = |name| if name == "async" { row_of("call") } else { row_of(name) };
    let part = |end| name.strip_suffix(end).and_then(base);
    row_of(name)
        .or_else(|| part("-start").map(|base| Opcode { rule: start, wrapped: Some(base.rule), ..base }))
        .or_else(|| part("-update").map(|_| row("", 1, MANY, update, "")))
        .or_else(|| part("-done").map(|_| row("", 1, 1, done, "")))
}

/// The operation of an asynchronous pair, from the name of one of its parts.
pub(super) fn in_pair(name: &str) -> Option<&str> {
    let is_own = |name: &str| OPCODES.binary_search_by_key(&name, |opcode| opcode.name).is_ok();
    ["-start", "-update", "-done"].iter().find_map(|end| name.strip_suffix(end)).filter(|_| !is_own(name))
}

/// A hint with the known name most like `name`, if there is one.
pub(super) fn near(name: &str) -> String {
    did_you_mean(&name.replace('_', "-"), OPCODES.iter().map(|opcode| opcode.name))
}
