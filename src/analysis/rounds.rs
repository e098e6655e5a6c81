//! Dependences between the parts of a loop's state, over all of its rounds.

use super::access::Access;
use super::flow::{Flow, ValueRef};
use std::collections::{BTreeMap, BTreeSet};

/// The dependences of a loop's parts; lists are ascending.
pub struct Rounds {
    /// The parameter and the leaf of each part.
    pub parts: Vec<(usize, usize)>,
    /// For each part, the parts that one round reads for it.
    reads: Vec<Vec<usize>>,
    /// The parts that decide the trip count, in any round.
    counting: BTreeSet<usize>,
    /// For each requested result, the parts it depends on, in any round.
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

    /// The transitive closure of these parts under the reads of a round, with the parts that decide the trip count.
    fn closed(&self, mut queue: Vec<usize>) -> BTreeSet<usize> {
        let mut reached = self.counting.clone();
        reached.extend(&queue);
        while let Some(part) = queue.pop() {
            queue.extend(self.reads[part].iter().copied().filter(|other| reached.insert(*other)));
        }
        reached
    }

    /// The parts that a result may depend on in any round, and the parts that decide the trip count. If every round
    /// computes a part only from itself, element by element (`same`), so does the whole loop.
    pub fn changes(&mut self, body: &Flow, result: usize, same: Option<&Access<ValueRef>>) -> &[usize] {
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
