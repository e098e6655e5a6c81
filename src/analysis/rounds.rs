//! What the parts of what a loop carries depend on, over all of its rounds.

use super::access::Access;
use super::flow::{Flow, Place};
use std::collections::{BTreeMap, BTreeSet};

/// What the parts of a loop depend on; lists are ascending.
pub struct Rounds {
    /// The parameter and the leaf of each part.
    pub parts: Vec<(usize, usize)>,
    /// For each part, those that a round reads for it.
    reads: Vec<Vec<usize>>,
    /// Those on which the number of rounds depends, in any round.
    counting: BTreeSet<usize>,
    /// For each requested result, those on which it depends, in any round.
    pub changes: BTreeMap<usize, Vec<usize>>,
}

impl Rounds {
    pub fn new(condition: &Flow, body: &Flow) -> Rounds {
        let leaves = |(parameter, n): (usize, &usize)| (0..*n).map(move |leaf| (parameter, leaf));
        let parts: Vec<(usize, usize)> = body.parameters().iter().enumerate().flat_map(leaves).collect();
        let all = |flow: &Flow, root: usize| match flow.others(root) {
            Some(_) => (0..parts.len()).collect(),
            None => flow.related(root).filter_map(|part| parts.binary_search(&part).ok()).collect(),
        };
        let reads: Vec<Vec<usize>> = (0..parts.len()).map(|root| all(body, root)).collect();
        let counting: Vec<usize> = all(condition, 0);
        let mut rounds = Rounds { counting: BTreeSet::new(), parts, reads, changes: BTreeMap::new() };
        rounds.counting = rounds.closed(counting);
        rounds
    }

    /// These parts, those that a round reads for them, those that a round reads for these, and so on.
    fn closed(&self, mut queue: Vec<usize>) -> BTreeSet<usize> {
        let mut reached = self.counting.clone();
        reached.extend(&queue);
        while let Some(part) = queue.pop() {
            queue.extend(self.reads[part].iter().copied().filter(|other| reached.insert(*other)));
        }
        reached
    }

    /// The parts that any round may look at for a result: those that it depends on, and those that the number of rounds
    /// depends on. A part that every round makes of itself, element by element (`same`), is made of itself at the end,
    /// too.
    pub fn changes(&mut self, body: &Flow, result: usize, same: Option<&Access<Place>>) -> &[usize] {
        if !self.changes.contains_key(&result) {
            let (parameter, leaf) = self.parts[result];
            let alone = match same {
                Some(_) => self.reads[result] == [result] && body.reads(parameter, leaf, result) == same,
                None => self.reads[result].is_empty(),
            };
            let reached = self.closed(if alone { Vec::new() } else { vec![result] });
            self.changes.insert(result, reached.into_iter().collect());
        }
        &self.changes[&result]
    }
}
