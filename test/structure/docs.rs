//! The reference pages agree with the `.td` files and the tools.
//!
//! `docs/dialect.md` and `docs/passes.md` are generated: their text by `mlir-tblgen` from `Layout.td` and `Passes.td`,
//! options by `layout-opt --help`, IR before and after by `layout-opt` on `docs/Inputs/NAME.mlir` below this folder. A
//! file there starts with the commands of its example, one a line.
//! `BLESS=1 cargo test -p layout-test --test structure docs` writes the pages.

use layout_passes::{LowerMemrefsOptions, pipelines::PIPELINES};
use layout_test::Checkout;
use std::{
    collections::{HashMap, HashSet},
    env, fs,
    process::Command,
};

#[test]
fn dialect_is_current() {
    let place = Place::new();
    let text = place.tblgen(&["-gen-dialect-doc", "-dialect=layout"], "dialect/Layout.td");
    let mut page = String::new();
    for line in text.lines().filter(|line| *line != "[TOC]") {
        match line.strip_prefix("### ").and_then(|title| title.strip_suffix("Attr")) {
            Some(name) => page += &format!("### `#layout.{}`\n\nIn C++ `layout::{name}Attr`.\n", snake(name)),
            None if line == "# 'layout' Dialect" => page += "# The layout dialect\n",
            // The last operation is `layout.convert`; its example goes before the attributes.
            None if line == "## Attributes" => page += &format!("{}\n{line}\n", place.example("convert")),
            None => page += &format!("{line}\n"),
        }
    }
    place.compare("dialect.md", &page);
}

/// The dialect's Rust checks each constraint, under its label.
#[test]
fn constraints_are_checked() {
    let place = Place::new();
    let td = fs::read_to_string(place.0.root.join("dialect/Layout.td")).expect("Layout.td is readable");
    let sources = fs::read_dir(place.0.root.join("dialect")).expect("the folder of the dialect is readable");
    let rust: String = sources
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| fs::read_to_string(path).expect("a source is readable"))
        .collect();
    let tests: String = ["invalid.mlir", "convert.mlir"]
        .map(|file| fs::read_to_string(place.0.root.join("test/dialect").join(file)).expect("a test is readable"))
        .concat();
    let labels = td.split("* (").skip(1).map(|rest| rest.split(')').next().expect("split gives one piece"));
    let mut seen = HashSet::new();
    for label in labels {
        assert!(seen.insert(label), "two constraints have the label {label}");
        assert!(rust.contains(&format!("({label})")), "nothing in dialect/*.rs names the constraint {label}");
        // No parser builds these attributes: C++ does, and tests them.
        let of_cpp = ["tiled_c5", "machine_c1", "indexing_map_c1", "indexing_map_c2"].contains(&label);
        assert!(of_cpp || tests.contains(&format!("({label})")), "no test names the constraint {label}");
    }
}

/// The examples in `Layout.td` parse and verify: types, attributes, operations.
#[test]
fn examples_are_valid() {
    let place = Place::new();
    let text = place.tblgen(&["-gen-dialect-doc", "-dialect=layout"], "dialect/Layout.td");
    let blocks = text.split("```mlir\n").skip(1).map(|rest| rest.split("```").next().expect("split gives one piece"));
    let mut checked = 0;
    for block in blocks {
        let program = match block.split(|c: char| !c.is_alphanumeric()).next() {
            Some("tensor" | "memref") => {
                let types: Vec<&str> = block.lines().collect();
                format!("func.func private @f({})", types.join(", "))
            }
            Some("module") => block.to_string(),
            Some("") if block.starts_with('#') => format!("module attributes {{test.example = {}}} {{}}", block.trim()),
            _ => format!("func.func @f(%0: tensor<3x5xf32>) {{\n{block}return\n}}"),
        };
        let scratch = place.0.tools.join("docs");
        fs::create_dir_all(&scratch).expect("a folder of the test's own");
        fs::write(scratch.join("example.mlir"), &program).expect("the example is written");
        let mut opt = Command::new(place.0.tools.join("layout-opt"));
        let output = opt.args(["example.mlir", "-o", "/dev/null"]).current_dir(&scratch).output().expect("it runs");
        assert!(output.status.success(), "{program}\n{}", String::from_utf8_lossy(&output.stderr));
        checked += 1;
    }
    assert!(checked >= 8, "only {checked} examples were found");
}

