//! The memory report as a self-contained page of HTML: no network, no other file.
//!
//! The files of this folder compute the page's data: [`timeline`] the live bytes over time, [`addresses`] the buffers as
//! rectangles, [`palette`] the colours of both, [`graph`] the neighbours of a move, [`pictures`] the drawings of layouts,
//! [`planned`] a plan beside the program. The template `page.html` writes them and escapes every text, so no name of an
//! instruction is markup. `style.css` and `script.js` are included unchanged; the script lets the reader choose a step and
//! a buffer of a chart, search and sort a table, and all numbers are there without it. The policy in the head of the page
//! lets the browser run that script alone and load nothing.
//!
//! The size of the page is bounded however large the program is: charts have at most 200 steps and 300 buffers, lists at
//! most `top` entries with the sum of the others, there are at most 24 pictures, the search finds 1000 tensors, and a name
//! has 200 letters.

mod addresses;
mod graph;
mod palette;
mod pictures;
pub mod planned;
mod timeline;

use super::measure::{RankedTensor, Report};
use super::screen;
use super::summary::{Bytes, Kind, Move, Share, Summary, Tensor};
use crate::clock::Clock;
use crate::numbers::grouped;
use crate::plan::{EntryOption, located};
use addresses::Addresses;
use graph::Graph;
use layout_console::guarded;
use layout_plan::plan::Unplanned;
use minijinja::{Environment, HtmlEscape, UndefinedBehavior, Value, context};
use palette::Palette;
use pictures::{Picture, Pictures};
use planned::Planned;
use serde::Serialize;
use std::collections::BTreeMap;
use tensor_layout::hlo::{Assignment, Module};
use tensor_layout::targets::Target;
use tensor_layout::text::Error;
use timeline::Timeline;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The SHA-256 of `script.js`, in base 64, which the policy of the page names; `build.rs` computes it.
const SCRIPT_HASH: &str = env!("SCRIPT_HASH");

/// The default length of the lists of a page.
const TOP: usize = 30;

/// The default seconds of the search for a plan.
pub const PLAN_SECONDS: f64 = 10.0;

/// The most moves with a graph.
const GRAPHS: usize = 12;

/// The most memories with a chart.
const CHARTS: usize = 3;

/// The number of tensors that the search finds.
const SEARCHED: usize = 1000;

/// The data of a page.
#[derive(Serialize)]
struct Shown {
    summary: Summary,
    /// The charts by the numbers of the memories.
    charts: BTreeMap<u8, Chart>,
    /// The rows of the table of tensors, those first that are not shown before a search.
    tensors: Vec<ShownTensor>,
    /// The number of the tensors that are not shown, and their bytes.
    others: usize,
    rest: Bytes,
    /// The bytes of the largest tensor.
    most: i64,
    moves: Vec<ShownMove>,
    pictures: Vec<Picture>,
    /// The colours of each line of the table, one for each kind of its buffers.
    colours: Vec<Vec<usize>>,
    plan: Option<Planned>,
    /// Why a plan that was asked for does not exist.
    unplanned: Option<String>,
}

#[derive(Serialize)]
struct Chart {
    line: Timeline,
    addresses: Addresses,
}

#[derive(Serialize)]
struct ShownTensor {
    tensor: Tensor,
    /// Whether it is in the table before a search.
    is_top: bool,
    /// The number of its picture.
    picture: Option<usize>,
}

#[derive(Serialize)]
struct ShownMove {
    moved: Move,
    graph: Option<Graph>,
    /// The pictures of the shapes before and after.
    pictures: [Option<usize>; 2],
}

/// The options of a page.
pub struct PageOptions<'a> {
    /// The machine whose layouts are compared: its text, and what that says.
    pub machine: &'a str,
    pub target: &'a Target,
    /// The most entries of each list; 30 where it is not given.
    pub top: Option<usize>,
    /// The entry layouts that the plan beside the program may choose, and the clock of its search.
    pub plan: Option<(EntryOption, Clock)>,
    /// The text of XLA's buffer assignment, which has the addresses of the buffers.
    pub assignment: Option<&'a str>,
}

