//! Steps of the simplifier: its log and their printed form.
//!
//! A [`Step`] names a [`Rule`], says what it changes, and gives the fact it uses. `(8*d0 + d1) mod 8 = d1` is "one
//! period" by the fact `d1 in [0, 7]`: 8 divides the difference of the two sides, and the right one needs no rounding.
//! The simplifier writes steps into a log; `crate::maps::check` accepts or refuses them.

use crate::expr::{Expr, Named};
use crate::limits;
use crate::maps::domain::Interval;
use std::fmt;

/// An expression and the interval of its values.
pub type Constraint = (Expr, Interval);

macro_rules! rules {
    ($($rule:ident: $name:literal, $equation:literal;)*) => {
        /// A rule of the simplifier: a row of [`Rule::ALL`], with the equation that justifies it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("`", $equation, "`")] $rule,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &[Rule] = &[$(Rule::$rule),*];

            /// The name.
            pub fn name(self) -> &'static str {
                match self { $(Rule::$rule => $name,)* }
            }

            /// The equation, with its conditions.
            pub fn equation(self) -> &'static str {
                match self { $(Rule::$rule => $equation,)* }
            }
        }
    };
}

rules! {
    OnePeriod: "one period", "e mod m = r where m divides e - r and 0 <= r < m";
    Congruent: "congruent", "e mod m = r mod m where m divides e - r";
    Digit: "digit", "e mod m = x mod m - k*(y mod s) where m divides e - x + k*(y mod s), k*s divides m and x - k*y";
    Ceiling: "ceiling", "e mod m = k*(y mod s) - x mod m + m - k*s where m divides e + x + k*s - k*(y mod s), k*s divides m and x - k*y";
    Factor: "factor", "e mod (c*n) = c*(a mod n) + b where c*n divides e - c*a - b and 0 <= b < g for a g that divides c*n and c*a";
    Decided: "decided", "min(e, 0) = e where e <= 0, and 0 where e >= 0";
    Fixed: "fixed", "e = c where e in [c, c]";
    Solved: "solved", "x = e where a constraint says x - e = 0";
    Definition: "definition", "e floordiv m = (e - e mod m)/m, min(a, b) = b + min(a - b, 0), max(a, b) = a - min(a - b, 0), terms added up";
    Scale: "scale", "c*e + k in [a, b] where e in [ceil((a - k)/c), floor((b - k)/c)], for c > 0; for c < 0 the ends change places";
    Quotient: "quotient", "e floordiv d in [a, b] where e in [a*d, b*d + d - 1]";
    Residue: "residue", "e mod m in [r, r] where e' mod m' in [r', r']: m' = m/g, and m' divides e' - r' - f*(e - r)/g for an f coprime to m'";
    Ends: "ends", "e in [a, b] where e in [c, d]: the intervals have the same values of e in them";
    Meet: "meet", "e in [a, b] and e in [c, d] where e in both";
    Chinese: "Chinese remainder", "e mod m in [r, r] and e mod n in [s, s] where e mod lcm(m, n) in [t, t]";
    Implied: "implied", "e in [a, b] follows from e in [c, d] where [c, d] is inside [a, b]";
    Bounds: "bounds", "a value of a variable is left out where a constraint fails for it";
    Divisible: "divisible", "a value of a variable is left out where an equality of sums fails for it modulo a divisor of the other terms";
    Enumerated: "enumerated", "the same at each point, looked at one by one";
    Empty: "empty", "no point satisfies all constraints";
}

/// The constraints that a step may use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Using {
    /// None: only the intervals of the variables.
    Box,
    /// All but this one, which the step helps to change.
    Others(Constraint),
    /// All.
    All,
    /// All, after substitution of the variables that an equality solves.
    Solved,
}

/// One step of a simplification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rule that justifies the step.
    pub rule: Rule,
    /// The claim.
    pub claim: Claim,
    /// The fact that the rule uses: an expression and the interval of its values.
    pub fact: Option<Constraint>,
    /// The constraints that the step may use.
    pub using: Using,
}

