//! `layout-inspect plan --why`: the cost of each layout of an instruction's result.

use super::answer::Names;
use crate::numbers::{counted, grouped, quoted};
use layout_plan::plan::ArrayName;
use layout_plan::solver::Marginal;
use std::fmt::Write;
use tensor_layout::operations::count;
use tensor_layout::text::{Error, did_you_mean};

/// The layouts of an array, each with the cost of the best plan that has it.
pub type Alternatives = Vec<(String, Marginal)>;

/// The layouts of an instruction, by the cost of the best plan with each. `ask` returns the layouts of an array, once
/// for each time that it is made.
pub fn text(names: &Names, ask: &mut dyn FnMut(ArrayName) -> Vec<Alternatives>, name: &str) -> Result<String, Error> {
    let (name, unit) = (name.trim_start_matches('%'), names.target.unit());
    let mut text = String::new();
    for (c, computation) in names.module.computations.iter().enumerate() {
        for (k, _) in computation.instructions.iter().enumerate().filter(|(_, own)| own.name == name) {
            for leaf in 0..count(&computation.instructions[k].shape) {
                for alternatives in ask((c, k, leaf)) {
                    let least = alternatives.first().and_then(|(_, best)| best.cost);
                    if least.is_none() && alternatives.iter().any(|(_, best)| !best.is_decided) {
                        let message = format!("not decided in the time: what the layouts of `{name}` cost");
                        return Err(Error::new(message).undecided());
                    }
                    for (layout, best) in alternatives {
                        let _ = match (best.cost, best.is_decided) {
                            (Some(cost), is_decided) => {
                                let more = grouped(cost - least.unwrap_or(cost));
                                let rest = if is_decided { "" } else { ", or less: not decided in the time" };
                                writeln!(text, "{layout}: {}, {more} more{rest}", counted(cost, unit))
                            }
                            (None, true) => writeln!(text, "{layout}: not possible"),
                            (None, false) => writeln!(text, "{layout}: not decided in the time"),
                        };
                    }
                }
            }
        }
    }
    if text.is_empty() {
        let all = names.module.computations.iter().flat_map(|computation| &computation.instructions);
        let mut all = all.map(|instruction| instruction.name.as_str());
        let hint = match all.clone().any(|own| own == name) {
            true => ": it makes a tuple, or is inside a fusion or a computation on scalars".to_string(),
            false => did_you_mean(name, &mut all),
        };
        return Err(Error::new(format!("no layout is chosen for an instruction {}{hint}", quoted(name))));
    }
    Ok(text)
}
