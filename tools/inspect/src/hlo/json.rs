//! The instructions as JSON, one object a line, for programs.

use super::origins::{Provenance, provenance};
use super::rows::{Access, Entry, Program, Row, RunTime};
use super::summary::{Kind, Sizes};
use layout_console::Stop;
use layout_plan::memory::{Footprint, RelayoutKind, relayout};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::Write;
use tensor_layout::analysis::{Count, Usage};
use tensor_layout::operations::{Shape, leaves};

/// An instruction: its accesses, and its memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Instruction")]
pub struct Object<'a> {
    name: &'a str,
    opcode: &'a str,
    shape: String,
    computation: &'a str,
    root: bool,
    /// The bytes of the result's arrays, without padding and with it; left out where it has none.
    #[serde(flatten)]
    bytes: Option<Sizes>,
    /// The memory space of its first array.
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<u8>,
    /// What its first buffer is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    #[serde(flatten)]
    origin: Provenance,
    /// Of an instruction that only moves bytes: what moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    relayout: Option<&'static str>,
    /// Where the result is one array: its operands.
    #[serde(skip_serializing_if = "Option::is_none")]
    operands: Option<Vec<Operand>>,
    /// Where the result is a tuple: the operands of each of its leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<Vec<Operand>>>,
    /// The operands by the names of the fusion's parameters; a list for a tuple.
    #[serde(skip_serializing_if = "Option::is_none")]
    fusion: Option<Value>,
    /// The operands, or the leaves of them, that no result reads, where they are in no list above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    unread: Vec<UnreadOperand<'a>>,
    /// Why the operands of some results are in no list above.
    #[serde(skip_serializing_if = "Option::is_none")]
    undefined: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    #[schemars(default)]
    remarks: &'a [String],
}

/// An operand of which nothing is read, or the first and the last of its leaves of which nothing is.
#[derive(Serialize, JsonSchema)]
struct UnreadOperand<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<[usize; 2]>,
}

/// What is read and fed of one leaf of an operand.
#[derive(Serialize, JsonSchema)]
struct Operand {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<usize>,
    output_to_input: Vec<String>,
    input_to_output: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    runtime: Vec<Directed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    tiles: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undefined: Option<String>,
}

/// A run-time value of a map, and in which of the two lists the map is.
#[derive(Serialize, JsonSchema)]
struct Directed {
    direction: &'static str,
    #[serde(flatten)]
    value: RunTime,
}

/// One JSON object for each instruction, a line each.
///
/// # Errors
/// An answer does not fit in 64 bits; the text cannot be written.
pub fn objects(program: &mut Program, chosen: &[(usize, usize)], to: &mut dyn Write) -> Result<(), Stop> {
    // As a `Value`, whose keys are in alphabetical order.
    each(program, chosen, &mut |object| Ok(writeln!(to, "{}", json!(object))?))
}

/// Passes each instruction to `say` as soon as it is analysed.
///
/// # Errors
/// An answer does not fit in 64 bits; errors of `say`.
pub fn each(
    program: &mut Program,
    chosen: &[(usize, usize)],
    say: &mut dyn FnMut(&Object) -> Result<(), Stop>,
) -> Result<(), Stop> {
    for &(c, k) in chosen {
        let found = program.found(c, k)?;
        let (computation, instruction) = program.at(c, k);
        let names: Vec<&str> = instruction.operands.iter().map(|k| &*computation.instructions[*k].name).collect();
        let tuple = matches!(instruction.shape, Shape::Tuple(_));
        let fusion = (instruction.opcode == "fusion").then(|| {
            let called = &program.module.computations[instruction.called[0]];
            let parameters = called.parameters.iter().map(|p| &*called.instructions[*p].name);
            let parameters: Vec<&str> = parameters.collect();
            let mut results = found.rows.iter().map(|row| by_parameter(&row.entries, &parameters));
            if tuple { results.collect() } else { results.next().unwrap_or(json!({})) }
        });
        let of = |row: &Row| row.entries.iter().map(|entry| Operand::new(entry, &names)).collect::<Vec<_>>();
        let mut operands = found.rows.iter().map(of);
        let mut undefined: Vec<_> = found.rows.iter().map(|row| row.others.as_deref()).collect();
        undefined.retain(Option::is_some);
        let object = Object {
            name: &instruction.name,
            opcode: &instruction.opcode,
            shape: instruction.shape.to_string(),
            computation: &computation.name,
            root: k == computation.root,
            bytes: Footprint::of_all(&instruction.shape)?.map(Sizes::from),
            space: leaves(&instruction.shape).first().map(|array| array.layout.memory_space),
            kind: program.kinds.as_ref().and_then(|kinds| kinds[c][k]),
            origin: provenance(&instruction.source),
            relayout: relayout(computation, instruction)?.map(|moved| match moved.kind {
                RelayoutKind::Layout => "layout",
                RelayoutKind::Space { .. } => "space",
                RelayoutKind::Same => "none",
            }),
            operands: (!tuple).then(|| operands.next().unwrap_or_default()),
            results: tuple.then(|| operands.collect()),
            unread: found.unread.iter().map(|u| UnreadOperand { name: names[u.number], parts: u.parts }).collect(),
            undefined: undefined.first().copied().flatten(),
            fusion,
            remarks: &found.remarks,
        };
        say(&object)?;
    }
    Ok(())
}

/// The operands of one result, by the names of the parameters. A tuple parameter has a list of its leaves.
fn by_parameter(row: &[Entry], parameters: &[&str]) -> Value {
    let mut all = Map::new();
    for entry in row {
        let operand = Operand { name: None, ..Operand::new(entry, parameters) };
        let own = all.entry(parameters[entry.number]).or_insert_with(|| json!([]));
        match (entry.part, own.as_array_mut()) {
            (Some(_), Some(parts)) => parts.push(json!(operand)),
            _ => *own = json!(operand),
        }
    }
    Value::Object(all)
}

impl Operand {
    /// An operand of the answer; `names` are the names of the operands.
    fn new(Entry { number: own, part, reads, feeds, usage, tiles }: &Entry, names: &[&str]) -> Operand {
        let directed = |access: &Access, direction| {
            let named = |value: &RunTime| {
                let source = value.operand.map_or(&*value.source, |number| names[number]).to_string();
                Directed { direction, value: RunTime { source, ..value.clone() } }
            };
            access.run_time.iter().map(named).collect::<Vec<_>>()
        };
        let mut runtime = directed(reads, "output_to_input");
        runtime.extend(directed(feeds, "input_to_output"));
        Operand {
            name: Some(names[*own].to_string()),
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

/// A number, as a string where it does not fit in 64 bits.
fn number(n: u128) -> Value {
    u64::try_from(n).map_or_else(|_| json!(n.to_string()), |n| json!(n))
}

/// A number, or its least and greatest value.
fn range(count: Count) -> Value {
    match count.exact() {
        Some(n) => number(n),
        None => json!([number(count.least), count.most.map(number)]),
    }
}
