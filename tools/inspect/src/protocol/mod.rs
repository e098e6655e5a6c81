//! The line protocol: one JSON request a line, one JSON answer a line, in order.
//!
//! `{"op":"linear_index","text":"f32[3,5]{1,0:T(2,2)}","index":[2,3]}` is answered `{"linear":17,"ok":true}`. A failure is
//! an answer, too: `{"at":8,"error":"..","ok":false}`, where `at` is the byte of the text at fault; see [`mod@answer`]. An `id`
//! of the request is repeated in its answer. Unknown fields are ignored, empty lines are skipped, and each answer is
//! written before the next line is read.
//!
//! [`request`] and [`mod@answer`] are the types; `layout-inspect --schema` prints their JSON schema, and so does
//! `docs/protocol.schema.json`.

pub mod answer;
mod operations;
mod request;

use answer::{Failure, Served};
use request::{Head, Request};
use schemars::generate::SchemaSettings;
use serde_json::json;
use std::io::{self, BufRead, Write};
use tensor_layout::text::{Error, instead};

/// Answers every line of `input`.
///
/// # Errors
/// Only those of reading and writing.
pub fn serve(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? != 0 {
        if !line.trim_ascii().is_empty() {
            // As a `Value`, whose keys are in alphabetical order.
            writeln!(output, "{}", json!(answer(&line)))?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// The answer to one line.
fn answer(line: &[u8]) -> Served {
    let mut id = None;
    let answer = parse(line, &mut id).map_err(Failure::from).and_then(operations::answer);
    Served::new(id, answer)
}

/// The request of a line; its `id` also where the rest is invalid.
fn parse(line: &[u8], id: &mut Option<serde_json::Value>) -> Result<Request, Error> {
    let line = std::str::from_utf8(line).map_err(|_| Error::new("the line is not UTF-8"))?;
    let head = Head::parse(line)?;
    *id = head.id;
    let op = head.op.ok_or_else(|| Error::new("`op` is missing"))?;
    let op = op.as_str().ok_or_else(|| Error::new(format!("`op` must be a string, found {}", request::kind(&op))))?;
    Request::parse(op, line).unwrap_or_else(|| {
        let hint = instead(op, Request::NAMES);
        let op: String = op.chars().take(40).collect();
        Err(Error::new(format!("unknown operation `{op}`{hint}")))
    })
}

/// The JSON schema of requests and answers: `$defs/Request` and `$defs/Answer` are those of a line.
pub fn schema() -> String {
    let settings = SchemaSettings::draft2020_12;
    let mut requests = settings().for_deserialize().into_generator();
    requests.subschema_for::<Request>();
    let mut answers = settings().for_serialize().into_generator();
    answers.subschema_for::<Served>();
    let mut definitions = requests.take_definitions(true);
    definitions.extend(answers.take_definitions(true));
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The line protocol of layout-inspect --json",
        "description": "A line of the input is a Request, a line of the output an Answer.",
        "$defs": definitions,
    });
    format!("{schema:#}\n")
}
