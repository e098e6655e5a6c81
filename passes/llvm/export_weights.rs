//! `layout-export-weights`: constants of many bytes in an object file.
//!
//! Printed and read as text, and laid out by LLVM, 46 MB of weights take 150 seconds; the object file takes less than
//! one. A private constant
//!
//! ```mlir
//! llvm.mlir.global private constant @__constant_64x64xf32(dense<..> : tensor<64x64xf32>) {alignment = 64 : i64, ..}
//! ```
//!
//! becomes a section `.rodata.__weights_HASH` with a symbol of that name, and in the module
//!
//! ```mlir
//! llvm.mlir.global external constant @__weights_HASH() {alignment = 64 : i64, ..}
//! ```
//!
//! The hash is that of alignment and bytes, so the name is the same in each module with these bytes: their symbols are
//! weak and their sections groups, of which a linker keeps one. A public constant keeps its name, and is no group.
//!
//! The file is written before the module changes.

use crate::buffers::globals::symbol;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::{ExportWeightsOptions, NONE};
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream;
use layout_ir::{self as ir, Builder, Op};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::OperationMutLike;
use melior::ir::{Attribute, TypeLike};
use object::write::{Comdat, Object, StandardSection, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, ComdatKind, Endianness, SectionFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope, elf,
};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::HashSet;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The least alignment in bytes: a line of the cache, and a vector of AVX-512.
const ALIGNMENT: u64 = 64;

/// A constant for the object file.
struct Weight<'c> {
    op: Op<'c>,
    /// The symbol in the module.
    name: &'c str,
    /// The symbol in the object file.
    symbol: String,
    alignment: u64,
    bytes: Cow<'c, [u8]>,
}

/// Moves the constants of many bytes to the object file.
pub(crate) fn run<'c>(stage: StageInput<'c, ExportWeightsOptions>) -> StageResult<'c> {
    let (module, ExportWeightsOptions { file, minimum }) = (stage.root(), &stage.options);
    if file == NONE {
        return Ok(Next::Unchanged);
    }
    let globals: Vec<Op> = ir::blocks(module).into_iter().flat_map(ir::operations).collect();
    let weights = globals.iter().filter_map(|op| Weight::of(*op, *minimum).transpose()).collect::<Result<Vec<_>, _>>();
    let mut weights = weights.map_err(|error| vec![error])?;
    let aliased = aliased(&globals);
    let (declared, defined): (Vec<Op>, Vec<Op>) = globals.iter().partition(|op| is_declared(**op));
    let [mut declared, defined] =
        [declared, defined].map(|ops| ops.into_iter().filter_map(symbol).map(str::to_owned).collect::<HashSet<_>>());
    weights.retain(|weight| {
        let is_free = !weight.is_shared() || !defined.contains(&weight.symbol);
        is_free && !aliased.contains(weight.name)
    });
    let wrong = |error: String| vec![Diagnostic::error(ir::location(module), format!("cannot write {file}: {error}"))];
    let object = object_of(&weights, architecture(module).map_err(wrong)?);
    write(Path::new(file), &object).map_err(|error| wrong(error.to_string()))?;
    let mut renamed = Vec::new();
    for Weight { op, name, symbol, .. } in &weights {
        renamed.push((name.to_string(), symbol.clone()));
        // A module that was merged with another has the declaration already.
        if declared.insert(symbol.clone()) {
            declare(*op);
        } else {
            stage.rewriter.erase(*op);
        }
    }
    upstream::rename_symbols(module, &renamed);
    Ok(Next::of(!weights.is_empty()))
}

/// Whether a global is the declaration of one that is elsewhere.
fn is_declared(op: Op) -> bool {
    ir::name(op) == "llvm.mlir.global" && ir::attribute(op, "value").is_none() && ir::blocks(op).is_empty()
}

/// The symbols of which there are aliases: these must be defined in the module.
fn aliased(globals: &[Op]) -> HashSet<String> {
    let aliases = globals.iter().filter(|op| ir::name(**op) == "llvm.mlir.alias");
    let names = aliases.flat_map(|op| ir::all_operations(*op)).filter_map(|op| ir::attribute(op, "global_name"));
    names.filter_map(|name| Some(FlatSymbolRefAttribute::try_from(name).ok()?.value().to_owned())).collect()
}

