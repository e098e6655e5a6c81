//! The line protocol: one JSON request a line, one JSON answer a line, in order.
//!
//! `{"op":"linear_index","text":"f32[3,5]{1,0:T(2,2)}","index":[2,3]}` is answered `{"linear":17,"ok":true}`. A failure
//! is an answer, too: `{"at":8,"error":"..","in":"text","kind":"unknown","ok":false}`, where `in` is the member at
//! fault and `at` the byte in it; see [`mod@answer`]. The answer repeats the `id` of its request. Unknown fields are
//! ignored, empty lines are skipped, and each answer is written before the next line is read. `hlo` has an answer for
//! each instruction, with `"more":true`, each written as soon as it is known; then one with `"more":false`, or a
//! failure. A request with another `version` than [`VERSION`] is refused.
//!
//! [`request`] and [`mod@answer`] are the types; `layout-inspect --schema` prints their JSON schema, and so does
//! `docs/protocol.schema.json`.

pub mod answer;
mod operations;
mod programs;
mod request;

use answer::{Answer, Failure, Served};
use layout_console::guarded;
use request::{Head, Request};
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};
use tensor_layout::text::{Error, instead};

/// The version of the protocol: it grows when an answer loses a field, or a field its meaning.
pub const VERSION: u64 = 1;

/// Answers every line of `input`.
///
/// # Errors
/// Reading or writing fails.
pub fn serve(input: impl BufRead, output: impl Write) -> io::Result<()> {
    serve_with(input, output, &|request, say| match request {
        Request::Hlo(request) => programs::answer(&request, say),
        request => Ok(operations::answer(request)),
    })
}

/// The answers to the lines of a text.
pub fn answers(lines: &[u8]) -> Vec<u8> {
    let mut answers = Vec::new();
    // A vector takes all that is written to it.
    let _ = serve(lines, &mut answers);
    answers
}

/// Passes all answers to a request but the last one to the function, and returns that one.
type Respond = dyn Fn(Request, &mut dyn FnMut(Answer) -> io::Result<()>) -> io::Result<Result<Answer, Failure>>;

fn serve_with(mut input: impl BufRead, mut output: impl Write, respond: &Respond) -> io::Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? != 0 {
        if !line.trim_ascii().is_empty() {
            answer(&line, &mut output, respond)?;
        }
        line.clear();
    }
    Ok(())
}

/// Writes the answer to one line, or the answers. A panic is a failure of this line alone.
fn answer(line: &[u8], output: &mut impl Write, respond: &Respond) -> io::Result<()> {
    let mut id = None;
    let found = guarded(|| match parse(line, &mut id) {
        Err(failure) => Ok(Err(failure)),
        Ok(request) => respond(request, &mut |answer| write(output, id.clone(), Ok(answer))),
    });
    let last = found.unwrap_or_else(|bug| Ok(Err(bug.into())))?;
    write(output, id, last)
}

/// Writes an answer as a `Value`, whose keys are in alphabetical order.
fn write(output: &mut impl Write, id: Option<Value>, answer: Result<Answer, Failure>) -> io::Result<()> {
    writeln!(output, "{}", json!(Served::new(id, answer)))?;
    output.flush()
}

/// The request of a line; its `id` also where the rest is invalid.
fn parse(line: &[u8], id: &mut Option<Value>) -> Result<Request, Failure> {
    let line = std::str::from_utf8(line).map_err(|_| Error::new("the line is not UTF-8").syntax())?;
    let head = Head::parse(line)?;
    *id = head.id;
    if head.version.as_ref().is_some_and(|version| *version != json!(VERSION)) {
        let found = head.version.as_ref().map(request::kind).unwrap_or_default();
        return Err(Failure::of_field("version", Error::new(format!("`version` must be {VERSION}, found {found}"))));
    }
    let wrong = |error: Error| Failure::of_field("op", error);
    let op = head.op.ok_or_else(|| wrong(Error::new("`op` is missing")))?;
    let found = || wrong(Error::new(format!("`op` must be a string, found {}", request::kind(&op))));
    let op = op.as_str().ok_or_else(found)?;
    Request::parse(op, line).unwrap_or_else(|| {
        let hint = instead(op, Request::NAMES);
        let op: String = op.chars().take(40).collect();
        Err(wrong(Error::new(format!("unknown operation `{op}`{hint}")).unknown()))
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
        "description": format!("A line of the input is a Request, a line of the output an Answer. Version {VERSION}."),
        "$defs": definitions,
    });
    format!("{schema:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bug in one request becomes its answer, and the next line is answered.
    #[test]
    fn a_panic_ends_no_server() {
        let lines = "{\"op\":\"version\",\"id\":1}\n{\"op\":\"layout\",\"text\":\"f32[2]\",\"id\":2}\n{\"op\":\"version\",\"id\":3}\n";
        let mut out = Vec::new();
        let respond: &Respond = &|request, say| match request {
            Request::Layout(_) => {
                say(Answer::Padding { padding: true })?;
                panic!("a bug")
            }
            request => Ok(operations::answer(request)),
        };
        serve_with(lines.as_bytes(), &mut out, respond).unwrap();
        let out = String::from_utf8(out).unwrap();
        let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let said: Vec<(&Value, &Value)> = answers.iter().map(|own| (&own["id"], &own["ok"])).collect();
        let (yes, no) = (json!(true), json!(false));
        assert_eq!(said, [(&json!(1), &yes), (&json!(2), &yes), (&json!(2), &no), (&json!(3), &yes)]);
        assert_eq!(answers[2]["kind"], "internal");
        assert!(answers[2]["error"].as_str().unwrap().starts_with("internal error: a bug"), "{out}");
    }
}
