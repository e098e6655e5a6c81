//! A plan for people.

use super::answer::{
    DoubtAnswer, Judgement, LeftAnswer, LevelAnswer, PlanAnswer, RelayoutAnswer, SearchEnd, StepLoopAnswer, StepsAnswer,
};
use crate::numbers::counted;
use layout_plan::plan::BESIDE;
use std::fmt::Write;

/// The plan as lines: its cost, the use of each memory, and each relayout with its reason.
pub fn text(plan: &PlanAnswer) -> String {
    let mut out = String::new();
    let unit = |n: i64| counted(n, &plan.unit);
    let on_devices = !plan.shardings.is_empty();
    let has_places = !plan.levels.is_empty();
    costs(&mut out, plan);
    memories(&mut out, plan);
    if has_places {
        let _ = writeln!(out, "moved   {}", levels(&plan.levels));
    }
    if plan.work > 0 {
        let (work, rest) = (unit(plan.work), unit(plan.cost.saturating_sub(plan.work)));
        let _ = writeln!(out, "time    {work} of work on each device, {rest} of communication");
    }
    for (side, layouts) in [("in", &plan.entry.arguments), ("out", &plan.entry.results)] {
        if !layouts.is_empty() {
            let _ = writeln!(out, "{side:7} {}", layouts.join(" "));
        }
    }
    movements(&mut out, plan);
    recomputed(&mut out, plan);
    let bytes = plan.relayouts.iter().fold(0i64, |sum, moved| sum.saturating_add(moved.bytes));
    let moved = counted(plan.relayouts.len() as i64, "relayout");
    let how = if on_devices { "to all devices" } else { "read and written" };
    let _ = writeln!(out, "{moved}, {} {how}", counted(bytes, "byte"));
    for relayout in &plan.relayouts {
        reason(&mut out, plan, relayout);
    }
    if plan.kept > 0 {
        let bytes = counted(plan.kept, "byte");
        let _ = match on_devices {
            true => writeln!(out, "{bytes} of each device are kept for what operations bring"),
            false => writeln!(out, "{bytes} of the fastest memory are kept for pieces of values"),
        };
    }
    plan.steps.iter().for_each(|own| steps(&mut out, own, has_places));
    if let Some(own) = &plan.doubt {
        doubt(&mut out, &plan.unit, own);
    }
    if plan.inner {
        let _ =
            writeln!(out, "inner   the judge likes the layouts of all values, and not of arguments and results alone");
    }
    if let Some(judged) = &plan.judged {
        lessons(&mut out, &plan.unit, judged);
    }
    if let Some(given) = &plan.compare {
        compare(&mut out, plan, given);
    }
    out
}

/// Lines about what the plan costs, and what others cost.
fn costs(out: &mut String, plan: &PlanAnswer) {
    let unit = |n: i64| counted(n, &plan.unit);
    let on_devices = !plan.shardings.is_empty();
    let gap = match plan.cost - plan.bound {
        0 if on_devices && plan.kept > 0 => "the least that was found in so little memory".to_string(),
        0 if on_devices => "no plan over the meshes that were tried costs less".to_string(),
        // Which steps an operation may take is tried for some sizes of its pieces.
        0 if !plan.levels.is_empty() && !plan.steps.is_empty() => {
            "no plan of the spreads and steps that were tried costs less".to_string()
        }
        0 => "no plan costs less".to_string(),
        gap => format!("{} above the bound of all plans", unit(gap)),
    };
    let _ = writeln!(out, "cost    {}, {gap}", unit(plan.cost));
    if let Some(own) = &plan.left {
        let _ = writeln!(out, "left    {}", left(own));
    }
    if !plan.schedule.is_file() {
        let _ = writeln!(out, "order   one of least memory, not that of the file");
    }
    if let Some(given) = plan.given {
        let more = given - plan.cost;
        let _ = match more {
            0 => writeln!(out, "given   the layouts of the file cost the same"),
            ..0 => writeln!(
                out,
                "given   the layouts of the file cost {}, {} less, whatever the capacities are",
                unit(given),
                unit(-more)
            ),
            _ => writeln!(out, "given   the layouts of the file cost {}, {} more", unit(given), unit(more)),
        };
    }
}

