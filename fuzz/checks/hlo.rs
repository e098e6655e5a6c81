//! HLO modules.

use super::refused;
use layout_console::Complaint;
use layout_plan::memory::MemoryUse;
use tensor_layout::analysis::Flows;
use tensor_layout::hlo::Module;

/// Reads a module, analyses its computations, and translates it.
pub fn hlo(text: &str) {
    let module = match Module::parse(text) {
        Ok(module) => module,
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= Module::MAX_ERRORS, "{} errors", errors.len());
            errors.iter().for_each(|error| refused(error, text));
            Complaint::in_file("text", text, &errors);
            return;
        }
    };
    let (graphs, mut flows) = (module.graphs(), Flows::default());
    for entry in 0..graphs.len() {
        for error in [flows.flow(&graphs, entry).err(), flows.traffic(&graphs, entry).err()].into_iter().flatten() {
            assert!(!error.message.is_empty());
        }
    }
    match MemoryUse::of(&module) {
        Ok(used) => {
            for (space, bytes) in &used.spaces {
                let live = used.timeline(*space).unwrap_or_default();
                assert_eq!(live.get(bytes.at), Some(&bytes.peak), "space {space}");
                assert_eq!(live.iter().max(), Some(&bytes.peak), "space {space}");
            }
        }
        Err(error) => refused(&error, text),
    }
    match layout_translate::import(&module, text, "text") {
        Ok(mlir) => super::mlir::translated(&mlir),
        Err(errors) => {
            assert!(!errors.is_empty());
            errors.iter().for_each(|error| refused(error, text));
        }
    }
}
