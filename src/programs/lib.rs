//! Operations on tensors that are programs of loops: templates of MLIR in Jinja.
//!
//! A template is a list of functions, each operation in a line of its own. `%c8` and `%c8_i64` are constants of types
//! `index` and `i64`; a name like `%8` is one of the function around. A function that the template calls and does not
//! have is the caller's: the comparison of a sort.
//!
//! | template | what it does |
//! |---|---|
//! | [`SORT`] | sorts one line of several arrays |

use minijinja::{Environment, UndefinedBehavior, Value};
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

/// `@main` sorts one line of arrays, by `@before` on an element of each array twice.
pub static SORT: Template = Template::new(|| parsed(include_str!("sort.mlir")));

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

    /// The names of a function's arguments, and its body.
    pub fn function(&self, name: &str) -> Option<(Vec<&str>, &str)> {
        let (_, function) = self.0.split_once(&format!("func.func @{name}("))?;
        let (head, rest) = function.split_once(" {\n")?;
        let arguments = head.split('%').skip(1).filter_map(|part| Some(part.split_once(':')?.0));
        Some((arguments.collect(), rest.split_once("\n}")?.0))
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