#[test]
fn passes_are_current() {
    let place = Place::new();
    let mut page = String::from(
        "# Passes and pipelines\n\nAll are flags of `layout-opt` and names in `--pass-pipeline`; in Rust they are \
         `layout_passes::Pass` and the constants\nof `layout_passes::pipelines`.\n\n## Passes\n",
    );
    let options = OptionTables::new(&place);
    let text = place.tblgen(&["-gen-pass-doc"], "passes/Passes.td");
    let mut sections = text.split("\n### `-");
    sections.next();
    for section in sections {
        let (name, rest) = section.split_once('`').expect("the name ends");
        // `--help` has the options with their values.
        let description = rest.split("\n#### Options").next().expect("split gives one piece");
        page += &format!("\n### `{name}`\n\n{}\n", description.trim());
        page += &options.table(name);
        page += &place.example(name);
    }

    page += "\n## Pipelines\n";
    for pipeline in PIPELINES {
        page += &format!("\n### `{}`\n\n{}.\n", pipeline.name, pipeline.summary);
        page += &options.table(pipeline.name);
        let passes = pipeline.text(LowerMemrefsOptions::default());
        page += &format!("\nWith the default it is\n\n```text\n{}\n```\n", one_a_line(&passes));
        page += &place.example(pipeline.name);
    }
    place.compare("passes.md", &page);
}

/// The passes of a pipeline, one a line; commas inside braces and parentheses do not separate passes.
fn one_a_line(passes: &str) -> String {
    let mut depth = 0;
    let each = passes.chars().map(|c| {
        depth += i32::from("{(".contains(c)) - i32::from("})".contains(c));
        if c == ',' && depth == 0 { '\n' } else { c }
    });
    each.collect()
}

/// Converts `TensorLayout` to `tensor_layout`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

/// The checkout, with its tools built.
struct Place(Checkout);

impl Place {
    fn new() -> Place {
        let checkout = Checkout::new();
        checkout.build_tools();
        Place(checkout)
    }

