//! Runs the documentation pages: `pages.rs` checks every fenced block.
//!
//! `console` commands run in an empty folder with links to the checkout's `examples` and `target/release` (the latter
//! in the profile of this test), with this project's tools and LLVM's on the PATH; `sh` commands run in the checkout.
//! Each page has its own folder. `BLESS=1 cargo test -p layout-test --test structure readme` writes the commands' output into the
//! pages.

use layout_test::{
    Checkout, Sample,
    pages::{self, Place},
};
use std::{env, ffi::OsString, fs, os::unix::fs::symlink, process::Command, sync::LazyLock};

/// A test for each page.
macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        $(#[test]
        fn $name() {
            if Sample::from_env().runs(concat!("structure::readme::", stringify!($name))) {
                check($page);
            }
        })*
    };
}

// `docs.rs` checks the generated pages, `embed.rs` checks `docs/cpp.md`, `static_hosts.rs` checks `docs/static.md`, and the
// tests of the Python package check `docs/python.md`.
pages! {
    readme: "README.md",
    pages: "docs/README.md",
    algebra: "docs/algebra.md",
    architecture: "docs/architecture.md",
    embedding: "docs/embedding.md",
    glossary: "docs/glossary.md",
    hlo: "docs/hlo.md",
    lowering: "docs/lowering.md",
    memory: "docs/memory.md",
    notation: "docs/notation.md",
    notations: "docs/notations.md",
    out_of_memory: "docs/out-of-memory.md",
    partition: "docs/partition.md",
    plan_places: "docs/plan-places.md",
    plan: "docs/plan.md",
    processes: "docs/processes.md",
    protocol: "docs/protocol.md",
    pytorch: "docs/pytorch.md",
    rationale: "docs/rationale.md",
    release: "docs/release.md",
    solver: "docs/solver.md",
    stablehlo: "docs/stablehlo.md",
    targets: "docs/targets.md",
    tensor_layouts: "docs/tensor-layouts.md",
    tools: "docs/tools.md",
    tutorial: "docs/tutorial.md",
    vector_code: "docs/vector-code.md",
    verify_trust: "docs/verify-trust.md",
    verify: "docs/verify.md",
}

/// `make demo` of the README.
#[test]
fn the_demo_runs() {
    let mut demo = Command::new(CHECKOUT.root.join("tools/demo.sh"));
    let output = demo.env("BIN", &CHECKOUT.tools).current_dir(&CHECKOUT.root).output().expect("the demo starts");
    let [printed, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{printed}{errors}");
    let agreeing = printed.lines().filter(|line| line.ends_with("the numbers agree")).count();
    assert_eq!(agreeing, 3, "{printed}");
}

/// The checkout, with tools that are built.
static CHECKOUT: LazyLock<Checkout> = LazyLock::new(|| {
    let checkout = Checkout::new();
    checkout.build_tools();
    checkout
});

/// Runs the commands of a page.
fn check(page: &str) {
    let path = env::var_os("PATH").unwrap_or_default();
    let path = [CHECKOUT.tools.clone(), CHECKOUT.llvm.join("bin")].into_iter().chain(env::split_paths(&path));
    let path = env::join_paths(path).expect("folders have no colon in their names");
    let failures = pages::check(&place(&CHECKOUT, path, page), page);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Makes the folder of a page.
fn place<'a>(checkout: &'a Checkout, path: OsString, page: &str) -> Place<'a> {
    let folder = checkout.tools.join("pages").join(page);
    match fs::remove_dir_all(&folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => panic!("{}: {e}", folder.display()),
        _ => fs::create_dir_all(folder.join("target")).expect("a folder of the test's own"),
    }
    symlink(checkout.root.join("examples"), folder.join("examples")).expect("a link to the examples");
    symlink(&checkout.tools, folder.join("target/release")).expect("a link to the tools");
    let environment = vec![("PATH", path)];
    Place { root: &checkout.root, folder, shell: checkout.root.clone(), environment }
}
