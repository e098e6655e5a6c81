//! Messages between an editor and a language server, one at a time.
//!
//! Each is `Content-Length: N`, an empty line and N bytes. MLIR's server also takes input where lines `// -----`
//! separate messages and other lines that begin with `//` are comments, as in its tests.

use std::io::{self, BufRead, Read};

/// How messages are separated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// By their lengths.
    Framed,
    /// By lines `// -----`.
    Delimited,
}

/// A message, or other text between messages.
pub struct Message {
    /// All its bytes, to be passed on unchanged.
    pub raw: Vec<u8>,
    /// Its headers and its JSON; `None` where the text is no message. At the end of the stream the JSON may be cut off.
    pub parts: Option<(Vec<u8>, Vec<u8>)>,
}

impl Style {
    /// The style of the input that these arguments of MLIR's server select.
    pub fn of(arguments: impl Iterator<Item = String>) -> Style {
        let delimited =
            |argument: &str| matches!(argument.trim_start_matches('-'), "lit-test" | "input-style=delimited");
        if arguments.into_iter().any(|argument| delimited(&argument)) { Style::Delimited } else { Style::Framed }
    }

    /// The next message; `None` at the end of the stream.
    pub fn read(self, from: &mut impl BufRead) -> io::Result<Option<Message>> {
        let message = match self {
            Style::Framed => framed(from)?,
            Style::Delimited => delimited(from)?,
        };
        Ok((!message.raw.is_empty()).then_some(message))
    }
}

fn framed(from: &mut impl BufRead) -> io::Result<Message> {
    let mut raw = Vec::new();
    from.read_until(b'\n', &mut raw)?;
    let length = str::from_utf8(&raw).ok().and_then(|text| text.strip_prefix("Content-Length: ")?.trim().parse().ok());
    let Some(length) = length else { return Ok(Message { raw, parts: None }) };
    // The other headers of the message, up to the empty line.
    let headers_start = raw.len();
    loop {
        let line = raw.len();
        if from.read_until(b'\n', &mut raw)? == 0 || matches!(&raw[line..], b"\r\n" | b"\n") {
            break;
        }
    }
    let headers = raw[headers_start..].to_vec();
    let mut body = Vec::new();
    from.take(length).read_to_end(&mut body)?;
    raw.extend_from_slice(&body);
    Ok(Message { raw, parts: Some((headers, body)) })
}

fn delimited(from: &mut impl BufRead) -> io::Result<Message> {
    let (mut raw, mut body) = (Vec::new(), Vec::new());
    loop {
        let start = raw.len();
        if from.read_until(b'\n', &mut raw)? == 0 {
            break;
        }
        let line = raw[start..].trim_ascii();
        if line == b"// -----" {
            break;
        }
        if !line.starts_with(b"//") {
            body.extend_from_slice(&raw[start..]);
        }
    }
    Ok(Message { raw, parts: Some((Vec::new(), body)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(style: Style, mut text: &[u8]) -> Vec<String> {
        let (mut all, mut raw) = (Vec::new(), Vec::new());
        let input = text.to_vec();
        while let Some(message) = style.read(&mut text).unwrap() {
            raw.extend_from_slice(&message.raw);
            all.extend(message.parts.map(|(_, body)| String::from_utf8(body).unwrap()));
        }
        assert_eq!(raw, input, "what is passed on is what came");
        all
    }

    #[test]
    fn messages_are_separated() {
        let text = b"noise\nContent-Length: 2\r\nContent-Type: x\r\n\r\n{}Content-Length: 4\r\n\r\n[12]";
        assert_eq!(bodies(Style::Framed, text), ["{}", "[12]"]);
        assert_eq!(bodies(Style::Delimited, b"// a comment\n{}\n// -----\n[\n1]\n"), ["{}\n", "[\n1]\n"]);
    }

    #[test]
    fn a_message_that_is_cut_off_is_passed_on() {
        let text: &[u8] = b"Content-Length: 99999999999999\r\n\r\n{\"id\":1,";
        for end in 0..=text.len() {
            bodies(Style::Framed, &text[..end]);
            bodies(Style::Delimited, &text[..end]);
        }
    }
}
