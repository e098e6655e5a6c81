//! Functions beside those of the computations: their functions on scalars, and external ones: custom
//! calls, exchanges between devices, transfers to and from the host and other devices, and constants whose value the
//! text leaves out.
//!
//! A function is declared once for each name, types and attributes that are used with it. The operands are only read,
//! and the results are new buffers, which the caller frees. A constant is a global without a value, in row-major order.

use crate::syntax::{quoted, symbol};
use crate::tensor::{Tensor, types};
use std::collections::HashMap;
use std::fmt::Write;
use tensor_layout::hlo::Instruction;
use tensor_layout::text::Error;

/// The declared functions and globals of a module.
#[derive(Default)]
pub struct Declarations {
    /// The name of each function, by its signature and attributes.
    functions: HashMap<External, String>,
    /// The symbols of functions on scalars, by computation.
    scalars: HashMap<usize, String>,
    /// The names in use, the computations' too, with the number of names derived from each.
    taken: HashMap<String, usize>,
    /// The text of declarations that are not printed yet.
    text: String,
    /// The treatment of constants whose value the text leaves out.
    pub elided: Elided,
    /// The number of constants that became globals.
    constants: usize,
    /// The definitions that a runner must add, at each use.
    pub wanted: Vec<Error>,
}

/// The treatment of constants whose value the text leaves out, `constant({...})`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elided {
    /// A global without a value, which a runner defines.
    #[default]
    Resource,
    /// An error for each.
    Error,
}

/// The identity of an external function.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct External {
    /// The preferred name.
    pub name: String,
    /// The attributes, `hlo.name = "text"`, with commas between them.
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
    /// No declarations; `taken` are the names of the module's functions.
    pub fn new<'a>(elided: Elided, taken: impl Iterator<Item = &'a str>) -> Declarations {
        Declarations { elided, taken: taken.map(|name| (name.to_string(), 0)).collect(), ..Declarations::default() }
    }

    /// The symbol of an external function, for an instruction.
    pub fn function(&mut self, external: External, i: &Instruction) -> String {
        let name = self.declared(external);
        let what = match &*i.opcode {
            "custom-call" => "only a runner knows what this call does",
            _ => "only a runner knows what is at the other end",
        };
        self.wanted.push(Error::at(i.at, format!("{what}: it must define `_mlir_ciface_{name}`")));
        symbol(&name)
    }

    /// The symbol of the function that all exchanges of a kind and of these types call.
    pub fn exchange(&mut self, name: String, ins: String, outs: &str) -> String {
        symbol(&self.declared(External { name, attributes: String::new(), ins, outs: outs.to_string() }))
    }

    /// The symbol of a computation's function on scalars, if any.
    pub fn on_scalars(&self, computation: usize) -> Option<&String> {
        self.scalars.get(&computation)
    }

    /// A new symbol for the function on scalars of the computation with this name.
    pub fn name_on_scalars(&mut self, computation: usize, name: &str) -> String {
        let own = symbol(&self.free(&format!("{name}.scalars")));
        self.scalars.insert(computation, own.clone());
        own
    }

    /// Adds the text of a function.
    pub fn define(&mut self, function: &str) {
        self.text.push_str(function);
    }

    /// The name of a function, declared at its first use.
    fn declared(&mut self, external: External) -> String {
        match self.functions.get(&external) {
            Some(name) => name.clone(),
            None => self.declare(external),
        }
    }

    /// Declares a function; returns its name.
    fn declare(&mut self, external: External) -> String {
        let name = self.free(&external.name);
        let External { attributes, ins, outs, .. } = &external;
        let comma = if attributes.is_empty() { "" } else { ", " };
        let _ = writeln!(
            self.text,
            "  func.func private {}({ins}) -> ({outs}) attributes {{llvm.emit_c_interface{comma}{attributes}}}",
            symbol(&name)
        );
        self.functions.insert(external, name.clone());
        name
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

    /// The symbol of a global of this type, for an instruction's value.
    pub fn constant(&mut self, ty: &str, i: &Instruction) -> String {
        let name = self.free(&format!("hlo_constant_{}", self.constants));
        self.constants += 1;
        let elided = "the text leaves out the value of this constant: a runner must define it";
        self.wanted.push(Error::at(i.at, elided));
        let (symbol, of) = (symbol(&name), quoted(&i.name));
        let _ = writeln!(self.text, "  memref.global constant {symbol} : {ty} {{hlo.instruction = {of}}}");
        symbol
    }

    /// The text of declarations since the last call.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}
