//! The programs for faults: functions of the tests' files, each lowered with one of several sets of options.

use crate::interface::Interface;
use crate::run::{self, How, Left};
use crate::text;
use layout_test::Checkout;
use layout_verify::{Limits, Source};
use melior::ir::operation::{OperationLike, OperationPrintingFlags};
use melior::ir::{BlockLike, Module, OperationRef};
use melior::{Context, pass::PassManager, utility};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The lowering options. With `TENSORS` nothing is lowered: faults are in the source program.
pub const OPTIONS: &[&str] = &[
    "layout-to-memref{form=strided}",
    "layout-to-memref{vectorize=avx512}",
    "layout-to-memref{vectorize=avx2}",
    "layout-to-memref{vectorize=avx2 form=physical reassociate contract}",
    "layout-to-memref{vectorize=avx2 padding=typed reassociate}",
    "layout-to-memref{vectorize=avx2 parallel=parallel}",
    "layout-to-memref{vectorize=avx2 parallel=forall}",
    "layout-to-memref{vectorize=neon row-block-bytes=512}",
    "layout-to-memref{form=strided},layout-plan-memory{buffers=0}",
    TENSORS,
];
const TENSORS: &str = "";
/// The limit of verification time for a faultless program: many faults take longer.
const LONGEST: Duration = Duration::from_millis(400);
/// The limit of a function's text, in bytes.
const LARGEST: usize = 200_000;
/// The limit of steps in a verification run.
const STEPS: u64 = 1 << 18;

/// A function of a file.
pub struct Program {
    pub file: String,
    pub name: String,
    /// The text of its module in generic form.
    pub text: String,
    header: String,
}

/// A function, lowered.
pub struct Case {
    pub options: &'static str,
    pub tensors: bool,
    pub limits: Limits,
    /// The form whose operations the kernels name that implement them.
    pub numbered: Option<String>,
    pub text: String,
    pub interface: Interface,
    /// Whether options allow another rounding.
    pub rounds: bool,
    pub left: Left,
}

/// A module in generic form.
pub fn generic(module: &Module) -> String {
    let flags = OperationPrintingFlags::new().print_generic_operation_form().use_local_scope();
    module.as_operation().to_string_with_flags(flags).unwrap_or_default()
}

/// The messages for a module as a form of another one: errors, and unproved parts. Where operations have origins, these are in
/// a third one.
pub fn verified(
    before: &Module,
    numbered: Option<&Module>,
    after: &Module,
    limits: Limits,
) -> (Vec<String>, Vec<String>) {
    let mut source = Source::new(before.as_operation(), limits);
    numbered.iter().for_each(|module| source.note_numbered(module.as_operation()));
    source.note(after.as_operation(), 1);
    let errors = source.check().into_iter().map(|(_, error)| error.message).collect();
    (errors, source.open().into_iter().map(|open| open.message).collect())
}

/// The functions of all files, each in its own module with the symbols that it uses.
pub fn all(context: &Context) -> Vec<Program> {
    let root = Checkout::new().root;
    let mut files = vec![];
    for folder in ["test/mutants/Inputs", "test/run", "test/passes", "test/passes/vectorize"] {
        let entries = fs::read_dir(root.join(folder)).expect("a folder of tests").flatten().map(|entry| entry.path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "mlir")));
    }
    files.sort();
    let mut programs = vec![];
    for file in files {
        let text = fs::read_to_string(&file).expect("a test");
        let name = file.strip_prefix(&root).expect("in the checkout").display().to_string();
        for part in text.split("// -----") {
            if let Some(module) = Module::parse(context, part) {
                programs.extend(functions(&generic(&module), &name));
            }
        }
    }
    programs
}

