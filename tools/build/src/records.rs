//! The records of a TableGen file: passes, as in MLIR's `PassBase.td`, with the additions of this project's
//! `Passes.td`: options with named values, and pipelines; and the attributes of a dialect.

use std::path::Path;
use tblgen::{RecordKeeper, TableGenParser, record::Record};

/// A file of passes, all in the order of the file.
#[derive(Clone, Debug)]
pub struct Passes {
    /// The options with named values.
    pub choices: Vec<Choices>,
    /// The passes.
    pub passes: Vec<Pass>,
    /// The pipelines.
    pub pipelines: Vec<Pipeline>,
}

/// The named values of an option: a record of the class `Choices`.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The name of the C++ enum, in its namespace `layout`.
    pub name: String,
    /// The option's effect.
    pub summary: String,
    /// The values; the first is the default.
    pub values: Vec<Choice>,
}

/// A value of an option.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The C++ enumerator.
    pub symbol: String,
    /// The value in text.
    pub text: String,
    /// The value's effect.
    pub summary: String,
}

/// A pass: a record of the class `LayoutPass`.
#[derive(Clone, Debug)]
pub struct Pass {
    /// The name of the record, and of the C++ class.
    pub record: String,
    /// The name in the text of a pipeline.
    pub argument: String,
    /// The folder of its file, which is called as the pass without `layout-`.
    pub folder: String,
    /// One line, as `--help` shows it.
    pub summary: String,
    /// The options.
    pub options: Vec<PassOption>,
}

/// An option of a pass: a record of MLIR's class `Option`.
#[derive(Clone, Debug)]
pub struct PassOption {
    /// The name of the C++ variable.
    pub variable: String,
    /// The name in text.
    pub argument: String,
    /// The C++ type.
    pub cpp_type: String,
    /// The C++ expression of the default.
    pub default: String,
    /// The help text.
    pub description: String,
}

/// A pipeline: a record of the class `Pipeline`.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// The name in text.
    pub argument: String,
    /// One line, as `--help` shows it.
    pub summary: String,
    /// The passes in their order, each as text.
    pub passes: Vec<String>,
    /// The name of the pass that gives the pipeline its options.
    pub options_of: String,
}

impl Passes {
    /// Reads a file; includes are found in `include` and in the file's own folder.
    ///
    /// # Errors
    /// The file is not valid TableGen, or a record misses a field.
    pub fn read(file: &Path, include: &Path) -> Result<Passes, String> {
        read(file, include, Passes::of)
    }

    fn of(keeper: &RecordKeeper) -> Result<Passes, tblgen::Error> {
        Ok(Passes {
            choices: derived(keeper, "Choices").into_iter().map(Choices::of).collect::<Result<_, _>>()?,
            passes: derived(keeper, "LayoutPass").into_iter().map(Pass::of).collect::<Result<_, _>>()?,
            pipelines: derived(keeper, "Pipeline").into_iter().map(Pipeline::of).collect::<Result<_, _>>()?,
        })
    }
}

/// An attribute of a dialect: a record of MLIR's class `AttrDef` that sets `attrName`.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name after the dialect's, as in `#layout.tiled`.
    pub mnemonic: String,
    /// One line of description.
    pub summary: String,
}

/// The attributes of a file, in its order.
///
/// # Errors
/// As for [`Passes::read`].
pub fn attributes(file: &Path, include: &Path) -> Result<Vec<Attribute>, String> {
    read(file, include, |keeper| derived(keeper, "AttrDef").into_iter().map(Attribute::of).collect())
}

impl Attribute {
    fn of(record: Record) -> Result<Attribute, tblgen::Error> {
        let name = record.str_value("attrName")?;
        let mnemonic = name.split_once('.').map_or(name, |(_, mnemonic)| mnemonic);
        Ok(Attribute { mnemonic: mnemonic.into(), summary: record.str_value("summary")?.into() })
    }
}

/// Reads a file; includes are found in `include` and in the file's own folder.
fn read<T>(
    file: &Path,
    include: &Path,
    of: impl FnOnce(&RecordKeeper) -> Result<T, tblgen::Error>,
) -> Result<T, String> {
    let path = |path: &Path| path.to_str().map(str::to_string).ok_or(format!("{} is not UTF-8", path.display()));
    let mut parser = TableGenParser::new().add_source_file(&path(file)?).add_include_directory(&path(include)?);
    if let Some(folder) = file.parent() {
        parser = parser.add_include_directory(&path(folder)?);
    }
    let keeper = parser.parse().map_err(|error| format!("{}: {error}", file.display()))?;
    of(&keeper).map_err(|error| format!("{}: {error}", file.display()))
}

/// The records of a class in the order of the file; a keeper sorts them by name.
fn derived<'k>(keeper: &'k RecordKeeper, class: &str) -> Vec<Record<'k>> {
    let mut records: Vec<_> = keeper.all_derived_definitions_if_defined(class).collect();
    records.sort_by_key(|record| record.id());
    records
}

impl Choices {
    fn of(record: Record) -> Result<Choices, tblgen::Error> {
        let values = record.list_of_defs_value("enumerants")?;
        Ok(Choices {
            name: record.str_value("className")?.into(),
            summary: record.str_value("summary")?.into(),
            values: values.into_iter().map(Choice::of).collect::<Result<_, _>>()?,
        })
    }
}

impl Choice {
    fn of(record: Record) -> Result<Choice, tblgen::Error> {
        Ok(Choice {
            symbol: record.str_value("symbol")?.into(),
            text: record.str_value("str")?.into(),
            summary: record.str_value("summary")?.into(),
        })
    }
}

impl Pass {
    fn of(record: Record) -> Result<Pass, tblgen::Error> {
        let options = record.list_of_defs_value("options")?;
        Ok(Pass {
            record: record.name()?.into(),
            argument: record.str_value("argument")?.into(),
            folder: record.str_value("folder")?.into(),
            summary: record.str_value("summary")?.into(),
            options: options.into_iter().map(PassOption::of).collect::<Result<_, _>>()?,
        })
    }
}

impl PassOption {
    fn of(record: Record) -> Result<PassOption, tblgen::Error> {
        Ok(PassOption {
            variable: record.str_value("cppName")?.into(),
            argument: record.str_value("argument")?.into(),
            cpp_type: record.str_value("type")?.into(),
            default: record.str_value("defaultValue")?.into(),
            description: record.str_value("description")?.into(),
        })
    }
}

impl Pipeline {
    fn of(record: Record) -> Result<Pipeline, tblgen::Error> {
        let passes = record.list_of_strings_value("passes")?;
        Ok(Pipeline {
            argument: record.str_value("argument")?.into(),
            summary: record.str_value("summary")?.into(),
            passes: passes.into_iter().map(str::to_string).collect(),
            options_of: record.def_value("optionsOf")?.str_value("argument")?.into(),
        })
    }
}
