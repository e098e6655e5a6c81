//! Texts of a grammar as trees: derived, changed and printed.

use super::{Grammar, Kind, Symbol};
use crate::mutate::NUMBERS;
use fastrand::Rng;
use std::collections::BTreeMap;

/// The depth of nested rules from which the shortest alternative is taken.
const DEPTH: usize = 12;

/// The tree of a text.
#[derive(Clone)]
pub struct Derivation {
    root: Node,
    /// The nodes of rules that are chosen once.
    once: BTreeMap<usize, Node>,
}

#[derive(Clone)]
struct Node {
    rule: usize,
    parts: Vec<Part>,
}

#[derive(Clone)]
enum Part {
    Text(String),
    Node(Node),
    Once(usize),
    New(String),
    /// The kind, and a number that selects one of the known values.
    Used(String, u32),
    Commit,
    Open,
    Close,
    /// Repetitions, from `least` to `most`.
    Group {
        all: Vec<Vec<Part>>,
        least: usize,
        most: usize,
    },
}

impl Grammar {
    /// Derives a tree of the first rule.
    pub fn derive(&self, rng: &mut Rng) -> Derivation {
        let mut once = BTreeMap::new();
        Derivation { root: self.node(0, 0, &mut once, rng), once }
    }

    /// Replaces a part of a tree by another of the same rule, or removes, repeats or swaps repetitions.
    pub fn change(&self, derivation: &mut Derivation, rng: &mut Rng) {
        let mut donors: BTreeMap<usize, Vec<Node>> = BTreeMap::new();
        let mut count = 0;
        derivation.each(&mut |node| {
            donors.entry(node.rule).or_default().push(node.clone());
            count += 1;
        });
        let chosen = rng.usize(..count);
        let (mut at, mut once, fresh) = (0, derivation.once.clone(), rng.bool());
        derivation.each(&mut |node| {
            if at == chosen {
                let groups: Vec<usize> =
                    (0..node.parts.len()).filter(|k| matches!(node.parts[*k], Part::Group { .. })).collect();
                let group = (!groups.is_empty() && rng.bool()).then(|| groups[rng.usize(..groups.len())]);
                match group.map(|k| &mut node.parts[k]) {
                    Some(Part::Group { all, least, most }) => regroup(all, *least, *most, rng),
                    _ if fresh => *node = self.node(node.rule, DEPTH / 2, &mut once, rng),
                    _ => {
                        let same = &donors[&node.rule];
                        *node = same[rng.usize(..same.len())].clone();
                    }
                }
            }
            at += 1;
        });
        // Nodes that only the new part chooses once are added; the others stay, changed or not.
        for (rule, node) in once {
            derivation.once.entry(rule).or_insert(node);
        }
    }

    fn node(&self, rule: usize, depth: usize, once: &mut BTreeMap<usize, Node>, rng: &mut Rng) -> Node {
        let alternatives = &self.rules[rule].alternatives;
        let depths: Vec<usize> = self.rules.iter().map(|rule| rule.least).collect();
        let least = |k: &usize| super::depth(&alternatives[*k], &depths);
        let chosen = match depth < DEPTH {
            true => rng.usize(..alternatives.len()),
            false => (0..alternatives.len()).min_by_key(least).expect("a rule has alternatives"),
        };
        Node { rule, parts: self.parts(&alternatives[chosen], depth + 1, once, rng) }
    }

    fn parts(&self, symbols: &[Symbol], depth: usize, once: &mut BTreeMap<usize, Node>, rng: &mut Rng) -> Vec<Part> {
        let part = |symbol: &Symbol| match symbol {
            Symbol::Text(text) => Part::Text(text.clone()),
            Symbol::Rule(rule) => Part::Node(self.node(*rule, depth, once, rng)),
            Symbol::Once(rule) => {
                if !once.contains_key(rule) {
                    let node = self.node(*rule, depth, once, rng);
                    once.insert(*rule, node);
                }
                Part::Once(*rule)
            }
            Symbol::Number(kind) => Part::Text(number(*kind, rng)),
            Symbol::New(kind) => Part::New(kind.clone()),
            Symbol::Used(kind) => Part::Used(kind.clone(), rng.u32(..)),
            Symbol::Commit => Part::Commit,
            Symbol::Open => Part::Open,
            Symbol::Close => Part::Close,
            Symbol::Group { inside, least, most } => {
                let count = if depth < DEPTH { rng.usize(*least..=*most) } else { *least };
                let all = (0..count).map(|_| self.parts(inside, depth, once, rng)).collect();
                Part::Group { all, least: *least, most: *most }
            }
        };
        symbols.iter().map(part).collect()
    }
}

