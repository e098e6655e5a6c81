//! The program of a dump folder, as `--xla_dump_to` fills it.
//!
//! A folder has a file for each module and stage, `module_0003.jit_step.after_optimizations.txt`. The stage that matters is
//! the last one, whose order and layouts run; of several modules the one that ran out of memory, and else the largest.
//! XLA's addresses are in a file beside it, `module_0003.jit_step.after_optimizations-buffer-assignment.txt`.

use layout_console::{Complaint, read, warn};
use std::borrow::Cow;
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

/// The text of a program, and the file with its buffer assignment, if there is one.
pub struct Dumped {
    pub text: String,
    pub assignment: Option<PathBuf>,
}

/// The files of a folder that are read.
pub struct Chosen {
    pub module: PathBuf,
    pub assignment: Option<PathBuf>,
    /// How many modules there are beside this one.
    pub others: usize,
    /// The names of texts without a byte, which are not read.
    pub empty: Vec<String>,
}

/// The program of a file, of standard input by the name `-`, or of the folder of a dump.
///
/// # Errors
/// The file cannot be read, is not text, or the folder has no module.
pub fn program(file: &str) -> Result<Dumped, Complaint> {
    let path = Path::new(file);
    let about = |error: String| Complaint::about(file, error);
    let files = |folder: &Path| {
        let sized = |entry: fs::DirEntry| (entry.path(), entry.metadata().map_or(0, |data| data.len()));
        fs::read_dir(folder).map(|entries| entries.flatten().map(sized).collect::<Vec<_>>())
    };
    if file == "-" || !path.is_dir() {
        // Only a file of a dump has an assignment beside it; the folder of a plain name is the current one.
        let folder = path.parent().filter(|_| file != "-" && named(path).is_some());
        let folder = folder.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let beside = folder.and_then(|folder| files(folder).ok()).unwrap_or_default();
        return Ok(Dumped { text: read(file)?, assignment: assignment(&beside, path) });
    }
    let files = files(path).map_err(|error| about(error.to_string()))?;
    let Chosen { module, assignment, others, empty } = chosen(files).map_err(about)?;
    let others = (others > 0).then(|| format!("of {} modules this one is read: {}", others + 1, name(&module)));
    let warnings: Vec<Error> = others.into_iter().chain(said_empty(&empty)).map(Error::new).collect();
    if !warnings.is_empty() {
        warn(&Complaint::warnings(file, "", &warnings));
    }
    Ok(Dumped { text: read(&module.to_string_lossy())?, assignment })
}

/// The files that are read of those in a folder, which come with their bytes.
///
/// # Errors
/// No file is of a module.
pub fn chosen(files: Vec<(PathBuf, u64)>) -> Result<Chosen, String> {
    let mut modules: BTreeMap<String, (usize, u64, &Path)> = BTreeMap::new();
    let mut empty = Vec::new();
    for (path, size) in &files {
        let Some((module, stage)) = named(path) else { continue };
        if *size == 0 {
            empty.push(name(path).into_owned());
            continue;
        }
        let found = modules.entry(module).or_insert((stage, *size, path));
        if stage < found.0 {
            *found = (stage, *size, path);
        }
    }
    let others = modules.len().saturating_sub(1);
    let best = modules.into_values().min_by_key(|(stage, size, _)| (*stage, u64::MAX - size));
    empty.sort();
    let none = || {
        let found = said_empty(&empty).unwrap_or("none".to_string());
        format!(
            "expected the text of a module, as XLA_FLAGS=\"--xla_dump_to=FOLDER --xla_dump_hlo_as_text\" writes it, such as \
             module_0001.jit_f.after_optimizations.txt, found {found}; only the stages are read that JAX prints as text, and \
             no folders inside this one"
        )
    };
    let (.., module) = best.ok_or_else(none)?;
    Ok(Chosen { module: module.to_path_buf(), assignment: assignment(&files, module), others, empty })
}

/// The warning about empty texts.
fn said_empty(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [name] => Some(format!("an empty file, which is not read: {name}")),
        [name, ..] => Some(format!("{} empty files, which are not read, such as {name}", names.len())),
    }
}

/// The file with the buffer assignment of a module.
fn assignment(files: &[(PathBuf, u64)], module: &Path) -> Option<PathBuf> {
    let (module, stage) = named(module)?;
    let is_own = |path: &&PathBuf| {
        name(path).strip_prefix(&module).is_some_and(|rest| unpacked(rest).ends_with("-buffer-assignment.txt"))
    };
    let paths = files.iter().map(|(path, _)| path);
    // Only the last stages have the instructions of the assignment.
    paths.filter(|_| stage < 2).find(is_own).cloned()
}

fn name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The name of a file before it was compressed.
fn unpacked(name: &str) -> &str {
    name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name)
}

/// The module that a file of a dump is of, and the number of its stage; other texts of HLO are after all stages.
fn named(path: &Path) -> Option<(String, usize)> {
    let name = name(path);
    let (stem, end) = unpacked(&name).rsplit_once('.')?;
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
        let found = |file: &str| named(Path::new(file)).map(|(module, stage)| (module, STAGES.get(stage).copied()));
        let module = |stage| Some(("module_0003.jit_f.".to_string(), Some(stage)));
        assert_eq!(found("module_0003.jit_f.after_optimizations.txt"), module("after_optimizations"));
        assert_eq!(found("module_0003.jit_f.cpu_after_optimizations.txt.gz"), module("after_optimizations"));
        assert_eq!(found("module_0003.jit_f.oom_intermediate_module.txt"), module("oom_intermediate_module"));
        assert_eq!(found("module_0003.jit_f.after_optimizations-buffer-assignment.txt"), None);
        assert_eq!(found("module_0003.jit_f.debug_options"), None);
        assert_eq!(found("step.hlo"), Some(("step".to_string(), None)));
    }
}
