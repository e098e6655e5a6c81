//! What moves when a tensor goes from one layout to another.

use crate::report;
use std::fmt::Write;
use tensor_layout::element::ElementType;
use tensor_layout::places::ADDRESS;
use tensor_layout::places::Machine;
use tensor_layout::places::{Block, plan};
use tensor_layout::text::Error;

/// What is asked for.
pub struct Options<'a> {
    from: &'a str,
    to: &'a str,
    machine: Option<&'a str>,
    element: &'a str,
    blocks: bool,
}

impl<'a> Options<'a> {
    /// Reads the arguments behind `convert`; `None` where they are not `FROM TO` and options.
    pub fn parse(mut arguments: &[&'a str]) -> Option<Options<'a>> {
        let (mut layouts, mut machine, mut element, mut blocks) = (Vec::new(), None, "f32", false);
        while let [first, rest @ ..] = arguments {
            arguments = rest;
            match (*first, rest) {
                ("--blocks", _) => blocks = true,
                ("--machine", [text, rest @ ..]) => (machine, arguments) = (Some(*text), rest),
                ("--element", [text, rest @ ..]) => (element, arguments) = (*text, rest),
                (text, _) if !text.starts_with("--") => layouts.push(text),
                _ => return None,
            }
        }
        let [from, to] = layouts[..] else { return None };
        Some(Options { from, to, machine, element, blocks })
    }
}

/// The table of a conversion.
///
/// # Errors
/// What is wrong, and the text at fault.
pub fn convert<'a>(options: &Options<'a>) -> Result<String, (&'a str, Error)> {
    let &Options { from, to, machine, element, blocks } = options;
    let bits = ElementType::from_name(element).and_then(ElementType::bits);
    let bits = bits.ok_or_else(|| (element, Error::at(0, "expected an element type, such as `f32`")))?;
    let sides = [from, to].map(|text| report::placement(text).map_err(|error| (text, error)));
    let [source, destination] = sides;
    let (source, destination) = (source?, destination?);
    let named = machine.map(|text| Machine::parse(text).map_err(|error| (text, error))).transpose()?;
    let machine = named.as_ref();
    let plan = plan(&source, &destination, machine, bits).map_err(|error| (to, error))?;
    let mut out = String::new();
    for (text, side, name) in [(from, &source, "from"), (to, &destination, "to")] {
        if let Some(machine) = machine {
            let fit = machine.check(side, bits, None).map_err(|error| (text, error))?;
            let whose = fit.memory.map_or("place", |memory| &machine.memories[memory].name);
            let _ = writeln!(out, "{name} takes {} bytes of each {whose}", fit.bytes);
        }
    }
    let _ = write!(out, "{plan}");
    if blocks {
        plan.blocks.iter().enumerate().for_each(|(k, b)| block(&mut out, &plan.axes, k, b));
    }
    Ok(out)
}

/// A block: where it begins, and what a step of each counter moves.
fn block(out: &mut String, axes: &[String], number: usize, block: &Block) {
    let names = || axes.iter().map(String::as_str).chain([ADDRESS]);
    let named = |coordinates: &[i64], sign: &str| {
        let all = names().zip(coordinates).filter(|(_, c)| **c != 0).map(|(name, c)| format!("{name} {sign}{c}"));
        let all: Vec<String> = all.collect();
        if all.is_empty() { "0".to_string() } else { all.join(", ") }
    };
    let (from, to) = (&block.source, &block.destination);
    let _ = writeln!(
        out,
        "block {number}: {} elements, {} -> {}",
        block.elements(),
        named(&from.base, ""),
        named(&to.base, "")
    );
    for ((size, from), to) in block.sizes.iter().zip(&from.strides).zip(&to.strides) {
        let _ = writeln!(out, "  {size} times {} -> {}", named(from, "+"), named(to, "+"));
    }
}
