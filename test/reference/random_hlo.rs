//! Random HLO programs.

use fastrand::Rng;

/// A random value of a kind.
fn of_kind(rng: &mut Rng, pool: &[(String, usize)], kind: usize) -> Option<String> {
    let all: Vec<&String> = pool.iter().filter(|(_, k)| *k == kind).map(|(name, _)| name).collect();
    rng.choice(all).cloned()
}

const SHAPES: [&str; 6] = [
    "f32[4]{0}",
    "f32[8]{0}",
    "f32[4]{0:S(1)}",
    "(f32[4]{0}, f32[8]{0})",
    "(f32[4]{0:S(1)}, f32[4]{0}, u32[]{:S(2)})",
    "s32[]",
];
const A: usize = 0;
const B: usize = 1;
const V: usize = 2;
const P: usize = 3;
const STARTED: usize = 4;
const I: usize = 5;

/// The instructions of a computation on one pair, or on separate arguments; the result is a pair.
fn computation(rng: &mut Rng, called: &[String], arguments: bool) -> String {
    let mut pool: Vec<(String, usize)> = Vec::new();
    let mut text = String::new();
    let mut line = |pool: &mut Vec<(String, usize)>, kind: usize, what: String, prefix: &str| {
        let name = format!("{prefix}{}", pool.len());
        text += &format!("  {name} = {} {what}\n", SHAPES[kind]);
        pool.push((name, kind));
    };
    if arguments {
        for (k, kind) in [A, B, V, P].into_iter().enumerate() {
            line(&mut pool, kind, format!("parameter({k})"), "v");
        }
    } else {
        line(&mut pool, P, "parameter(0)".to_string(), "v");
        line(&mut pool, A, "get-tuple-element(v0), index=0".to_string(), "v");
        line(&mut pool, B, "get-tuple-element(v0), index=1".to_string(), "v");
    }
    line(&mut pool, I, "constant(1)".to_string(), "v");
    for _ in 0..rng.usize(..14) {
        let kind = [A, B, V][rng.usize(..3)];
        let choice = rng.usize(..if called.is_empty() { 15 } else { 18 });
        let any = |rng: &mut Rng, kind| of_kind(rng, &pool, kind);
        let (Some(a), Some(b), Some(p), Some(i)) =
            (any(rng, A), any(rng, B), any(rng, P).or(Some(String::new())), any(rng, I))
        else {
            unreachable!("there are such")
        };
        let (x, y) = (any(rng, kind), any(rng, kind));
        let name = |rng: &mut Rng| called[rng.usize(..called.len())].clone();
        let (kind, what, prefix) = match (choice, x, y) {
            (0, Some(x), _) => (kind, format!("negate({x})"), "v"),
            (1 | 2, Some(x), Some(y)) => (kind, format!("add({x}, {y})"), "v"),
            (3, ..) => (V, format!("copy({a})"), "v"),
            (4, ..) => (B, format!("dynamic-update-slice({b}, {a}, {i})"), "v"),
            (5, ..) => (B, format!("concatenate({a}, {a}), dimensions={{0}}"), "v"),
            (6, ..) => (A, format!("slice({b}), slice={{[2:6]}}"), "v"),
            (7, ..) => (P, format!("tuple({a}, {b})"), "v"),
            (8, ..) if !p.is_empty() => (A, format!("get-tuple-element({p}), index=0"), "v"),
            (9, Some(x), _) => (kind, format!("bitcast({x})"), "v"),
            (10, ..) => (STARTED, format!("copy-start({a})"), "v"),
            (11, ..) => match any(rng, STARTED) {
                Some(started) => (V, format!("copy-done({started})"), "v"),
                None => (A, "constant({1, 2, 3, 4})".to_string(), "v"),
            },
            (12, ..) if !p.is_empty() => (P, format!("opt-barrier({p})"), "v"),
            (13, ..) => (A, format!("fusion({a}, {a}), kind=kLoop, calls=both"), "elementwise"),
            (14, ..) => (B, format!("fusion({b}, {a}, {i}), kind=kLoop, calls=in_place"), "update"),
            (15, ..) if !p.is_empty() => (P, format!("while({p}), condition=until, body={}", name(rng)), "v"),
            (16, ..) if !p.is_empty() => (P, format!("call({p}), to_apply={}", name(rng)), "v"),
            (17, ..) if !p.is_empty() => {
                let (one, two) = (name(rng), name(rng));
                (P, format!("conditional({i}, {p}, {p}), branch_computations={{{one}, {two}}}"), "v")
            }
            _ => (A, format!("reverse({a}), dimensions={{0}}"), "v"),
        };
        line(&mut pool, kind, what, prefix);
    }
    let (a, b) = (of_kind(rng, &pool, A).unwrap(), of_kind(rng, &pool, B).unwrap());
    text + &format!("  ROOT r = {} tuple({a}, {b})\n", SHAPES[P])
}

/// A random program with loops, calls, branches, asynchronous copies and in-place updates.
pub fn program(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let mut text =
        String::from("HloModule random\nboth {\n  a = f32[4]{0} parameter(0)\n  b = f32[4]{0} parameter(1)\n");
    text +=
        "  ROOT c = f32[4]{0} add(a, b)\n}\nin_place {\n  a = f32[8]{0} parameter(0)\n  b = f32[4]{0} parameter(1)\n";
    text += "  i = s32[] parameter(2)\n  ROOT c = f32[8]{0} dynamic-update-slice(a, b, i)\n}\n";
    text += &format!("until {{\n  p = {} parameter(0)\n  ROOT t = pred[] constant(true)\n}}\n", SHAPES[P]);
    let mut called: Vec<String> = Vec::new();
    for k in 0..rng.usize(..4) {
        text += &format!("c{k} {{\n{}}}\n", computation(&mut rng, &called, false));
        called.push(format!("c{k}"));
    }
    text + &format!("ENTRY main {{\n{}}}\n", computation(&mut rng, &called, true))
}
