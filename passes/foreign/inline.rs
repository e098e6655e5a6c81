//! Programs of MLIR text in the place of an operation.

use crate::foreign::operation::{Foreign, Operand};
use layout_ir::{self as ir, Op, Rewriter, Val};
use layout_programs::Program;
use std::collections::HashMap;

/// The lines of a function that define sizes, and the names of sizes.
#[derive(Default)]
pub struct Sizes {
    /// The definitions, for the beginning of the function.
    pub prologue: Vec<String>,
}

impl Sizes {
    /// The names of the sizes of an operand that the function calls `name`.
    pub fn of(&mut self, name: &str, operand: &Operand) -> Vec<String> {
        let names = operand.shape.iter().enumerate().map(|(k, size)| match size {
            Some(n) => format!("%c{n}"),
            None => {
                let size = format!("{name}_size{k}");
                self.prologue.push(format!("{size} = tensor.dim {name}, %c{k} : {}", operand.text()));
                size
            }
        });
        names.collect()
    }

    /// The number of starts in dimension `dim` of a size at which a block of a width fits.
    pub fn starts(&mut self, dim: usize, size: &str, width: &str) -> String {
        self.prologue.push(format!("%over{dim} = arith.subi {size}, {width} : index"));
        self.prologue.push(format!("%starts{dim} = arith.addi %over{dim}, %c1 : index"));
        self.prologue.push(format!("%count{dim} = arith.maxsi %starts{dim}, %c0 : index"));
        format!("%count{dim}")
    }
}

/// Inlines a function of a program before an operation, with the region of the operation for the functions that the
/// program declares; returns the results.
pub fn inline<'c>(
    rewriter: &'c Rewriter,
    foreign: &Foreign<'c>,
    program: &Program,
    name: &str,
    operands: &[Val<'c>],
) -> Vec<Val<'c>> {
    let text = program.module();
    let module = rewriter.parse(&text).unwrap_or_else(|| panic!("not the text of a program:\n{text}"));
    ir::set_location(module, ir::location(foreign.op));
    let mut bodies = HashMap::new();
    for function in ir::blocks(module).into_iter().flat_map(ir::operations) {
        let symbol = ir::attribute(function, "sym_name").and_then(ir::text).expect("a function has a name");
        bodies.insert(symbol, if ir::blocks(function).is_empty() { foreign.op } else { function });
    }
    inline_call(rewriter, &bodies, name, operands, foreign.op)
}

/// Puts a copy of the operations of a body before an operation, and inlines the calls among them. Those of the region are
/// the user's.
fn inline_call<'c>(
    rewriter: &'c Rewriter,
    bodies: &HashMap<&'c str, Op<'c>>,
    name: &str,
    operands: &[Val<'c>],
    before: Op<'c>,
) -> Vec<Val<'c>> {
    let copy = rewriter.copy(bodies[name]);
    ir::set_operands(copy, &[]);
    let block = ir::blocks(copy)[0];
    ir::arguments(block).into_iter().zip(operands).for_each(|(argument, v)| ir::replace_all_uses(argument, *v));
    let mut inner = ir::operations(block);
    let end = inner.pop().expect("a body has a terminator");
    inner.iter().for_each(|op| ir::move_before(*op, before));
    let is_of_program = ir::name(copy) == "func.func";
    for call in
        inner.into_iter().flat_map(ir::all_operations).filter(|op| is_of_program && ir::name(*op) == "func.call")
    {
        let callee = ir::attribute(call, "callee").map(|callee| callee.to_string()).unwrap_or_default();
        let Some(callee) = callee.strip_prefix('@').filter(|callee| bodies.contains_key(callee)) else { continue };
        let results = inline_call(rewriter, bodies, callee, &ir::operands(call), call);
        ir::results(call).into_iter().zip(results).for_each(|(old, new)| ir::replace_all_uses(old, new));
        rewriter.erase(call);
    }
    ir::operands(end)
}
