//! Programs as templates: the files in `templates/`.
//!
//! Templates are in Jinja. Their names are set by a [`Program`]; besides, there are `name`, the prefix of all functions
//! of the program, `signature`, the arguments and the result of the called function, and the functions below.
//! `{{ a0 }}` is the type of the array `a0`, and `{{ a0.element }}` its element type.

use crate::array::Array;
use crate::element::Element;
use crate::program::Program;
use minijinja::value::{Enumerator, Object, Value};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, path_loader};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// The templates.
static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.set_loader(path_loader(concat!(env!("CARGO_MANIFEST_DIR"), "/differential/templates")));
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_trim_blocks(true);
    templates.set_lstrip_blocks(true);
    templates.add_function("map", map);
    templates.add_function("iterators", iterators);
    templates.add_function("operand", operand);
    templates.add_function("arith", |op: &str, on: &str| Ok::<_, Error>(element(on)?.op(op)));
    templates.add_function("compare", |predicate: &str, on: &str| Ok::<_, Error>(element(on)?.comparison(predicate)));
    templates.add_function("literal", |number: i64, of: &str| Ok::<_, Error>(element(of)?.literal(number)));
    templates.add_function("cast_op", |from: &str, to: &str| Ok::<_, Error>(element(from)?.cast(element(to)?)));
    templates
});

fn element(name: &str) -> Result<Element, Error> {
    Element::named(name).ok_or_else(|| Error::new(ErrorKind::InvalidOperation, format!("`{name}` is no element")))
}

/// A list like `d0, d1`.
fn dims(dims: impl IntoIterator<Item = usize>) -> String {
    dims.into_iter().map(|d| format!("d{d}")).collect::<Vec<_>>().join(", ")
}

/// The affine map from all dimensions of an iteration space to `results`.
fn map(rank: usize, results: Vec<usize>) -> String {
    format!("affine_map<({}) -> ({})>", dims(0..rank), dims(results))
}

/// The iterators of a `linalg.generic` whose output has these dimensions.
fn iterators(rank: usize, output: Vec<usize>) -> String {
    let kind = |d: usize| if output.contains(&d) { "\"parallel\"" } else { "\"reduction\"" };
    format!("[{}]", (0..rank).map(kind).collect::<Vec<_>>().join(", "))
}

/// An operand of `generic`: its name, its type, and the dimensions of the iteration space that index it.
fn operand(name: String, array: Value, dims: Value) -> Value {
    Value::from_iter([("name", Value::from(name)), ("type", array), ("dims", dims)])
}

/// The type of an array, which prints as its text and has an element type.
#[derive(Debug)]
struct Type {
    text: String,
    element: &'static str,
}

impl Type {
    fn of(array: &Array, program: &Program, layouts: bool) -> Value {
        let without = Array { layout: None, ..array.clone() };
        let text = if layouts { array } else { &without }.of(program.kind());
        Value::from_object(Type { text, element: array.element.name })
    }
}

impl Object for Type {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        (key.as_str() == Some("element")).then(|| self.element.into())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&["element"])
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The text of a program with or without its layouts; names of functions begin with `name`.
///
/// # Panics
/// If a template is wrong.
pub fn text(program: &Program, name: &str, layouts: bool) -> String {
    let typed = |array: &Array| Type::of(array, program, layouts);
    let mut names: BTreeMap<String, Value> =
        program.values.iter().map(|(name, value)| ((*name).to_owned(), Value::from_serialize(value))).collect();
    names.extend(program.arrays.iter().map(|(name, array)| ((*name).to_owned(), typed(array))));
    let list = |arrays: &[Array]| arrays.iter().map(typed).collect::<Value>();
    names.extend(program.lists.iter().map(|(name, arrays)| ((*name).to_owned(), list(arrays))));
    names.extend(program.arguments.iter().enumerate().map(|(k, array)| (format!("a{k}"), typed(array))));
    let result = program.result.as_ref().map(typed);
    names.extend(result.iter().map(|result| ("r".to_owned(), result.clone())));

    let inputs = program.arguments.iter().zip(&program.dims).enumerate();
    let inputs = inputs.map(|(k, (array, dims))| operand(format!("%a{k}"), typed(array), Value::from_serialize(dims)));
    names.insert("inputs".to_owned(), inputs.collect());

    let promise = |k: usize, array: &Array| match array.promised(k).filter(|_| layouts) {
        Some(byte) => {
            let number = array.element.number(&vec![byte; array.element.size]) as i64;
            format!(" {{layout.padding = {number}{} : {}}}", array.element.point(), array.element.name)
        }
        None => String::new(),
    };
    let arrays = program.arguments.iter().enumerate();
    let arrays = arrays.map(|(k, array)| format!("%a{k}: {}{}", typed(array), promise(k, array)));
    let arguments: Vec<String> = arrays.chain((0..program.indices.len()).map(|k| format!("%i{k}: index"))).collect();
    let result = result.map(|result| format!(" -> {result}")).unwrap_or_default();
    let signature = format!("({}){result} attributes {{llvm.emit_c_interface}}", arguments.join(", "));
    names.insert("signature".to_owned(), signature.into());
    names.insert("name".to_owned(), name.into());

    let template = format!("{}.mlir", program.template);
    let text = TEMPLATES.get_template(&template).and_then(|template| template.render(names));
    let text = text.unwrap_or_else(|error| panic!("{template}: {error:#}\n{}", json!(program.values)));
    // Empty lines come from macros without output.
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("{line}\n")).collect()
}
