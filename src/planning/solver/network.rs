//! A cost network: variables, costs of choices and of pairs of choices, and capacities over time.
//!
//! ```
//! use layout_plan::solver::{CostNetwork, FORBIDDEN};
//!
//! // Two arrays in one of two layouts each; where they differ a relayout costs 5, and one pair cannot be.
//! let mut network = CostNetwork::new();
//! let a = network.add_variable(vec![3, 0]).unwrap();
//! let b = network.add_variable(vec![0, 4]).unwrap();
//! network.add_edge(a, b, vec![0, FORBIDDEN, 5, 0]).unwrap();
//! // In a memory of 10 bytes each lives for a while: [0, 2) and [1, 3).
//! let memory = network.add_resource(10).unwrap();
//! network.add_occupancy(a, memory, 0..2, vec![6, 4]).unwrap();
//! network.add_occupancy(b, memory, 1..3, vec![7, 6]).unwrap();
//! assert_eq!(network.cost(&[1, 1]).unwrap(), 4);
//! // At moment 1 both live: 6 + 7 bytes.
//! assert!(network.cost(&[0, 0]).unwrap_err().to_string().contains("3 more than its capacity 10"));
//! ```
//!
//! The cost of a plan, one choice for each variable, is the sum of the costs of its choices and pairs. A plan is legal
//! if no cost in the sum is [`FORBIDDEN`] and, at each moment, the amounts of the live variables fit the capacity of
//! each resource.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use tensor_layout::limits;
use tensor_layout::text::Error;

/// The cost of a choice or pair that no legal plan has.
pub const FORBIDDEN: i64 = i64::MAX;

/// The limit on the sum of the largest finite |cost| of each variable and edge, and on the sum of amounts: 2^58. Sums
/// over a plan and their differences are then exact in 64 bits.
pub const LARGEST_SUM: i64 = limits::COST_SUM;

/// The problem to minimise; see the head of the file.
#[derive(Clone, Debug, Default)]
pub struct CostNetwork {
    variables: Vec<Vec<i64>>,
    edges: Vec<Edge>,
    resources: Vec<i64>,
    occupancies: Vec<Occupancy>,
    /// Bounds on |cost of a plan| and on the amount of each resource, so that no sum overflows.
    largest_cost: i64,
    largest_amount: Vec<i64>,
}

/// The costs of the pairs of choices of two variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The two variables, which differ.
    pub ends: [usize; 2],
    /// Row-major: the cost of choices `i` and `j` is at `i * (choices of ends[1]) + j`. Edges with equal costs share
    /// the vector.
    pub costs: Arc<Vec<i64>>,
}

/// The amount of a resource that a variable takes while it is live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// The variable.
    pub variable: usize,
    /// The resource.
    pub resource: usize,
    /// The live range of the variable; not empty.
    pub moments: Range<i64>,
    /// The amount for each choice, at least 0.
    pub amounts: Vec<i64>,
}

/// A reason why a network cannot be built, or a plan is not legal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkError {
    /// A variable or resource that does not exist, or another value out of range.
    Invalid(String),
    /// Costs or amounts whose sum may not fit, with the name of the last addition.
    Overflow(String),
    /// The choice of a variable is forbidden.
    ForbiddenChoice {
        /// The variable.
        variable: usize,
        /// Its choice.
        choice: usize,
    },
    /// The choices at the ends of an edge are forbidden together.
    ForbiddenPair {
        /// The edge.
        edge: usize,
        /// The variables at its ends.
        ends: [usize; 2],
        /// Their choices.
        choices: [usize; 2],
    },
    /// The plan uses more than the capacity.
    OverCapacity {
        /// The resource.
        resource: usize,
        /// The first moment with the largest excess.
        moment: i64,
        /// The amount used at this moment.
        used: i64,
        /// The capacity.
        capacity: i64,
    },
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::Invalid(message) | NetworkError::Overflow(message) => f.write_str(message),
            NetworkError::ForbiddenChoice { variable, choice } => {
                write!(f, "choice {choice} of variable {variable} is forbidden")
            }
            NetworkError::ForbiddenPair { edge, ends: [a, b], choices: [i, j] } => {
                write!(
                    f,
                    "choice {i} of variable {a} and choice {j} of variable {b} are forbidden together, by edge {edge}"
                )
            }
            NetworkError::OverCapacity { resource, moment, used, capacity } => write!(
                f,
                "at moment {moment} resource {resource} holds {used}, {} more than its capacity {capacity}",
                used - capacity
            ),
        }
    }
}

