//! Small HLO modules with random changes. Shared by tests; no test by itself.

use fastrand::Rng;
use std::path::{Path, PathBuf};

/// The modules of a folder in `test/`, with their file names.
pub fn modules(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let files = std::fs::read_dir(folder).expect("a folder of modules").map(|file| file.expect("a file").path());
    let mut paths: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "hlo")).collect();
    paths.sort();
    let text = |path: PathBuf| (path.display().to_string(), std::fs::read_to_string(&path).expect("a text"));
    paths.into_iter().map(text).collect()
}

/// Replaces some bytes: mostly one number or word by another one of the text, so that the result is sometimes valid.
pub fn changed(text: &str, rng: &mut Rng) -> String {
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

/// The text with `<=n` for each size `n` of a shape.
pub fn bounded(text: &str, n: usize) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(begin) = rest.find('[') {
        let (before, after) = rest.split_at(begin + 1);
        out += before;
        let end = after.find(']').unwrap_or(after.len());
        let is_shape = before[..begin].ends_with(|c: char| c.is_ascii_alphanumeric());
        let size = |size: &str| if size == n.to_string() { format!("<={n}") } else { size.to_string() };
        let sizes = after[..end].split(',').map(size).collect::<Vec<_>>().join(",");
        out += if is_shape { &sizes } else { &after[..end] };
        rest = &after[end..];
    }
    out + rest
}