/// A page.
pub struct WrittenPage {
    pub html: String,
    /// Why a plan that was asked for does not exist, which the page says, too.
    pub unplanned: Option<Error>,
    /// The error in the text of the buffer assignment, without which the page has addresses of its own.
    pub unassigned: Option<Error>,
}

/// The page of a program's report.
///
/// # Errors
/// 64 bits do not hold the bytes.
pub fn page(report: &Report, options: PageOptions) -> Result<WrittenPage, Error> {
    let PageOptions { machine, target, top, plan, assignment } = options;
    let (module, top) = (report.module(), top.unwrap_or(TOP));
    let plan = plan.map(|(entry, mut clock)| {
        let planned = guarded(|| Planned::of(module, target, entry, &mut clock, top));
        planned.unwrap_or_else(|bug| Err(Unplanned::Wrong(None, bug))).map_err(|why| located(module, target, why))
    });
    let (plan, unplanned) = match plan {
        Some(Err(why)) => (None, Some(why)),
        plan => (plan.transpose().unwrap_or_default(), None),
    };
    let assignment = assignment.map(|text| Assignment::parse(text, module));
    let (assignment, unassigned) = assignment.map_or((None, None), |found| (found.as_ref().ok().cloned(), found.err()));
    let why = unplanned.as_ref().map(|why| why.message.clone());
    let html = shown(report, (machine, top), assignment.as_ref(), (plan, why))?;
    Ok(WrittenPage { html, unplanned, unassigned })
}

/// The page with XLA's addresses, and this plan, or the reason why there is none.
fn shown(
    report: &Report,
    (machine, top): (&str, usize),
    assignment: Option<&Assignment>,
    (mut plan, unplanned): (Option<Planned>, Option<String>),
) -> Result<String, Error> {
    let (module, mut summary) = (report.module(), report.advised(top)?);
    let (tensors, others, rest) = report.tensors(top, SEARCHED)?;
    let mut pictures = Pictures::default();
    let picture = |RankedTensor { tensor, is_top }| ShownTensor {
        picture: is_top.then(|| pictures.number(&tensor.shape)).flatten(),
        tensor,
        is_top,
    };
    let tensors: Vec<ShownTensor> = tensors.into_iter().map(picture).collect();
    let moves = std::mem::take(&mut summary.relayouts).into_iter().enumerate().map(|(number, moved)| ShownMove {
        graph: around(module, &moved).filter(|_| number < GRAPHS),
        pictures: [pictures.number(&moved.from), pictures.number(&moved.to)],
        moved,
    });
    let moves = moves.collect();
    if let Some(plan) = &mut plan {
        summary.advice.retain(|advice| plan.agrees(advice));
        plan.picture(&mut pictures);
    }
    let mut palette = Palette::default();
    let charts = charts(report, assignment, &summary, &mut palette)?;
    let colour = |line: &Share, kind: Kind| palette::whole(kind).unwrap_or_else(|| palette.of(&line.name));
    let colours = |line: &Share| line.kinds.iter().map(|kind| colour(line, *kind)).collect();
    let colours = summary.peak.lines.entries.iter().map(colours).collect();
    Ok(written(
        &Shown {
            charts,
            colours,
            most: tensors.iter().map(|shown| shown.tensor.footprint.padded_bytes).max().unwrap_or(0),
            tensors,
            others,
            rest,
            moves,
            pictures: pictures.all(),
            plan,
            unplanned,
            summary,
        },
        machine,
        palette,
    ))
}

