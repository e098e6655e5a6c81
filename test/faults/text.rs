//! MLIR's generic form, line by line. Each operation has one line, and with regions a line at each begin and end:
//! `%2 = "arith.addf"(%0, %1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32`.

/// Splits a text at the commas outside of brackets.
pub fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if before != '-' => depth -= 1,
            ')' | ']' | '}' => depth -= 1,
            _ => (),
        }
        before = c;
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The types of a signature, `(f32, f32) -> f32`.
pub fn signature(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (mut depth, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'-' if depth == 0 && bytes.get(at + 1) == Some(&b'>') => break,
            _ => (),
        }
        at += 1;
    }
    let (inputs, results) = (text.get(..at)?.trim(), text.get(at + 2..)?.trim());
    let inside = |list: &str| list.strip_prefix('(').and_then(|list| list.strip_suffix(')')).map(split);
    Some((inside(inputs)?, inside(results).unwrap_or_else(|| vec![results.to_owned()])))
}

/// An operation on a line, in parts.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The names of its results, `%2` or `%2#1`.
    pub results: Vec<String>,
    pub name: String,
    pub operands: Vec<String>,
    /// The attributes: all text between the operands and the types.
    pub attributes: String,
    /// The types of operands and of results; `None` if a region begins.
    pub types: Option<(Vec<String>, Vec<String>)>,
    indent: String,
    /// The text before `=`.
    named: String,
}

impl Operation {
    /// Parses the operation of a line; `None` without an operation name.
    pub fn read(line: &str) -> Option<Operation> {
        let text = line.trim_start();
        let indent = line[..line.len() - text.len()].to_owned();
        let (named, rest) = match text.strip_prefix('%') {
            Some(_) => text.split_once(" = ")?,
            None => ("", text),
        };
        let (name, rest) = rest.strip_prefix('"')?.split_once('"')?;
        let close = rest.find(')')?;
        let operands = split(rest.strip_prefix('(')?.get(..close - 1)?);
        let rest = &rest[close + 1..];
        let (attributes, types) = match rest.strip_suffix("({") {
            Some(attributes) => (attributes, None),
            None => {
                let at = rest.rfind(" : (")?;
                (&rest[..at], Some(signature(&rest[at + 3..])?))
            }
        };
        Some(Operation {
            results: results(named),
            name: name.to_owned(),
            operands,
            attributes: attributes.to_owned(),
            types,
            indent,
            named: named.to_owned(),
        })
    }

    /// The line of the operation.
    pub fn write(&self) -> String {
        let mut text = self.indent.clone();
        if !self.named.is_empty() {
            text += &format!("{} = ", self.named);
        }
        text += &format!("\"{}\"({}){}", self.name, self.operands.join(", "), self.attributes);
        match &self.types {
            None => text + "({",
            Some((inputs, results)) => {
                let list = match &results[..] {
                    [one] => one.clone(),
                    all => format!("({})", all.join(", ")),
                };
                text + &format!(" : ({}) -> {list}", inputs.join(", "))
            }
        }
    }
}

/// The names of results: `%2` is one, `%2:2` stands for `%2#0` and `%2#1`.
fn results(named: &str) -> Vec<String> {
    match named.split_once(':') {
        Some((name, count)) => (0..count.parse().unwrap_or(0)).map(|k| format!("{name}#{k}")).collect(),
        None if named.is_empty() => vec![],
        None => vec![named.to_owned()],
    }
}

/// Whether a line begins a region, and whether it ends one.
pub fn region(line: &str) -> (bool, bool) {
    (line.ends_with("({") || line.trim() == "}, {", line.trim_start().starts_with('}'))
}

/// The last line of the operation that begins on a line.
pub fn end_of(lines: &[String], first: usize) -> usize {
    let mut depth = 0;
    for (at, line) in lines.iter().enumerate().skip(first) {
        let (begins, ends) = region(line);
        depth += i32::from(begins) - i32::from(ends);
        if depth == 0 {
            return at;
        }
    }
    first
}

/// The values that are visible before a line, with their types.
pub fn visible(lines: &[String], before: usize) -> Vec<(String, String)> {
    let mut scopes: Vec<Vec<(String, String)>> = vec![vec![]];
    let mut open: Vec<Vec<String>> = vec![];
    let add = |scopes: &mut Vec<Vec<(String, String)>>, names: &[String], types: &[String]| {
        if let Some(scope) = scopes.last_mut() {
            scope.extend(names.iter().cloned().zip(types.iter().cloned()));
        }
    };
    for line in &lines[..before] {
        let (begins, ends) = region(line);
        if ends {
            scopes.pop();
            if !begins {
                let names = open.pop().unwrap_or_default();
                let types = line.rfind(" : (").and_then(|at| signature(&line[at + 3..]));
                add(&mut scopes, &names, &types.unwrap_or_default().1);
            }
        }
        if let Some(op) = Operation::read(line) {
            match &op.types {
                Some((_, types)) => add(&mut scopes, &op.results, types),
                None => open.push(op.results),
            }
        }
        if begins {
            scopes.push(vec![]);
        }
        if let Some(list) = line.trim_start().strip_prefix('^').and_then(|text| text.split_once('(')) {
            let arguments = split(list.1.trim_end_matches(':').trim_end_matches(')'));
            for (name, r#type) in arguments.iter().filter_map(|argument| argument.split_once(": ")) {
                add(&mut scopes, &[name.to_owned()], &[r#type.to_owned()]);
            }
        }
    }
    scopes.concat()
}

/// Replaces a value by another one in some lines.
pub fn rename(lines: &mut [String], from: &str, to: &str) {
    for line in lines {
        let mut made = String::new();
        let mut rest = line.as_str();
        while let Some(at) = rest.find(from) {
            let end = at + from.len();
            let longer = rest[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || "_#:".contains(c));
            made += &rest[..at];
            made += if longer { from } else { to };
            rest = &rest[end..];
        }
        *line = made + rest;
    }
}

/// The functions and globals of a module, as lines, and the first and last line of the module.
pub fn symbols(module: &str) -> (String, Vec<Vec<String>>, String) {
    let lines: Vec<String> = module.lines().map(str::to_owned).collect();
    let first = lines.iter().position(|line| line.starts_with("\"builtin.module\"")).unwrap_or(0);
    let (mut at, mut all) = (first + 1, vec![]);
    while at + 1 < lines.len() {
        let end = end_of(&lines, at);
        all.push(lines[at..=end].to_vec());
        at = end + 1;
    }
    (lines[first].clone(), all, lines.last().cloned().unwrap_or_default())
}
