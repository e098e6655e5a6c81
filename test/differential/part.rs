//! All programs of one kind in one form: generated, compiled and run.

use crate::array::Source;
use crate::compare::{Comparison, Rounding};
use crate::engine::{engine, said_of_padding};
use crate::jit;
use crate::program::Program;
use crate::programs::{KINDS, Kind, PADDING};
use layout_passes::{
    Arena, Form, LowerMemrefsOptions, Padding, Parallel, PipelineOptions, PlanMachine, PlanOptions, Target,
};
use layout_reference::choices::Choices;
use layout_runtime::Engine;
use melior::Context;
use std::process::ExitCode;
use std::{env, fmt};

/// The exit status for differences and for programs that do not compile.
pub const DIFFERENT: i32 = 1;
/// The prefix of the lines with the numbers of the current programs and of their texts.
pub const MARK: &str = "=== ";
/// The prefix of the number of a program that failed.
pub const FAILED: &str = "!!! ";
/// The number of programs that become vector code with the same options.
const BATCH: u64 = 4;
/// If set, programs are not verified.
const UNVERIFIED: &str = "LAYOUT_UNVERIFIED";

/// The programs of one kind in one form.
#[derive(Clone, Copy)]
pub struct Part {
    pub kind: &'static Kind,
    pub form: Form,
    /// Whether the single case of a run becomes vector code.
    pub vectors: bool,
    pub seed: u64,
    /// The number of programs, and of as many again that become vector code.
    pub programs: u64,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.kind.0, self.form.name(), self.vectors)
    }
}

/// A program and its lowering options.
pub struct Case {
    pub program: Program,
    pub options: PipelineOptions,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with {}:\n{}", self.options, self.program)
    }
}

impl Part {
    /// Parses the text of a [`Part`].
    pub fn parse(text: &str, seed: u64, programs: u64) -> Part {
        let mut words = text.split(' ');
        let mut word = || words.next().expect("a kind, a form, and whether it is vector code");
        let name = word();
        let kind = KINDS.iter().find(|kind| kind.0 == name).expect("a kind");
        Part {
            kind,
            form: word().parse().expect("a form"),
            vectors: word().parse().expect("true or false"),
            seed,
            programs,
        }
    }

    /// Independent random choices for each purpose.
    fn choices(&self, what: u64, number: u64) -> Choices {
        let kind = KINDS.iter().position(|kind| kind.0 == self.kind.0).expect("one of them") as u64;
        Choices::random((self.seed * 1000 + kind).wrapping_mul(1_000_003).wrapping_add(number * 2 + what))
    }

    /// Lowering options; in half of the cases `layout-plan` runs first.
    fn options(&self, choices: &mut Choices) -> PipelineOptions {
        let lowering = if self.vectors { random_options(choices, self.form) } else { self.form.into() };
        // The module's machine has places, so a plan for another such machine is impossible.
        let machines: Vec<PlanMachine> =
            PlanMachine::ALL.iter().copied().filter(|of| !of.name().starts_with("mn_")).collect();
        let machine = choices.choice(&machines);
        // Memory spaces do not apply to places.
        let spaces = choices.bool() && machine != PlanMachine::Own;
        let plan = choices.bool().then(|| PlanOptions { machine, spaces, ..PlanOptions::default() });
        let of_padding = self.vectors && PADDING.iter().any(|kind| kind.0 == self.kind.0);
        let lowering = if of_padding { LowerMemrefsOptions { padding: Padding::Typed, ..lowering } } else { lowering };
        let arena =
            if self.form == Form::Strided { choices.choice(&[Arena::Kept, Arena::None]) } else { Arena::default() };
        PipelineOptions { lowering, plan, arena, verify: env::var_os(UNVERIFIED).is_none(), weights: None }
    }

    fn program(&self, choices: &mut Choices) -> Program {
        let plain = self.vectors && choices.one_in(10);
        (self.kind.1)(&mut Source { choices, vectors: self.vectors, plain })
    }

