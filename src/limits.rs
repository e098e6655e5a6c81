//! The limits of texts and passes: sizes, depths and numbers.
//!
//! An input beyond a limit gets an error that names the limit. Inputs in use stay below all of them; they bound the
//! time, memory and stack that a short text can cost. Each limit is a constant here, under its name in [`ALL`], and the
//! code that checks it uses this constant. `docs/limits.md` lists them with the error one beyond; the test that writes
//! the page tries each at the limit and one beyond.
//!
//! Sizes, strides and offsets have no other limit than 64 bits; a number that does not fit is an error.

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputLimit {
    /// The name of the constant.
    pub name: &'static str,
    /// The largest accepted number.
    pub value: u64,
    /// The texts, tools or passes that have the limit.
    pub of: &'static str,
    /// The quantity that is limited.
    pub what: &'static str,
}

macro_rules! limits {
    ($($name:ident: $type:ty = $value:expr, $of:literal, $what:literal;)+) => {
        $(#[doc = concat!("Of ", $of, ": ", $what, ".")]
        pub const $name: $type = $value;)+

        /// All limits.
        pub const ALL: &[InputLimit] =
            &[$(InputLimit { name: stringify!($name), value: $name as u64, of: $of, what: $what }),+];
    };
}

limits! {
    RANK: usize = 256, "shapes and layouts", "dimensions";
    TILE_ENTRIES: usize = 512, "tiled layouts", "entries of all tiles together";
    EXPRESSIONS: u64 = 1 << 18, "tiled layouts", "nodes of the index expressions together";
    MEMORY_SPACE: u8 = 127, "tiled layouts", "the number of a memory space";
    TUPLES: usize = 256, "shapes", "tuples inside each other";
    LAYOUT_PARTS: usize = 512, "TensorLayouts", "parts, of dimensions and broadcasts";
    MACHINE_ENTRIES: usize = 64, "machines", "axes, axes of one group, and memories";
    RELAYOUT_BLOCKS: usize = 1 << 14, "relayouts", "blocks of a plan";
    LISTED_COPIES: i64 = 1 << 16, "`--json`", "copies along an axis that are listed";
    MAP_OPERATIONS: usize = 256, "indexing maps", "operations inside each other; a division counts 4";
    MAP_PARENTHESES: usize = 64, "indexing maps", "parentheses inside each other";
    COMPOSED_OPERATIONS: usize = 1 << 20, "compositions of maps", "operations of one expression";
    COMPOSED_DEPTH: usize = 160, "compositions of maps", "operations of one expression inside each other";
    EXPLAINED_OPERATIONS: usize = 1 << 17, "`simplify --explain`", "operations of the map and all steps together";
    NOTATION_NUMBERS: usize = 4096, "notations", "numbers of a list";
    NOTATION_BASES: usize = 62, "notations", "bases of an input of a layout of bits";
    NOTATION_TUPLES: usize = 64, "notations", "tuples of CuTe inside each other";
    NOTATION_MAP_WORK: i128 = 1 << 26, "notations", "elements times operations of a map that is no TensorLayout";
    ALGEBRA_ELEMENTS: i64 = 1 << 20, "the algebra of layouts", "elements that are looked at one by one";
    ALGEBRA_DEPTH: usize = 64, "the algebra of layouts", "operations inside each other, and compositions in a row";
    HLO_ATTRIBUTES: usize = 256, "HLO", "attributes of an instruction";
    HLO_INSIDE: usize = 16, "HLO", "instructions inside instructions of each other";
    HLO_DEVICES: i64 = 1 << 16, "HLO", "devices";
    STABLEHLO_ARRAYS: usize = 1 << 16, "StableHLO", "arrays of a tuple, and results of an operation";
    STABLEHLO_CALLS: usize = 500, "StableHLO", "functions that call each other, the first one included";
    STABLEHLO_REGIONS: usize = 64, "StableHLO", "regions inside each other, that of the function included";
    PLAN_INSTANCES: usize = 1 << 20, "`plan`", "operations of a program with its calls put in";
    PLAN_PLACES: i64 = 1 << 16, "`plan` over places", "places of a machine";
    PLAN_PIECES: i64 = 64, "`plan` over places", "pieces of a dimension along the address of a place";
    COST_SUM: i64 = 1 << 58, "`solve`", "the largest costs of all variables and edges added up, and amounts of a resource";
    MLIR_NESTING: usize = 10_000, "`layout-opt`, `layout-lsp-server`", "open brackets, and signs in a row, of MLIR text";
    ELEMENT_BITS: i64 = 128, "lowering", "bits that `E` gives to an element";
    CONSTANT_ELEMENTS: i64 = 1 << 26, "lowering", "elements of a constant, padding included";
    NESTED_TENSORS: usize = 24, "lowering", "loops and conditions inside each other that hand on tensors";
}
