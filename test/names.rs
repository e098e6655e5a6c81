//! One meaning for each type name: in a crate no two types have the same name, so `Tile` is the same type in every file.
//!
//! The files are read as tokens: a definition is `struct`, `enum`, `union`, `trait` or `type` with a name behind it, also
//! inside functions and macros. Associated types of traits and of their implementations are not counted, and neither is
//! what is behind `#[cfg(test)]`.

mod tokens;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tokens::without_tests;

/// Folders that are no part of a crate, or are not its own code.
const NOT_READ: &[&str] = &["target", "test", "tests", "benches", "examples", "fuzz"];

#[test]
fn a_type_name_has_one_meaning_in_a_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut crates = BTreeMap::new();
    read(root, &root.join("src"), &mut crates);
    for folder in ["dialect", "passes", "tools"] {
        read(root, &root.join(folder), &mut crates);
    }
    for folder in ["src", "dialect", "passes", "passes/ir", "tools/inspect", "tools/translate"] {
        assert!(crates.contains_key(&root.join(folder)), "{folder} has no files");
    }
    let wrong: Vec<String> = crates.values().flat_map(twice).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn definitions_are_found() {
    let found = |a: &str, b: &str| {
        twice(&vec![("a.rs".to_string(), a.to_string()), ("b.rs".to_string(), b.to_string())]).join("\n")
    };
    assert_eq!(found("struct One;", "enum Two {}"), "");
    assert_eq!(found("struct One;", "enum One {}"), "One is defined twice: a.rs, b.rs");
    assert_eq!(found("struct One;", "fn f() -> impl Fn() { type One = u8; }"), "One is defined twice: a.rs, b.rs");
    assert_eq!(
        found("mod a { union One {} }", "rules! { pub(crate) trait One {} }"),
        "One is defined twice: a.rs, b.rs"
    );
    assert_eq!(found("mod a { struct One; } mod b { struct One; }", ""), "One is defined twice: a.rs, a.rs");
    // A use, a comment, a test and an associated type define nothing.
    assert_eq!(found("struct One;", "use crate::One; // struct One;\n#[cfg(test)] mod tests { struct One; }"), "");
    assert_eq!(found("impl T for A { type Out = u8; }", "unsafe impl T for B { type Out = u8; }"), "");
    assert_eq!(found("rules! { impl T for $type { type Out = u8; } }", "struct Out;"), "");
    assert_eq!(found("struct Out; trait T { type Out; }", ""), "");
}

/// The files of a crate: their names and texts.
type Files = Vec<(String, String)>;

/// Reads the `.rs` files under a folder into the crate that it belongs to: that of the nearest `Cargo.toml`, or else the
/// folder itself.
fn read(root: &Path, folder: &Path, crates: &mut BTreeMap<PathBuf, Files>) {
    let mut stack = vec![(folder.to_path_buf(), folder.to_path_buf())];
    while let Some((folder, owner)) = stack.pop() {
        let owner = if folder.join("Cargo.toml").exists() { folder.clone() } else { owner };
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("a folder is readable").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                if !NOT_READ.contains(&name) {
                    stack.push((path, owner.clone()));
                }
            } else if name.ends_with(".rs") && name != "build.rs" {
                let text = fs::read_to_string(&path).expect("a source file is text");
                let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                crates.entry(owner.clone()).or_default().push((name, text));
            }
        }
    }
}

/// The names that are defined more than once, a line each.
fn twice(files: &Files) -> Vec<String> {
    let mut defined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (file, text) in files {
        let mut names = Vec::new();
        types(text.parse().unwrap_or_else(|e| panic!("{file}: {e}")), false, &mut names);
        for name in names {
            defined.entry(name).or_default().push(file);
        }
    }
    let several = defined.into_iter().filter(|(_, files)| files.len() > 1);
    several.map(|(name, files)| format!("{name} is defined twice: {}", files.join(", "))).collect()
}

/// The names of the types that are defined in these tokens; `associated` in the braces of a trait or of an implementation.
fn types(tokens: TokenStream, associated: bool, names: &mut Vec<String>) {
    let tokens = without_tests(tokens);
    let mut next_is_associated = false;
    let mut k = 0;
    while k < tokens.len() {
        match &tokens[k] {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                types(group.stream(), next_is_associated, names);
                next_is_associated = false;
            }
            TokenTree::Group(group) => types(group.stream(), false, names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            // `$type` in a macro is no keyword.
            TokenTree::Ident(_) if k > 0 && is_dollar(&tokens[k - 1]) => {}
            TokenTree::Ident(keyword) => {
                let keyword = keyword.to_string();
                // `-> impl Fn()` and `a: impl Fn()` come after punctuation, an implementation does not.
                let begins_item = k == 0 || !is_punct(&tokens[k - 1]);
                match keyword.as_str() {
                    "impl" if begins_item => next_is_associated = true,
                    "struct" | "enum" | "union" | "trait" | "type" if !(associated && keyword == "type") => {
                        next_is_associated = keyword == "trait";
                        if let Some(TokenTree::Ident(name)) = tokens.get(k + 1) {
                            names.push(name.to_string());
                        }
                    }
                    _ => {}
                }
            }
        }
        k += 1;
    }
}

fn is_punct(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() != ';')
}

fn is_dollar(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '$')
}
