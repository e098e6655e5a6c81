//! Type names with one meaning: in a room no two types have the same name. A room is a folder next to the face of a
//! crate, or all files next to it.
//!
//! The files are read as tokens: a definition is `struct`, `enum`, `union`, `trait` or `type` and a name, also inside
//! functions and macros. Associated types of traits and implementations do not count, and neither does code after
//! `#[cfg(test)]`.
//!
//! A public enum or struct that may grow is `#[non_exhaustive]`; [`CLOSED`] lists the others.

use crate::tokens::without_tests;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders outside of a crate's own code.
const NOT_READ: &[&str] = &["target", "test", "tests", "benches", "examples", "fuzz"];

#[test]
fn a_type_name_has_one_meaning_in_a_room() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut crates = BTreeMap::new();
    read(root, &root.join("src"), &mut crates);
    for folder in ["dialect", "passes", "tools"] {
        read(root, &root.join(folder), &mut crates);
    }
    for folder in
        ["src", "src/planning", "dialect", "passes", "passes/ir", "passes/verify", "tools/inspect", "tools/translate"]
    {
        assert!(crates.contains_key(&root.join(folder)), "{folder} has no files");
    }
    let wrong: Vec<String> = crates.values().flat_map(rooms).flat_map(|files| twice(&files)).collect();
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
    let named = |file: &str| (file.to_string(), "struct One;".to_string());
    let in_rooms =
        |files: &[&str]| rooms(&files.iter().map(|file| named(file)).collect()).iter().flat_map(twice).count();
    assert_eq!(in_rooms(&["x/lib.rs", "x/a/b.rs", "x/c/d.rs"]), 0);
    assert_eq!(in_rooms(&["x/lib.rs", "x/e.rs", "x/a/b.rs", "x/a/c/d.rs"]), 2);
    // Imports, comments, tests and associated types define no names.
    assert_eq!(found("struct One;", "use crate::One; // struct One;\n#[cfg(test)] mod tests { struct One; }"), "");
    assert_eq!(found("impl T for A { type Out = u8; }", "unsafe impl T for B { type Out = u8; }"), "");
    assert_eq!(found("rules! { impl T for $type { type Out = u8; } }", "struct Out;"), "");
    assert_eq!(found("struct Out; trait T { type Out; }", ""), "");
}

/// Public types whose users may match or build them: the reason, and the types without `#[non_exhaustive]`.
const CLOSED: &[(&str, &[&str])] = &[
    // More variants would be another grammar, or another mathematics.
    (
        "expressions and maps",
        &["Expr", "Named", "Indexing", "IndexingMap", "Kind", "VariableOrigin", "Interval", "Domain"],
    ),
    ("layouts", &["Layout", "SplitConfig", "TileEntry", "TensorLayout", "Part", "Broadcast", "Spot", "View", "Slice"]),
    ("swizzled layouts", &["Inner", "SwizzledLayout"]),
    ("shapes", &["Array", "Shape", "Dim", "Sizes", "Values"]),
    ("numbers", &["Decimal", "Count", "Footprint"]),
    ("yes, no or unknown", &["Equality", "Movement", "Moved", "RelayoutKind", "Held", "Copies"]),
    // A compiler that ignores an unknown variant is silently wrong.
    (
        "what operations do",
        &["Operation", "Algorithm", "Collective", "Contraction", "Convolution", "Exchange", "Fourier"],
    ),
    (
        "and its parts",
        &["Gather", "Loops", "Ragged", "RaggedDot", "Start", "WindowDim", "DegenerateWindow", "Progression"],
    ),
    ("elements", &["ElementType"]),
    ("what operations read", &["Access", "Mapped", "RunTime"]),
    // A checker that ignores an unknown variant accepts wrong proofs.
    ("proofs of simplifications", &["Claim", "Refused", "Shown", "Step", "Using"]),
    (
        "proofs of plans",
        &["Certificate", "Dual", "Edge", "Message", "Multiplier", "Occupancy", "ProofNode", "Reduction"],
    ),
    // Built by callers, with all fields.
    (
        "programs",
        &[
            "Facts",
            "Graph",
            "Instruction",
            "FixedLayouts",
            "Node",
            "ValueRef",
            "Value",
            "InstanceKind",
            "Instance",
            "Made",
            "Program",
        ],
    ),
    (
        "questions",
        &[
            "Kernel",
            "LevelBytes",
            "LiveRange",
            "Options",
            "PartRead",
            "Price",
            "Product",
            "Question",
            "SearchLimits",
            "SpaceLimit",
            "Spread",
            "StridedTile",
            "TaskValue",
        ],
    ),
];

#[test]
fn a_public_type_that_may_grow_says_so() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut crates = BTreeMap::new();
    read(root, &root.join("src"), &mut crates);
    let (mut named, mut open) = (BTreeSet::new(), BTreeSet::new());
    for (file, text) in crates.values().flatten() {
        let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{file}: {e}"));
        let room = file.ends_with("mod.rs") || file.matches('/').count() == 1;
        exported(tokens.clone(), room, &mut named);
        may_be_taken_apart(tokens, &mut open);
    }
    assert!(["Layout", "Notation", "Unplanned", "ErrorKind"].iter().all(|name| named.contains(*name)), "{named:?}");
    let found: BTreeSet<&str> = named.intersection(&open).map(String::as_str).collect();
    let closed: BTreeSet<&str> = CLOSED.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let both =
        |of: &BTreeSet<&str>, other: &BTreeSet<&str>| of.difference(other).copied().collect::<Vec<_>>().join(", ");
    assert_eq!(both(&found, &closed), "", "neither `#[non_exhaustive]` nor in the list CLOSED");
    assert_eq!(both(&closed, &found), "", "in the list CLOSED, but no public type that can be taken apart");
}

