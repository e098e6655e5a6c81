//! The operations of a function, line by line, and the names of their results.

/// Where operations are written, and the number of the next value.
pub struct Writer {
    /// The operations so far.
    pub text: String,
    next: usize,
    /// The number of spaces before each line.
    pub indent: usize,
    /// The location after each operation: ` loc("x"("m.hlo":3:3))`.
    pub location: String,
}

impl Writer {
    pub fn new() -> Writer {
        Writer { text: String::new(), next: 0, indent: 4, location: String::new() }
    }

    /// A name that is not in use.
    pub fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next - 1)
    }

    /// A line without a location.
    pub fn line(&mut self, text: &str) {
        self.text.extend(std::iter::repeat_n(' ', self.indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A line with a location: an operation without results, or the end of one with regions.
    pub fn located(&mut self, text: &str) {
        let line = format!("{text}{}", self.location);
        self.line(&line);
    }

    /// An operation with one result; returns the result.
    pub fn op(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.located(&format!("{name} = {text}"));
        name
    }

    /// An operation on operands that all have the type of its result.
    pub fn same(&mut self, name: &str, operands: &[String], of: &str) -> String {
        self.op(&format!("{name} {} : {of}", operands.join(", ")))
    }

    /// A constant of a scalar type.
    pub fn constant(&mut self, value: &str, of: &str) -> String {
        match value {
            "true" | "false" => self.op(&format!("arith.constant {value}")),
            _ => self.op(&format!("arith.constant {value} : {of}")),
        }
    }

    pub fn compare(&mut self, predicate: &str, a: &str, b: &str, of: &str) -> String {
        let kind = if of.starts_with(['f', 'b']) { "cmpf" } else { "cmpi" };
        self.op(&format!("arith.{kind} {predicate}, {a}, {b} : {of}"))
    }

    pub fn select(&mut self, condition: &str, a: &str, b: &str, of: &str) -> String {
        self.op(&format!("arith.select {condition}, {a}, {b} : {of}"))
    }

    /// The index between 0 and `most` that is nearest to `index`.
    pub fn between(&mut self, index: &str, most: i64) -> String {
        let (zero, most) = (self.constant("0", "index"), self.constant(&most.to_string(), "index"));
        let raised = self.op(&format!("arith.maxsi {index}, {zero} : index"));
        self.op(&format!("arith.minsi {raised}, {most} : index"))
    }
}

/// The names of the results of an operation: `%3`, or `%3#0`, `%3#1` where it has several.
pub fn results(name: &str, count: usize) -> Vec<String> {
    match count {
        1 => vec![name.to_string()],
        count => (0..count).map(|k| format!("{name}#{k}")).collect(),
    }
}

/// The number of results after their name, `:2` in `%3:2 = `; nothing for one.
pub fn count(results: usize) -> String {
    if results > 1 { format!(":{results}") } else { String::new() }
}
