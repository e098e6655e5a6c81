//! Modules, computations and instructions.

use super::literal::Literal;
use super::shapes::list;
use super::words::{numbers, unquote};
use crate::operations::graph::{Graph, Node, Value};
use crate::operations::operation::Operation;
use crate::operations::shape::Shape;
use crate::text::{Cursor, Error};
use std::collections::BTreeSet;

/// A module.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Module {
    /// Its name.
    pub name: String,
    /// The attributes of the header, after the name.
    pub attributes: Vec<Attribute>,
    /// What the text says that is skipped: attributes of other versions of XLA, each where it is. None is an error.
    pub warnings: Vec<Error>,
    /// The computations; each comes after those that it calls.
    pub computations: Vec<Computation>,
    /// The place of the entry in `computations`.
    pub entry: usize,
}

/// A computation: instructions that compute a root from parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Computation {
    /// Its name.
    pub name: String,
    /// The byte offset of its name in the text.
    pub at: usize,
    /// The instructions; each comes after those that it uses.
    pub instructions: Vec<Instruction>,
    /// The places of the parameters in `instructions`, by their numbers.
    pub parameters: Vec<usize>,
    /// The place of the root in `instructions`.
    pub root: usize,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Its name.
    pub name: String,
    /// The byte offset of its name in the text.
    pub at: usize,
    /// The shape of its result.
    pub shape: Shape,
    /// The name of what it does, such as `dot`.
    pub opcode: String,
    /// The places of its operands in the computation.
    pub operands: Vec<usize>,
    /// What it does with indices.
    pub operation: Operation,
    /// All computations it names, by their places in the module: in the order of a `while`'s condition and body,
    /// of a conditional's branches, of `select` and `scatter` in `select-and-scatter`.
    pub called: Vec<usize>,
    /// Instructions that must run before though they are no operands.
    pub control: Vec<usize>,
    /// The value of a `constant`.
    pub literal: Option<Literal>,
    /// What is written after the operands, in order.
    pub attributes: Vec<Attribute>,
    /// Where it comes from.
    pub source: Source,
}

/// `name=text`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// The byte offset of its value in the module's text.
    pub at: usize,
    /// Its value as it is written: `LT`, `{0,1}`, `"Sharding"` with the quotes.
    pub text: String,
}

/// What an instruction was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// `op_name` of the metadata: the path of names in the program.
    pub op_name: Option<String>,
    /// The program's file, from the metadata itself or through its stack frame.
    pub file: Option<String>,
    /// The line in the file, from 1.
    pub line: Option<i64>,
}

impl Module {
    /// How many errors [`Module::parse`] reports at most: so many lines may be wrong in the same words.
    pub const MAX_ERRORS: usize = 10_000;

    /// The messages of the warnings, each once.
    pub fn warning_messages(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let messages = self.warnings.iter().map(|warning| &warning.message);
        messages.filter(|message| seen.insert(*message)).cloned().collect()
    }

    /// The computations as graphs for [`flow`](crate::analysis::flow): a node for each instruction, in the same places.
    pub fn graphs(&self) -> Vec<Graph> {
        let node = |instruction: &Instruction| Node {
            operation: instruction.operation.clone(),
            operands: instruction.operands.iter().map(|node| Value { node: *node, result: 0 }).collect(),
            results: vec![instruction.shape.clone()],
        };
        let graph = |computation: &Computation| Graph {
            nodes: computation.instructions.iter().map(node).collect(),
            roots: vec![Value { node: computation.root, result: 0 }],
        };
        self.computations.iter().map(graph).collect()
    }

    /// The attribute of the header with this name, as it is written.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        text_of(&self.attributes, name)
    }
}

impl Computation {
    /// The instruction whose value the computation has.
    pub fn result(&self) -> &Instruction {
        &self.instructions[self.root]
    }
}

impl Instruction {
    /// The attribute with this name, as it is written.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        text_of(&self.attributes, name)
    }

    /// Whether it does more than its result says, what it runs apart: the host or other devices see it, or its result is
    /// another one each time.
    pub fn has_effect(&self) -> bool {
        let opcode = self.opcode.as_str();
        // Of a pair, the start is what runs; the end waits for it.
        let base = opcode.strip_suffix("-start").unwrap_or(opcode);
        let seen =
            matches!(
                base,
                "infeed" | "outfeed" | "send" | "send-done" | "recv" | "recv-done" | "rng" | "rng-get-and-update-state"
            ) || matches!(base, "reduce-scatter" | "ragged-all-to-all" | "all-to-all" | "all-gather" | "all-reduce")
                || matches!(base, "collective-permute" | "collective-broadcast" | "partition-barrier");
        seen || self.flag("custom_call_has_side_effect")
    }

    /// The same, or it runs a computation of which this holds, by the numbers of computations.
    pub fn runs_effect(&self, computations: &[bool]) -> bool {
        let runs_one = || self.called.iter().any(|called| computations.get(*called).copied().unwrap_or(false));
        self.has_effect() || runs_one()
    }

    /// The text that an attribute such as `custom_call_target="Sharding"` has between its quotes, unescaped.
    pub fn string(&self, name: &str) -> Option<String> {
        unquote(self.attribute(name)?)
    }

    /// The numbers that an attribute such as `dimensions={0,1}` lists, or the one of `index=3`.
    pub fn numbers(&self, name: &str) -> Option<Vec<i64>> {
        let mut cursor = Cursor::new(self.attribute(name)?);
        let numbers = numbers(&mut cursor).ok()?;
        cursor.finish("").ok().map(|()| numbers.into_iter().map(|(n, _)| n).collect())
    }

    /// The shapes of the operands in the layouts in which a custom call takes them, `operand_layout_constraints`. Before
    /// layouts are assigned, the operands themselves may be in others.
    pub fn operand_layouts(&self) -> Option<Vec<Shape>> {
        let shapes = list(&mut Cursor::new(self.attribute("operand_layout_constraints")?)).ok()?;
        Some(shapes.into_iter().map(|(shape, _)| shape).collect())
    }

    /// Whether an attribute such as `is_stable=true` is there and true.
    pub fn flag(&self, name: &str) -> bool {
        self.attribute(name) == Some("true")
    }
}

fn text_of<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a str> {
    attributes.iter().find(|a| a.name == name).map(|a| &*a.text)
}
