//! Nearly valid texts, and random bytes.

use crate::choices::Choices;

/// One of `seeds`, changed by cuts, duplicates and inserted `pieces`; one text in eleven is random bytes.
pub fn text(rng: &mut Choices, seeds: &[impl AsRef<str>], pieces: &[&str]) -> String {
    if rng.one_in(11) {
        let bytes: Vec<u8> = (0..rng.usize(0..40)).map(|_| rng.u8(..)).collect();
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let mut text: Vec<char> = seeds[rng.usize(..seeds.len())].as_ref().chars().collect();
    for _ in 0..rng.usize(1..5) {
        let at = rng.usize(0..=text.len());
        let end = (at + rng.usize(0..4)).min(text.len());
        let piece = pieces[rng.usize(..pieces.len())];
        match rng.u8(0..4) {
            0 => drop(text.drain(at..end)),
            1 => drop(text.splice(at..at, piece.chars())),
            2 => drop(text.splice(at..end, piece.chars())),
            _ => text.extend_from_within(at..end),
        }
    }
    text.into_iter().collect()
}
