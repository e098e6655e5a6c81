//! Parallel loops with reversed iterations, which reveal dependence on the order.

use crate::text::{self, Operation};

/// A text in generic form with reversed iterations of `scf.parallel`, and of `scf.forall` with constant bounds.
pub fn reversed(lines: &[String]) -> Vec<String> {
    let mut made = lines.to_vec();
    // Backwards, so that a changed loop contains its changed inner loops.
    for at in (0..lines.len()).rev() {
        if let Some(change) = Operation::read(&made[at]).and_then(|op| change(&made, at, &op)) {
            made = change;
        }
    }
    made
}

/// The numbers of an attribute.
fn array(attributes: &str, name: &str) -> Option<Vec<i64>> {
    let start = attributes.find(&format!("{name} = array<i"))?;
    let list = attributes[start..].split_once(": ")?.1.split_once('>')?.0;
    list.split(", ").map(|number| number.parse().ok()).collect()
}

/// The value of a constant loop bound.
fn constant(made: &mut Vec<String>, name: &str, number: i64) -> String {
    made.push(format!("{name} = \"arith.constant\"() <{{value = {number} : index}}> : () -> index"));
    name.to_owned()
}

fn change(lines: &[String], at: usize, op: &Operation) -> Option<Vec<String>> {
    let arguments = lines.get(at + 1)?.trim().strip_prefix('^')?.split_once('(')?.1;
    let arguments = text::split(arguments.trim_end_matches(':').trim_end_matches(')'));
    let mut before = vec![];
    let mut bounds: Vec<[String; 3]> = vec![];
    match &*op.name {
        "scf.parallel" => {
            let n = *array(&op.attributes, "operandSegmentSizes")?.first()? as usize;
            let of = |k: usize| {
                Some([
                    op.operands.get(k)?.clone(),
                    op.operands.get(n + k)?.clone(),
                    op.operands.get(2 * n + k)?.clone(),
                ])
            };
            bounds.extend((0..n).map(of).collect::<Option<Vec<_>>>()?);
        }
        "scf.forall" => {
            let of = |name: &str| array(&op.attributes, name);
            let all = [of("staticLowerBound")?, of("staticUpperBound")?, of("staticStep")?];
            if all.concat().contains(&i64::MIN) {
                return None;
            }
            let [lower, upper, step] = &all;
            for (k, ((lower, upper), step)) in lower.iter().zip(upper).zip(step).enumerate() {
                let mut end =
                    |what: &str, number: i64| constant(&mut before, &format!("%bound_{at}_{k}_{what}"), number);
                bounds.push([end("lower", *lower), end("upper", *upper), end("step", *step)]);
            }
        }
        _ => return None,
    }
    let end = text::end_of(lines, at);
    let mut body = lines[at + 2..end].to_vec();
    let mut inside = vec![];
    for (k, ([lower, upper, step], argument)) in bounds.iter().zip(&arguments).enumerate() {
        let argument = argument.split(": ").next()?;
        let name = |what: &str| format!("%turn_{at}_{k}_{what}");
        let mut op = |made: &str, operation: &str, a: &str, b: &str| {
            inside.push(format!("{} = \"arith.{operation}\"({a}, {b}) : (index, index) -> index", name(made)));
            name(made)
        };
        // lower + (upper - lower - 1) div step * step - (i - lower)
        let length = op("length", "subi", upper, lower);
        let gone = op("gone", "subi", argument, lower);
        let more = op("more", "addi", &length, step);
        let count = op("count", "subi", &more, &format!("%one_{at}"));
        let count = op("steps", "divui", &count, step);
        let last = op("last", "subi", &count, &format!("%one_{at}"));
        let last = op("far", "muli", &last, step);
        let left = op("left", "subi", &last, &gone);
        let value = op("value", "addi", &left, lower);
        text::rename(&mut body, argument, &value);
    }
    constant(&mut before, &format!("%one_{at}"), 1);
    Some([&lines[..at], &before, &lines[at..at + 2], &inside, &body, &lines[end..]].concat())
}
