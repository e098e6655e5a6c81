//! Runs the README: every fenced block in it is checked.
//!
//! | block | what is done with it |
//! |---|---|
//! | `mlir file=NAME` | written to the file NAME, which later blocks read |
//! | `console` | each `$ ` line is a command; up to the next one stands all that it prints, errors too, trimmed |
//! | `KIND from=PATH` | its lines stand, one behind the other, in that file of the checkout, which another test runs |
//! | `sh` | each line is a command that must succeed; of `make TARGET` only the target is looked for |
//!
//! Commands of `console` blocks run in an empty folder where `examples` and `target/release` are what they are in the
//! checkout (the latter in the profile of this test), with this project's tools and LLVM's on the PATH; commands of
//! `sh` blocks run in the checkout. `BLESS=1 cargo test -p layout-test --test readme` writes what the commands print
//! into the README.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

#[test]
fn readme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("test/ is in the checkout");
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md is readable");
    let place = Place::new(root);

    let mut seen = String::new();
    let mut failures = Vec::new();
    let mut lines = readme.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        seen += &format!("{line}\n");
        let Some(kind) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        if let Some((_, path)) = kind.split_once(" from=") {
            failures.extend(excerpt(&root.join(path), &body).err());
            seen += &(body.join("\n") + "\n```\n");
            continue;
        }
        match kind.split_once(" file=") {
            Some((_, name)) => {
                fs::write(place.folder.join(name), body.join("\n") + "\n").expect("a file of the README is written");
                seen += &(body.join("\n") + "\n");
            }
            None if kind == "console" => seen += &place.console(&body),
            None if kind == "sh" => {
                failures.extend(body.iter().filter_map(|command| place.runs(command).err()));
                seen += &(body.join("\n") + "\n");
            }
            None => failures.push(format!("line {}: nothing checks a block of kind {kind:?}", number + 1)),
        }
        seen += "```\n";
    }

    assert!(failures.is_empty(), "{}", failures.join("\n"));
    if env::var_os("BLESS").is_some() {
        fs::write(root.join("README.md"), &seen).expect("README.md is writable");
    } else if seen != readme {
        let actual = place.folder.join("README.md");
        fs::write(&actual, &seen).expect("what the commands print is written");
        let difference = Command::new("diff").args(["-u", "README.md"]).arg(&actual).current_dir(root).output();
        let difference = difference.expect("diff runs").stdout;
        panic!("commands print something else than the README says:\n{}", String::from_utf8_lossy(&difference));
    }
}

/// Each line of a block stands in the file, behind the one before; how far lines are set in does not count.
fn excerpt(path: &Path, body: &[&str]) -> Result<(), String> {
    let file = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = file.lines().map(str::trim);
    let missing = body.iter().find(|line| !lines.any(|known| known == line.trim()));
    missing.map_or(Ok(()), |line| Err(format!("{} has no such line, or not here: {line}", path.display())))
}

/// Where the commands run.
struct Place<'a> {
    root: &'a Path,
    folder: PathBuf,
    path: std::ffi::OsString,
}

impl<'a> Place<'a> {
    /// Builds the tools and makes the folder.
    fn new(root: &'a Path) -> Self {
        let exe = env::current_exe().expect("this test has a path");
        let tools = exe.ancestors().nth(2).expect("cargo puts tests in <target>/<profile>/deps");
        let profile = match tools.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--workspace", "--quiet", "--profile", profile, "--target-dir"]);
        let target = tools.parent().expect("a profile's folder is in the target folder");
        let status = cargo.arg(target).current_dir(root).status().expect("cargo runs");
        assert!(status.success(), "the tools do not build");

        let llvm = env::vars().find(|(name, _)| name.starts_with("MLIR_SYS_") && name.ends_with("_PREFIX"));
        let (_, llvm) = llvm.expect("MLIR_SYS_*_PREFIX says where LLVM is; .cargo/config.toml sets it");
        let path = env::var_os("PATH").unwrap_or_default();
        let path = [tools.to_path_buf(), Path::new(&llvm).join("bin")].into_iter().chain(env::split_paths(&path));
        let path = env::join_paths(path).expect("folders have no colon in their names");

        let folder = tools.join("readme");
        match fs::remove_dir_all(&folder) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => panic!("{}: {e}", folder.display()),
            _ => fs::create_dir_all(folder.join("target")).expect("a folder of the test's own"),
        }
        symlink(root.join("examples"), folder.join("examples")).expect("a link to the examples");
        symlink(tools, folder.join("target/release")).expect("a link to the tools");
        Place { root, folder, path }
    }

    /// A console block as it should read: its commands and what they print.
    fn console(&self, body: &[&str]) -> String {
        let mut text = String::new();
        let mut commands = body.iter().peekable();
        while let Some(line) = commands.next() {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            let mut command = format!("{command}\n");
            while command.ends_with("\\\n") {
                command += commands.next().expect("the end of a command that goes on");
                command.push('\n');
            }
            let output = self.bash(&self.folder, &format!("exec 2>&1\n{command}"));
            let printed = String::from_utf8_lossy(&output.stdout);
            text += &format!("$ {command}{}\n", printed.trim_end_matches('\n'));
        }
        text
    }

    /// Runs a command in the checkout.
    fn runs(&self, command: &str) -> Result<(), String> {
        if let Some(target) = command.strip_prefix("make ") {
            let target = target.split_whitespace().next().unwrap_or_default();
            let makefile = fs::read_to_string(self.root.join("Makefile")).map_err(|e| format!("Makefile: {e}"))?;
            let found = makefile.lines().any(|line| line.starts_with(&format!("{target}:")));
            return if found { Ok(()) } else { Err(format!("there is no target {target} in the Makefile")) };
        }
        let output = self.bash(self.root, command);
        let errors = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(format!("{command}\n{errors}")) }
    }

    fn bash(&self, folder: &Path, command: &str) -> std::process::Output {
        let mut bash = Command::new("bash");
        bash.args(["-c", command]).env("PATH", &self.path).current_dir(folder);
        bash.output().expect("bash runs")
    }
}
