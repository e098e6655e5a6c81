//! Files of HLO texts with expected lines. `BLESS=1` writes the actual lines into the file, for review.
//!
//! `----` separates texts, `# ` begins a comment, and a mark begins an expected line. A text is a whole module or the
//! body of an entry that begins on line 3.

use tensor_layout::hlo::{Instruction, Module};

/// A text and its expected lines.
pub struct Block {
    pub text: String,
    pub expected: Vec<String>,
}

/// The blocks of a file in `test/`.
pub fn read(file: &str, mark: &str) -> Vec<Block> {
    let text = std::fs::read_to_string(path(file)).unwrap().replace("----\n", "\0");
    let block = |block: &str| {
        let (expected, text): (Vec<_>, Vec<_>) =
            block.split_inclusive('\n').filter(|line| !line.starts_with("# ")).partition(|line| line.starts_with(mark));
        let expected = expected.iter().map(|line| line[mark.len()..].trim_end().to_string()).collect();
        let text = text.concat();
        Block {
            text: if ["HloModule", "func.func"].iter().any(|word| text.contains(word)) { text } else { module(&text) },
            expected,
        }
    };
    text.split('\0').map(block).collect()
}

/// Compares the lines of each text in a file with the expected ones.
pub fn check(file: &str, mark: &str, find: impl Fn(&str) -> Vec<String>) {
    let found: Vec<Vec<String>> = read(file, mark)
        .into_iter()
        .map(|Block { text, expected }| {
            let found = find(&text);
            assert!(!found.is_empty(), "nothing is found in\n{text}");
            if std::env::var_os("BLESS").is_none() {
                assert_eq!(found, expected, "{text}");
            }
            found
        })
        .collect();
    if std::env::var_os("BLESS").is_some() {
        let file = path(file);
        let text = std::fs::read_to_string(&file).unwrap().replace("----\n", "\0");
        let block = |(old, found): (&str, &Vec<String>)| {
            let text = old.split_inclusive('\n').filter(|line| !line.starts_with(mark)).collect::<String>();
            text + &found.iter().map(|line| format!("{mark}{line}\n")).collect::<String>()
        };
        let blocks: Vec<_> = text.split('\0').zip(&found).map(block).collect();
        std::fs::write(file, blocks.join("----\n")).unwrap();
    }
}

fn path(file: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

/// A module whose entry has this body, with computations to call.
pub fn module(body: &str) -> String {
    format!(
        "HloModule m
ENTRY %e {{
{body}}}
add (x: f32[], y: f32[]) -> f32[] {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}}
argmax {{
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  p = pred[] compare(a, b), direction=GE
  m = f32[] select(p, a, b)
  k = s32[] select(p, i, j)
  ROOT r = (f32[], s32[]) tuple(m, k)
}}
pred {{ i = s32[] parameter(0) ten = s32[] constant(10) ROOT less = pred[] compare(i, ten), direction=LT }}
succ {{ i = s32[] parameter(0) one = s32[] constant(1) ROOT next = s32[] add(i, one) }}
less {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }}
idle {{ ROOT x = f32[8,128] parameter(0) }}, execution_thread=\"host\"
"
    )
}

/// The errors of a text, with line and column.
pub fn places(text: &str) -> Vec<String> {
    let errors = Module::parse(text).err().unwrap_or_default();
    let place = |error: &tensor_layout::text::Error| {
        let (line, column) = error.line_column(text).unwrap_or_else(|| panic!("{error:?}\n{text}"));
        format!("{line}:{column} {error}")
    };
    errors.iter().map(place).collect()
}

/// Parses a text without errors.
pub fn parse(text: &str) -> Module {
    Module::parse(text).unwrap_or_else(|_| panic!("{text}\n{:#?}", places(text)))
}

/// An instruction of the entry.
pub fn find<'a>(module: &'a Module, name: &str) -> &'a Instruction {
    let mut all = module.computations[module.entry].instructions.iter();
    all.find(|i| i.name == name).unwrap_or_else(|| panic!("no {name}"))
}