impl std::error::Error for NetworkError {}

/// Errors for a user who knows the program but not the numbers of variables and edges: the text of an overflow omits
/// them.
impl From<NetworkError> for Error {
    fn from(error: NetworkError) -> Error {
        match error {
            NetworkError::Overflow(_) => Error::new(format!("with this {TOO_LARGE}")).too_large(),
            error => Error::new(error.to_string()),
        }
    }
}

/// The message for sums above [`LARGEST_SUM`].
const TOO_LARGE: &str = "the largest values of all add up to more than 2^58, which is not supported";

fn invalid<T>(message: String) -> Result<T, NetworkError> {
    Err(NetworkError::Invalid(message))
}

/// Adds the largest |value| to `sum`; an error above [`LARGEST_SUM`].
fn add_largest(sum: i64, values: &[i64], what: impl Fn() -> String) -> Result<i64, NetworkError> {
    let finite = values.iter().filter(|value| **value != FORBIDDEN);
    let largest = finite.map(|value| value.unsigned_abs()).max().unwrap_or(0);
    let sum = i64::try_from(largest).ok().and_then(|largest| sum.checked_add(largest));
    let too_large = || NetworkError::Overflow(format!("{}: with it {TOO_LARGE}", what()));
    sum.filter(|sum| *sum <= LARGEST_SUM).ok_or_else(too_large)
}

impl CostNetwork {
    /// A network without variables; its one plan is empty and costs 0.
    pub fn new() -> CostNetwork {
        CostNetwork::default()
    }

    /// The network with other costs of choices, from the variable, the choice and its cost.
    ///
    /// # Errors
    /// Costs that overflow.
    pub fn with_costs(&self, cost: impl Fn(usize, usize, i64) -> i64) -> Result<CostNetwork, NetworkError> {
        let mut network = CostNetwork::new();
        for (variable, costs) in self.variables.iter().enumerate() {
            let costs = costs.iter().enumerate().map(|(choice, own)| cost(variable, choice, *own));
            network.add_variable(costs.collect())?;
        }
        for edge in &self.edges {
            network.add_edge(edge.ends[0], edge.ends[1], edge.costs.clone())?;
        }
        for capacity in self.capacities() {
            network.add_resource(*capacity)?;
        }
        for own in self.occupancies() {
            network.add_occupancy(own.variable, own.resource, own.moments.clone(), own.amounts.clone())?;
        }
        Ok(network)
    }

    /// Adds a variable with a cost for each choice, and returns its number, counted from 0.
    ///
    /// # Errors
    /// No choice, or more than 2^20; costs that overflow.
    pub fn add_variable(&mut self, costs: Vec<i64>) -> Result<usize, NetworkError> {
        let variable = self.variables.len();
        if costs.is_empty() || costs.len() > 1 << 20 {
            return invalid(format!("variable {variable} has {} choices, not 1 to 2^20", costs.len()));
        }
        if variable >= u32::MAX as usize {
            return invalid(format!("variable {variable} is one too many: at most 2^32 - 1 are supported"));
        }
        self.largest_cost = add_largest(self.largest_cost, &costs, || format!("costs of variable {variable}"))?;
        self.variables.push(costs);
        Ok(variable)
    }

