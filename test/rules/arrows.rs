//! The import structure of the crates.
//!
//! An arrow goes from a file to each file of its crate that it names by a path from `crate`, `super` or `self`. Five
//! rules, checked for every crate of the workspace:
//!
//! 1. **Cycles:** the imports of a crate's files have no cycle.
//! 2. **Rooms:** a room is a file or folder next to `lib.rs`. The documentation of `lib.rs` has a table with a row for
//!    each room and, in its last column, the rooms that it may use. Rows are in order: a room uses only earlier ones.
//!    So the table that people read is the checked list.
//! 3. **Faces:** a `pub use` of a folder serves other folders. Inside the folder, and everywhere for `lib.rs`, an item
//!    is imported from the file that defines it. An arrow always goes to that file.
//! 4. **Absences:** some files must not reach others, even through a third; the list is `ABSENT`.
//! 5. **Everything is listed:** every room has a row, and every name in a last column is used.
//!
//! The files are read as tokens, so paths in macros count and paths in comments do not. Modules after `#[cfg(test)]`
//! are exempt: tests may import any file. Not seen: a method that another file than its type's defines.

use crate::tokens::without_tests;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The crates, by the folder of `lib.rs` or `main.rs`, and whether the face has a table of rooms.
const CRATES: &[(&str, bool)] = &[
    ("src", true),
    ("src/planning", true),
    ("src/programs", false),
    ("dialect", true),
    ("passes", true),
    ("passes/ir", false),
    ("passes/verify", true),
    ("tools/build/src", false),
    ("tools/console/src", false),
    ("tools/inspect/src", false),
    ("tools/python/src", false),
    ("tools/translate/src", false),
    ("tools/runtime/src", false),
    ("tools/build/src", false),
    ("tools/embed", false),
    ("tools/opt", false),
];

/// Files or folders that must not reach others: the crate, the source, the target, and the reason.
const ABSENT: &[(&str, &str, &str, &str)] = &[
    ("src", "maps/check", "maps/simplify", "the checker shares no code with what it checks"),
    ("src/planning", "solver/check", "solver/search", "the checker shares no code with what it checks"),
    ("src", "hlo", "analysis", "text is read without what is asked of it later"),
];

