//! The third-party notices: `THIRD-PARTY.md` names every crate in a shipped binary with its licence; and every crate,
//! shipped or not, has an allowed licence. `BLESS=1 cargo test -p layout-test --test structure notices` writes the file.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::{env, fmt::Write, fs, path::Path, process::Command};

/// Licences that are compatible with Apache-2.0 WITH LLVM-exception.
const ALLOWED: [&str; 12] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
    "0BSD",
];

/// Crates whose licence is only in a file: its identifier and its text.
const IN_A_FILE: [(&str, &str, &str); 1] =
    [("mlir-sys", "MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy")];

/// Licence and notice files, by prefixes of their names.
const FILES: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn all<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// Whether an SPDX expression allows a choice of only allowed licences.
fn allowed(expression: &str) -> bool {
    /// The parts between `word` outside of parentheses.
    fn split<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
        let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
        for (at, c) in text.char_indices() {
            depth += i32::from(c == '(') - i32::from(c == ')');
            if depth == 0 && at >= start && text[at..].starts_with(word) {
                parts.push(&text[start..at]);
                start = at + word.len();
            }
        }
        parts.push(&text[start..]);
        parts
    }
    let expression = expression.trim();
    let expression = &expression.replace('/', " OR ");
    let choices = split(expression, " OR ");
    if choices.len() > 1 {
        return choices.into_iter().any(allowed);
    }
    let needed = split(expression, " AND ");
    if needed.len() > 1 {
        return needed.into_iter().all(allowed);
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => allowed(inner),
        None => ALLOWED.contains(&expression.as_str()),
    }
}

#[test]
fn licences_are_read_as_spdx_means_them() {
    for fine in ["MIT", "GPL-3.0 OR MIT", "(MIT OR GPL-2.0) AND Unicode-3.0", "GPL-3.0/ISC"] {
        assert!(allowed(fine), "{fine}");
    }
    for wrong in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR GPL-2.0) AND GPL-3.0", "MPL-2.0"] {
        assert!(!allowed(wrong), "{wrong}");
    }
}

/// The licence of a package.
fn licence(package: &Value) -> String {
    let name = text(package, "name");
    match IN_A_FILE.iter().find(|(known, ..)| *known == name) {
        Some((_, licence, words)) if package["license"].is_null() => {
            let own = texts(package).into_values().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
            assert!(own.into_iter().any(|text| text.contains(words)), "{name} is no longer {licence}");
            licence.to_string()
        }
        _ => text(package, "license").replace('/', " OR "),
    }
}

/// The licence files of a package: their names and texts.
fn texts(package: &Value) -> BTreeMap<String, String> {
    let folder = Path::new(text(package, "manifest_path")).parent().expect("a manifest is in a folder");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder of a package is readable") {
        let path = entry.expect("an entry of the folder").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && FILES.iter().any(|known| name.to_uppercase().starts_with(known)) {
            let text = fs::read_to_string(&path).expect("a licence is UTF-8").replace("\r\n", "\n");
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            found.insert(name, lines.join("\n").trim_matches('\n').to_string());
        }
    }
    found
}

/// Cargo's metadata on this project's crates and their dependencies.
struct Metadata {
    /// The packages by id.
    packages: BTreeMap<String, Value>,
    /// The linked packages of each.
    links: BTreeMap<String, Vec<String>>,
    /// This project's packages except test packages.
    shipped: Vec<String>,
}

fn metadata() -> Metadata {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform"]);
    cargo.arg("x86_64-unknown-linux-gnu").current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all_of_it: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let id = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let packages: BTreeMap<_, _> =
        all(&all_of_it, "packages").map(|package| (id(&package["id"]), package.clone())).collect();
    let of_compiler = |package: &str| {
        all(&packages[package], "targets").any(|target| all(target, "kind").any(|kind| kind == "proc-macro"))
    };
    let mut links = BTreeMap::new();
    for node in all(&all_of_it["resolve"], "nodes") {
        let normal = |dep: &&Value| all(dep, "dep_kinds").any(|kind| kind["kind"].is_null());
        let linked =
            all(node, "deps").filter(normal).map(|dep| id(&dep["pkg"])).filter(|package| !of_compiler(package));
        links.insert(id(&node["id"]), linked.collect());
    }
    let members = all(&all_of_it, "workspace_members").map(id);
    // Shipped are the tools, and libraries for others: the plugin, and those that Cargo does not publish, which are the
    // static library of libLayout.so and the Python module.
    let kinds = |member: &str| {
        let targets = all(&packages[member], "targets").flat_map(|target| all(target, "kind"));
        targets.filter_map(Value::as_str).map(str::to_string).collect::<Vec<_>>()
    };
    let is_shipped = |member: &String| {
        let published = packages[member]["publish"].is_null();
        kinds(member).iter().any(|kind| ["staticlib", "cdylib"].contains(&kind.as_str()) || published && kind == "bin")
    };
    let shipped = members.filter(is_shipped).collect();
    Metadata { packages, links, shipped }
}

#[test]
fn every_licence_is_allowed() {
    let Metadata { packages, .. } = metadata();
    let wrong: Vec<_> = packages.values().filter(|package| !allowed(&licence(package))).collect();
    let wrong: Vec<_> = wrong.into_iter().map(|p| format!("{}: {:?}", text(p, "name"), licence(p))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_notices_are_current() {
    let Metadata { packages, links, shipped } = metadata();
    let (mut linked, mut open) = (BTreeSet::new(), shipped);
    while let Some(package) = open.pop() {
        if linked.insert(package.clone()) {
            open.extend(links[&package].iter().cloned());
        }
    }
    let mut others: Vec<&Value> = linked.iter().map(|id| &packages[id]).filter(|p| !p["source"].is_null()).collect();
    others.sort_by_key(|package| (text(package, "name"), text(package, "version")));

    let mut expected = String::from(
        "# Third-party notices\n\nCrates that are linked into the tools, the plugin and the libraries, beside the standard \
         library of Rust (MIT OR\nApache-2.0) and the C API of MLIR (Apache-2.0 WITH LLVM-exception). Of the choices \
         that a licence leaves, this\nproject takes Apache-2.0, whose text is in [LICENSE](LICENSE), or else MIT. \
         `test/structure/notices.rs` writes this file.\n\n| crate | version | licence | source |\n|---|---|---|---|\n",
    );
    let mut notices = String::new();
    for package in others {
        let (name, version, licence) = (text(package, "name"), text(package, "version"), licence(package));
        let _ = writeln!(expected, "| {name} | {version} | {licence} | {} |", text(package, "repository"));
        let apache = licence.split(" OR ").any(|choice| choice.trim() == "Apache-2.0");
        for (file, text) in texts(package) {
            // The text of Apache-2.0 is included already.
            if !apache || file.to_uppercase().starts_with("NOTICE") {
                let _ = write!(notices, "\n## {name}: {file}\n\n```text\n{text}\n```\n");
            }
        }
    }
    let expected = expected + &notices;

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../THIRD-PARTY.md");
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &expected).expect("THIRD-PARTY.md is writable");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "THIRD-PARTY.md is out of date: BLESS=1 cargo test -p layout-test --test structure notices"
    );
}
