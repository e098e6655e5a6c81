//! Generates the Rust of `Passes.td` and the C++ classes that call it; then builds the C++ of the passes.
//!
//! | file in `OUT_DIR` | what it is | included by |
//! |---|---|---|
//! | `options.rs` | an enum for each record of `Choices`, a struct for the options of each pass | `pass/options.rs` |
//! | `passes.rs` | the enum of the passes, their names, how they are read | `registry.rs` |
//! | `pipelines.rs` | a constant for each pipeline | `pipelines.rs` |
//! | `shells/Passes.cpp.inc` | a class for each pass | `Passes.cpp` |
//!
//! `options.rs` holds data alone, in calls of macros that the file including it defines. A record
//!
//! ```text
//! Option<"cacheBytes", "cache-bytes", "uint64_t", "0", "Vector code: the bytes ..">
//! ```
//!
//! becomes the line `cache_bytes: u64 = 0, "cache-bytes";`, with its description as documentation.

use layout_build::{
    glue::{Glue, headers_of, out, package, write},
    llvm::Llvm,
    or_stop,
    records::{Choices, Pass, PassOption, Passes, Pipeline},
};
use std::fmt::Write;

fn main() {
    let llvm = or_stop(Llvm::find());
    let passes = or_stop(Passes::read(&package().join("Passes.td"), &llvm.include));
    let shells = out().join("shells");
    let files = [
        (out().join("options.rs"), or_stop(options(&passes))),
        (out().join("passes.rs"), enum_of(&passes)),
        (out().join("pipelines.rs"), pipelines(&passes) + &options_of_all(&passes)),
        (shells.join("Passes.cpp.inc"), classes(&passes.passes)),
    ];
    for (file, text) in files {
        or_stop(write(&file, &text));
    }
    let mut include = or_stop(headers_of("layout_dialect_glue"));
    include.push(shells);
    or_stop(Glue { target: "layout_passes_glue", file: "Passes.cmake", include }.build(&llvm));
}

/// Calls of `choices!` and `options!`.
fn options(passes: &Passes) -> Result<String, String> {
    let mut text = String::new();
    for Choices { name, summary, values } in &passes.choices {
        let _ = writeln!(text, "choices! {{\n    #[doc = {summary:?}]\n    {name} {{");
        for (number, value) in values.iter().enumerate() {
            let default = if number == 0 { "        #[default]\n" } else { "" };
            let _ = writeln!(text, "        #[doc = {:?}]", format!("{}.", value.summary));
            let _ = writeln!(text, "{default}        {} = {:?};", camel(&value.symbol), value.text);
        }
        text += "    }\n}\n\n";
    }
    let owners =
        passes.passes.iter().flat_map(|pass| pass.options.iter().map(|option| (&option.argument, &pass.argument)));
    let _ = writeln!(text, "const OWNERS: &[(&str, &str)] = &{:?};\n", owners.collect::<Vec<_>>());
    for pass in passes.passes.iter().filter(|pass| !pass.options.is_empty() && !runs_passes(pass)) {
        let about = format!("The options of `{}`", pass.argument);
        let and_of: Vec<_> = passes.pipelines.iter().filter(|pipeline| pipeline.options_of == pass.argument).collect();
        let about = if and_of.is_empty() { about } else { format!("{about} and of the pipelines") };
        let copied = if pass.options.iter().any(is_text) { "" } else { "\n    #[derive(Copy)]" };
        let _ = writeln!(text, "options! {{\n    #[doc = \"{about}.\"]{copied}\n    {} {{", options_type(pass));
        for option in &pass.options {
            let (rust, default) = rust_type(option, &passes.choices)?;
            let name = option.argument.replace('-', "_");
            let _ = writeln!(text, "        #[doc = {:?}]", format!("{}.", option.description));
            let _ = writeln!(text, "        {name}: {rust} = {default}, {:?};", option.argument);
        }
        text += "    }\n}\n\n";
    }
    Ok(text)
}

