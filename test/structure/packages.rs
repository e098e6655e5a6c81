//! Published crates: each is complete by itself.
//!
//! `cargo package` makes an archive of each. They are unpacked side by side below `<target>/packages`, in folders with
//! a version in their names, and `cargo check` builds them against each other instead of the registry: a build script
//! that reads a file outside of its package fails. Artifacts of other crates come from the workspace.

use layout_test::Checkout;
use serde_json::Value;
use std::{fmt::Write, fs, path::Path, process::Command};

/// The published crates of the workspace: those without `publish = false`.
fn published(root: &Path) -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--locked", "--offline"]).current_dir(root);
    let metadata: Value = serde_json::from_slice(&run(&mut cargo)).expect("cargo prints JSON");
    let all = metadata["packages"].as_array().expect("a list of packages").iter();
    all.filter(|package| package["publish"].is_null()).cloned().collect()
}

/// The output of a command.
fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn manifests_are_complete() {
    let checkout = Checkout::new();
    for package in published(&checkout.root) {
        let name = package["name"].as_str().expect("a package has a name");
        for field in ["description", "license", "readme", "rust_version"] {
            assert!(package[field].is_string(), "{name} has no {field}");
        }
        for (field, most) in [("keywords", 5), ("categories", 5)] {
            let count = package[field].as_array().map_or(0, Vec::len);
            assert!((1..=most).contains(&count), "{name} must have from 1 to {most} {field}, found {count}");
        }
        for dependency in package["dependencies"].as_array().expect("a list of dependencies") {
            let published = dependency["path"].is_null() || dependency["req"] != "*" || dependency["kind"] == "dev";
            assert!(published, "{name} names no version of {}", dependency["name"]);
        }
    }
}

/// The layout and HLO tools build without LLVM: none of their dependencies, build scripts included, binds it.
#[test]
fn tools_need_no_llvm() {
    let checkout = Checkout::new();
    for name in ["tensor-layout", "layout-plan", "layout-programs", "layout-inspect", "layout-translate"] {
        let tree = packages(&checkout, name, &[]);
        let bound = ["melior", "mlir-sys", "tblgen", "llvm-sys"].map(|package| format!("\n{package} v"));
        assert!(!bound.iter().any(|package| tree.contains(package)), "{name} depends on LLVM:\n{tree}");
    }
}

/// A compiler that embeds the dialect and its lowering builds neither planner, import nor verification.
#[test]
fn lowering_needs_no_planner() {
    let checkout = Checkout::new();
    for name in ["layout-passes", "layout-embed"] {
        for (features, wanted) in [(&["--no-default-features"][..], false), (&[], true)] {
            let tree = packages(&checkout, name, features);
            for optional in ["layout-plan", "layout-translate", "layout-verify"] {
                assert_eq!(
                    tree.contains(&format!("\n{optional} v")),
                    wanted,
                    "{name} {features:?}: {optional}\n{tree}"
                );
            }
        }
    }
}

/// The packages that a package is built from, itself first, a line each.
fn packages(checkout: &Checkout, name: &str, features: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "--prefix=none", "--edges=normal,build", "--package", name]);
    let tree = run(cargo.args(features).current_dir(&checkout.root));
    let tree = String::from_utf8(tree).expect("cargo prints UTF-8");
    assert!(tree.starts_with(name), "{tree}");
    tree
}

#[test]
fn packages_build_alone() {
    layout_test::long_test!();
    let checkout = Checkout::new();
    let folder = checkout.target().join("packages");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--no-verify", "--allow-dirty", "--offline", "--quiet", "--target-dir"]).arg(&folder);
    let mut members = Vec::new();
    let mut patches = String::new();
    for package in published(&checkout.root) {
        let [name, version] = ["name", "version"].map(|key| package[key].as_str().expect("a text").to_string());
        cargo.args(["--package", &name]);
        let _ = writeln!(patches, "{name} = {{ path = \"{name}-{version}\" }}");
        members.push(format!("{name}-{version}"));
    }
    run(cargo.current_dir(&checkout.root));

    let unpacked = folder.join("unpacked");
    fs::create_dir_all(&unpacked).expect("the target folder is writable");
    for member in &members {
        let name = format!("{member}.crate");
        let (archive, last) = (folder.join("package").join(&name), unpacked.join(&name));
        // Cargo compares times, and files in an archive always have the same one: new files get the current time, and
        // files of an unchanged archive stay.
        if fs::read(&archive).ok() != fs::read(&last).ok() {
            let _ = fs::remove_dir_all(unpacked.join(member));
            run(Command::new("tar").arg("-xmzf").arg(&archive).current_dir(&unpacked));
            fs::copy(&archive, &last).expect("the folder is writable");
        }
        for file in ["README.md", "LICENSE"] {
            let found = fs::read_to_string(unpacked.join(member).join(file)).unwrap_or_default();
            assert!(
                !found.is_empty() || (member.starts_with("tensor-layout") && file == "README.md"),
                "{member}: {file}"
            );
        }
    }
    // With the workspace's profiles no other crate is built again.
    let workspace = fs::read_to_string(checkout.root.join("Cargo.toml")).expect("the manifest is readable");
    let sections = workspace.split("\n[").filter(|section| section.starts_with("profile."));
    let profiles = sections.fold(String::new(), |all, section| format!("{all}[{section}\n"));
    let text =
        format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[patch.crates-io]\n{patches}\n{profiles}");
    fs::write(unpacked.join("Cargo.toml"), text).expect("the folder is writable");
    fs::copy(checkout.root.join("Cargo.lock"), unpacked.join("Cargo.lock")).expect("the folder is writable");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--workspace", "--offline", "--quiet", "--profile", checkout.profile(), "--target-dir"]);
    run(cargo.arg(checkout.target()).current_dir(&unpacked));
}
