//! Fixes for errors with a suggestion: ``unknown attribute `layout.tile`; did you mean `tiled`?``
//!
//! The editor's request for fixes has the errors at the cursor. The name at fault is searched on the error's line,
//! nearest to its column: MLIR's server counts columns in bytes, so the column itself may be too far
//! right. A name that is not on the line has no fix.

use crate::documents::{Document, Positions};
use serde_json::{Value, json};

/// The fixes for the errors in the `context` of a request, for the document `uri`.
pub fn fixes(uri: &str, document: &Document, context: &Value) -> Vec<Value> {
    let diagnostics = context["diagnostics"].as_array().map_or(&[][..], Vec::as_slice);
    let fix = |diagnostic: &Value| {
        let (wrong, right) = question(diagnostic["message"].as_str()?)?;
        let start = find(document, &diagnostic["range"]["start"], wrong)?;
        let range = Positions::new(&document.text).range(start, start + wrong.len());
        Some(json!({
            "title": format!("Replace `{wrong}` by `{right}`"), "kind": "quickfix", "isPreferred": true,
            "diagnostics": [diagnostic],
            "edit": {"changes": {uri: [{"range": range, "newText": right}]}},
        }))
    };
    diagnostics.iter().filter_map(fix).collect()
}

/// The name at fault and its correction.
fn question(message: &str) -> Option<(&str, &str)> {
    let (error, rest) = message.split_once("; did you mean `")?;
    let right = rest.split_once("`?")?.0;
    let wrong = error.strip_suffix('`')?.rsplit_once('`')?.1;
    // An error has an attribute's full name, the suggestion only the part after the dialect's name.
    let wrong = if right.starts_with("layout.") { wrong } else { wrong.strip_prefix("layout.").unwrap_or(wrong) };
    (!wrong.is_empty()).then_some((wrong, right))
}

/// The offset of a whole name on the line of a position, nearest to its column.
fn find(document: &Document, position: &Value, name: &str) -> Option<usize> {
    let at = document.offset(position)?;
    let text = &document.text;
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let in_name = |c: char| c.is_alphanumeric() || "_-$".contains(c);
    // In `8_PE` an axis follows its size.
    let behind_size =
        |before: &str| before.strip_suffix('_').is_some_and(|size| size.ends_with(|c: char| c.is_ascii_digit()));
    let whole = |from: &usize| {
        let before = &text[..*from];
        (!before.ends_with(in_name) || behind_size(before)) && !text[from + name.len()..].starts_with(in_name)
    };
    let found = text[start..end].match_indices(name).map(|(offset, _)| start + offset).filter(whole);
    found.min_by_key(|from| from.abs_diff(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fix(text: &str, message: &str, character: usize) -> Vec<String> {
        let document = Document { text: text.into() };
        let at = json!({"line": 1, "character": character});
        let context = json!({"diagnostics": [{"message": message, "range": {"start": at, "end": at}}]});
        let fixed = |action: &Value| {
            let edit = &action["edit"]["changes"]["u"][0];
            let mut document = Document { text: text.into() };
            document.change(&json!({"text": edit["newText"], "range": edit["range"]}));
            document.text
        };
        fixes("u", &document, &context).iter().map(fixed).collect()
    }

    #[test]
    fn the_name_at_fault_is_replaced() {
        let message = "unknown attribute `layout.tile`; did you mean `tiled`?";
        assert_eq!(fix("\r\n#t = #layout.tile<{0}>\r\n", message, 13), ["\r\n#t = #layout.tiled<{0}>\r\n"]);
        // MLIR's server counts the column in bytes: 16 and not 10.
        let text = "\n\"𝄞é𝄞\" #layout.tile<{0}>, #layout.tiles, tile";
        assert_eq!(fix(text, message, 22), [text.replacen("tile<", "tiled<", 1)]);
        let message = "tensor<8xf32> does not fit the machine: unknown axis `Pe`; did you mean `PE`?";
        assert_eq!(fix("\n(8_Pe), Pe, Pe_", message, 1), ["\n(8_PE), Pe, Pe_"]);
    }

    #[test]
    fn no_name_no_fix() {
        for message in [
            "unknown attribute `layout.tile`; expected tiled or axis",
            "; did you mean `x`?",
            "``; did you mean `x`?",
            "unknown `gone`; did you mean `x`?",
            "unknown `tile`; did you mean `x",
        ] {
            assert_eq!(fix("\n#layout.tile<{0}>\ngone", message, 8), Vec::<String>::new(), "{message}");
        }
        let document = Document { text: "a".into() };
        assert_eq!(fixes("u", &document, &json!(null)), Vec::<Value>::new());
        assert_eq!(fixes("u", &document, &json!({"diagnostics": [1, {"message": "`a`; did you mean `b`?"}]})).len(), 0);
    }
}
