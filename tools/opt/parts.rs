//! Completions inside `#layout.tensor_layout<`.
//!
//! After `tensor<12x8xf32, #layout.tensor_layout<((4_PE, ` dimension 0 has 3 of its 12 elements left, so a part of 3 or
//! of an axis with 3 places may come: `3:8`, `3_L1B`. A proposal is a token, or a whole layout where none has begun.
//!
//! Each proposal is tested first: the missing rest is added, the smaller dimensions first or last in memory, and the
//! whole must be a layout of the sizes. So any sequence of accepted proposals ends with a layout that the dialect
//! accepts. Without sizes, or with dynamic ones, only axes are known.

use crate::written::{self, ATTRIBUTE, Shape};
use tensor_layout::numbers::ceil_div;
use tensor_layout::places::{Machine, Placement, READY, TensorLayout};

/// The most proposed parts of a size: 360 has 24 divisors.
const MOST_DIVISORS: usize = 16;

/// The most parts of a layout with proposals.
const MOST_PARTS: usize = 64;

/// The name of an axis, and the number of its places.
pub type Axis = (String, i64);

/// The axes of the first machine in a text, or of all ready machines where it names none.
pub fn axes(text: &str) -> Vec<Axis> {
    let own = text.find("#layout.machine<").and_then(|at| {
        let written = &text[at..at + written::length(&text[at..])?];
        Machine::parse(written.strip_prefix(ATTRIBUTE)?.strip_prefix("machine<")?.strip_suffix('>')?).ok()
    });
    let machines = match own {
        Some(machine) => vec![machine],
        None => READY.iter().filter_map(|(name, _)| Machine::parse(name).ok()).collect(),
    };
    let mut axes: Vec<Axis> = Vec::new();
    for axis in machines.iter().flat_map(|machine| &machine.axes) {
        if !axes.iter().any(|(name, _)| *name == axis.name) {
            axes.push((axis.name.clone(), axis.extent));
        }
    }
    axes
}

/// The token at the end of the typed text, and its replacements, each with a description.
pub fn proposals<'a>(typed: &'a str, shape: Option<&Shape>, axes: &[Axis]) -> (&'a str, Vec<(String, String)>) {
    let sizes = shape.and_then(|shape| shape.sizes.iter().copied().collect::<Option<Vec<i64>>>());
    let (prefix, body) = match typed.split_once('/') {
        Some((prefix, body)) => (Some(prefix), body.trim_start()),
        None => (None, typed),
    };
    if body.trim_start().len() < 2 {
        let mut all = sizes.map_or(Vec::new(), |sizes| whole(&sizes, axes, prefix.is_some()));
        all.retain(|(text, _)| text.starts_with(body));
        return (body, all);
    }
    let start = typed.len() - body.len();
    let Some(open) = Open::read(body) else { return ("", Vec::new()) };
    let token = &typed[typed.len() - open.token.len()..];
    let mut found: Vec<(String, String)> = Vec::new();
    for (text, detail) in open.candidates(sizes.as_deref(), axes, prefix.is_some()) {
        let known = found.iter().any(|(known, _)| *known == text);
        if !known && text.starts_with(token) && found.len() < 4 * MOST_PARTS {
            let before = &typed[..typed.len() - token.len()];
            let whole = format!("{before}{text}");
            if sizes.as_ref().is_none_or(|sizes| is_completed(&whole, start, sizes)) {
                found.push((text, detail));
            }
        }
    }
    (token, found)
}

/// An unfinished layout: the extents of the parts of each dimension, and the open end.
struct Open<'a> {
    /// The extents of finished parts, by dimension.
    dims: Vec<Vec<i64>>,
    /// The open bracket: the last dimension, the list of dimensions (after a `)`), or the list of broadcasts.
    level: Level,
    /// The unfinished part or name.
    token: &'a str,
    /// The address after the last element so far: the stride of the next part along the address.
    reach: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Dimension,
    Dimensions,
    Broadcast,
}

