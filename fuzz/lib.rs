//! Checks of every text that a user can write: in the maths, in the tools, and in MLIR with the dialect.
//!
//! A check takes bytes and panics if they show an error of ours: a panic in the code under test, a broken law such as
//! `parse(print(x)) == x`, or a refusal without a message. A text that is refused with a message passes.
//! Three programs run the checks:
//!
//! - `cargo test -p layout-fuzz` runs each for about a second, on its corpus first and then on mutations of it;
//! - `cargo run --release -p layout-fuzz -- map 60` does the same for 60 seconds or another time;
//! - `tools/fuzz.sh map 60` builds the target with the coverage instrumentation of libFuzzer, which then steers the
//!   mutations. It needs no nightly toolchain.
//!
//! A corpus is one file with texts between lines `// -----`. An input that showed an error is added to it.
//!
//! `mutate` changes texts by tokens: the lexer refuses most changed bytes, so they find no errors behind it.
//! [`grammar`] derives texts from the rules of `grammars/`, and changes them by these rules: most are valid. [`Source`]
//! has both.

mod checks;
pub mod grammar;
mod mutate;
mod source;

pub use mutate::Mutator;
pub use source::Source;

/// A check, and its initial texts.
pub struct Check {
    /// The name of the check, its target and its corpus.
    pub name: &'static str,
    /// A description of the texts.
    pub about: &'static str,
    /// The check itself, which panics if the text shows an error.
    pub check: fn(&str),
    /// The texts of the corpus, in one file.
    pub corpus: &'static str,
    /// The grammar of the texts.
    pub grammar: &'static str,
}

macro_rules! checks {
    ($($name:literal: $about:literal, $check:path;)+) => {
        /// All checks.
        pub const CHECKS: &[Check] = &[$(Check {
            name: $name,
            about: $about,
            check: $check,
            corpus: include_str!(concat!("corpus/", $name, ".txt")),
            grammar: include_str!(concat!("grammars/", $name, ".txt")),
        }),+];
    };
}

checks! {
    "shape": "shapes and tiled layouts as XLA prints them", checks::texts::shape;
    "tensor_layout": "TensorLayouts", checks::texts::tensor_layout;
    "relayout": "two TensorLayouts of a tensor, and a machine: three lines", checks::texts::relayout;
    "machine": "machines, and a TensorLayout on the second line", checks::texts::machine;
    "map": "indexing maps, on a thread with a stack of 128 KiB", checks::texts::map;
    "notation": "layouts in the notations of other projects, written in all others", checks::texts::notation;
    "algebra": "expressions of the algebra of layouts", checks::texts::algebra;
    "hlo": "HLO modules: reading, analysis, translation to MLIR", checks::hlo::hlo;
    "json": "a line for `layout-inspect --json`", checks::json::json;
    "lsp": "messages for `layout-lsp-server`, one a line", checks::lsp::lsp;
    "pipeline": "pipelines of passes, on one module", checks::mlir::pipeline;
    "attribute": "attributes of the dialect, and types with them", checks::mlir::attribute;
    "module": "modules of MLIR: reading, printing, verifiers", checks::mlir::module;
    "lowering": "modules of MLIR through the pipelines", checks::mlir::lowering;
}

impl Check {
    /// The check with this name.
    pub fn named(name: &str) -> Option<&'static Check> {
        CHECKS.iter().find(|check| check.name == name)
    }

    /// The texts of the corpus.
    pub fn texts(&self) -> Vec<&'static str> {
        self.corpus.split("// -----\n").filter(|text| !text.trim().is_empty()).map(|text| text.trim_end()).collect()
    }
}

/// Runs a check on bytes; bytes that are not UTF-8 pass.
///
/// # Panics
/// If there is no such check, and as the check does.
pub fn check(name: &str, data: &[u8]) {
    let known = Check::named(name).unwrap_or_else(|| panic!("unknown check `{name}`"));
    if let Ok(text) = std::str::from_utf8(data) {
        (known.check)(text);
    }
}

/// A mutation for libFuzzer: by tokens, now and then a text of the grammar, and now and then its own (`other`) by
/// bytes. Returns the new size, at most `most`.
pub fn mutate_in_place(
    name: &str,
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    other: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    thread_local! {
        static SOURCE: std::cell::OnceCell<Source> = const { std::cell::OnceCell::new() };
    }
    let Ok(text) = std::str::from_utf8(&data[..size]) else { return other(data, size, most) };
    if seed.is_multiple_of(4) {
        return other(data, size, most);
    }
    let of_check = || Source::new(Check::named(name).expect("targets have the names of checks"));
    let mut rng = fastrand::Rng::with_seed(seed.into());
    let new = SOURCE.with(|source| {
        let source = source.get_or_init(of_check);
        if seed % 8 == 1 { source.by_grammar(&mut rng) } else { source.mutator.mutate(text, &mut rng) }
    });
    let new = &new.as_bytes()[..new.len().min(most).min(data.len())];
    data[..new.len()].copy_from_slice(new);
    new.len()
}