/// The functions of a module in generic form.
fn functions(module: &str, file: &str) -> Vec<Program> {
    let (first, symbols, last) = text::symbols(module);
    let symbol = |lines: &[String]| {
        let start = lines[0].find("sym_name = \"")? + 12;
        Some(lines[0][start..start + lines[0][start..].find('"')?].to_owned())
    };
    let mut programs = vec![];
    for lines in symbols.iter().filter(|lines| lines[0].contains("\"func.func\"") && lines.len() > 3) {
        let Some(name) = symbol(lines) else { continue };
        let mut needed = vec![lines.clone()];
        let mut at = 0;
        while at < needed.len() {
            for other in &symbols {
                let Some(name) = symbol(other) else { continue };
                let refers = needed[at].iter().any(|line| line.contains(&format!("@{name}")));
                if refers && !needed.contains(other) {
                    needed.push(other.clone());
                }
            }
            at += 1;
        }
        let text = needed.concat().join("\n");
        let silent = !text.contains("vector.print")
            && !needed.iter().any(|lines| lines[0].contains("\"func.func\"") && lines.len() < 4);
        if silent && !text.contains("sym_visibility = \"private\", sym_name = \"{name}\"") {
            programs.push(Program {
                file: file.into(),
                name,
                text: format!("{first}\n{text}\n{last}\n"),
                header: lines[0].clone(),
            });
        }
    }
    programs
}

impl Program {
    /// The program, lowered with some options, and its results; `None` if it does not lower, has no proof, or cannot be
    /// called.
    pub fn case(&self, context: &Context, options: &'static str, seed: u64) -> Option<Case> {
        let tensors = options == TENSORS;
        let before = Module::parse(context, &self.text)?;
        let [numbered, lowered] = witness(context, &self.text, if tensors { OPTIONS[0] } else { options })?;
        let lowered_text = generic(&lowered);
        let symbol = format!("sym_name = \"{}\"", self.name);
        let header = lowered_text.lines().find(|line| line.contains(&symbol) && line.contains("\"func.func\""))?;
        let interface = Interface::new(&self.name, &self.header, header)?;
        let (text, after) = if tensors { (self.text.clone(), &before) } else { (lowered_text.clone(), &lowered) };
        if text.len() > LARGEST {
            return None;
        }
        let (reassociate, contract) = (options.contains("reassociate"), options.contains("contract"));
        let limits = Limits {
            steps: Some(STEPS),
            reassociate,
            contract,
            approximate: options.contains("approximate"),
            interfaces: false,
            arenas: false,
            spaces: false,
            obligations: false,
            exact_origins: false,
        };
        let begin = Instant::now();
        let numbered = Some(numbered).filter(|_| !tensors);
        let (errors, open) = verified(&before, numbered.as_ref(), after, limits);
        if !(errors.is_empty() && open.is_empty()) || begin.elapsed() > LONGEST {
            return None;
        }
        let flags = text.lines().any(|line| line.contains("fastmath<") && !line.contains("fastmath<none>"));
        let rounds = reassociate || contract || flags;
        let left = run::run(
            context,
            &text,
            &interface,
            seed,
            How { tensors, draws: &[true; run::DRAWS], patience: run::DRAWS, reverse: false },
        )?;
        // A program that violates its memory cannot show a fault.
        let good = left.iter().flatten().all(|left| left.last() == Some(&1)) && left.iter().any(Option::is_some);
        let numbered = numbered.as_ref().map(generic);
        good.then_some(Case { options, tensors, limits, numbered, text, interface, rounds, left })
    }
}

/// The witness of some passes: a program before its kernels are made, and after the passes.
fn witness<'c>(context: &'c Context, text: &str, passes: &str) -> Option<[Module<'c>; 2]> {
    let mut module = Module::parse(context, text)?;
    let manager = PassManager::new(context);
    let file = format!("{}/witness-{:?}.mlir", env!("CARGO_TARGET_TMPDIR"), thread::current().id());
    let pipeline =
        format!("builtin.module(layout-verify{{passes={{{passes}}} steps=1 remarks=false witness=\"{file}\"}})");
    utility::parse_pass_pipeline(manager.as_operation_pass_manager(), &pipeline).expect("a pipeline");
    manager.run(&mut module).ok()?;
    let witness = Module::parse(context, &fs::read_to_string(&file).expect("the witness"))?;
    let numbered = witness.body().first_operation()?;
    let after = numbered.next_in_block()?;
    let module = |program: OperationRef| Module::from_operation((*program).clone());
    Some([module(numbered)?, module(after)?])
}