impl<'a> Open<'a> {
    /// Reads the text after the prefix; `None` where no layout begins so.
    fn read(body: &'a str) -> Option<Open<'a>> {
        let (dims, broadcast) = body.split_once(';').map_or((body, None), |(dims, rest)| (dims, Some(rest)));
        let mut open = Open { dims: Vec::new(), level: Level::Dimensions, token: "", reach: 1 };
        let inner = dims.trim_start().strip_prefix('(')?;
        let mut from = 0;
        for (at, c) in inner.char_indices() {
            match c {
                '(' if open.level == Level::Dimensions => {
                    open.dims.push(Vec::new());
                    (open.level, from) = (Level::Dimension, at + 1);
                }
                ',' | ')' if open.level == Level::Dimension => {
                    let part = inner[from..at].trim();
                    if !part.is_empty() {
                        open.take(part)?;
                    }
                    from = at + 1;
                    open.level = if c == ')' { Level::Dimensions } else { Level::Dimension };
                }
                ',' | ' ' if open.level == Level::Dimensions => from = at + 1,
                _ if open.level == Level::Dimension => {}
                _ => return None,
            }
            if open.dims.iter().map(Vec::len).sum::<usize>() > MOST_PARTS {
                return None;
            }
        }
        open.token = inner[from..].trim_start();
        if let Some(rest) = broadcast {
            let (before, inside) =
                rest.split_once("B@[").map_or((rest, None), |(before, inside)| (before, Some(inside)));
            (open.level, open.token) = match inside {
                Some(inside) => (Level::Broadcast, inside.rsplit(',').next().unwrap_or_default().trim_start()),
                None => (Level::Dimensions, before.trim_start()),
            };
        }
        Some(open)
    }

    /// Adds a finished part: `4_PE`, `3:8`.
    fn take(&mut self, part: &str) -> Option<()> {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let extent: i64 = part[..digits].parse().ok().filter(|extent| *extent > 0)?;
        if let Some(stride) = part[digits..].strip_prefix(':') {
            let stride: i64 = stride.trim().parse().ok()?;
            self.reach = self.reach.checked_add((extent - 1).checked_mul(stride)?)?;
        }
        self.dims.last_mut()?.push(extent);
        Some(())
    }

    /// All texts that the grammar allows here.
    fn candidates(&self, sizes: Option<&[i64]>, axes: &[Axis], padded: bool) -> Vec<(String, String)> {
        let plain = |text: &str, detail: &str| (text.to_string(), detail.to_string());
        match self.level {
            Level::Broadcast => {
                let name =
                    |(name, extent): &Axis| (name.clone(), format!("a copy at each of the {extent} places of {name}"));
                let mut all: Vec<_> = axes.iter().map(name).collect();
                if !self.token.is_empty() {
                    all.push((format!("{}])", self.token), "the end of the layout".into()));
                }
                all
            }
            Level::Dimensions if self.token.is_empty() => {
                let mut all = vec![plain(")", "the end of the layout"), plain("; B@[", "where there are copies")];
                if sizes.is_none_or(|sizes| self.dims.len() < sizes.len()) {
                    all.insert(0, plain(if self.dims.is_empty() { "(" } else { ", (" }, "the next dimension"));
                }
                all
            }
            Level::Dimensions => vec![plain("B@[", "where there are copies")],
            Level::Dimension => self.parts(sizes, axes, padded),
        }
    }

    /// The next parts of the last dimension, or the ends of an unfinished one.
    fn parts(&self, sizes: Option<&[i64]>, axes: &[Axis], padded: bool) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let dim = self.dims.len() - 1;
        let done: i64 = self.dims[dim].iter().product();
        let left = sizes.and_then(|sizes| Some(ceil_div(*sizes.get(dim)?, done)));
        if left == Some(1) && self.token.is_empty() {
            all.push((")".to_string(), "the end of the dimension".to_string()));
        }
        let is_axis = |name: &str| axes.iter().any(|(axis, _)| axis == name);
        let place = self.token.split(':').next().unwrap_or_default();
        let is_part = place.split_once('_').map_or(self.token.contains(':'), |(_, name)| is_axis(name));
        if is_part && !self.token.ends_with(':') {
            all.push((format!("{})", self.token), "the end of the dimension".into()));
            all.push((format!("{}, ", self.token), "the next part of the dimension".into()));
        }
        for (name, extent) in axes {
            let most = left.map_or(*extent, |left| if padded { *extent } else { divisor(*extent, left) });
            for places in [most, *extent] {
                if places > 1 {
                    all.push((format!("{places}_{name}"), format!("over {places} of the {extent} places of {name}")));
                }
            }
        }
        let Some((left, sizes)) = left.zip(sizes) else { return all };
        let divisors = (1..=left.min(1 << 16)).rev().filter(|n| left % n == 0);
        for extent in [left].into_iter().chain(divisors).take(MOST_DIVISORS) {
            let behind = sizes[dim + 1..].iter().try_fold(left / extent, |n, size| n.checked_mul(*size));
            for stride in behind.into_iter().chain([self.reach]) {
                all.push((format!("{extent}:{stride}"), format!("{extent} elements, {stride} apart in memory")));
            }
        }
        all
    }
}

