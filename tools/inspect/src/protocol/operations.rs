//! The operation of each request: its arguments and what it computes.

use super::answer::{
    Answer, Broadcast, Conversion, ConversionLevel, ConversionStep, Everywhere, Facts, Failure, MovedLevel, Step,
    Witness,
};
use super::programs;
use super::request::{self, Object, Request};
use crate::convert::{along, chain, received_bytes, sides, translated};
use crate::copies::CopyAnswer;
use crate::maps;
use crate::moves::{copies, operation, rules, wrong_transpose};
use crate::report::{self, Subject};
use crate::stopwatch::Stopwatch;
use std::collections::BTreeMap;
use tensor_layout::analysis::{Movement, movement};
use tensor_layout::conversion::Meaning;
use tensor_layout::element::ElementType;
use tensor_layout::limits;
use tensor_layout::maps::Equality;
use tensor_layout::maps::{Indexing, IndexingMap};
use tensor_layout::notations::{self, Notation, calculate};
use tensor_layout::operations::{Array, Shape};
use tensor_layout::places::ADDRESS;
use tensor_layout::places::{Copies, Held, Level, Machine, Placement, READY, RelayoutStep, Slice, plan};
use tensor_layout::targets::Target;
use tensor_layout::text::{Error, did_you_mean};
use tensor_layout::tiled::Expansion;

/// The answer to a request. A failure that names no member is about the operation's main member.
pub fn answer(request: Request) -> Result<Answer, Failure> {
    let (about, answer) = match request {
        Request::Layout(request) => ("text", layout(&request.text)),
        Request::Layouts(request) => ("text", layouts(&request.text, &request.machine)),
        Request::Draw(request) => ("text", drawn(&request.text)),
        Request::LinearIndex(request) => ("text", linear_index(&request.text, &request.index)),
        Request::LogicalIndex(request) => ("text", logical_index(&request.text, request.linear)),
        Request::Place(request) => ("text", place(&request.text, &request.index)),
        Request::Equal(request) => ("b", equal(&request.a, &request.b)),
        Request::Simplify(request) => ("map", simplify(&request.map, request.explain)),
        Request::Compose(request) => ("maps", compose(&request.maps)),
        Request::Evaluate(request) => ("map", evaluate(&request.map, &request.point)),
        Request::View(request) => ("text", view(request)),
        Request::Moves(request) => ("to", moved(request)),
        Request::Algebra(request) => ("of", algebra(&request.of)),
        Request::Convert(request) => ("to", convert(&request)),
        Request::Dump(request) => ("files", programs::dump(&request)),
        Request::Plan(request) => ("text", programs::plan(&request)),
        Request::Solve(request) => ("text", programs::solve(&request)),
        Request::Offsets(request) => ("text", programs::offsets(&request)),
        Request::CheckPlan(request) => ("text", programs::check_plan(&request)),
        Request::Machine(request) => ("machine", machine(&request)),
        Request::Hlo(_) => ("op", Err(Error::new("`hlo` has several answers").into())),
        Request::Version(_) => {
            let (protocol, version) = (super::VERSION, env!("CARGO_PKG_VERSION"));
            let (operations, notations) = (Request::NAMES, Notation::NAMES);
            let machines = READY.iter().map(|(name, _)| *name).collect();
            ("op", Ok(Answer::Version { protocol, version, operations, notations, machines }))
        }
    };
    answer.map_err(|failure| Failure::of_field(about, failure))
}

/// Checks that exactly one of several members is given.
fn only_one(given: &[(&str, bool)]) -> Result<(), Failure> {
    let names: Vec<String> = given.iter().map(|(name, _)| format!("`{name}`")).collect();
    let (last, first) = names.split_last().map_or(("", &[][..]), |(last, first)| (last.as_str(), first));
    let wrong = || Error::new(format!("one of {} and {last} must be given", first.join(", ")));
    let mut found = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
    match (found.next(), found.next()) {
        (Some(_), None) => Ok(()),
        (Some(_), Some(second)) => Err(Failure::of_field(second, wrong())),
        (None, _) => Err(Failure::of_field(given[0].0, wrong())),
    }
}

