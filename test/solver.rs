//! The solver: every answer beside brute force, every certificate replayed, and forged ones refused.

use fastrand::Rng;
use tensor_layout::solver::{Certificate, CostNetwork, FORBIDDEN, NoPlan, Options, Solution};
use tensor_layout::solver::{check, min_marginals, solve};

/// What a random network is like.
#[derive(Clone, Copy)]
struct Kind {
    variables: usize,
    choices: usize,
    /// In 16ths: pairs that have an edge, costs that are forbidden, edges where one choice follows from the other.
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
                let pairs = pairs.collect();
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
    for _ in 0..500 {
        let network = random(&mut rng, PLAIN);
        let sizes: Vec<usize> = network.variables().iter().map(Vec::len).collect();
        let variables: Vec<usize> = (0..sizes.len()).collect();
        let found = min_marginals(&network, &variables, &Options::default()).expect("small");
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
    let mut rng = Rng::with_seed(3);
    for _ in 0..10_000 {
        equals_brute_force(&random(&mut rng, SHORT));
    }
}

/// Each number of a certificate's text, changed by one, and each line left out, twice or exchanged with the next: what is
/// left is no certificate, is refused, or proves the same cost and the same bound.
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
