//! The functions for exchanges between devices, and their names.

use std::collections::BTreeSet;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Collective, Exchange};

/// The treatment of exchanges between devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collectives {
    /// Calls of external functions.
    #[default]
    Calls,
    /// The result of device 0 where all devices hold the same.
    Single,
}

/// The usual operation by which a computation combines two numbers, if any.
pub fn combination(module: &Module, computation: usize) -> Option<&'static str> {
    const KNOWN: [&str; 7] = ["add", "multiply", "minimum", "maximum", "and", "or", "xor"];
    let computation = &module.computations[computation];
    let root = computation.result();
    let operands: BTreeSet<usize> = root.operands.iter().copied().collect();
    let both = computation.parameters.len() == 2 && operands == computation.parameters.iter().copied().collect();
    KNOWN.into_iter().find(|name| both && *name == root.opcode)
}

/// The name of the function for an exchange of elements of a type: `all_reduce_add_f32`. Without a usual combination,
/// devices get the elements of the others and combine them themselves.
pub fn function(module: &Module, i: &Instruction, exchange: Exchange, element: ElementType) -> String {
    let combined = || i.called.first().and_then(|number| combination(module, *number));
    let name = match exchange {
        Exchange::Gather { .. } | Exchange::ReduceTogether => "all_gather".to_string(),
        Exchange::Reduce => combined().map_or("all_gather".to_string(), |how| format!("all_reduce_{how}")),
        Exchange::ReduceScatter { .. } => {
            combined().map_or("all_to_all".to_string(), |how| format!("reduce_scatter_{how}"))
        }
        Exchange::AllToAll { .. } => "all_to_all".to_string(),
        Exchange::Broadcast => "collective_broadcast".to_string(),
        Exchange::Permute | Exchange::PermuteBlocks { .. } => "collective_permute".to_string(),
        Exchange::Ragged => "ragged_all_to_all".to_string(),
    };
    format!("{name}_{}", element.name())
}

/// The name of the function for the number of a partition or a replica.
pub fn device(opcode: &str) -> String {
    opcode.replace('-', "_")
}

/// The type of the number that is sent along with a block: 0 arrives where there is no source, and no block.
pub const ARRIVED: ElementType = ElementType::S32;

/// Whether an exchange stays on one device: a single device, or groups of one device each.
pub fn is_local(c: &Collective) -> bool {
    let each = !matches!(c.exchange, Exchange::Permute | Exchange::PermuteBlocks { .. } | Exchange::Broadcast);
    c.devices == 1 || each && c.groups.iter().all(|group| group.len() == 1)
}

/// The types of the parameters of a function: the sent and the received buffer, the dimension, groups, the channel; for
/// a ragged exchange the four lists before the dimension.
pub fn parameters(exchange: Exchange, of: &str) -> String {
    let lists = if exchange == Exchange::Ragged { "memref<*xi64>, ".repeat(4) } else { String::new() };
    format!("memref<*x{of}>, memref<*x{of}>, {lists}i64, memref<*xi64>, i64")
}

/// Whether an instruction asks for the number of the device.
pub fn is_device(i: &Instruction) -> bool {
    matches!(&*i.opcode, "partition-id" | "replica-id")
}
