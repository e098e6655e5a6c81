//! The solver: answers against brute force, certificates replayed, and forged ones refused.

use fastrand::Rng;
use layout_plan::solver::{Certificate, CostNetwork, FORBIDDEN, NoPlan, Options, Solution};
use layout_plan::solver::{Marginal, check, min_marginals, solve, solve_from};

/// Parameters of a random network.
#[derive(Clone, Copy)]
struct Kind {
    variables: usize,
    choices: usize,
    /// In 16ths: pairs with an edge, forbidden costs, edges with one choice a function of the other.
    edges: usize,
    forbidden: usize,
    functions: usize,
    resources: usize,
}

fn cost(rng: &mut Rng, kind: Kind) -> i64 {
    if rng.usize(..16) < kind.forbidden { FORBIDDEN } else { rng.i64(-3..10) }
}

fn random(rng: &mut Rng, kind: Kind) -> CostNetwork {
    let mut network = CostNetwork::new();
    let count = rng.usize(..=kind.variables);
    for _ in 0..count {
        let size = rng.usize(1..=kind.choices);
        let costs = (0..size).map(|_| cost(rng, kind)).collect();
        network.add_variable(costs).expect("valid");
    }
    for a in 0..count {
        for b in 0..a {
            if rng.usize(..16) < kind.edges {
                let (a, b) = if rng.bool() { (a, b) } else { (b, a) };
                let sizes = [a, b].map(|v| network.variables()[v].len());
                let function = rng.usize(..16) < kind.functions;
                let image: Vec<usize> = (0..sizes[0]).map(|_| rng.usize(..sizes[1])).collect();
                let pairs = (0..sizes[0] * sizes[1]).map(|at| {
                    if function && at % sizes[1] != image[at / sizes[1]] { FORBIDDEN } else { cost(rng, kind) }
                });
                let pairs: Vec<i64> = pairs.collect();
                network.add_edge(a, b, pairs).expect("valid");
            }
        }
    }
    for _ in 0..if count == 0 { 0 } else { rng.usize(..=kind.resources) } {
        let resource = network.add_resource(rng.i64(0..30)).expect("valid");
        for _ in 0..rng.usize(..=2 * count) {
            let variable = rng.usize(..count);
            let start = rng.i64(-2..4);
            let amounts = (0..network.variables()[variable].len()).map(|_| rng.i64(0..12)).collect();
            network.add_occupancy(variable, resource, start..start + rng.i64(1..4), amounts).expect("valid");
        }
    }
    network
}

/// The least cost of all plans.
fn brute_force(network: &CostNetwork) -> Option<i64> {
    let sizes: Vec<usize> = network.variables().iter().map(Vec::len).collect();
    let plans = sizes.iter().product::<usize>();
    (0..plans).filter_map(|at| network.cost(&plan(&sizes, at)).ok()).min()
}

fn plan(sizes: &[usize], mut at: usize) -> Vec<usize> {
    let digit = |size: &usize| {
        let digit = at % size;
        at /= size;
        digit
    };
    sizes.iter().map(digit).collect()
}

fn solved(network: &CostNetwork) -> Result<Solution, NoPlan> {
    solve(network, &Options::default(), &mut |_| true)
}

fn equals_brute_force(network: &CostNetwork) {
    let best = brute_force(network);
    match solved(network) {
        Ok(solution) => {
            assert_eq!(Some(solution.cost()), best, "{network:?}");
            assert_eq!(solution.bound(), solution.cost(), "{network:?}");
            check(network, &solution.certificate).unwrap_or_else(|e| panic!("{e}: {network:?}\n{solution:?}"));
        }
        Err(error) => {
            assert!(!matches!(error, NoPlan::NotFound { .. } | NoPlan::Stopped), "{error}: {network:?}");
            assert_eq!(best, None, "{error}: {network:?}");
        }
    }
}

const PLAIN: Kind = Kind { variables: 7, choices: 4, edges: 6, forbidden: 2, functions: 0, resources: 0 };