fn machine(request: &request::Machine) -> Result<Answer, Failure> {
    let machine = crate::machine::found(&request.machine, request.measure)?.to_string();
    Ok(Answer::Machine { machine })
}

fn view(request: request::View) -> Result<Answer, Failure> {
    let request::View { text, reshape, transpose, slice } = request;
    only_one(&[("reshape", reshape.is_some()), ("transpose", transpose.is_some()), ("slice", slice.is_some())])?;
    let layout = report::placement(&text)?.layout().clone();
    let (member, found) = if let Some(sizes) = reshape {
        ("reshape", layout.reshaped(&sizes))
    } else if let Some(permutation) = transpose {
        ("transpose", layout.transposed(&permutation))
    } else {
        let cut = |[start, limit, step]: [i64; 3]| Slice { start, limit, step };
        ("slice", layout.sliced(&slice.unwrap_or_default().into_iter().map(cut).collect::<Vec<_>>()))
    };
    let found = found.map_err(|error| Failure::of_field(member, error))?;
    Ok(Answer::View { layout: found.layout.to_string(), offset: found.offset })
}

fn moved(request: request::Moves) -> Result<Answer, Failure> {
    let shape = |text: &str, field| Shape::parse(text).map_err(|error| Failure::of_field(field, error));
    let (from, to) = (shape(&request.from, "from")?, shape(&request.to, "to")?);
    let permutation = request.transpose.clone();
    let operation = operation(request.transpose);
    if let Some(error) = wrong_transpose(&operation, &from, &to, "`transpose`") {
        return Err(Failure::of_field("transpose", error));
    }
    if let Some(Object(asked)) = request.copies {
        if permutation.is_some() && asked.start.is_some() {
            return Err(Failure::of_field("transpose", Error::new("`start` is for slices, which do not transpose")));
        }
        let rules = rules(asked.rank, asked.padding);
        let found = copies(&from, &to, permutation.as_deref(), (asked.start.as_deref(), "`start`"), &rules);
        let found = found.map_err(|error| Failure::of_field("copies", error))?;
        let space = |shape: &Shape| if let Shape::Array(array) = shape { array.layout.memory_space } else { 0 };
        let copies = found.into_iter().map(CopyAnswer::from).collect();
        return Ok(Answer::StridedCopies { from_space: space(&from), to_space: space(&to), copies });
    }
    let found = movement(&operation, &from, &to)?;
    let (moves, free) = match &found {
        Movement::Free => (Some(false), None),
        Movement::Unknown { .. } => (None, None),
        Movement::Moves { nearest, .. } => (Some(true), nearest.as_ref().ok().map(ToString::to_string)),
    };
    Ok(Answer::Moves { moves, reason: found.to_string(), free })
}

fn algebra(of: &str) -> Result<Answer, Failure> {
    use notations::Answer as Value;
    Ok(match calculate(of)? {
        Value::Layout(layout) => Answer::Function {
            layout: layout.to_string(),
            axes: layout.axes().to_vec(),
            sizes: layout.sizes(),
            size: layout.size(),
        },
        Value::Equality(equality) => compared(equality, None),
        Value::Moved(moved) => {
            let level = |(axis, moved)| MovedLevel { axis, moved };
            Answer::Moved { elements: moved.elements, levels: moved.levels.into_iter().map(level).collect() }
        }
        Value::Vectors(vectors) => Answer::Vectors { width: vectors.width, accesses: vectors.accesses },
        Value::Conflicts(found) => Answer::Conflicts { accesses: found.accesses, ways: found.ways, index: found.index },
        _ => return Err(Error::new("an answer that the protocol has no words for").internal().into()),
    })
}

