//! Each check for about a second, in its own process: a crash or a hang is reported with its text. `LAYOUT_SAMPLE` takes
//! part of the corpus and of the second's texts.

use layout_fuzz::CHECKS;
use layout_test::{Checkout, Sample};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, path::Path};

/// The time after which a check counts as hanging: its second, its corpus, and a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The most mutations, so that fast and slow machines see the same ones.
const CASES: u64 = 2000;

fn smoke(name: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (input, log) = (folder.join(format!("{name}.input")), folder.join(format!("{name}.log")));
    let mut command = Command::new(env!("CARGO_BIN_EXE_layout-fuzz"));
    let sample = Sample::from_env();
    let numbers = [1, sample.seed.unwrap_or(0), CASES.div_ceil(sample.share), sample.share];
    command.arg(name).args(numbers.map(|number| number.to_string())).env("LAYOUT_FUZZ_INPUT", &input);
    let checkout = Checkout::new();
    if ["json", "lsp"].contains(&name) {
        checkout.build_tools();
    }
    command.env("LAYOUT_INSPECT", checkout.tools.join("layout-inspect"));
    command.env("LAYOUT_LSP_SERVER", checkout.tools.join("layout-lsp-server"));
    let messages = fs::File::create(&log).expect("the folder for tests can be written");
    let mut child = command.stdout(Stdio::null()).stderr(messages).spawn().expect("the check starts");
    let start = Instant::now();
    let outcome = loop {
        match child.try_wait().expect("the check can be waited for") {
            Some(status) => break status.to_string(),
            None if start.elapsed() > PATIENCE => {
                child.kill().expect("the check can be ended");
                child.wait().expect("it has ended");
                break format!("no end after {PATIENCE:?}");
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    let (text, said) = (fs::read_to_string(&input).unwrap_or_default(), fs::read_to_string(&log).unwrap_or_default());
    assert!(outcome == "exit status: 0", "{name}: {outcome}\n{said}\non this text, to be added to its corpus:\n{text}");
}

macro_rules! smoke_tests {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            smoke(stringify!($name));
        })+

        #[test]
        fn every_check_is_tried() {
            let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
            assert_eq!(names, [$(stringify!($name)),+]);
        }
    };
}

smoke_tests! { shape tensor_layout relayout machine map notation algebra hlo json lsp pipeline attribute module lowering }
