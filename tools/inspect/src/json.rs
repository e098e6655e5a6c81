//! The line protocol: one JSON request a line, one JSON answer a line, in order.
//!
//! `{"op":"linear_index","text":"f32[3,5]{1,0:T(2,2)}","index":[2,3]}` is answered `{"ok":true,"linear":17}`. A failure
//! is an answer, `{"ok":false,"error":"..","at":n}`, where `at` is the byte of the text at fault, left out where none
//! is; where a request has several texts, `in` says which. Empty lines are skipped. Each answer is written before the
//! next line is read.

use crate::{maps, report};
use layout::equal::Equality;
use layout::expansion::Expansion;
use layout::map::{Indexing, IndexingMap};
use layout::shape::{Array, Shape};
use layout::text::Error;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Write};
use std::time::Instant;

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

/// Why a request failed.
struct Failure {
    error: Error,
    /// Which of several texts is at fault.
    text: Option<Value>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, text: None }
    }
}

/// The answer to one line.
fn answer(line: &[u8]) -> Value {
    match fulfil(line) {
        Ok(mut fields) => {
            fields.insert("ok".into(), true.into());
            fields.into()
        }
        Err(Failure { error, text }) => {
            let mut answer = json!({"ok": false, "error": error.message});
            if let Some(at) = error.at {
                answer["at"] = json!(at);
            }
            if let Some(text) = text {
                answer["in"] = text;
            }
            answer
        }
    }
}

type Fields = Map<String, Value>;

/// The operations, by name.
type Operation = fn(&Fields) -> Result<Fields, Failure>;
const OPERATIONS: [(&str, Operation); 7] = [
    ("layout", layout),
    ("linear_index", linear_index),
    ("logical_index", logical_index),
    ("equal", equal),
    ("simplify", simplify),
    ("compose", compose),
    ("evaluate", evaluate),
];

