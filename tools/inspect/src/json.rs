//! The line protocol: one JSON request a line, one JSON answer a line, in order.
//!
//! `{"op":"linear_index","text":"f32[3,5]{1,0:T(2,2)}","index":[2,3]}` is answered `{"ok":true,"linear":17}`. A failure
//! is an answer, `{"ok":false,"error":"..","at":n}`, where `at` is the byte of the text at fault, left out where none
//! is; where a request has several texts, `in` says which; `collide` has two elements that share a place. Empty lines
//! are skipped. Each answer is written before the next line is read.

use crate::maps;
use crate::report::{self, Subject};
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Write};
use std::time::Instant;
use tensor_layout::maps::Equality;
use tensor_layout::maps::{Indexing, IndexingMap};
use tensor_layout::notations::Meaning;
use tensor_layout::operations::{Array, Shape};
use tensor_layout::places::ADDRESS;
use tensor_layout::places::{Copies, Held, Misplaced, Placement};
use tensor_layout::text::{Error, instead};
use tensor_layout::tiled::Expansion;

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
    /// Elements that share a place.
    collide: Option<Box<[Vec<i64>; 2]>>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, text: None, collide: None }
    }
}

impl From<Misplaced> for Failure {
    fn from(Misplaced { error, collide }: Misplaced) -> Failure {
        Failure { error, text: None, collide }
    }
}

/// The answer to one line.
fn answer(line: &[u8]) -> Value {
    match fulfil(line) {
        Ok(mut fields) => {
            fields.insert("ok".into(), true.into());
            fields.into()
        }
        Err(Failure { error, text, collide }) => {
            let mut answer = json!({"ok": false, "error": error.message});
            if let Some(at) = error.at {
                answer["at"] = json!(at);
            }
            if let Some(text) = text {
                answer["in"] = text;
            }
            if let Some(collide) = collide {
                answer["collide"] = json!(collide);
            }
            answer
        }
    }
}

type Fields = Map<String, Value>;

