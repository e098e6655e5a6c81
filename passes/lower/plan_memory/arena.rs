//! The memory of a call: an allocation, an argument, or memory kept between calls.

use crate::analysis::functions::{ends, symbol};
use crate::buffers::descriptors::{at_pointer, number, pointer_type};
use crate::lower::plan_memory::memory::ArenaMemory;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::Arena;
use layout_ir::{self as ir, ALIGNMENT, Builder, Op, Rewriter, Val};
use melior::ir::attribute::FlatSymbolRefAttribute;
use std::collections::HashSet;

/// Functions of the C library for kept memory.
const LIBRARY: [(&str, &str); 2] = [("aligned_alloc", "(i64, i64) -> !llvm.ptr"), ("free", "(!llvm.ptr)")];

/// The arenas of a module's functions.
pub struct Arenas<'c> {
    module: Op<'c>,
    from: Arena,
    /// The memory of the arenas.
    pub memory: ArenaMemory<'c>,
    symbols: HashSet<String>,
    /// Text to be added to the module.
    added: String,
    /// The functions that take kept memory and give it back, and the variables that keep it.
    functions: Option<(String, String)>,
    variables: Vec<String>,
}

impl<'c> Arenas<'c> {
    /// # Errors
    /// A function of the module with the name of a C library function that is needed.
    pub fn of(rewriter: &'c Rewriter, from: Arena) -> Result<Arenas<'c>, Vec<Diagnostic<'c>>> {
        let module = rewriter.root();
        let operations: Vec<Op<'c>> = ir::blocks(module).into_iter().flat_map(ir::operations).collect();
        // The added code has 64-bit pointers and sizes.
        let own_data_layout = ir::attribute(module, "dlti.dl_spec").is_some();
        let from = if from == Arena::Kept && own_data_layout { Arena::Call } else { from };
        let symbols: HashSet<String> = operations.iter().filter_map(|op| symbol(*op)).map(str::to_owned).collect();
        let mut added = String::new();
        for (name, kind) in LIBRARY.iter().filter(|_| from == Arena::Kept) {
            match operations.iter().find(|op| symbol(**op) == Some(*name)) {
                None => added += &format!("llvm.func @{name}{kind}\n"),
                Some(op) if ir::name(*op) == "llvm.func" => {}
                Some(op) => {
                    let message = format!("with arena=kept, `{name}` is that of C's library; give this another name");
                    return Err(vec![Diagnostic::error(ir::location(*op), message)]);
                }
            }
        }
        let memory = ArenaMemory { space: None };
        Ok(Arenas { module, from, memory, symbols, added, functions: None, variables: Vec::new() })
    }

