//! Completions inside an attribute of the dialect.
//!
//! MLIR's parser completes only its own syntax, and the dialect parses its attributes with notations itself: under
//! `#layout.` MLIR knows `axis` and `pending`. So the names of all attributes are proposed, and inside brackets the
//! texts that begin with the typed one: memory spaces, machines with names, and tiled layouts. After
//! `tensor<1024x129xf32, #layout.tiled<` the proposals are the targets' layouts for these sizes, the least padded
//! first, then each order without tiles, and each in the named memory spaces. A dynamic size fits every order and
//! no tiles of a target. After `E(` the proposals are the bits of an element, and inside
//! `#layout.tensor_layout<` they come from [`crate::parts`].

use crate::documents::Positions;
use crate::parts;
use crate::written::{self, Shape};
use serde_json::{Value, json};
use std::fmt::Write as _;
use tensor_layout::element::ElementType;
use tensor_layout::places::READY;
use tensor_layout::targets::Target;
use tensor_layout::tiled::{Layout, memory_space};

/// The attributes: name and description.
const ATTRIBUTES: [(&str, &str); 8] = [
    ("tiled", "a tiled layout in XLA's notation: <{1,0:T(8,128)}>"),
    ("tensor_layout", "a layout over a tree of memories: <((4_PE, 3:8), (8:1))>"),
    ("swizzled", "a layout whose addresses are swizzled: <Sw<3,3,3> o {1,0}>"),
    ("machine", "the axes and memories of a machine: <tpu_v5e>"),
    ("axis", "the axis of a machine that a parallel loop runs over: <\"PE\", level = 1>"),
    ("memory_space", "a memory space by its name: <vmem>"),
    ("pending", "a tensor's layout during bufferization: <#layout.tiled<{1,0}>>"),
    ("indexing_map", "an affine map with its domain: <(d0) -> (d0), domain: d0 in [0, 9]>"),
];

/// The most dimensions of tensors with proposed layouts. A target has 24 orders of 4 dimensions, and for `n` more than
/// 4 the `n * (n - 1)` pairs of the two most minor: 132 for 12.
const MAX_RANK: usize = 12;

/// LSP's `CompletionItemKind.Value` and `CompletionItemKind.Property`.
const VALUE: u8 = 12;
const PROPERTY: u8 = 10;

/// A text for the cursor, and its description.
struct Proposal {
    text: String,
    detail: String,
}

/// The completions at an offset.
pub fn complete(text: &str, offset: usize) -> Vec<Value> {
    let Some(typed) = written::open_attribute(text, offset) else { return Vec::new() };
    let (start, kind, proposals) = match typed.split_once('<') {
        None => (offset - typed.len(), PROPERTY, named(ATTRIBUTES.into_iter())),
        Some((name, inner)) => {
            let inner = inner.trim_start();
            let start = offset - inner.len();
            match name.trim_end() {
                "memory_space" => (start, VALUE, memory_spaces()),
                "machine" => (start, VALUE, named(READY.into_iter())),
                "tensor_layout" => {
                    let shape = written::shape_before(text, offset - typed.len());
                    let (token, all) = parts::proposals(inner, shape.as_ref(), &parts::axes(text));
                    (offset - token.len(), VALUE, named(all.iter().map(|(text, detail)| (&**text, &**detail))))
                }
                "tiled" => {
                    let shape = written::shape_before(text, offset - typed.len());
                    if let Some(digits) = number_behind("S(", inner) {
                        (offset - digits.len(), VALUE, space_numbers())
                    } else if let Some(digits) = number_behind("E(", inner) {
                        (offset - digits.len(), VALUE, element_bits(&inner[..inner.len() - digits.len()], shape))
                    } else {
                        (start, VALUE, layouts(shape, inner))
                    }
                }
                _ => return Vec::new(),
            }
        }
    };
    // An editor that closes brackets has already put one after the cursor, and a layout ends with its own.
    let closed = proposals.iter().any(|proposal| proposal.text.ends_with('}')) && text[offset..].starts_with('}');
    let range = Positions::new(text).range(start, offset + usize::from(closed));
    let fits = proposals.into_iter().filter(|proposal| proposal.text.starts_with(&text[start..offset]));
    let item = |(at, proposal): (usize, Proposal)| {
        json!({
            "label": proposal.text, "kind": kind, "detail": proposal.detail, "sortText": format!("{at:04}"),
            "insertTextFormat": 1, "textEdit": {"range": range, "newText": proposal.text},
        })
    };
    fits.enumerate().map(item).collect()
}

fn named<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Proposal> {
    all.map(|(name, detail)| Proposal { text: name.into(), detail: detail.into() }).collect()
}

