//! Builds and runs `examples/embed-rust`, a separate package, as its user would: with `cargo run` in its folder, where
//! only its own files say where LLVM is. Its expected output is `expected.txt` there;
//! `BLESS=1 cargo test -p layout-test --test embed_rust` writes it.
//!
//! Its artifacts are in the workspace's target folder, so that only new ones are built.

use libtest_mimic::{Arguments, Failed, Trial};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

fn main() -> ExitCode {
    let trials = vec![Trial::test("runs", runs), Trial::test("is_formatted", is_formatted)];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The package's folder.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("examples").join("embed-rust")
}

/// Cargo in the package's folder, without the environment that Cargo sets for this test.
fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder()).env_remove("LD_LIBRARY_PATH");
    for (name, _) in env::vars() {
        if name.starts_with("MLIR_SYS_") || name.starts_with("TABLEGEN_") || name.starts_with("CARGO_PKG_") {
            cargo.env_remove(name);
        }
    }
    cargo
}

fn runs() -> Result<(), Failed> {
    let exe = env::current_exe()?;
    let profile = exe.ancestors().nth(2).ok_or("cargo puts tests in <target>/<profile>/deps")?;
    let mut run = cargo();
    run.args(["run", "--locked", "--quiet"]);
    if profile.ends_with("release") {
        run.arg("--release");
    }
    let output = run.env("CARGO_TARGET_DIR", profile.parent().ok_or("a folder of targets")?).output()?;
    let [printed, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if !output.status.success() {
        return Err(format!("{}\n{printed}{errors}", output.status).into());
    }
    let expected = folder().join("expected.txt");
    if env::var_os("BLESS").is_some() {
        fs::write(&expected, &printed)?;
    }
    match fs::read_to_string(&expected)? == printed {
        true => Ok(()),
        false => Err(format!("it prints something else than {}:\n{printed}", expected.display()).into()),
    }
}

fn is_formatted() -> Result<(), Failed> {
    let output = cargo().args(["fmt", "--check"]).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(()) } else { Err(printed.into()) }
}
