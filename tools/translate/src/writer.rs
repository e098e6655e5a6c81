//! The operations of a function, line by line, and the names of their results.

use crate::external::Declarations;

/// The text of operations, and the number of the next value.
pub struct Writer<'a> {
    /// The functions declared beside the module's own ones.
    pub declared: &'a mut Declarations,
    /// The operations so far.
    pub text: String,
    next: usize,
    /// The number of spaces before each line.
    pub indent: usize,
    /// The location after each operation: ` loc("x"("m.hlo":3:3))`.
    pub location: String,
}

impl<'a> Writer<'a> {
    pub fn new(declared: &'a mut Declarations) -> Writer<'a> {
        Writer { declared, text: String::new(), next: 0, indent: 4, location: String::new() }
    }

    /// Calls `write`, and removes its text where it returns `None`.
    pub fn attempt<T>(&mut self, write: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (end, next) = (self.text.len(), self.next);
        let done = write(self);
        if done.is_none() {
            self.text.truncate(end);
            self.next = next;
        }
        done
    }

    /// A new name.
    pub fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next - 1)
    }

    /// A line without a location.
    pub fn line(&mut self, text: &str) {
        self.put(&[text]);
        self.text.push('\n');
    }

    /// A line with a location: an operation without results, or the end of one with regions.
    pub fn located(&mut self, text: &str) {
        self.put(&[text]);
        self.end();
    }

    /// Appends the indentation and the first parts of a line.
    fn put(&mut self, parts: &[&str]) {
        self.text.extend(std::iter::repeat_n(' ', self.indent));
        parts.iter().for_each(|part| self.text.push_str(part));
    }

    /// Appends the location and the end of a line.
    fn end(&mut self) {
        self.text.push_str(&self.location);
        self.text.push('\n');
    }

    /// An operation with one result; returns the result.
    pub fn op(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.put(&[&name, " = ", text]);
        self.end();
        name
    }

    /// Names for the results of an operation.
    pub fn results(&mut self, count: usize) -> Results {
        match count {
            0 => Results { left: String::new(), names: Vec::new() },
            1 => {
                let name = self.fresh();
                Results { left: format!("{name} = "), names: vec![name] }
            }
            _ => {
                let name = self.fresh();
                Results {
                    left: format!("{name}:{count} = "),
                    names: (0..count).map(|k| format!("{name}#{k}")).collect(),
                }
            }
        }
    }

    /// A call of a function; returns the names of its `count` results.
    pub fn call(&mut self, callee: &str, operands: &str, from: &str, to: &str, count: usize) -> Vec<String> {
        let results = self.results(count);
        self.located(&format!("{}func.call {callee}({operands}) : ({from}) -> ({to})", results.left));
        results.names
    }

    /// An operation whose operands all have the type of its result.
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

    /// The index clamped between 0 and `most`.
    pub fn between(&mut self, index: &str, most: i64) -> String {
        let (zero, most) = (self.constant("0", "index"), self.constant(&most.to_string(), "index"));
        let raised = self.op(&format!("arith.maxsi {index}, {zero} : index"));
        self.op(&format!("arith.minsi {raised}, {most} : index"))
    }
}

/// The results of an operation with any number of them.
pub struct Results {
    /// The text before the operation: `%3 = `, `%3:2 = `, or nothing.
    pub left: String,
    /// The names: `%3`, or `%3#0` and `%3#1`.
    pub names: Vec<String>,
}

/// Operands with their types, ` %a, %b : f32, i32`; nothing for none, as MLIR writes it.
pub fn with_types(names: &str, types: &str) -> String {
    if types.is_empty() { String::new() } else { format!(" {names} : {types}") }
}