    /// The output of mlir-tblgen for a file.
    fn tblgen(&self, arguments: &[&str], file: &str) -> String {
        let mut tblgen = Command::new(self.0.llvm.join("bin/mlir-tblgen"));
        tblgen.args(arguments).arg("-I").arg(self.0.llvm.join("include")).args(["-I", ".", file]);
        let output = tblgen.current_dir(&self.0.root).output().expect("mlir-tblgen runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("documentation is UTF-8");
        let text = text.lines().filter(|line| !line.starts_with("<!--"));
        text.fold(String::new(), |all, line| all + line + "\n")
    }

    /// The default values of a pass's or pipeline's options, as MLIR prints them.
    fn defaults(&self, name: &str) -> HashMap<String, String> {
        let mut opt = Command::new(self.0.tools.join("layout-opt"));
        // Verified passes are a text inside of `layout-verify`.
        let opt = opt.args([&format!("--{name}"), "--dump-pass-pipeline", "/dev/null"]).env("LAYOUT_VERIFY", "0");
        let output = opt.output();
        let text = String::from_utf8(output.expect("layout-opt runs").stderr).expect("a pipeline is UTF-8");
        let own = text.split("layout-").filter_map(|pass| pass.split_once('{')?.1.split_once('}'));
        let words = own.flat_map(|(options, _)| options.split_whitespace());
        words.filter_map(|word| word.split_once('=')).map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// The IR before and after.
    fn example(&self, name: &str) -> String {
        let folder = self.0.root.join("test/docs/Inputs");
        let file = format!("{name}.mlir");
        let text = fs::read_to_string(folder.join(&file))
            .unwrap_or_else(|e| panic!("test/docs/Inputs/{file}, the example of {name}: {e}"));
        let (commands, input): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with("// layout-opt "));
        assert!(!commands.is_empty(), "{file} says no command");
        let scratch = self.0.tools.join("docs");
        fs::create_dir_all(&scratch).expect("a folder of the test's own");
        fs::write(scratch.join(&file), input.join("\n") + "\n").expect("the input is written");

        let mut shown = format!("\nBefore, `{file}`:\n\n```mlir\n{}\n```\n", input.join("\n"));
        for command in commands {
            let arguments = command.trim_start_matches("// layout-opt ");
            let mut opt = Command::new("sh");
            let command = format!("\"$0\" {file} {arguments}");
            opt.args(["-c", &command]).arg(self.0.tools.join("layout-opt")).current_dir(&scratch);
            let output = opt.output().expect("layout-opt runs");
            let [printed, errors] =
                [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
            assert!(output.status.success(), "{command}\n{errors}");
            let (kind, printed) = if printed.is_empty() { ("text", &errors) } else { ("mlir", &printed) };
            shown += &format!("\nAfter `layout-opt {file} {arguments}`:\n\n```{kind}\n{}\n```\n", printed.trim_end());
        }
        shown
    }

    /// Compares a page, or writes it.
    fn compare(&self, name: &str, text: &str) {
        let text =
            format!("<!-- Generated: BLESS=1 cargo test -p layout-test --test structure docs -->\n\n{}\n", text.trim());
        let (page, own) = (self.0.root.join("docs").join(name), self.0.tools.join("docs").join(name));
        if env::var_os("BLESS").is_some() {
            fs::write(&page, text).expect("docs/ is writable");
        } else if fs::read_to_string(&page).unwrap_or_default() != text {
            fs::create_dir_all(self.0.tools.join("docs")).expect("a folder of the test's own");
            fs::write(&own, text).expect("the page is written");
            let difference = Command::new("diff").arg("-u").args([&page, &own]).output().expect("diff runs").stdout;
            panic!("docs/{name} is not current:\n{}", String::from_utf8_lossy(&difference));
        }
    }
}

/// The options of passes and pipelines, from one run of `layout-opt --help`.
struct OptionTables<'a> {
    place: &'a Place,
    /// The text of `--help`.
    help: String,
    /// The defaults of `layout-plan`, which other passes forward.
    plan: HashMap<String, String>,
}

impl OptionTables<'_> {
    fn new(place: &Place) -> OptionTables<'_> {
        let output = Command::new(place.0.tools.join("layout-opt")).arg("--help").output().expect("layout-opt runs");
        let help = String::from_utf8(output.stdout).expect("help is UTF-8");
        OptionTables { place, help, plan: place.defaults("layout-plan") }
    }

    /// The options of a pass or pipeline from `--help`; empty if it has none.
    fn table(&self, name: &str) -> String {
        let flag = format!("--{name}");
        // The last mention precedes the options; others may be in a summary.
        let all: Vec<&str> = self.help.lines().collect();
        let at = all.iter().rposition(|line| line.split_whitespace().next() == Some(&flag));
        let at = at.unwrap_or_else(|| panic!("layout-opt --help does not list {flag}"));
        let indent = |line: &str| line.len() - line.trim_start().len();
        let own = indent(all[at]);
        // The pass of `plan` is in a pipeline only if `plan` is set, and few pipelines forward `arena`.
        let mut defaults = self.plan.clone();
        for (name, value) in [("arena", "call"), ("plan", "false"), ("verify", "false"), ("weights", "none")] {
            defaults.entry(name.into()).or_insert_with(|| value.into());
        }
        defaults.extend(self.place.defaults(name));
        let lines = all[at + 1..].iter();
        let lines = lines.take_while(|line| indent(line) > own || line.trim_start().starts_with('='));
        let mut rows = String::new();
        for line in lines {
            let (option, meaning) = line.split_once(" - ").expect("an option has a description");
            let (option, meaning) = (option.trim(), meaning.trim());
            rows += &match option.strip_prefix('=') {
                Some(value) => format!("| `{value}` | {meaning} |\n"),
                None => {
                    let option = option.trim_start_matches("--");
                    let default = &defaults[option.split('=').next().unwrap_or_default()];
                    let default = if default.is_empty() { "none".into() } else { format!("`{default}`") };
                    format!("| **`{option}`** | {meaning}; {default} if not given |\n")
                }
            };
        }
        match rows.is_empty() {
            true => rows,
            false => format!("\n| option | |\n|---|---|\n{rows}"),
        }
    }
}
