//! The program of a dump folder, as `--xla_dump_to` fills it.
//!
//! A folder has a file for each module and stage, `module_0003.jit_step.after_optimizations.txt`. The stage that matters is
//! the last one, whose order and layouts run; of several modules the one that ran out of memory, and else the largest.

use layout_console::{Complaint, read, warn};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tensor_layout::text::Error;

/// The stages, the best first. A file of the first is there only where the memory did not suffice.
const STAGES: [&str; 4] = [
    "oom_intermediate_module",
    "after_optimizations",
    "after_optimizations_before_buffer_assignment",
    "before_optimizations",
];

/// The text of a program: of a file, of standard input by the name `-`, or of the folder of a dump.
///
/// # Errors
/// The file cannot be read, is not text, or the folder has no module.
pub fn text(file: &str) -> Result<String, Complaint> {
    if file == "-" || !Path::new(file).is_dir() {
        return read(file);
    }
    let about = |error: String| Complaint::about(file, error);
    let entries = fs::read_dir(file).map_err(|error| about(error.to_string()))?.flatten();
    let sized = |entry: fs::DirEntry| (entry.path(), entry.metadata().map_or(0, |data| data.len()));
    let (path, others) = chosen(entries.map(sized)).map_err(about)?;
    if others > 0 {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("of {} modules this one is read: {name}", others + 1);
        warn(&Complaint::warnings(file, "", &[Error::new(message)]));
    }
    read(&path.to_string_lossy())
}

/// The file that is read of those in a folder, with their bytes, and how many modules there are beside this one.
///
/// # Errors
/// No file is of a module.
pub fn chosen(files: impl Iterator<Item = (PathBuf, u64)>) -> Result<(PathBuf, usize), String> {
    let mut modules: BTreeMap<String, (usize, u64, PathBuf)> = BTreeMap::new();
    for (path, size) in files {
        let Some((module, stage)) = named(&path.file_name().unwrap_or_default().to_string_lossy()) else { continue };
        let found = modules.entry(module).or_insert_with(|| (stage, size, path.clone()));
        if stage < found.0 {
            *found = (stage, size, path);
        }
    }
    let others = modules.len().saturating_sub(1);
    let best = modules.into_values().min_by_key(|(stage, size, _)| (*stage, u64::MAX - size));
    let none = "expected the text of a module, as XLA_FLAGS=\"--xla_dump_to=FOLDER --xla_dump_hlo_as_text\" writes it, such as \
                module_0001.jit_f.after_optimizations.txt, found none; only the stages are read that JAX prints as text";
    best.map(|(.., path)| (path, others)).ok_or_else(|| none.to_string())
}

/// The module that a file of a dump is of, and the number of its stage; other texts of HLO are after all stages.
fn named(file: &str) -> Option<(String, usize)> {
    let plain = file.strip_suffix(".gz").or_else(|| file.strip_suffix(".zst")).unwrap_or(file);
    let (stem, end) = plain.rsplit_once('.')?;
    let of_stage = |stage: &str| stem.strip_suffix(stage).filter(|module| module.ends_with(['.', '_']));
    let stage = STAGES.iter().position(|stage| of_stage(stage).is_some());
    match (end, stage) {
        ("txt", Some(stage)) => {
            let module = of_stage(STAGES[stage])?;
            // `cpu_after_optimizations` and `after_optimizations` are of one module.
            Some((module[..module.rfind('.').map_or(module.len(), |dot| dot + 1)].to_string(), stage))
        }
        ("hlo" | "mlir", _) => Some((stem.to_string(), STAGES.len())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_dump() {
        let found = |file: &str| named(file).map(|(module, stage)| (module, STAGES.get(stage).copied()));
        let module = |stage| Some(("module_0003.jit_f.".to_string(), Some(stage)));
        assert_eq!(found("module_0003.jit_f.after_optimizations.txt"), module("after_optimizations"));
        assert_eq!(found("module_0003.jit_f.cpu_after_optimizations.txt.gz"), module("after_optimizations"));
        assert_eq!(found("module_0003.jit_f.oom_intermediate_module.txt"), module("oom_intermediate_module"));
        assert_eq!(found("module_0003.jit_f.after_optimizations-buffer-assignment.txt"), None);
        assert_eq!(found("module_0003.jit_f.debug_options"), None);
        assert_eq!(found("step.hlo"), Some(("step".to_string(), None)));
    }
}
