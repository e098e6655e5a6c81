//! The part of the long tests that runs.
#![allow(dead_code, reason = "each test uses a part of this")]

use std::env;

/// The long tests, a row for each, which begins with its name.
const LONG: &str = include_str!("../long.md");

/// Ends a long test that is not in the sample.
#[macro_export]
macro_rules! long_test {
    () => {
        fn place() {}
        let test = std::any::type_name_of_val(&place).trim_end_matches("::place");
        assert!($crate::sample::row(test).is_some(), "test/long.md has no row of {test}");
        if !$crate::sample::Sample::from_env().runs(test) {
            return;
        }
    };
}

/// The number of the row of a long test, whose name is that of its program and its own, such as `plan::devices::errors`.
pub fn row(test: &str) -> Option<usize> {
    LONG.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).position(|name| name == test)
}

/// One case in `share` of each long test. Seeds that follow each other select other cases, so that `share` of them
/// select all.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The seed, if the variable says one.
    pub seed: Option<u64>,
    /// Divides the number of cases.
    pub share: u64,
}

impl Sample {
    /// All cases.
    pub const WHOLE: Sample = Sample { seed: None, share: 1 };

    /// The sample that `LAYOUT_SAMPLE=SEED/SHARE` asks for; everything without it.
    ///
    /// # Panics
    /// If the variable has another form, or its share is 0.
    pub fn from_env() -> Sample {
        let Ok(text) = env::var("LAYOUT_SAMPLE") else { return Sample::WHOLE };
        let number = |text: &str| text.parse().ok();
        let parts = text.split_once('/').and_then(|(seed, share)| Some((number(seed)?, number(share)?)));
        let (seed, share) = parts.expect("LAYOUT_SAMPLE is a seed and a share, such as 7/4");
        assert!(share > 0, "the share of LAYOUT_SAMPLE is at least 1");
        Sample { seed: Some(seed), share }
    }

    /// The selected ones of these cases, at least one, in their order.
    pub fn select<T>(self, cases: impl IntoIterator<Item = T>) -> Vec<T> {
        let cases: Vec<T> = cases.into_iter().collect();
        Sample { share: self.share.min(cases.len() as u64), ..self }.select_long(cases)
    }

    /// The selected ones of these cases, each of which takes as long as a long test: maybe none.
    pub fn select_long<T>(self, cases: impl IntoIterator<Item = T>) -> Vec<T> {
        let numbered = (0..).zip(cases).filter(|(number, _)| self.has(*number));
        numbered.map(|(_, case)| case).collect()
    }

    /// Whether a case with this number is in the sample.
    fn has(self, number: u64) -> bool {
        number % self.share == self.seed.unwrap_or(0) % self.share
    }

    /// Whether a test runs: a long one in one of `share` samples, by its row, any other in all.
    pub fn runs(self, test: &str) -> bool {
        row(test).is_none_or(|row| self.has(row as u64))
    }

    /// The number of random cases and their seed, of a test that draws `cases` from `seed`. Samples draw other cases.
    pub fn random(self, cases: u32, seed: u64) -> (u32, u64) {
        (cases.div_ceil(self.share as u32), seed.wrapping_add(self.seed.unwrap_or(0) % self.share))
    }
}
