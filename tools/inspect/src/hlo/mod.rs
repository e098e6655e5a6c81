//! `layout-inspect hlo`: what the instructions of an HLO module read and feed.
//!
//! [`rows`] has the findings, [`table`] prints them for people, [`json`] as one object a line for programs.

mod json;
mod rows;
mod table;

use crate::lists;
use layout_console::{Complaint, read};
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

/// The table, or the lines of JSON.
pub fn run(HloOptions { file, instruction, tile, json }: &HloOptions) -> Result<String, Complaint> {
    let sizes = tile.as_deref().map(sizes).transpose()?;
    let text = read(file)?;
    let mut program = Program::new(&text, sizes).map_err(|errors| Complaint::in_file(file, &text, &errors))?;
    let found = program.chosen(instruction.as_deref()).and_then(|chosen| {
        program.check_tile(&chosen)?;
        if *json { json::objects(&mut program, &chosen) } else { table::table(&mut program, &chosen) }
    });
    found.map_err(|Error { message, .. }| Complaint::about(file, message))
}

/// The sizes of a tile.
fn sizes(list: &str) -> Result<Vec<i64>, Complaint> {
    let sizes = lists::numbers(list).filter(|sizes| sizes.iter().all(|n| *n > 0));
    sizes.ok_or_else(|| lists::wrong("--tile", "positive sizes such as 8,128", list))
}
