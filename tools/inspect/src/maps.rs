//! `layout-inspect simplify`, and the indexing maps of a layout as text.

use layout_console::Complaint;
use std::collections::BTreeSet;
use tensor_layout::maps::{Claim, Rule, Shown};
use tensor_layout::maps::{Indexing, IndexingMap};
use tensor_layout::text::Error;
use tensor_layout::tiled::Expansion;

/// The map from the logical index to the index in the expanded sizes, and the map to the offset, in elements.
pub fn texts(expansion: &Expansion) -> (String, String) {
    let text = |results| IndexingMap::of_sizes(expansion.logical_sizes(), results).to_string();
    (text(expansion.exprs()), text(vec![expansion.offset_expr()]))
}

/// A step of a simplification as text.
pub struct StepText {
    pub rule: Rule,
    /// The replaced part: a result, the interval of a variable, the constraints.
    pub about: &'static str,
    /// The number of the replaced result, if any.
    pub result: Option<usize>,
    pub before: String,
    pub after: String,
    pub fact: Option<String>,
    /// The step as one line.
    pub line: String,
}

/// The steps by which a map is simplified.
///
/// # Errors
/// The expressions are too long to be printed.
pub fn steps(map: &IndexingMap) -> Result<Vec<StepText>, Error> {
    let name = |v| map.name(v);
    let show = |step| {
        let shown = Shown(step, &name);
        let result = if let Claim::Result(k, ..) = step.claim { Some(k) } else { None };
        let (before, after, fact) = (shown.before(), shown.after(), shown.fact());
        StepText { rule: step.rule, about: step.claim.kind(), result, before, after, fact, line: shown.to_string() }
    };
    Ok(map.explain()?.steps.iter().map(show).collect())
}

/// Simplify an indexing map
#[derive(clap::Args)]
pub struct SimplifyOptions {
    /// Print the steps of the simplification, and the rules that they apply
    #[arg(long)]
    explain: bool,
    /// The map: (d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 7]
    #[arg(value_name = "MAP")]
    text: String,
}

/// The simplified map; with `--explain` the steps before it and their rules after it.
pub fn run(SimplifyOptions { explain, text }: &SimplifyOptions) -> Result<String, Complaint> {
    simplify(text, *explain).map_err(|error| Complaint::in_argument(text, &error))
}

fn simplify(text: &str, explain: bool) -> Result<String, Error> {
    let map = Indexing::parse(text)?;
    let simple = format!("{}\n", map.simplify());
    let (true, Indexing::Map(map)) = (explain, &map) else { return Ok(simple) };
    let steps = steps(map)?;
    let rules: BTreeSet<Rule> = steps.iter().map(|step| step.rule).collect();
    let width = rules.iter().map(|rule| rule.name().len()).max().unwrap_or(0);
    let mut out = String::new();
    for (k, step) in steps.iter().enumerate() {
        out += &format!("{:>3}  {:width$}  {}\n", k + 1, step.rule.name(), step.line);
    }
    out += &simple;
    for rule in rules {
        out += &format!("     {:width$}  {}\n", rule.name(), rule.equation());
    }
    Ok(out)
}
