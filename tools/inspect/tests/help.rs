//! The examples in the help of `layout-inspect`: each is run.

use std::process::Command;
use std::{env, fs, path::Path};

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