    /// Adds a cost for each pair of choices of `a` and `b`, row-major with `a` first, and returns the number of the
    /// edge. Two variables may have several edges; their costs add up. Edges with equal costs can share one `Arc`,
    /// which saves memory and time.
    ///
    /// # Errors
    /// Variables that do not exist or are the same; a wrong number of costs; costs that overflow.
    pub fn add_edge(&mut self, a: usize, b: usize, costs: impl Into<Arc<Vec<i64>>>) -> Result<usize, NetworkError> {
        let costs = costs.into();
        let edge = self.edges.len();
        let (rows, columns) = (self.choices_of(a, "edge", edge)?, self.choices_of(b, "edge", edge)?);
        if a == b {
            return invalid(format!("both ends of edge {edge} are variable {a}"));
        }
        if costs.len() != rows * columns {
            return invalid(format!("edge {edge} has {} costs, not {rows} x {columns}", costs.len()));
        }
        if edge >= u32::MAX as usize {
            return invalid(format!("edge {edge} is one too many: at most 2^32 - 1 are supported"));
        }
        self.largest_cost = add_largest(self.largest_cost, &costs, || format!("costs of edge {edge}"))?;
        self.edges.push(Edge { ends: [a, b], costs });
        Ok(edge)
    }

    /// Adds a resource, such as the bytes of a memory, and returns its number.
    ///
    /// # Errors
    /// A capacity below 0 or above 2^58.
    pub fn add_resource(&mut self, capacity: i64) -> Result<usize, NetworkError> {
        let resource = self.resources.len();
        if !(0..=LARGEST_SUM).contains(&capacity) {
            return invalid(format!("the capacity {capacity} of resource {resource} is not in 0 to 2^58"));
        }
        self.resources.push(capacity);
        self.largest_amount.push(0);
        Ok(resource)
    }

    /// Adds an occupancy: the variable takes `amounts[choice]` of a resource at each of the moments.
    ///
    /// # Errors
    /// A variable or resource that does not exist; a wrong number of amounts, or one below 0; no moment; amounts that
    /// overflow.
    pub fn add_occupancy(
        &mut self,
        variable: usize,
        resource: usize,
        moments: Range<i64>,
        amounts: Vec<i64>,
    ) -> Result<(), NetworkError> {
        let choices = self.choices_of(variable, "occupancy", self.occupancies.len())?;
        if resource >= self.resources.len() {
            return invalid(format!("resource {resource} of variable {variable} does not exist"));
        }
        if moments.is_empty() {
            return invalid(format!("variable {variable} lives from {} to {}", moments.start, moments.end));
        }
        if amounts.len() != choices {
            return invalid(format!("variable {variable} has {} amounts for {choices} choices", amounts.len()));
        }
        if let Some(wrong) = amounts.iter().find(|amount| !(0..=LARGEST_SUM).contains(*amount)) {
            return invalid(format!("the amount {wrong} of variable {variable} is not in 0 to 2^58"));
        }
        let what = || format!("amounts of variable {variable} in resource {resource}");
        self.largest_amount[resource] = add_largest(self.largest_amount[resource], &amounts, what)?;
        self.occupancies.push(Occupancy { variable, resource, moments, amounts });
        Ok(())
    }

    fn choices_of(&self, variable: usize, what: &str, number: usize) -> Result<usize, NetworkError> {
        match self.variables.get(variable) {
            Some(costs) => Ok(costs.len()),
            None => invalid(format!("variable {variable} of {what} {number} does not exist")),
        }
    }

    /// A copy of the network in which one choice of a variable is possible.
    ///
    /// # Errors
    /// The variable or the choice does not exist.
    pub fn with_choice(&self, variable: usize, choice: usize) -> Result<CostNetwork, NetworkError> {
        let mut network = self.clone();
        match network.variables.get_mut(variable) {
            Some(costs) if choice < costs.len() => {
                costs.iter_mut().enumerate().filter(|(k, _)| *k != choice).for_each(|(_, cost)| *cost = FORBIDDEN);
                Ok(network)
            }
            _ => invalid(format!("choice {choice} of variable {variable} does not exist")),
        }
    }

    /// A network with the plans of this one that take nothing of a resource.
    pub fn with_nothing_of(&self, resource: usize) -> CostNetwork {
        let mut network = self.clone();
        network.occupancies.retain(|own| own.resource != resource);
        for own in self.occupancies.iter().filter(|own| own.resource == resource) {
            let costs = network.variables[own.variable].iter_mut().zip(&own.amounts);
            costs.filter(|(_, amount)| **amount > 0).for_each(|(cost, _)| *cost = FORBIDDEN);
        }
        network
    }

    /// The costs of the choices of each variable.
    pub fn variables(&self) -> &[Vec<i64>] {
        &self.variables
    }

