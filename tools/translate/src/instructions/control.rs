//! Calls, loops and conditionals: `func.call`, `scf.while`, `scf.if`, `scf.index_switch`.

use crate::builder::Builder;
use crate::syntax::symbol;
use crate::tensor::{ImportResult, Tensor, names, tensors, types};
use crate::writer::{Writer, with_types};
use tensor_layout::element::ElementType;

/// A call of a computation; arguments and results are converted to and from its function's layouts.
pub fn call(b: &mut Builder, computation: usize, arguments: &[Tensor], to: &[Tensor]) -> ImportResult<Vec<Tensor>> {
    let callee = &b.module.computations[computation];
    let wanted = callee.parameters.iter().map(|k| tensors(&callee.instructions[*k].shape));
    let wanted = wanted.collect::<ImportResult<Vec<_>>>()?.concat();
    let taken = b.all_converted(arguments, &wanted)?;
    let given = tensors(&callee.result().shape)?;
    let given = b.calls(&symbol(&callee.name), &taken, &given);
    b.all_converted(&given, to)
}

/// A loop: while the condition, the first computation, is true of the state, the second one computes the next state.
pub fn repeat(
    b: &mut Builder,
    [condition, body]: [usize; 2],
    trips: Option<i64>,
    state: &[Tensor],
) -> ImportResult<Vec<Tensor>> {
    let list = types(state);
    let results = b.w.results(state.len());
    let fresh = |w: &mut Writer| state.iter().map(|t| Tensor { name: w.fresh(), ..t.clone() }).collect::<Vec<_>>();
    let (before, after) = (fresh(&mut b.w), fresh(&mut b.w));
    let entered: Vec<String> = before.iter().zip(state).map(|(a, t)| format!("{} = {}", a.name, t.name)).collect();
    // A state of tokens and empty tuples has no values: the loop runs for its effects.
    let entered = if entered.is_empty() { String::new() } else { format!(" ({})", entered.join(", ")) };
    b.w.line(&format!("{}scf.while{entered} : ({list}) -> ({list}) {{", results.left));
    b.w.indent += 2;
    let again = call(b, condition, &before, &[Tensor::scalar(ElementType::Pred, "i1")])?.remove(0);
    let flag = b.scalar(&again);
    b.w.located(&format!("scf.condition({flag}){}", with_types(&names(&before), &list)));
    b.w.indent -= 2;
    b.w.line("} do {");
    let listed: Vec<String> = after.iter().map(|t| format!("{}: {}", t.name, t.ty)).collect();
    let listed = if listed.is_empty() { String::new() } else { format!("({})", listed.join(", ")) };
    b.w.line(&format!("^bb0{listed}:"));
    b.w.indent += 2;
    let next = call(b, body, &after, state)?;
    b.w.located(&format!("scf.yield{}", with_types(&names(&next), &list)));
    b.w.indent -= 2;
    let trips = trips.map_or(String::new(), |trips| format!(" attributes {{layout.trip_count = {trips} : i64}}"));
    b.w.located(&format!("}}{trips}"));
    Ok(Tensor::named(results.names, state.to_vec()))
}

/// A conditional: the first operand chooses the branch; each branch has an operand of its own.
pub fn branch(b: &mut Builder, branches: &[usize], operands: &[&[Tensor]], to: &[Tensor]) -> ImportResult<Vec<Tensor>> {
    let chosen = &operands[0][0];
    let value = b.scalar(chosen);
    let results = b.w.results(to.len());
    let (left, list) = (results.left, types(to));
    if chosen.element == ElementType::Pred {
        b.w.line(&format!("{left}scf.if {value} -> ({list}) {{"));
        one_branch(b, branches[0], operands[1], to)?;
        b.w.line("} else {");
        one_branch(b, branches[1], operands[2], to)?;
    } else {
        // A number out of range takes the last branch.
        let index = b.w.op(&format!("arith.index_cast {value} : {} to index", chosen.element_text));
        let arrow = if to.is_empty() { "" } else { " -> " };
        b.w.line(&format!("{left}scf.index_switch {index}{arrow}{list}"));
        let last = branches.len() - 1;
        for k in 0..last {
            b.w.line(&format!("case {k} {{"));
            one_branch(b, branches[k], operands[k + 1], to)?;
            b.w.line("}");
        }
        b.w.line("default {");
        one_branch(b, branches[last], operands[last + 1], to)?;
    }
    b.w.located("}");
    Ok(Tensor::named(results.names, to.to_vec()))
}

/// The region of a branch: a call of its computation.
fn one_branch(b: &mut Builder, computation: usize, operands: &[Tensor], to: &[Tensor]) -> ImportResult<()> {
    b.w.indent += 2;
    let given = call(b, computation, operands, to)?;
    b.w.located(&format!("scf.yield{}", with_types(&names(&given), &types(to))));
    b.w.indent -= 2;
    Ok(())
}
