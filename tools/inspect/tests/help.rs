//! The examples in the help of `layout-inspect`, each of which is run.

use std::process::Command;
use std::{env, fs, path::Path};
use tensor_layout::notations::Notation;
use tensor_layout::notations::expression::operations;
use tensor_layout::places::READY;

#[test]
fn every_example_in_the_help_works() {
    let tool = Path::new(env!("CARGO_BIN_EXE_layout-inspect"));
    let help = Command::new(tool).arg("--help").output().expect("the tool runs").stdout;
    let help = String::from_utf8(help).expect("the help is UTF-8");
    let (_, examples) = help.split_once("\nExamples:\n").expect("the help has examples");
    let examples: Vec<&str> = examples.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    assert!(examples.len() > 4);

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("help");
    fs::create_dir_all(&folder).expect("a folder of the test's own");
    let model = "HloModule m\nENTRY e {\n  x = f32[8,128] parameter(0)\n  y = f32[128,128] parameter(1)\n  \
        ROOT dot = f32[8,128] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
    fs::write(folder.join("model.hlo"), model).expect("the model is written");
    let problem = "{\"problem\": {\"name\": \"one choice\", \"nodes\": {\"intervals\": [[0, 1]], \"costs\": [[3, 2]], \
        \"usages\": [[0, 0]]}, \"edges\": {\"nodes\": [], \"costs\": []}, \"usage_limit\": 0}}";
    fs::write(folder.join("problem.json"), problem).expect("the problem is written");
    let packed = Command::new("gzip").args(["-kf", "problem.json"]).current_dir(&folder).status();
    assert!(packed.expect("gzip runs").success());
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(
        [tool.parent().expect("a file is in a folder").into()].into_iter().chain(env::split_paths(&path)),
    );
    let path = path.expect("folders have no colon in their names");
    for example in examples {
        let script = format!("set -e -o pipefail; {example}");
        let run = Command::new("bash").args(["-c", &script]).env("PATH", &path).current_dir(&folder).output();
        let run = run.expect("bash runs");
        assert!(run.status.success(), "{example}\n{}", String::from_utf8_lossy(&run.stderr));
    }
    assert!(folder.join("places.svg").is_file());
}

/// The output of a tool on both streams, and its exit status.
fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_layout-inspect")).args(arguments).output().expect("the tool runs");
    let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// The commands in the help.