    /// The options of a program, then the program.
    pub fn case(&self, choices: &mut Choices) -> Case {
        let options = self.options(choices);
        Case { program: self.program(choices), options }
    }

    /// The record of [`Part::case`] for the program of this number.
    pub fn record(&self, number: u64) -> Vec<u64> {
        let (mut options, mut program) = (self.choices(0, number / BATCH), self.choices(1, number));
        self.options(&mut options);
        self.program(&mut program);
        [options.made(), program.made()].concat()
    }

    /// Makes, compiles and runs the programs. Prints each program before its run, so that the last one is known even
    /// after a crash.
    pub fn run(&self) -> ExitCode {
        let context = jit::context();
        let numbers: Vec<u64> = (0..2 * self.programs).collect();
        let (scalar, vectors) = numbers.split_at(self.programs as usize);
        let batches: Vec<&[u64]> = [scalar].into_iter().chain(vectors.chunks(BATCH as usize)).collect();
        let mut different = false;
        for numbers in batches {
            let part = Part { vectors: numbers[0] >= self.programs, ..*self };
            let options = part.options(&mut part.choices(0, numbers[0] / BATCH));
            let programs: Vec<Program> = numbers.iter().map(|k| part.program(&mut part.choices(1, *k))).collect();
            different |= !part.run_batch(&context, &options, numbers, &programs);
        }
        exit_code(!different)
    }

    /// Makes, compiles and runs one program.
    pub fn run_one(&self, case: &Case) -> ExitCode {
        exit_code(self.run_batch(&jit::context(), &case.options, &[0], std::slice::from_ref(&case.program)))
    }

    /// Compiles programs together and runs each. Returns whether all succeed.
    fn run_batch(&self, context: &Context, options: &PipelineOptions, numbers: &[u64], programs: &[Program]) -> bool {
        let all: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let named = |prefix: &str, k: &u64| format!("{prefix}_p{k}");
        let numbered = || numbers.iter().zip(programs);
        let plain: Vec<String> = numbered().map(|(k, program)| program.plain_text(&named("plain", k))).collect();
        let tiled: Vec<String> = numbered().map(|(k, program)| program.text(&named("tiled", k))).collect();
        println!("{MARK}{} are compiled with {options}\n{}", all.join(" "), tiled.concat());
        let Some((plain, _)) = compiled(context, &self.form.into(), numbers, &plain) else { return false };
        let Some(tiled) = compiled(context, options, numbers, &tiled) else { return false };
        let mut all_same = self.are_same(options, numbers, programs, (&plain, "plain"), (&tiled, "tiled"));
        if options.plan.is_some() {
            // The plan lays out intermediate values; arguments and results keep their types.
            let texts: Vec<String> = numbered().map(|(k, program)| program.plain_text(&named("planned", k))).collect();
            println!("{MARK}{} are planned with {options}\n{}", all.join(" "), texts.concat());
            let Some(planned) = compiled(context, options, numbers, &texts) else { return false };
            all_same &= self.are_same(options, numbers, programs, (&plain, "plain"), (&planned, "planned"));
        }
        all_same
    }