fn fulfil(line: &[u8]) -> Result<Fields, Failure> {
    let line = std::str::from_utf8(line).map_err(|_| Error::new("the line is not UTF-8"))?;
    let request: Value = serde_json::from_str(line).map_err(|error| Error::new(format!("not JSON: {error}")))?;
    let Value::Object(request) = request else { return Err(Error::new("a request is a JSON object").into()) };
    let op = string(&request, "op")?;
    let known: Vec<_> = OPERATIONS.iter().map(|(name, _)| *name).collect();
    let Some(index) = known.iter().position(|name| *name == op) else {
        let op: String = op.chars().take(40).collect();
        return Err(Error::new(format!("unknown operation `{op}`: one of {} is known", known.join(", "))).into());
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

fn layout(request: &Fields) -> Result<Fields, Failure> {
    let text = string(request, "text")?;
    let shape = report::parse(text)?;
    let printed = shape.to_string();
    let mut fields = Fields::new();
    match report::laid_out(&shape) {
        Some((array, sizes)) => {
            let expansion = Expansion::new(&sizes, &array.layout);
            expansion.and_then(|e| facts(&mut fields, array, &e)).map_err(|e| report::in_sizes(text, e))?;
        }
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
    let text = string(request, "text")?;
    let shape = report::parse(text)?;
    let (array, sizes) =
        report::laid_out(&shape).ok_or_else(|| Error::new(format!("{} has no offsets", kind(&shape))))?;
    Expansion::new(&sizes, &array.layout).map_err(|e| report::in_sizes(text, e))
}

fn kind(shape: &Shape) -> String {
    match shape {
        Shape::Tuple(_) => "a tuple".to_string(),
        Shape::Array(array) | Shape::Buffer(array) if array.element.is_data() => "an unbounded size".to_string(),
        Shape::Array(array) | Shape::Buffer(array) => format!("`{}`", array.element),
    }
}

fn linear_index(request: &Fields) -> Result<Fields, Failure> {
    let expansion = expansion(request)?;
    let Some(Value::Array(index)) = request.get("index") else {
        return Err(Error::new("`index` must be a list of 64-bit integers").into());
    };
    let index =
        index.iter().map(|i| integer(Some(i), "the entries of `index`")).collect::<Result<Vec<i64>, Error>>()?;
    let linear = expansion.offset(&index)?;
    Ok(Fields::from_iter([("linear".to_string(), linear.into())]))
}

fn logical_index(request: &Fields) -> Result<Fields, Failure> {
    let expansion = expansion(request)?;
    let linear = integer(request.get("linear"), "values of `linear`")?;
    let (key, value) = match expansion.index(linear)? {
        Some(index) => ("index", json!(index)),
        None => ("padding", json!(true)),
    };
    Ok(Fields::from_iter([(key.to_string(), value)]))
}

fn simplify(request: &Fields) -> Result<Fields, Failure> {
    let map = Indexing::parse(string(request, "map")?)?;
    let explain = match request.get("explain") {
        None => false,
        Some(Value::Bool(explain)) => *explain,
        Some(_) => return Err(Error::new("`explain` must be true or false").into()),
    };
    let start = Instant::now();
    let simple = map.simplify();
    let ns = start.elapsed().as_nanos() as u64;
    let mut fields = Fields::from_iter([("map".to_string(), simple.to_string().into()), ("ns".to_string(), ns.into())]);
    if explain {
        let steps = match &map {
            Indexing::Map(map) => maps::steps(map)?,
            Indexing::KnownEmpty | Indexing::Undefined => Vec::new(),
        };
        fields.insert("steps".into(), steps.into_iter().map(step).collect::<Vec<_>>().into());
    }
    Ok(fields)
}

fn step(step: maps::Told) -> Value {
    let mut fields = json!({
        "rule": step.rule.name(), "equation": step.rule.equation(), "about": step.about, "before": step.before,
        "after": step.after, "fact": step.fact,
    });
    if let Some(k) = step.result {
        fields["result"] = k.into();
    }
    fields
}

fn compose(request: &Fields) -> Result<Fields, Failure> {
    let wrong = || Error::new("`maps` must be a list of strings");
    let Some(Value::Array(texts)) = request.get("maps") else { return Err(wrong().into()) };
    let parse = |(k, text): (usize, &Value)| {
        let text = text.as_str().ok_or_else(wrong)?;
        Indexing::parse(text).map_err(|error| Failure { error, text: Some(k.into()) })
    };
    let maps = texts.iter().enumerate().map(parse).collect::<Result<Vec<_>, _>>()?;
    let start = Instant::now();
    let composed = Indexing::compose(&maps)?;
    let ns = start.elapsed().as_nanos() as u64;
    Ok(Fields::from_iter([("map".to_string(), composed.to_string().into()), ("ns".to_string(), ns.into())]))
}

fn evaluate(request: &Fields) -> Result<Fields, Failure> {
    let map = Indexing::parse(string(request, "map")?)?;
    let Some(Value::Object(point)) = request.get("point") else {
        return Err(Error::new("`point` must be an object of 64-bit integers, one for each variable").into());
    };
    let results = match map {
        Indexing::Undefined => return Err(Error::new("the map is undefined").into()),
        Indexing::KnownEmpty => None,
        Indexing::Map(map) => {
            let names: Vec<String> = (0..map.variables()).map(|v| map.name(v)).collect();
            if let Some(unknown) = point.keys().find(|name| !names.contains(name)) {
                let unknown: String = unknown.chars().take(40).collect();
                return Err(Error::new(format!("there is no variable `{unknown}`")).into());
            }
            let value = |name: &String| match point.get(name) {
                None => Err(Error::new(format!("`point` has no value for `{name}`"))),
                value => integer(value, "the values of `point`"),
            };
            map.evaluate(&names.iter().map(value).collect::<Result<Vec<_>, _>>()?)?
        }
    };
    let (key, value) = match results {
        Some(results) => ("results", json!(results)),
        None => ("outside", json!(true)),
    };
    Ok(Fields::from_iter([(key.to_string(), value)]))
}

/// Whether a text is a map and not a shape.
fn is_map(text: &str) -> bool {
    text.contains("->") || matches!(text.trim(), "UNDEFINED") || text.trim_start().starts_with("KNOWN")
}

fn equal(request: &Fields) -> Result<Fields, Failure> {
    let (a, b) = (string(request, "a")?, string(request, "b")?);
    let within = |text: &'static str| move |error| Failure { error, text: Some(text.into()) };
    let (equality, names) = if is_map(a) || is_map(b) {
        let (a, b) = (Indexing::parse(a).map_err(within("a"))?, Indexing::parse(b).map_err(within("b"))?);
        let map = a.map().or(b.map());
        let names = map.map(|map| (0..map.variables()).map(|v| map.name(v)).collect::<Vec<_>>());
        (a.compare(&b), names)
    } else {
        let (a, b) = (report::parse(a).map_err(within("a"))?, report::parse(b).map_err(within("b"))?);
        (same_layout(&a, &b)?, None)
    };
    let mut fields = Fields::new();
    match equality {
        Equality::Equal => drop(fields.insert("equal".into(), true.into())),
        Equality::Different { witness, reason } => {
            let witness = witness.map(|point| match names {
                Some(names) => {
                    names.into_iter().zip(point).map(|(name, x)| (name, x.into())).collect::<Fields>().into()
                }
                None => json!(point),
            });
            fields.extend([
                ("equal".to_string(), false.into()),
                ("witness".to_string(), json!(witness)),
                ("reason".to_string(), reason.into()),
            ]);
        }
        Equality::Unknown { reason } => {
            fields.extend([
                ("equal".to_string(), Value::Null),
                ("witness".to_string(), Value::Null),
                ("unknown".to_string(), true.into()),
                ("reason".to_string(), reason.into()),
            ]);
        }
    }
    Ok(fields)
}

/// Whether two shapes have the same elements at the same places.
fn same_layout(a: &Shape, b: &Shape) -> Result<Equality, Error> {
    let different = |reason: String| Ok(Equality::Different { witness: None, reason });
    if a == b {
        return Ok(Equality::Equal);
    }
    if let (Shape::Tuple(x), Shape::Tuple(y)) = (a, b) {
        if x.len() != y.len() {
            return different(format!("the tuples have {} and {} elements", x.len(), y.len()));
        }
        for (k, (x, y)) in x.iter().zip(y).enumerate() {
            match same_layout(x, y)? {
                Equality::Equal => {}
                Equality::Different { reason, .. } => return different(format!("element {k} of the tuple: {reason}")),
                Equality::Unknown { reason } => {
                    return Ok(Equality::Unknown { reason: format!("element {k} of the tuple: {reason}") });
                }
            }
        }
        return Ok(Equality::Equal);
    }
    let (Some((x, sizes)), Some((y, other))) = (report::laid_out(a), report::laid_out(b)) else {
        return different(format!("{a} is not {b}"));
    };
    let bits = |array: &Array| array.layout.element_bits;
    for (what, x, y) in [
        ("element types are", x.element.to_string(), y.element.to_string()),
        ("sizes are", format!("{sizes:?}"), format!("{other:?}")),
        ("memory spaces are", x.layout.memory_space.to_string(), y.layout.memory_space.to_string()),
        ("bits of an element, 0 for the type's own, are", bits(x).to_string(), bits(y).to_string()),
    ] {
        if x != y {
            return different(format!("the {what} {x} and {y}"));
        }
    }
    let (e, f) = (Expansion::new(&sizes, &x.layout)?, Expansion::new(&sizes, &y.layout)?);
    if x.layout.splits != y.layout.splits {
        return different("they are cut across memories in different places".to_string());
    }
    let map = |e: &Expansion| IndexingMap::of_sizes(&sizes, vec![e.offset_expr()]);
    let offsets = map(&e).compare(&map(&f));
    if let Equality::Different { witness: Some(index), .. } = &offsets {
        let reason = match (e.offset(index), f.offset(index)) {
            (Ok(a), Ok(b)) => format!("the offsets are {a} and {b}"),
            _ => "the offsets differ".to_string(),
        };
        return Ok(Equality::Different { witness: Some(index.clone()), reason });
    }
    let sizes = (e.allocated_elements(), f.allocated_elements());
    if offsets == Equality::Equal && sizes.0 != sizes.1 {
        return different(format!(
            "the elements are at the same offsets, but {} and {} are allocated",
            sizes.0, sizes.1
        ));
    }
    Ok(offsets)
}
