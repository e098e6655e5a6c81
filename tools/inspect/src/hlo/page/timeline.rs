//! The live bytes of a memory over the entry's instructions, in layers by their origin.
//!
//! A step is a run of instructions, represented by the one with most live bytes. The layers of a step add up to the
//! live bytes of that instruction: arguments, outputs and constants, which are always live, and the temporaries by
//! source line, including those of the computations that the instruction runs.

use super::cut;
use super::palette::{self, OTHER, Palette, WHOLE};
use crate::hlo::measure::Report;
use crate::hlo::screen::bytes;
use crate::hlo::summary::space_name;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use tensor_layout::text::counted;

/// The most steps.
const STEPS: usize = 200;

/// The size of the chart, in units of its own.
pub const WIDTH: usize = 1000;
pub const HEIGHT: f64 = 240.0;

/// The layers of a memory, and the chart of them.
#[derive(Serialize)]
pub struct Timeline {
    pub name: String,
    pub space: u8,
    /// The most live bytes.
    pub most: i64,
    /// The number of instructions.
    pub instructions: usize,
    pub steps: Vec<TimelineStep>,
    pub layers: Vec<Layer>,
    /// The step of the peak.
    pub at: usize,
    /// The data of the script, as JSON: the text of each step, the bytes of each layer, and the instruction.
    pub readings: String,
}

/// A run of instructions, represented by the first with most live bytes.
#[derive(Serialize)]
pub struct TimelineStep {
    pub instruction: String,
    /// The position in the entry, from 0.
    pub position: usize,
    pub live: i64,
}

/// The bytes of one origin.
#[derive(Serialize)]
pub struct Layer {
    pub name: String,
    pub colour: usize,
    /// The bytes at each step.
    #[serde(skip)]
    pub live: Vec<i64>,
    pub at_peak: i64,
    /// The outline of the layer in the chart.
    pub path: String,
}

impl Timeline {
    /// The timeline of a memory; `None` where it is always empty.
    pub fn of(report: &Report, space: u8, palette: &mut Palette) -> Option<Timeline> {
        let (module, used) = (report.module(), report.used());
        let live = used.timeline(space)?;
        let most = live.iter().copied().max().filter(|most| *most > 0)?;
        let in_a_step = live.len().div_ceil(STEPS);
        let told = |(number, part): (usize, &[i64])| {
            let first = part.iter().enumerate().fold(0, |most, (k, bytes)| if *bytes > part[most] { k } else { most });
            let position = number * in_a_step + first;
            let instruction = module.computations[module.entry].instructions[position].name.clone();
            TimelineStep { instruction, position, live: part[first] }
        };
        let steps: Vec<TimelineStep> = live.chunks(in_a_step).enumerate().map(told).collect();
        let at = steps.iter().position(|step| step.live == most).unwrap_or(0);
        let mut layers = layers(report, space, &steps, palette);
        draw(&mut layers, most);
        layers.iter_mut().for_each(|layer| layer.at_peak = layer.live[at]);
        let readings = readings(&steps, &layers);
        Some(Timeline { name: space_name(space), space, most, instructions: live.len(), steps, layers, at, readings })
    }
}

/// The layers from below: what is live for the whole run, then the lines of a colour, those with most first, then all
/// others together.
fn layers(report: &Report, space: u8, steps: &[TimelineStep], palette: &mut Palette) -> Vec<Layer> {
    let own = &report.used().spaces[&space];
    let layer =
        |name: &str, colour, live| Layer { name: name.to_string(), colour, live, at_peak: 0, path: String::new() };
    let whole = [own.arguments, own.outputs, own.constants].map(|bytes| bytes.padded);
    let whole = WHOLE.iter().zip(whole).enumerate().filter(|(_, (_, bytes))| *bytes > 0);
    let whole = whole.map(|(colour, (name, bytes))| layer(name, colour, vec![bytes; steps.len()]));
    let mut found: Vec<Layer> = whole.collect();
    let mut lines = lines(report, space, steps);
    lines.sort_by_key(|(_, live)| std::cmp::Reverse(live.iter().copied().max()));
    let mut others = Vec::new();
    for (name, live) in lines {
        match palette.add(&name) {
            OTHER => others.push(live),
            colour => found.push(layer(&name, colour, live)),
        }
    }
    if !others.is_empty() {
        let sum = |step: usize| others.iter().map(|live| live[step]).sum();
        found.push(layer(&counted(others.len(), "other line"), OTHER, (0..steps.len()).map(sum).collect()));
    }
    found
}