fn commands() -> Vec<String> {
    let (help, ..) = run(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let words = listed.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    words.filter_map(|line| line.split_whitespace().next().map(str::to_string)).collect()
}

/// A help with machines or notations lists all of them.
#[test]
fn lists_in_the_help_are_those_of_the_tables() {
    let mut with_machines = 0;
    for command in commands() {
        let (help, ..) = run(&[&command, "--help"]);
        let has = |name: &str| help.split(|c: char| !c.is_alphanumeric() && !"_-".contains(c)).any(|word| word == name);
        if has("MACHINE") {
            with_machines += 1;
            assert!(READY.iter().all(|(name, _)| has(name)), "{help}");
        }
        if has("NOTATION") {
            assert!(Notation::NAMES.iter().all(|name| has(name)), "{help}");
        }
        if has("EXPRESSION") {
            assert!(operations().into_iter().all(has), "{help}");
        }
    }
    assert_eq!(with_machines, 5);
}

#[test]
fn every_command_has_help() {
    let commands = commands();
    assert!(commands.len() > 9 && commands.iter().any(|command| command == "check-plan"), "{commands:?}");
    for command in &commands {
        for option in ["--help", "-h"] {
            let (out, error, code) = run(&[command.as_str(), option]);
            assert!(out.contains(&format!("\nUsage: layout-inspect {command} ")), "{out}");
            assert_eq!((error.as_str(), code), ("", Some(0)), "{command}");
        }
    }
}

/// No option of any command takes an empty value or one of white space; the message has the option.
#[test]
fn an_option_without_a_value_is_an_error_of_the_command_line() {
    // The operands of each command, and the options that an option requires.
    let operands = |command: &str, option: &str| -> Vec<&str> {
        match command {
            "convert" if option != "--to" => vec!["f32[2,3]", "f32[2,3]"],
            "algebra" => vec!["8:1"],
            "view" => vec!["f32[2,3]"],
            "layouts" => vec!["f32[2,3]"],
            "simplify" => vec!["(d0) -> (d0), domain: d0 in [0, 3]"],
            "machine" => vec!["cpu"],
            "moves" if option == "--start" || option == "--rank" => vec!["f32[2,3]", "f32[6]", "--copies"],
            "moves" => vec!["f32[2,3]", "f32[6]"],
            "plan" if option != "--machine" => vec!["m.hlo", "--machine", "cpu"],
            _ => vec!["m.hlo"],
        }
    };
    let required = |option: &str| match option {
        "--capacity" => vec!["--judge", "true"],
        "--entry" | "--seconds" => vec!["--html", "-", "--plan"],
        _ => Vec::new(),
    };
    let mut tried = 0;
    for command in commands() {
        let (help, ..) = run(&[&command, "--help"]);
        let words = help.lines().filter_map(|line| line.trim_start().split_once(" <"));
        for option in words.filter_map(|(names, _)| names.rsplit(' ').next().filter(|name| name.starts_with('-'))) {
            for value in ["", " "] {
                let given = format!("{option}={value}");
                let mut arguments = vec![command.as_str()];
                arguments.extend(operands(&command, option));
                arguments.extend(required(option).into_iter().filter(|_| command == "hlo"));
                arguments.push(&given);
                let (out, error, code) = run(&arguments);
                assert_eq!((out.as_str(), code), ("", Some(2)), "{arguments:?}: {error}");
                let expected = format!("error: a value is required for '{option} <");
                assert!(error.starts_with(&expected), "{arguments:?}: {error}");
                tried += 1;
            }
        }
    }
    assert!(tried > 60, "{tried}");
}

#[test]
fn what_is_misspelled_is_recognised() {
    for (arguments, expected) in [
        (&["--jsno"][..], "unknown option `--jsno`; did you mean `--json`?"),
        (&["hlo", "m.hlo", "--tiel", "8"], "unknown option `--tiel`; did you mean `--tile`?"),
        (&["simplfy", "(d0) -> (d0)"], "unknown command `simplfy`; did you mean `simplify`?"),
        (&["hol", "m.hlo", "--instruction", "x"], "unknown command `hol`; did you mean `hlo`?"),
        (&["--frobnicate"], "unknown option `--frobnicate`"),
        (&["convert", "(2:1)", "(2:1)", "--block"], "unknown option `--block`; did you mean `--blocks`?"),
        (&["hlo", "m.hlo", "--steps", "3"], "unknown option `--steps` of `hlo`; `offsets` has it"),
        (&["f32[2]", "--element", "f32"], "unknown option `--element`; did you mean the command `convert`?"),
    ] {
        let (out, error, code) = run(arguments);
        assert_eq!((out.as_str(), code), ("", Some(2)), "{arguments:?}");
        assert!(error.starts_with(&format!("error: {expected}\n")), "{arguments:?}: {error}");
    }
    // A single word is a text, not a command.
    for (text, expected) in [
        ("mvoes", "; did you mean the command `moves`?\n"),
        ("m.hlo", "found the name of a file; did you mean `hlo m.hlo`?\n"),
        ("Cargo.toml", "found the name of a file; did you mean `hlo Cargo.toml`?\n"),
        ("float32[3,5]", "unknown element type `float32`; XLA writes `f32`\n"),
        ("uint8[3]", "unknown element type `uint8`; XLA writes `u8`\n"),
        ("float8_e4m3fn[3]", "unknown element type `float8_e4m3fn`; XLA writes `f8e4m3fn`\n"),
        ("i1[3]", "unknown element type `i1`; XLA writes `pred`\n"),
        ("tensor<3x5xf32>", "found a type of MLIR; XLA writes `f32[3,5]`\n"),
        ("tensor<f8E4M3FN>", "found a type of MLIR; XLA writes `f8e4m3fn[]`\n"),
        ("memref<?x5xcomplex<f32>>", "found a type of MLIR; XLA writes `c64[?,5]`\n"),
        ("tensor<3x5xi8, #layout.tiled<{0,1:T(2,2)}>>", "XLA writes `s8[3,5]{0,1:T(2,2)}`\n"),
    ] {
        let (out, error, code) = run(&[text]);
        assert!(error.contains(expected), "{text}: {error}");
        assert_eq!((out.as_str(), code), ("", Some(1)), "{text}");
    }
    let (_, error, _) = run(&["machine", "tpu"]);
    assert!(error.contains("unknown machine `tpu`; did you mean `tpu_v5e`?\n"), "{error}");
    for arguments in [
        &["view", "(2:3)"][..],
        &["view", "(2:3)", "--reshape", "2", "--slice", "0:1"],
        &["convert", "(2:3)"],
        &["moves", "f32[2]"],
        &["f32[2]", "--svg"],
        &["hlo", "m.hlo", "--svg", "m.svg"],
        &["f32[2]", "--transpose", "1,0"],
        &["f32[2]", "hlo", "m.hlo"],
    ] {
        let (out, error, code) = run(arguments);
        assert!(error.starts_with("error: ") && error.contains("try '--help'"), "{arguments:?}: {error}");
        assert_eq!((out.as_str(), code), ("", Some(2)), "{arguments:?}");
    }
}
