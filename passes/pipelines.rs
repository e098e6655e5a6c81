//! The passes of each pipeline. `Passes.td` lists them; the build script generates the constants here.
//!
//! ```
//! use layout_passes::{Form, PipelineOptions, PlanMachine, PlanOptions, pipelines};
//!
//! let text = pipelines::DISTRIBUTE.text(Form::Physical);
//! assert_eq!(text, "layout-to-memref{form=physical}");
//!
//! let plan = PlanOptions { machine: PlanMachine::TpuV5e, ..PlanOptions::default() };
//! let options = PipelineOptions { plan: Some(plan), ..PipelineOptions::default() };
//! assert_eq!(options.to_string(), "form=strided plan machine=tpu_v5e");
//! assert_eq!("plan machine=tpu_v5e".parse(), Ok(options.clone()));
//! assert!(pipelines::TO_MEMREF.text(options).contains(",layout-plan{machine=tpu_v5e},layout-expand-operations,"));
//! ```

use crate::check::verify;
use crate::pass::options::{Arena, LowerMemrefsOptions, NONE, Parallel, PlanOptions, Value, read, words};
use crate::pass::upstream;
use crate::registry::{NAMES, Pass};
use melior::{Error, pass::OperationPassManager};
use std::{fmt, str::FromStr};
use tensor_layout::text::did_you_mean;

/// A pipeline: its name, summary, and passes as text.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline {
    /// The name, as in `--layout-to-memref`.
    pub name: &'static str,
    /// Its line in `--help`.
    pub summary: &'static str,
    /// The passes in their order, each as text with placeholders, which `Passes.td` explains at its class `Pipeline`.
    pub passes: &'static [&'static str],
}

/// The options of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineOptions {
    /// Options of lowering.
    pub lowering: LowerMemrefsOptions,
    /// Options of `layout-plan`, if it runs first.
    pub plan: Option<PlanOptions>,
    /// The memory of a call; only for `layout-to-llvm`.
    pub arena: Arena,
    /// The object file for constants of many bytes; only for `layout-to-llvm`.
    pub weights: Option<String>,
    /// Whether `layout-verify` runs the passes.
    pub verify: bool,
}

impl<T: Into<LowerMemrefsOptions>> From<T> for PipelineOptions {
    fn from(lowering: T) -> PipelineOptions {
        PipelineOptions { lowering: lowering.into(), ..PipelineOptions::default() }
    }
}

impl fmt::Display for PipelineOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.lowering)?;
        self.plan.map_or(Ok(()), |plan| write!(f, " plan {plan}"))?;
        if self.verify {
            f.write_str(" verify")?;
        }
        if self.arena != Arena::default() {
            write!(f, " arena={}", self.arena.name())?;
        }
        self.weights.as_ref().map_or(Ok(()), |file| write!(f, " weights={}", file.write()))
    }
}

impl FromStr for PipelineOptions {
    type Err = String;

    /// Reads the options of lowering, and those of `layout-plan` if `plan` is one of them.
    fn from_str(text: &str) -> Result<PipelineOptions, String> {
        let (mut planned, mut of_plan, mut others) = (false, None, [String::new(), String::new()]);
        let (mut arena, mut weights, mut verify) = (Arena::default(), None, false);
        for (name, value) in words(text) {
            match name {
                "plan" => planned = read(name, value)?,
                "verify" => verify = read(name, value)?,
                "arena" => arena = read(name, value)?,
                "weights" => weights = Some(read(name, value)?).filter(|file| file != NONE),
                _ => {
                    let plans = PlanOptions::NAMES.contains(&name);
                    of_plan = of_plan.or(plans.then_some(name));
                    let value = value.map_or(String::new(), |value| format!("={value}"));
                    others[usize::from(plans)] += &format!("{name}{value} ");
                }
            }
        }
        if let Some(name) = of_plan.filter(|_| !planned) {
            return Err(format!("{name} is an option of `plan`, which must be given, too"));
        }
        let plan = planned.then(|| others[1].parse()).transpose()?;
        Ok(PipelineOptions { lowering: others[0].parse()?, plan, arena, weights, verify })
    }
}

/// The passes of a pipeline of this project; any other pass as it is.
pub(crate) fn expanded(pass: String) -> Vec<String> {
    let (name, options) = pass.split_once('{').unwrap_or((&pass, "}"));
    let pipeline = PIPELINES.iter().find(|pipeline| pipeline.name == name.trim());
    let options = options.strip_suffix('}').and_then(|options| options.parse::<PipelineOptions>().ok());
    match pipeline.zip(options) {
        Some((pipeline, options)) => {
            let text = pipeline.text(PipelineOptions { verify: false, ..options });
            verify::separated(&text).into_iter().flat_map(expanded).collect()
        }
        None => vec![pass],
    }
}

impl Pipeline {
    /// The passes as text, inside `builtin.module(..)`.
    pub fn text(&self, options: impl Into<PipelineOptions>) -> String {
        let options = options.into();
        let (first, verified) = self.parts(&options);
        // A pipeline around another leaves the option to that.
        match options.verify && !self.is_made_of_another() {
            true => format!("{first}{}{{passes={{{verified}}}}}", verify::NAME),
            false => first + &verified,
        }
    }

