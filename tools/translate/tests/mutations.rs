//! Modules that random changes broke, or turned into others: every module that parses is imported, or refused with
//! places in the text; nothing panics.

use fastrand::Rng;
use layout_reference::changes::{bounded, changed, modules};
use tensor_layout::hlo::Module;

/// Whether a text is imported; `None` where it does not parse.
fn imported(text: &str) -> Option<bool> {
    let module = Module::parse(text).ok()?;
    let Err(errors) = layout_translate::import(&module, text, "changed") else { return Some(true) };
    assert!(!errors.is_empty(), "{text}");
    assert!(errors.iter().all(|error| error.at.is_some_and(|at| at <= text.len())), "{errors:?}\n{text}");
    Some(false)
}

#[test]
fn mutations_are_imported_or_refused() {
    crate::long_test!();
    let (texts, mut rng) = (modules("hlo/small"), Rng::with_seed(15));
    let (mut read, mut refused) = (0, 0);
    for _ in 0..25_000 {
        let Some(done) = imported(&changed(&texts[rng.usize(..texts.len())].1, &mut rng)) else { continue };
        read += 1;
        refused += usize::from(!done);
    }
    assert!(read > 500 && refused > 10, "{read} modules were read, {refused} of them refused");
}

/// Each size of the small modules and of the models becomes a bound: in all lines, and in one line among exact sizes.
#[test]
fn sizes_become_bounds() {
    let mut rng = Rng::with_seed(4);
    let (mut read, mut done) = (0, 0);
    for (_, text) in ["hlo/small", "hlo", "hlo/devices"].into_iter().flat_map(modules) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for n in 1..=16 {
            let changes = |k: &usize| bounded(lines[*k], n) != lines[*k];
            let one_line = rng.choice((0..lines.len()).filter(changes).collect::<Vec<_>>()).map(|k| {
                let line = bounded(lines[k], n);
                [lines[..k].concat(), line, lines[k + 1..].concat()].concat()
            });
            let all_lines = one_line.as_ref().map(|_| bounded(&text, n));
            for text in one_line.into_iter().chain(all_lines) {
                let Some(imported) = imported(&text) else { continue };
                read += 1;
                done += usize::from(imported);
            }
        }
    }
    assert!(read > 100 && done > 20, "{read} modules were read, {done} of them imported");
}
