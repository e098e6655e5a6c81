//! Certificates: a plan, and a proof that no plan costs less than a bound.
//!
//! The proof is a Lagrangian dual. Each step keeps or lowers the cost of legal plans, so the result is a lower bound:
//!
//! 1. **Reductions** give a network with the same minimum: see [`Reduction`].
//! 2. **Scale.** All costs are multiplied by `2^shift`, so that the rest is computed in integers.
//! 3. **Prices.** A resource has a price `p(t) >= 0` at some moments `t`. A choice that takes `u` at moments `T` pays
//!    `u × (sum of p(t) for t in T)`, and `capacity × (sum of all p)` is refunded once. A legal plan stays within the
//!    capacity, so the refund covers its payments.
//! 4. **Messages.** For an edge between `a` and `b`, `m_a(i)` and `m_b(j)` are subtracted from the cost of the pair
//!    `(i, j)` and added to the choices `i` of `a` and `j` of `b` (a reparametrisation).
//! 5. **Elimination.** Some variables are minimised over, in order, each with all tables that contain it.
//! 6. **Minima.** The bound is the sum of the minima of all remaining tables.
//!
//! If one dual is not enough, the proof is a tree: a branch distributes the choices of a variable, and an exclusion
//! removes choices that no plan cheaper than the known one can have.

/// A plan with a lower bound on the cost of all plans, and the proof of the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The choice of each variable.
    pub choices: Vec<usize>,
    /// The cost of the plan.
    pub cost: i64,
    /// A lower bound on the cost of every legal plan.
    pub bound: i64,
    /// The reductions of the network, in order.
    pub reductions: Vec<Reduction>,
    /// A tree in prefix order; [`ProofNode::children`] is the number of children of a node.
    pub proof: Vec<ProofNode>,
}

/// A step that keeps the least cost of legal plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Forbids a choice without a partner at some neighbour.
    Drop {
        /// The variable.
        variable: usize,
        /// Its choice.
        choice: usize,
    },
    /// Forbids a choice because of another that takes no more of any resource and costs no more, for all choices of the
    /// neighbours.
    Dominated {
        /// The variable.
        variable: usize,
        /// Its choice.
        choice: usize,
        /// The other choice.
        by: usize,
    },
    /// Merges a variable into a neighbour, each choice of which leaves it at most one choice: the neighbour's choices
    /// take over its costs, pairs and amounts.
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
    /// The dual is a lower bound on all plans here.
    Bound(Dual),
    /// Forbids in the node below every choice whose bound by the dual reaches a limit: the cost of the best plan at
    /// that time. The dual eliminates no variable.
    Exclude(i64, Dual),
    /// Each choice of an unmerged variable is in one of the sets; each set has a child node.
    Branch {
        /// The variable.
        variable: usize,
        /// Sets of choices.
        parts: Vec<Vec<usize>>,
    },
}

impl ProofNode {
    /// The number of children of this node.
    pub fn children(&self) -> usize {
        match self {
            ProofNode::Bound(_) => 0,
            ProofNode::Exclude(..) => 1,
            ProofNode::Branch { parts, .. } => parts.len(),
        }
    }
}

/// Prices, messages and an elimination order; see the head of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dual {
    /// Costs are multiplied by 2 to this power.
    pub shift: u32,
    /// Prices above 0.
    pub prices: Vec<Multiplier>,
    /// At most one for each pair of variables.
    pub messages: Vec<Message>,
    /// The variables to eliminate exactly.
    pub eliminated: Vec<usize>,
}

/// The price of one unit of a resource at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiplier {
    /// The resource.
    pub resource: usize,
    /// The moment.
    pub moment: i64,
    /// The price, at least 0, in cost × `2^shift`.
    pub price: i64,
}

/// A shift of costs from the pairs of two variables to their choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The two variables, joined by an edge after the merges.
    pub ends: [usize; 2],
    /// The amount for each choice of each end, added to its cost and subtracted from its pairs.
    pub to: [Vec<i64>; 2],
}