/// Arrays that are near at some of three moments, whole or in slices: more room costs less.
fn placed(rng: &mut Rng) -> CostNetwork {
    let mut network = CostNetwork::new();
    let memory = network.add_resource(rng.i64(4..12)).expect("valid");
    for _ in 0..rng.usize(2..6) {
        let (bytes, cost, slices) = (4 * rng.i64(1..6), rng.i64(0..300), 4);
        let (mut costs, mut amounts) = (vec![0], vec![[bytes; 3]]);
        for near in 0..slices {
            costs.push(cost * (slices - near) / slices);
            amounts.push([bytes * near / slices; 3]);
        }
        for _ in 0..rng.usize(..4) {
            costs.push(rng.i64(0..=cost));
            amounts.push([0; 3].map(|_: i64| if rng.bool() { bytes } else { 0 }));
        }
        let variable = network.add_variable(costs).expect("valid");
        let start = rng.i64(0..6);
        for (at, moment) in (start..start + 3).enumerate() {
            let amounts = amounts.iter().map(|own| own[at]).collect();
            network.add_occupancy(variable, memory, moment..moment + 1, amounts).expect("valid");
        }
    }
    network
}

/// One in a hundred of these has its best plan in the first part of a problem, and in the second one that only improves
/// on all before.
#[test]
fn placed_arrays_cost_what_brute_force_says() {
    crate::long_test!();
    let mut rng = Rng::with_seed(7);
    (0..300).for_each(|_| equals_brute_force(&placed(&mut rng)));
}

#[test]
fn without_capacities_it_equals_brute_force() {
    let mut rng = Rng::with_seed(1);
    for _ in 0..4000 {
        equals_brute_force(&random(&mut rng, PLAIN));
        equals_brute_force(&random(&mut rng, Kind { functions: 8, forbidden: 1, ..PLAIN }));
    }
}

#[test]
fn min_marginals_are_the_best_with_each_choice() {
    let mut rng = Rng::with_seed(2);
    for round in 0..700 {
        let network = random(&mut rng, if round < 500 { PLAIN } else { SHORT });
        let sizes: Vec<usize> = network.variables().iter().map(Vec::len).collect();
        let variables: Vec<usize> = (0..sizes.len()).collect();
        let found = min_marginals(&network, &variables, &Options::default(), &mut |_| true).expect("small");
        if !variables.is_empty() && network.occupancies().is_empty() {
            let stopped = min_marginals(&network, &variables, &Options::default(), &mut |_| false).expect("variables");
            assert!(stopped.iter().flatten().all(|own| own.cost.is_none() && !own.is_decided), "{network:?}");
        }
        assert!(found.iter().flatten().all(|own| own.is_decided), "{network:?}");
        let cost = |own: &Marginal| own.cost.unwrap_or(FORBIDDEN);
        let found: Vec<Vec<i64>> = found.iter().map(|own| own.iter().map(cost).collect()).collect();
        let mut expected: Vec<Vec<i64>> = sizes.iter().map(|size| vec![FORBIDDEN; *size]).collect();
        for at in 0..sizes.iter().product() {
            let plan = plan(&sizes, at);
            if let Ok(cost) = network.cost(&plan) {
                plan.iter().zip(&mut expected).for_each(|(choice, best)| best[*choice] = best[*choice].min(cost));
            }
        }
        assert_eq!(found, expected, "{network:?}");
    }
}

const SHORT: Kind = Kind { variables: 6, choices: 4, edges: 5, forbidden: 1, functions: 2, resources: 2 };

#[test]
fn with_capacities_it_equals_brute_force() {
    crate::long_test!();
    let mut rng = Rng::with_seed(3);
    for _ in 0..10_000 {
        equals_brute_force(&random(&mut rng, SHORT));
    }
}

/// Certificates with a number changed by one, or with a line removed, repeated or exchanged with the next: each is
/// invalid, refused, or proves the same cost and bound.
#[test]
fn certificates_that_were_tampered_with_are_refused() {
    let mut rng = Rng::with_seed(4);
    let (mut refused, mut harmless) = (0, 0);
    for _ in 0..200 {
        let kind = if rng.bool() { SHORT } else { Kind { functions: 8, ..PLAIN } };
        let network = random(&mut rng, kind);
        let Ok(solution) = solved(&network) else { continue };
        let text = solution.certificate.to_string();
        assert_eq!(Certificate::parse(&text).as_ref(), Ok(&solution.certificate), "{text}");
        for other in forgeries(&text) {
            match Certificate::parse(&other).map(|certificate| (check(&network, &certificate), certificate)) {
                Ok((Ok(()), certificate)) => {
                    harmless += 1;
                    let said = (certificate.cost, certificate.bound);
                    assert_eq!(said, (solution.cost(), solution.bound()), "{text}\n{other}");
                    assert_eq!(network.cost(&certificate.choices), Ok(certificate.cost), "{text}\n{other}");
                }
                _ => refused += 1,
            }
        }
    }
    assert!(refused > 4 * harmless, "{refused} refused, {harmless} harmless");
}

