//! Shared code of the tests that call the tools.

pub mod pages;
#[path = "reference/sample.rs"]
pub mod sample;

pub use sample::Sample;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The folders of the checkout, its tools and LLVM.
pub struct Checkout {
    /// The root of the checkout.
    pub root: PathBuf,
    /// This project's tools, in the profile of the test.
    pub tools: PathBuf,
    /// The folder of LLVM.
    pub llvm: PathBuf,
}

impl Checkout {
    /// The checkout of the running test.
    ///
    /// # Panics
    /// If Cargo did not start the test.
    #[expect(clippy::new_without_default, reason = "there is nothing to be the default of")]
    pub fn new() -> Checkout {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("test/ is in the checkout").to_path_buf();
        let exe = env::current_exe().expect("this test has a path");
        let tools = exe.ancestors().nth(2).expect("cargo puts tests in <target>/<profile>/deps").to_path_buf();
        let llvm = env::vars().find(|(name, _)| name.starts_with("MLIR_SYS_") && name.ends_with("_PREFIX"));
        let (_, llvm) = llvm.expect("MLIR_SYS_*_PREFIX says where LLVM is; .cargo/config.toml sets it");
        Checkout { root, tools, llvm: llvm.into() }
    }

    /// Cargo's target folder.
    pub fn target(&self) -> &Path {
        self.tools.parent().expect("a profile's folder is in the target folder")
    }

    /// The profile's name in Cargo's options.
    pub fn profile(&self) -> &str {
        match self.tools.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        }
    }

    /// Builds the tools and the plugin. With a test beside them, they depend on the same artifacts as the tests.
    ///
    /// # Panics
    /// If the build fails.
    pub fn build_tools(&self) {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--workspace", "--lib", "--bins", "--test", "lit", "--quiet"]);
        cargo.args(["--profile", self.profile(), "--target-dir"]);
        let status = cargo.arg(self.target()).current_dir(&self.root).status().expect("cargo runs");
        assert!(status.success(), "the tools do not build");
    }
}
