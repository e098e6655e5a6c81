//! The order and the names of the constants that bufferization makes.
//!
//! Upstream's one-shot-bufferize makes a `memref.global` for each constant tensor, in an order that differs from run to
//! run: of two constants of type `tensor<4xf32>` either may be `@__constant_4xf32` and the other `@__constant_4xf32_0`.
//! Here they are sorted by their first use: both their places in the module and, among those of one type, their
//! numbers.

use crate::pass::upstream;
use layout_ir::{self as ir, Op};
use melior::ir::attribute::FlatSymbolRefAttribute;
use std::collections::{HashMap, HashSet};

/// A constant that bufferization made.
struct Made<'c> {
    op: Op<'c>,
    name: String,
    /// The name without the number that distinguishes constants of one type.
    of_type: String,
}

/// Sorts the constants of a module, of which these are all operations; true where that changed something.
pub fn sort<'c>(module: Op<'c>, operations: &[Op<'c>]) -> bool {
    let is_own = |op: &&Op<'c>| ir::parent(**op).is_some_and(|parent| ir::op_key(parent) == ir::op_key(module));
    let made: Vec<Made<'c>> = operations.iter().filter(is_own).filter_map(|op| Made::of(*op)).collect();
    let mut first_use: HashMap<&str, usize> = HashMap::new();
    for (position, op) in operations.iter().enumerate().filter(|(_, op)| ir::name(**op) == "memref.get_global") {
        let symbol = ir::attribute(*op, "name").and_then(|a| FlatSymbolRefAttribute::try_from(a).ok());
        if let Some(symbol) = symbol {
            first_use.entry(symbol.value()).or_insert(position);
        }
    }
    let mut sorted: Vec<&Made<'c>> = made.iter().collect();
    sorted.sort_by_key(|made| first_use.get(&made.name[..]).copied().unwrap_or(usize::MAX));

    let symbols: HashSet<&str> = operations.iter().filter_map(|op| symbol(*op)).collect();
    let own: HashSet<&str> = made.iter().map(|made| &made.name[..]).collect();
    let taken = |name: &str| symbols.contains(name) && !own.contains(name);
    let mut next: HashMap<&str, u64> = HashMap::new();
    let mut renamed = Vec::new();
    for Made { name, of_type, .. } in &sorted {
        let number = next.entry(of_type).or_insert(0);
        let new = loop {
            let new = if *number == 0 { of_type.clone() } else { format!("{of_type}_{}", *number - 1) };
            *number += 1;
            if !taken(&new) {
                break new;
            }
        };
        if new != *name {
            renamed.push((name.clone(), new));
        }
    }
    let in_place = made.iter().zip(&sorted).all(|(a, b)| ir::op_key(a.op) == ir::op_key(b.op));
    if renamed.is_empty() && in_place {
        return false;
    }
    upstream::rename_symbols(module, &renamed);
    let mut place = made.first().map(|first| first.op);
    for op in sorted.iter().map(|made| made.op) {
        match place {
            Some(at) if ir::op_key(at) == ir::op_key(op) => place = ir::next(at),
            Some(at) => ir::move_before(op, at),
            None => {}
        }
    }
    true
}

impl<'c> Made<'c> {
    /// The constant, if bufferization made it: it is private, and named as bufferization names those of its type.
    fn of(op: Op<'c>) -> Option<Made<'c>> {
        if ir::name(op) != "memref.global"
            || ir::attribute(op, "constant").is_none()
            || ir::text(ir::attribute(op, "sym_visibility")?) != Some("private")
        {
            return None;
        }
        let name = symbol(op)?;
        let shaped = ir::memref(ir::type_in(ir::attribute(op, "type")?)?)?;
        let sizes: Vec<String> = shaped.sizes()?.iter().map(i64::to_string).collect();
        let of_type = format!("__constant_{}x{}", sizes.join("x"), shaped.element);
        let number = name.strip_prefix(&of_type[..])?;
        let is_number = number.strip_prefix('_').is_some_and(|digits| digits.bytes().all(|c| c.is_ascii_digit()));
        (number.is_empty() || is_number).then(|| Made { op, name: name.to_string(), of_type })
    }
}

/// The symbol that an operation defines.
pub(crate) fn symbol<'c>(op: Op<'c>) -> Option<&'c str> {
    ir::text(ir::attribute(op, "sym_name")?)
}