#[test]
fn imports_run_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for (folder, has_rooms) in CRATES {
        let mut files = BTreeMap::new();
        read(&root.join(folder), &mut Vec::new(), &mut files);
        assert!(!files.is_empty(), "{folder} has no files");
        let mut found = check(&files, *has_rooms);
        let absent = ABSENT.iter().filter(|(of, ..)| of == folder);
        found.extend(
            absent.flat_map(|(_, from, to, why)| reaching(&files, from, to).map(move |a| format!("{a}: {why}"))),
        );
        wrong.extend(found.into_iter().map(|line| format!("{folder}: {line}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A crate of a few lines for each rule, which breaks it.
#[test]
fn each_rule_can_be_broken() {
    let table = "//! | room | uses |\n//! |---|---|\n//! | [`low`] | |\n//! | `high` | `low` |\n";
    let face = format!("{table}mod low; mod high;");
    let found = |files: &[(&str, &str)]| {
        let mut all = BTreeMap::from([(Vec::new(), face.clone())]);
        for (name, text) in files {
            all.insert(name.split("::").map(str::to_string).collect::<Vec<_>>(), text.to_string());
        }
        check(&all, true).join("\n")
    };
    let high = ("high", "use crate::low::{One, Two as Other}; pub struct Three;");
    let low = ("low", "pub struct One; pub struct Two;");
    assert_eq!(found(&[high, low]), "");
    // A comment and a test may name anything.
    assert_eq!(
        found(&[high, ("low", "// crate::high::Three\n#[cfg(test)] mod tests { use crate::high::Three; }")]),
        ""
    );
    let up = "low imports high, which is not in the last column of its row";
    assert_eq!(found(&[("high", ""), ("low", "fn f() { crate::high::g() }")]), format!("{up}\nhigh does not use low"));
    assert!(found(&[high, ("low", "use super::high;")]).contains("a cycle: high, low"));
    assert!(found(&[high, ("low", "rules! { a => crate::high::Three }")]).contains("a cycle: high, low"));
    assert_eq!(found(&[high, low, ("extra", "")]), "extra has no row in the table of lib.rs");
    let room = ("low", "mod inner; mod other; pub use inner::One;");
    let through = ("high", "use crate::low::One;");
    let inner = ("low::inner", "pub struct One;");
    assert_eq!(found(&[through, room, inner]), "");
    // An import through a face counts as an import of the defining file.
    assert!(found(&[through, room, ("low::inner", "use crate::high;")]).contains("a cycle: high, low/inner"));
    let message = "low/other imports One through low, where it is not defined";
    assert_eq!(found(&[through, room, inner, ("low::other", "use super::One;")]), message);
    // Through a third file.
    let path = |name: &str| vec![name.to_string()];
    let chain = [("a", "use crate::b::B;"), ("b", "use crate::c::C; pub struct B;"), ("c", "pub struct C;")];
    let mut files: BTreeMap<_, _> = chain.iter().map(|(name, text)| (path(name), text.to_string())).collect();
    files.insert(Vec::new(), String::new());
    assert_eq!(reaching(&files, "a", "c").collect::<Vec<_>>(), ["a reaches c"]);
    assert_eq!(reaching(&files, "c", "a").count(), 0);
}

/// The path of a module below the crate; empty for `lib.rs`.
type Module = Vec<String>;

/// Reads the `.rs` files of a crate.
fn read(folder: &Path, module: &mut Module, files: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("a folder is readable").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_string();
        if path.is_dir() && !path.join("Cargo.toml").exists() {
            module.push(name);
            read(&path, module, files);
            module.pop();
        } else if path.extension().is_some_and(|e| e == "rs") && name != "build" {
            let mut module = module.clone();
            if !["lib", "main", "mod"].contains(&name.as_str()) {
                module.push(name);
            }
            // A library and executables in one folder have one face.
            files.entry(module).or_default().push_str(&fs::read_to_string(&path).expect("a source file is text"));
        }
    }
}

/// The broken rules, a line each.
fn check(files: &BTreeMap<Module, String>, has_rooms: bool) -> Vec<String> {
    let (arrows, mut wrong) = arrows(files);
    wrong.extend(cycles(&arrows).iter().map(|cycle| format!("a cycle: {}", cycle.join(", "))));
    if has_rooms {
        wrong.extend(rooms(files, &arrows));
    }
    wrong
}

/// Every file below `from` that reaches one below `to`, as `from reaches to`.
fn reaching(files: &BTreeMap<Module, String>, from: &str, to: &str) -> impl Iterator<Item = String> {
    let below =
        |folder: &str, module: &Module| module.starts_with(&folder.split('/').map(str::to_string).collect::<Vec<_>>());
    assert!(files.keys().any(|m| below(from, m)) && files.keys().any(|m| below(to, m)), "{from} and {to} exist");
    let (arrows, _) = arrows(files);
    let mut found = Vec::new();
    for module in files.keys().filter(|module| below(from, module)) {
        found.extend(reached(&arrows, module).into_iter().find(|m| below(to, m)).map(|m| (name(module), name(m))));
    }
    found.into_iter().map(|(from, to)| format!("{from} reaches {to}"))
}

/// The imported files of each file.
type Arrows<'a> = BTreeMap<&'a Module, BTreeSet<&'a Module>>;

/// The arrows of a crate, and the wrong imports through faces.
fn arrows(files: &BTreeMap<Module, String>) -> (Arrows<'_>, Vec<String>) {
    let mut wrong = Vec::new();
    let mut arrows = Arrows::new();
    let sources: BTreeMap<&Module, Source> = files.iter().map(|(module, text)| (module, Source::new(text))).collect();
    for (module, source) in &sources {
        for path in &source.paths {
            let Some(absolute) = resolve(module, path) else { continue };
            let mut target = longest(files, &absolute);
            // Follows re-exports to the defining file.
            let mut rest = absolute[target.len()..].to_vec();
            while let Some(item) = rest.first()
                && let Some(from) = sources[target].handed_on.get(item)
                && !sources[target].defined.contains(item)
            {
                if module.starts_with(target) {
                    wrong.push(format!(
                        "{} imports {item} through {}, where it is not defined",
                        name(module),
                        name(target)
                    ));
                }
                let Some(from) = resolve(target, from) else { break };
                let next = longest(files, &from);
                if next == target {
                    break;
                }
                rest = from[next.len()..].to_vec();
                target = next;
            }
            // The re-exports of a face are no imports of its children.
            if target != *module && !(source.is_face && target.starts_with(module)) {
                arrows.entry(module).or_default().insert(target);
            }
        }
    }
    (arrows, wrong)
}

/// The module of a path: the longest prefix that is one.
fn longest<'a>(files: &'a BTreeMap<Module, String>, path: &Module) -> &'a Module {
    let found = (0..=path.len()).rev().find_map(|n| files.get_key_value(&path[..n]));
    found.expect("a crate has a face").0
}

fn name(module: &Module) -> String {
    if module.is_empty() { "lib.rs".to_string() } else { module.join("/") }
}

/// Compares the table of rooms with the arrows between them.
fn rooms(files: &BTreeMap<Module, String>, arrows: &Arrows) -> Vec<String> {
    let mut allowed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in files[&Vec::new()].lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').collect();
        let Some(room) = cells[0].split('`').nth(1) else { continue };
        let uses: BTreeSet<&str> = cells[cells.len() - 1].split('`').skip(1).step_by(2).collect();
        for used in uses.iter().filter(|used| !allowed.contains_key(*used)) {
            wrong.push(format!("the row of {room} names {used}, which is no earlier row"));
        }
        allowed.insert(room, uses);
    }
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in arrows.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
        if let (Some(from), Some(to)) = (from.first(), to.first())
            && from != to
        {
            found.entry(from).or_default().insert(to);
        }
    }
    let rooms: BTreeSet<&str> = files.keys().filter_map(|module| module.first()).map(String::as_str).collect();
    for room in rooms {
        let Some(allowed) = allowed.get(room) else {
            wrong.push(format!("{room} has no row in the table of lib.rs"));
            continue;
        };
        let found = found.remove(room).unwrap_or_default();
        for used in found.difference(allowed) {
            wrong.push(format!("{room} imports {used}, which is not in the last column of its row"));
        }
        for unused in allowed.difference(&found) {
            wrong.push(format!("{room} does not use {unused}"));
        }
    }
    wrong.sort_by_key(|line| !line.contains("imports"));
    wrong
}