/// Lines about the use of each memory. Arrays in places have no default layouts.
fn memories(out: &mut String, plan: &PlanAnswer) {
    let bytes = |n: i64| counted(n, "byte");
    let has_places = !plan.levels.is_empty();
    for memory in plan.memories.iter().filter(|_| has_places) {
        let _ = writeln!(
            out,
            "{:7} {} of values in each, {} more than their even share; {} at once, at `{}`",
            memory.name,
            bytes(memory.bytes),
            bytes(memory.padding),
            bytes(memory.peak),
            memory.at
        );
    }
    for memory in plan.memories.iter().filter(|_| !has_places) {
        let (saved, more) = (memory.padding_saved.saturating_abs(), memory.padding_saved < 0);
        let _ = writeln!(
            out,
            "{:7} {} in all, {} of them padding ({} {} than in default layouts); {} at once, at `{}`",
            memory.name,
            bytes(memory.bytes),
            bytes(memory.padding),
            bytes(saved),
            if more { "more" } else { "less" },
            bytes(memory.peak),
            memory.at
        );
    }
}

/// The sentence about the decisions left open.
pub fn left(own: &LeftAnswer) -> String {
    let search = own.search.map(|end| match end {
        SearchEnd::Gap => "the search has ended so near to the bound",
        SearchEnd::Time => "the search has ended with its time",
        SearchEnd::Work => "the search has ended with the work that it may do",
    });
    let relayouts = (own.relayouts > 0).then(|| {
        let all = counted(own.relayouts as i64, "relayout");
        format!("of {all} it is not decided what doing without costs")
    });
    let parts: Vec<String> = search.map(str::to_string).into_iter().chain(relayouts).collect();
    parts.join("; ")
}

/// Lines about arrays that change memory during their life, and their transfers.
fn movements(out: &mut String, plan: &PlanAnswer) {
    let name = |space: u8| {
        let memory = plan.memories.iter().find(|memory| memory.space == space);
        memory.map_or_else(|| format!("space {space}"), |memory| memory.name.clone())
    };
    let mut last = None;
    for stay in &plan.stays {
        let _ = match last == Some(&stay.at) {
            true => write!(out, ","),
            false => write!(out, "{}stay    `{}`", if last.is_some() { "\n" } else { "" }, stay.at),
        };
        let bytes = counted(stay.bytes, "byte");
        let _ = write!(out, " in {} from `{}` to `{}` ({bytes})", name(stay.space), stay.first, stay.last);
        last = Some(&stay.at);
    }
    if last.is_some() {
        out.push('\n');
    }
    for moved in &plan.transfers {
        let wait = match moved.exposed {
            0 => "no kernel waits".to_string(),
            exposed => format!("kernels wait {}", counted(exposed, &plan.unit)),
        };
        let _ = writeln!(
            out,
            "move    `{}` from {} to {}, {}, from before `{}` to before `{}`: {} % of the bandwidth, {wait}",
            moved.at,
            name(moved.from),
            name(moved.to),
            counted(moved.bytes, "byte"),
            moved.start,
            moved.done,
            (moved.share + 9_999) / 10_000,
        );
    }
}

/// Lines about rematerialized values.
fn recomputed(out: &mut String, plan: &PlanAnswer) {
    for own in &plan.recomputed {
        let (bytes, cost) = (counted(own.bytes, "byte"), counted(own.cost, &plan.unit));
        let _ = writeln!(
            out,
            "again   `{}` is made again before `{}`, and takes no memory from after `{}` on ({bytes}): {cost}",
            own.at, own.again, own.last
        );
    }
}

