//! Slow definitions of layouts and of HLO, random cases, and files of expected lines. Definitions share no code with what
//! they judge; of a layout they read the fields alone.

pub mod blocks;
pub mod boxes;
pub mod changes;
pub mod choices;
pub mod interpreter;
pub mod lines;
pub mod mangled;
pub mod notations;
pub mod places;
pub mod random;
pub mod random_hlo;
pub mod tiled;
