//! Checks of MLIR with the dialect and its passes.
//!
//! A context keeps all its attributes and types, so it is replaced from time to time.

use layout_dialect::register;
use melior::dialect::DialectRegistry;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Module, Type};
use melior::pass::PassManager;
use melior::utility::{parse_pass_pipeline, register_all_dialects, register_all_passes};
use melior::{Context, diagnostic::DiagnosticSeverity};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Once;

/// The number of texts for which a context is used.
const TEXTS: usize = 500;

/// The errors reported since the last call of [`Host::errors`].
type Errors = Rc<RefCell<Vec<String>>>;

struct Host {
    context: Context,
    errors: Errors,
    texts: usize,
}

impl Host {
    fn new() -> Host {
        static PASSES: Once = Once::new();
        PASSES.call_once(|| {
            register_all_passes();
            layout_passes::register();
        });
        let registry = DialectRegistry::new();
        register_all_dialects(&registry);
        register(&registry);
        let context = Context::new_with_registry(&registry, false);
        context.load_all_available_dialects();
        let errors = Errors::default();
        let known = errors.clone();
        context.attach_diagnostic_handler(move |diagnostic| {
            if matches!(diagnostic.severity(), DiagnosticSeverity::Error) {
                known.borrow_mut().push(diagnostic.to_string());
            }
            true
        });
        Host { context, errors, texts: 0 }
    }

    /// The errors since the last call. None of them is a panic.
    fn errors(&self) -> Vec<String> {
        let errors = self.errors.take();
        let internal = errors.iter().find(|error| error.starts_with("internal error"));
        assert!(internal.is_none(), "{internal:?}");
        errors
    }

    /// Reads a module; a refusal has a message. A text on which MLIR itself crashes is not read.
    fn module(&self, text: &str) -> Option<Module<'_>> {
        // melior passes a zero-terminated text, and panics if the text has an earlier zero.
        if crashes_mlir(text) || text.contains('\0') {
            return None;
        }
        let module = Module::parse(&self.context, text);
        let errors = self.errors();
        assert!(module.is_some() || !errors.is_empty(), "a module is refused without a message");
        module
    }
}

