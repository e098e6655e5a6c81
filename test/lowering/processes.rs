//! Collectives over processes: random ones, lowered to MPI and run, against their definitions.
//!
//! A program computes a tensor in each process that depends on the process, applies a collective, and prints each
//! process's result. The evaluator of all processes runs the same program. Half of the programs overwrite a tensor
//! whose transfer may still be in flight.

mod case;

use super::evaluator::Processes;
use super::partition::context;
use case::{Case, GRIDS};
use layout_reference::random::Random;
use layout_test::{Checkout, Sample};
use melior::ir::{Module, OperationRef};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// The cases of a program.
const CASES: usize = 16;

/// The lowering options of the programs, in turn.
const OPTIONS: [&str; 2] = ["--layout-to-llvm", "--layout-to-llvm=vectorize=avx2 arena=kept"];

#[test]
fn collectives_are_their_definitions() {
    let checkout = Checkout::new();
    checkout.build_tools();
    let folder = tempfile::tempdir().unwrap();
    let Some(mpi) = library() else {
        assert!(!Path::new("/etc/debian_version").exists(), "tools/setup.sh installs Open MPI on Debian");
        return;
    };
    let context = context();
    let mut random = Random(1);
    let programs = GRIDS.iter().map(|grid| (0..CASES).map(|_| Case::random(&mut random, grid)).collect::<Vec<Case>>());
    for (number, (grid, cases)) in Sample::from_env().select(GRIDS.iter().zip(programs).enumerate()) {
        let mut text = format!("shard.grid @g(shape = {})\n", sizes(grid));
        text += "func.func private @printMemrefF32(tensor<*xf32>)\nfunc.func @main() {\n";
        text += "  %rank = shard.process_linear_index on @g : index\n";
        for (k, case) in cases.iter().enumerate() {
            let _ = write!(text, "{}", case.text(k));
        }
        text += "  return\n}\n";
        let [source, lowered, output] =
            ["in.mlir", "out.mlir", "output"].map(|name| folder.path().join(format!("{number}.{name}")));
        std::fs::write(&source, &text).unwrap();
        let mut opt = Command::new(checkout.tools.join("layout-opt"));
        run(opt.arg(&source).arg(OPTIONS[number % OPTIONS.len()]).arg("-o").arg(&lowered), &text);
        let module = Module::parse(&context, &text).expect("a program");
        let root: OperationRef = module.as_operation();
        let mut evaluated = Processes::new(root);
        let processes = evaluated.count();
        evaluated.run("main", &vec![Vec::new(); processes]);
        let libraries = ["libmlir_runner_utils.so", "libmlir_c_runner_utils.so"];
        let libraries = libraries.map(|name| checkout.llvm.join("lib").join(name).display().to_string()).join(",");
        let mut mpirun = Command::new(checkout.root.join("tools/mpirun.sh"));
        mpirun.env("MPIRUN_OPTIONS", format!("--output-filename {}", output.display())).env("MPIRUN_SECONDS", "120");
        mpirun.arg(processes.to_string()).arg(checkout.llvm.join("bin/mlir-runner")).arg(&lowered);
        mpirun.args(["-e", "main", "-entry-point-result=void"]).arg(format!("-shared-libs={libraries},{mpi}"));
        run(&mut mpirun, &text);
        for rank in 0..processes {
            // All ranks have the digits of the last one.
            let name = format!("rank.{rank:0width$}", width = (processes - 1).to_string().len());
            let printed = std::fs::read_to_string(output.join("1").join(name).join("stdout")).unwrap();
            let printed = tensors(&printed);
            let calls = evaluated.called.iter().filter(|call| call.0 == rank);
            let expected: Vec<&Vec<f64>> = calls.map(|call| &call.2[0].tensor().data).collect();
            assert_eq!(printed.len(), expected.len(), "tensors of process {rank}\n{text}");
            for (k, (found, expected)) in printed.iter().zip(&expected).enumerate() {
                // Elements that no process sends are undefined.
                let is_same =
                    found.len() == expected.len() && found.iter().zip(*expected).all(|(x, y)| x == y || y.is_nan());
                assert!(is_same, "tensor {k} of process {rank}: {found:?}, expected {expected:?}\n{text}");
            }
        }
    }
}

fn sizes(grid: &[usize]) -> String {
    grid.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}

fn run(command: &mut Command, text: &str) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}\n{text}", String::from_utf8_lossy(&output.stderr));
}

/// The elements of the printed tensors.
fn tensors(printed: &str) -> Vec<Vec<f64>> {
    let one = |text: &str| {
        let numbers = text.split_once("data =").map_or("", |(_, numbers)| numbers);
        let words = numbers.split(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
        words.filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect()
    };
    printed.split("Unranked Memref").skip(1).map(one).collect()
}

/// Open MPI's library, if installed.
fn library() -> Option<String> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let files = folders.map(|folder| folder.join("libmpi.so.40"));
    files.into_iter().find(|file| file.exists()).map(|file| file.display().to_string())
}
