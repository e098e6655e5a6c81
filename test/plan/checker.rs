//! The checker of simplifications: the steps that it refuses, and the reasons.

use fastrand::Rng;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{
    Claim, Constraint, Explained, IndexingMap, Interval, Reason, Refused, Rule, Step, Using, replay,
};

fn map(text: &str) -> IndexingMap {
    IndexingMap::parse(text).unwrap()
}

/// The first result of a map with `d0` and `d1` in `[0, 99]`.
fn expr(text: &str) -> Expr {
    map(&format!("(d0, d1) -> ({text}), domain: d0 in [0, 99], d1 in [0, 99]")).results.remove(0)
}

fn constraint(text: &str, lo: i64, hi: i64) -> Constraint {
    (expr(text), Interval::new(lo, hi))
}

fn equal(rule: Rule, before: &str, after: &str) -> Step {
    one(rule, Claim::Equal(expr(before), expr(after)))
}

/// The map for the steps below: one result, one constraint.
const MAP: &str = "(d0, d1) -> ((d0 * 8 + d1) mod 8), domain: d0 in [0, 9], d1 in [0, 7], d0 + d1 in [0, 12]";

/// A step without a fact.
fn one(rule: Rule, claim: Claim) -> Step {
    Step { rule, claim, fact: None, using: Using::All }
}

fn refusal(steps: &[Step]) -> Option<Refused> {
    replay(&map(MAP), steps).err()
}

#[test]
fn every_refusal_has_a_step_that_it_refuses() {
    let using_box = |step: Step| Step { using: Using::Box, ..step };
    let own = || constraint("d0 + d1", 0, 12);
    let none = || Step {
        using: Using::Box,
        ..one(Rule::Enumerated, Claim::Interval(0, Interval::new(0, 9), Interval::new(0, 9)))
    };
    let narrow = |hi| Claim::Interval(0, Interval::new(0, 9), Interval::new(0, hi));
    let huge = Expr::Const(i64::MAX).times(i64::MAX).times(i64::MAX);
    let rows: Vec<(Reason, Step)> = vec![
        (Reason::UnknownVariable, one(Rule::Fixed, Claim::Equal(Expr::Var(2), Expr::Const(0)))),
        (Reason::Divisor, one(Rule::Fixed, Claim::Equal(Expr::Mod(Expr::Var(0).into(), 0), Expr::Const(0)))),
        (Reason::TooLarge, one(Rule::Fixed, Claim::Equal(Expr::Var(0), huge))),
        // An equation of remainders under a rule for minima.
        (Reason::WrongRule, equal(Rule::Decided, "d0 mod 8", "d0")),
        (Reason::WrongRule, one(Rule::Empty, narrow(5))),
        (Reason::NotCurrent, one(Rule::Definition, Claim::Result(0, expr("d0"), expr("d0")))),
        (Reason::NotCurrent, one(Rule::Definition, Claim::Result(1, expr("d0"), expr("d0")))),
        (Reason::NotCurrent, one(Rule::Bounds, Claim::Interval(0, Interval::new(0, 8), Interval::new(0, 7)))),
        // d0 reaches 9.
        (Reason::Unproved, equal(Rule::OnePeriod, "d0 mod 8", "d0")),
        (Reason::Unproved, equal(Rule::Congruent, "(d0 * 7 + d1) mod 8", "d1 mod 8")),
        (Reason::Different, one(Rule::Definition, Claim::Result(0, expr("(d0 * 8 + d1) mod 8"), expr("d1 + 1")))),
        (Reason::Different, one(Rule::Enumerated, Claim::Result(0, expr("(d0 * 8 + d1) mod 8"), expr("d1 + 1")))),
        (Reason::Different, one(Rule::Enumerated, narrow(8))),
        (Reason::Different, one(Rule::Enumerated, Claim::Nothing(Vec::new()))),
        (
            Reason::Different,
            using_box(one(Rule::Enumerated, Claim::Constraints(vec![own()], vec![constraint("d0 + d1", 0, 13)]))),
        ),
        (
            Reason::FalseFact,
            Step { fact: Some(constraint("d1", 0, 6)), ..equal(Rule::OnePeriod, "(d0 * 8 + d1) mod 8", "d1") },
        ),
        (Reason::NoConstraint, equal(Rule::Solved, "d0", "4 - d1")),
        (Reason::NoConstraint, one(Rule::Bounds, narrow(5))),
        (
            Reason::UnknownConstraint,
            Step { fact: Some(constraint("d0 + d1", 4, 4)), ..equal(Rule::Solved, "d0", "4 - d1") },
        ),
        (Reason::UnknownConstraint, Step { fact: Some(constraint("d0", 0, 5)), ..one(Rule::Bounds, narrow(5)) }),
        (Reason::Circular, one(Rule::Implied, Claim::Constraints(vec![own()], Vec::new()))),
        (Reason::Grown, one(Rule::Bounds, narrow(10))),
        // With d1 = 0, d0 may be 9.
        (Reason::PointLost, Step { fact: Some(own()), ..one(Rule::Bounds, narrow(8)) }),
        (Reason::Unproved, using_box(one(Rule::Implied, Claim::Constraints(vec![own()], Vec::new())))),
        (Reason::Unproved, one(Rule::Empty, Claim::Nothing(vec![own()]))),
    ];
    for (reason, step) in rows {
        assert_eq!(refusal(std::slice::from_ref(&step)), Some(Refused { step: 0, reason }), "{step:?}");
        // An accepted step before it does not change the refusal.
        assert_eq!(refusal(&[none(), step.clone()]), Some(Refused { step: 1, reason }), "{step:?}");
    }
}

