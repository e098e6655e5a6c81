//! Disjoint sets of numbers (union-find).

/// Disjoint sets of the numbers below a count. One number of each set is its representative.
///
/// A query takes logarithmic time: the smaller tree of two goes below the root of the larger one.
///
/// # Example
/// ```
/// use tensor_layout::sets::DisjointSets;
///
/// let mut sets = DisjointSets::new(3);
/// sets.join(2, 0);
/// assert_eq!([0, 1, 2].map(|number| sets.find(number)), [2, 1, 2]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct DisjointSets {
    parents: Vec<usize>,
    /// By root: the numbers in the tree, and the representative.
    trees: Vec<(usize, usize)>,
}

impl DisjointSets {
    /// A set for each number below `count`.
    pub fn new(count: usize) -> DisjointSets {
        DisjointSets { parents: (0..count).collect(), trees: (0..count).map(|number| (1, number)).collect() }
    }

    /// Adds the next number, in a set of its own, and returns it.
    pub fn add(&mut self) -> usize {
        let number = self.parents.len();
        self.parents.push(number);
        self.trees.push((1, number));
        number
    }

    /// The representative of a number's set.
    pub fn find(&self, number: usize) -> usize {
        self.trees[self.root(number)].1
    }

    /// Joins two sets. The representative of the first one remains.
    pub fn join(&mut self, into: usize, from: usize) {
        let (into, from) = (self.root(into), self.root(from));
        if into == from {
            return;
        }
        let (representative, size) = (self.trees[into].1, self.trees[into].0 + self.trees[from].0);
        let (above, below) = if self.trees[into].0 >= self.trees[from].0 { (into, from) } else { (from, into) };
        self.parents[below] = above;
        self.trees[above] = (size, representative);
    }

    /// Joins two sets. The lesser of their representatives remains.
    pub fn join_least(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.join(a.min(b), a.max(b));
    }

    fn root(&self, mut number: usize) -> usize {
        while self.parents[number] != number {
            number = self.parents[number];
        }
        number
    }
}