fn forgeries(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for at in 0..lines.len() {
        let mut without = lines.clone();
        without.remove(at);
        let mut twice = lines.clone();
        twice.insert(at, lines[at]);
        all.extend([without.join("\n"), twice.join("\n")]);
        let words: Vec<&str> = lines[at].split(' ').collect();
        for (place, word) in words.iter().enumerate() {
            let Ok(number) = word.parse::<i64>() else { continue };
            for other in [number - 1, number + 1] {
                let other = other.to_string();
                let mut words = words.clone();
                words[place] = &other;
                let line = words.join(" ");
                let mut lines = lines.clone();
                lines[at] = &line;
                all.push(lines.join("\n"));
            }
        }
    }
    all
}

/// A chain, at times with longer links, short of capacity everywhere.
fn chain(rng: &mut Rng, count: usize, capacity: i64) -> CostNetwork {
    let mut network = CostNetwork::new();
    let memory = network.add_resource(capacity).expect("valid");
    for v in 0..count {
        let size = rng.usize(2..6);
        network.add_variable((0..size).map(|_| rng.i64(0..1000)).collect()).expect("valid");
        let far = if rng.usize(..3) == 0 { rng.usize(2..6) } else { 1 };
        let mut backs = vec![1, far];
        backs.dedup();
        for back in backs.into_iter().filter(|back| *back <= v) {
            let width = network.variables()[v - back].len();
            network
                .add_edge(v - back, v, (0..width * size).map(|_| rng.i64(0..1000)).collect::<Vec<_>>())
                .expect("valid");
        }
        let (start, length) = (v as i64, rng.i64(1..20));
        let amounts = (0..size).map(|_| rng.i64(50..150)).collect();
        network.add_occupancy(v, memory, start..start + length, amounts).expect("valid");
    }
    network
}

#[test]
fn threads_do_not_change_the_answer() {
    let mut rng = Rng::with_seed(5);
    for count in [40, 150] {
        let network = chain(&mut rng, count, 1150);
        let answer = |threads| {
            let options = Options { threads, work: 3_000_000, ..Options::default() };
            solve(&network, &options, &mut |_| true).expect("there is a plan")
        };
        let (one, two) = (answer(1), answer(2));
        assert_eq!(one, two);
        check(&network, &one.certificate).unwrap();
        assert!(one.bound() <= one.cost() && 5 * (one.cost() - one.bound()) < one.cost(), "{one:?}");
    }
}

#[test]
fn a_search_that_is_stopped_has_a_plan_with_a_bound_or_says_so() {
    crate::long_test!();
    let network = chain(&mut Rng::with_seed(6), 100, 1150);
    let mut plans = 0;
    for calls in (0..40).map(|k| 30 * k) {
        let mut left = calls;
        let answer = solve(&network, &Options::default(), &mut |_| {
            left -= 1;
            left > 0
        });
        match answer {
            Ok(solution) => {
                check(&network, &solution.certificate).unwrap();
                plans += 1;
            }
            Err(error) => assert!(matches!(error, NoPlan::Stopped | NoPlan::NotFound { .. }), "{error}"),
        }
    }
    assert!(plans > 0);
}

/// A known plan is the answer of a search that stops at once, with a bound that the checker confirms; and no answer
/// costs more.
#[test]
fn a_search_that_begins_with_a_plan_never_ends_without_one() {
    let mut rng = Rng::with_seed(8);
    for capacity in [1150, 1_000_000] {
        let network = chain(&mut rng, 100, capacity);
        let known = solve(&network, &Options { work: 1 << 22, ..Options::default() }, &mut |_| true).expect("a plan");
        for calls in [0, 1, 2, 5, 20] {
            let mut left = calls;
            let found = solve_from(&network, known.choices(), &Options::default(), &mut |_| {
                left -= 1;
                left > 0
            });
            let found = found.expect("the plan that is known");
            assert!(found.bound() <= found.cost() && found.cost() <= known.cost());
            check(&network, &found.certificate).unwrap();
        }
    }
}