/// The charts of the main memory and of others that are not small.
fn charts(
    report: &Report,
    assignment: Option<&Assignment>,
    summary: &Summary,
    palette: &mut Palette,
) -> Result<BTreeMap<u8, Chart>, Error> {
    let large = summary.spaces.iter().filter(|memory| memory.space == 0 || memory.temporaries >= screen::SMALL);
    let lines: Vec<Timeline> =
        large.filter_map(|memory| Timeline::of(report, memory.space, palette)).take(CHARTS).collect();
    let chart = |line: Timeline| {
        let addresses = Addresses::of(report, assignment, (line.space, line.instructions), palette)?;
        Ok((line.space, Chart { addresses, line }))
    };
    lines.into_iter().map(chart).collect()
}

/// The graph around a move.
fn around(module: &Module, moved: &Move) -> Option<Graph> {
    let computation = module.computations.iter().find(|computation| computation.name == moved.computation)?;
    let k = computation.instructions.iter().position(|instruction| instruction.name == moved.name)?;
    Some(Graph::around(computation, k))
}

fn written(shown: &Shown, machine: &str, palette: Palette) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_filter("bytes", screen::bytes);
    environment.add_filter("grouped", grouped);
    environment
        .add_filter("part", |of: i64, most: i64, width: f64| format!("{:.1}", of as f64 / most.max(1) as f64 * width));
    environment.add_filter("padding", |padded: i64, logical: i64| screen::padding(Bytes { logical, padded }));
    environment.add_filter("cut", |text: &str| cut(text));
    environment.add_filter("breaks", |text: &str| Value::from_safe_string(breaks(&cut(text))));
    environment.add_filter("whole", |text: &str| Value::from_safe_string(breaks(text)));
    environment.add_filter("names", |text: &str| Value::from_safe_string(names(text)));
    environment.add_function("colour", move |name: &str| palette.of(name));
    // A script element ends at `</script`; JSON may escape `<` as a number.
    environment.add_filter("data", |json: &str| Value::from_safe_string(json.replace('<', "\\u003c")));
    let text = environment.render_named_str(
        "page.html",
        TEMPLATE,
        context! {
            style => Value::from_safe_string(STYLE.to_string()),
            script => Value::from_safe_string(SCRIPT.to_string()),
            script_hash => Value::from_safe_string(SCRIPT_HASH.to_string()),
            version => env!("CARGO_PKG_VERSION"),
            machine,
            ..Value::from_serialize(shown)
        },
    );
    text.expect("the template has only names that there are")
}

/// A name or another text of the program, which has at most 200 letters on the page. Signs that turn the direction of
/// what is behind them are replaced.
fn cut(text: &str) -> String {
    const LONGEST: usize = 200;
    let turns = |own: char| matches!(own, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    screen::cut(text, LONGEST).replace(turns, "\u{fffd}")
}

/// HTML of a text whose names are between grave accents.
fn names(text: &str) -> String {
    let part = |(number, part): (usize, &str)| match number % 2 {
        0 => breaks(part),
        _ => format!("<code>{}</code>", breaks(part)),
    };
    text.split('`').enumerate().map(part).collect()
}

/// A text as markup that may be broken: behind the signs that join names, between the parts of a layout, behind other
/// signs where a line would be long, and inside of a word only if it has more than 12 letters.
fn breaks(text: &str) -> String {
    const LONG: usize = 16;
    const LONGEST: usize = 28;
    let (mut out, mut length, mut before) = (String::new(), 0, ' ');
    for own in text.chars() {
        let joins = matches!(before, '/' | '_' | '-' | '=') && own.is_alphabetic();
        let is_part = matches!((before, own), (']', '{' | '[') | (')', '('));
        let is_beside = length >= LONG && !before.is_alphanumeric() && own.is_alphanumeric();
        if joins || is_part || is_beside || length >= LONGEST {
            out += "<wbr>";
            length = 0;
        }
        length = if own == ' ' { 0 } else { length + 1 };
        out += &HtmlEscape(&own.to_string()).to_string();
        before = own;
    }
    out
}