fn convert(request: &request::Convert) -> Result<Answer, Failure> {
    let (element, bits) =
        ElementType::parse_data(&request.element).map_err(|error| Failure::of_field("element", error))?;
    let parsed = |text: &String| Machine::parse(text).map_err(|error| Failure::of_field("machine", error));
    let machine = request.machine.as_ref().map(parsed).transpose()?;
    let to = match (&request.to, &request.notation) {
        (Some(to), None) => to,
        (None, Some(name)) => {
            let notation = Notation::parse(name).map_err(|error| Failure::of_field("notation", error))?;
            let text = translated(&request.from, machine.as_ref(), notation, element);
            let text = text.map_err(|error| Failure::of_field("from", error))?;
            return Ok(Answer::Translation { text });
        }
        (None, None) | (Some(_), Some(_)) => {
            only_one(&[("to", request.to.is_some()), ("notation", request.notation.is_some())])?;
            return Err(Error::new("one of `to` and `notation` must be given").into());
        }
    };
    let sides = sides([&request.from, to], machine.as_ref());
    let [from, to] = sides.map_err(|(k, error)| Failure::of_field(["from", "to"][k], error))?;
    let fits = |side| machine.as_ref().is_none_or(|machine| machine.check(side, bits, None).is_ok());
    let plan = plan(&from, &to, machine.as_ref(), bits);
    let plan = plan.map_err(|error| Failure::of_field(if fits(&from) { "to" } else { "from" }, error))?;
    let level = |level: &Level| ConversionLevel {
        axis: level.axis.clone(),
        group: level.group,
        cross: level.cross,
        up: level.up,
        down: level.down,
    };
    let step = |step: &RelayoutStep| ConversionStep {
        kind: step.kind.name(),
        along: along(step),
        bytes: received_bytes(step, bits),
    };
    Ok(Answer::Convert(Conversion {
        elements: plan.elements,
        stay: plan.stay,
        unmoved: plan.unmoved,
        levels: plan.levels.iter().map(level).collect(),
        blocks: plan.blocks.len(),
        collectives: chain(&plan, &from, &to)?.map(|chain| chain.iter().map(step).collect()),
    }))
}

fn layout(text: &str) -> Result<Answer, Failure> {
    let facts = match report::parse(text)? {
        Subject::Places(placement) => facts_of_places(&placement),
        Subject::Shape(shape) => match report::laid_out(&shape) {
            None => Facts { printed: shape.to_string(), ..Facts::default() },
            Some((array, sizes)) => {
                let facts = Expansion::new(&sizes, &array.layout).and_then(|e| facts_of_tiles(&shape, array, &e));
                facts.map_err(|e| report::in_sizes(text, e))?
            }
        },
    };
    Ok(Answer::Layout(Box::new(facts)))
}

fn layouts(text: &str, machine: &str) -> Result<Answer, Failure> {
    let target = Target::parse(machine).map_err(|error| Failure::of_field("machine", error))?;
    Ok(Answer::Layouts(Box::new(crate::layouts::listed(&target, text)?)))
}

fn facts_of_tiles(shape: &Shape, array: &Array, expansion: &Expansion) -> Result<Facts, Error> {
    // An array split across memories has no maps.
    let maps = (!expansion.is_split_across_memories()).then(|| maps::texts(expansion));
    let (map, offset_map) = maps.unzip();
    Ok(Facts {
        printed: shape.to_string(),
        logical_elements: Some(expansion.logical_elements()?),
        logical_bytes: Some(expansion.logical_bytes(array.element)?),
        padded_elements: Some(expansion.allocated_elements()),
        padded_bytes: Some(expansion.padded_bytes(array.element)?),
        expanded: Some(expansion.sizes().to_vec()),
        strides: Some(expansion.strides().to_vec()),
        memory_space: Some(array.layout.memory_space),
        map,
        offset_map,
        ..Facts::default()
    })
}

fn facts_of_places(placement: &Placement) -> Facts {
    let map = placement.map().to_string();
    Facts {
        printed: placement.layout().to_string(),
        logical_elements: Some(placement.elements()),
        padded_elements: Some(placement.padded_elements()),
        local_elements: Some(placement.local_elements()),
        expanded: Some(placement.extents()),
        results: Some(placement.axes().iter().cloned().chain([ADDRESS.to_string()]).collect()),
        offset_map: placement.axes().is_empty().then(|| map.clone()),
        map: Some(map),
        ..Facts::default()
    }
}

/// The layout in a request's text.
enum LaidOut {
    Tiled(Expansion),
    Places(Box<Placement>),
}

fn laid_out(text: &str) -> Result<LaidOut, Failure> {
    let shape = match report::parse(text)? {
        Subject::Shape(shape) => shape,
        Subject::Places(placement) => return Ok(LaidOut::Places(placement)),
    };
    let (array, sizes) =
        report::laid_out(&shape).ok_or_else(|| Error::new(format!("{} has no offsets", kind(&shape))))?;
    Ok(LaidOut::Tiled(Expansion::new(&sizes, &array.layout).map_err(|e| report::in_sizes(text, e))?))
}