fn memory_spaces() -> Vec<Proposal> {
    let own = Proposal { text: "device".into(), detail: format!("device n, n in 0 to {}", memory_space::MAX) };
    let named = memory_space::NAMED.into_iter();
    named.map(|(name, n)| Proposal { text: name.into(), detail: format!("memory space {n}") }).chain([own]).collect()
}

/// The digits after `S(` or `E(`, where the cursor is there.
fn number_behind<'a>(bracket: &str, inner: &'a str) -> Option<&'a str> {
    let digits = inner.rsplit_once(bracket)?.1;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)
}

/// The possible bits of an element of a shape: those of its type, and more, up to 128.
fn element_bits(before: &str, shape: Option<Shape>) -> Vec<Proposal> {
    let own = shape.as_ref().and_then(|shape| shape.element?.bits()).unwrap_or(1);
    let sizes = shape.and_then(|shape| shape.sizes.into_iter().collect::<Option<Vec<i64>>>());
    let proposal = |bits: i64| {
        let layout = Layout::parse(&format!("{before}{bits})}}")).ok()?;
        let taken = sizes.as_ref().and_then(|sizes| written::padding(sizes, &layout, own));
        Some(Proposal { text: bits.to_string(), detail: taken.unwrap_or_else(|| format!("{bits} bits")) })
    };
    (0..8).map(|k| 1 << k).filter(|bits| *bits >= own).filter_map(proposal).collect()
}

fn space_numbers() -> Vec<Proposal> {
    memory_space::NAMED.map(|(name, n)| Proposal { text: n.to_string(), detail: name.into() }).into()
}

/// Tiled layouts that fit a shape, or a few of each low rank where there is none.
fn layouts(shape: Option<Shape>, typed: &str) -> Vec<Proposal> {
    let mut all: Vec<Proposal> = Vec::new();
    let mut add = |layout: &Layout, detail: String| {
        let text = layout.to_string();
        if !all.iter().any(|known| known.text == text) {
            all.push(Proposal { text, detail });
        }
    };
    let ranks = match &shape {
        Some(shape) => vec![shape.sizes.len()],
        None => vec![2, 1, 3, 4],
    };
    for rank in ranks.into_iter().filter(|rank| *rank <= MAX_RANK) {
        let known = shape.as_ref().and_then(|shape| shape.sizes.iter().copied().collect::<Option<Vec<i64>>>());
        let element = shape.as_ref().map_or(Some(ElementType::F32), |shape| shape.element);
        // Without a shape, sizes that every tile of a target divides.
        let sizes = known.or(shape.is_none().then(|| vec![1024; rank]));
        if let (Some(sizes), Some(element)) = (&sizes, element) {
            for (name, target) in targets() {
                let default = target.default_layout(element, sizes).ok();
                for ranked in target.layouts(element, sizes).unwrap_or_default() {
                    let mut detail = String::new();
                    if shape.is_some() {
                        let bits = element.bits().unwrap_or(0);
                        detail = written::padding(sizes, &ranked.layout, bits).map_or(detail, |text| text + "; ");
                    }
                    let what = if default.as_ref() == Some(&ranked.layout) { "default of" } else { "tiles of" };
                    let _ = write!(detail, "{what} {name}");
                    add(&ranked.layout, detail);
                }
            }
        }
        for order in orders(rank) {
            let layout = Layout { minor_to_major: order, ..Layout::row_major(0) };
            let what = if layout == Layout::row_major(rank) { "row-major" } else { "no tiles" };
            add(&layout, what.into());
        }
    }
    // The same layouts in other memory spaces, where the typed text allows attributes.
    if typed.contains(':') {
        for (name, number) in memory_space::NAMED.into_iter().filter(|(_, number)| *number != 0) {
            for at in 0..all.len() {
                let Ok(layout) = Layout::parse(&all[at].text) else { continue };
                if layout.memory_space == 0 {
                    let layout = Layout { memory_space: number, ..layout };
                    all.push(Proposal { text: layout.to_string(), detail: format!("{}; in {name}", all[at].detail) });
                }
            }
        }
    }
    all
}

/// The ready machines whose arrays have tiles.
fn targets() -> impl Iterator<Item = (&'static str, Target)> {
    let tiled =
        |target: &Target| target.default_layout(ElementType::F32, &[8, 128]).is_ok_and(|layout| layout.is_tiled());
    READY.into_iter().filter_map(move |(name, _)| Some((name, Target::parse(name).ok().filter(tiled)?)))
}

