//! What a solution rests on: a plan, and a proof that no plan costs less than a bound.
//!
//! The proof is a Lagrangian dual. Every step below keeps the cost of legal plans or lowers it, so what is left is a
//! lower bound:
//!
//! 1. **Reductions** leave a network with the same minimum: see [`Reduction`].
//! 2. **Scale.** All costs are multiplied by `2^shift`, so that what follows is in integers.
//! 3. **Prices.** A resource has a price `p(t) >= 0` at some moments `t`. A choice that takes `u` at moments `T` pays
//!    `u × (sum of p(t) for t in T)`, and `capacity × (sum of all p)` is refunded for the whole. A legal plan stays
//!    within the capacity, so it is refunded at least what it pays.
//! 4. **Messages.** For an edge between `a` and `b`, `m_a(i)` and `m_b(j)` are taken from the cost of the pair `(i, j)`
//!    and given to the choices `i` of `a` and `j` of `b` (a reparametrisation).
//! 5. **Elimination.** Some variables are minimised over, in order, each with all tables that it is in.
//! 6. **Minima.** The minima of all tables that are left are added up.
//!
//! Where one dual is not enough, there is a tree of them: a branch distributes the choices of a variable, and choices
//! are excluded that cannot be in a plan that costs less than the one that is known.

/// A plan with a lower bound on the cost of all plans, and the proof of the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// For each variable its choice.
    pub choices: Vec<usize>,
    /// What the plan costs.
    pub cost: i64,
    /// What every legal plan costs at least.
    pub bound: i64,
    /// How the network was reduced, in order.
    pub reductions: Vec<Reduction>,
    /// A tree in prefix order; [`ProofNode::children`] says how many nodes are below one.
    pub proof: Vec<ProofNode>,
}

/// A step that keeps the least cost of legal plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// A choice that has no partner left at some neighbour is forbidden.
    Drop {
        /// The variable.
        variable: usize,
        /// Its choice.
        choice: usize,
    },
    /// A choice is forbidden since another takes no more of any resource, and costs no more whatever the neighbours
    /// choose.
    Dominated {
        /// The variable.
        variable: usize,
        /// Its choice.
        choice: usize,
        /// The other choice.
        by: usize,
    },
    /// A variable of which each choice of a neighbour leaves at most one choice is put into the neighbour: the costs of
    /// its choices and pairs and its amounts become those of the choices of the neighbour.
    Merge {
        /// The variable.
        from: usize,
        /// The neighbour.
        into: usize,
    },
}

/// A node of the proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofNode {
    /// The dual bounds all plans here from below.
    Bound(Dual),
    /// Every choice with which the dual is at or above a limit is forbidden in the node below: the cost of the best plan when
    /// this was found. The dual eliminates no variable.
    Exclude(i64, Dual),
    /// Each choice of a variable that was not merged is in one of the sets; below is a node for each.
    Branch {
        /// The variable.
        variable: usize,
        /// Sets of choices.
        parts: Vec<Vec<usize>>,
    },
}

impl ProofNode {
    /// How many nodes are directly below this one.
    pub fn children(&self) -> usize {
        match self {
            ProofNode::Bound(_) => 0,
            ProofNode::Exclude(..) => 1,
            ProofNode::Branch { parts, .. } => parts.len(),
        }
    }
}

/// Prices, messages and an order of elimination; see the head of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dual {
    /// Costs are multiplied by 2 to this power.
    pub shift: u32,
    /// Prices above 0.
    pub prices: Vec<Multiplier>,
    /// At most one for each two variables.
    pub messages: Vec<Message>,
    /// Variables that are eliminated exactly.
    pub eliminated: Vec<usize>,
}

/// What a unit of a resource costs at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiplier {
    /// The resource.
    pub resource: usize,
    /// The moment.
    pub moment: i64,
    /// The price, at least 0, in cost × `2^shift`.
    pub price: i64,
}

/// What moves from the pairs of two variables to their choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Two variables with an edge, after the merges.
    pub ends: [usize; 2],
    /// For each choice of each end, what is added to its cost and taken from that of its pairs.
    pub to: [Vec<i64>; 2],
}