/// Refuses a layout whose elements have coordinates beside the address.
fn only_address(placement: &Placement) -> Result<(), Error> {
    match placement.axes().first() {
        Some(axis) => Err(Error::new(format!(
            "the layout must have the address alone, found the axis {axis}: use the op `place`"
        ))),
        None => Ok(()),
    }
}

fn kind(shape: &Shape) -> String {
    match shape {
        Shape::Tuple(_) => "a tuple".to_string(),
        Shape::Array(array) | Shape::Buffer(array) if array.element.is_data() => "an unbounded size".to_string(),
        Shape::Array(array) | Shape::Buffer(array) => format!("`{}`", array.element),
    }
}

fn drawn(text: &str) -> Result<Answer, Failure> {
    Ok(Answer::Picture { svg: crate::svg::draw(text)? })
}

fn linear_index(text: &str, index: &[i64]) -> Result<Answer, Failure> {
    let linear = match laid_out(text)? {
        LaidOut::Tiled(expansion) => expansion.offset(index),
        LaidOut::Places(placement) => {
            only_address(&placement)?;
            placement.place(index).map(|place| place[0])
        }
    };
    Ok(Answer::Offset { linear: linear.map_err(|error| Failure::of_field("index", error))? })
}

fn logical_index(text: &str, linear: i64) -> Result<Answer, Failure> {
    let wrong = |error: Error| Failure::of_field("linear", error);
    let index = match laid_out(text)? {
        LaidOut::Tiled(expansion) => expansion.index(linear).map_err(wrong)?,
        LaidOut::Places(placement) => {
            only_address(&placement)?;
            let reach = placement.extents()[0];
            if !(0..reach).contains(&linear) {
                let message = format!("`linear` must be between 0 and {}, found {linear}", reach - 1);
                return Err(wrong(Error::new(message)));
            }
            match placement.held(&[linear]).map_err(wrong)? {
                Held::Element(index) => Some(index),
                // A gap that strides leave between the first and the last element.
                Held::Padding | Held::Outside => None,
            }
        }
    };
    Ok(index.map_or(Answer::Padding { padding: true }, |index| Answer::Element { index }))
}

/// The most copies along an axis in an answer.
const LISTED: i64 = limits::LISTED_COPIES;

fn place(text: &str, index: &[i64]) -> Result<Answer, Failure> {
    let (mut place, mut broadcast) = (BTreeMap::new(), BTreeMap::new());
    let wrong = |error: Error| Failure::of_field("index", error);
    match laid_out(text)? {
        LaidOut::Tiled(expansion) => drop(place.insert(ADDRESS.into(), expansion.offset(index).map_err(wrong)?)),
        LaidOut::Places(placement) => {
            let axes = placement.axes().iter().map(String::as_str).chain([ADDRESS]);
            place.extend(axes.zip(placement.place(index).map_err(wrong)?).map(|(axis, at)| (axis.to_string(), at)));
            for (k, axis) in placement.axes().iter().enumerate() {
                let copies = match placement.copies(k) {
                    Copies::All => Broadcast::Everywhere(Everywhere::All),
                    Copies::Steps(steps) if steps.is_empty() => continue,
                    Copies::Steps(steps) => Broadcast::Offsets(offsets(axis, &steps)?),
                };
                broadcast.insert(axis.clone(), copies);
            }
        }
    }
    Ok(Answer::Place { place, broadcast })
}

/// All sums of steps, in order.
fn offsets(axis: &str, steps: &[(i64, i64)]) -> Result<Vec<i64>, Error> {
    let count = steps.iter().try_fold(1i64, |n, (extent, _)| n.checked_mul(*extent).filter(|n| *n <= LISTED));
    if count.is_none() {
        return Err(Error::new(format!(
            "the number of copies along {axis} must be at most {LISTED} to be listed, found more"
        )));
    }
    let mut all = vec![0];
    for (extent, stride) in steps {
        // No sum is larger than the highest coordinate, which fits.
        all = all.iter().flat_map(|at| (0..*extent).map(move |k| at + k * stride)).collect();
    }
    all.sort_unstable();
    Ok(all)
}

