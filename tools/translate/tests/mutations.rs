//! Modules that random changes broke, or turned into others: whatever is read is imported, or refused with places in the
//! text; nothing panics.

#[path = "../../../test/changes.rs"]
mod changes;

use changes::{bounded, changed, modules};
use fastrand::Rng;
use tensor_layout::hlo::Module;

/// What becomes of a text: nothing where it is not read, or whether it is imported.
fn imported(text: &str) -> Option<bool> {
    let module = Module::parse(text).ok()?;
    let Err(errors) = layout_translate::import(&module, text, "changed") else { return Some(true) };
    assert!(!errors.is_empty(), "{text}");
    assert!(errors.iter().all(|error| error.at.is_some_and(|at| at <= text.len())), "{errors:?}\n{text}");
    Some(false)
}

#[test]
fn mutations_are_imported_or_refused() {
    let (texts, mut rng) = (modules("hlo/small"), Rng::with_seed(15));
    let (mut read, mut refused) = (0, 0);
    for _ in 0..25_000 {
        let Some(done) = imported(&changed(&texts[rng.usize(..texts.len())].1, &mut rng)) else { continue };
        read += 1;
        refused += usize::from(!done);
    }
    assert!(read > 500 && refused > 10, "{read} modules were read, {refused} of them refused");
}

/// Each size of the small modules and of the models, as a bound: alone in its line, where all others are exact, and in all
/// lines.
#[test]
fn sizes_become_bounds() {
    let (mut read, mut done) = (0, 0);
    for (_, text) in ["hlo/small", "hlo", "hlo/devices"].into_iter().flat_map(modules) {
        for n in 1..=16 {
            let whole = bounded(&text, n);
            if whole == text {
                continue;
            }
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let one_line = (0..lines.len()).filter_map(|k| {
                let line = bounded(lines[k], n);
                (line != lines[k]).then(|| [lines[..k].concat(), line, lines[k + 1..].concat()].concat())
            });
            for text in one_line.chain([whole]) {
                let Some(imported) = imported(&text) else { continue };
                read += 1;
                done += usize::from(imported);
            }
        }
    }
    assert!(read > 100 && done > 50, "{read} modules were read, {done} of them imported");
}
