//! Documentation pages whose fenced blocks are all checked.
//!
//! | block | check |
//! |---|---|
//! | `KIND file=NAME` | written to the file NAME, which later blocks read |
//! | `console` | each `$ ` line is a command, followed by its whole output, with errors, trimmed |
//! | `KIND from=PATH` | its lines are in that file of the checkout, in this order; another test runs the file |
//! | `mermaid` | a drawing, unchecked |
//! | `sh` | each line is a command that must succeed; of `make TARGET` only the target must exist, and `make release` tries `pip` |
//!
//! Links to files must lead to files. `BLESS=1` writes the commands' output into the page.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The environment of a page's commands.
pub struct Place<'a> {
    /// The checkout.
    pub root: &'a Path,
    /// The folder of files and of `console` commands.
    pub folder: PathBuf,
    /// The folder of `sh` commands.
    pub shell: PathBuf,
    /// Additional environment variables.
    pub environment: Vec<(&'static str, OsString)>,
}

/// The errors of a page.
///
/// # Panics
/// If the page or its folder cannot be read or written.
pub fn check(place: &Place, name: &str) -> Vec<String> {
    let file = place.root.join(name);
    let page = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{name}: {e}"));

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
            failures.extend(excerpt(&place.root.join(path), &body).err());
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
        let difference = Command::new("diff").args(["-u", name]).arg(&actual).current_dir(place.root).output();
        let difference = difference.expect("diff runs").stdout;
        failures.push(format!("commands print something else than {name} says:"));
        failures.push(String::from_utf8_lossy(&difference).into_owned());
    }
    failures
}

/// The files in a line's links.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).filter_map(|target| target.split('#').next())
}

/// Checks that each line of a block is in the file, after the previous one; indentation is ignored.
fn excerpt(path: &Path, body: &[&str]) -> Result<(), String> {
    let file = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = file.lines().map(str::trim);
    let missing = body.iter().find(|line| !lines.any(|known| known == line.trim()));
    missing.map_or(Ok(()), |line| Err(format!("{} has no such line, or not here: {line}", path.display())))
}

impl Place<'_> {
    /// The expected console block: its commands and their output.
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
            let lines = printed.trim_end_matches('\n').lines().map(|line| format!("{line}\n"));
            text.extend(std::iter::once(format!("$ {command}")).chain(lines));
        }
        text
    }

    /// Runs a command of a `sh` block.
    fn runs(&self, command: &str) -> Result<(), String> {
        if let Some(target) = command.strip_prefix("make ") {
            let target = target.split_whitespace().next().unwrap_or_default();
            let makefile = fs::read_to_string(self.root.join("Makefile")).map_err(|e| format!("Makefile: {e}"))?;
            let found = makefile.lines().any(|line| line.starts_with(&format!("{target}:")));
            return if found { Ok(()) } else { Err(format!("there is no target {target} in the Makefile")) };
        }
        if ["pip ", "python3 -m venv "].iter().any(|start| command.starts_with(start)) {
            return Ok(());
        }
        let output = self.bash(&self.shell, command);
        let [printed, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        if output.status.success() { Ok(()) } else { Err(format!("{command}\n{printed}{errors}")) }
    }

    fn bash(&self, folder: &Path, command: &str) -> Output {
        let mut bash = Command::new("bash");
        bash.args(["-c", command]).envs(self.environment.iter().cloned()).current_dir(folder);
        bash.output().expect("bash runs")
    }
}
