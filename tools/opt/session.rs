//! The answers of this server, beside MLIR's.
//!
//! A request of the editor is answered here at once, from the text that is open at that moment, and passed on to MLIR's
//! server. When that server's answer comes, with the same `id`, ours is added to it.

use crate::complete;
use crate::documents::Document;
use crate::fixes;
use crate::in_place::Types;
use serde_json::{Value, json};
use std::collections::HashMap;

/// An addition to the answer of MLIR's server.
pub enum Addition {
    /// The capabilities of this server, for the answer to `initialize`.
    Capabilities,
    /// Completions.
    Completions(Vec<Value>),
    /// Markdown for a hover.
    Hover(String),
    /// Inlay hints, or code actions.
    List(Vec<Value>),
}

/// The open documents, and a cache of their types.
#[derive(Default)]
pub struct Session {
    types: Types,
    documents: HashMap<String, Document>,
}

impl Session {
    /// Handles a message of the editor; returns its `id` as JSON, and the addition to its answer.
    pub fn take(&mut self, body: &[u8]) -> Option<(String, Addition)> {
        let message: Value = serde_json::from_slice(body).ok()?;
        let (method, parameters) = (message["method"].as_str()?, &message["params"]);
        let uri = || parameters["textDocument"]["uri"].as_str();
        match method {
            "textDocument/didOpen" => {
                let mut document = Document::default();
                document.change(&parameters["textDocument"]);
                self.documents.insert(uri()?.into(), document);
                return None;
            }
            "textDocument/didChange" => {
                let document = self.documents.get_mut(uri()?)?;
                parameters["contentChanges"].as_array()?.iter().for_each(|change| document.change(change));
                return None;
            }
            "textDocument/didClose" => {
                self.documents.remove(uri()?);
                return None;
            }
            "initialize" => return Some((message.get("id")?.to_string(), Addition::Capabilities)),
            _ => {}
        }
        let document = self.documents.get(uri()?)?;
        let addition = match method {
            "textDocument/completion" => {
                let offset = document.offset(&parameters["position"])?;
                Addition::Completions(complete::complete(&document.text, offset))
            }
            "textDocument/hover" => {
                let offset = document.offset(&parameters["position"])?;
                Addition::Hover(self.types.hover(&document.text, offset)?)
            }
            "textDocument/inlayHint" => {
                let [start, end] = ["start", "end"].map(|key| document.offset(&parameters["range"][key]));
                Addition::List(self.types.hints(&document.text, start?..end?))
            }
            "textDocument/codeAction" => Addition::List(fixes::fixes(uri()?, document, &parameters["context"])),
            _ => return None,
        };
        Some((message.get("id")?.to_string(), addition))
    }
}

impl Addition {
    /// Adds this to an answer; false where there is nothing to add.
    pub fn add_to(self, answer: &mut Value) -> bool {
        match self {
            Addition::Capabilities => {
                let triggers = answer.pointer_mut("/result/capabilities/completionProvider/triggerCharacters");
                let Some(Value::Array(triggers)) = triggers else { return false };
                triggers.push(json!("{"));
                answer["result"]["capabilities"]["inlayHintProvider"] = json!(true);
            }
            Addition::Completions(items) if items.is_empty() => return false,
            Addition::Completions(items) => {
                let Some(result) = result(answer) else { return false };
                if !result["items"].is_array() {
                    *result = json!({"isIncomplete": false, "items": []});
                }
                // The matching layouts change with each letter.
                result["isIncomplete"] = json!(true);
                if let Some(known) = result["items"].as_array_mut() {
                    known.retain(|known| items.iter().all(|item| item["label"] != known["label"]));
                    known.splice(0..0, items);
                }
            }
            Addition::Hover(text) => {
                let Some(result) = result(answer) else { return false };
                let said = result.pointer_mut("/contents/value");
                match said {
                    Some(Value::String(said)) if said.contains(&text) => return false,
                    Some(Value::String(said)) => *said += &format!("\n{text}"),
                    _ => *result = json!({"contents": {"kind": "markdown", "value": text}}),
                }
            }
            Addition::List(items) => {
                let Some(result) = result(answer) else { return false };
                match result {
                    Value::Array(known) => drop(known.splice(0..0, items)),
                    _ => *result = Value::Array(items),
                }
            }
        }
        true
    }
}