fn simplify(map: &str, explain: bool) -> Result<Answer, Failure> {
    let map = Indexing::parse(map)?;
    let start = Stopwatch::start();
    let simple = map.simplify();
    let ns = start.elapsed().as_nanos() as u64;
    let steps = match &map {
        Indexing::Map(map) if explain => Some(maps::steps(map)?.into_iter().map(step).collect()),
        Indexing::KnownEmpty | Indexing::Undefined if explain => Some(Vec::new()),
        _ => None,
    };
    Ok(Answer::Map { map: simple.to_string(), ns, steps })
}

fn step(step: maps::StepText) -> Step {
    let maps::StepText { rule, about, result, before, after, fact, .. } = step;
    Step { rule: rule.name(), equation: rule.equation(), about, result, before, after, fact }
}

fn compose(texts: &[String]) -> Result<Answer, Failure> {
    let parse = |(k, text): (usize, &String)| Indexing::parse(text).map_err(|error| Failure::of_number(k, error));
    let maps = texts.iter().enumerate().map(parse).collect::<Result<Vec<_>, _>>()?;
    let start = Stopwatch::start();
    let composed = Indexing::compose(&maps)?;
    let ns = start.elapsed().as_nanos() as u64;
    Ok(Answer::Map { map: composed.to_string(), ns, steps: None })
}

fn evaluate(map: &str, request::Point(point): &request::Point) -> Result<Answer, Failure> {
    let results = match Indexing::parse(map)? {
        Indexing::Undefined => return Err(Error::new("the map must be defined, found UNDEFINED").into()),
        Indexing::KnownEmpty => None,
        Indexing::Map(map) => {
            let names: Vec<String> = (0..map.variables()).map(|v| map.name(v)).collect();
            if let Some(unknown) = point.keys().find(|name| !names.contains(name)) {
                let hint = did_you_mean(unknown, names.iter().map(String::as_str));
                let unknown: String = unknown.chars().take(40).collect();
                let error = Error::new(format!("unknown variable `{unknown}`{hint}")).unknown();
                return Err(Failure::of_field("point", error));
            }
            let value = |name: &String| {
                point.get(name).copied().ok_or_else(|| Error::new(format!("`point.{name}` is missing")))
            };
            let values = names.iter().map(value).collect::<Result<Vec<_>, _>>();
            map.evaluate(&values.map_err(|error| Failure::of_field("point", error))?)?
        }
    };
    Ok(results.map_or(Answer::Outside { outside: true }, |results| Answer::Results { results }))
}

/// Whether a text is a map and not a shape.
fn is_map(text: &str) -> bool {
    text.contains("->") || matches!(text.trim(), "UNDEFINED") || text.trim_start().starts_with("KNOWN")
}

fn equal(a: &str, b: &str) -> Result<Answer, Failure> {
    let (equality, names) = if is_map(a) || is_map(b) {
        let parse = |text, field| Indexing::parse(text).map_err(|error| Failure::of_field(field, error));
        let (a, b) = (parse(a, "a")?, parse(b, "b")?);
        let map = a.map().or(b.map());
        let names = map.map(|map| (0..map.variables()).map(|v| map.name(v)).collect::<Vec<_>>());
        (a.compare(&b), names)
    } else {
        let parse = |text, field| report::parse(text).map_err(|error| Failure::of_field(field, error));
        (same(&parse(a, "a")?, &parse(b, "b")?)?, None)
    };
    Ok(compared(equality, names))
}

/// The answer of a comparison, of maps with these variables or of layouts.
fn compared(equality: Equality, names: Option<Vec<String>>) -> Answer {
    match equality {
        Equality::Equal => Answer::Equality { equal: Some(true), unknown: false, witness: None, reason: None },
        Equality::Different { witness, reason } => {
            let witness = witness.map(|point| match names {
                Some(names) => Witness::Point(names.into_iter().zip(point).collect()),
                None => Witness::Index(point),
            });
            Answer::Equality { equal: Some(false), unknown: false, witness: Some(witness), reason: Some(reason) }
        }
        Equality::Unknown { reason } => {
            Answer::Equality { equal: None, unknown: true, witness: Some(None), reason: Some(reason) }
        }
    }
}