/// Resolves a path in a file to a path of the crate; `None` if it leaves the crate.
fn resolve(module: &Module, path: &[String]) -> Option<Module> {
    let mut base = module.clone();
    let mut rest = path;
    match rest.first().map(String::as_str) {
        Some("crate") => {
            base.clear();
            rest = &rest[1..];
        }
        Some("self") => rest = &rest[1..],
        _ => {
            while rest.first().is_some_and(|part| part == "super") {
                base.pop()?;
                rest = &rest[1..];
            }
        }
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// All files that a file reaches along arrows.
fn reached<'a>(arrows: &Arrows<'a>, from: &Module) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut stack: Vec<&Module> = arrows.get(from).into_iter().flatten().copied().collect();
    while let Some(module) = stack.pop() {
        if seen.insert(module) {
            stack.extend(arrows.get(module).into_iter().flatten());
        }
    }
    seen
}

/// The cycles: sets of modules that all reach each other.
fn cycles(arrows: &Arrows) -> BTreeSet<Vec<String>> {
    let all: BTreeMap<&Module, BTreeSet<&Module>> =
        arrows.keys().map(|module| (*module, reached(arrows, module))).collect();
    let on_cycle = all.iter().filter(|(module, reached)| reached.contains(*module));
    let cycle = |(module, reached): (&&Module, &BTreeSet<&Module>)| {
        reached.iter().filter(|other| all.get(*other).is_some_and(|r| r.contains(module))).map(|m| name(m)).collect()
    };
    on_cycle.map(cycle).collect()
}