/// The result of an answer, which replaces its error, if any.
fn result(answer: &mut Value) -> Option<&mut Value> {
    let answer = answer.as_object_mut()?;
    answer.remove("error");
    Some(answer.entry("result").or_insert(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(text: &str) -> Session {
        let mut session = Session::default();
        let open = json!({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "u", "text": text}}});
        assert!(session.take(open.to_string().as_bytes()).is_none());
        session
    }

    fn ask(session: &mut Session, method: &str, line: usize, character: usize, mut answer: Value) -> Value {
        let parameters = json!({"textDocument": {"uri": "u"}, "position": {"line": line, "character": character}});
        let message = json!({"id": 7, "method": format!("textDocument/{method}"), "params": parameters});
        if let Some((id, addition)) = session.take(message.to_string().as_bytes()) {
            assert_eq!(id, "7");
            addition.add_to(&mut answer);
        }
        answer
    }

    #[test]
    fn completions_are_added_to_those_of_the_server() {
        let text = "// é𝄞\r\n#a = \"𝄞\" : #layout.t\r\n";
        let mut session = session(text);
        let upstream = json!({"result": {"isIncomplete": false, "items": [{"label": "x"}, {"label": "tiled"}]}});
        let answer = ask(&mut session, "completion", 1, 21, upstream);
        let labels: Vec<_> = answer["result"]["items"].as_array().unwrap().iter().map(|item| &item["label"]).collect();
        assert_eq!(labels, ["tiled", "tensor_layout", "x"]);
        let edit = json!({"start": {"line": 1, "character": 20}, "end": {"line": 1, "character": 21}});
        assert_eq!(answer["result"]["items"][0]["textEdit"]["range"], edit);
        // Ours replaces an error of the server, and an empty answer.
        for other in [json!({"error": {"code": 1}}), json!({"result": null}), json!({"result": []}), json!({})] {
            let answer = ask(&mut session, "completion", 1, 21, other);
            assert_eq!(answer["result"]["items"][0]["label"], "tiled");
            assert_eq!(answer.get("error"), None);
        }
    }

    #[test]
    fn hovers_and_hints_stand_in_for_missing_answers() {
        let text = "// é\r\nfunc.func private @𝄞(tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>)\r\n";
        let mut session = session(text);
        for other in [json!({"result": null}), json!({"error": {"code": -32601}})] {
            let answer = ask(&mut session, "hover", 1, 45, other);
            let said = answer["result"]["contents"]["value"].as_str().unwrap();
            assert!(said.contains("96 bytes: 37.5 % waste"), "{said}");
        }
        let upstream = json!({"result": {"contents": {"value": "Type"}}});
        let answer = ask(&mut session, "hover", 1, 45, upstream);
        assert!(answer["result"]["contents"]["value"].as_str().unwrap().starts_with("Type\n"));
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}});
        let parameters = json!({"textDocument": {"uri": "u"}, "range": range});
        let message = json!({"id": "a", "method": "textDocument/inlayHint", "params": parameters}).to_string();
        let (id, addition) = session.take(message.as_bytes()).unwrap();
        assert_eq!(id, "\"a\"");
        let mut answer = json!({"error": {"code": -32601}, "id": "a"});
        assert!(addition.add_to(&mut answer));
        let hint = json!({"line": 1, "character": text.lines().nth(1).unwrap().encode_utf16().count() - 1});
        assert_eq!(answer["result"][0]["position"], hint);
        assert_eq!(answer["result"][0]["label"], "96 bytes, 37.5 % waste");
        assert_eq!((answer["result"].as_array().map(Vec::len), answer.get("error")), (Some(1), None));
    }

    #[test]
    fn bad_messages_add_nothing() {
        let mut session = session("#layout.");
        let whole = r#"{"id":1,"method":"textDocument/completion","params":{"textDocument":{"uri":"u"},"position":{"line":0,"character":8}}}"#;
        for end in 0..whole.len() {
            assert!(session.take(&whole.as_bytes()[..end]).is_none());
        }
        assert!(session.take(whole.as_bytes()).is_some());
        for bad in ["[]", "null", "{}", "\u{1}", r#"{"id":1,"method":"textDocument/completion"}"#, r#"{"method":3}"#] {
            assert!(session.take(bad.as_bytes()).is_none(), "{bad}");
        }
        assert!(session.take(whole.replace("\"u\"", "\"other\"").as_bytes()).is_none());
        assert!(session.take(whole.replace(":8", ":-8").as_bytes()).is_none());
    }

    /// 100,000 lines, and one line with as many types.
    #[test]
    fn long_files_and_lines_are_answered() {
        let line = "func.func private @f(tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>)";
        for (end, at) in [("\n", (100_000, 8)), (" ", (0, 100_000 * (line.len() + 1) + 8))] {
            let mut session = session(&((line.to_owned() + end).repeat(100_000) + "#layout."));
            let answer = ask(&mut session, "completion", at.0, at.1, json!({"result": null}));
            assert_eq!(answer["result"]["items"].as_array().map(Vec::len), Some(8));
            let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": at.0, "character": at.1}});
            let parameters = json!({"textDocument": {"uri": "u"}, "range": range});
            let message = json!({"id": 1, "method": "textDocument/inlayHint", "params": parameters}).to_string();
            let Some((_, Addition::List(hints))) = session.take(message.as_bytes()) else { panic!("no hints") };
            assert_eq!(hints.len(), 100_000);
        }
    }
}