/// Whether MLIR 22 crashes on this text without our code, as found by these checks: `tensor.concat` along a
/// negative dimension, and `iterator_types` that are not all strings.
fn crashes_mlir(text: &str) -> bool {
    let mut lists = text.match_indices("iterator_types").map(|(at, word)| &text[at + word.len()..]);
    let odd = |list: &str| {
        let list = list.trim_start().trim_start_matches('=').trim_start().strip_prefix('[').unwrap_or_default();
        let (inside, _) = list.split_once(']').unwrap_or_default();
        inside.split(',').any(|name| !matches!(name.trim(), "" | r#""parallel""# | r#""reduction""#))
    };
    text.split("dim(").skip(1).any(|rest| rest.trim_start().starts_with('-')) || lists.any(odd)
}

fn with_host(body: impl FnOnce(&Host)) {
    thread_local! {
        static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
    }
    HOST.with_borrow_mut(|host| {
        let mut known = host.take().filter(|known| known.texts < TEXTS).unwrap_or_else(Host::new);
        known.texts += 1;
        body(&known);
        *host = Some(known);
    });
}

/// Checks that an attribute or a type, printed and read again, stays the same.
pub fn attribute(text: &str) {
    if text.contains('\0') {
        return;
    }
    with_host(|host| {
        let refused = |errors: Vec<String>| assert!(!errors.is_empty(), "a text is refused without a message");
        if text.trim_start().starts_with('#') {
            let Some(read) = Attribute::parse(&host.context, text) else { return refused(host.errors()) };
            let printed = read.to_string();
            assert_eq!(Attribute::parse(&host.context, &printed), Some(read), "{printed}: {:?}", host.errors());
        } else {
            let Some(read) = Type::parse(&host.context, text) else { return refused(host.errors()) };
            let printed = read.to_string();
            assert_eq!(Type::parse(&host.context, &printed), Some(read), "{printed}: {:?}", host.errors());
        }
        host.errors();
    });
}

/// Checks that a module, printed and read again, prints the same, except for MLIR's maps and sets, which MLIR
/// simplifies at each reading.
pub fn module(text: &str) {
    with_host(|host| {
        let Some(module) = host.module(text) else { return };
        let printed = module.as_operation().to_string();
        let again = Module::parse(&host.context, &printed);
        let again = again.unwrap_or_else(|| panic!("{printed}\nis not read again: {:?}", host.errors()));
        if !printed.contains("affine_map<") && !printed.contains("affine_set<") {
            assert_eq!(again.as_operation().to_string(), printed);
        }
    });
}

/// Checks that the translation of HLO is a module.
pub fn translated(text: &str) {
    with_host(|host| {
        let module = Module::parse(&host.context, text);
        assert!(module.is_some(), "{text}\nis not MLIR: {:?}", host.errors());
    });
}

/// The pipelines of lowering.
const PIPELINES: &[&str] = &[
    "layout-to-memref",
    "layout-to-memref{form=physical}",
    "layout-to-memref{vectorize=avx512 reassociate contract}",
    "layout-to-memref{vectorize=neon parallel=forall}",
    "layout-to-llvm",
    "layout-to-llvm{vectorize=avx2 reassociate}",
    "layout-distribute",
    "layout-simplify-indexing",
    "layout-indexing-analysis",
];

/// Checks a module in a pipeline, which the text selects. A pipeline that fails gives a reason.
pub fn lowering(text: &str) {
    with_host(|host| {
        let Some(mut module) = host.module(text) else { return };
        let chosen = text.bytes().fold(0usize, |sum, byte| sum + usize::from(byte)) % PIPELINES.len();
        let passes = PassManager::new(&host.context);
        let pipeline = format!("builtin.module({})", PIPELINES[chosen]);
        parse_pass_pipeline(passes.as_operation_pass_manager(), &pipeline).expect("the pipelines are known");
        let done = passes.run(&mut module);
        let errors = host.errors();
        match done {
            Ok(()) => assert!(module.as_operation().verify(), "{pipeline} leaves a module that is wrong"),
            Err(_) => assert!(!errors.is_empty(), "{pipeline} fails without a message"),
        }
    });
}

/// Checks a pipeline on one module. A refusal has a message, and a failure has a reason.
pub fn pipeline(text: &str) {
    const MODULE: &str = "func.func @f(%x: tensor<4x8xf32, #layout.tiled<{1,0:T(2,4)}>>) -> tensor<4x8xf32> {
      %y = math.absf %x : tensor<4x8xf32, #layout.tiled<{1,0:T(2,4)}>>
      %z = layout.convert %y : tensor<4x8xf32, #layout.tiled<{1,0:T(2,4)}>> to tensor<4x8xf32>
      return %z : tensor<4x8xf32>
    }";
    // Passes of MLIR may end the process, as `-print-op-stats` with a file that cannot be written does.
    let known = |name: &&str| name.starts_with("layout-") || ["builtin", "func", "canonicalize", "cse"].contains(name);
    let names = text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').filter(|word| word.contains('-'));
    if !names.into_iter().all(|name| known(&name) || !name.starts_with(|c: char| c.is_alphabetic())) {
        return;
    }
    with_host(|host| {
        let mut module = host.module(MODULE).expect("the module is valid");
        let passes = PassManager::new(&host.context);
        if let Err(error) = parse_pass_pipeline(passes.as_operation_pass_manager(), text) {
            assert!(!error.to_string().is_empty());
            host.errors();
            return;
        }
        let done = passes.run(&mut module);
        let errors = host.errors();
        match done {
            Ok(()) => assert!(module.as_operation().verify(), "{text} leaves a module that is wrong"),
            Err(_) => assert!(!errors.is_empty(), "{text} fails without a message"),
        }
    });
}