/// The bytes of the temporaries at each step, by their lines, in the order of these.
fn lines(report: &Report, space: u8, steps: &[TimelineStep]) -> Vec<(String, Vec<i64>)> {
    let (module, used) = (report.module(), report.used());
    let (mut lines, mut known, mut live) = (BTreeMap::new(), HashMap::new(), Vec::<Vec<i64>>::new());
    for (number, step) in steps.iter().enumerate() {
        for moment in used.running(module, space, step.position) {
            for buffer in used.live_at(&moment, space) {
                let place @ (computation, k) = (moment.computation, buffer.made.0);
                let line = *known.entry(place).or_insert_with(|| {
                    let made = &module.computations[computation].instructions[k];
                    let line = palette::line(&report.origins().get(made, place));
                    *lines.entry(line).or_insert_with(|| {
                        live.push(vec![0; steps.len()]);
                        live.len() - 1
                    })
                });
                // The sum of live bytes fits in 64 bits.
                live[line][number] += buffer.footprint.padded;
            }
        }
    }
    lines.into_iter().map(|(name, line)| (name, std::mem::take(&mut live[line]))).collect()
}

/// Draws the layers on top of each other.
fn draw(layers: &mut [Layer], most: i64) {
    let y = |live: i64| HEIGHT * (1.0 - live as f64 / most as f64);
    let mut below = vec![0; layers.first().map_or(0, |layer| layer.live.len())];
    for layer in layers {
        let above: Vec<i64> = below.iter().zip(&layer.live).map(|(below, own)| below + own).collect();
        let x = |step: usize| step * WIDTH / above.len();
        let path = &mut layer.path;
        let mut pen = f64::NAN;
        // A step as high as the last one needs no point.
        let mut side = |path: &mut String, step: usize, live: i64, begin: char| {
            if y(live) != pen {
                let _ =
                    write!(path, "{begin}{} {:.1}V{:.1}", x(step), if pen.is_nan() { y(live) } else { pen }, y(live));
                pen = y(live);
            }
        };
        above.iter().enumerate().for_each(|(step, live)| side(path, step, *live, if step == 0 { 'M' } else { 'L' }));
        let _ = write!(path, "H{WIDTH}");
        below.iter().enumerate().rev().for_each(|(step, live)| side(path, step + 1, *live, 'L'));
        path.push_str("H0Z");
        below = above;
    }
}

