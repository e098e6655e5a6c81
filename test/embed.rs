//! Builds the CMake package, installs it, and runs its users: `examples/embed-cpp`, both ways, and the programs in
//! `test/embed`. The commands for build and installation are from the page `docs/cpp.md`, which also builds and runs
//! `examples/first-cpp`; `BLESS=1` writes their output into it.
//!
//! Everything is built below `<target>/<profile>/embed`, in the profile of this test, so that Cargo's part is there
//! already.

use layout_test::{
    Checkout,
    pages::{self, Place},
};
use libtest_mimic::{Arguments, Failed, Trial};
use std::{
    env, fs,
    os::unix::{fs::symlink, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output},
    sync::Arc,
};

type Test = fn(&Suite) -> Result<(), Failed>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut suite = Suite::new();
    if !arguments.list
        && let Err(error) = suite.build()
    {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    let suite = Arc::new(suite);
    let tests: [(&str, Test); 18] = [
        ("page", |suite| if suite.page.is_empty() { Ok(()) } else { Err(suite.page.join("\n").into()) }),
        ("find_package", |suite| suite.example("found")),
        ("add_subdirectory", |suite| suite.example("within")),
        ("operations_by_find_package", |suite| suite.operations_of_another_compiler("found")),
        ("operations_by_add_subdirectory", |suite| suite.operations_of_another_compiler("within")),
        ("example_says_what_is_wrong", Suite::example_says_what_is_wrong),
        ("kernels_of_another_compiler", Suite::kernels_of_another_compiler),
        ("cpp_accessors", Suite::cpp_accessors),
        ("assertions_stay", Suite::assertions_stay),
        ("c_api", Suite::c_api),
        ("c_api_under_valgrind", Suite::c_api_under_valgrind),
        ("headers_stand_alone", Suite::headers_stand_alone),
        ("register_again", |suite| suite.host(&["twice"])),
        ("context_for_each_thread", |suite| suite.host(&["threads"])),
        ("context_of_many_threads", |suite| suite.host(&["shared"])),
        ("plugin_shares_the_library", Suite::plugin_shares_the_library),
        ("plugin_with_a_library_of_its_own", Suite::plugin_with_a_library_of_its_own),
        ("plugins_mixed", Suite::plugins_mixed),
    ];
    let trials = tests.map(|(name, test)| {
        let suite = suite.clone();
        Trial::test(name, move || test(&suite))
    });
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

/// The folders of the test.
struct Suite {
    checkout: Checkout,
    /// The build folder.
    folder: PathBuf,
    /// The errors of the page.
    page: Vec<String>,
}

impl Suite {
    fn new() -> Suite {
        let checkout = Checkout::new();
        Suite { folder: checkout.tools.join("embed"), checkout, page: Vec::new() }
    }

    /// Installs the package and builds its users.
    fn build(&mut self) -> Result<(), String> {
        // Cargo's plugin, which one test loads.
        self.checkout.build_tools();

        // Files of an older installation must not be found.
        let prefix = self.folder.join("prefix");
        if prefix.exists() {
            fs::remove_dir_all(&prefix).map_err(|error| format!("{}: {error}", prefix.display()))?;
        }
        fs::create_dir_all(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))?;
        // The page's clone is this checkout.
        if !self.folder.join("layout").exists() {
            symlink(&self.checkout.root, self.folder.join("layout")).map_err(|error| error.to_string())?;
        }
        let place = Place {
            root: &self.checkout.root,
            folder: self.folder.clone(),
            shell: self.folder.clone(),
            environment: vec![
                ("CARGO_TARGET_DIR", self.checkout.target().into()),
                ("LAYOUT_CARGO_PROFILE", self.checkout.profile().into()),
            ],
        };
        self.page = pages::check(&place, "docs/cpp.md");
        if !prefix.exists() {
            return Err(self.page.join("\n"));
        }

        let ours = [
            format!("-DLAYOUT_CARGO_TARGET_DIR={}", self.checkout.target().display()),
            format!("-DLAYOUT_CARGO_PROFILE={}", self.checkout.profile()),
            format!("-DLAYOUT_CARGO={}", env!("CARGO")),
        ];
        let installed = [format!("-DCMAKE_PREFIX_PATH={}", prefix.display())];
        let example = self.checkout.root.join("examples/embed-cpp");
        self.cmake("found", &example, &[&installed])?;
        let source = [format!("-DLAYOUT_SOURCE_DIR={}", self.checkout.root.display())];
        self.cmake("within", &example, &[&ours, &source])?;
        self.cmake("tests", &self.checkout.root.join("test/embed"), &[&installed])
    }

    /// Configures and builds a project.
    fn cmake(&self, name: &str, source: &Path, definitions: &[&[String]]) -> Result<(), String> {
        let build = self.folder.join(name);
        let mut configure = Command::new("cmake");
        configure.args(["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]).arg("-S").arg(source).arg("-B").arg(&build);
        succeed(configure.args(definitions.concat()))?;
        succeed(Command::new("cmake").arg("--build").arg(&build))
    }

    /// The example's compiler runs its own pass and then the pipeline.
    fn example(&self, way: &str) -> Result<(), Failed> {
        let example = self.checkout.root.join("examples/embed-cpp");
        let mini = |arguments: &[&str]| {
            let mut command = Command::new(self.folder.join(way).join("mini-opt"));
            run(command.arg("matmul.mlir").args(arguments).current_dir(&example), 0)
        };
        let [placed, errors] = mini(&["--mini-place", "--mlir-print-local-scope"])?;
        let tiled = "tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>";
        in_order(&errors, &["remark: sizes 2x3x2x2, strides 12, 4, 2, 1, last element at 20"])?;
        in_order(
            &placed,
            &["= layout.convert %arg0 {keep} : tensor<3x5xf32> to", tiled, "linalg.matmul ins(%0, %arg1 :", tiled],
        )?;
        let [lowered, _] = mini(&["--mini-pipeline"])?;
        in_order(&lowered, &["memref.alloc() {alignment = 64 : i64} : memref<2x3x2x2xf32>", "arith.mulf", "return"])?;
        absent(&lowered, "layout.")?;
        let [strided, _] = mini(&["--mini-place", "--layout-to-memref=form=strided"])?;
        absent(&strided, "layout.")
    }

    /// The example's own operations are planned, moved through, analysed, lowered and verified.
    fn operations_of_another_compiler(&self, way: &str) -> Result<(), Failed> {
        let example = self.checkout.root.join("examples/embed-cpp");
        let mini = |arguments: &[&str]| {
            let mut command = Command::new(self.folder.join(way).join("mini-opt"));
            run(command.args(["operations.mlir", "--mlir-print-local-scope"]).args(arguments).current_dir(&example), 0)
        };
        let [planned, report] = mini(&["--layout-plan=machine=tpu_v5e report"])?;
        in_order(&report, &["remark: the plan costs ", " cycles and every plan at least "])?;
        absent(&report, "nothing is known")?;
        let rows = "tensor<256x128xf32, #layout.tiled<{1,0:T(8,128)}>>";
        in_order(&planned, &["mini.product", "mini.relu", &format!("({rows}) -> {rows}"), "mini.normalize"])?;
        let [moved, _] = mini(&["--layout-remove-conversions"])?;
        in_order(&moved, &["mini.product %arg0, %arg1 : (tensor<256x512xf32, #layout.tiled<{0,1:T(8,128)}>>"])?;
        let [_, maps] = mini(&["--layout-indexing-analysis=report", "-o", "/dev/null"])?;
        let product =
            "operand 0 is read: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 255], d1 in [0, 127], s0 in [0, 511]";
        in_order(&maps, &["indexing of `mini.product`", product, "indexing of `mini.normalize`"])?;
        let [lowered, remarks] = mini(&["--layout-to-memref=verify plan machine=tpu_v5e"])?;
        absent(&remarks, "@dense")?;
        absent(&lowered, "mini.")?;
        let mut mini = Command::new(self.folder.join(way).join("mini-opt"));
        let numbers = self.checkout.root.join("test/embed/Inputs/operations.mlir");
        let [llvm, _] = run(mini.arg(numbers).arg("--layout-to-llvm=plan machine=tpu_v5e"), 0)?;
        let file = self.folder.join("operations.llvm.mlir");
        fs::write(&file, llvm)?;
        let libraries = ["libmlir_runner_utils.so", "libmlir_c_runner_utils.so"];
        let libraries = libraries.map(|name| self.checkout.llvm.join("lib").join(name).display().to_string()).join(",");
        let mut runner = Command::new(self.checkout.llvm.join("bin/mlir-runner"));
        runner.arg(&file).args(["-e", "main", "-entry-point-result=void"]).arg(format!("-shared-libs={libraries}"));
        let [printed, _] = run(&mut runner, 0)?;
        in_order(&printed, &["[[0.25,", "0.75],", "[0,", "0.5]]"])
    }

    fn example_says_what_is_wrong(&self) -> Result<(), Failed> {
        let mut mini = Command::new(self.folder.join("found/mini-opt"));
        mini.arg(self.checkout.root.join("examples/embed-cpp/matmul.mlir")).arg("--mini-place=tiles={{1,0:T(0,2)}}");
        let [_, errors] = run(&mut mini, 1)?;
        in_order(&errors, &["matmul.mlir:2:8: error: ", "at byte 7 of `{1,0:T(0,2)}`"])
    }

    /// The example's own kernels are compared with the operations whose numbers they have, and so is the witness.
    fn kernels_of_another_compiler(&self) -> Result<(), Failed> {
        let mini = |arguments: &[&str], status: i32| {
            let mut command = Command::new(self.folder.join("found/mini-opt"));
            run(command.args(arguments).args(["-o", "/dev/null"]).current_dir(&self.folder), status)
        };
        let program = self.checkout.root.join("examples/embed-cpp/kernels.mlir").display().to_string();
        let passes = "one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},mini-lower-kernels";
        let verify = format!(
            "--layout-verify=passes={{{passes}}} kernels=mini-lower-kernels report=/dev/stdout witness=kernels.mlir"
        );
        let [report, _] = mini(&[&program, &verify], 0)?;
        in_order(&report, &["@product: proved"])?;
        let [_, shown] = mini(&["kernels.mlir", "--layout-check-witness"], 0)?;
        in_order(&shown, &["remark: @product: proved"])?;
        let witness = fs::read_to_string(self.folder.join("kernels.mlir"))?;
        in_order(
            &witness,
            &["module @before", "linalg.matmul {layout.origins = array<i64: 2>", "module @after", "scf.for"],
        )?;
        let (before, after) = witness.split_once("module @after").ok_or("no module @after")?;
        let wrong = format!("{before}module @after{}", after.replace("arith.mulf", "arith.divf"));
        fs::write(self.folder.join("wrong.mlir"), wrong)?;
        let [_, errors] = mini(&["wrong.mlir", "--layout-check-witness"], 1)?;
        in_order(&errors, &["wrong.mlir:", "error: @product: ", "arith.divf"])
    }

    /// Errors for wrong questions to attributes in C++; the program itself checks the answers.
    fn cpp_accessors(&self) -> Result<(), Failed> {
        let [printed, errors] = run(Command::new(self.folder.join("tests/host")).arg("accessors"), 0)?;
        if !errors.is_empty() {
            return Err(errors.into());
        }
        let expected = [
            "at byte 3 of `{1,1}`",
            "at byte 2 of `((`",
            "at byte 0 of ``",
            "at byte 4 of `(d0)`",
            "here: expected a tile size or `*`, found `)` at byte 5 of `{0:T()}`",
            "here: the index of dimension 1 must be at least 0 and less than its size 5, found 5",
            "minor_to_major must list each dimension once, found 0 twice",
            "here: the number of a memory space must be in 0 to 127, found 128",
            "an extent must be at least 1, found 0, in part 0 of dimension 0",
            "here: layout {1,0:T(2,2)}: expected rank 1, found 2",
            "here: capacity exceeded: the layout needs 192 bytes in each LM, which has 128",
            "here: ",
            "the position must be 0 or more and below 1, found 1",
            "cannot be lowered: the number of elements does not fit in 64 bits",
            "the layout dialect of this library is not registered in the context",
            "form must be one of strided, physical, found `7`",
            "vector-bits must be 0 or a power of two from 64 to 2048, found 100",
            "vector-bits must be 0 or a power of two from 64 to 2048, found 100",
            "vectorize must be one of none, avx2, avx512, neon, found `4`",
            "parallel must be one of none, parallel, forall, openmp, found `4`",
            "unknown pipeline `layout-to-moon`",
            "form must be one of strided, physical, found `-1`",
            "restricted to 'builtin.module' on a PassManager intended to run on 'func.func'",
        ];
        in_order(&printed, &expected)
    }

    /// A compiler built with assertions keeps them when it links the library: nothing defines NDEBUG for it.
    fn assertions_stay(&self) -> Result<(), Failed> {
        let output = Command::new(self.folder.join("tests/host")).arg("assert").output()?;
        in_order(&String::from_utf8_lossy(&output.stderr), &["Assertion", "assertions are checked", "failed"])?;
        match output.status.signal() {
            Some(ABORT) => Ok(()),
            _ => Err(format!("expected the end by a signal, found {}", output.status).into()),
        }
    }

    fn c_api(&self) -> Result<(), Failed> {
        let [printed, _] = run(&mut Command::new(self.folder.join("tests/c-api")), 0)?;
        let expected = fs::read_to_string(self.checkout.root.join("test/embed/c-api.txt"))?;
        if printed == expected {
            return Ok(());
        }
        let actual = self.folder.join("c-api.txt");
        if env::var_os("BLESS").is_some() {
            return Ok(fs::write(self.checkout.root.join("test/embed/c-api.txt"), &printed)?);
        }
        fs::write(&actual, &printed)?;
        let difference =
            Command::new("diff").arg("-u").arg(self.checkout.root.join("test/embed/c-api.txt")).arg(actual).output()?;
        Err(format!("BLESS=1 accepts this:\n{}", String::from_utf8_lossy(&difference.stdout)).into())
    }

    /// No call of the C API reads uninitialised or unallocated memory.
    fn c_api_under_valgrind(&self) -> Result<(), Failed> {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--error-exitcode=99"]).arg(self.folder.join("tests/c-api"));
        run(&mut valgrind, 0).map(|_| ())
    }

    /// Each header of the C API compiles as the first one of a file, as C11 and as C++.
    fn headers_stand_alone(&self) -> Result<(), Failed> {
        for header in ["layout-c/Layout.h", "layout-c/Passes.h"] {
            for language in [["-xc", "-std=c11"], ["-xc++", "-std=c++17"]] {
                let mut compiler = Command::new("cc");
                compiler.args(language).args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
                compiler.arg("-I").arg(self.folder.join("prefix/include"));
                compiler.arg("-isystem").arg(self.checkout.llvm.join("include"));
                compiler.arg("-include").arg(header).arg("/dev/null");
                run(&mut compiler, 0)?;
            }
        }
        Ok(())
    }

    /// A compiler with these arguments still lowers a program, without errors.
    fn host(&self, arguments: &[&str]) -> Result<(), Failed> {
        let [lowered, errors] = run(Command::new(self.folder.join("tests/host")).args(arguments), 0)?;
        if !errors.is_empty() {
            return Err(errors.into());
        }
        in_order(&lowered, LOWERED)
    }

    /// The package's plugin in a compiler that links the library, before and after its registration, and in
    /// upstream's `mlir-opt`.
    fn plugin_shares_the_library(&self) -> Result<(), Failed> {
        let plugin = fs::read_to_string(self.folder.join("tests/plugin.txt"))?;
        self.host(&["plugin", &plugin])?;
        self.host(&["plugin-first", &plugin])?;

        let program = self.folder.join("plugin.mlir");
        fs::write(&program, "func.func private @tiles(memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>)\n")?;
        for opt in [self.checkout.llvm.join("bin/mlir-opt"), self.folder.join("found/mini-opt")] {
            let mut opt = Command::new(opt);
            opt.args(["dialect", "pass"].map(|kind| format!("--load-{kind}-plugin={plugin}")));
            opt.arg("--pass-pipeline=builtin.module(layout-to-memref{form=physical})").arg(&program);
            let [lowered, errors] = run(&mut opt, 0)?;
            in_order(&lowered, &["@tiles(memref<2x3x2x2xf32>)"])?;
            absent(&errors, "error")?;
        }
        Ok(())
    }

    /// Cargo's plugin has its own dialect: the first one registered is in charge, and the other reports it.
    fn plugin_with_a_library_of_its_own(&self) -> Result<(), Failed> {
        let plugin = self.checkout.tools.join("liblayout_plugin.so");
        let plugin = plugin.to_str().ok_or("the target folder has a name in UTF-8")?;
        let host = self.folder.join("tests/host");
        let [lowered, errors] = run(Command::new(&host).args(["plugin", plugin]), 0)?;
        in_order(&lowered, LOWERED)?;
        let dialect = "warning: the layout dialect is registered already, from ";
        let left_out = format!("liblayout_plugin.so is ignored. {ADVICE}");
        in_order(&errors, &[dialect, "libLayout.so", "; that of ", &left_out, "warning: the passes of", ADVICE])?;

        let [printed, errors] = run(Command::new(&host).args(["plugin-first", plugin]), 2)?;
        in_order(&printed, &["another copy is in charge"])?;
        in_order(
            &errors,
            &[dialect, "liblayout_plugin.so; that of ", "libLayout.so", " is ignored. A process must have one copy"],
        )
    }

    /// The passes of one plugin do not run on the dialect of the other; with both loaded, the first ones do.
    fn plugins_mixed(&self) -> Result<(), Failed> {
        let program = self.folder.join("mixed.mlir");
        fs::write(&program, "func.func private @tiles(memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>)\n")?;
        let shared = fs::read_to_string(self.folder.join("tests/plugin.txt"))?;
        let own = self.checkout.tools.join("liblayout_plugin.so").display().to_string();
        let opt = |dialects: &[&String], passes: &[&String], pass: &str, status| {
            let mut opt = Command::new(self.checkout.llvm.join("bin/mlir-opt"));
            opt.args(dialects.iter().map(|file| format!("--load-dialect-plugin={file}")));
            opt.args(passes.iter().map(|file| format!("--load-pass-plugin={file}")));
            run(opt.arg(format!("--pass-pipeline=builtin.module({pass})")).arg(&program), status)
        };
        for (dialect, passes) in [(&shared, &own), (&own, &shared)] {
            for pass in ["layout-to-memref", "layout-lower-memrefs", "layout-simplify-indexing"] {
                let [_, errors] = opt(&[dialect], &[passes], pass, 1)?;
                in_order(&errors, &["error: the layout dialect is that of ", " and the pass layout-", ADVICE])?;
            }
            let [lowered, errors] = opt(&[dialect, passes], &[dialect, passes], "layout-lower-memrefs", 0)?;
            in_order(&lowered, &["@tiles(memref<2x2x3x2xf32, strided"])?;
            in_order(&errors, &["warning: the layout dialect is registered already", "warning: the passes of"])?;
        }
        Ok(())
    }
}

/// Parts of the lowered program of `host.cpp`.
const LOWERED: &[&str] = &["-> memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>", "affine.store", "return"];

/// The end of the library's message about a second copy.
const ADVICE: &str = "A process must have one copy of";

/// The signal SIGABRT of a failed assertion.
const ABORT: i32 = 6;

/// Runs a program that must succeed.
fn succeed(command: &mut Command) -> Result<(), String> {
    run(command, 0).map(|_| ()).map_err(|failed| failed.message().unwrap_or_default().to_string())
}

/// Runs a program that must end with this status. Returns its output and its errors.
fn run(command: &mut Command, status: i32) -> Result<[String; 2], Failed> {
    let output: Output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if output.status.code() == Some(status) {
        return Ok(text);
    }
    let [stdout, stderr] = text;
    Err(format!("{command:?}: {}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", output.status).into())
}

/// Checks that a text has these parts, in order.
fn in_order(text: &str, parts: &[&str]) -> Result<(), Failed> {
    let mut rest = text;
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            return Err(format!("expected {part:?} in the rest of\n{text}\nwhich is\n{rest}").into());
        };
        rest = behind;
    }
    Ok(())
}

fn absent(text: &str, part: &str) -> Result<(), Failed> {
    if text.contains(part) { Err(format!("did not expect {part:?} in\n{text}").into()) } else { Ok(()) }
}
