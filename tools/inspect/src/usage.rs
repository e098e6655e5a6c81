//! What is wrong with a command line, with the right spelling where one is near.
//!
//! The commands and the options are those that the help names, so there is no second list of them.

use layout::text::nearest;

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
    match *first {
        "simplify" => "one map is needed".into(),
        "view" => "one layout and one view are needed".into(),
        "hlo" => "one file is needed".into(),
        "moves" => "two shapes are needed".into(),
        "convert" => "two layouts are needed".into(),
        _ => "one shape, or --json, is needed".into(),
    }
}

/// `: did you mean` the command, where a text that is no layout looks like one.
pub fn command_hint(help: &str, text: &str) -> String {
    hint(text, &commands(help))
}

fn hint(name: &str, names: &[&str]) -> String {
    nearest(name, names.iter().copied()).map_or(String::new(), |near| format!(": did you mean `{near}`?"))
}

/// The words in small letters behind the tool's name in the usages.
fn commands(help: &str) -> Vec<&str> {
    let usages = help.lines().skip_while(|line| !line.starts_with("Usage:")).take_while(|line| !line.is_empty());
    let first = |line| str::split_once(line, "layout-inspect ").and_then(|(_, rest)| rest.split(' ').next());
    usages.filter_map(first).filter(|word| word.bytes().all(|b| b.is_ascii_lowercase())).collect()
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
        ] {
            assert_eq!(wrong(USAGE, arguments), expected);
        }
        assert_eq!(command_hint(USAGE, "mvoes"), ": did you mean `moves`?");
        assert_eq!(command_hint(USAGE, "f32[2]"), "");
    }
}