/// The text of each step, the bytes of each layer, and the instruction, as JSON.
fn readings(steps: &[TimelineStep], layers: &[Layer]) -> String {
    let reading = |(number, step): (usize, &TimelineStep)| {
        let text = format!("{}, instruction {}: {}", cut(&step.instruction), step.position, bytes(step.live));
        let parts: Vec<String> = layers.iter().map(|layer| bytes(layer.live[number])).collect();
        serde_json::json!([text, parts, step.position])
    };
    serde_json::Value::Array(steps.iter().enumerate().map(reading).collect()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor_layout::hlo::Module;
    use tensor_layout::targets::Target;

    /// Checks that the layers of each step add up to the live bytes of its instruction, and that no other of the step
    /// has more. Returns the number of steps.
    fn check(text: &str, name: &str) -> usize {
        let module = Module::parse(text).unwrap();
        let target = Target::parse("tpu_v5e").unwrap();
        let report = Report::new(&module, &target).unwrap();
        let (used, mut palette) = (report.used(), Palette::default());
        let mut checked = 0;
        for (space, own) in &used.spaces {
            let Some(found) = Timeline::of(&report, *space, &mut palette) else { continue };
            let live = used.timeline(*space).unwrap();
            assert_eq!((found.most, found.steps[found.at].live), (own.peak, own.peak), "{name}");
            assert!(found.steps.len() <= STEPS && found.layers.len() <= OTHER + 1, "{name}");
            for (number, step) in found.steps.iter().enumerate() {
                let sum: i64 = found.layers.iter().map(|layer| layer.live[number]).sum();
                assert_eq!((step.live, sum), (live[step.position], live[step.position]), "{name} {number}");
            }
            let in_a_step = live.len().div_ceil(STEPS);
            for (k, bytes) in live.iter().enumerate() {
                assert!(*bytes <= found.steps[k / in_a_step].live, "{name} {k}");
            }
            checked += found.steps.len();
        }
        checked
    }

    #[test]
    fn layers_add_up_to_what_is_live() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/hlo");
        let mut checked = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "hlo") {
                checked += check(&std::fs::read_to_string(&path).unwrap(), &path.to_string_lossy());
            }
        }
        assert!(checked > 400, "{checked}");
    }

    /// A program with more instructions than steps and more lines than layers, where some instructions run others.
    #[test]
    fn a_long_program_has_few_steps_and_layers() {
        let mut text = "HloModule long\ninside {\n  p = f32[9]{0} parameter(0)\n".to_string();
        let made = "custom_call_target=\"f\", metadata={source_file=\"g.py\" source_line=1}";
        text += &format!(
            "  t = f32[5000]{{0}} custom-call(p), {made}\n  ROOT u = f32[9]{{0}} custom-call(t), {made}\n}}\n"
        );
        text += "ENTRY main {\n  i0 = f32[9]{0} parameter(0)\n";
        for k in 1..1001 {
            let source = format!("metadata={{source_file=\"f.py\" source_line={}}}", k % 20);
            text += &match k % 50 {
                0 => format!("  i{k} = f32[9]{{0}} call(i{}), to_apply=inside, {source}\n", k - 1),
                49 => format!("  i{k} = f32[9]{{0}} custom-call(i{}), custom_call_target=\"f\", {source}\n", k - 1),
                n => format!(
                    "  i{k} = f32[{}]{{0}} custom-call(i{}), custom_call_target=\"f\", {source}\n",
                    n * n * 7 % 97 + 1,
                    k - 1
                ),
            };
        }
        text += "  ROOT y = f32[9]{0} negate(i1000)\n}\n";
        assert_eq!(check(&text, "long"), 167);
        let module = Module::parse(&text).unwrap();
        let target = Target::parse("tpu_v5e").unwrap();
        let report = Report::new(&module, &target).unwrap();
        let found = Timeline::of(&report, 0, &mut Palette::default()).unwrap();
        let names: Vec<&str> = found.layers.iter().map(|layer| &*layer.name).collect();
        assert_eq!(
            (names[0], names[1], names[2], *names.last().unwrap()),
            ("arguments", "outputs", "g.py:1", "14 other lines")
        );
    }

    #[test]
    fn the_outline_of_layers() {
        let layer = |live: &[i64]| Layer {
            name: String::new(),
            colour: 0,
            live: live.to_vec(),
            at_peak: 0,
            path: String::new(),
        };
        let mut layers = [layer(&[1, 1]), layer(&[0, 3])];
        draw(&mut layers, 4);
        let [below, above] = layers.map(|layer| layer.path);
        assert_eq!(below, "M0 180.0V180.0H1000L1000 180.0V240.0H0Z");
        assert_eq!(above, "M0 180.0V180.0L500 180.0V0.0H1000L1000 0.0V180.0H0Z");
    }
}
