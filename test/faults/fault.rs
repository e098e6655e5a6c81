//! A random fault in a module's text.

use crate::retype;
use crate::text::{self, Operation};
use layout_reference::choices::Choices;

/// Operations with the same operand and result types.
const ALIKE: &[&[&str]] = &[
    &["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf"],
    &["arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.addf"],
    &["arith.addi", "arith.subi", "arith.muli", "arith.shli", "arith.xori"],
    &["arith.addi", "arith.ori", "arith.xori", "arith.andi"],
    &[
        "arith.divsi",
        "arith.divui",
        "arith.floordivsi",
        "arith.ceildivsi",
        "arith.ceildivui",
        "arith.remsi",
        "arith.remui",
    ],
    &["arith.shli", "arith.shrsi", "arith.shrui"],
    &["arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui"],
    &["arith.extsi", "arith.extui"],
    &["arith.sitofp", "arith.uitofp", "arith.bitcast"],
    &["arith.fptosi", "arith.fptoui", "arith.bitcast"],
    &["arith.index_cast", "arith.index_castui"],
    &[
        "arith.negf",
        "math.absf",
        "math.exp",
        "math.sqrt",
        "math.rsqrt",
        "math.tanh",
        "math.exp2",
        "math.floor",
        "math.ceil",
    ],
    &[
        "math.log",
        "math.log2",
        "math.exp",
        "math.exp2",
        "math.erf",
        "math.sin",
        "math.cos",
        "math.round",
        "math.roundeven",
    ],
    &["affine.min", "affine.max"],
    &["math.fma", "vector.fma"],
    &["linalg.add", "linalg.sub", "linalg.mul", "linalg.div", "linalg.max", "linalg.min"],
    &["linalg.exp", "linalg.log", "linalg.abs", "linalg.negf", "linalg.sqrt", "linalg.tanh", "linalg.square"],
    &["memref.alloc", "memref.alloca"],
    &["vector.interleave", "vector.shuffle"],
];

