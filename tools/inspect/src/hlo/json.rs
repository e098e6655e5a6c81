//! The instructions as JSON, one object a line, for programs.

use super::rows::{Access, Entry, Program, RunTime};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tensor_layout::analysis::{Count, Usage};
use tensor_layout::operations::Shape;
use tensor_layout::text::Error;

/// What is said of an instruction.
#[derive(Serialize)]
struct Object<'a> {
    name: &'a str,
    opcode: &'a str,
    shape: String,
    computation: &'a str,
    root: bool,
    /// Where the result is one array: its operands.
    #[serde(skip_serializing_if = "Option::is_none")]
    operands: Option<Vec<Operand>>,
    /// Where the result is a tuple: the operands of each of its leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<Vec<Operand>>>,
    /// The operands by the names of the fusion's parameters; a list for a tuple.
    #[serde(skip_serializing_if = "Option::is_none")]
    fusion: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
}

/// What is read and fed of one leaf of an operand.
#[derive(Serialize)]
struct Operand {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<usize>,
    output_to_input: Vec<String>,
    input_to_output: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runtime: Vec<Directed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tiles: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undefined: Option<String>,
}

/// A run-time value of a map, and in which of the two lists the map is.
#[derive(Serialize)]
struct Directed {
    direction: &'static str,
    #[serde(flatten)]
    value: RunTime,
}

/// One JSON object for each instruction.
///
/// # Errors
/// An answer does not fit in 64 bits.
pub fn objects(program: &mut Program, chosen: &[(usize, usize)]) -> Result<String, Error> {
    let mut out = String::new();
    for &(c, k) in chosen {
        let rows = program.rows(c, k)?;
        let remarks = program.remarks(c, k);
        let (computation, instruction) = program.at(c, k);
        let tuple = matches!(instruction.shape, Shape::Tuple(_));
        let fusion = (instruction.opcode == "fusion").then(|| {
            let called = &program.module.computations[instruction.called[0]];
            let name = |p: usize| called.instructions[called.parameters[p]].name.as_str();
            let mut results = rows.iter().map(|row| by_parameter(row, name));
            if tuple { results.collect() } else { results.next().unwrap_or(json!({})) }
        });
        let mut operands = rows.iter().map(|row| row.iter().map(Operand::new).collect::<Vec<_>>());
        let object = Object {
            name: &instruction.name,
            opcode: &instruction.opcode,
            shape: instruction.shape.to_string(),
            computation: &computation.name,
            root: k == computation.root,
            operands: (!tuple).then(|| operands.next().unwrap_or_default()),
            results: tuple.then(|| operands.collect()),
            fusion,
            remarks,
        };
        // As a `Value`, whose keys are in alphabetical order.
        out += &format!("{}\n", json!(object));
    }
    Ok(out)
}

/// The operands of one result under the names of the parameters. A parameter that is a tuple has a list of its leaves.
fn by_parameter<'a>(row: &[Entry], parameter: impl Fn(usize) -> &'a str) -> Value {
    let mut all = Map::new();
    for entry in row {
        let mut operand = Operand { name: None, ..Operand::new(entry) };
        for Directed { value, .. } in &mut operand.runtime {
            if let Some(own) = value.operand {
                value.source = parameter(own).to_string();
            }
        }
        let own = all.entry(parameter(entry.number)).or_insert_with(|| json!([]));
        match (entry.part, own.as_array_mut()) {
            (Some(_), Some(parts)) => parts.push(json!(operand)),
            _ => *own = json!(operand),
        }
    }
    Value::Object(all)
}

impl Operand {
    fn new(Entry { name, part, reads, feeds, usage, tiles, .. }: &Entry) -> Operand {
        let directed = |access: &Access, direction| {
            let each = access.run_time.iter().cloned();
            each.map(|value| Directed { direction, value }).collect::<Vec<_>>()
        };
        let mut runtime = directed(reads, "output_to_input");
        runtime.extend(directed(feeds, "input_to_output"));
        Operand {
            name: Some(name.clone()),
            part: *part,
            output_to_input: reads.maps.clone(),
            input_to_output: feeds.maps.clone(),
            runtime,
            usage: usage.map(|Usage { size, elements, reads, .. }| {
                json!({"size": number(size), "elements": range(elements), "reads": range(reads)})
            }),
            tiles: tiles.clone(),
            undefined: reads.unknown.first().or(feeds.unknown.first()).cloned(),
        }
    }
}

/// A number; as a string where it does not fit in 64 bits.
fn number(n: u128) -> Value {
    u64::try_from(n).map_or_else(|_| json!(n.to_string()), |n| json!(n))
}

/// A number, or the least and the greatest that it may be.
fn range(count: Count) -> Value {
    match count.exact() {
        Some(n) => number(n),
        None => json!([number(count.least), count.most.map(number)]),
    }
}