/// The operations, by name.
type Operation = fn(&Fields) -> Result<Fields, Failure>;
const OPERATIONS: [(&str, Operation); 8] = [
    ("layout", layout),
    ("linear_index", linear_index),
    ("logical_index", logical_index),
    ("place", place),
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
        let hint = instead(op, &known);
        let op: String = op.chars().take(40).collect();
        return Err(Error::new(format!("unknown operation `{op}`{hint}")).into());
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
    let shape = match report::parse(text)? {
        Subject::Shape(shape) => shape,
        Subject::Places(placement) => return Ok(facts_of_places(&placement)),
    };
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

fn facts_of_places(placement: &Placement) -> Fields {
    let map = placement.map().to_string();
    let results: Vec<&str> = placement.axes().iter().map(String::as_str).chain([ADDRESS]).collect();
    let offset_map = placement.axes().is_empty().then(|| map.clone());
    let fields = [
        ("printed", json!(placement.layout().to_string())),
        ("logical_elements", json!(placement.elements())),
        ("logical_bytes", Value::Null),
        ("padded_elements", json!(placement.padded_elements())),
        ("padded_bytes", Value::Null),
        ("local_elements", json!(placement.local_elements())),
        ("expanded", json!(placement.extents())),
        ("strides", Value::Null),
        ("memory_space", Value::Null),
        ("results", json!(results)),
        ("map", json!(map)),
        ("offset_map", json!(offset_map)),
    ];
    fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// What a request's text lays out.
enum LaidOut {
    Tiled(Expansion),
    Places(Box<Placement>),
}

fn laid_out(request: &Fields) -> Result<LaidOut, Failure> {
    let text = string(request, "text")?;
    let shape = match report::parse(text)? {
        Subject::Shape(shape) => shape,
        Subject::Places(placement) => return Ok(LaidOut::Places(placement)),
    };
    let (array, sizes) =
        report::laid_out(&shape).ok_or_else(|| Error::new(format!("{} has no offsets", kind(&shape))))?;
    Ok(LaidOut::Tiled(Expansion::new(&sizes, &array.layout).map_err(|e| report::in_sizes(text, e))?))
}

/// Refuses a layout of which an address alone says too little.
fn only_address(placement: &Placement) -> Result<(), Error> {
    match placement.axes().first() {
        Some(axis) => Err(Error::new(format!("the layout has the axis {axis}: `place` says where an element is"))),
        None => Ok(()),
    }
}

fn kind(shape: &Shape) -> String {
    match shape {
        Shape::Tuple(_) => "a tuple".to_string(),
        Shape::Array(array) | Shape::Buffer(array) if array.element.is_data() => "an unbounded size".to_string(),
        Shape::Array(array) | Shape::Buffer(array) => format!("`{}`", array.element),
    }
}

/// The index of a request.
fn index(request: &Fields) -> Result<Vec<i64>, Error> {
    let Some(Value::Array(index)) = request.get("index") else {
        return Err(Error::new("`index` must be a list of 64-bit integers"));
    };
    index.iter().map(|i| integer(Some(i), "the entries of `index`")).collect()
}

fn linear_index(request: &Fields) -> Result<Fields, Failure> {
    let laid_out = laid_out(request)?;
    let index = index(request)?;
    let linear = match laid_out {
        LaidOut::Tiled(expansion) => expansion.offset(&index)?,
        LaidOut::Places(placement) => {
            only_address(&placement)?;
            placement.place(&index)?[0]
        }
    };
    Ok(Fields::from_iter([("linear".to_string(), linear.into())]))
}

fn logical_index(request: &Fields) -> Result<Fields, Failure> {
    let laid_out = laid_out(request)?;
    let linear = integer(request.get("linear"), "values of `linear`")?;
    let index = match laid_out {
        LaidOut::Tiled(expansion) => expansion.index(linear)?,
        LaidOut::Places(placement) => {
            only_address(&placement)?;
            let reach = placement.extents()[0];
            if !(0..reach).contains(&linear) {
                let message = format!("offset {linear} is out of range: the layout reaches up to {}", reach - 1);
                return Err(Error::new(message).into());
            }
            match placement.held(&[linear])? {
                Held::Element(index) => Some(index),
                // What strides leave out between the first and the last element.
                Held::Padding | Held::Outside => None,
            }
        }
    };
    let (key, value) = match index {
        Some(index) => ("index", json!(index)),
        None => ("padding", json!(true)),
    };
    Ok(Fields::from_iter([(key.to_string(), value)]))
}

/// The most copies along an axis that are listed.
const LISTED: i64 = 1 << 16;

fn place(request: &Fields) -> Result<Fields, Failure> {
    let laid_out = laid_out(request)?;
    let index = index(request)?;
    let (mut place, mut broadcast) = (Fields::new(), Fields::new());
    match laid_out {
        LaidOut::Tiled(expansion) => drop(place.insert(ADDRESS.into(), expansion.offset(&index)?.into())),
        LaidOut::Places(placement) => {
            let axes = placement.axes().iter().map(String::as_str).chain([ADDRESS]);
            place.extend(axes.zip(placement.place(&index)?).map(|(axis, at)| (axis.to_string(), at.into())));
            for (k, axis) in placement.axes().iter().enumerate() {
                match placement.copies(k) {
                    Copies::All => drop(broadcast.insert(axis.clone(), "all".into())),
                    Copies::Steps(steps) if steps.is_empty() => {}
                    Copies::Steps(steps) => drop(broadcast.insert(axis.clone(), json!(offsets(axis, &steps)?))),
                }
            }
        }
    }
    Ok(Fields::from_iter([("place".to_string(), place.into()), ("broadcast".to_string(), broadcast.into())]))
}

/// All sums of steps, in order.
fn offsets(axis: &str, steps: &[(i64, i64)]) -> Result<Vec<i64>, Error> {
    let count = steps.iter().try_fold(1i64, |n, (extent, _)| n.checked_mul(*extent).filter(|n| *n <= LISTED));
    if count.is_none() {
        return Err(Error::new(format!("there are more than {LISTED} copies along {axis}, too many to list")));
    }
    let mut all = vec![0];
    for (extent, stride) in steps {
        // No sum is larger than the highest coordinate, which fits.
        all = all.iter().flat_map(|at| (0..*extent).map(move |k| at + k * stride)).collect();
    }
    all.sort_unstable();
    Ok(all)
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
        Indexing::parse(text).map_err(|error| Failure { text: Some(k.into()), ..error.into() })
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
    let within = |name: &'static str| move |failure: Failure| Failure { text: Some(name.into()), ..failure };
    let (equality, names) = if is_map(a) || is_map(b) {
        let parse = |text, name| Indexing::parse(text).map_err(Failure::from).map_err(within(name));
        let (a, b) = (parse(a, "a")?, parse(b, "b")?);
        let map = a.map().or(b.map());
        let names = map.map(|map| (0..map.variables()).map(|v| map.name(v)).collect::<Vec<_>>());
        (a.compare(&b), names)
    } else {
        let parse = |text, name| report::parse(text).map_err(Failure::from).map_err(within(name));
        (same(&parse(a, "a")?, &parse(b, "b")?)?, None)
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

/// Whether two texts put the same elements at the same places. Where one is a TensorLayout, which has no element type
/// and no allocation, these do not count.
fn same(a: &Subject, b: &Subject) -> Result<Equality, Error> {
    let meaning = |subject: &Subject| match subject {
        Subject::Places(placement) => Ok(Meaning::from(&**placement)),
        Subject::Shape(shape) => {
            let (array, sizes) =
                report::laid_out(shape).ok_or_else(|| Error::new(format!("{} has no offsets", kind(shape))))?;
            let expansion = Expansion::new(&sizes, &array.layout)?;
            if expansion.is_split() {
                return Err(Error::new("the layout is cut across memories: an element has no one place"));
            }
            Ok(Meaning::of_tiled(&expansion, array.layout.memory_space))
        }
    };
    match (a, b) {
        (Subject::Shape(a), Subject::Shape(b)) => same_layout(a, b),
        _ => Ok(meaning(a)?.compare(&meaning(b)?)),
    }
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
