//! `layout-inspect hlo`: what the instructions of an HLO module read and feed.
//!
//! [`rows`] has the findings, [`table`] prints them for people, [`json`] as one object a line for programs. Each
//! instruction is printed when it is analysed, and then forgotten.

mod json;
mod rows;
mod table;

use crate::lists;
use layout_console::{Complaint, read, stream};
use rows::Program;
use tensor_layout::text::Error;

/// Print the instructions of an HLO file, and what each reads of its operands and feeds of its result
#[derive(clap::Args)]
pub struct HloOptions {
    /// HLO text as XLA and JAX dump it, - for standard input
    file: String,
    /// Only the instructions of this name
    #[arg(long, value_name = "NAME")]
    instruction: Option<String>,
    /// Say what a tile of these sizes of each result needs of the operands: 8,128
    ///
    /// Results of another rank are left out; it is an error if no result has this rank.
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true)]
    tile: Option<String>,
    /// Print one JSON object an instruction
    #[arg(long)]
    json: bool,
}

/// Prints the table, or the lines of JSON, each as soon as it is known.
pub fn run(HloOptions { file, instruction, tile, json }: &HloOptions) -> Result<(), Complaint> {
    let sizes = tile.as_deref().map(sizes).transpose()?;
    let text = read(file)?;
    let mut program = Program::new(&text, sizes).map_err(|errors| Complaint::in_file(file, &text, &errors))?;
    drop(text);
    let about = |Error { message, .. }| Complaint::about(file, message);
    let chosen = program.chosen(instruction.as_deref()).map_err(about)?;
    program.check_tile(&chosen).map_err(about)?;
    stream(
        |out| if *json { json::objects(&mut program, &chosen, out) } else { table::table(&mut program, &chosen, out) },
    )
    .map_err(|stop| stop.complaint(file))
}

/// The sizes of a tile.
fn sizes(list: &str) -> Result<Vec<i64>, Complaint> {
    let sizes = lists::numbers(list).filter(|sizes| sizes.iter().all(|n| *n > 0));
    sizes.ok_or_else(|| lists::wrong("--tile", "positive sizes such as 8,128", list))
}
