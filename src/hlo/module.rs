//! Modules, computations and instructions.

use super::literal::Literal;
use super::shapes::list;
use super::tokens::{numbers, unquote};
use crate::operations::graph::{Graph, Node, Value};
use crate::operations::operation::Operation;
use crate::operations::shape::Shape;
use crate::text::{Cursor, Error};
use std::collections::BTreeSet;

/// An HLO module.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Module {
    /// The name of the module.
    pub name: String,
    /// The attributes of the header, after the name.
    pub attributes: Vec<Attribute>,
    /// Warnings about skipped attributes of other versions of XLA, each at its position. None is an error.
    pub warnings: Vec<Error>,
    /// The computations, each after its callees.
    pub computations: Vec<Computation>,
    /// The index of the entry in `computations`.
    pub entry: usize,
}

/// A computation: instructions that compute a root from parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Computation {
    /// The name of the computation.
    pub name: String,
    /// The byte offset of the name in the text.
    pub at: usize,
    /// The instructions, each after its operands.
    pub instructions: Vec<Instruction>,
    /// The indices of the parameters in `instructions`, by their numbers.
    pub parameters: Vec<usize>,
    /// The index of the root in `instructions`.
    pub root: usize,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The name of the instruction.
    pub name: String,
    /// The byte offset of the name in the text.
    pub at: usize,
    /// The shape of the result.
    pub shape: Shape,
    /// The opcode, such as `dot`.
    pub opcode: String,
    /// The indices of the operands in the computation.
    pub operands: Vec<usize>,
    /// The operation, for index maps.
    pub operation: Operation,
    /// The indices of all named computations in the module: condition and body of a `while`, the branches of a
    /// conditional, `select` and `scatter` of a `select-and-scatter`.
    pub called: Vec<usize>,
    /// Instructions that must run before this one, beside the operands.
    pub control: Vec<usize>,
    /// The value of a `constant`.
    pub literal: Option<Literal>,
    /// The attributes after the operands, in order.
    pub attributes: Vec<Attribute>,
    /// The source of the instruction in the program.
    pub source: Source,
}

/// `name=text`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attribute {
    /// The name of the attribute.
    pub name: String,
    /// The byte offset of the value in the module's text.
    pub at: usize,
    /// The text of the value: `LT`, `{0,1}`, `"Sharding"` with the quotes.
    pub text: String,
}

/// The origin of an instruction in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// `op_name` of the metadata: the path of names in the program.
    pub op_name: Option<String>,
    /// The source file, from the metadata itself or through its stack frame.
    pub file: Option<String>,
    /// The line in the file, from 1.
    pub line: Option<i64>,
}

impl Module {
    /// The limit on errors that [`Module::parse`] reports: many lines may repeat one mistake.
    pub const MAX_ERRORS: usize = 10_000;

    /// The distinct messages of the warnings.
    pub fn warning_messages(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let messages = self.warnings.iter().map(|warning| &warning.message);
        messages.filter(|message| seen.insert(*message)).cloned().collect()
    }

    /// The computations as graphs for [`flow`](crate::analysis::flow): a node for each instruction, with the same
    /// index.
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

    /// The text of the header's attribute with this name.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        text_of(&self.attributes, name)
    }
}

impl Computation {
    /// The root instruction.
    pub fn result(&self) -> &Instruction {
        &self.instructions[self.root]
    }
}

impl Instruction {
    /// The text of the attribute with this name.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        text_of(&self.attributes, name)
    }

    /// Whether it has an effect beyond its result, apart from called computations: the host or other devices see it, or
    /// its result differs each time.
    pub fn has_effect(&self) -> bool {
        opcode_has_effect(&self.opcode) || self.flag("custom_call_has_side_effect")
    }

    /// Whether it has an effect, or runs a computation that has one; `computations` says which have.
    pub fn runs_effect(&self, computations: &[bool]) -> bool {
        let runs_one = || self.called.iter().any(|called| computations.get(*called).copied().unwrap_or(false));
        self.has_effect() || runs_one()
    }

    /// The unescaped text in the quotes of an attribute such as `custom_call_target="Sharding"`.
    pub fn string(&self, name: &str) -> Option<String> {
        unquote(self.attribute(name)?)
    }

    /// The numbers of an attribute such as `dimensions={0,1}` or `index=3`.
    pub fn numbers(&self, name: &str) -> Option<Vec<i64>> {
        let mut cursor = Cursor::new(self.attribute(name)?);
        let numbers = numbers(&mut cursor).ok()?;
        cursor.finish("").ok().map(|()| numbers.into_iter().map(|(n, _)| n).collect())
    }

    /// The operand shapes with the layouts of a custom call's `operand_layout_constraints`. Before layout assignment,
    /// the operands themselves may have others.
    pub fn operand_layouts(&self) -> Option<Vec<Shape>> {
        let shapes = list(&mut Cursor::new(self.attribute("operand_layout_constraints")?)).ok()?;
        Some(shapes.into_iter().map(|(shape, _)| shape).collect())
    }

    /// Whether an attribute such as `is_stable=true` is present and true.
    pub fn flag(&self, name: &str) -> bool {
        self.attribute(name) == Some("true")
    }
}

/// Whether every instruction of an opcode has an effect beyond its result.
pub(super) fn opcode_has_effect(opcode: &str) -> bool {
    // The start of a pair runs the operation; the end waits for it.
    let base = opcode.strip_suffix("-start").unwrap_or(opcode);
    matches!(
        base,
        "infeed" | "outfeed" | "send" | "send-done" | "recv" | "recv-done" | "rng" | "rng-get-and-update-state"
    ) || matches!(base, "reduce-scatter" | "ragged-all-to-all" | "all-to-all" | "all-gather" | "all-reduce")
        || matches!(base, "collective-permute" | "collective-broadcast" | "partition-barrier")
}

fn text_of<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a str> {
    attributes.iter().find(|a| a.name == name).map(|a| &*a.text)
}