/// The type of an option in Rust, and its default.
fn rust_type(option: &PassOption, choices: &[Choices]) -> Result<(String, String), String> {
    let simple = [("bool", "bool"), ("uint32_t", "u32"), ("uint64_t", "u64"), ("int64_t", "i64")];
    if let Some((_, rust)) = simple.iter().find(|(cpp, _)| *cpp == option.cpp_type) {
        return Ok(((*rust).into(), option.default.clone()));
    }
    if is_text(option) {
        return Ok(("String".into(), format!("{}.into()", option.default)));
    }
    let name = option.cpp_type.trim_start_matches("::layout::");
    if choices.iter().any(|known| known.name == name) {
        let default = option.default.rsplit("::").next().unwrap_or_default();
        return Ok((name.into(), format!("{name}::{}", camel(default))));
    }
    let known: Vec<&str> = simple.iter().map(|(cpp, _)| *cpp).collect();
    Err(format!(
        "Passes.td: the type of option {} must be {} or one of the records of Choices, found {}",
        option.argument,
        known.join(", "),
        option.cpp_type
    ))
}

/// Whether an option is free text, such as the name of a file.
fn is_text(option: &PassOption) -> bool {
    option.cpp_type == "std::string"
}

/// Whether a pass runs those that its options name, as `layout-verify` does: it is no value.
fn runs_passes(pass: &Pass) -> bool {
    pass.options.iter().any(|option| option.argument == "passes")
}

/// The name of the struct of a pass's options.
fn options_type(pass: &Pass) -> String {
    camel(own_name(&pass.argument)) + "Options"
}

/// The enum of the passes, in the order of their names, and the tables of it.
fn enum_of(passes: &Passes) -> String {
    let mut all: Vec<&Pass> = passes.passes.iter().filter(|pass| !runs_passes(pass)).collect();
    all.sort_by_key(|pass| &pass.argument);
    let mut tables = PassTables::default();
    all.into_iter().for_each(|pass| tables.add(pass));
    tables.text()
}

/// The variants of the enum of the passes, and the arms of each `match` over them.
#[derive(Default)]
struct PassTables {
    variants: String,
    names: String,
    named: String,
    read: String,
    options: String,
    stages: String,
}

impl PassTables {
    fn add(&mut self, pass: &Pass) {
        let variant = camel(own_name(&pass.argument));
        let module = format!("crate::{}::{}", pass.folder, own_name(&pass.argument).replace('-', "_"));
        let about = format!("{}: [`{module}`].", pass.summary);
        line(&mut self.variants, format!("    #[doc = {about:?}]"));
        line(&mut self.names, format!("    {:?},", pass.argument));
        let fields = if pass.options.is_empty() { "" } else { " { .. }" };
        line(&mut self.named, format!("            Pass::{variant}{fields} => {:?},", pass.argument));
        let (pattern, field) = if pass.options.is_empty() { ("", "options: ()") } else { (" { options }", "options") };
        let stage = format!("StageInput {{ rewriter, {field}, number }}");
        line(&mut self.stages, format!("            Pass::{variant}{pattern} => {module}::run({stage}),"));
        if pass.options.is_empty() {
            line(&mut self.variants, format!("    {variant},"));
            line(&mut self.read, format!("            {:?} => without_options(Pass::{variant}, text),", pass.argument));
        } else {
            let own = options_type(pass);
            line(
                &mut self.variants,
                format!("    {variant} {{\n        /// Its options.\n        options: {own},\n    }},"),
            );
            let value = format!("text.parse().map(|options| Pass::{variant} {{ options }})");
            line(&mut self.read, format!("            {:?} => {value},", pass.argument));
            line(&mut self.options, format!("            Pass::{variant} {{ options }} => Some(options),"));
        }
    }

    fn text(&self) -> String {
        let PassTables { variants, names, named, read, options, stages } = self;
        format!(
            "/// A pass with its options. Prints as in the text of a pipeline: `layout-lower-memrefs{{form=physical}}`; with
/// `{{:#}}` with all options, as MLIR prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {{
{variants}}}

/// The names of all passes.
pub(crate) const NAMES: &[&str] = &[
{names}];

impl Pass {{
    /// The name in the text of a pipeline.
    pub fn name(&self) -> &'static str {{
        match self {{
{named}        }}
    }}

