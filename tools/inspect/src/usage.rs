//! What is wrong with a command line, with the right spelling where one is near.
//!
//! The commands and the options are those that the help names, so there is no second list of them.

use tensor_layout::text::nearest;

/// What is wrong where the arguments are none of the help's usages.
pub fn wrong(help: &str, arguments: &[&str]) -> String {
    let options = options(help);
    let is_option = |a: &&&str| a.len() > 1 && a.starts_with('-') && !a.starts_with(|c: char| c.is_ascii_digit());
    let until = arguments.iter().position(|a| *a == "--").unwrap_or(arguments.len());
    if let Some(unknown) = arguments[..until].iter().filter(is_option).find(|a| !options.contains(*a)) {
        return format!("unknown option `{unknown}`{}", hint(unknown, &options));
    }
    let Some(first) = arguments.first() else { return "one shape, or --json, is needed".into() };
    let commands = commands(help);
    let is_word = first.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') && !first.starts_with('-');
    if is_word && !commands.contains(first) && arguments.len() > 1 {
        return format!("unknown command `{first}`{}", hint(first, &commands));
    }
    if let Some(value) = arguments.last().and_then(|last| value(help, last)) {
        return format!("`{}` needs {value}", arguments[arguments.len() - 1]);
    }
    let command = if commands.contains(first) { *first } else { "" };
    for option in arguments[..until].iter().filter(is_option) {
        let with = commands_with(help, option);
        if with.is_empty() && arguments.len() > 1 {
            return format!("`{option}` stands alone");
        }
        if !with.is_empty() && !with.contains(&command) {
            let with: Vec<String> = with.iter().map(|c| format!("`{c}`").replace("``", "a shape or layout")).collect();
            return format!("`{option}` goes with {}", with.join(" or "));
        }
    }
    match *first {
        "simplify" => "one map is needed".into(),
        "view" => "one layout and one view are needed".into(),
        "hlo" => "one file is needed".into(),
        "moves" => "two shapes are needed".into(),
        "convert" => "two layouts are needed".into(),
        _ if arguments.contains(&"--json") => "`--json` stands alone, or goes with `hlo`".into(),
        _ => "one shape or layout is needed, and no more".into(),
    }
}

/// `: did you mean` the command, where a text that is no layout looks like one.
pub fn command_hint(help: &str, text: &str) -> String {
    hint(text, &commands(help))
}

fn hint(name: &str, names: &[&str]) -> String {
    nearest(name, names.iter().copied()).map_or(String::new(), |near| format!(": did you mean `{near}`?"))
}

/// The usages, without the tool's name.
fn usages(help: &str) -> impl Iterator<Item = &str> {
    let usages = help.lines().skip_while(|line| !line.starts_with("Usage:")).take_while(|line| !line.is_empty());
    usages.filter_map(|line| line.split_once("layout-inspect ").map(|(_, rest)| rest))
}

/// The word in small letters that a usage begins with; empty where there is none.
fn command(usage: &str) -> &str {
    let first = usage.split(' ').next().unwrap_or_default();
    if first.bytes().all(|b| b.is_ascii_lowercase()) { first } else { "" }
}

fn commands(help: &str) -> Vec<&str> {
    usages(help).map(command).filter(|word| !word.is_empty()).collect()
}

/// The commands in whose usages an option is, once each.
fn commands_with<'a>(help: &'a str, option: &str) -> Vec<&'a str> {
    let has = |usage: &&str| usage.split([' ', '[', ']']).any(|word| word == option);
    let mut with: Vec<&str> = usages(help).filter(has).map(command).collect();
    with.dedup();
    with
}

/// What stands behind an option that has a value: `FILE`.
fn value<'a>(help: &'a str, option: &str) -> Option<&'a str> {
    let line = help.lines().map(str::trim_start).find(|line| line.split(' ').next() == Some(option))?;
    let value = line.split(' ').nth(1)?;
    (!value.is_empty() && value.bytes().all(|b| b.is_ascii_uppercase())).then_some(value)
}

/// The options that stand at the beginning of lines.
fn options(help: &str) -> Vec<&str> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    lines
        .flat_map(|line| line.split(", ").map(|part| part.split(' ').next().unwrap_or_default()))
        .filter(|word| word.starts_with('-'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::USAGE;

    #[test]
    fn the_help_names_commands_and_options() {
        assert!(["view", "simplify", "hlo", "moves", "convert"].iter().all(|name| commands(USAGE).contains(name)));
        assert!(!commands(USAGE).contains(&"is"));
        assert!(["-h", "--help", "--json", "--tile"].iter().all(|name| options(USAGE).contains(name)));
    }

    #[test]
    fn the_nearest_is_offered() {
        for (arguments, expected) in [
            (&["--jsno"][..], "unknown option `--jsno`: did you mean `--json`?"),
            (&["hlo", "m.hlo", "--tiel", "8"], "unknown option `--tiel`: did you mean `--tile`?"),
            (&["simplfy", "(d0) -> (d0)"], "unknown command `simplfy`: did you mean `simplify`?"),
            (&["--frobnicate"], "unknown option `--frobnicate`"),
            (&["view", "(2:3)"], "one layout and one view are needed"),
            (&["convert", "(2:3)"], "two layouts are needed"),
            (&["convert", "(2:1)", "(2:1)", "--block"], "unknown option `--block`: did you mean `--blocks`?"),
            (&[], "one shape, or --json, is needed"),
            (&["f32[2]", "f32[3]"], "one shape or layout is needed, and no more"),
            (&["f32[2]", "--svg"], "`--svg` needs FILE"),
            (&["f32[2]", "--machine", "mn_core"], "`--machine` goes with `convert`"),
            (&["hlo", "m.hlo", "--svg", "m.svg"], "`--svg` goes with a shape or layout"),
            (&["f32[2]", "--transpose", "1,0"], "`--transpose` goes with `view` or `moves`"),
            (&["--version", "extra"], "`--version` stands alone"),
            (&["--json", "extra"], "`--json` stands alone, or goes with `hlo`"),
        ] {
            assert_eq!(wrong(USAGE, arguments), expected);
        }
        assert_eq!(command_hint(USAGE, "mvoes"), ": did you mean `moves`?");
        assert_eq!(command_hint(USAGE, "f32[2]"), "");
    }
}
