//! Programs compiled in this process, with layouts and without.

use crate::{board, jit};
use layout_passes::{Form, PipelineOptions};
use layout_runtime::Engine;
use melior::{
    Context, diagnostic::DiagnosticSeverity, ir::Module, ir::operation::OperationLike, pass::PassManager, utility,
};
use std::cell::RefCell;
use std::rc::Rc;

/// Compiles a module of these programs. The flags say which programs keep scalar code although vectors were requested.
/// Errors go to standard error.
pub fn engine(context: &Context, texts: &[String], options: &PipelineOptions) -> Option<(Engine, Vec<bool>)> {
    let (module, scalar) = lowered(context, texts, options)?;
    Some((jit::engine(&module), scalar))
}

fn lowered<'c>(context: &'c Context, texts: &[String], options: &PipelineOptions) -> Option<(Module<'c>, Vec<bool>)> {
    let remarks = Rc::new(RefCell::new(Vec::new()));
    let told = remarks.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let is_remark = matches!(diagnostic.severity(), DiagnosticSeverity::Remark);
        // Verification also emits remarks on scalar code that it cannot prove.
        if is_remark && !diagnostic.to_string().starts_with('@') {
            told.borrow_mut().push(line(&diagnostic.location().to_string()));
        }
        is_remark
    });
    let text = format!("module attributes {{{}}} {{\n{}}}\n", board::machine(), texts.concat());
    let lowered = Module::parse(context, &text).and_then(|mut module| {
        let passes = PassManager::new(context);
        // Small programs. Half of them get the innermost loops of large ones, and an arena whose bytes hold garbage
        // wherever no buffer is live.
        let large = "layout-strip-memory-spaces,layout-plan-memory{arena=kept poison},layout-outline-loops{loops=1}";
        let pipeline = match options.lowering.form {
            Form::Strided => format!("builtin.module(layout-to-llvm{{{options}}})"),
            Form::Physical => {
                format!("builtin.module(layout-to-memref{{{options}}},{large},layout-convert-to-llvm{{arena=none}})")
            }
        };
        utility::parse_pass_pipeline(passes.as_operation_pass_manager(), &pipeline).expect("a pipeline");
        passes.run(&mut module).ok()?;
        module.as_operation().verify().then_some(module)
    });
    context.detach_diagnostic_handler(handler);
    // The first line is the module's.
    let mut next = 2;
    let scalar = texts.iter().map(|text| {
        let lines = next..next + text.lines().count();
        next = lines.end;
        remarks.borrow().iter().any(|line| line.is_none_or(|line| lines.contains(&line)))
    });
    lowered.map(|module| (module, scalar.collect()))
}

/// The remarks of `layout-lower-memrefs` on padding: a line for each kernel that could iterate over whole tiles.
///
/// # Errors
/// If lowering fails.
pub fn said_of_padding(context: &Context, text: &str) -> Result<Vec<String>, melior::Error> {
    let remarks = Rc::new(RefCell::new(Vec::new()));
    let told = remarks.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        told.borrow_mut().push(diagnostic.to_string());
        true
    });
    let text = format!("module attributes {{{}}} {{\n{text}}}\n", board::machine());
    let passes = PassManager::new(context);
    let pipeline = "builtin.module(layout-lower-memrefs{vectorize=avx512 padding=report})";
    utility::parse_pass_pipeline(passes.as_operation_pass_manager(), pipeline).expect("a pipeline");
    let lowered =
        Module::parse(context, &text).ok_or(melior::Error::RunPass).and_then(|mut module| passes.run(&mut module));
    context.detach_diagnostic_handler(handler);
    let remarks = remarks.take();
    lowered.map(|()| remarks)
}

/// The line of a location such as `loc("-":12:3)`.
fn line(location: &str) -> Option<usize> {
    location.split("\":").nth(1)?.split(':').next()?.parse().ok()
}
