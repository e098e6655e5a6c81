//! `layout-inspect offsets`: offsets in one memory for buffers with the live ranges of a table.
//!
//! ```csv
//! id,lower,upper,size
//! a,0,2,100
//! b,1,3,50
//! c,2,4,100
//! ```
//!
//! Problems of google/minimalloc have this form: a buffer is live from `lower` to the moment before `upper`. `b`
//! overlaps both others, and `c` reuses the offset of `a`: 150 bytes hold all. A column `alignment` may say what an
//! offset is a multiple of; a column `offset` is ignored, so the output can be read again.

use crate::numbers;
use clap::builder::NonEmptyStringValueParser;
use layout_console::{Complaint, check_output, read, write};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::PathBuf;
use tensor_layout::offsets::{Arena, LiveRange, NoOffsets, SearchLimits, offsets};
use tensor_layout::text::{Error, nearest};

/// The columns, in the order of an error message.
const COLUMNS: [&str; 6] = ["id", "lower", "upper", "size", "alignment", "offset"];

/// The default steps of the exact search.
pub const STEPS: u64 = 1_000_000_000;

/// Find places in one memory for buffers that are live from one moment to another
#[derive(clap::Args)]
pub struct OffsetsOptions {
    /// A table with the columns id, lower, upper (the moment after the last one) and size; - for standard input
    #[arg(value_name = "FILE", value_parser = NonEmptyStringValueParser::new())]
    file: String,
    /// The bytes of the memory, such as 16MiB, without which the least are searched for
    #[arg(long, value_name = "BYTES")]
    capacity: Option<String>,
    /// What each offset is a multiple of, where the table has no column `alignment`
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, default_value_t = 1)]
    alignment: i64,
    /// Steps of the exact search, each of about 10 ns
    #[arg(long, value_name = "STEPS", default_value_t = STEPS)]
    steps: u64,
    /// Write the table with the column `offset` into this file, - for standard output instead of the report
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Print one JSON object: arena, peak, bound, optimal, offsets
    #[arg(long, conflicts_with = "table")]
    json: bool,
}

/// A buffer of the table.
struct BufferRow<'t> {
    id: &'t str,
    /// The live range, its end not included.
    live: (i64, i64),
    bytes: i64,
    alignment: i64,
}

/// A field of the table, and its byte in the text.
#[derive(Clone, Copy)]
struct Field<'t> {
    text: &'t str,
    at: usize,
}

/// Finds offsets for the buffers of a file.
pub fn run(options: &OffsetsOptions) -> Result<String, Complaint> {
    if options.alignment < 1 {
        return Err(Complaint::new(format!("--alignment must be 1 or more, found {}", options.alignment)));
    }
    let capacity = |text: &String| numbers::bytes(text, i64::MAX).map_err(|error| Complaint::in_argument(text, &error));
    let capacity = options.capacity.as_ref().map(capacity).transpose()?;
    options.table.as_ref().map_or(Ok(()), |table| check_output(table, &[&options.file]))?;
    let text = read(&options.file)?;
    let buffers =
        Buffers::read(&text, options.alignment).map_err(|errors| Complaint::in_file(&options.file, &text, &errors))?;
    let limits = SearchLimits { capacity, steps: options.steps };
    let arena = buffers.arena(&limits).map_err(|error| Complaint::about(&options.file, error.message))?;
    let Some(file) = &options.table else {
        let json = || serde_json::to_string(&buffers.answer(&arena)).map(|line| line + "\n");
        let json = options.json.then(json).transpose().map_err(|error| Complaint::new(error.to_string()))?;
        return Ok(json.unwrap_or_else(|| report(buffers.rows.len(), &arena)));
    };
    let table = table(&buffers.rows, &arena);
    if file.as_os_str() == "-" {
        return Ok(table);
    }
    write(file, &table)?;
    Ok(report(buffers.rows.len(), &arena))
}

/// The buffers of a table.
pub struct Buffers<'t> {
    rows: Vec<BufferRow<'t>>,
    /// The moments at which a live range begins or ends, in order.
    moments: Vec<i64>,
}

/// Where the buffers are.
#[derive(Serialize, JsonSchema)]
pub struct OffsetsAnswer {
    /// The bytes that they take.
    arena: i64,
    /// The most bytes that are live at once.
    peak: i64,
    /// The bytes that they take at least.
    bound: i64,
    /// Whether no offsets take less.
    optimal: bool,
    /// The offset of each, by its id.
    offsets: BTreeMap<String, i64>,
}