#[test]
fn what_may_be_taken_apart_is_found() {
    let found = |text: &str| {
        let mut open = BTreeSet::new();
        may_be_taken_apart(text.parse().expect("these are tokens"), &mut open);
        open.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("pub enum A { One }"), "A");
    assert_eq!(found("#[derive(Debug)] #[non_exhaustive] pub enum A { One }"), "");
    assert_eq!(found("#[non_exhaustive] pub enum A {} #[derive(Debug)] pub enum B {}"), "B");
    assert_eq!(found("pub struct A { pub one: u8, pub two: Vec<u8> } pub struct B(pub u8);"), "A B");
    // With a private field, only its crate builds it or takes it apart.
    assert_eq!(found("pub struct A { pub one: u8, two: u8 } pub struct B(u8); pub struct C { pub(crate) d: u8 }"), "");
    assert_eq!(found("macro_rules! list { () => { pub enum A {} } } pub(crate) enum B {}"), "A");
}

/// The exported names of a room: its `pub use`, and, in the room's own file, its public types.
fn exported(tokens: TokenStream, room: bool, names: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (k, token) in tokens.iter().enumerate() {
        let public = k > 0 && is_word(&tokens[k - 1], "pub");
        if public && is_word(token, "use") && room {
            let path =
                tokens[k..].iter().take_while(|token| !matches!(token, TokenTree::Punct(p) if p.as_char() == ';'));
            path.for_each(|token| words(token, names));
        } else if public && room && (is_word(token, "struct") || is_word(token, "enum")) {
            words(&tokens[k + 1], names);
        } else if let TokenTree::Group(group) = token {
            exported(group.stream(), room, names);
        }
    }
}

/// The public enums, and structs with only public fields, without `#[non_exhaustive]`.
fn may_be_taken_apart(tokens: TokenStream, open: &mut BTreeSet<String>) {
    let tokens = without_tests(tokens);
    let mut marked = false;
    for (k, token) in tokens.iter().enumerate() {
        let public = k > 0 && is_word(&tokens[k - 1], "pub");
        if let TokenTree::Group(group) = token {
            let is_mark = group.delimiter() == Delimiter::Bracket && group.stream().to_string() == "non_exhaustive";
            marked |= is_mark;
            may_be_taken_apart(group.stream(), open);
        } else if public && (is_word(token, "enum") || is_word(token, "struct")) {
            let body = tokens[k..].iter().find_map(|token| match token {
                TokenTree::Group(group) => Some(group.stream()),
                _ => None,
            });
            let whole = is_word(token, "enum") || body.is_some_and(only_public_fields);
            if whole && !std::mem::take(&mut marked) {
                words(&tokens[k + 1], open);
            }
            marked = false;
        }
    }
}

/// Whether each field, after attributes, begins with `pub` and not with `pub(crate)`.
fn only_public_fields(fields: TokenStream) -> bool {
    let (mut begins, mut public, mut angle) = (true, true, 0);
    let fields: Vec<TokenTree> = fields.into_iter().collect();
    for (k, token) in fields.iter().enumerate() {
        match token {
            TokenTree::Punct(p) if p.as_char() == '<' => angle += 1,
            TokenTree::Punct(p) if p.as_char() == '>' => angle -= 1,
            TokenTree::Punct(p) if p.as_char() == ',' && angle == 0 => begins = true,
            TokenTree::Ident(_) if begins => {
                let kept = matches!(fields.get(k + 1), Some(TokenTree::Group(_)));
                public &= is_word(token, "pub") && !kept;
                begins = false;
            }
            _ => {}
        }
    }
    public
}

/// The identifiers in a token.
fn words(token: &TokenTree, names: &mut BTreeSet<String>) {
    match token {
        TokenTree::Ident(word) => _ = names.insert(word.to_string()),
        TokenTree::Group(group) => group.stream().into_iter().for_each(|token| words(&token, names)),
        _ => {}
    }
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(found) if found == word)
}

/// The files of a crate: names and texts.
type Files = Vec<(String, String)>;

/// Reads the `.rs` files under a folder into their crates: the nearest `Cargo.toml`, or the folder itself.
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

/// The files of a crate by their rooms. The face is the file or folder that all names have in common.
fn rooms(files: &Files) -> Vec<Files> {
    let face = files.iter().map(|(file, _)| file.rsplit_once('/').map_or("", |(folder, _)| folder));
    let face = face.min_by_key(|folder| folder.len()).unwrap_or_default();
    let mut rooms: BTreeMap<&str, Files> = BTreeMap::new();
    for (file, text) in files {
        let below = file[face.len()..].trim_start_matches('/');
        let room = below.split_once('/').map_or("", |(room, _)| room);
        rooms.entry(room).or_default().push((file.clone(), text.clone()));
    }
    rooms.into_values().collect()
}

/// The names with several definitions, a line each.
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

/// The type names defined in these tokens; `associated` inside the braces of a trait or an implementation.
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
                // `-> impl Fn()` and `a: impl Fn()` follow punctuation, an implementation does not.
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