/// The names that a file uses and defines.
#[derive(Default)]
struct Source {
    /// Its paths from `crate`, `super` or `self`.
    paths: Vec<Vec<String>>,
    /// Its own items.
    defined: BTreeSet<String>,
    /// Its re-exported names, with their paths.
    handed_on: BTreeMap<String, Vec<String>>,
    /// Whether it declares modules.
    is_face: bool,
}

impl Source {
    fn new(text: &str) -> Source {
        let tokens: TokenStream = text.parse().expect("a source file is Rust");
        let mut source = Source::default();
        source.items(tokens.clone());
        source.paths(tokens);
        source
    }

    /// Collects the items at the top of the file.
    fn items(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (k, token) in tokens.iter().enumerate() {
            let TokenTree::Ident(keyword) = token else { continue };
            let after = tokens.get(k + 1).map(TokenTree::to_string).unwrap_or_default();
            match keyword.to_string().as_str() {
                "fn" | "struct" | "enum" | "union" | "const" | "static" | "type" | "trait" => {
                    self.defined.insert(after);
                }
                "macro_rules" => {
                    self.defined.extend(tokens.get(k + 2).map(TokenTree::to_string));
                }
                "mod" => {
                    self.is_face = true;
                    self.defined.insert(after);
                }
                "use" if k > 0 && !matches!(tokens[k - 1], TokenTree::Punct(_)) => {
                    let is_public = tokens[..k].iter().rev().find_map(|t| match t {
                        TokenTree::Group(_) => None,
                        other => Some(other.to_string() == "pub"),
                    });
                    if is_public == Some(true) {
                        let mut paths = Vec::new();
                        tree(&tokens[k + 1..], &mut Vec::new(), &mut paths);
                        let named = |path: Vec<String>| Some((path.last()?.clone(), path));
                        self.handed_on.extend(paths.into_iter().filter_map(named));
                    }
                }
                _ => {}
            }
        }
    }

    /// Collects the paths, also inside groups; code after `#[cfg(test)]` is skipped.
    fn paths(&mut self, tokens: TokenStream) {
        let tokens = without_tests(tokens);
        let mut k = 0;
        while k < tokens.len() {
            match &tokens[k] {
                TokenTree::Group(group) => self.paths(group.stream()),
                TokenTree::Ident(ident)
                    if ["crate", "super", "self"].contains(&ident.to_string().as_str())
                        && is_colon(&tokens, k + 1)
                        && !(k >= 2 && is_colon(&tokens, k - 2)) =>
                {
                    tree(&tokens[k..], &mut Vec::new(), &mut self.paths);
                }
                _ => {}
            }
            k += 1;
        }
    }
}

/// Whether the tokens at `k` are `::`.
fn is_colon(tokens: &[TokenTree], k: usize) -> bool {
    let colon = |k: usize| matches!(tokens.get(k), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(k) && colon(k + 1)
}

/// The paths of a `use` tree or of a path in code that starts here: `a::{b, c::d as e}` is `a::b` and `a::c::d`.
fn tree(tokens: &[TokenTree], prefix: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    let depth = prefix.len();
    let mut k = 0;
    loop {
        match tokens.get(k) {
            Some(TokenTree::Ident(ident)) => prefix.push(ident.to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
                inner.split(comma).filter(|part| !part.is_empty()).for_each(|part| tree(part, prefix, paths));
                break;
            }
            _ => {
                paths.push(prefix.clone());
                break;
            }
        }
        if !is_colon(tokens, k + 1) {
            paths.push(prefix.clone());
            break;
        }
        k += 3;
    }
    prefix.truncate(depth);
}
