//! Programs compiled in this process, with layouts and without.

use crate::{board, jit};
use layout_passes::{Form, PipelineOptions};
use layout_runtime::Engine;
use melior::{
    Context, diagnostic::DiagnosticSeverity, ir::Module, ir::operation::OperationLike, pass::PassManager, utility,
};
use std::cell::RefCell;
use std::rc::Rc;

/// Compiles a module of these programs. Also says of which programs something stays one element at a time although
/// vectors were requested. Errors are on standard error.
pub fn engine(context: &Context, texts: &[String], options: PipelineOptions) -> Option<(Engine, Vec<bool>)> {
    let (module, scalar) = lowered(context, texts, options)?;
    Some((jit::engine(&module), scalar))
}

fn lowered<'c>(context: &'c Context, texts: &[String], options: PipelineOptions) -> Option<(Module<'c>, Vec<bool>)> {
    let remarks = Rc::new(RefCell::new(Vec::new()));
    let told = remarks.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let is_remark = matches!(diagnostic.severity(), DiagnosticSeverity::Remark);
        if is_remark {
            told.borrow_mut().push(line(&diagnostic.location().to_string()));
        }
        is_remark
    });
    let text = format!("module attributes {{{}}} {{\n{}}}\n", board::machine(), texts.concat());
    let lowered = Module::parse(context, &text).and_then(|mut module| {
        let passes = PassManager::new(context);
        // Programs are small. In half of them, innermost loops are treated as in large ones, and buffers have places, which
        // are filled with garbage wherever no buffer is live.
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

/// The line of a location such as `loc("-":12:3)`.
fn line(location: &str) -> Option<usize> {
    location.split("\":").nth(1)?.split(':').next()?.parse().ok()
}
