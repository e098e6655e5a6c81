//! Operations on tensors that are programs of loops: templates of MLIR in Jinja.
//!
//! A template is a list of functions, each operation in a line of its own. `%c8` and `%c8_i64` are constants of types
//! `index` and `i64`; a name like `%8` is one of the function around. A function that the template calls and does not
//! have is the caller's: the comparison of a sort, the combination of a scatter.
//!
//! | template | what it does |
//! |---|---|
//! | [`SORT`] | sorts one line of several arrays |
//! | [`LINES`] | sorts all lines of several arrays, with `SORT` |
//! | [`POSITIONS`] | the position of each element along a dimension |
//! | [`SCATTER`] | combines blocks of updates into arrays |
//! | [`GATHER`] | takes blocks of an array |
//! | [`SCAN`] | running combinations |
//! | [`ATTENTION`] | attention with a scale and a mask |
//! | [`FFT_STAGE`] | one stage of a Fourier transform |

use minijinja::{Environment, UndefinedBehavior, Value};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A template, parsed at its first use.
pub type Template = LazyLock<Environment<'static>>;

/// Parses a template; a parameter that it uses must be given.
///
/// # Panics
/// Where the text is not Jinja.
pub fn parsed(text: &'static str) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_template("", text).unwrap_or_else(|error| panic!("{error:#}"));
    environment
}

/// The macros of loop nests, for the beginning of a template that uses them.
#[macro_export]
macro_rules! with_nests {
    ($file:literal) => {
        concat!(include_str!("nest.mlir"), include_str!($file))
    };
}

/// `@main` sorts one line of arrays, by `@before` on an element of each array twice.
pub static SORT: Template = Template::new(|| parsed(include_str!("sort.mlir")));
/// `@lines` sorts all lines of arrays by the `@main` of [`SORT`], and has its `@before`, by `@compare`.
pub static LINES: Template = Template::new(|| parsed(with_nests!("lines.mlir")));
/// `@main` makes the position of each element along a dimension.
pub static POSITIONS: Template = Template::new(|| parsed(include_str!("positions.mlir")));
/// `@main` takes blocks of an array.
pub static GATHER: Template = Template::new(|| parsed(include_str!("gather.mlir")));
/// `@main` computes running combinations, by `@combine`.
pub static SCAN: Template = Template::new(|| parsed(with_nests!("scan.mlir")));
/// `@main` computes attention; `@score` changes a score.
pub static ATTENTION: Template = Template::new(|| parsed(include_str!("attention.mlir")));
/// `@main` makes one stage of a Fourier transform.
pub static FFT_STAGE: Template = Template::new(|| parsed(with_nests!("fft_stage.mlir")));
/// `@main` combines blocks of updates into arrays, by `@combine`.
pub static SCATTER: Template = Template::new(|| parsed(with_nests!("scatter.mlir")));

/// The functions of a template with its parameters filled in.
pub struct Program(String);

impl Program {
    /// Fills in the parameters.
    ///
    /// # Panics
    /// Where a parameter is missing.
    pub fn new(template: &Template, values: Value) -> Program {
        let text = template.get_template("").and_then(|template| template.render(values));
        Program(text.unwrap_or_else(|error| panic!("{error:#}")))
    }

    /// The functions of both programs.
    pub fn and(self, other: Program) -> Program {
        Program(self.0 + &other.0)
    }

    /// The names of a function's arguments, and its body.
    pub fn function(&self, name: &str) -> Option<(Vec<&str>, &str)> {
        let (_, function) = self.0.split_once(&format!("func.func @{name}("))?;
        let (head, rest) = function.split_once(" {\n")?;
        let arguments = head.split('%').skip(1).filter_map(|part| Some(part.split_once(':')?.0));
        Some((arguments.collect(), rest.split_once("\n}")?.0))
    }

    /// The functions as the text of a module; each function has the constants that it names.
    pub fn module(&self) -> String {
        let mut text = String::new();
        for part in self.0.split_inclusive("\n}") {
            let Some((head, body)) = part.split_once(" {\n") else {
                text += part;
                continue;
            };
            text += &format!("{head} {{\n");
            for name in constants(body).collect::<BTreeSet<_>>() {
                let (value, of) = name.split_once('_').unwrap_or((name, "index"));
                text += &format!("  %c{name} = arith.constant {value} : {of}\n");
            }
            text += body;
        }
        text
    }
}

/// The constants in the body of a function, without `%c`: `8`, `8_i64`.
pub fn constants(body: &str) -> impl Iterator<Item = &str> {
    let of = |text: &'_ str| text.find(|c: char| !is_of_name(c)).unwrap_or(text.len());
    let named = body.split("%c").skip(1).filter(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    named.map(move |text| &text[..of(text)])
}

/// Whether a character continues the name of a value.
pub fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
