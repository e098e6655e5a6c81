//! Each long test has a row in `test/long.md`, and each row a test.

use std::{fs, path::Path};

/// The names of the functions of a text that begin with `long_test!()`.
fn marked(text: &str) -> Vec<&str> {
    let starts = text.match_indices("long_test!();");
    let name = |(at, _): (usize, _)| text[..at].rsplit_once("\nfn ")?.1.split('(').next();
    starts.filter_map(name).collect()
}

/// The names of the marked functions in the files of a folder; modules may have functions of one name.
fn read(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            read(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with(file!()) {
            let text = fs::read_to_string(&path).expect("a source is readable");
            names.extend(marked(&text).into_iter().map(str::to_string));
        }
    }
}

#[test]
fn rows_and_long_tests_are_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = Vec::new();
    for folder in ["test", "tools", "fuzz"] {
        read(&root.join(folder), &mut names);
    }
    let pages = fs::read_to_string(root.join("test/structure/readme.rs")).expect("the list of pages is readable");
    let page = fs::read_to_string(root.join("test/long.md")).expect("the page is readable");
    let rows: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(!rows.is_empty());
    for row in rows {
        let (program, test) = row.split_once("::").expect("a program and a test");
        let name = test.rsplit("::").next().expect("split gives one piece");
        let found = match program {
            "lit" => root.join("test").join(test).is_file(),
            _ if test.starts_with("readme::") => pages.contains(&format!("    {name}: \"")),
            _ => names.iter().position(|marked| marked == name).map(|at| names.swap_remove(at)).is_some(),
        };
        assert!(found, "test/long.md: {row} is no long test");
    }
    assert!(names.is_empty(), "test/long.md has no rows of {names:?}");
}
