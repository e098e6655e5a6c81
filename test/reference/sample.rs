//! The part of the long tests that runs.
#![allow(dead_code, reason = "each test uses a part of this")]

use std::env;

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
        let share = self.share.min(cases.len() as u64);
        let numbered = (0..).zip(cases).filter(|(number, _)| number % share == self.seed.unwrap_or(0) % share);
        numbered.map(|(_, case)| case).collect()
    }

    /// Whether a test that has no cases runs: in one of `share` samples, by its number.
    pub fn runs(self, test: u64) -> bool {
        self.seed.unwrap_or(0) % self.share == test % self.share
    }

    /// The number of random cases and their seed, of a test that draws `cases` from `seed`. Samples draw other cases.
    pub fn random(self, cases: u32, seed: u64) -> (u32, u64) {
        (cases.div_ceil(self.share as u32), seed.wrapping_add(self.seed.unwrap_or(0) % self.share))
    }
}
