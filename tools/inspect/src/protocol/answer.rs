//! The answers: their types. Where a field is an `Option` that is always written, `null` says that there is none.

use crate::copies::CopyAnswer;
use crate::hlo::exhausted::Exhausted;
use crate::hlo::json::Object;
use crate::hlo::summary::Summary;
use crate::offsets::OffsetsAnswer;
use crate::plan::answer::PlanAnswer;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tensor_layout::places::Misplaced;
use tensor_layout::text::{Error, ErrorKind};

/// A line of the output.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Answer", deny_unknown_fields)]
pub struct Served {
    /// The `id` of the request, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    #[serde(flatten)]
    outcome: Outcome,
}

/// A success, or a failure.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Outcome {
    Success {
        #[schemars(extend("const" = true))]
        ok: bool,
        #[serde(flatten)]
        answer: Answer,
    },
    Failure {
        #[schemars(extend("const" = false))]
        ok: bool,
        #[serde(flatten)]
        failure: Failure,
    },
}

impl Served {
    /// The answer to a request with this `id`.
    pub fn new(id: Option<Value>, answer: Result<Answer, Failure>) -> Served {
        let outcome = match answer {
            Ok(answer) => Outcome::Success { ok: true, answer },
            Err(failure) => Outcome::Failure { ok: false, failure },
        };
        Served { id, outcome }
    }
}

/// Why a request failed.
#[derive(Serialize, JsonSchema)]
pub struct Failure {
    /// What is invalid, and what would be valid.
    error: String,
    /// What sort of fault it is.
    #[schemars(extend("enum" = ErrorKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>()))]
    kind: &'static str,
    /// The byte of the text at fault, from 0 to its length; left out where no text is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<usize>,
    /// The member of the request that is at fault, or the number of a text in the list `maps`; left out where the line as a
    /// whole is.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    text: Option<Which>,
    /// Two elements that share a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    collide: Option<Box<[Vec<i64>; 2]>>,
}

/// A member, or one of several texts in it.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Which {
    Field(String),
    Number(usize),
}

impl Failure {
    /// A failure with this member at fault, unless it names another one.
    pub fn of_field(field: &str, failure: impl Into<Failure>) -> Failure {
        let failure = failure.into();
        Failure { text: failure.text.or_else(|| Some(Which::Field(field.to_string()))), ..failure }
    }

    /// A failure with this text at fault.
    pub fn of_number(number: usize, error: Error) -> Failure {
        Failure { text: Some(Which::Number(number)), ..error.into() }
    }
}

impl From<Error> for Failure {
    fn from(Error { kind, at, message, .. }: Error) -> Failure {
        Failure { error: message, kind: kind.name(), at, text: None, collide: None }
    }
}

impl From<Misplaced> for Failure {
    fn from(Misplaced { error, collide, .. }: Misplaced) -> Failure {
        Failure { collide, ..error.into() }
    }
}

