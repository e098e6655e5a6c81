//! The command line: parsing with errors in one grammar, completions and man pages.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command, Parser, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;

/// The arguments of the process. Does not return where the command line is invalid (exit status 2), or contains the
/// option for help or the version.
///
/// Two command lines for packagers are not in the help: `--completions SHELL` prints the
/// completion of bash, elvish, fish, powershell or zsh, and `--man FOLDER` writes the man pages, one for the tool and
/// one for each command. These do not return, either.
pub fn parse<A: Parser>() -> A {
    parse_from(std::env::args_os().collect())
}

/// As [`parse`], for a command line that begins with the name of the tool.
pub fn parse_from<A: Parser>(given: Vec<OsString>) -> A {
    if let [_, option, value] = &given[..]
        && let Some(done) = package(A::command(), option, value)
    {
        match done {
            Ok(()) => std::process::exit(0),
            Err(message) => A::command().error(ErrorKind::InvalidValue, message).exit(),
        }
    }
    parsed(&given).unwrap_or_else(|error: clap::Error| error.exit())
}

/// The arguments of a command line.
fn parsed<A: Parser>(given: &[OsString]) -> Result<A, clap::Error> {
    let mut command = A::command();
    let found = command.try_get_matches_from_mut(given).and_then(|mut matches| {
        if let Some(error) = blank(&command, &matches) {
            return Err(error);
        }
        A::from_arg_matches_mut(&mut matches)
    });
    found.map_err(|error| worded::<A>(error, given))
}

/// The error of an option without a value, or with one of white space: no option takes that.
fn blank(command: &Command, matches: &ArgMatches) -> Option<clap::Error> {
    if let Some((name, below)) = matches.subcommand() {
        return blank(command.find_subcommand(name)?, below);
    }
    let is_blank = |option: &&Arg| {
        let mut values = matches.get_raw(option.get_id().as_str()).into_iter().flatten();
        values.any(|value| value.to_string_lossy().trim().is_empty())
    };
    let option = command.get_arguments().filter(|option| !option.is_positional()).find(is_blank)?;
    Some(without_value(command, option.to_string(), None))
}

/// The error of an option without a value, which has these choices.
fn without_value(command: &Command, option: String, choices: Option<&ContextValue>) -> clap::Error {
    let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
    error.insert(ContextKind::InvalidArg, ContextValue::String(option));
    error.insert(ContextKind::InvalidValue, ContextValue::String(String::new()));
    choices.map(|choices| error.insert(ContextKind::ValidValue, choices.clone()));
    error
}

/// Prints the completions of a command or writes its man pages. `None` where the option is neither.
fn package(mut command: Command, option: &OsStr, value: &OsStr) -> Option<Result<(), String>> {
    let name = command.get_name().to_string();
    let value = Path::new(value);
    if option == "--completions" {
        let Ok(shell) = Shell::from_str(&value.to_string_lossy(), false) else {
            let shells: Vec<String> = Shell::value_variants().iter().map(Shell::to_string).collect();
            return Some(Err(format!("unknown shell `{}`: one of {} is known", value.display(), shells.join(", "))));
        };
        return Some(
            crate::files::print(&completion(shell, &mut command, &name)).map_err(|complaint| complaint.plain()),
        );
    }
    (option == "--man").then(|| pages(value, command, &name).map_err(|e| format!("{}: {e}", value.display())))
}

/// The completion of a shell.
fn completion(shell: Shell, command: &mut Command, name: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, command, name, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    // clap-rs/clap#6421: where the tool's name has a hyphen, the labels of bash's second `case` differ from the states
    // of the first, so the options of subcommands are never found.
    let [label, state] = ["__subcmd__", "__"].map(|hyphen| format!("{}__subcmd__", name.replace('-', hyphen)));
    if shell == Shell::Bash { script.replace(&label, &state) } else { script }
}

/// The error in the grammar of all our errors, where clap's differs: `unknown option `--jsn`; did you mean `--json`?`.
fn worded<A: Parser>(error: clap::Error, given: &[OsString]) -> clap::Error {
    let mut command = A::command();
    if let (Some(ContextValue::String(option)), Some(ContextValue::String(value))) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue))
        && option.starts_with('-')
        && value.trim().is_empty()
    {
        return without_value(&command, option.clone(), error.get(ContextKind::ValidValue));
    }
    if !matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::ArgumentConflict) {
        return error;
    }
    let message = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(unknown))
            if error.kind() == ErrorKind::UnknownArgument && unknown.starts_with('-') =>
        {
            let used = given.get(1).and_then(|name| command.find_subcommand(name)).map(Command::get_name);
            let hint = match (error.get(ContextKind::SuggestedArg), owner(&command, unknown), used) {
                (Some(ContextValue::String(near)), _, _) => format!("; did you mean `{near}`?"),
                (_, Some(owner), Some(used)) => format!(" of `{used}`; `{owner}` has it"),
                (_, Some(owner), None) => format!("; did you mean the command `{owner}`?"),
                _ => String::new(),
            };
            format!("unknown option `{unknown}`{hint}")
        }
        _ => match misspelled(&command, given) {
            Some((name, near)) => format!("unknown command `{name}`; did you mean `{near}`?"),
            None => return error,
        },
    };
    command.error(error.kind(), message)
}

/// The command with this option.
fn owner<'a>(command: &'a Command, option: &str) -> Option<&'a str> {
    let name = option.trim_start_matches('-');
    let has = |below: &&Command| below.get_arguments().any(|argument| argument.get_long() == Some(name));
    command.get_subcommands().find(has).map(Command::get_name)
}

/// The first argument and the most similar command; `None` where none is similar, or the argument is a command.
fn misspelled<'a>(command: &'a Command, given: &[OsString]) -> Option<(String, &'a str)> {
    let first = given.get(1)?.to_str()?;
    let near = tensor_layout::text::nearest(first, command.get_subcommands().map(Command::get_name))?;
    (near != first).then(|| (first.to_string(), near))
}

/// Writes the man pages of a command and its subcommands: `layout-inspect.1`, `layout-inspect-hlo.1`, ...
fn pages(folder: &Path, mut command: Command, name: &str) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    command = command.disable_help_subcommand(true);
    command.build();
    page(folder, &command, name)?;
    for below in command.get_subcommands() {
        page(folder, below, &format!("{name}-{}", below.get_name()))?;
    }
    Ok(())
}

/// Writes one page. Headings in the text after the help, such as `Examples:`, become sections.
fn page(folder: &Path, command: &Command, name: &str) -> io::Result<()> {
    let mut file = std::fs::File::create(folder.join(format!("{name}.1")))?;
    let after = command.get_after_help().map(StyledStr::to_string).unwrap_or_default();
    let version = concat!("layout ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone().display_name(name.to_string()))
        .title(name)
        .source(version)
        .manual("Tensor layouts for MLIR");
    man.render_title(&mut file)?;
    man.render_name_section(&mut file)?;
    man.render_synopsis_section(&mut file)?;
    man.render_description_section(&mut file)?;
    man.render_options_section(&mut file)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut file)?;
    }
    let mut sections = Roff::new();
    for line in after.lines() {
        match line.strip_suffix(':').filter(|heading| !heading.starts_with(' ')) {
            Some(heading) => sections.control("SH", [heading.to_uppercase().as_str()]),
            None if line.is_empty() => &mut sections,
            None => sections.control("PP", []).text([roman(line.trim_start())]),
        };
    }
    if !after.is_empty() {
        sections.to_writer(&mut file)?;
    }
    file.flush()
}
