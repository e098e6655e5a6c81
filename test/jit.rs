//! Modules compiled in this process. Shared by tests; no test by itself.

use layout_test::Checkout;
use melior::{Context, ExecutionEngine, dialect::DialectRegistry, ir::Module, utility};

/// A context with everything that lowering needs.
pub fn context() -> Context {
    let registry = DialectRegistry::new();
    utility::register_all_dialects(&registry);
    layout_dialect::register(&registry);
    let context = Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    utility::register_all_llvm_translations(&context);
    utility::register_all_passes();
    layout_passes::register();
    context
}

/// The machine code of a module of the LLVM dialect, with the functions of MLIR's runner.
pub fn engine(module: &Module) -> ExecutionEngine {
    // The engine reads on to a zero byte, whatever the length says.
    let library = format!("{}/lib/libmlir_c_runner_utils.so\0", Checkout::new().llvm.display());
    ExecutionEngine::new(module, 0, &[library.trim_end_matches('\0')], false, false)
}