/// The bytes of each level.
fn levels(levels: &[LevelAnswer]) -> String {
    let one = |level: &LevelAnswer| format!("{} {}", level.axis, counted(level.bytes, "byte"));
    levels.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The text `in LAYOUT`, or [`BESIDE`] alone.
fn place(layout: &str) -> String {
    if layout == BESIDE { layout.to_string() } else { format!("in {layout}") }
}

/// Lines about the steps of an operation, its buffers, its traffic and the lower bound.
fn steps(out: &mut String, own: &StepsAnswer, has_places: bool) {
    if let (Some(needs), Some(room)) = (own.needs, own.room) {
        let (needs, room) = (counted(needs, "byte"), counted(room, "byte"));
        let _ = writeln!(out, "`{}` is not cut: its smallest steps need {needs}, and values leave {room}", own.by);
        return;
    }
    let one =
        |own: &StepLoopAnswer| format!("{} of {} along loop {}", counted(own.count, "step"), own.step, own.r#loop);
    let loops = match own.loops[..] {
        [] => "one step".to_string(),
        _ => own.loops.iter().map(one).collect::<Vec<_>>().join(", in each "),
    };
    let _ = writeln!(out, "`{}` runs in {loops}", own.by);
    for array in &own.arrays {
        let whole = array.layout.as_ref().map_or("in pieces".to_string(), |layout| format!("in {layout}"));
        let room = match (array.in_place, array.double) {
            (true, _) => "where it is".to_string(),
            (_, true) => format!("two buffers of {}", counted(array.bytes, "byte")),
            _ => format!("a buffer of {}", counted(array.bytes, "byte")),
        };
        let side = if array.operand.is_some() { "reads" } else { "makes" };
        let _ = writeln!(out, "  {side} `{}` {whole}, {room}: {}", array.at, levels(&array.levels));
    }
    let rule = match (own.rule.as_str(), has_places) {
        ("product", _) => "a product",
        (_, true) => "what lies beside the places",
        (_, false) => "what lies there",
    };
    let _ = writeln!(out, "  moves {}; at least {}, for {rule}", levels(&own.levels), levels(&own.least));
}

/// A line about a relayout: the users that want it, and the cost without it.
fn reason(out: &mut String, plan: &PlanAnswer, relayout: &RelayoutAnswer) {
    let RelayoutAnswer { at, from, to, bytes, cost, wanted_by, without, undecided, levels: moved, collectives } =
        relayout;
    let unit = |n: i64| counted(n, &plan.unit);
    let by = wanted_by.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    let by = if by.is_empty() { "nothing".to_string() } else { by.join(", ") };
    let adds = |own: &super::answer::CollectiveAnswer| own.kind.contains("reduce");
    let _ = writeln!(
        out,
        "  `{at}` is made {}{} and wanted {} by {by}: {}, {}",
        if collectives.iter().any(adds) { "in sums " } else { "" },
        place(from),
        place(to),
        counted(*bytes, "byte"),
        unit(*cost)
    );
    for own in collectives {
        let along = own.along.iter().map(|[extent, stride]| format!("{extent}:{stride}")).collect::<Vec<_>>();
        let along = if along.is_empty() { String::new() } else { format!(" along {}", along.join(", ")) };
        let _ = writeln!(out, "    {}{along}: {} to each device", own.kind, counted(own.bytes, "byte"));
    }
    if !moved.is_empty() {
        if collectives.is_empty() {
            let _ = writeln!(out, "    {}", levels(moved));
        }
        return;
    }
    let _ = match without {
        Some(without) if *without == plan.cost => writeln!(out, "    another plan of the same cost does without it"),
        // A judge may like another plan than that of least cost.
        Some(without) if *without < plan.cost => {
            writeln!(out, "    without it a plan costs {} less", unit(plan.cost - without))
        }
        Some(without) => {
            let found = if *undecided { "that was found " } else { "" };
            writeln!(out, "    without it the best plan {found}costs {} more", unit(without - plan.cost))
        }
        None if *undecided => writeln!(out, "    what the best plan without it costs is not decided"),
        None => writeln!(out, "    no plan does without it"),
    };
}

/// Lines about how far the costs may be off.
fn doubt(out: &mut String, unit: &str, own: &DoubtAnswer) {
    let with = if own.operation == "other" { String::new() } else { format!(" with a {}", own.operation) };
    let default = counted(own.default, unit);
    let _ = writeln!(
        out,
        "doubt   four of five programs{with} cost at most {:.0} % more than planned; in default layouts this costs {default}",
        100.0 * own.off
    );
    if !own.leave.is_empty() {
        let _ = writeln!(out, "leave   {} in default layouts: {}", own.leave.join(", "), counted(own.cost, unit));
    }
}

/// Lines about the judgements.
fn lessons(out: &mut String, unit: &str, judged: &[Judgement]) {
    let _ = writeln!(out, "judged");
    for own in judged {
        let said = match (own.judged, own.found) {
            (Some(cost), Some(found)) => {
                let off = found - own.expected;
                format!("{}: {found:+} where {:+} was expected, {off:+} off", counted(cost, unit), own.expected)
            }
            (Some(cost), None) => counted(cost, unit),
            _ => own.error.clone().unwrap_or_default(),
        };
        let _ = writeln!(out, "  {}: {said}", own.tried);
    }
}

/// The plan beside the layouts of the file.
fn compare(out: &mut String, plan: &PlanAnswer, given: &PlanAnswer) {
    let bytes = |plan: &PlanAnswer| plan.relayouts.iter().fold(0i64, |sum, moved| sum.saturating_add(moved.bytes));
    let held = |plan: &PlanAnswer| plan.memories.iter().fold(0i64, |sum, memory| sum.saturating_add(memory.bytes));
    let padding = |plan: &PlanAnswer| plan.memories.iter().fold(0i64, |sum, memory| sum.saturating_add(memory.padding));
    let peak = |plan: &PlanAnswer| plan.memories.iter().map(|memory| memory.peak).fold(0i64, i64::saturating_add);
    let mut rows: Vec<(String, i64, i64)> = vec![
        (format!("cost in {}s", plan.unit), plan.cost, given.cost),
        ("relayouts".to_string(), plan.relayouts.len() as i64, given.relayouts.len() as i64),
        ("bytes of relayouts".to_string(), bytes(plan), bytes(given)),
        ("bytes of values".to_string(), held(plan), held(given)),
        ("bytes of padding".to_string(), padding(plan), padding(given)),
        ("bytes at the peaks".to_string(), peak(plan), peak(given)),
    ];
    if plan.work > 0 {
        rows.insert(1, (format!("{}s of work", plan.unit), plan.work, given.work));
    }
    for (level, other) in plan.levels.iter().zip(&given.levels) {
        rows.push((format!("bytes to each {}", level.axis), level.bytes, other.bytes));
    }
    let _ = writeln!(out, "{:22} {:>16} {:>16}", "", "plan", "file");
    for (what, ours, theirs) in rows {
        let _ = writeln!(out, "{what:22} {ours:>16} {theirs:>16}");
    }
    let alike = plan.values.iter().filter(|(name, own)| given.values.get(*name) == Some(*own)).count();
    let _ = writeln!(out, "{alike} of {} have the same layouts in both", counted(plan.values.len() as i64, "value"));
    for (title, of, other) in [("plan", plan, given), ("file", given, plan)] {
        for moved in
            of.relayouts.iter().filter(|moved| !other.relayouts.iter().any(|o| o.at == moved.at && o.to == moved.to))
        {
            let _ = writeln!(
                out,
                "  only in the {title}: `{}` {} to {}, {}",
                moved.at,
                moved.from,
                moved.to,
                counted(moved.bytes, "byte")
            );
        }
    }
}
