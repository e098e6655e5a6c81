//! Modules that random changes broke, or turned into others: whatever is read is imported, or refused with places in the
//! text; nothing panics.

use fastrand::Rng;
use std::path::Path;
use tensor_layout::hlo::Module;

/// The small modules of the tests.
fn texts() -> Vec<String> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/hlo/small"));
    let files = std::fs::read_dir(folder).expect("the folder of small modules");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect()
}

/// Puts other bytes in place of some: mostly of one number or word by another of the text, so that what comes out is
/// still read now and then.
fn changed(text: &str, rng: &mut Rng) -> String {
    const PIECES: &[&str] = &["0", "1", "2", "3", "7", "-1", "9223372036854775807", "<=4", "s4", "pred", "c64", "bf16"];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.usize(1..3) {
        let is_word = |b: &u8| b.is_ascii_alphanumeric();
        let begin = rng.usize(..bytes.len());
        let end = begin + bytes[begin..].iter().take_while(|b| is_word(b)).count();
        let from = rng.usize(..bytes.len());
        let other: Vec<u8> = bytes[from..].iter().copied().take_while(is_word).collect();
        let new = match rng.u8(..4) {
            0 => vec![rng.u8(32..127)],
            1 => other,
            _ => PIECES[rng.usize(..PIECES.len())].as_bytes().to_vec(),
        };
        bytes.splice(begin..end.max(begin + usize::from(rng.bool())).min(bytes.len()), new);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn mutations_are_imported_or_refused() {
    let (texts, mut rng) = (texts(), Rng::with_seed(15));
    let (mut read, mut refused) = (0, 0);
    for _ in 0..25_000 {
        let text = changed(&texts[rng.usize(..texts.len())], &mut rng);
        let Ok(module) = Module::parse(&text) else { continue };
        read += 1;
        if let Err(errors) = layout_translate::import(&module, &text, "mutation") {
            refused += 1;
            assert!(!errors.is_empty(), "{text}");
            assert!(errors.iter().all(|error| error.at.is_some_and(|at| at <= text.len())), "{errors:?}\n{text}");
        }
    }
    assert!(read > 500 && refused > 10, "{read} modules were read, {refused} of them refused");
}
