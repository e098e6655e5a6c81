//! Where instructions come from in the program, also those that the compiler adds.
//!
//! A compiler leaves the line of a copy, a constant or a fusion out. Such an instruction has the origin of the first of
//! these that has one: the root of the computation that it runs, an operand, a user, the instruction that runs its
//! computation. A parameter gives no origin to others: its `op_name` is the name of an argument. In a text with source
//! lines, an `op_name` without a line is a compiler's own.

use schemars::JsonSchema;
use serde::Serialize;
use tensor_layout::hlo::{Instruction, Module, Source};

/// Where an instruction comes from.
#[derive(Clone, Default, Serialize, JsonSchema)]
pub struct Provenance {
    /// The file and the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op_name: Option<String>,
}

impl Provenance {
    /// Whether it is of a forward pass that JAX differentiates: `jvp(..)`, and not of its backward pass.
    pub fn is_forward(&self) -> bool {
        self.is_in("jvp(") && !self.is_backward()
    }

    /// Whether it is of a backward pass: `transpose(jvp(..))`.
    pub fn is_backward(&self) -> bool {
        self.is_in("transpose(")
    }

    fn is_in(&self, scope: &str) -> bool {
        self.op_name.as_ref().is_some_and(|name| name.contains(scope))
    }
}

/// The file and the line of an instruction, and its `op_name`.
pub fn provenance(Source { op_name, file, line, .. }: &Source) -> Provenance {
    let line = line.map_or(String::new(), |line| format!(":{line}"));
    Provenance { source: file.as_ref().map(|file| format!("{file}{line}")), op_name: op_name.clone() }
}

/// The origins of all instructions of a module.
pub struct Origins<'m> {
    /// By computation and instruction.
    of: Vec<Vec<Option<&'m Source>>>,
}

impl<'m> Origins<'m> {
    /// The origins of a module.
    pub fn of(module: &'m Module) -> Origins<'m> {
        let all = || module.computations.iter().flat_map(|computation| &computation.instructions);
        let has_lines = all().any(|instruction| instruction.source.file.is_some());
        let mut of: Vec<Vec<Option<&Source>>> = Vec::new();
        for computation in &module.computations {
            let mut own: Vec<Option<&Source>> = Vec::new();
            for instruction in &computation.instructions {
                let root = |number: &usize| of[*number][module.computations[*number].root];
                let of_root = || instruction.called.iter().find_map(root);
                let of_operand = || instruction.operands.iter().find_map(|operand| own[*operand]);
                own.push(said(instruction, has_lines).or_else(of_root).or_else(of_operand));
            }
            for (k, instruction) in computation.instructions.iter().enumerate().rev() {
                let from = own[k];
                instruction.operands.iter().for_each(|operand| own[*operand] = own[*operand].or(from));
            }
            of.push(own);
        }
        for (number, computation) in module.computations.iter().enumerate().rev() {
            for (k, instruction) in computation.instructions.iter().enumerate() {
                let from = of[number][k];
                for called in &instruction.called {
                    of[*called].iter_mut().for_each(|own| *own = own.or(from));
                }
            }
        }
        Origins { of }
    }

    /// The origin of an instruction; of a parameter, what it says itself.
    pub fn get(&self, instruction: &Instruction, (computation, k): (usize, usize)) -> Provenance {
        let from = self.of[computation][k].filter(|_| instruction.opcode != "parameter");
        provenance(from.unwrap_or(&instruction.source))
    }
}

/// The origin that an instruction states.
fn said(instruction: &Instruction, has_lines: bool) -> Option<&Source> {
    let source = &instruction.source;
    let says = if has_lines { source.file.is_some() } else { source.op_name.is_some() };
    (instruction.opcode != "parameter" && says).then_some(source)
}