    /// The edges, in the order in which they were added.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The capacity of each resource.
    pub fn capacities(&self) -> &[i64] {
        &self.resources
    }

    /// The amounts of resources that variables take.
    pub fn occupancies(&self) -> &[Occupancy] {
        &self.occupancies
    }

    /// A bound on the |cost| of all plans, at most 2^58.
    pub fn largest_cost(&self) -> i64 {
        self.largest_cost
    }

    /// The cost of a plan, from the definition.
    ///
    /// # Errors
    /// A wrong number of choices, a choice that does not exist or is forbidden, a forbidden pair, or more of a resource
    /// than its capacity.
    pub fn cost(&self, plan: &[usize]) -> Result<i64, NetworkError> {
        if plan.len() != self.variables.len() {
            return invalid(format!("{} choices for {} variables", plan.len(), self.variables.len()));
        }
        let mut sum = 0;
        for (variable, (costs, choice)) in self.variables.iter().zip(plan).enumerate() {
            match costs.get(*choice) {
                None => return invalid(format!("choice {choice} of variable {variable}, which has {}", costs.len())),
                Some(&FORBIDDEN) => return Err(NetworkError::ForbiddenChoice { variable, choice: *choice }),
                Some(cost) => sum += cost,
            }
        }
        for (edge, Edge { ends: ends @ [a, b], costs }) in self.edges.iter().enumerate() {
            match costs[plan[*a] * self.variables[*b].len() + plan[*b]] {
                FORBIDDEN => {
                    return Err(NetworkError::ForbiddenPair { edge, ends: *ends, choices: [plan[*a], plan[*b]] });
                }
                cost => sum += cost,
            }
        }
        self.within_capacity(plan)?;
        Ok(sum)
    }

    /// Completes a plan from its first choices. Each later variable, in order, gets the choice of least
    /// `rank(variable, choice)` that its cost and the choices before it allow (the first one on ties). The result may
    /// be illegal.
    pub fn completed<R: Ord>(&self, mut plan: Vec<usize>, rank: impl Fn(usize, usize) -> R) -> Vec<usize> {
        let first = plan.len();
        // For each variable, the edges to earlier variables.
        let mut before: Vec<Vec<&Edge>> = vec![Vec::new(); self.variables.len().saturating_sub(first)];
        for edge in &self.edges {
            if let Some(own) = edge.ends[0].max(edge.ends[1]).checked_sub(first) {
                before[own].push(edge);
            }
        }
        for (variable, edges) in (first..).zip(before) {
            let may = |choice: &usize| {
                let pair = |Edge { ends: [a, b], costs }: &&Edge| {
                    let [row, column] = if *a == variable { [*choice, plan[*b]] } else { [plan[*a], *choice] };
                    costs[row * self.variables[*b].len() + column] != FORBIDDEN
                };
                self.variables[variable][*choice] != FORBIDDEN && edges.iter().all(pair)
            };
            let all = (0..self.variables[variable].len()).filter(may);
            let next = all.min_by_key(|choice| rank(variable, *choice)).unwrap_or(0);
            plan.push(next);
        }
        plan
    }

    /// An error at the moment with the largest excess, if there is any.
    fn within_capacity(&self, plan: &[usize]) -> Result<(), NetworkError> {
        let mut changes: BTreeMap<(usize, i64), i64> = BTreeMap::new();
        for Occupancy { variable, resource, moments, amounts } in &self.occupancies {
            let amount = amounts[plan[*variable]];
            *changes.entry((*resource, moments.start)).or_default() += amount;
            *changes.entry((*resource, moments.end)).or_default() -= amount;
        }
        let mut worst: Option<(i64, NetworkError)> = None;
        let mut used = 0;
        for ((resource, moment), change) in changes {
            used += change;
            let capacity = self.resources[resource];
            let excess = used - capacity;
            if excess > 0 && worst.as_ref().is_none_or(|(most, _)| excess > *most) {
                worst = Some((excess, NetworkError::OverCapacity { resource, moment, used, capacity }));
            }
        }
        worst.map_or(Ok(()), |(_, error)| Err(error))
    }
}