    /// The arena of a function that gets none from its callers; `None` for 0 bytes.
    pub fn arena(&mut self, function: Op<'c>, bytes: i64) -> Option<Val<'c>> {
        let is_private = ir::attribute(function, "sym_visibility").and_then(ir::text) == Some("private");
        if self.from == Arena::Argument && !is_private {
            self.say_bytes(function, bytes);
            return Some(self.memory.add_argument(function, bytes));
        }
        if bytes == 0 {
            return None;
        }
        // LLVM wants a location for each call; an operation that was folded has none.
        let b = Builder::before(ir::operations(ir::blocks(function)[0])[0]).located(function);
        if self.from == Arena::Kept {
            return Some(self.kept(b, function, bytes));
        }
        let arena = self.memory.allocate(b, bytes);
        for end in ends(function) {
            Builder::before(end).op("memref.dealloc", &[arena], &[], &[]);
        }
        Some(arena)
    }

    /// Emits memory that a variable keeps between calls. A call takes it out, so that a concurrent call finds none.
    fn kept(&mut self, b: Builder<'c>, function: Op<'c>, bytes: i64) -> Val<'c> {
        let variable = self.name(&format!("{}_arena{}", symbol(function).unwrap_or_default(), self.memory.suffix()));
        let (take, keep) = match &self.functions {
            Some(names) => names.clone(),
            None => {
                let names = (self.name("take_arena"), self.name("keep_arena"));
                self.functions.insert(names).clone()
            }
        };
        let call = |b: Builder<'c>, name: &str, operands: &[Val<'c>], results: &[_]| {
            let callee = b.named("callee", FlatSymbolRefAttribute::new(b.context(), name));
            b.op("func.call", operands, results, &[callee])
        };
        let name = b.named("global_name", FlatSymbolRefAttribute::new(b.context(), &variable));
        let at = b.value("llvm.mlir.addressof", &[], pointer_type(b), &[name]);
        let taken = call(b, &take, &[at, number(b, bytes)], &[pointer_type(b)]);
        let pointer = ir::result(taken, 0);
        for end in ends(function) {
            call(b.at(end), &keep, &[at, pointer], &[]);
        }
        self.variables.push(variable);
        at_pointer(b, pointer, &[0, bytes, 1], self.memory.bytes(b, bytes))
    }

    /// Adds a function that returns the bytes of another function's arena.
    fn say_bytes(&mut self, function: Op<'c>, bytes: i64) {
        let name = self.name(&format!("{}_arena_bytes{}", symbol(function).unwrap_or_default(), self.memory.suffix()));
        self.added += &format!(
            "func.func @{}() -> i64 {{\n  %bytes = arith.constant {bytes} : i64\n  return %bytes : i64\n}}\n",
            quoted(&name)
        );
    }

    /// A new symbol of the module: the wanted one, or the same with a number.
    fn name(&mut self, wanted: &str) -> String {
        let more = (1..).map(|k| format!("{wanted}_{k}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(more);
        let name = names.find(|name| !self.symbols.contains(name)).expect("numbers do not end");
        self.symbols.insert(name.clone());
        name
    }

    /// Adds the support functions and variables to the module.
    pub fn finish(mut self) {
        if let Some((take, keep)) = self.functions.take() {
            let text = self.of_kept(&take, &keep);
            self.added += &text;
        } else if self.from == Arena::Kept {
            return;
        }
        let Some(first) = ir::blocks(self.module).into_iter().flat_map(ir::operations).next() else { return };
        ir::parse_before(&self.added, first);
    }

    /// The functions and variables of kept memory.
    fn of_kept(&mut self, take: &str, keep: &str) -> String {
        let release = quoted(&self.name("free_arenas"));
        let (take, keep) = (quoted(take), quoted(keep));
        let exchange = "llvm.atomicrmw xchg %variable, %with acq_rel : !llvm.ptr, !llvm.ptr";
        let mut text = format!(
            "func.func private @{take}(%variable: !llvm.ptr, %bytes: i64) -> !llvm.ptr \
             attributes {{llvm.linkage = #llvm.linkage<internal>}} {{\n\
               %with = llvm.mlir.zero : !llvm.ptr\n\
               %kept = {exchange}\n\
               %is_none = llvm.icmp \"eq\" %kept, %with : !llvm.ptr\n\
               cf.cond_br %is_none, ^new, ^done(%kept : !llvm.ptr)\n\
             ^new:\n\
               %alignment = llvm.mlir.constant({ALIGNMENT} : i64) : i64\n\
               %new = llvm.call @aligned_alloc(%alignment, %bytes) : (i64, i64) -> !llvm.ptr\n\
               cf.br ^done(%new : !llvm.ptr)\n\
             ^done(%arena: !llvm.ptr):\n\
               return %arena : !llvm.ptr\n\
             }}\n\
             func.func private @{keep}(%variable: !llvm.ptr, %with: !llvm.ptr) \
             attributes {{llvm.linkage = #llvm.linkage<internal>}} {{\n\
               %kept = {exchange}\n\
               llvm.call @free(%kept) : (!llvm.ptr) -> ()\n\
               return\n\
             }}\n"
        );
        let mut body = String::from("%with = llvm.mlir.zero : !llvm.ptr\n");
        for (k, variable) in self.variables.iter().map(|name| quoted(name)).enumerate() {
            text += &format!(
                "llvm.mlir.global internal @{variable}() {{addr_space = 0 : i32}} : !llvm.ptr {{\n\
                   %none = llvm.mlir.zero : !llvm.ptr\n  llvm.return %none : !llvm.ptr\n}}\n"
            );
            body += &format!(
                "%at{k} = llvm.mlir.addressof @{variable} : !llvm.ptr\n\
                 %kept{k} = {}\n\
                 llvm.call @free(%kept{k}) : (!llvm.ptr) -> ()\n",
                exchange.replace("%variable", &format!("%at{k}"))
            );
        }
        text + &format!(
            "llvm.func internal @{release}() {{\n{body}llvm.return\n}}\n\
             llvm.mlir.global_dtors dtors = [@{release}], priorities = [0 : i32], data = [#llvm.zero]\n"
        )
    }
}

/// A name as a symbol in module text.
fn quoted(name: &str) -> String {
    let byte = |byte: u8| match byte {
        b' '..=b'~' if !b"\"\\".contains(&byte) => char::from(byte).to_string(),
        _ => format!("\\{byte:02X}"),
    };
    format!("\"{}\"", name.bytes().map(byte).collect::<String>())
}