/// The fields of a success, by the `op` of the request.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Answer {
    /// To `layout`.
    Layout(Box<Facts>),
    /// To `layouts`.
    Layouts(Box<LayoutsByBytes>),
    /// To `draw`.
    Picture {
        /// The picture as SVG.
        svg: String,
    },
    /// To `linear_index`.
    Offset { linear: i64 },
    /// To `logical_index`: the element.
    Element { index: Vec<i64> },
    /// To `logical_index`: there is no element at the offset.
    Padding {
        #[schemars(extend("const" = true))]
        padding: bool,
    },
    /// To `place`.
    Place {
        /// The coordinate along each axis of the layout, and along `Addr`.
        place: BTreeMap<String, i64>,
        /// The axes along which there are several copies.
        broadcast: BTreeMap<String, Broadcast>,
    },
    /// To `equal`, and to `algebra` of two layouts that are compared.
    Equality {
        /// `null` where it is not known.
        equal: Option<bool>,
        /// True where it is not known.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[schemars(default)]
        unknown: bool,
        /// Left out where the two are equal; `null` where there is none: where they differ.
        #[serde(skip_serializing_if = "Option::is_none")]
        witness: Option<Option<Witness>>,
        /// Left out where the two are equal.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// To `simplify` and `compose`.
    Map {
        map: String,
        /// The nanoseconds that it took, without parsing.
        ns: u64,
        /// Where `explain` is true.
        #[serde(skip_serializing_if = "Option::is_none")]
        steps: Option<Vec<Step>>,
    },
    /// To `evaluate`.
    Results { results: Vec<i64> },
    /// To `evaluate`: the point is outside the domain.
    Outside {
        #[schemars(extend("const" = true))]
        outside: bool,
    },
    /// To `view`.
    View {
        layout: String,
        /// The index of the view's first element in the buffer.
        offset: i64,
    },
    /// To `moves`.
    Moves {
        /// `null` where it is not known.
        moves: Option<bool>,
        /// What moves, in words.
        reason: String,
        /// The layout of the second shape with which nothing would move; `null` where none was found.
        free: Option<String>,
    },
    /// To `moves` with `copies`.
    StridedCopies {
        /// The memory spaces of the two shapes.
        from_space: u8,
        to_space: u8,
        copies: Vec<CopyAnswer>,
    },
    /// To `algebra`: a layout.
    Function {
        layout: String,
        axes: Vec<String>,
        /// The sizes of the modes, and the number of elements.
        sizes: Vec<i64>,
        size: i64,
    },
    /// To `algebra` of `relayout`: the elements that move along each axis, the outermost first, and along none before.
    Moved { elements: i64, levels: Vec<MovedLevel> },
    /// To `algebra` of `vectors`: the elements of an access, and the accesses of each thread.
    Vectors { width: i64, accesses: i64 },
    /// To `algebra` of `banks`: the most words of an access in one bank, and the first index of such an access.
    Conflicts { accesses: i64, ways: i64, index: i64 },
    /// To `convert`.
    Convert(Conversion),
    /// To `convert` with `notation`.
    Translation {
        /// The layout in the notation.
        text: String,
    },
    /// To `dump`.
    Chosen {
        /// The name of the file.
        file: String,
        /// The name of the file with the buffer assignment of the module, if there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        assignment: Option<String>,
        /// How many other modules the folder has.
        others: usize,
    },
    /// To `hlo`: an instruction. More answers follow.
    Row {
        #[schemars(extend("const" = true))]
        more: bool,
        #[serde(flatten)]
        #[schemars(with = "Object")]
        row: Map<String, Value>,
    },
    /// To `hlo`: after the last instruction.
    End {
        #[schemars(extend("const" = false))]
        more: bool,
        /// How many instructions there were.
        rows: usize,
    },
    /// To `hlo` with `summary`.
    Report(Box<Summary>),
    /// To `hlo` with `summary`, `html` or `old`, of the text of an error about memory.
    Exhausted(Box<Exhausted>),
    /// To `hlo` with `html`.
    Page {
        /// The page, which loads nothing.
        html: String,
    },
    /// To `hlo` with `old`.
    Difference {
        /// A table of the memories, and of the source lines that changed most.
        difference: String,
    },
    /// To `plan`.
    Plan(Box<PlanAnswer>),
    /// To `solve`.
    Solution {
        cost: i64,
        bound: i64,
        /// Whether no choices cost less.
        optimal: bool,
        /// The number of the choice of each node.
        choices: Vec<usize>,
    },
    /// To `offsets`.
    Offsets(OffsetsAnswer),
    /// To `check_plan`: what the plan costs, and a bound below which no plan does. Both hold.
    Proved { cost: i64, bound: i64, unit: String },
    /// To `machine`.
    Machine {
        /// Its text, with all that a name stands for.
        machine: String,
    },
    /// To `version`.
    Version {
        /// The version of the protocol.
        protocol: u64,
        /// The version of the tool.
        version: &'static str,
        operations: &'static [&'static str],
        /// The notations of layouts, and the machines.
        notations: &'static [&'static str],
        machines: Vec<&'static str>,
    },
}

