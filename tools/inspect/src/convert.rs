//! `layout-inspect convert`: the elements that a relayout moves at each level of a machine's tree; or with `--to` the
//! layout in another notation.

use crate::machine::accepted;
use layout_console::Complaint;
use std::fmt::Write;
use tensor_layout::element::ElementType;
use tensor_layout::notations::{Described, Notation, read, write};
use tensor_layout::places::ADDRESS;
use tensor_layout::places::Machine;
use tensor_layout::places::{
    Block, CollectiveKind, DigitExchange, IndexDigit, Placement, RelayoutPlan, RelayoutStep, collectives, plan,
};
use tensor_layout::text::{Error, choices};

/// List what moves where in a relayout from the first layout to the second, or print a layout in another notation
#[derive(clap::Args)]
pub struct ConvertOptions {
    /// The layout before, or a shape with its layout; in any notation
    #[arg(value_name = "LAYOUT")]
    from: String,
    /// The layout after, or a shape with its layout; in any notation
    #[arg(value_name = "LAYOUT", required_unless_present = "notation")]
    to: Option<String>,
    #[arg(long = "to", value_name = "NOTATION", conflicts_with_all = ["to", "blocks"], help = format!(
        "Print the first layout in this notation: {}", choices(Notation::NAMES)
    ))]
    notation: Option<String>,
    #[arg(long, help = accepted("The tree of places with its memories, without which the axes are as the layouts name them"))]
    machine: Option<String>,
    /// The type of the elements
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    element: String,
    /// List the strided copies of the relayout
    #[arg(long)]
    blocks: bool,
}

/// The table of a relayout, or the text in the other notation.
pub fn run(options: &ConvertOptions) -> Result<String, Complaint> {
    let ConvertOptions { from, to, notation, machine, element, blocks } = options;
    let (element, bits) = ElementType::parse_data(element).map_err(|error| Complaint::in_argument(element, &error))?;
    let parsed = |text: &String| Machine::parse(text).map_err(|error| Complaint::in_argument(text, &error));
    let machine = machine.as_ref().map(parsed).transpose()?;
    if let Some(name) = notation {
        let notation = Notation::parse(name).map_err(|error| Complaint::in_argument(name, &error))?;
        let text = translated(from, machine.as_ref(), notation, element);
        return text.map(|text| text + "\n").map_err(|error| Complaint::in_argument(from, &error));
    }
    let to = to.as_deref().unwrap_or_default();
    let [source, destination] =
        sides([from, to], machine.as_ref()).map_err(|(k, error)| Complaint::in_argument([from, to][k], &error))?;
    let plan = plan(&source, &destination, machine.as_ref(), bits);
    let plan = plan.map_err(|error| Complaint::in_argument(to, &error))?;
    let mut out = String::new();
    for (text, side, name) in [(from.as_str(), &source, "from"), (to, &destination, "to")] {
        if let Some(machine) = &machine {
            let fit = machine.check(side, bits, None).map_err(|error| Complaint::in_argument(text, &error))?;
            let whose = fit.memory.map_or("place", |memory| &machine.memories[memory].name);
            let _ = writeln!(out, "{name} takes {} bytes of each {whose}", fit.bytes);
        }
    }
    let _ = write!(out, "{plan}");
    let chain = chain(&plan, &source, &destination).map_err(|error| Complaint::in_argument(to, &error))?;
    match chain {
        Some(chain) => chain.iter().for_each(|step| collective(&mut out, step, bits)),
        None => out.push_str("no chain of collectives does it\n"),
    }
    if *blocks {
        plan.blocks.iter().enumerate().for_each(|(k, b)| block(&mut out, &plan.axes, k, b));
    }
    Ok(out)
}

/// A layout in a notation, over a machine where there is one.
pub fn translated(
    from: &str,
    machine: Option<&Machine>,
    notation: Notation,
    element: ElementType,
) -> Result<String, Error> {
    write(&on(&read(from)?, machine)?, notation, element)
}

fn on(described: &Described, machine: Option<&Machine>) -> Result<Described, Error> {
    machine.map_or_else(|| Ok(described.clone()), |machine| described.on_machine(machine))
}

/// The placements of both texts, over the same devices. An error has the number of its text.
pub fn sides(texts: [&str; 2], machine: Option<&Machine>) -> Result<[Placement; 2], (usize, Error)> {
    let of = |k: usize| read(texts[k]).and_then(|side| on(&side, machine)).map_err(|error| (k, error));
    let (from, to) = (of(0)?, of(1)?);
    let (from, to) = Described::on_common_devices(&from, &to).map_err(|error| (1, error))?;
    let placed = |k: usize, side: &Described| side.placement().map_err(|error| (k, error));
    Ok([placed(0, &from)?, placed(1, &to)?])
}

/// The collectives of a relayout; `None` where no chain does it, as between memories of different places.
pub fn chain(plan: &RelayoutPlan, from: &Placement, to: &Placement) -> Result<Option<Vec<RelayoutStep>>, Error> {
    if plan.memories[0] == plan.memories[1] { collectives(from, to) } else { Ok(None) }
}

/// The parts of axes that a collective runs along, as `4_PE:1`.
pub fn along(step: &RelayoutStep) -> Vec<String> {
    step.along.iter().map(|part| format!("{}_{}:{}", part.extent, part.axis, part.stride)).collect()
}

/// The bytes of the elements that each place gets.
pub fn received_bytes(step: &RelayoutStep, bits: i64) -> i64 {
    i64::try_from((i128::from(step.received) * i128::from(bits) + 7) / 8).unwrap_or(i64::MAX)
}

/// A line about a collective: its places, its dimensions before and after, and the bytes that each place gets.
fn collective(out: &mut String, step: &RelayoutStep, bits: i64) {
    let places = along(step);
    let digits = |of: fn(&DigitExchange) -> Option<IndexDigit>| {
        let mut dims: Vec<String> = step.along.iter().filter_map(of).map(|digit| digit.dim.to_string()).collect();
        dims.sort_unstable();
        dims.dedup();
        dims.join(", ")
    };
    let (before, after) = (digits(|part| part.before), digits(|part| part.after));
    let what = match step.kind {
        CollectiveKind::Slice => format!(", cuts dimension {after}"),
        CollectiveKind::AllToAll => format!(", joins dimension {before} and cuts {after}"),
        CollectiveKind::AllGather => format!(", joins dimension {before}"),
        _ => String::new(),
    };
    let bytes = received_bytes(step, bits);
    let _ = writeln!(out, "{:<10} along {}{what}: {bytes} bytes to each", step.kind.name(), places.join(", "));
}

/// Prints a block of the relayout, a strided copy: its start, and the steps of each of its loops.
fn block(out: &mut String, axes: &[String], number: usize, block: &Block) {
    let names = || axes.iter().map(String::as_str).chain([ADDRESS]);
    let named = |coordinates: &[i64], sign: &str| {
        let all = names().zip(coordinates).filter(|(_, c)| **c != 0).map(|(name, c)| format!("{name} {sign}{c}"));
        let all: Vec<String> = all.collect();
        if all.is_empty() { "0".to_string() } else { all.join(", ") }
    };
    let (from, to) = (&block.source, &block.destination);
    let _ = writeln!(
        out,
        "block {number}: {} elements, {} -> {}",
        block.elements(),
        named(&from.base, ""),
        named(&to.base, "")
    );
    for ((size, from), to) in block.sizes.iter().zip(&from.strides).zip(&to.strides) {
        let _ = writeln!(out, "  {size} times {} -> {}", named(from, "+"), named(to, "+"));
    }
}
