//! Runs the pages for people: every fenced block in them is checked.
//!
//! | block | what is done with it |
//! |---|---|
//! | `KIND file=NAME` | written to the file NAME, which later blocks read |
//! | `console` | each `$ ` line is a command; up to the next one follows all that it prints, errors too, trimmed |
//! | `KIND from=PATH` | its lines are in that file of the checkout, in this order; another test runs the file |
//! | `mermaid` | a drawing, which is left as it is |
//! | `sh` | each line is a command that must succeed; of `make TARGET` only the target is looked for |
//!
//! Commands of `console` blocks run in an empty folder where `examples` and `target/release` are what they are in the
//! checkout (the latter in the profile of this test), with this project's tools and LLVM's on the PATH; commands of
//! `sh` blocks run in the checkout. Each page has a folder of its own. Links to files must lead somewhere.
//! `BLESS=1 cargo test -p layout-test --test readme` writes what the commands print into the pages.

use layout_test::Checkout;
use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

/// The pages. What is generated is checked by `docs.rs`.
const PAGES: &[&str] = &[
    "README.md",
    "docs/architecture.md",
    "docs/embedding.md",
    "docs/glossary.md",
    "docs/hlo.md",
    "docs/lowering.md",
    "docs/notation.md",
    "docs/notations.md",
    "docs/plan.md",
    "docs/protocol.md",
    "docs/rationale.md",
    "docs/solver.md",
    "docs/targets.md",
    "docs/tensor-layouts.md",
    "docs/tutorial.md",
    "docs/vector-code.md",
];

#[test]
fn pages() {
    let checkout = Checkout::new();
    let tools = Tools::new(&checkout);
    let failures: Vec<String> = PAGES.iter().flat_map(|name| check(&tools, name)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What is wrong on a page.
fn check(tools: &Tools, name: &str) -> Vec<String> {
    let file = tools.root.join(name);
    let page = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{name}: {e}"));
    let place = Place::new(tools, name);

    let mut seen = String::new();
    let mut failures = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        seen += &format!("{line}\n");
        let Some(kind) = line.strip_prefix("```") else {
            let dead = links(line).filter(|link| !file.with_file_name(link).exists());
            failures.extend(dead.map(|link| format!("{name}:{}: there is no {link}", number + 1)));
            continue;
        };
        let body: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        if let Some((_, path)) = kind.split_once(" from=") {
            failures.extend(excerpt(&tools.root.join(path), &body).err());
            seen += &(body.join("\n") + "\n```\n");
            continue;
        }
        match kind.split_once(" file=") {
            Some((_, file)) => {
                fs::write(place.folder.join(file), body.join("\n") + "\n").expect("a file of the page is written");
                seen += &(body.join("\n") + "\n");
            }
            None if kind == "mermaid" => seen += &(body.join("\n") + "\n"),
            None if kind == "console" => seen += &place.console(&body),
            None if kind == "sh" => {
                failures.extend(body.iter().filter_map(|command| place.runs(command).err()));
                seen += &(body.join("\n") + "\n");
            }
            None => failures.push(format!("{name}:{}: nothing checks a block of kind {kind:?}", number + 1)),
        }
        seen += "```\n";
    }

    if env::var_os("BLESS").is_some() {
        fs::write(&file, &seen).expect("the page is writable");
    } else if seen != page {
        let actual = place.folder.join("page.md");
        fs::write(&actual, &seen).expect("what the commands print is written");
        let difference = Command::new("diff").args(["-u", name]).arg(&actual).current_dir(tools.root).output();
        let difference = difference.expect("diff runs").stdout;
        failures.push(format!("commands print something else than {name} says:"));
        failures.push(String::from_utf8_lossy(&difference).into_owned());
    }
    failures
}

/// The files that a line links to.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).filter_map(|target| target.split('#').next())
}

/// Each line of a block is in the file, after the previous one; indentation is ignored.
fn excerpt(path: &Path, body: &[&str]) -> Result<(), String> {
    let file = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = file.lines().map(str::trim);
    let missing = body.iter().find(|line| !lines.any(|known| known == line.trim()));
    missing.map_or(Ok(()), |line| Err(format!("{} has no such line, or not here: {line}", path.display())))
}

/// What the commands call.
struct Tools<'a> {
    root: &'a Path,
    /// The folder of this project's tools.
    folder: &'a Path,
    path: std::ffi::OsString,
}

impl<'a> Tools<'a> {
    /// Builds the tools.
    fn new(checkout: &'a Checkout) -> Self {
        checkout.build_tools();
        let Checkout { root, tools, llvm } = checkout;
        let path = env::var_os("PATH").unwrap_or_default();
        let path = [tools.clone(), llvm.join("bin")].into_iter().chain(env::split_paths(&path));
        let path = env::join_paths(path).expect("folders have no colon in their names");
        Tools { root, folder: tools, path }
    }
}

/// Where the commands run.
struct Place<'a> {
    tools: &'a Tools<'a>,
    folder: PathBuf,
}

impl<'a> Place<'a> {
    /// Makes the folder of a page.
    fn new(tools: &'a Tools<'a>, page: &str) -> Self {
        let folder = tools.folder.join("pages").join(page);
        match fs::remove_dir_all(&folder) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => panic!("{}: {e}", folder.display()),
            _ => fs::create_dir_all(folder.join("target")).expect("a folder of the test's own"),
        }
        symlink(tools.root.join("examples"), folder.join("examples")).expect("a link to the examples");
        symlink(tools.folder, folder.join("target/release")).expect("a link to the tools");
        Place { tools, folder }
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
            let makefile =
                fs::read_to_string(self.tools.root.join("Makefile")).map_err(|e| format!("Makefile: {e}"))?;
            let found = makefile.lines().any(|line| line.starts_with(&format!("{target}:")));
            return if found { Ok(()) } else { Err(format!("there is no target {target} in the Makefile")) };
        }
        let output = self.bash(self.tools.root, command);
        let errors = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(format!("{command}\n{errors}")) }
    }

    fn bash(&self, folder: &Path, command: &str) -> std::process::Output {
        let mut bash = Command::new("bash");
        bash.args(["-c", command]).env("PATH", &self.tools.path).current_dir(folder);
        bash.output().expect("bash runs")
    }
}
