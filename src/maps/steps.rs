//! What the simplifier did, step by step.
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

            /// What it is called.
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

/// Which constraints an equation may use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Using {
    /// None: the intervals of the variables.
    Box,
    /// All but one that it helps to change.
    Others(Constraint),
    /// All.
    All,
    /// All, with variables replaced by what an equality says.
    Solved,
}

/// One step of a simplification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its justification.
    pub rule: Rule,
    /// What it says.
    pub claim: Claim,
    /// The fact that the rule uses: an expression and the interval of its values.
    pub fact: Option<Constraint>,
    /// Which constraints it may use.
    pub using: Using,
}

/// What a step says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Two expressions are equal.
    Equal(Expr, Expr),
    /// The interval of a variable becomes smaller.
    Interval(usize, Interval, Interval),
    /// These constraints are replaced by those.
    Constraints(Vec<Constraint>, Vec<Constraint>),
    /// The result with this number is replaced by an equal one.
    Result(usize, Expr, Expr),
    /// These constraints, or intervals of variables, leave no point.
    Nothing(Vec<Constraint>),
}

/// How large the map and the steps may be together, in variables, constants and operations.
pub(crate) const LARGEST: usize = limits::EXPLAINED_OPERATIONS;

/// Steps as they are made.
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

    /// A log that counts what is explained, too, which has this size.
    pub fn of_size(using: Using, size: usize) -> Log {
        Log { steps: Vec::new(), using, size }
    }

    /// Whether more is taken; no longer where the steps are too large.
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
    /// What kind of thing it is about.
    pub fn kind(&self) -> &'static str {
        match self {
            Claim::Equal(..) => "equation",
            Claim::Interval(..) => "interval",
            Claim::Constraints(..) | Claim::Nothing(_) => "constraints",
            Claim::Result(..) => "result",
        }
    }
}

/// A step with the names of the variables, which is how it prints.
pub struct Shown<'a>(pub &'a Step, pub &'a dyn Fn(usize) -> String);

impl Shown<'_> {
    /// What is replaced.
    pub fn before(&self) -> String {
        match &self.0.claim {
            Claim::Equal(a, _) | Claim::Result(_, a, _) => self.expr(a),
            Claim::Interval(v, a, _) => self.constraint(&(Expr::Var(*v), *a)),
            Claim::Constraints(a, _) | Claim::Nothing(a) => self.list(a),
        }
    }

    /// By what it is replaced.
    pub fn after(&self) -> String {
        match &self.0.claim {
            Claim::Equal(_, b) | Claim::Result(_, _, b) => self.expr(b),
            Claim::Interval(v, _, b) => self.constraint(&(Expr::Var(*v), *b)),
            Claim::Constraints(_, b) if b.is_empty() => "nothing".into(),
            Claim::Constraints(_, b) => self.list(b),
            Claim::Nothing(_) => "KNOWN EMPTY".into(),
        }
    }

    /// The fact that is used.
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