#[test]
fn steps_after_the_end_and_over_many_points_are_refused() {
    let empty = map("(d0) -> (d0), domain: d0 in [1, 0]");
    let end = Step { using: Using::Box, ..one(Rule::Empty, Claim::Nothing(vec![(Expr::Var(0), Interval::new(1, 0))])) };
    assert_eq!(replay(&empty, std::slice::from_ref(&end)), Ok(None));
    assert_eq!(replay(&empty, &[end.clone(), end]), Err(Refused { step: 1, reason: Reason::AfterEnd }));
    let large = map("(d0) -> (d0), domain: d0 in [0, 100000]");
    let looked = one(Rule::Enumerated, Claim::Result(0, Expr::Var(0), Expr::Var(0)));
    assert_eq!(replay(&large, &[looked]), Err(Refused { step: 0, reason: Reason::TooManyPoints }));
}

/// An accepted step for each rule, and a refused one that differs in a number.
#[test]
fn each_equation_is_held_against_its_conditions() {
    let decided = |after: &str, domain: &str| {
        let step = equal(Rule::Decided, "min(d0 - d1, 0)", after);
        replay(&map(&format!("(d0, d1) -> (d0), domain: {domain}")), &[step]).map(|_| ())
    };
    let unproved = Err(Refused { step: 0, reason: Reason::Unproved });
    assert_eq!(decided("d0 - d1", "d0 in [0, 4], d1 in [4, 9]"), Ok(()));
    assert_eq!(decided("d0 - d1", "d0 in [0, 5], d1 in [4, 9]"), unproved);
    assert_eq!(decided("0", "d0 in [4, 9], d1 in [0, 4]"), Ok(()));
    assert_eq!(decided("0", "d0 in [3, 9], d1 in [0, 4]"), unproved);
    for (rule, before, right, wrong) in [
        (Rule::OnePeriod, "(d0 * 8 + d1) mod 8", "d1", "d1 + 8"),
        (Rule::Congruent, "(d0 * 9 + d1) mod 8", "(d0 + d1) mod 8", "(d0 + d1) mod 4"),
        (Rule::Factor, "(d0 * 8 + d1) mod 16", "(d0 mod 2) * 8 + d1", "(d0 mod 2) * 8 + (d1 + 1)"),
        (Rule::Digit, "(d0 - (d0 mod 2)) mod 8", "(d0 mod 8) - (d0 mod 2)", "(d0 mod 8) - (d1 mod 2)"),
    ] {
        assert_eq!(refusal(&[equal(rule, before, right)]), None, "{before} = {right}");
        let refused = refusal(&[equal(rule, before, wrong)]);
        assert_eq!(refused, Some(Refused { step: 0, reason: Reason::Unproved }), "{before} = {wrong}");
    }
}

#[test]
fn messages_are_distinct_and_in_one_grammar() {
    let mut messages: Vec<String> = Reason::ALL.iter().map(ToString::to_string).collect();
    for message in &messages {
        assert!(
            message.contains(", found ") && (message.contains("expected ") || message.contains(" must ")),
            "{message}"
        );
    }
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), Reason::ALL.len());
    assert_eq!(
        Refused { step: 3, reason: Reason::NoConstraint }.to_string(),
        "step 3: expected a constraint as the fact, found none"
    );
}

/// Maps whose domain is too large to enumerate: each step must be proved.
#[test]
fn nested_minima_are_explained() {
    for text in [
        "(d0) -> (max(1, max(d0 floordiv 16, 1))), domain: d0 in [0, 1000000]",
        "(d0) -> (max(max(d0 floordiv 16, 1), 1)), domain: d0 in [0, 1000000]",
        "(d0) -> (min(5, min(d0 floordiv 16, 5))), domain: d0 in [0, 1000000]",
        "(d0) -> (min(min(d0, 7), 9)), domain: d0 in [0, 1000000]",
        "(d0) -> (max(3, min(d0 * 2, 9))), domain: d0 in [0, 1000000]",
        "(d0, d1) -> (min(max(d0, d1), max(d1, d0))), domain: d0 in [0, 1000000], d1 in [0, 1000000]",
    ] {
        let map = map(text);
        let Explained { result, steps, .. } = map.explain().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(result, map.simplify(), "{text}");
        assert!(steps.iter().all(|step| step.rule != Rule::Enumerated), "{text}: {steps:?}");
    }
}

/// A random expression in two variables, with many minima and divisions.
fn random(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        return match rng.u32(0..3) {
            0 => "d0".into(),
            1 => "d1".into(),
            _ => rng.i64(-3..20).to_string(),
        };
    }
    let divisor = [2, 3, 16][rng.usize(0..3)];
    let (kind, a) = (rng.u32(0..6), random(rng, depth - 1));
    match kind {
        0 => format!("min({a}, {})", random(rng, depth - 1)),
        1 => format!("max({a}, {})", random(rng, depth - 1)),
        2 => format!("({a}) floordiv {divisor}"),
        3 => format!("({a}) mod {divisor}"),
        4 => format!("({a}) * {}", rng.i64(-3..9)),
        _ => format!("({a}) + ({})", random(rng, depth - 1)),
    }
}

/// Over a domain that is too large to enumerate, rules prove each simplification.
#[test]
fn simplifications_over_large_domains_are_proved() {
    let mut rng = Rng::with_seed(1);
    let mut open = Vec::new();
    for _ in 0..5000 {
        let depth = rng.u32(1..5);
        let text = format!("(d0, d1) -> ({}), domain: d0 in [0, 1000000], d1 in [0, 1000000]", random(&mut rng, depth));
        let map = map(&text);
        match map.explain() {
            Ok(Explained { result, .. }) => assert_eq!(result, map.simplify(), "{text}"),
            Err(error) => open.push(format!("{text}: {error}")),
        }
    }
    assert!(open.is_empty(), "{open:#?}");
}
