//! Instructions that are whole programs: templates of MLIR in Jinja, in `instructions/templates` and in `layout_programs`,
//! which explains the form. [`Writer::inline`] inlines a function with those that it calls.

use crate::loops::Typed;
use crate::tensor::ImportResult;
use crate::writer::Writer;
use layout_programs::{Program, Template, constants, is_of_name};
use minijinja::{Value, context};
use std::collections::HashMap;

/// Writes the call of a function that is not in the template, by its name and operands; returns its results.
pub type Callee<'a> = &'a mut dyn FnMut(&mut Writer, &str, &[String]) -> ImportResult<Vec<String>>;

/// The callee of templates that have all functions.
pub fn no_callee(_: &mut Writer, name: &str, _: &[String]) -> ImportResult<Vec<String>> {
    unreachable!("`{name}` is not defined")
}

impl Writer<'_> {
    /// Inlines a function of a program; returns its results.
    ///
    /// # Errors
    /// The error of `callee`.
    pub fn inline(
        &mut self,
        program: &Program,
        name: &str,
        args: &[String],
        callee: Callee,
    ) -> ImportResult<Vec<String>> {
        let (names, body) = program.function(name).unwrap_or_else(|| panic!("`{name}` is not defined"));
        let args = args.iter().cloned();
        let mut known: HashMap<String, String> = names.into_iter().map(str::to_string).zip(args).collect();
        for constant in constants(body) {
            let (value, of) = constant.split_once('_').unwrap_or((constant, "index"));
            known.entry(format!("c{constant}")).or_insert_with(|| self.constant(value, of));
        }
        let suffix = self.fresh().replace('%', "_");
        let (indent, mut results) = (self.indent, Vec::new());
        for line in body.lines() {
            let text = line.trim_start();
            self.indent = indent + (line.len() - text.len()).saturating_sub(2);
            let text = renamed(text, &known, &suffix);
            let list = |names: &str| names.split(", ").filter(|name| !name.is_empty()).map(str::to_string).collect();
            if let Some((_, call)) = text.split_once(" = func.call @") {
                let (callee_name, call) = call.split_once('(').unwrap_or_default();
                let operands: Vec<String> = list(call.split(')').next().unwrap_or_default());
                let given = match program.function(callee_name) {
                    Some(_) => self.inline(program, callee_name, &operands, callee)?,
                    None => callee(self, callee_name, &operands)?,
                };
                let defined = line.split(" = ").next().unwrap_or_default().trim_start().split(", ");
                known.extend(defined.map(|name| name[1..].to_string()).zip(given));
            } else if let Some(returned) = text.strip_prefix("return ") {
                results = list(returned.split(" :").next().unwrap_or_default());
            } else if text.ends_with(['{', '(', ',']) {
                self.line(&text);
            } else if !text.is_empty() && !text.starts_with("//") {
                self.located(&text);
            }
        }
        self.indent = indent;
        Ok(results)
    }

    /// Inlines `@main` at each index of a loop nest, which the parameter `outer` names. It gets `args` and the values of
    /// the step before, and returns the next values.
    ///
    /// # Errors
    /// The error of `callee`.
    pub fn inline_nest(
        &mut self,
        template: &Template,
        values: Value,
        sizes: &[i64],
        args: &[String],
        begin: Vec<Typed>,
        callee: Callee,
    ) -> ImportResult<Vec<Typed>> {
        let bounds: Vec<String> = sizes.iter().map(|n| self.index(*n)).collect();
        self.nest(&bounds, begin, &mut |w, outer, before| {
            let program = Program::new(template, context! { outer, ..values.clone() });
            let all: Vec<String> = args.iter().chain(before.iter().map(|v| &v.name)).cloned().collect();
            let next = w.inline(&program, "main", &all, callee)?;
            Ok(before.into_iter().zip(next).map(|(v, name)| Typed { name, ty: v.ty }).collect())
        })
    }
}

/// A text with the names that are known, and with other names ended by `suffix`.
fn renamed(text: &str, known: &HashMap<String, String>, suffix: &str) -> String {
    let mut parts = text.split('%');
    let begin = parts.next().unwrap_or_default().to_string();
    parts.fold(begin, |out, part| {
        let (name, rest) = part.split_at(part.find(|c: char| !is_of_name(c)).unwrap_or(part.len()));
        let suffix = if name.starts_with(|c: char| c.is_ascii_digit()) { "" } else { suffix };
        known.get(name).map_or_else(|| format!("{out}%{name}{suffix}{rest}"), |known| format!("{out}{known}{rest}"))
    })
}