/// The elements that move along an axis; `null` is the address.
#[derive(Serialize, JsonSchema)]
pub struct MovedLevel {
    pub axis: Option<String>,
    pub moved: i64,
}

/// What a relayout moves. Elements are counted once for each of their copies.
#[derive(Serialize, JsonSchema)]
pub struct Conversion {
    /// The elements to be put in place.
    pub elements: i64,
    /// Those that stay in their memory, and those of them that do not move at all.
    pub stay: i64,
    pub unmoved: i64,
    /// The levels of the tree, outermost first.
    pub levels: Vec<ConversionLevel>,
    /// The number of strided copies that do it.
    pub blocks: usize,
    /// The collectives that do it, in their order; `null` where there is no such chain.
    pub collectives: Option<Vec<ConversionStep>>,
}

/// What places do together.
#[derive(Serialize, JsonSchema)]
pub struct ConversionStep {
    /// `slice`, `permute`, `all-to-all` or `all-gather`.
    pub kind: &'static str,
    /// The parts of axes along which the places are, as `4_PE:1`.
    pub along: Vec<String>,
    /// What each place gets from others.
    pub bytes: i64,
}

/// A level of the tree of places.
#[derive(Serialize, JsonSchema)]
pub struct ConversionLevel {
    pub axis: String,
    /// How many places of the axis one place of the level has.
    pub group: i64,
    /// The elements whose outermost move is at this level.
    pub cross: i64,
    /// The bytes that leave the busiest place for its parent, and those that it gets.
    pub up: i64,
    pub down: i64,
}

/// What a layout does. All is `null` but `printed` for tuples, `token`, `opaque` and unbounded sizes.
#[derive(Default, Serialize, JsonSchema)]
pub struct Facts {
    /// The text in its canonical form.
    pub printed: String,
    pub logical_elements: Option<i64>,
    pub logical_bytes: Option<i64>,
    /// Of the allocation; of a TensorLayout over all places.
    pub padded_elements: Option<i64>,
    pub padded_bytes: Option<i64>,
    /// The elements in one place of a TensorLayout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_elements: Option<i64>,
    /// The sizes of the expanded shape, and its strides in elements.
    pub expanded: Option<Vec<i64>>,
    pub strides: Option<Vec<i64>>,
    /// The names of the results of a TensorLayout's `map`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<String>>,
    /// The number of the memory space.
    pub memory_space: Option<u8>,
    /// The map from the logical index to the index in the expanded shape, and the map to the offset.
    pub map: Option<String>,
    pub offset_map: Option<String>,
}

/// The layouts of an array on a machine.
#[derive(Serialize, JsonSchema)]
pub struct LayoutsByBytes {
    /// The layout that the array has unless its owner asks for another.
    pub default: String,
    /// By padded bytes, smallest first.
    pub layouts: Vec<Candidate>,
}

/// A layout that an array may have.
#[derive(Serialize, JsonSchema)]
pub struct Candidate {
    pub layout: String,
    pub padded_bytes: i64,
    /// As JAX writes it.
    pub jax: Option<String>,
}

/// The copies along an axis.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Broadcast {
    /// `"all"`: at every coordinate.
    Everywhere(Everywhere),
    /// What to add to the coordinate for each copy.
    Offsets(Vec<i64>),
}

#[derive(Serialize, JsonSchema)]
pub enum Everywhere {
    #[serde(rename = "all")]
    All,
}

/// Where two layouts or maps differ.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Witness {
    /// The index of an element.
    Index(Vec<i64>),
    /// The variables of a map, by name.
    Point(BTreeMap<String, i64>),
}

/// A step of a simplification.
#[derive(Serialize, JsonSchema)]
pub struct Step {
    /// The rule that is applied, and its equation.
    pub rule: &'static str,
    pub equation: &'static str,
    /// What kind of thing is replaced; the number of the result, where it is one.
    pub about: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<usize>,
    pub before: String,
    pub after: String,
    /// What the step makes use of.
    pub fact: Option<String>,
}