const FLAGS: &[&str] = &["none", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast", "nnan,ninf"];
const WRAPS: &[&str] = &["none", "nsw", "nuw", "nsw, nuw"];
const ROUNDINGS: &[&str] = &["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"];
const KINDS: &[&str] = &[
    "add", "mul", "minui", "minsi", "minnumf", "maxui", "maxsi", "maxnumf", "and", "or", "xor", "minimumf", "maximumf",
];
const FLOATS: &[&str] = &[
    "0.000000e+00",
    "-0.000000e+00",
    "1.000000e+00",
    "-1.000000e+00",
    "2.000000e+00",
    "0x7F800000",
    "0xFF800000",
    "0x7FC00000",
    "0x00000001",
];

/// The lines of a text.
type Lines = Vec<String>;

/// A fault at a line; `None` if it does not apply there.
type Make = fn(&mut Choices, &Lines, usize) -> Option<Lines>;

/// The kinds of faults, each with its function.
pub const ALL: &[(&str, Make)] = &[
    ("a number", number),
    ("a number", number),
    ("a number", number),
    ("operands swapped", swapped),
    ("another operand", other_operand),
    ("another operand", other_operand),
    ("left out", left_out),
    ("another operation", other_operation),
    ("another operation", other_operation),
    ("a predicate", predicate),
    ("a word", word),
    ("a word", word),
    ("an affine expression", affine),
    ("an affine expression", affine),
    ("an operation twice", twice),
    ("operations in another order", order),
    ("numbers swapped", numbers_swapped),
    ("a constant", constant),
    ("a loop is parallel", parallel),
    ("a type", retype::memref),
    ("a type", retype::part),
];

/// A random fault in a text in generic form: its kind and the changed text. `None` if the drawn kind does not apply.
pub fn fault(choices: &mut Choices, text: &str) -> Option<(&'static str, String)> {
    let lines: Lines = text.lines().map(str::to_owned).collect();
    let candidates: Vec<usize> = (0..lines.len())
        .filter(|at| {
            Operation::read(&lines[*at]).is_some_and(|op| op.name != "func.func" && op.name != "builtin.module")
        })
        .collect();
    if candidates.is_empty() {
        return None;
    }
    let (kind, make) = ALL[choices.usize(0..ALL.len())];
    // Tries several lines, since few operations allow some kinds.
    for _ in 0..12 {
        let at = candidates[choices.usize(0..candidates.len())];
        if let Some(made) = make(choices, &lines, at).filter(|made| *made != lines) {
            return Some((kind, made.join("\n") + "\n"));
        }
    }
    None
}

/// The lines with one replaced.
fn with(lines: &Lines, at: usize, line: String) -> Option<Lines> {
    let mut made = lines.clone();
    made[at] = line;
    Some(made)
}

fn with_attributes(lines: &Lines, at: usize, attributes: String) -> Option<Lines> {
    let mut op = Operation::read(&lines[at])?;
    op.attributes = attributes;
    with(lines, at, op.write())
}

/// The positions of a text's integers that are not part of a word or of a floating-point number.
fn integers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (vec![], 0);
    // Faults in the operand counts of each kind are of no interest.
    let segments = text
        .find("operandSegmentSizes = ")
        .map(|start| (start, text[start..].find('>').map_or(text.len(), |end| start + end)));
    while at < bytes.len() {
        let start = at;
        if bytes[at].is_ascii_alphanumeric() || b"_.%#".contains(&bytes[at]) {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || b"_.+%#".contains(&bytes[at])) {
                at += 1;
            }
            let word = &text[start..at];
            let sign =
                usize::from(start > 0 && bytes[start - 1] == b'-' && start > 1 && b" ([<".contains(&bytes[start - 2]));
            let inside = segments.is_some_and(|(from, to)| (from..to).contains(&start));
            if word.bytes().all(|byte| byte.is_ascii_digit()) && !inside {
                found.push((start - sign, at));
            }
        } else {
            at += 1;
        }
    }
    found
}

fn number(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let op = Operation::read(&lines[at])?;
    let all = integers(&op.attributes);
    let (from, to) = *all.get(choices.usize(0..all.len().max(1)))?;
    let old: i128 = op.attributes[from..to].parse().ok()?;
    let by = choices.choice(&[1, -1, 1, -1, 2, -2, 4, -old, -2 * old, old]);
    let attributes = format!("{}{}{}", &op.attributes[..from], old + by, &op.attributes[to..]);
    with_attributes(lines, at, attributes)
}

fn numbers_swapped(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let op = Operation::read(&lines[at])?;
    let all = integers(&op.attributes);
    let k = choices.usize(0..all.len().saturating_sub(1).max(1));
    let ((a, b), (c, d)) = (*all.get(k)?, *all.get(k + 1)?);
    let t = &op.attributes;
    with_attributes(lines, at, format!("{}{}{}{}{}", &t[..a], &t[c..d], &t[b..c], &t[a..b], &t[d..]))
}

fn swapped(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let mut op = Operation::read(&lines[at])?;
    if op.operands.len() < 2 {
        return None;
    }
    let (i, j) = (choices.usize(0..op.operands.len()), choices.usize(0..op.operands.len()));
    op.operands.swap(i, j);
    if let Some((inputs, _)) = &mut op.types {
        inputs.swap(i, j);
    }
    with(lines, at, op.write())
}