/// The claim of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Two expressions are equal.
    Equal(Expr, Expr),
    /// The interval of a variable becomes smaller.
    Interval(usize, Interval, Interval),
    /// The first constraints are replaced by the second.
    Constraints(Vec<Constraint>, Vec<Constraint>),
    /// The result with this number is replaced by an equal one.
    Result(usize, Expr, Expr),
    /// These constraints, or intervals of variables, leave no point.
    Nothing(Vec<Constraint>),
}

/// The most operations, variables and constants in the map and the steps together.
pub(crate) const LARGEST: usize = limits::EXPLAINED_OPERATIONS;

/// A log of steps.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub steps: Vec<Step>,
    pub using: Using,
    size: usize,
}

impl Log {
    pub fn new(using: Using) -> Log {
        Log::of_size(using, 0)
    }

    /// A log whose limit counts `size` operations of the map, too.
    pub fn of_size(using: Using, size: usize) -> Log {
        Log { steps: Vec::new(), using, size }
    }

    /// Whether the log takes more steps: not after it has reached [`LARGEST`].
    pub fn open(&self) -> bool {
        self.size < LARGEST
    }

    pub fn add(&mut self, rule: Rule, claim: Claim, fact: Option<Constraint>) {
        let list = |all: &[Constraint]| all.iter().map(|c| c.0.size()).sum::<usize>();
        self.size += match &claim {
            Claim::Equal(a, b) | Claim::Result(_, a, b) => a.size() + b.size(),
            Claim::Interval(..) => 1,
            Claim::Constraints(a, b) => list(a) + list(b),
            Claim::Nothing(a) => list(a),
        };
        self.steps.push(Step { rule, claim, fact, using: self.using.clone() });
    }

    pub fn append(&mut self, other: Log) {
        self.size += other.size;
        self.steps.extend(other.steps);
    }
}

impl Claim {
    /// The kind of the object that the claim changes.
    pub fn kind(&self) -> &'static str {
        match self {
            Claim::Equal(..) => "equation",
            Claim::Interval(..) => "interval",
            Claim::Constraints(..) | Claim::Nothing(_) => "constraints",
            Claim::Result(..) => "result",
        }
    }
}

/// A printable step: the step, and the names of the variables.
pub struct Shown<'a>(pub &'a Step, pub &'a dyn Fn(usize) -> String);

impl Shown<'_> {
    /// The text of the replaced object.
    pub fn before(&self) -> String {
        match &self.0.claim {
            Claim::Equal(a, _) | Claim::Result(_, a, _) => self.expr(a),
            Claim::Interval(v, a, _) => self.constraint(&(Expr::Var(*v), *a)),
            Claim::Constraints(a, _) | Claim::Nothing(a) => self.list(a),
        }
    }

    /// The text of its replacement.
    pub fn after(&self) -> String {
        match &self.0.claim {
            Claim::Equal(_, b) | Claim::Result(_, _, b) => self.expr(b),
            Claim::Interval(v, _, b) => self.constraint(&(Expr::Var(*v), *b)),
            Claim::Constraints(_, b) if b.is_empty() => "nothing".into(),
            Claim::Constraints(_, b) => self.list(b),
            Claim::Nothing(_) => "KNOWN EMPTY".into(),
        }
    }

    /// The text of the fact that the rule uses.
    pub fn fact(&self) -> Option<String> {
        self.0.fact.as_ref().map(|fact| self.constraint(fact))
    }

    fn expr(&self, e: &Expr) -> String {
        Named(e, self.1).to_string()
    }

    fn constraint(&self, (e, i): &Constraint) -> String {
        format!("{} in {i}", self.expr(e))
    }

    fn list(&self, all: &[Constraint]) -> String {
        all.iter().map(|c| self.constraint(c)).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Claim::Result(k, ..) = self.0.claim {
            write!(f, "result {k}: ")?;
        }
        let sign = match self.0.claim {
            Claim::Equal(..) | Claim::Result(..) => "=",
            _ => "->",
        };
        write!(f, "{} {sign} {}", self.before(), self.after())?;
        self.fact().map_or(Ok(()), |fact| write!(f, ", because {fact}"))
    }
}
