//! Rules that turn instructions into [operations](crate::operations::operation::Operation): a function for each row of
//! the table of opcodes, by families.
//!
//! A rule reads attributes, checks element types and called computations, and leaves sizes to
//! [`Operation::check`](crate::operations::operation::Operation::check), whose refusals become errors at their
//! positions in the text.

mod algorithms;
mod collectives;
mod control;
mod custom;
mod dims;
mod elementwise;
mod gather;
mod pairs;
mod products;
mod reduce;
mod regions;
mod site;
mod slices;
mod windows;

pub(super) use algorithms::{
    batch_norm_grad, batch_norm_inference, batch_norm_training, cholesky, dimension_size, fft, random, random_bits,
    select_and_scatter, set_dimension_size, sort, state, top_k, triangular_solve,
};
pub(super) use collectives::{
    all_gather, all_reduce, all_to_all, collective_broadcast, collective_permute, device_id, ragged_all_to_all,
    reduce_scatter,
};
pub(super) use control::{
    call, conditional, constant, dependency, get_tuple_element, parameter, token, tuple, while_loop,
};
pub(super) use custom::custom_call;
pub(super) use dims::{bitcast, bitcast_convert, broadcast, concatenate, dot, reshape, reverse, transpose};
pub(super) use elementwise::{
    clamp, compare, complex, convert, elementwise, iota, is_finite, magnitude, map, reduce_precision, select,
    stochastic_convert,
};
pub(super) use gather::{gather, scatter};
pub(super) use pairs::{done, infeed, recv, recv_done, send, send_done, start, update};
pub(super) use products::{dynamic_reshape, ragged_dot, scaled_dot, scan};
pub(super) use reduce::{reduce, reduce_window};
pub(super) use site::{ANY, OpcodeRule, Signature, Site};
pub(super) use slices::{dynamic_slice, dynamic_update_slice, pad, ranges, slice};
pub(super) use windows::convolution;