fn other_operand(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let mut op = Operation::read(&lines[at])?;
    let values = text::visible(lines, at);
    let k = choices.usize(0..op.operands.len().max(1));
    let old = op.operands.get(k)?.clone();
    let r#type = values.iter().rev().find(|(name, _)| *name == old)?.1.clone();
    let others: Vec<&String> =
        values.iter().filter(|(name, of)| *of == r#type && *name != old).map(|(name, _)| name).collect();
    // Prefers recent values, which are the more probable faults.
    let back = if choices.bool() { others.len().min(6) } else { others.len() };
    let from = others.len() - back;
    op.operands[k] = (*others.get(from + choices.usize(0..back.max(1)))?).clone();
    with(lines, at, op.write())
}

fn left_out(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let op = Operation::read(&lines[at])?;
    let end = text::end_of(lines, at);
    if op.results.is_empty() {
        return Some([&lines[..at], &lines[end + 1..]].concat());
    }
    let result = choices.usize(0..op.results.len());
    let closing = &lines[end];
    let types = op.types.clone().or_else(|| text::signature(&closing[closing.rfind(" : (")? + 3..]))?;
    let same: Vec<usize> = (0..op.operands.len()).filter(|k| types.0.get(*k) == types.1.get(result)).collect();
    let by = op.operands[*same.get(choices.usize(0..same.len().max(1)))?].clone();
    let mut made = lines.clone();
    let last = scope_end(lines, end);
    text::rename(&mut made[end + 1..=last], &op.results[result], &by);
    Some(made)
}

/// The last line in the scope of a line's results.
pub fn scope_end(lines: &Lines, at: usize) -> usize {
    let mut depth = 0;
    for (k, line) in lines.iter().enumerate().skip(at + 1) {
        let (begins, ends) = text::region(line);
        depth -= i32::from(ends);
        if depth < 0 {
            return k;
        }
        depth += i32::from(begins);
    }
    lines.len() - 1
}

fn other_operation(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let mut op = Operation::read(&lines[at])?;
    let groups: Vec<&&[&str]> = ALIKE.iter().filter(|group| group.contains(&&*op.name)).collect();
    let group = groups.get(choices.usize(0..groups.len().max(1)))?;
    let other = choices.choice(group);
    // The reader rejects attributes that the other operation does not have.
    let takes = |name: &str| {
        ["addf", "subf", "mulf", "divf", "remf", "imumf", "numf", "negf", "math."]
            .iter()
            .any(|part| name.contains(part))
    };
    let integer = |name: &str| ["addi", "subi", "muli", "shli"].iter().any(|part| name.contains(part));
    if takes(&op.name) && !takes(other) || integer(&op.name) && !integer(other) {
        op.attributes = op.attributes.replace(" <{fastmath = #arith.fastmath<none>}>", "");
        op.attributes = op.attributes.replace(" <{overflowFlags = #arith.overflow<none>}>", "");
    }
    op.name = other.to_owned();
    with(lines, at, op.write())
}

fn predicate(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let op = Operation::read(&lines[at])?;
    let start = op.attributes.find("predicate = ")? + "predicate = ".len();
    let end = start + op.attributes[start..].find(' ')?;
    let most = if op.name == "arith.cmpf" { 16 } else { 10 };
    let attributes = format!("{}{}{}", &op.attributes[..start], choices.i64(0..most), &op.attributes[end..]);
    with_attributes(lines, at, attributes)
}

/// A changed flag, boolean, rounding or kind of reduction, or a new attribute.
fn word(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let op = Operation::read(&lines[at])?;
    let text = &op.attributes;
    let mut made: Vec<String> = vec![];
    let inside = |begin: &str, words: &[&str], choices: &mut Choices| {
        let start = text.find(begin)? + begin.len();
        let end = start + text[start..].find('>')?;
        Some(format!("{}{}{}", &text[..start], choices.choice(words), &text[end..]))
    };
    made.extend(inside("#arith.fastmath<", FLAGS, choices));
    made.extend(inside("#arith.overflow<", WRAPS, choices));
    made.extend(inside("#vector.kind<", KINDS, choices));
    made.extend(inside("#linalg.iterator_type<", &["parallel", "reduction"], choices));
    for (word, other) in [("true", "false"), ("false", "true"), ("\"assign\"", "\"addf\"")] {
        let all: Vec<usize> = text.match_indices(word).map(|(at, _)| at).collect();
        if let Some(at) = all.get(choices.usize(0..all.len().max(1))) {
            made.push(format!("{}{other}{}", &text[..*at], &text[at + word.len()..]));
        }
    }
    match &*op.name {
        "arith.divsi" | "arith.divui" | "arith.shrsi" | "arith.shrui" => made.push(" <{isExact}>".into()),
        "arith.ori" => made.push(" <{isDisjoint}>".into()),
        "arith.extui" | "arith.uitofp" => made.push(" <{nonNeg}>".into()),
        "arith.truncf" => made.push(format!(" <{{roundingmode = {} : i32}}>", choices.usize(0..ROUNDINGS.len()))),
        _ => (),
    }
    let chosen = made.get(choices.usize(0..made.len().max(1)))?.clone();
    with_attributes(lines, at, chosen)
}

fn affine(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let op = Operation::read(&lines[at])?;
    let text = &op.attributes;
    let start = text.find("affine_map<").or_else(|| text.find("affine_set<"))?;
    let from = start + text[start..].find("-> (").or_else(|| text[start..].find(" : ("))?;
    const PARTS: &[&[&str]] = &[
        &[" + ", " - ", " * "],
        &[" - ", " + "],
        &[" * ", " + "],
        &[" floordiv ", " ceildiv ", " mod "],
        &[" mod ", " floordiv ", " ceildiv "],
        &[" ceildiv ", " floordiv "],
        &["d0", "d1", "d2", "0"],
        &["d1", "d0", "d2", "0"],
        &["d2", "d0", "d1", "d3"],
        &["d3", "d2", "d1", "0"],
        &[" >= ", " == "],
        &[" == ", " >= "],
    ];
    let group = PARTS[choices.usize(0..PARTS.len())];
    let all: Vec<usize> = text[from..].match_indices(group[0]).map(|(at, _)| from + at).collect();
    let place = *all.get(choices.usize(0..all.len().max(1)))?;
    let other = choices.choice(&group[1..]);
    with_attributes(lines, at, format!("{}{other}{}", &text[..place], &text[place + group[0].len()..]))
}

fn twice(_: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let op = Operation::read(&lines[at])?;
    let end = text::end_of(lines, at);
    op.results.is_empty().then(|| [&lines[..=end], &lines[at..]].concat())
}

/// Moves an operation after the next one or a later one.
fn order(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let end = text::end_of(lines, at);
    let mut after = end;
    for _ in 0..choices.usize(1..5) {
        Operation::read(lines.get(after + 1)?)?;
        after = text::end_of(lines, after + 1);
    }
    Some([&lines[..at], &lines[end + 1..=after], &lines[at..=end], &lines[after + 1..]].concat())
}

/// Another floating-point constant.
fn constant(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let op = Operation::read(&lines[at])?;
    let text = &op.attributes;
    let start = text.find("value = dense<").map(|at| at + 14).or_else(|| text.find("value = ").map(|at| at + 8))?;
    let end = start + text[start..].find([' ', '>', ','])?;
    let old = &text[start..end];
    if !(old.contains("e+") || old.contains("e-") || old.starts_with("0x")) {
        return None;
    }
    with_attributes(lines, at, format!("{}{}{}", &text[..start], choices.choice(FLOATS), &text[end..]))
}

/// `scf.for` without loop-carried values, as `scf.parallel`.
fn parallel(_: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let mut op = Operation::read(&lines[at])?;
    if op.name != "scf.for" || op.operands.len() != 3 {
        return None;
    }
    let end = text::end_of(lines, at);
    op.name = "scf.parallel".into();
    op.attributes = " <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ".into();
    let mut made = with(lines, at, op.write())?;
    made[end - 1] = "\"scf.reduce\"() : () -> ()".into();
    Some(made)
}