impl<'t> Buffers<'t> {
    /// Reads a table; offsets are multiples of `alignment` where it has no such column.
    ///
    /// # Errors
    /// The text is no such table; at most one error for each line, with its byte.
    pub fn read(text: &'t str, alignment: i64) -> Result<Buffers<'t>, Vec<Error>> {
        let rows = rows(text, alignment)?;
        let moments = moments(&rows);
        Ok(Buffers { rows, moments })
    }

    /// Searches for offsets.
    ///
    /// # Errors
    /// There are none within the limits; where too much is live at a moment, the error has the moment and the bytes.
    pub fn arena(&self, limits: &SearchLimits) -> Result<Arena, Error> {
        let ranges: Vec<LiveRange> = self.rows.iter().map(|row| range(row, &self.moments)).collect();
        offsets(&ranges, limits).map_err(|error| Error::new(refusal(&error, &self.moments)))
    }

    /// The answer with an arena.
    pub fn answer(&self, arena: &Arena) -> OffsetsAnswer {
        let offsets = self.rows.iter().zip(&arena.offsets).map(|(row, offset)| (row.id.to_string(), *offset)).collect();
        let Arena { bytes, peak, bound, .. } = *arena;
        OffsetsAnswer { arena: bytes, peak, bound, optimal: bytes == bound, offsets }
    }
}

/// The moments at which a live range begins or ends, in order.
fn moments(rows: &[BufferRow]) -> Vec<i64> {
    let mut moments: Vec<i64> = rows.iter().flat_map(|row| [row.live.0, row.live.1]).collect();
    moments.sort_unstable();
    moments.dedup();
    moments
}

/// The live range of a row, in numbers of moments.
fn range(row: &BufferRow, moments: &[i64]) -> LiveRange {
    let number = |moment| moments.partition_point(|other| *other < moment);
    LiveRange { live: (number(row.live.0), number(row.live.1) - 1), bytes: row.bytes, alignment: row.alignment }
}

/// Why there are no offsets, in moments of the table.
fn refusal(error: &NoOffsets, moments: &[i64]) -> String {
    match error {
        NoOffsets::Peak { moment, bytes, capacity } => format!(
            "{bytes} bytes are live at moment {}, and the memory has {capacity}: it must have {bytes} or more",
            moments[*moment]
        ),
        other => other.to_string(),
    }
}

/// The buffers of a table.
///
/// # Errors
/// The text is no such table; at most one error for each line, with its byte.
fn rows(text: &str, alignment: i64) -> Result<Vec<BufferRow<'_>>, Vec<Error>> {
    let mut lines = lines(text);
    let Some(head) = lines.next() else {
        return Err(vec![Error::at(0, format!("expected a line with the columns {}", COLUMNS[..4].join(",")))]);
    };
    let columns = columns(&head).map_err(|error| vec![error])?;
    let (mut rows, mut errors, mut ids) = (Vec::new(), Vec::new(), HashMap::new());
    for line in lines {
        match row(&line, &columns, alignment) {
            Ok((row, id)) => match ids.insert(row.id, rows.len()) {
                None => rows.push(row),
                Some(_) => {
                    errors.push(Error::at(id.at, format!("each id must be there once, found `{}` twice", row.id)))
                }
            },
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(rows) } else { Err(errors) }
}

/// The fields of each line that is not empty.
fn lines(text: &str) -> impl Iterator<Item = Vec<Field<'_>>> {
    let start = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    text.lines().filter(|line| !line.trim().is_empty()).map(move |line| {
        let fields = line.split(',').map(|field| {
            let text = field.trim();
            Field { text, at: start(text) }
        });
        fields.collect()
    })
}

/// The field of each of [`COLUMNS`].
fn columns(head: &[Field]) -> Result<[Option<usize>; 6], Error> {
    let mut columns = [None; 6];
    for (number, field) in head.iter().enumerate() {
        let Some(column) = COLUMNS.iter().position(|name| *name == field.text) else {
            let near = nearest(field.text, COLUMNS.into_iter())
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            let message = format!("a column must be one of {}, found `{}`{near}", COLUMNS.join(", "), field.text);
            return Err(Error::at(field.at, message));
        };
        if columns[column].replace(number).is_some() {
            return Err(Error::at(field.at, format!("each column must be there once, found `{}` twice", field.text)));
        }
    }
    match (0..4).find(|column| columns[*column].is_none()) {
        Some(column) => Err(Error::at(head[0].at, format!("expected a column `{}`", COLUMNS[column]))),
        None => Ok(columns),
    }
}

/// The buffer of a line, and the field of its name.
fn row<'t>(
    line: &[Field<'t>],
    columns: &[Option<usize>; 6],
    alignment: i64,
) -> Result<(BufferRow<'t>, Field<'t>), Error> {
    let wanted = columns.iter().flatten().count();
    if line.len() != wanted {
        return Err(Error::at(line[0].at, format!("expected {wanted} fields, found {}", line.len())));
    }
    let field = |column: usize| columns[column].map(|number| line[number]);
    let number = |column: usize, least: i64| {
        let Some(field) = field(column) else { return Ok(None) };
        let wrong = || {
            let least = if least == i64::MIN { String::new() } else { format!(" from {least}") };
            let message = format!("{} must be an integer{least} of 64 bits, found `{}`", COLUMNS[column], field.text);
            Error::at(field.at, message)
        };
        field.text.parse().ok().filter(|value| *value >= least).ok_or_else(wrong).map(Some)
    };
    let id = field(0).unwrap_or(line[0]);
    let (lower, upper) = (number(1, i64::MIN)?.unwrap_or_default(), number(2, i64::MIN)?.unwrap_or_default());
    let bytes = number(3, 1)?.unwrap_or_default();
    let alignment = number(4, 1)?.unwrap_or(alignment);
    if lower >= upper {
        let at = field(2).unwrap_or(id).at;
        return Err(Error::at(at, format!("upper must be above lower, {lower}, found {upper}")));
    }
    Ok((BufferRow { id: id.text, live: (lower, upper), bytes, alignment }, id))
}

fn report(buffers: usize, arena: &Arena) -> String {
    let Arena { bytes, peak, bound, .. } = arena;
    let optimal = if bytes == bound { "yes" } else { "not proved" };
    format!("buffers {buffers}\narena   {bytes}\npeak    {peak}\nbound   {bound}\noptimal {optimal}\n")
}

/// The table with the offsets.
fn table(rows: &[BufferRow], arena: &Arena) -> String {
    let aligned = rows.iter().any(|row| row.alignment != 1);
    let mut text =
        String::from(if aligned { "id,lower,upper,size,alignment,offset\n" } else { "id,lower,upper,size,offset\n" });
    for (row, offset) in rows.iter().zip(&arena.offsets) {
        let _ = write!(text, "{},{},{},{},", row.id, row.live.0, row.live.1, row.bytes);
        if aligned {
            let _ = write!(text, "{},", row.alignment);
        }
        let _ = writeln!(text, "{offset}");
    }
    text
}
