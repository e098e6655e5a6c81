//! Cycles of definitions: values that depend on themselves.
//!
//! There are none if definitions dominate uses. But graph regions (such as the body of a module) and unreachable
//! blocks may hold `%0 = f(%1)` and `%1 = g(%0)`, and a walk along definitions or uses never ends there.
//!
//! A use inside a region counts as a use by the operation with the region, in the region of the definition. So
//! `%0 = f() ({ g(%0) })` is a cycle, too. A loop-carried value goes through a block argument, which no operation
//! defines: that is no cycle. Nor are paths through operations of dialects that are not
//! loaded, such as a register of a circuit: no pass follows a value through an unknown operation.

use crate::read::{Op, all_operations, defining_op, is_registered, op_key, operands, parent};
use std::collections::HashMap;

/// The operations of a cycle of definitions below `root`, each a user of a result of the next, and the last of the first;
/// `None` if all definitions can be ordered before their uses.
pub fn cycle<'c>(root: Op<'c>) -> Option<Vec<Op<'c>>> {
    let operations = all_operations(root);
    let numbers: HashMap<usize, usize> = operations.iter().enumerate().map(|(k, op)| (op_key(*op), k)).collect();
    let parents: Vec<Option<usize>> =
        operations.iter().map(|op| parent(*op).and_then(|op| numbers.get(&op_key(op)).copied())).collect();
    let definitions = |k: usize| operands(operations[k]).into_iter().filter_map(defining_op);
    let number = |op: Op<'c>| numbers.get(&op_key(op)).copied();
    let mut sources: Vec<Vec<usize>> = vec![Vec::new(); operations.len()];
    for k in 0..operations.len() {
        for from in definitions(k).filter_map(number) {
            let mut outer = std::iter::successors(Some(k), |k| parents[*k]);
            let user = outer.find(|user| parents[*user] == parents[from]);
            user.filter(|user| is_registered(operations[*user])).into_iter().for_each(|user| sources[user].push(from));
        }
    }
    let found = search(&sources)?;
    Some(found.into_iter().map(|k| operations[k]).collect())
}

/// A cycle in a graph with edges from each node to its sources, found by depth-first search.
fn search(sources: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut done = vec![false; sources.len()];
    // The position of a node on the current path.
    let mut places: Vec<Option<usize>> = vec![None; sources.len()];
    for start in 0..sources.len() {
        let mut path = Vec::new();
        let mut next = Some(start).filter(|start| !done[*start]);
        loop {
            if let Some(node) = next {
                places[node] = Some(path.len());
                path.push((node, sources[node].iter()));
            }
            let Some((node, left)) = path.last_mut() else { break };
            match left.next() {
                Some(from) => {
                    if let Some(place) = places[*from] {
                        return Some(path[place..].iter().map(|(node, _)| *node).collect());
                    }
                    next = Some(*from).filter(|from| !done[*from]);
                }
                None => {
                    (done[*node], places[*node], next) = (true, None, None);
                    path.pop();
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{location, results};
    use melior::ir::{Module, ValueLike};
    use melior::{Context, ir::OperationRef};

    /// The result types of the cycle in a module of casts, which are written without their common part.
    fn types(casts: &[&str]) -> Vec<String> {
        let context = Context::new();
        context.set_allow_unregistered_dialects(true);
        let text = casts.join("\n").replace("cast", "\"builtin.unrealized_conversion_cast\"");
        let module = Module::parse(&context, &text).expect(&text);
        // SAFETY: the module is alive.
        let root: Op = unsafe { OperationRef::from_raw(module.as_operation().to_raw()) };
        let found = cycle(root).unwrap_or_default();
        found.iter().for_each(|op| assert!(!location(*op).to_string().is_empty()));
        found.into_iter().map(|op| results(op)[0].r#type().to_string()).collect()
    }

    #[test]
    fn no_cycle_where_definitions_come_late() {
        assert!(types(&[]).is_empty());
        assert!(types(&["%0 = cast(%1) : (i2) -> i1", "%1 = \"b\"() : () -> i2"]).is_empty());
        // Two paths to one definition.
        let two = ["%0 = cast(%1, %2) : (i2, i3) -> i1", "%1 = cast(%2) : (i3) -> i2", "%2 = \"c\"() : () -> i3"];
        assert!(types(&two).is_empty());
        // A region uses a value that is defined after it.
        assert!(
            types(&["builtin.module { \"b\"() : () -> () }", "%0 = cast(%1) : (i2) -> i1", "%1 = \"b\"() : () -> i2"])
                .is_empty()
        );
    }

    #[test]
    fn cycles_of_one_and_more() {
        assert_eq!(types(&["%0 = cast(%0) : (i1) -> i1"]), ["i1"]);
        assert_eq!(types(&["%0 = cast(%1) : (i2) -> i1", "%1 = cast(%0) : (i1) -> i2"]), ["i1", "i2"]);
        let behind = [
            "%9 = cast(%0) : (i1) -> i9",
            "%0 = cast(%1) : (i2) -> i1",
            "%1 = cast(%2) : (i3) -> i2",
            "%2 = cast(%1) : (i2) -> i3",
        ];
        assert_eq!(types(&behind), ["i2", "i3"]);
    }

    #[test]
    fn no_cycle_through_operations_that_are_not_known() {
        assert!(types(&["%0 = \"register\"(%1) : (i2) -> i1", "%1 = cast(%0) : (i1) -> i2"]).is_empty());
        assert!(types(&["%0 = \"graph\"() ({ \"b\"(%0) : (i1) -> () }) : () -> i1"]).is_empty());
    }
}
