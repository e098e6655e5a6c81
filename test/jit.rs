//! Modules compiled in this process. Shared by tests; no test by itself.

use layout_runtime::Engine;
use layout_test::Checkout;
use melior::{Context, dialect::DialectRegistry, ir::Module, utility};

/// A context with all dialects and passes for lowering.
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

/// Machine code for a module of the LLVM dialect, with the functions of MLIR's runner and of LLVM's OpenMP.
pub fn engine(module: &Module) -> Engine {
    let libraries = ["libmlir_c_runner_utils.so", "libomp.so"].map(|name| Checkout::new().llvm.join("lib").join(name));
    Engine::new(module, 0, &[&libraries[0], &libraries[1]]).expect("a module of the LLVM dialect")
}
