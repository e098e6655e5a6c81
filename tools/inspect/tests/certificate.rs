//! Every field of a certificate's plan is checked: in each field of the first line, a number, a name or a sign is
//! changed, or the field is left out.

use crate::program::run;
use crate::program::{file, outcome};
use crate::sample::Sample;
use fastrand::Rng;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::{env, fs};

/// A result that must differ in its layout from another, a result without users, and a constant.
const TURNED: &str = "HloModule turned
ENTRY main {
  x = f32[80,300]{1,0} parameter(0)
  y = f32[80,300]{1,0} negate(x)
  z = f32[300,80] custom-call(y), custom_call_target=\"f\", operand_layout_constraints={f32[80,300]{0,1}}
  ROOT r = (f32[80,300]{1,0}, f32[80,300]{0,1}, f32[300,80]) tuple(y, y, z)
}
";

/// `a` is read at once and at the end; large values are live between.
const LONG: &str = "HloModule long
ENTRY main {
  x = f32[512,512] parameter(0)
  a = f32[512,512] tanh(x)
  b = f32[512,512] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[512,512] dot(b, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[512,512] dot(c, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[512,512] dot(d, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
";

/// `a1` is rematerialized where memory space 0 has room for six arrays.
const AGAIN: &str = "HloModule again
ENTRY main {
  a0 = f32[4096,4096] parameter(0)
  w = f32[4096,4096] parameter(1)
  a1 = f32[4096,4096] dot(a0, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a2 = f32[4096,4096] dot(a1, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a3 = f32[4096,4096] dot(a2, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a4 = f32[4096,4096] dot(a3, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g3 = f32[4096,4096] dot(a3, a4), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g2 = f32[4096,4096] dot(a2, g3), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT g1 = f32[4096,4096] dot(a1, g2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
";

const EIGHT: &str =
    "axes: (2_G, 4_PE), memories: (LM: 1 at PE with 32768 bytes), word: 32, unit: cycle, links: (G: 8, PE: 4)";

/// The fields of a certificate that are its question: another question is refused unless the same proof answers it.
const QUESTION: [&str; 6] = ["machine", "entry", "capacities", "stay", "orders", "plan.kept"];

/// All values that differ from one in a leaf, or have one part more or less, each with the place of the change.
fn changes(value: &Value, at: &str) -> Vec<(String, Value)> {
    let inside = |name: &str| if at.is_empty() { name.to_string() } else { format!("{at}.{name}") };
    match value {
        Value::Object(parts) => {
            let mut found = Vec::new();
            for (name, part) in parts {
                let with = |part: Option<Value>| {
                    let mut all: Map<String, Value> = parts.clone();
                    match part {
                        Some(part) => all.insert(name.clone(), part),
                        None => all.remove(name),
                    };
                    Value::Object(all)
                };
                found.push((inside(name), with(None)));
                found.extend(changes(part, &inside(name)).into_iter().map(|(at, part)| (at, with(Some(part)))));
            }
            let mut more = parts.clone();
            more.insert("other".to_string(), json!(1));
            found.push((inside("other"), Value::Object(more)));
            found
        }
        Value::Array(parts) => {
            let mut found = Vec::new();
            for (k, part) in parts.iter().enumerate() {
                let place = format!("{at}[{k}]");
                let with = |part: Option<Value>| {
                    let mut all = parts.clone();
                    match part {
                        Some(part) => all[k] = part,
                        None => _ = all.remove(k),
                    }
                    Value::Array(all)
                };
                found.push((place.clone(), with(None)));
                found.extend(changes(part, &place).into_iter().map(|(at, part)| (at, with(Some(part)))));
            }
            found
        }
        Value::Number(number) => {
            let number = number.as_i64().expect("certificates have whole numbers");
            vec![(at.to_string(), json!(number + 1)), (at.to_string(), json!(number - 1))]
        }
        Value::String(text) => vec![(at.to_string(), json!(format!("{text} "))), (at.to_string(), json!(""))],
        Value::Bool(own) => vec![(at.to_string(), json!(!own))],
        Value::Null => vec![(at.to_string(), json!(1))],
    }
}

/// The changes to try: one for each field, in a random element of its lists; with `CERTIFICATE_CHANGES=all` all of
/// them.
fn tried(changes: Vec<(String, Value)>, rng: &mut Rng) -> Vec<(String, Value)> {
    if env::var("CERTIFICATE_CHANGES").is_ok_and(|own| own == "all") {
        return changes;
    }
    let mut fields: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
    for (at, value) in changes {
        let field = at.chars().filter(|c| !c.is_ascii_digit()).collect();
        fields.entry(field).or_default().push((at, value));
    }
    fields.into_values().filter_map(|mut all| Some(all.swap_remove(rng.choice(0..all.len())?))).collect()
}

/// A program of which the least memory is far below what its values take in most layouts.
const NARROW: &str = "HloModule m

ENTRY main {
  p0 = f8e4m3fn[3,13] parameter(0)
  p1 = f32[1,5,2] parameter(1)
  v2 = f32[1,5,2,8] broadcast(p1), dimensions={0,1,2}
  v7 = f32[5,1,8,2] transpose(v2), dimensions={1,0,3,2}
  ROOT out = f32[5,1,8,2] add(v7, v7)
}
";

#[test]
fn whatever_a_certificate_says_is_checked() {
    let questions: &[(&str, &str, &[&str])] = &[
        ("turned", TURNED, &["--machine", "tpu_v5e"]),
        ("fixed", TURNED, &["--machine", "cpu", "--entry", "fixed"]),
        ("moved", LONG, &["--machine", "tpu_v5e", "--capacity", "vmem=3200000"]),
        ("stays", LONG, &["--machine", "tpu_v5e", "--capacity", "vmem=2200000", "--stay"]),
        ("far", LONG, &["--machine", "tpu_v5e", "--capacity", "vmem=0", "--capacity", "hbm=4300000"]),
        // Of choices that are forbidden, the amounts times the prices exceed 64 bits.
        (
            "narrow",
            NARROW,
            &["--machine", "tpu_v5e", "--entry", "free", "--capacity", "vmem=0", "--capacity", "hbm=7782"],
        ),
        ("again", AGAIN, &["--machine", "tpu_v5e", "--capacity", "hbm=420000000"]),
        ("stepped", LONG, &["--machine", "tpu_v5e", "--capacity", "vmem=1048576", "--room-for-steps"]),
        ("placed", LONG, &["--machine", EIGHT]),
        ("cut", LONG, &["--machine", EIGHT, "--capacity", "LM=30000"]),
        ("devices", LONG, &["--machine", "tpu_v5e_8"]),
        ("full", LONG, &["--machine", "tpu_v5e_8", "--capacity", "HBM=5000000"]),
    ];
    let (mut seen, mut rng) = (Vec::<String>::new(), Rng::with_seed(1));
    let changed = Sample::from_env().select(0..questions.len());
    for (number, (name, text, options)) in questions.iter().enumerate() {
        let (hlo, proof) = (file(&format!("{name}.hlo"), text), file(&format!("{name}.proof"), ""));
        let (_, error, status) = outcome(&[&["plan", &hlo, "--certificate", &proof], *options].concat());
        assert_eq!(status, Some(0), "{name}: {error}");
        let certificate = fs::read_to_string(&proof).unwrap();
        let (head, rest) = certificate.split_once('\n').unwrap();
        let head: Value = serde_json::from_str(head).unwrap();
        seen.extend(
            head["plan"].as_object().unwrap().iter().filter(|(_, own)| **own != json!([])).map(|own| own.0.clone()),
        );
        if !changed.contains(&number) {
            continue;
        }
        let changes = tried(changes(&head, ""), &mut rng);
        let all: Vec<(String, Value)> = std::iter::once((String::new(), head.clone())).chain(changes).collect();
        let request = |(_, head): &(String, Value)| {
            json!({"op": "check_plan", "text": text, "certificate": format!("{head}\n{rest}")}).to_string()
        };
        let lines: Vec<String> = all.iter().map(request).collect();
        let out = String::from_utf8(run(&["--json"], lines.join("\n").as_bytes()).stdout).unwrap();
        let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), all.len(), "{name}");
        assert_eq!(answers[0]["ok"], json!(true), "{name}: {}", answers[0]);
        for ((at, head), answer) in all.iter().zip(&answers).skip(1) {
            let is_question = QUESTION.iter().any(|own| at.starts_with(own));
            let same = (&answer["cost"], &answer["bound"]) == (&answers[0]["cost"], &answers[0]["bound"]);
            assert!(
                answer["ok"] == json!(false) || is_question && same,
                "{name}: `{at}` was changed, and the certificate is taken: {head}"
            );
        }
    }
    for part in ["relayouts", "stays", "transfers", "recomputed", "steps", "levels", "shardings", "work", "given"] {
        assert!(seen.iter().any(|own| own == part), "no certificate has `{part}`");
    }
}