    /// The options, where the pass has any.
    fn options(&self) -> Option<&dyn fmt::Display> {{
        match self {{
{options}            _ => None,
        }}
    }}

    /// Runs a stage of the pass.
    pub(crate) fn stage<'c>(self, rewriter: &'c Rewriter, number: usize) -> StageResult<'c> {{
        match self {{
{stages}        }}
    }}

    /// The pass of a name, with the options of a text.
    ///
    /// # Errors
    /// Where no pass has the name, and where the text is not one of options that the pass has.
    pub fn read(name: &str, text: &str) -> Result<Pass, String> {{
        match name {{
{read}            _ => Err(format!(\"unknown pass `{{name}}`{{}}\", instead(name, NAMES))),
        }}
    }}
}}
"
        )
    }
}

fn line(text: &mut String, line: String) {
    text.push_str(&line);
    text.push('\n');
}

/// The constants of the pipelines.
fn pipelines(passes: &Passes) -> String {
    let mut text = String::new();
    let mut names = Vec::new();
    for Pipeline { argument, summary, passes, .. } in &passes.pipelines {
        let name = own_name(argument).replace('-', "_").to_uppercase();
        let _ = writeln!(text, "#[doc = {:?}]", format!("{summary}."));
        let _ = writeln!(text, "pub const {name}: Pipeline =");
        let _ = writeln!(text, "    Pipeline {{ name: {argument:?}, summary: {summary:?}, passes: &{passes:?} }};\n");
        names.push(name);
    }
    text + &format!("/// All pipelines.\npub const PIPELINES: &[Pipeline] = &[{}];\n", names.join(", "))
}

/// The table of the options of all passes and pipelines.
fn options_of_all(passes: &Passes) -> String {
    let mut text = String::from(
        "/// The names of all passes and pipelines, each with those of its options.\nconst OPTIONS: &[(&str, &[&str])] = &[\n",
    );
    let named = |pass: &Pass| pass.options.iter().map(|option| option.argument.clone()).collect::<Vec<_>>();
    let pipelines = passes.pipelines.iter().filter_map(|pipeline| {
        let own = passes.passes.iter().find(|pass| pass.argument == pipeline.options_of)?;
        Some((&pipeline.argument, named(own)))
    });
    for (name, options) in passes.passes.iter().map(|pass| (&pass.argument, named(pass))).chain(pipelines) {
        let _ = writeln!(text, "    ({name:?}, &{options:?}),");
    }
    text + "];\n"
}

/// The C++ classes of the passes: `Passes.cpp` has their base, `Shell`, and `writeOption`.
fn classes(passes: &[Pass]) -> String {
    let mut text = String::from("namespace layout {\n");
    for pass in passes {
        let _ = writeln!(text, "#define GEN_PASS_DEF_{}", pass.record.to_uppercase());
    }
    text += "#define GEN_PASS_REGISTRATION\n#include \"Passes.h.inc\"\n} // namespace layout\n\nnamespace {\n";
    for pass in passes {
        let (record, class) = (&pass.record, camel(own_name(&pass.argument)));
        let _ = writeln!(text, "struct {class} : Shell<layout::impl::{record}Base<{class}>> {{\n  using Shell::Shell;");
        if !pass.options.is_empty() {
            let each: Vec<String> =
                pass.options.iter().map(|option| format!("writeOption(text, {})", option.variable)).collect();
            let _ = writeln!(text, "  void writeOptions(llvm::raw_ostream &text) const override {{");
            let _ = writeln!(text, "    {};\n  }}", each.join(";\n    "));
        }
        text += "};\n";
    }
    text + "} // namespace\n"
}

/// The name of a pass or pipeline without the common prefix.
fn own_name(argument: &str) -> &str {
    argument.strip_prefix("layout-").unwrap_or(argument)
}

/// `lower-memrefs` as `LowerMemrefs`.
fn camel(name: &str) -> String {
    name.split('-')
        .filter_map(|word| {
            let first = word.chars().next()?;
            Some(first.to_uppercase().collect::<String>() + &word[first.len_utf8()..])
        })
        .collect()
}