    /// The text of the passes before those that `verify` runs, with a comma at its end, and that of the others.
    fn parts(&self, options: &PipelineOptions) -> (String, String) {
        // After a plan, conversions between a row-major layout and none are left; they move nothing.
        let plan = options.plan.map_or(String::new(), |options| format!("{},", Pass::Plan { options }));
        let choose = plan + "layout-expand-operations,layout-remove-conversions";
        let all = self.passes.join(",").replace("$options", &options.lowering.to_string());
        let of_all = PipelineOptions { arena: Arena::default(), weights: None, ..options.clone() };
        let all = all.replace("$all", &of_all.to_string());
        let parallel = match options.lowering.parallel {
            Parallel::Openmp => "convert-scf-to-openmp,canonicalize",
            Parallel::None | Parallel::Loops | Parallel::Forall => "canonicalize",
        };
        let all =
            all.replace("$choose", &choose).replace("$parallel", parallel).replace("$arena", options.arena.name());
        let sums = if options.lowering.reassociate { "layout-widen-sums," } else { "" };
        let all = all.replace("$sums,", sums);
        let export = |file: &String| format!(",layout-export-weights{{file={}}}", file.write());
        let all = all.replace(",$weights", &options.weights.as_ref().map_or(String::new(), export));
        let (first, verified) = all.split_once("$verified,").unwrap_or(("", &all));
        (first.to_owned(), verified.to_owned())
    }

    /// Whether it contains another pipeline, to which it leaves verification.
    fn is_made_of_another(&self) -> bool {
        self.passes.iter().any(|pass| pass.contains("$all"))
    }

    /// The passes to run: verified if the environment asks for it.
    pub(crate) fn text_to_run(&self, options: PipelineOptions) -> String {
        if !verify::is_wanted() || self.is_made_of_another() {
            return self.text(options);
        }
        let (first, verified) = self.parts(&options);
        let remarks = if options.verify { "" } else { "remarks=false " };
        format!("{first}{}{{{remarks}steps={} passes={{{verified}}}}}", verify::NAME, verify::STEPS)
    }

    /// Checks the options.
    ///
    /// # Errors
    /// The errors of [`LowerMemrefsOptions::check`], and an option of another pipeline.
    pub(crate) fn check(&self, options: &PipelineOptions) -> Result<(), String> {
        let takes = |placeholder| self.passes.iter().any(|pass| pass.contains(placeholder));
        if options.arena != Arena::default() && !takes("$arena") {
            return Err(format!("arena is an option of layout-to-llvm: {} leaves what it allocates", self.name));
        }
        if options.weights.is_some() && !takes("$weights") {
            return Err(format!("weights is an option of layout-to-llvm: {} leaves constants as they are", self.name));
        }
        // Braces have a meaning in the text of a pipeline.
        if let Some(file) = options.weights.as_ref().filter(|file| file.contains(['{', '}'])) {
            return Err(format!("weights must be a file without braces in its name, found `{file}`"));
        }
        options.lowering.check()
    }

    /// Adds the passes, with options or only a form of memrefs, at the end of a manager of passes over modules.
    ///
    /// # Errors
    /// A manager of passes over anything else, options that [`LowerMemrefsOptions::check`] refuses, and a process in
    /// which another copy of this library registered its passes.
    pub fn add_to(&self, manager: OperationPassManager, options: impl Into<PipelineOptions>) -> Result<(), Error> {
        upstream::add_passes(manager, &self.text_to_run(options.into()))
    }
}

include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));

/// Adds passes and pipelines, as in the text of a pipeline, at the end of a manager's passes.
///
/// # Errors
/// A name that is not registered, wrong options, a pass over other operations than the manager's, and another copy of
/// this library that registered its passes before.
pub fn add_passes(manager: OperationPassManager, passes: &str) -> Result<(), Error> {
    upstream::add_passes(manager, passes).map_err(|error| match error {
        Error::ParsePassPipeline(message) if message.contains(UNREGISTERED) => {
            let hint = spelling(passes).map(|hint| format!("\n{hint}"));
            Error::ParsePassPipeline(message + &hint.unwrap_or_default())
        }
        error => error,
    })
}

/// MLIR's error for an unknown name in the text of a pipeline.
const UNREGISTERED: &str = "does not refer to a registered pass";

/// The suggestion for a misspelt pass or pipeline in the text of a pipeline.
#[doc(hidden)]
pub fn spelling(passes: &str) -> Option<String> {
    let names = || PIPELINES.iter().map(|pipeline| pipeline.name).chain(NAMES.iter().copied());
    let words = passes.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
    let unknown = words.filter(|word| names().all(|name| name != *word));
    let mut hints = unknown.map(|word| (word, did_you_mean(word, names())));
    hints.find(|(_, hint)| !hint.is_empty()).map(|(word, hint)| format!("{word}{hint}"))
}

/// The suggestion for a command-line argument that is an option of passes or pipelines, such as `--steps=5`.
#[doc(hidden)]
pub fn belonging(argument: &str) -> Option<String> {
    let text = argument.strip_prefix('-')?.trim_start_matches('-');
    let name = text.split('=').next().unwrap_or(text);
    let owners: Vec<&str> = OPTIONS.iter().filter(|(_, own)| own.contains(&name)).map(|(owner, _)| *owner).collect();
    let first = owners.first()?;
    let all = owners.iter().map(|owner| format!("`--{owner}`")).collect::<Vec<_>>().join(", ");
    Some(format!("`{name}` is an option of {all}: write it as in `--{first}={text}`"))
}