/// Removes, repeats or swaps repetitions.
fn regroup(all: &mut Vec<Vec<Part>>, least: usize, most: usize, rng: &mut Rng) {
    match rng.u32(..3) {
        0 if all.len() > least => drop(all.remove(rng.usize(..all.len()))),
        1 if !all.is_empty() && all.len() < 2 * most && most > 1 => {
            let again = all[rng.usize(..all.len())].clone();
            all.insert(rng.usize(..=all.len()), again);
        }
        _ if all.len() > 1 => {
            let (a, b) = (rng.usize(..all.len()), rng.usize(..all.len()));
            all.swap(a, b);
        }
        _ => {}
    }
}

fn number(kind: Kind, rng: &mut Rng) -> String {
    match kind {
        Kind::Small => rng.u32(..=16).to_string(),
        Kind::Size if rng.u32(..64) == 0 => rng.u32(..5000).to_string(),
        Kind::Size => rng.u32(1..=9).to_string(),
        Kind::Any if rng.bool() => rng.u32(..=300).to_string(),
        Kind::Any => NUMBERS[rng.usize(..NUMBERS.len())].into(),
    }
}

impl Derivation {
    /// Calls `f` for each node, outer nodes before inner ones.
    fn each(&mut self, f: &mut impl FnMut(&mut Node)) {
        fn parts(all: &mut [Part], f: &mut impl FnMut(&mut Node)) {
            for part in all {
                match part {
                    Part::Node(inside) => node(inside, f),
                    Part::Group { all, .. } => all.iter_mut().for_each(|one| parts(one, f)),
                    _ => {}
                }
            }
        }
        fn node(one: &mut Node, f: &mut impl FnMut(&mut Node)) {
            f(one);
            parts(&mut one.parts, f);
        }
        node(&mut self.root, f);
        self.once.values_mut().for_each(|one| node(one, f));
    }

    /// The text.
    pub fn to_text(&self) -> String {
        let mut printer = Printer { once: &self.once, text: String::new(), made: 0, scopes: vec![Scope::default()] };
        printer.parts(&self.root.parts);
        printer.text
    }
}

/// The values of a region: the known ones, and the new ones.
#[derive(Default)]
struct Scope {
    known: Vec<(String, String)>,
    new: Vec<(String, String)>,
}

struct Printer<'a> {
    once: &'a BTreeMap<usize, Node>,
    text: String,
    made: usize,
    scopes: Vec<Scope>,
}

impl Printer<'_> {
    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Text(text) => self.text.push_str(text),
                Part::Node(node) => self.parts(&node.parts),
                Part::Once(rule) => self.parts(&self.once[rule].parts),
                Part::New(kind) => {
                    let name = format!("{kind}{}", self.made);
                    self.made += 1;
                    self.text.push_str(&name);
                    self.scopes.last_mut().expect("the outermost stays").new.push((kind.clone(), name));
                }
                Part::Used(kind, which) => {
                    let known: Vec<&String> = self
                        .scopes
                        .iter()
                        .flat_map(|scope| &scope.known)
                        .filter(|(k, _)| k == kind)
                        .map(|(_, name)| name)
                        .collect();
                    let name = known.get(*which as usize % known.len().max(1)).map_or("none", |name| name);
                    let name = name.to_string();
                    self.text.push_str(&name);
                }
                Part::Commit => {
                    let scope = self.scopes.last_mut().expect("the outermost stays");
                    let new = std::mem::take(&mut scope.new);
                    scope.known.extend(new);
                }
                Part::Open => self.scopes.push(Scope::default()),
                Part::Close => {
                    if self.scopes.len() > 1 {
                        self.scopes.pop();
                    }
                }
                Part::Group { all, .. } => all.iter().for_each(|one| self.parts(one)),
            }
        }
    }
}
