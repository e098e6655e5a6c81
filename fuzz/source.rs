//! Sources of texts for a check: its corpus, and its grammar.

use crate::Check;
use crate::grammar::Grammar;
use crate::mutate::Mutator;
use fastrand::Rng;

/// The texts of a check.
pub struct Source {
    /// Changes texts by tokens.
    pub mutator: Mutator,
    grammar: Grammar,
}

impl Source {
    /// The source of this check.
    pub fn new(check: &Check) -> Source {
        Source { mutator: Mutator::new(&check.texts()), grammar: Grammar::new(check.grammar) }
    }

    /// A text of the grammar, with up to seven changes by its rules.
    pub fn by_grammar(&self, rng: &mut Rng) -> String {
        let mut derivation = self.grammar.derive(rng);
        for _ in 0..rng.usize(..8) {
            self.grammar.change(&mut derivation, rng);
        }
        derivation.to_text()
    }

    /// A text of the grammar or of the corpus, and changes of it by tokens, each of the one before. Few changes reach
    /// deep code, many find inputs that nobody would write.
    pub fn series(&self, rng: &mut Rng) -> Vec<String> {
        let (mut all, changes) = match rng.bool() {
            true => (vec![self.by_grammar(rng)], rng.usize(..3)),
            false => (vec![self.mutator.mutate(&self.mutator.text(rng), rng)], (1 << rng.u32(..4)) - 1),
        };
        for _ in 0..changes {
            let text = self.mutator.mutate(&all[all.len() - 1], rng);
            all.push(text);
        }
        all
    }
}
