//! Functions that somebody else writes: custom calls, transfers to and from the host and other devices, and constants
//! whose value the text leaves out.
//!
//! A function is declared once for each name, types and attributes that are used with it. The operands are only read,
//! and the results are new buffers, which the caller frees. A constant is a global without a value, in row-major order.

use crate::syntax::{quoted, symbol};
use crate::tensor::{Tensor, types};
use std::collections::HashMap;
use std::fmt::Write;
use tensor_layout::hlo::Instruction;

/// The functions and globals that are declared for a module.
#[derive(Default)]
pub struct Declarations {
    /// The name of each function, by what it is.
    functions: HashMap<External, String>,
    /// The names that are taken, those of the computations too, and how many were made of each.
    taken: HashMap<String, usize>,
    /// The text of those that are not printed yet.
    text: String,
    /// What becomes of constants whose value the text leaves out.
    pub elided: Elided,
    /// The places of those that became globals.
    pub constants: Vec<usize>,
}

/// What becomes of constants whose value the text leaves out, `constant({...})`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elided {
    /// A global without a value, which a runner defines.
    #[default]
    Resource,
    /// An error for each.
    Error,
}

/// What makes a function another function.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct External {
    /// The name that it should have.
    pub name: String,
    /// `hlo.name = "text"`, with commas between them.
    pub attributes: String,
    ins: String,
    outs: String,
}

impl External {
    /// A function with attributes, each a name and a text.
    pub fn new(name: &str, attributes: &[(&str, &str)], ins: &[Tensor], outs: &[Tensor]) -> External {
        let attribute = |(name, text): &(&str, &str)| format!("hlo.{name} = {}", quoted(text));
        let read = |t: &Tensor| format!("{} {{bufferization.access = \"read\"}}", t.ty);
        External {
            name: name.to_string(),
            attributes: attributes.iter().map(attribute).collect::<Vec<_>>().join(", "),
            ins: ins.iter().map(read).collect::<Vec<_>>().join(", "),
            outs: types(outs),
        }
    }
}

impl Declarations {
    /// None yet, where these names are those of functions of the module.
    pub fn new<'a>(elided: Elided, taken: impl Iterator<Item = &'a str>) -> Declarations {
        Declarations { elided, taken: taken.map(|name| (name.to_string(), 0)).collect(), ..Declarations::default() }
    }

    /// The symbol of a function.
    pub fn function(&mut self, external: External) -> String {
        if let Some(name) = self.functions.get(&external) {
            return symbol(name);
        }
        let name = self.free(&external.name);
        let External { attributes, ins, outs, .. } = &external;
        let comma = if attributes.is_empty() { "" } else { ", " };
        let _ = writeln!(
            self.text,
            "  func.func private {}({ins}) -> ({outs}) attributes {{llvm.emit_c_interface{comma}{attributes}}}",
            symbol(&name)
        );
        self.functions.insert(external, name.clone());
        symbol(&name)
    }

    /// A name that is not in use: `f`, `f.1`, `f.2`, ..
    fn free(&mut self, name: &str) -> String {
        let mut free = name.to_string();
        while self.taken.contains_key(&free) {
            let made = self.taken.entry(name.to_string()).or_insert(0);
            *made += 1;
            free = format!("{name}.{made}");
        }
        self.taken.insert(free.clone(), 0);
        free
    }

    /// The symbol of a global of this type, for the value of an instruction.
    pub fn constant(&mut self, ty: &str, i: &Instruction) -> String {
        let name = self.free(&format!("hlo_constant_{}", self.constants.len()));
        self.constants.push(i.at);
        let (symbol, of) = (symbol(&name), quoted(&i.name));
        let _ = writeln!(self.text, "  memref.global constant {symbol} : {ty} {{hlo.instruction = {of}}}");
        symbol
    }

    /// The text of what was declared since the last time.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}
