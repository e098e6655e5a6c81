//! Runs the documentation pages: `pages.rs` checks every fenced block.
//!
//! `console` commands run in an empty folder with links to the checkout's `examples` and `target/release` (the latter
//! in the profile of this test), with this project's tools and LLVM's on the PATH; `sh` commands run in the checkout.
//! Each page has its own folder. `BLESS=1 cargo test -p layout-test --test structure readme` writes the commands' output into the
//! pages.

use layout_test::{
    Checkout,
    pages::{self, Place},
};
use std::{env, ffi::OsString, fs, os::unix::fs::symlink};

/// The pages. `docs.rs` checks the generated ones, `embed.rs` checks `docs/cpp.md`, and the tests of the Python package
/// check `docs/python.md`.
const PAGES: &[&str] = &[
    "README.md",
    "docs/architecture.md",
    "docs/embedding.md",
    "docs/glossary.md",
    "docs/hlo.md",
    "docs/lowering.md",
    "docs/memory.md",
    "docs/notation.md",
    "docs/notations.md",
    "docs/partition.md",
    "docs/plan-places.md",
    "docs/plan.md",
    "docs/processes.md",
    "docs/protocol.md",
    "docs/rationale.md",
    "docs/release.md",
    "docs/solver.md",
    "docs/targets.md",
    "docs/tensor-layouts.md",
    "docs/tools.md",
    "docs/tutorial.md",
    "docs/vector-code.md",
    "docs/verify-core.md",
    "docs/verify.md",
];

#[test]
fn pages() {
    let checkout = Checkout::new();
    checkout.build_tools();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = [checkout.tools.clone(), checkout.llvm.join("bin")].into_iter().chain(env::split_paths(&path));
    let path = env::join_paths(path).expect("folders have no colon in their names");
    let failures: Vec<String> =
        PAGES.iter().flat_map(|name| pages::check(&place(&checkout, &path, name), name)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Makes the folder of a page.
fn place<'a>(checkout: &'a Checkout, path: &OsString, page: &str) -> Place<'a> {
    let folder = checkout.tools.join("pages").join(page);
    match fs::remove_dir_all(&folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => panic!("{}: {e}", folder.display()),
        _ => fs::create_dir_all(folder.join("target")).expect("a folder of the test's own"),
    }
    symlink(checkout.root.join("examples"), folder.join("examples")).expect("a link to the examples");
    symlink(&checkout.tools, folder.join("target/release")).expect("a link to the tools");
    let environment = vec![("PATH", path.clone())];
    Place { root: &checkout.root, folder, shell: checkout.root.clone(), environment }
}