    /// Runs programs compiled in two ways, whose names have different prefixes. Returns whether results agree.
    fn are_same(
        &self,
        options: &PipelineOptions,
        numbers: &[u64],
        programs: &[Program],
        (plain, first): (&Engine, &str),
        ((tiled, scalar), second): (&(Engine, Vec<bool>), &str),
    ) -> bool {
        let named = |prefix: &str, k: &u64| format!("{prefix}_p{k}");
        let lowering = options.lowering;
        let mut same = true;
        for ((k, program), scalar) in numbers.iter().zip(programs).zip(scalar) {
            let vectors = lowering.vectorize != Target::None && !scalar;
            println!("{MARK}{k} runs with {options}{}\n{program}", if vectors { ", all in vectors" } else { "" });
            // Scalar code may add in memory order.
            if program.digits && !vectors {
                continue;
            }
            let rounding = match () {
                () if vectors && program.ordered && !lowering.reassociate && !lowering.contract => Rounding::Same,
                () if program.rounded => Rounding::Other,
                () => Rounding::None,
            };
            let (plain, tiled) = ((plain, &*named(first, k)), (tiled, &*named(second, k)));
            let (laid_out, form, seed) = (second == "tiled", self.form, self.seed);
            let typed = lowering.padding != Padding::Masked;
            // Only the other form poisons arena memory, and the layouts of a plan are unknown here.
            let fresh = (form == Form::Physical || options.arena == Arena::None) && options.plan.is_none();
            let comparison = Comparison { program, plain, tiled, laid_out, form, seed, rounding, fresh, typed };
            if let Err(difference) = comparison.check() {
                println!("{FAILED}{k}");
                eprintln!("{difference}, with {options}\n{program}");
                same = false;
            }
        }
        same
    }
}

/// Checks that programs on incomplete tiles exercise padding: in half of each kind a kernel iterates over whole tiles,
/// and each remark appears in one of eight.
///
/// # Errors
/// If a kind exercises too little; with its counts.
pub fn widened(seed: u64) -> Result<(), String> {
    const PROGRAMS: u64 = 40;
    const REMARKS: [&str; 4] = ["padding of the output holds", "may change the result", "is not known", "is needed"];
    let context = jit::context();
    for kind in &PADDING {
        let part = Part { kind, form: Form::Strided, vectors: true, seed, programs: PROGRAMS };
        let mut counts = [0u64; 1 + REMARKS.len()];
        for number in 0..PROGRAMS {
            let text = part.program(&mut part.choices(1, number)).text("p");
            let said = said_of_padding(&context, &text).map_err(|error| format!("{error}:\n{text}"))?.join("\n");
            for (count, remark) in counts.iter_mut().zip(["runs to"].iter().chain(&REMARKS)) {
                *count += u64::from(said.contains(remark));
            }
        }
        if counts[0] < PROGRAMS / 2 || counts.iter().any(|count| *count < PROGRAMS / 8) {
            return Err(format!("of {PROGRAMS} programs of {}: {counts:?} with `runs to`, {REMARKS:?}", kind.0));
        }
    }
    Ok(())
}

/// Compiles programs together; after a failure, reports which of them do not compile.
fn compiled(
    context: &Context,
    options: &PipelineOptions,
    numbers: &[u64],
    texts: &[String],
) -> Option<(Engine, Vec<bool>)> {
    let together = engine(context, texts, options);
    if together.is_none() {
        for (k, text) in numbers.iter().zip(texts) {
            println!("{MARK}{k} is compiled with {options}\n{text}");
            if engine(context, std::slice::from_ref(text), options).is_none() {
                println!("{FAILED}{k}");
                eprintln!("does not compile with {options}:\n{text}");
            }
        }
    }
    together
}

fn exit_code(same: bool) -> ExitCode {
    if same { ExitCode::SUCCESS } else { ExitCode::from(DIFFERENT as u8) }
}

/// Random options for vector code.
fn random_options(rng: &mut Choices, form: Form) -> LowerMemrefsOptions {
    LowerMemrefsOptions {
        form,
        vectorize: rng.choice(&Target::ALL[1..]),
        vector_bits: rng.choice(&[0, 0, 0, 0, 64, 128, 256, 512]),
        vector_registers: rng.choice(&[0, 0, 0, 8, 11, 16, 32]),
        reassociate: rng.one_in(3),
        contract: rng.one_in(3),
        cache_bytes: rng.choice(&[0, 0, 1, 1000, 1 << 20]),
        row_block_bytes: rng.choice(&[0, 1, 300, 1000, 4000, 1 << 14]),
        // Kernels run together without threads.
        parallel: if rng.bool() { Parallel::None } else { rng.choice(Parallel::ALL) },
        padding: rng.choice(&[Padding::Masked, Padding::Typed]),
        // Approximations round differently.
        approximate: false,
    }
}