/// The greatest divisor of both.
fn divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Whether the text, with its missing rest, is a layout of these sizes: the rest of each dimension is in the local
/// memory. The prefix ends at `start`.
fn is_completed(text: &str, start: usize, sizes: &[i64]) -> bool {
    let fits = |text: &str| TensorLayout::parse(text).is_ok_and(|layout| Placement::new(&layout, Some(sizes)).is_ok());
    [true, false]
        .into_iter()
        .any(|row_major| completed(text, start, sizes, row_major).is_some_and(|whole| fits(&whole)))
}

/// The layout with its missing rest.
fn completed(text: &str, start: usize, sizes: &[i64], row_major: bool) -> Option<String> {
    let mut whole = text.trim_end().to_string();
    let body = &text[start..];
    if body.trim_end().ends_with(')') && TensorLayout::parse(text).is_ok() {
        return Some(whole);
    }
    if body.contains(';') {
        let axis = "ANY";
        let end = match body.split_once("B@[") {
            None if body.trim_end().ends_with(';') => format!(" B@[{axis}])"),
            None => return None,
            Some((_, inside)) if inside.trim().is_empty() || inside.trim_end().ends_with(',') => format!("{axis}])"),
            Some((_, inside)) if inside.contains(']') => String::new(),
            Some(_) => "])".to_string(),
        };
        return Some(whole + &end);
    }
    let open = Open::read(body)?;
    let mut reach = open.reach;
    let mut dims = open.dims.clone();
    if open.level == Level::Dimension {
        // The unfinished part counts as finished, so that its extent is known.
        let mut last = Open { dims: vec![Vec::new()], level: Level::Dimension, token: "", reach };
        if !open.token.is_empty() {
            last.take(open.token)?;
            dims.last_mut()?.extend(&last.dims[0]);
            reach = last.reach;
        }
        let (dim, done) = (dims.len() - 1, dims.last()?.iter().product::<i64>());
        let left = ceil_div(*sizes.get(dim)?, done);
        if left > 1 {
            let stride = if row_major { sizes[dim + 1..].iter().product() } else { reach };
            reach = reach.checked_add((left - 1).checked_mul(stride)?)?;
            whole += &format!("{}{left}:{stride}", if whole.ends_with([',', '(']) { "" } else { ", " });
        } else if whole.ends_with(',') {
            return None;
        }
        whole.push(')');
    }
    for dim in dims.len()..sizes.len() {
        let stride = if row_major { sizes[dim + 1..].iter().product() } else { reach };
        reach = reach.checked_add((sizes[dim] - 1).checked_mul(stride)?)?;
        let comma = if whole.ends_with([',', '(']) { "" } else { ", " };
        whole += &format!("{comma}({}:{stride})", sizes[dim]);
    }
    Some(whole + ")")
}