impl<'c> Weight<'c> {
    /// The weight that an operation defines; `None` for other operations, and for what stays in the module.
    ///
    /// # Errors
    /// A resource that the module lacks.
    fn of(op: Op<'c>, minimum: u64) -> Result<Option<Weight<'c>>, Diagnostic<'c>> {
        let linkage = ir::attribute(op, "linkage").map(|linkage| linkage.to_string()).unwrap_or_default();
        let is_private = ["<private>", "<internal>"].iter().any(|of| linkage.ends_with(of));
        let is_constant = ir::name(op) == "llvm.mlir.global"
            && ir::attribute(op, "constant").is_some()
            && ir::attribute(op, "addr_space").and_then(ir::integer).unwrap_or(0) == 0
            && ["comdat", "section", "thread_local_"].iter().all(|placed| ir::attribute(op, placed).is_none())
            && (is_private || linkage.ends_with("<external>"));
        let value = ir::attribute(op, "value").filter(|_| is_constant);
        let (Some(value), Some(name)) = (value, ir::attribute(op, "sym_name").and_then(ir::text)) else {
            return Ok(None);
        };
        let Some(constant) = ir::constant(value) else {
            let is_lacking = ir::is_resource(value);
            let message = "its resource is not in the module, or has another number of bytes than its type";
            return if is_lacking { Err(Diagnostic::error(ir::location(op), message)) } else { Ok(None) };
        };
        // LLVM packs the elements of a vector.
        let is_other = |text: String| text.contains("vec") || constant.element.is_index() && text.contains("i32");
        if ir::attribute(op, "global_type").is_some_and(|t| is_other(t.to_string())) || name.contains('\0') {
            return Ok(None);
        }
        let Some(bytes) = constant.in_memory().filter(|bytes| bytes.len() as u64 >= minimum) else { return Ok(None) };
        let alignment = ir::attribute(op, "alignment").and_then(ir::integer).unwrap_or(0) as u64;
        let alignment = alignment.max(ALIGNMENT);
        let symbol = if is_private { symbol_of(alignment, &bytes) } else { name.to_owned() };
        Ok(Some(Weight { op, name, symbol, alignment, bytes }))
    }

    /// Whether several object files may have it.
    fn is_shared(&self) -> bool {
        self.symbol != self.name
    }
}

/// The name of a private constant.
fn symbol_of(alignment: u64, bytes: &[u8]) -> String {
    let hash = Sha256::new().chain_update(alignment.to_le_bytes()).chain_update(bytes).finalize();
    hash[..16].iter().fold("__weights_".to_owned(), |name, byte| format!("{name}{byte:02x}"))
}

/// Takes the value of a global away.
fn declare(op: Op) {
    let external = Attribute::parse(Builder::before(op).context(), "#llvm.linkage<external>");
    ir::edit(op).set_attribute("linkage", external.expect("an attribute of the LLVM dialect"));
    ir::edit(op).remove_attribute("value").expect("the global has a value");
    // It may be in another shared object.
    let _ = ir::edit(op).remove_attribute("dso_local");
}

/// Parts of the names of targets whose object files are not ELF of 64 bits.
const OTHERS: [&str; 14] = [
    "apple",
    "coff",
    "cygwin",
    "darwin",
    "driverkit",
    "gnux32",
    "ilp32",
    "ios",
    "macho",
    "macos",
    "uefi",
    "wasm",
    "win32",
    "windows",
];

/// The architecture of a module's target; that of this machine where it names none.
fn architecture(module: Op) -> Result<Architecture, String> {
    let triple = ir::attribute(module, "llvm.target_triple").and_then(ir::text).unwrap_or(std::env::consts::ARCH);
    let known =
        [("x86_64", Architecture::X86_64), ("aarch64", Architecture::Aarch64), ("arm64", Architecture::Aarch64)];
    let (arch, system) = triple.split_once('-').unwrap_or((triple, ""));
    let is_elf = !OTHERS.iter().any(|other| system.contains(other));
    let found = known.iter().find(|(name, _)| is_elf && *name == arch);
    found.map(|(_, architecture)| *architecture).ok_or_else(|| {
        let known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        format!("the target must have ELF and be one of {}, found {triple}", known.join(", "))
    })
}

/// The object file of some constants.
fn object_of<'w>(weights: &'w [Weight], architecture: Architecture) -> Object<'w> {
    let mut object = Object::new(BinaryFormat::Elf, architecture, Endianness::Little);
    let mut seen = HashSet::new();
    for weight in weights.iter().filter(|weight| seen.insert(&weight.symbol)) {
        let name = weight.symbol.as_bytes();
        let section = object.add_subsection(StandardSection::ReadOnlyData, name);
        object.set_section_data(section, &*weight.bytes, weight.alignment);
        let symbol = object.add_symbol(Symbol {
            name: name.to_vec(),
            value: 0,
            size: weight.bytes.len() as u64,
            kind: SymbolKind::Data,
            scope: SymbolScope::Dynamic,
            weak: weight.is_shared(),
            section: SymbolSection::Section(section),
            flags: SymbolFlags::None,
        });
        if weight.is_shared() {
            let sh_flags = elf::SHF_ALLOC | elf::SHF_GROUP;
            object.section_mut(section).flags = SectionFlags::Elf { sh_type: elf::SHT_PROGBITS, sh_flags };
            object.add_comdat(Comdat { kind: ComdatKind::Any, symbol, sections: vec![section] });
        }
    }
    // Without this section, a linker takes the program to need an executable stack.
    object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    object
}

/// Writes an object file, which replaces the file of that name once it is whole. A device or a pipe is written directly.
fn write(file: &Path, object: &Object) -> Result<(), Box<dyn Error>> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let stream = |to: File| object.write_stream(BufWriter::with_capacity(1 << 20, to));
    match File::options().write(true).open(file) {
        Ok(old) if !old.metadata()?.is_file() => return stream(old),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        Ok(_) | Err(_) => {}
    }
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.into());
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let new = file.with_file_name(format!(".layout-{}-{number}.tmp", std::process::id()));
    let written = File::create_new(&new).map_err(Into::into).and_then(stream);
    let written = written.and_then(|()| fs::rename(&new, &file).map_err(Into::into));
    written.inspect_err(|_| drop(fs::remove_file(&new)))
}