/// All orders of up to 4 dimensions, row-major first; for more dimensions row-major and its reverse.
fn orders(rank: usize) -> Vec<Vec<usize>> {
    let row_major: Vec<usize> = (0..rank).rev().collect();
    if rank > Target::ALL_ORDERS {
        return vec![row_major, (0..rank).collect()];
    }
    let mut all = vec![Vec::new()];
    for _ in 0..rank {
        let longer = |order: Vec<usize>| {
            let rest: Vec<usize> = row_major.iter().copied().filter(|dim| !order.contains(dim)).collect();
            rest.into_iter().map(move |dim| order.iter().copied().chain([dim]).collect())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Vec<String> {
        complete(text, text.len()).iter().map(|item| item["label"].as_str().unwrap().into()).collect()
    }

    /// The proposed names equal the names in the dialect's error about an unknown one.
    #[test]
    fn all_attributes_are_proposed() {
        let context = crate::hover::context_of_types();
        let error = layout_dialect::attribute_from_text(&context, "none_of_them", "").unwrap_err();
        let names =
            error.message.split_once("expected ").unwrap().1.split(" at byte").next().unwrap().replace(" or ", ", ");
        assert_eq!(names.split(", ").collect::<Vec<_>>(), labels("#t = #layout.").to_vec());
        assert_eq!(labels("#layout.ma"), ["machine"]);
        assert_eq!(labels("#layout.memory_space<v"), ["vmem"]);
        assert_eq!(labels("#layout.memory_space<"), ["hbm", "vmem", "host", "device"]);
        assert_eq!(labels("#layout.machine<tpu_v"), ["tpu_v5e", "tpu_v5e_256"]);
        assert_eq!(labels("#layout.tiled<{1,0:S("), ["0", "1", "5"]);
    }

    #[test]
    fn layouts_fit_the_shape() {
        let open = "%x: tensor<1024x129xf32, #layout.tiled<";
        let all = labels(open);
        assert_eq!(all[..2], ["{0,1:T(8,128)}", "{1,0:T(8,128)}"]);
        assert!(all.contains(&"{1,0}".into()) && all.contains(&"{0,1}".into()), "{all:?}");
        // Every prefix of a layout, also inside its memory space, leads to the layout.
        for layout in labels(&format!("{open}{{1,0:")).iter().chain(&all) {
            assert!(Layout::parse(layout).is_ok_and(|layout| layout.rank() == 2), "{layout}");
            for end in 0..=layout.len() {
                let prefix = &layout[..end];
                let found = labels(&format!("{open}{prefix}"));
                let in_space = number_behind("S(", prefix).is_some() || number_behind("E(", prefix).is_some();
                let late = layout.contains("S(") && !prefix.contains(':');
                assert!(found.contains(layout) || in_space || late, "{open}{prefix}: {found:?}");
            }
        }
        assert_eq!(labels("memref<?x3xf32, #layout.tiled<"), ["{1,0}", "{0,1}"]);
        assert_eq!(labels("tensor<2x3x!llvm.ptr, #layout.tiled<{0"), ["{0,1}"]);
        let eight = labels("tensor<2x3x4x5x6x7x8x9xf32, #layout.tiled<");
        assert!(eight.len() > 2 && eight.contains(&"{7,6,5,4,3,2,1,0}".into()), "{eight:?}");
        let many = labels(&format!("tensor<{}f32, #layout.tiled<", "1x".repeat(99)));
        assert_eq!(many, Vec::<String>::new());
        assert!(labels("tensor<9223372036854775807x9223372036854775807xf32, #layout.tiled<").contains(&"{1,0}".into()));
    }

    #[test]
    fn bits_of_elements_are_at_least_those_of_the_type() {
        assert_eq!(labels("tensor<8x128xi4, #layout.tiled<{1,0:T(8,128)E("), ["4", "8", "16", "32", "64", "128"]);
        assert_eq!(labels("tensor<8x128xi4, #layout.tiled<{1,0:T(8,128)E(3"), ["32"]);
        assert_eq!(labels("#layout.tiled<{0:E(1"), ["1", "16", "128"]);
        let text = "tensor<10x7xi1, #layout.tiled<{1,0:E(32";
        assert_eq!(complete(text, text.len())[0]["detail"], "280 bytes, 75.0 % waste");
        // After an error in the layout there are no proposals.
        assert_eq!(labels("tensor<8x128xi4, #layout.tiled<{1,1:E("), Vec::<String>::new());
    }

    #[test]
    fn nothing_is_proposed_elsewhere() {
        for text in ["", "#layout", "#layout.tiled<{0}>", "#layout.tiled<{0}>, ", "#layout.none<", "#layout.axis<\"P"] {
            assert_eq!(labels(text), Vec::<String>::new(), "{text}");
        }
    }
}