/// Whole layouts: in one memory, and with a dimension over an axis, padded where the places do not divide it.
fn whole(sizes: &[i64], axes: &[Axis], padded: bool) -> Vec<(String, String)> {
    let strides = |sizes: &[i64]| -> Option<Vec<i64>> {
        let behind = |dim: usize| sizes[dim + 1..].iter().try_fold(1i64, |n, size| n.checked_mul(*size));
        (0..sizes.len()).map(behind).collect()
    };
    let mut all = Vec::new();
    let mut add = |text: String, detail: String| {
        let fits = TensorLayout::parse(&text).is_ok_and(|layout| Placement::new(&layout, Some(sizes)).is_ok());
        if fits && !padded {
            all.push((text, detail));
        } else if let Some((_, body)) = text.split_once('/').filter(|_| fits) {
            all.push((body.to_string(), detail));
        }
    };
    let prefix = sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    if let Some(strides) = strides(sizes) {
        let dims: Vec<String> = sizes.iter().zip(&strides).map(|(size, stride)| format!("({size}:{stride})")).collect();
        add(format!("({})", dims.join(", ")), "in one memory".into());
    }
    for (name, extent) in axes {
        for (cut, size) in sizes.iter().enumerate() {
            let mut local = sizes.to_vec();
            local[cut] = ceil_div(*size, *extent);
            let Some(strides) = strides(&local) else { continue };
            let dim = |dim: usize| {
                let rest = format!("{}:{}", local[dim], strides[dim]);
                if dim == cut { format!("({extent}_{name}, {rest})") } else { format!("({rest})") }
            };
            let body = format!("({})", (0..sizes.len()).map(dim).collect::<Vec<_>>().join(", "));
            let exact = size % extent == 0 && !padded;
            let text = if exact { body } else { format!("({prefix})/{body}") };
            let padding = if size % extent == 0 { "" } else { ", with padding" };
            add(text, format!("dimension {cut} over {name}{padding}"));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sizes: &[i64]) -> Shape {
        Shape { sizes: sizes.iter().map(|size| Some(*size)).collect(), element: None }
    }

    fn labels(typed: &str, sizes: &[i64]) -> Vec<String> {
        let (_, all) = proposals(typed, Some(&shape(sizes)), &axes("#layout.machine<mn_core>"));
        all.into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn axes_are_those_of_the_machine() {
        let names = |text| axes(text).into_iter().map(|(name, n)| format!("{n}_{name}")).collect::<Vec<_>>().join(" ");
        assert_eq!(names("module attributes {layout.machine = #layout.machine<mn_core>}"), "16_L2B 8_L1B 16_MAB 4_PE");
        let text = "#layout.machine<axes: (4_X, 2_Y), memories: (m: 0 at Y with 64 bytes), word: 8>";
        assert_eq!(names(text), "4_X 2_Y");
        assert!(names("").contains("4_PE"));
    }

    #[test]
    fn what_the_grammar_allows_next() {
        assert_eq!(labels("", &[12, 8])[0], "((12:8), (8:1))");
        assert!(labels("", &[12, 8]).contains(&"((4_PE, 3:8), (8:1))".into()));
        assert!(labels("", &[10, 7]).contains(&"(10,7)/((4_PE, 3:7), (7:1))".into()));
        assert!(labels("(10,7)/", &[10, 7]).contains(&"((4_PE, 3:7), (7:1))".into()));
        let parts = labels("((4_PE, ", &[12, 8]);
        assert!(parts.contains(&"3:8".into()) && !parts.iter().any(|part| part.starts_with("12:")), "{parts:?}");
        assert_eq!(labels("((4_P", &[12, 8]), ["4_PE"]);
        assert_eq!(labels("((4_PE, 3:8), (8:1", &[12, 8])[0], "8:1)");
        assert_eq!(labels("((4_PE, 3:8), (8:1)", &[12, 8]), [")", "; B@["]);
        // Elements are already spread over PE.
        let copies = labels("((4_PE, 3:8), (8:1); B@[", &[12, 8]);
        assert_eq!(copies, ["L2B", "L1B", "MAB"]);
        assert_eq!(labels("((4_PE, 3:8), (8:1); B@[MAB", &[12, 8]), ["MAB", "MAB])"]);
        // In the other order.
        assert!(labels("((12:1), (", &[12, 8]).contains(&"8:12".into()));
        assert_eq!(labels("x", &[12, 8]), Vec::<String>::new());
        assert_eq!(labels("((4_PE, x), (", &[12, 8]), Vec::<String>::new());
        let (_, open) = proposals("((4_P", None, &axes("#layout.machine<mn_core>"));
        assert_eq!(open.iter().map(|(text, _)| &**text).collect::<Vec<_>>(), ["4_PE"]);
    }

    /// Any sequence of accepted proposals ends with a layout of the sizes.
    #[test]
    fn proposals_lead_to_a_layout() {
        let axes = axes("#layout.machine<mn_core>");
        let mut seed = 1u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        for sizes in [&[12, 8][..], &[64], &[2, 3, 4], &[1, 5], &[16, 128]] {
            for round in 0..30 {
                // Here the layout is written part by part; whole layouts are tested below.
                let mut typed = "((".to_string();
                for step in 0.. {
                    assert!(step < 100, "{typed}");
                    let (token, all) = proposals(&typed, Some(&shape(sizes)), &axes);
                    // A proposal may equal the token, as at the end of the layout.
                    let other: Vec<_> = all.iter().filter(|(text, _)| text != token).collect();
                    if other.is_empty() {
                        break;
                    }
                    let (text, _) = other[random(other.len())];
                    typed.truncate(typed.len() - token.len());
                    typed += text;
                    if typed.ends_with(')') && TensorLayout::parse(&typed).is_ok() {
                        break;
                    }
                }
                let layout =
                    TensorLayout::parse(&typed).unwrap_or_else(|error| panic!("{sizes:?} {round} {typed}: {error}"));
                assert!(Placement::new(&layout, Some(sizes)).is_ok(), "{sizes:?} {typed}");
            }
            for (text, _) in whole(sizes, &axes, false) {
                assert!(Placement::new(&TensorLayout::parse(&text).unwrap(), Some(sizes)).is_ok(), "{text}");
            }
        }
    }
}
