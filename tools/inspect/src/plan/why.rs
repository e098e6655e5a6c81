//! `layout-inspect plan --why`: what each layout of an instruction would cost.

use super::answer::Names;
use crate::numbers::{counted, grouped};
use std::fmt::Write;
use tensor_layout::operations::count;
use tensor_layout::plan::ArrayName;
use tensor_layout::text::{Error, did_you_mean};

/// The layouts of an array, each with what the best plan costs with it; `None` for one that is not possible.
pub type Alternatives = Vec<(String, Option<i64>)>;

/// The layouts of an instruction, those first with which the best plan costs least. `ask` says those of an array, once for
/// each time that it is made; `None` where that was not found.
pub fn text(
    names: &Names,
    ask: &mut dyn FnMut(ArrayName) -> Option<Vec<Alternatives>>,
    name: &str,
) -> Result<String, Error> {
    let (name, unit) = (name.trim_start_matches('%'), names.target.unit());
    let mut text = String::new();
    for (c, computation) in names.module.computations.iter().enumerate() {
        for (k, _) in computation.instructions.iter().enumerate().filter(|(_, own)| own.name == name) {
            for leaf in 0..count(&computation.instructions[k].shape) {
                let missing = || {
                    let message =
                        format!("what the layouts of `{name}` cost was not found within the time and the memory");
                    Error::new(message)
                };
                for alternatives in ask((c, k, leaf)).ok_or_else(missing)? {
                    let best = alternatives.first().and_then(|best| best.1);
                    for (layout, cost) in alternatives {
                        let _ = match (cost, best) {
                            (Some(cost), Some(best)) => {
                                writeln!(text, "{layout}: {}, {} more", counted(cost, unit), grouped(cost - best))
                            }
                            _ => writeln!(text, "{layout}: not possible"),
                        };
                    }
                }
            }
        }
    }
    if text.is_empty() {
        let all = names.module.computations.iter().flat_map(|computation| &computation.instructions);
        let hint = did_you_mean(name, all.map(|instruction| instruction.name.as_str()));
        return Err(Error::new(format!("no layout is chosen for an instruction `{name}`{hint}")));
    }
    Ok(text)
}
