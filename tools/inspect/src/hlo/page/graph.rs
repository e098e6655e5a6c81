//! The neighbours of an instruction that only moves bytes, in four columns from left to right: the operands of the
//! definition; the definition; the move, and below it the definition's other users; the users of the move.

use crate::hlo::measure::{maker, users};
use crate::hlo::screen::cut;
use serde::Serialize;
use std::collections::BTreeSet;
use tensor_layout::hlo::Computation;

/// The most instructions in a column; the others are counted.
const MOST: usize = 4;

/// A box, and the room between two, in pixels.
const WIDTH: i64 = 236;
const HEIGHT: i64 = 58;
const APART: [i64; 2] = [40, 12];

/// The most characters of a line in a box.
const CHARACTERS: usize = 33;

/// A drawing of some instructions.
#[derive(Serialize)]
pub struct Graph {
    pub width: i64,
    pub height: i64,
    pub nodes: Vec<GraphNode>,
    /// The paths of the arrows.
    pub arrows: Vec<String>,
}

/// A box with an instruction, or with the number of omitted ones.
#[derive(Serialize)]
pub struct GraphNode {
    pub x: i64,
    pub y: i64,
    pub is_move: bool,
    /// The name, the opcode and the shape, cut to the box.
    pub lines: Vec<String>,
    /// The text without cuts.
    pub title: String,
}

/// A column before it has a place.
struct Column {
    shown: Vec<usize>,
    more: usize,
}

impl Column {
    fn new(all: impl IntoIterator<Item = usize>) -> Column {
        let all: BTreeSet<usize> = all.into_iter().collect();
        Column { more: all.len().saturating_sub(MOST), shown: all.into_iter().take(MOST).collect() }
    }

    fn boxes(&self) -> usize {
        self.shown.len() + usize::from(self.more > 0)
    }
}

impl Graph {
    /// The graph around instruction `moved`.
    pub fn around(computation: &Computation, moved: usize) -> Graph {
        let made = maker(computation, computation.instructions[moved].operands[0]);
        let others = users(computation, made).into_iter().filter(|k| *k != moved);
        // An alias of the definition has the same users.
        let others = others.filter(|k| maker(computation, *k) != made);
        let mut beside = Column::new(others);
        beside.shown.insert(0, moved);
        let operands = computation.instructions[made].operands.iter().map(|k| maker(computation, *k));
        let columns = [Column::new(operands), Column::new([made]), beside, Column::new(users(computation, moved))];
        let most = columns.iter().map(Column::boxes).max().unwrap_or(1) as i64;
        let height = most * (HEIGHT + APART[1]) + APART[1];
        let left = |column: usize| 8 + column as i64 * (WIDTH + APART[0]);
        let top = |column: &Column, row: usize| {
            let free = height - column.boxes() as i64 * (HEIGHT + APART[1]) + APART[1];
            free / 2 + row as i64 * (HEIGHT + APART[1])
        };
        let mut graph =
            Graph { width: left(columns.len()) - APART[0] + 8, height, nodes: Vec::new(), arrows: Vec::new() };
        for (number, column) in columns.iter().enumerate() {
            let (x, place) = (left(number), |row: usize| top(column, row));
            for (row, k) in column.shown.iter().enumerate() {
                graph.nodes.push(GraphNode { is_move: *k == moved, ..node(computation, *k, (x, place(row))) });
            }
            if column.more > 0 {
                let text = format!("{} more", column.more);
                let y = place(column.shown.len());
                graph.nodes.push(GraphNode { x, y, is_move: false, lines: vec![text.clone()], title: text });
            }
        }
        let middle = |column: usize, row: usize| top(&columns[column], row) + HEIGHT / 2;
        let mut arrow = |column: usize, from: usize, to: usize| {
            let ((x1, y1), (x2, y2)) =
                ((left(column) + WIDTH, middle(column, from)), (left(column + 1), middle(column + 1, to)));
            let half = (x1 + x2) / 2;
            graph.arrows.push(format!("M{x1} {y1}C{half} {y1} {half} {y2} {x2} {y2}m-7-4l7 4l-7 4"));
        };
        (0..columns[0].boxes()).for_each(|row| arrow(0, row, 0));
        (0..columns[2].boxes()).for_each(|row| arrow(1, 0, row));
        (0..columns[3].boxes()).for_each(|row| arrow(2, 0, row));
        graph
    }
}

fn node(computation: &Computation, k: usize, (x, y): (i64, i64)) -> GraphNode {
    let instruction = &computation.instructions[k];
    let lines = [instruction.name.clone(), instruction.opcode.to_string(), instruction.shape.to_string()];
    GraphNode {
        x,
        y,
        is_move: false,
        title: lines.join(" "),
        lines: lines.iter().map(|line| cut(line, CHARACTERS)).collect(),
    }
}
