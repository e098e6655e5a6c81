//! Pairs of programs in files, with what verification has to find of each.
//!
//! A file of `test/proofs/Inputs` has a program and other ones behind it, each after a line `// -----` and a line that says
//! `// same`, `// remark: ` or, of a wrong one, `// error: ` and a part of the message. `scalars.txt` has pairs of one line each.
//! `LAYOUT_PAIRS` names another folder, of which all that is found is printed.

use super::{NONE, context};
use layout_test::Checkout;
use layout_verify::Source;
use melior::ir::Module;
use std::path::PathBuf;
use std::{env, fs};

/// The verdict on the second of two programs, and what is said of it.
fn found(before: &str, after: &str) -> (&'static str, String) {
    let context = context();
    let read = |text: &str| Module::parse(&context, text).unwrap_or_else(|| panic!("no module:\n{text}"));
    let (before, after) = (read(before), read(after));
    let mut source = Source::new(before.as_operation(), NONE);
    source.note(after.as_operation(), 1);
    let errors = source.check();
    match (errors.first(), source.open().first()) {
        (Some((_, error)), _) => ("error", error.message.clone()),
        (_, Some(open)) => ("remark", open.message.clone()),
        _ => ("same", source.shown().map(|(_, how)| format!("{how} ")).collect()),
    }
}

#[test]
fn pairs_of_files_are_judged() {
    let other = env::var("LAYOUT_PAIRS").map(PathBuf::from);
    let folder = other.clone().unwrap_or_else(|_| Checkout::new().root.join("test/proofs/Inputs"));
    let entries = fs::read_dir(folder).expect("a folder of pairs").flatten().map(|entry| entry.path());
    let is_program = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "mlir");
    let mut files: Vec<PathBuf> = entries.filter(is_program).collect();
    files.sort();
    let mut wrong = vec![];
    for file in files {
        let text = fs::read_to_string(&file).expect("a file of pairs");
        let mut parts = text.split("// -----\n");
        let before = parts.next().unwrap_or_default();
        for (number, after) in parts.enumerate() {
            let said = after.lines().next().unwrap_or_default().trim_start_matches("// ");
            let (verdict, message) = found(before, after);
            let name = format!("{} {}", file.file_stem().unwrap_or_default().display(), number + 1);
            if other.is_ok() {
                println!("{name}\t{said}\t{verdict}\t{}", message.replace('\n', " "));
            }
            let (expected, part) = said.split_once(": ").unwrap_or((said, ""));
            if verdict != expected || !message.contains(part) {
                wrong.push(format!("{name}: {verdict} instead of {said}: {message}"));
            }
        }
    }
    assert!(other.is_ok() || wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Wrong pairs are errors, and right ones are not.
#[test]
fn special_numbers_tell_operations_apart() {
    let text = fs::read_to_string(Checkout::new().root.join("test/proofs/Inputs/scalars.txt")).expect("the pairs");
    let (mut wrong, mut count) = (vec![], [0; 2]);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [truth, signature, before, after] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let function = |body: &str| format!("func.func @f{signature} {{\n{}\n}}", body.replace("; ", "\n"));
        let (verdict, message) = found(&function(before), &function(after));
        let is_wrong = truth == "wrong";
        count[usize::from(is_wrong)] += 1;
        if (verdict == "error") != is_wrong {
            wrong.push(format!("{line}: {verdict}: {message}"));
        }
    }
    assert!(count.iter().all(|count| *count > 40), "{count:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