/// Whether two texts have the same sizes and put each element at the same places of the same memory space.
///
/// This is an equivalence over all notations. A TensorLayout has no element type and no allocation, so these do not
/// count between two shapes either: else `f32[4]` and `s8[4]` would both equal `(4)/((4:1))` and not each other.
fn same(a: &Subject, b: &Subject) -> Result<Equality, Failure> {
    match (a, b) {
        (Subject::Shape(a), Subject::Shape(b)) => Ok(same_layout(a, b)?),
        _ => {
            let of = |subject, member| meaning(subject).map_err(|error| Failure::of_field(member, error));
            Ok(of(a, "a")?.compare(&of(b, "b")?))
        }
    }
}

/// The function from elements to places, independent of the notation.
fn meaning(subject: &Subject) -> Result<Meaning, Error> {
    match subject {
        Subject::Places(placement) => Ok(Meaning::from(&**placement)),
        Subject::Shape(shape) => {
            let (array, sizes) =
                report::laid_out(shape).ok_or_else(|| Error::new(format!("{} has no offsets", kind(shape))))?;
            let expansion = Expansion::new(&sizes, &array.layout)?;
            if expansion.is_split_across_memories() {
                return Err(Error::new("the layout is cut across memories: an element has no one place").unsupported());
            }
            Ok(Meaning::of_tiled(&expansion, array.layout.memory_space))
        }
    }
}

/// Whether two shapes have the same sizes and each element at the same places.
fn same_layout(a: &Shape, b: &Shape) -> Result<Equality, Error> {
    if a == b {
        return Ok(Equality::Equal);
    }
    match (a, b) {
        (Shape::Tuple(x), Shape::Tuple(y)) => same_tuple(x, y),
        _ => match (report::laid_out(a), report::laid_out(b)) {
            (Some((x, sizes)), Some((y, other))) => same_array((x, &sizes), (y, &other)),
            _ => Ok(different(format!("{a} is not {b}"))),
        },
    }
}

/// The result for shapes that differ without a witness.
fn different(reason: String) -> Equality {
    Equality::Different { witness: None, reason }
}

fn same_tuple(x: &[Shape], y: &[Shape]) -> Result<Equality, Error> {
    if x.len() != y.len() {
        return Ok(different(format!("the tuples have {} and {} elements", x.len(), y.len())));
    }
    for (k, (x, y)) in x.iter().zip(y).enumerate() {
        let within = |reason: String| format!("element {k} of the tuple: {reason}");
        match same_layout(x, y)? {
            Equality::Equal => {}
            Equality::Different { reason, .. } => return Ok(different(within(reason))),
            Equality::Unknown { reason } => return Ok(Equality::Unknown { reason: within(reason) }),
        }
    }
    Ok(Equality::Equal)
}

/// Whether two arrays have the same sizes, memory space and offsets.
fn same_array((x, sizes): (&Array, &[i64]), (y, other): (&Array, &[i64])) -> Result<Equality, Error> {
    for (what, x, y) in [
        ("sizes are", format!("{sizes:?}"), format!("{other:?}")),
        ("memory spaces are", x.layout.memory_space.to_string(), y.layout.memory_space.to_string()),
    ] {
        if x != y {
            return Ok(different(format!("the {what} {x} and {y}")));
        }
    }
    let (e, f) = (Expansion::new(sizes, &x.layout)?, Expansion::new(sizes, &y.layout)?);
    if x.layout.splits != y.layout.splits {
        return Ok(different("they are cut across memories in different places".to_string()));
    }
    let map = |e: &Expansion| IndexingMap::of_sizes(sizes, vec![e.offset_expr()]);
    let offsets = map(&e).compare(&map(&f));
    if let Equality::Different { witness: Some(index), .. } = &offsets {
        let reason = match (e.offset(index), f.offset(index)) {
            (Ok(a), Ok(b)) => format!("the offsets are {a} and {b}"),
            _ => "the offsets differ".to_string(),
        };
        return Ok(Equality::Different { witness: Some(index.clone()), reason });
    }
    Ok(offsets)
}
