//! The requests: their types, and errors that name the field at fault.

use super::answer::Failure;
use crate::plan::EntryOption;
use crate::schedule::ScheduleOption;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fmt;
use std::marker::PhantomData;
use tensor_layout::text::{Error, choices};

macro_rules! requests {
    ($($(#[$doc:meta])* $name:literal $variant:ident,)*) => {
        /// A request. `op` says which; the other fields are its arguments. An `id` of any kind is repeated in the answer.
        #[derive(JsonSchema)]
        #[schemars(tag = "op")]
        pub enum Request {
            $($(#[$doc])* #[schemars(rename = $name)] $variant($variant),)*
        }

        impl Request {
            /// All values of `op`.
            pub const NAMES: &[&str] = &[$($name),*];

            /// The request of a line with this `op`; `None` for an unknown one.
            pub fn parse(op: &str, line: &str) -> Option<Result<Request, Failure>> {
                Some(match op {
                    $($name => fields(line).map(Request::$variant),)*
                    _ => return None,
                })
            }
        }
    };
}

requests! {
    /// The sizes, strides and maps of a layout.
    "layout" Layout,
    /// The layouts that an array may have on a machine, and which of them it has by default.
    "layouts" Layouts,
    /// The picture of a layout.
    "draw" Draw,
    /// The offset of an element.
    "linear_index" LinearIndex,
    /// The element at an offset.
    "logical_index" LogicalIndex,
    /// The place of an element: its coordinate along each axis, and its address.
    "place" Place,
    /// Whether two layouts, or two maps, are the same function.
    "equal" Equal,
    /// A simpler map that is the same function.
    "simplify" Simplify,
    /// One map after the other, as one map.
    "compose" Compose,
    /// The results of a map at a point.
    "evaluate" Evaluate,
    /// The layout of a reshape, a transpose or a slice that is a view of the same buffer: one of the three is given.
    "view" View,
    /// Whether a reshape, a transpose or a copy between two shapes moves bytes.
    "moves" Moves,
    /// The value of an expression of the algebra of layouts.
    "algebra" Algebra,
    /// What a relayout moves at each level of a machine; or a layout in another notation: `to` or `notation` is given.
    "convert" Convert,
    /// The file of a dump folder that the report is of.
    "dump" Dump,
    /// The instructions of an HLO module, an answer for each and one after the last; or the report of its memory.
    "hlo" Hlo,
    /// Layouts for all values of an HLO module.
    "plan" Plan,
    /// Choices of least cost for a problem of the ASPLOS 2025 contest on intra-operator parallelism.
    "solve" Solve,
    /// Places in one memory for buffers that are live from one moment to another.
    "offsets" Offsets,
    /// Whether a plan is what its proof says.
    "check_plan" CheckPlan,
    /// The text of a machine, or of the one that the tool runs on.
    "machine" Machine,
    /// The version of the protocol and of the tool, and what they know by name.
    "version" Version,
}

#[derive(Deserialize, JsonSchema)]
pub struct Layout {
    /// A shape with its layout, in XLA's notation or as a TensorLayout with its sizes.
    pub text: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Layouts {
    /// A shape without a layout.
    pub text: String,
    /// A machine, or the name of one.
    #[serde(default = "crate::layouts::usual_machine")]
    pub machine: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Draw {
    /// A shape with its layout, in XLA's notation or as a TensorLayout with its sizes.
    pub text: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct LinearIndex {
    /// A shape with its layout.
    pub text: String,
    /// The index of the element, one number for each dimension.
    pub index: Vec<i64>,
}

#[derive(Deserialize, JsonSchema)]
pub struct LogicalIndex {
    /// A shape with its layout.
    pub text: String,
    /// The offset, in elements.
    pub linear: i64,
}

#[derive(Deserialize, JsonSchema)]
pub struct Place {
    /// A shape with its layout.
    pub text: String,
    /// The index of the element, one number for each dimension.
    pub index: Vec<i64>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Equal {
    /// A shape with its layout, or a map.
    pub a: String,
    /// What it is compared with.
    pub b: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Simplify {
    /// An indexing map: `(d0) -> (d0 mod 4), domain: d0 in [0, 7]`.
    pub map: String,
    /// Whether the answer has the steps.
    #[serde(default)]
    pub explain: bool,
}

#[derive(Deserialize, JsonSchema)]
pub struct Compose {
    /// Indexing maps, in the order in which they are applied.
    pub maps: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Evaluate {
    /// An indexing map.
    pub map: String,
    /// The value of each variable, by its name.
    pub point: Point,
}

#[derive(Deserialize, JsonSchema)]
pub struct View {
    /// A layout, or a shape with its layout.
    pub text: String,
    /// The sizes of the view.
    pub reshape: Option<Vec<i64>>,
    /// The dimension of the layout that each dimension of the view is.
    pub transpose: Option<Vec<usize>>,
    /// First index, limit and step of each dimension.
    pub slice: Option<Vec<[i64; 3]>>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Moves {
    /// The shape with its layout before, and after.
    pub from: String,
    pub to: String,
    /// The operation is a transpose, not a reshape: the dimension of the first shape that each of the second is.
    pub transpose: Option<Vec<usize>>,
    /// Answer with the strided copies that bring the elements of the second shape from the first.
    #[schemars(with = "Option<CopyRequest>")]
    pub copies: Option<Object<CopyRequest>>,
}

/// What strided copies are asked for.
#[derive(Deserialize, JsonSchema)]
pub struct CopyRequest {
    /// The second shape is a slice of the first, from this index on; not with `transpose`.
    pub start: Option<Vec<i64>>,
    /// The most loops of a copy; any number where it is left out.
    pub rank: Option<usize>,
    /// Whether padding may be copied, too.
    #[serde(default)]
    pub padding: bool,
}

#[derive(Deserialize, JsonSchema)]
pub struct Algebra {
    /// The expression, such as `A o B` or `complement(A, 64)`.
    pub of: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Convert {
    /// The layout before and after, or shapes with their layouts; in any notation.
    pub from: String,
    pub to: Option<String>,
    /// The notation that the first layout is put into: `tiled`, `cute`, `triton`, ..
    pub notation: Option<String>,
    /// The tree of places: the name of a machine, or its text.
    pub machine: Option<String>,
    /// The type of the elements.
    #[serde(default = "f32")]
    pub element: String,
}

fn f32() -> String {
    "f32".to_string()
}

#[derive(Deserialize, JsonSchema)]
pub struct Dump {
    /// The files of the folder.
    #[schemars(with = "Vec<DumpFile>")]
    pub files: Vec<Object<DumpFile>>,
}

/// A file of a dump folder.
#[derive(Deserialize, JsonSchema)]
pub struct DumpFile {
    pub name: String,
    pub bytes: u64,
}

#[derive(Deserialize, JsonSchema)]
pub struct Hlo {
    /// The text of the module.
    pub text: String,
    /// Only the instructions of this name.
    pub instruction: Option<String>,
    /// The sizes of a tile of each result, for which to say what is needed of the operands.
    pub tile: Option<Vec<i64>>,
    /// Whether the answer is the report of the memory.
    #[serde(default)]
    pub summary: bool,
    /// Whether the answer is the report as a page of HTML.
    #[serde(default)]
    pub html: bool,
    /// Whether the page has the best plan beside the program.
    #[serde(default)]
    pub plan: bool,
    /// The layouts that the arguments and results of the plan may have.
    #[serde(default)]
    pub entry: EntryOption,
    /// Stop the search for the plan after so many seconds, with the best plan so far; 10 where it is not given.
    pub seconds: Option<f64>,
    /// The text of XLA's buffer assignment, with the addresses of the page.
    pub assignment: Option<String>,
    /// Another module: the answer is what the memory of `text` differs by.
    pub old: Option<String>,
    /// How many entries each list of the report has; 3 where it is not given, and 30 of a page.
    pub top: Option<usize>,
    /// The order of the instructions that the report is of.
    #[serde(default)]
    pub schedule: ScheduleOption,
    /// The machine whose layouts the report compares.
    #[serde(default = "crate::layouts::usual_machine")]
    pub machine: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Plan {
    /// The text of the module.
    pub text: String,
    /// A machine, or the name of one.
    pub machine: String,
    /// What the arguments and results of the program may be laid out in.
    #[serde(default)]
    pub entry: EntryOption,
    /// The bytes that a memory space may take at once, by its name or its number; of others, those of the machine.
    #[serde(default)]
    pub capacity: BTreeMap<String, i64>,
    /// Whether memories without a capacity have room for anything.
    #[serde(default)]
    pub unlimited: bool,
    /// The order of the instructions that is planned.
    #[serde(default)]
    pub schedule: ScheduleOption,
    /// Whether each value stays in the memory that it is made in.
    #[serde(default)]
    pub stay: bool,
    /// Whether room is left in the fastest memory for the smallest steps of each operation.
    #[serde(default)]
    pub room_for_steps: bool,
    /// Stop the search after so many seconds, with the best plan so far.
    pub seconds: Option<f64>,
    /// Whether the answer has the plan that the layouts of the text are, too.
    #[serde(default)]
    pub compare: bool,
}

#[derive(Deserialize, JsonSchema)]
pub struct Solve {
    /// The problem: what a file of the contest has.
    pub text: String,
    /// Stop the search after so many seconds, with the best choices so far.
    pub seconds: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Offsets {
    /// The table of the buffers: lines with the columns `id`, `lower`, `upper` (the moment after the last one), `size`.
    pub text: String,
    /// The bytes of the memory, without which the least are searched for.
    pub capacity: Option<i64>,
    /// What each offset is a multiple of, where the table has no column `alignment`; 1 where it is not given.
    pub alignment: Option<i64>,
    /// Steps of the exact search; 1,000,000,000 where it is not given.
    pub steps: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
pub struct CheckPlan {
    /// The text of the module that was planned.
    pub text: String,
    /// What `layout-inspect plan --certificate` has written.
    pub certificate: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Machine {
    /// A machine, or the name of one.
    pub machine: String,
    /// Whether the costs are measured on this computer, which takes a few seconds; for `cpu`.
    #[serde(default)]
    pub measure: bool,
}

#[derive(Deserialize, JsonSchema)]
pub struct Version {}

/// Values by name, each name once.
#[derive(JsonSchema)]
#[schemars(transparent)]
pub struct Point(pub BTreeMap<String, i64>);

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Point, D::Error> {
        struct Once;
        impl<'de> Visitor<'de> for Once {
            type Value = Point;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Point, A::Error> {
                let mut point = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    let value = map.next_value()?;
                    match point.entry(name) {
                        Entry::Vacant(entry) => drop(entry.insert(value)),
                        Entry::Occupied(entry) => {
                            return Err(A::Error::custom(format!("duplicate field `{}`", entry.key())));
                        }
                    }
                }
                Ok(Point(point))
            }
        }
        from.deserialize_map(Once)
    }
}

/// An object in a request. Serde alone would read its fields from a list, too.
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Object<T>, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        from.deserialize_map(Fields(PhantomData)).map(Object)
    }
}

/// The fields of all requests.
#[derive(Deserialize)]
pub struct Head {
    #[serde(default, deserialize_with = "present")]
    pub op: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    pub id: Option<Value>,
    /// The protocol version of the request.
    #[serde(default, deserialize_with = "present")]
    pub version: Option<Value>,
}

/// A value that is present; `null` is one.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Head {
    /// Reads the head of a line.
    ///
    /// # Errors
    /// The line is not a JSON object, or has one of these fields twice.
    pub fn parse(line: &str) -> Result<Head, Failure> {
        // Without trailing white space, so that positions in errors end with the request.
        let line = line.trim_end();
        let not_json = |error: serde_json::Error| Error::new(format!("not JSON: {error}")).syntax();
        // Serde would read a struct from a list, too.
        if !line.trim_start().starts_with('{') {
            let value: Value = serde_json::from_str(line).map_err(not_json)?;
            return Err(Error::new(format!("a request must be an object, found {}", kind(&value))).into());
        }
        serde_json::from_str(line).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => wrong(&error, ""),
            _ => not_json(error).into(),
        })
    }
}

/// The kind of a value, or its text, for a message.
pub fn kind(value: &Value) -> Cow<'static, str> {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string().into(),
        Value::Number(number) => number.to_string().into(),
        Value::String(_) => "a string".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

/// The arguments of a request, which [`Head::parse`] has found to be JSON.
fn fields<T: DeserializeOwned>(line: &str) -> Result<T, Failure> {
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(line)).map_err(|error| {
        let path: String = error.path().to_string().chars().take(80).collect();
        wrong(error.inner(), &path)
    })
}

/// An error of serde as a failure of its member: the first of the path, or the one that serde names.
fn wrong(error: &serde_json::Error, path: &str) -> Failure {
    let found = worded(error, &format!("`{path}`"));
    let named = || found.message.strip_prefix('`').and_then(|rest| rest.split('`').next());
    let member = if matches!(path, "." | "?" | "") { named() } else { path.split(['.', '[']).next() };
    match member {
        Some(member) => Failure::of_field(member, found.clone()),
        None => found.into(),
    }
}

/// An error of serde in the grammar of our errors, without the line and column: a request is one line.
fn worded(error: &serde_json::Error, path: &str) -> Error {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&place).unwrap_or(&message);
    if let Some(field) = message.strip_prefix("missing field ") {
        return Error::new(match path {
            "`.`" | "`?`" | "``" => format!("{field} is missing"),
            _ => format!("{}.{} is missing", path.trim_end_matches('`'), field.trim_start_matches('`')),
        });
    }
    if let Some(field) = message.strip_prefix("duplicate field ") {
        return Error::new(format!("{field} must be given once, found it twice"));
    }
    // "unknown variant `fre`, expected one of `fixed`, `default`, `free`"; no name of ours has a quote.
    if let Some(rest) = message.strip_prefix("unknown variant `")
        && let Some((found, expected)) = rest.rsplit_once("`, expected ")
    {
        let names: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        return Error::new(format!("{path} must be {}, found `{found:.40}`", choices(&names))).unknown();
    }
    let invalid = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    let Some((found, expected)) = invalid.and_then(|invalid| invalid.rsplit_once(", expected ")) else {
        return Error::new(message);
    };
    let expected = match expected {
        "i64" => "a 64-bit integer",
        "usize" | "u64" => "a 64-bit integer from 0",
        "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "true or false",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    let found = match found.split_once(' ') {
        Some(("integer" | "floating" | "boolean", _)) => found.rsplit('`').nth(1).unwrap_or(found),
        Some(("string", _)) => "a string",
        _ if found == "map" => "an object",
        _ if found == "sequence" => "a list",
        _ => found,
    };
    let wrong = Error::new(format!("{path} must be {expected}, found {found}"));
    let is_large = expected.contains("64-bit") && found.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit());
    if is_large && found.parse::<i64>().is_err() { wrong.too_large() } else { wrong }
}
