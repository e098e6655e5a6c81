//! The line protocol: one JSON request a line, one JSON answer a line, in order.
//!
//! `{"op":"linear_index","text":"f32[3,5]{1,0:T(2,2)}","index":[2,3]}` is answered `{"ok":true,"linear":17}`. A failure
//! is an answer, `{"ok":false,"error":"..","at":n}`, where `at` is the byte of the text at fault, left out where none
//! is. Empty lines are skipped. Each answer is written before the next line is read.

use crate::{maps, report};
use layout::expansion::Expansion;
use layout::shape::{Array, Shape};
use layout::text::Error;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Write};

/// Answers every line of `input`.
///
/// # Errors
/// Only those of reading and writing.
pub fn serve(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? != 0 {
        if !line.trim_ascii().is_empty() {
            writeln!(output, "{}", answer(&line))?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// The answer to one line.
fn answer(line: &[u8]) -> Value {
    match fulfil(line) {
        Ok(mut fields) => {
            fields.insert("ok".into(), true.into());
            fields.into()
        }
        Err(Error { at: Some(at), message }) => json!({"ok": false, "error": message, "at": at}),
        Err(Error { at: None, message }) => json!({"ok": false, "error": message}),
    }
}

type Fields = Map<String, Value>;

/// The operations, by name.
type Operation = fn(&Fields) -> Result<Fields, Error>;
const OPERATIONS: [(&str, Operation); 3] =
    [("layout", layout), ("linear_index", linear_index), ("logical_index", logical_index)];

fn fulfil(line: &[u8]) -> Result<Fields, Error> {
    let line = std::str::from_utf8(line).map_err(|_| Error::new("the line is not UTF-8"))?;
    let request: Value = serde_json::from_str(line).map_err(|error| Error::new(format!("not JSON: {error}")))?;
    let Value::Object(request) = request else { return Err(Error::new("a request is a JSON object")) };
    let op = string(&request, "op")?;
    let known: Vec<_> = OPERATIONS.iter().map(|(name, _)| *name).collect();
    let Some(index) = known.iter().position(|name| *name == op) else {
        let op: String = op.chars().take(40).collect();
        return Err(Error::new(format!("unknown operation `{op}`: one of {} is known", known.join(", "))));
    };
    OPERATIONS[index].1(&request)
}

fn string<'a>(request: &'a Fields, key: &str) -> Result<&'a str, Error> {
    match request.get(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Error::new(format!("`{key}` must be a string"))),
        None => Err(Error::new(format!("`{key}` is missing"))),
    }
}

/// An integer, of which JSON has a few spellings that are not: `1.0`, `1e3`, and what 64 bits do not hold.
fn integer(value: Option<&Value>, what: &str) -> Result<i64, Error> {
    value.and_then(Value::as_i64).ok_or_else(|| Error::new(format!("{what} must be 64-bit integers")))
}

fn layout(request: &Fields) -> Result<Fields, Error> {
    let shape = report::parse(string(request, "text")?)?;
    let printed = shape.to_string();
    let mut fields = Fields::new();
    match report::laid_out(&shape) {
        Some((array, sizes)) => facts(&mut fields, array, &Expansion::new(&sizes, &array.layout)?)?,
        None => {
            for key in [
                "logical_elements",
                "logical_bytes",
                "padded_elements",
                "padded_bytes",
                "expanded",
                "strides",
                "memory_space",
                "map",
                "offset_map",
            ] {
                fields.insert(key.into(), Value::Null);
            }
        }
    }
    fields.insert("printed".into(), printed.into());
    Ok(fields)
}

fn facts(fields: &mut Fields, array: &Array, expansion: &Expansion) -> Result<(), Error> {
    // Cut across memories, an element has no one place.
    let maps = (!expansion.is_split()).then(|| maps::texts(expansion));
    let (map, offset_map) = maps.unzip();
    for (key, value) in [
        ("logical_elements", json!(expansion.logical_elements()?)),
        ("logical_bytes", json!(expansion.logical_bytes(array.element)?)),
        ("padded_elements", json!(expansion.allocated_elements())),
        ("padded_bytes", json!(expansion.padded_bytes(array.element)?)),
        ("expanded", json!(expansion.sizes())),
        ("strides", json!(expansion.strides())),
        ("memory_space", json!(array.layout.memory_space)),
        ("map", json!(map)),
        ("offset_map", json!(offset_map)),
    ] {
        fields.insert(key.into(), value);
    }
    Ok(())
}

/// The array of a request's text, laid out.
fn expansion(request: &Fields) -> Result<Expansion, Error> {
    let shape = report::parse(string(request, "text")?)?;
    let (array, sizes) =
        report::laid_out(&shape).ok_or_else(|| Error::new(format!("{} has no offsets", kind(&shape))))?;
    Expansion::new(&sizes, &array.layout)
}

fn kind(shape: &Shape) -> String {
    match shape {
        Shape::Tuple(_) => "a tuple".to_string(),
        Shape::Array(array) | Shape::Buffer(array) if array.element.is_data() => "an unbounded size".to_string(),
        Shape::Array(array) | Shape::Buffer(array) => format!("`{}`", array.element),
    }
}

fn linear_index(request: &Fields) -> Result<Fields, Error> {
    let expansion = expansion(request)?;
    let Some(Value::Array(index)) = request.get("index") else {
        return Err(Error::new("`index` must be a list of 64-bit integers"));
    };
    let index =
        index.iter().map(|i| integer(Some(i), "the entries of `index`")).collect::<Result<Vec<i64>, Error>>()?;
    let linear = expansion.offset(&index)?;
    Ok(Fields::from_iter([("linear".to_string(), linear.into())]))
}

fn logical_index(request: &Fields) -> Result<Fields, Error> {
    let expansion = expansion(request)?;
    let linear = integer(request.get("linear"), "values of `linear`")?;
    let (key, value) = match expansion.index(linear)? {
        Some(index) => ("index", json!(index)),
        None => ("padding", json!(true)),
    };
    Ok(Fields::from_iter([(key.to_string(), value)]))
}