/// A search with an allowed gap ends within it, and no sooner.
#[test]
fn a_search_ends_at_the_gap_that_is_asked_for() {
    let network = chain(&mut Rng::with_seed(6), 300, 1150);
    let options = Options { gap: 200_000, ..Options::default() };
    let mut work = 0;
    let found = solve(&network, &options, &mut |progress| {
        work = progress.work;
        true
    });
    let found = found.expect("there is a plan");
    assert!(options.is_near(found.cost(), found.bound()) && work < options.work, "{work}");
    assert!(options.is_near(100, 80) && !options.is_near(100, 79) && options.is_near(0, 0));
    check(&network, &found.certificate).unwrap();
}

/// The longer a search branches, the better its proved bound.
#[test]
fn the_bound_of_a_search_that_is_stopped_grows() {
    crate::long_test!();
    let network = chain(&mut Rng::with_seed(6), 300, 1150);
    let mut bounds = Vec::new();
    for work in [1 << 20, 1 << 23, 1 << 26] {
        let solution =
            solve(&network, &Options { work, ..Options::default() }, &mut |_| true).expect("there is a plan");
        check(&network, &solution.certificate).unwrap();
        assert!(solution.bound() < solution.cost());
        bounds.push(solution.bound());
    }
    assert!(bounds[0] < bounds[1] && bounds[1] < bounds[2], "{bounds:?}");
}

/// Long chains and large stars need no recursion and linear time.
#[test]
fn two_hundred_thousand_variables_are_no_problem() {
    crate::long_test!();
    let mut rng = Rng::with_seed(7);
    for star in [false, true] {
        let mut network = CostNetwork::new();
        for v in 0..200_000 {
            network.add_variable((0..3).map(|_| rng.i64(0..100)).collect()).expect("valid");
            if v > 0 {
                let from = if star { 0 } else { v - 1 };
                network.add_edge(from, v, (0..9).map(|_| rng.i64(0..100)).collect::<Vec<_>>()).expect("valid");
            }
        }
        let solution = solved(&network).expect("there is a plan");
        assert!(solution.optimal());
        check(&network, &solution.certificate).unwrap();
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let mut network = CostNetwork::new();
    let (a, b) = (network.add_variable(vec![0, 1]).unwrap(), network.add_variable(vec![0]).unwrap());
    let says = |error: Result<usize, layout_plan::solver::NetworkError>, message: &str| {
        let error = error.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    says(network.add_variable(vec![]), "variable 2 has 0 choices");
    says(
        network.add_variable(vec![1 << 58, 0]),
        "costs of variable 2: with it the largest values of all add up to more",
    );
    says(network.add_variable(vec![i64::MIN]), "costs of variable 2");
    says(network.add_edge(a, b, vec![1]), "edge 0 has 1 costs, not 2 x 1");
    says(network.add_edge(a, a, vec![0; 4]), "both ends of edge 0 are variable 0");
    says(network.add_edge(a, 7, Vec::new()), "variable 7 of edge 0 does not exist");
    says(network.add_edge(a, b, vec![FORBIDDEN, (1 << 58) + 1]), "costs of edge 0");
    let memory = network.add_resource(5).unwrap();
    let mut hold = |resource, moments, amounts| network.add_occupancy(a, resource, moments, amounts).map(|()| 0);
    says(hold(3, 0..1, vec![0, 0]), "resource 3 of variable 0 does not exist");
    says(hold(memory, 1..1, vec![0, 0]), "variable 0 lives from 1 to 1");
    says(hold(memory, 0..1, vec![0]), "variable 0 has 1 amounts for 2 choices");
    says(hold(memory, 0..1, vec![-1, 0]), "the amount -1 of variable 0 is not in 0 to 2^58");
    says(
        hold(memory, 0..1, vec![1 << 58, 1 << 58]).and_then(|_| hold(memory, 0..1, vec![1, 1])),
        "amounts of variable 0",
    );
}

#[test]
fn capacities_that_nothing_fits_are_named() {
    let mut network = CostNetwork::new();
    let memory = network.add_resource(10).unwrap();
    for amount in [3, 5, 4] {
        let v = network.add_variable(vec![0, 0]).unwrap();
        network.add_occupancy(v, memory, 2..4, vec![amount, amount + 1]).unwrap();
    }
    let error = solved(&network).unwrap_err();
    let message = "no plan is legal: at moment 2 resource 0 holds at least 12, 2 more than its capacity 10; the most is of \
                   the variables [1, 2, 0]";
    assert_eq!(error.to_string(), message);
}
