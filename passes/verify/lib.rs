//! Checks that a lowered MLIR program computes what the program before it did.
//!
//! It depends on MLIR's C API and on nothing else of this project. `docs/verify.md` says what is proved and what is assumed.
//!
//! | room | what it holds | uses |
//! |---|---|---|
//! | `reader` | a module of MLIR as data: what each operation and each layout means | |
//! | `proof` | proofs for all data and shapes of any size: each element is followed back to what makes it | `reader` |
//! | `arenas` | buffers that are parts of one memory of bytes, as buffers of their own | `reader` |
//! | `kernels` | proofs of one kernel at a time, where operations name those that they implement | `proof`, `reader` |
//! | `run` | an evaluator of both forms on symbolic elements | `reader` |
//! | `outside` | what stands in a module beside its functions, and which functions nobody else sees | `reader`, `run` |
//! | `tests` | tests of the proofs | `proof`, `reader` |
//!
//! [`Source`] proves what it can, and runs the rest.

mod arenas;
mod kernels;
mod outside;
mod proof;
mod reader;
mod run;

use kernels::Unproved;
use melior::ir::operation::OperationLike;
use melior::ir::{Location, Operation, OperationRef};
use proof::formula::Obligations;
use proof::smt;
use proof::{Pairs, Why};
use reader::arith::CHOICES;
use reader::flags::{AFN, CONTRACT, REASSOC};
use reader::mlir::READ_RESOURCE;
pub use reader::mlir::ReadResource;
use reader::model::{Function, Kind, Program, Type};
use reader::uses::within;
use reader::{mlir, operations};
use run::compare::{self, Outcome, Verdict};
use run::inputs::{self, Sizes};
use run::interface::{self, Form};
use run::terms::Terms;
use run::{Stop, least, reason};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// The limits of a check, and the changes that the passes between may make.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many steps a function may take, elements of vectors and of copies counted one by one. Where this is not said, all
    /// functions together have a budget by their size.
    pub steps: Option<u64>,
    /// Whether sums of floating-point numbers may be reassociated.
    pub reassociate: bool,
    /// Whether a product and a sum may be rounded once.
    pub contract: bool,
    /// Whether functions of `math` may be approximated.
    pub approximate: bool,
    /// Whether the layouts of what functions take and return may become others, as long as these are of tensors.
    pub interfaces: bool,
    /// Whether public functions may take the memory for their buffers as their last arguments.
    pub arenas: bool,
    /// Whether memory spaces may be taken away.
    pub spaces: bool,
    /// Whether [`Source::obligations`] are kept.
    pub obligations: bool,
    /// Whether the origins are to be right: a kernel that is not what they say is an error, and a function with origins is
    /// proved kernel by kernel or not at all.
    pub exact_origins: bool,
}

impl Limits {
    /// The flags of fast math that all operations may have.
    fn flags(&self) -> u32 {
        let flags = [(self.reassociate, REASSOC), (self.contract, CONTRACT), (self.approximate, AFN)];
        flags.iter().filter(|(is_allowed, _)| *is_allowed).fold(0, |all, (_, flag)| all | flag)
    }
}

/// A result of a check: an error, or a missing proof.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Whether the program computes something else; if not, it was not shown that it does not.
    pub is_error: bool,
    /// The function.
    pub function: String,
    /// The finding, in words.
    pub message: String,
    /// Whether both were run to their ends.
    is_tried: bool,
    place: Option<usize>,
}

impl Finding {
    fn new(is_error: bool, function: &str, message: String) -> Finding {
        Finding { is_error, function: function.to_owned(), message, is_tried: false, place: None }
    }

    /// The location of the operation, if there is one; `module` is the program, in whose context it lives.
    pub fn location<'c>(&self, module: OperationRef<'c, 'c>) -> Option<Location<'c>> {
        mlir::location(module, self.place?)
    }
}

/// How the last form of a function is shown to be the same as the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A proof, for all data and indices.
    Proved,
    /// Both forms left the same terms of symbolic elements, at these sizes.
    Executed,
    /// It is private, and only functions call it that are shown.
    Unseen,
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Evidence::Proved => "proved",
            Evidence::Executed => "executed",
            Evidence::Unseen => "not seen",
        })
    }
}

/// The sizes with which a function ran, and what it did; or why it ended before.
type Ran = Result<(Sizes, Outcome), Stop>;

/// A program before passes, and what its functions compute.
pub struct Source<'c> {
    program: Program,
    /// A copy of it.
    source: Operation<'c>,
    /// The locations of its functions and other symbols, by name.
    places: BTreeMap<String, usize>,
    /// Copies of what passes made of it, one after the other, each with the number that the caller gave it. Of most programs the
    /// last one alone is read, which takes four to seven times as long as a copy.
    forms: Vec<(usize, Operation<'c>)>,
    /// A copy of the form whose operations have numbers, which those of later forms name, and the number of this form.
    numbered: Option<(usize, Operation<'c>)>,
    /// The outcomes of functions that have run, by name, sizes and choice of inputs; none of those that cannot run.
    outcomes: BTreeMap<(String, i64, usize), Ran>,
    terms: Terms,
    limits: Limits,
    /// How many more steps there may be.
    left: u64,
    /// The obligations about addresses in the proofs of functions.
    proved: BTreeMap<String, Obligations>,
    /// Functions whose last form is shown to be the same, and how.
    shown: BTreeMap<String, Evidence>,
    /// Functions whose last form is not shown to be the same.
    open: BTreeMap<String, Finding>,
}

/// Sets what reads the bytes of a `dense_resource`: MLIR's C API does not. Without it, such constants are not modelled.
pub fn read_resources_by(read: ReadResource) {
    READ_RESOURCE.get_or_init(|| read);
}

/// Whether operations of a function have numbers.
fn has_origins(function: &Function) -> bool {
    let steps = function.body.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.steps);
    steps.flat_map(within).any(|step| !step.origins.is_empty())
}

/// The locations of a module's functions and other symbols.
fn symbol_places(module: mlir::Op) -> BTreeMap<String, usize> {
    let operations = mlir::blocks(module, 0).into_iter().flat_map(mlir::operations);
    let named = operations.filter_map(|op| Some((mlir::attribute(op, "sym_name").and_then(mlir::text)?, op)));
    named.map(|(name, op)| (name, op.location().to_raw().ptr as usize)).collect()
}

/// The sizes that are tried for dimensions that only the running program knows. Vectors of 8 lanes fill 8, and more than two
/// 20; the program may be for one of them alone.
const OPEN: [i64; 4] = [5, 3, 8, 20];

/// The forms that passes made of a program.
struct LaterForms<'f, 'c> {
    noted: &'f [(usize, Operation<'c>)],
    /// The number of the last form.
    number: usize,
    last: Program,
    /// How many values the functions of the last form have.
    values: usize,
    /// The form whose operations have numbers, and the number of this form.
    numbered: Option<(usize, Program)>,
    /// The forms that differ from the one before, each with its number; read where they are asked for.
    different: OnceCell<Vec<(usize, Program)>>,
    /// The same forms with the interfaces of the last one.
    links: OnceCell<Vec<(usize, Program)>>,
}

impl<'c> LaterForms<'_, 'c> {
    fn different(&self, source: &Source<'c>) -> &[(usize, Program)] {
        self.different.get_or_init(|| source.different(self.noted))
    }

    /// The forms before one of this number that differ from the one before, for proofs from each to the next one.
    fn links(&self, source: &Source<'c>, end: usize) -> impl Iterator<Item = &Program> {
        let links = self.links.get_or_init(|| {
            let mut links = self.different(source).to_vec();
            links.iter_mut().for_each(|(_, form)| source.take_interfaces(form, self.noted));
            links
        });
        links.iter().filter(move |(number, _)| *number < end).map(|(_, form)| form)
    }

    /// The steps that a function may take of those that all may take, by its size.
    fn share(&self, function: &Function) -> u64 {
        let all = self.values as u128;
        let budget = u128::from(STEPS) + u128::from(STEPS_OF_A_VALUE) * all;
        (budget * function.slots.len() as u128 / all.max(1)) as u64
    }
}

impl<'c> Source<'c> {
    /// Reads a program.
    pub fn new(module: OperationRef<'c, '_>, limits: Limits) -> Source<'c> {
        let program = operations::program(mlir::borrowed(&module));
        let terms = Terms::new(limits.flags());
        let (outcomes, proved, shown, open) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let left = limits.steps.unwrap_or(STEPS);
        Source {
            program,
            source: (*module).clone(),
            places: symbol_places(mlir::borrowed(&module)),
            forms: vec![],
            numbered: None,
            outcomes,
            terms,
            limits,
            left,
            proved,
            shown,
            open,
        }
    }

    /// Runs a function of the program with sizes and a choice of inputs, in so many steps.
    fn outcome(&mut self, name: &str, open: i64, steps: &mut u64) -> Ran {
        let function = &self.program.functions[name];
        if least::steps(&self.program, function) > *steps {
            return Err(Stop::Steps);
        }
        let sizes = inputs::sizes_of_arguments(function, open);
        let form = Form { program: &self.program, function, is_last: true, takes_arenas: false };
        let outcome = compare::outcome(&mut self.terms, function, form, &sizes, None, steps)?;
        Ok((sizes, outcome))
    }

    /// Notes what passes made of the program; the number comes back with an error that is there first.
    pub fn note(&mut self, module: OperationRef<'c, '_>, number: usize) {
        self.forms.push((number, (*module).clone()));
    }

    /// Notes a form whose operations have numbers (`layout.origins`). The numbers of an operation of a later form are those of
    /// the operations that it implements.
    pub fn note_numbered(&mut self, module: OperationRef<'c, '_>) {
        let number = self.forms.last().map_or(0, |(number, _)| *number);
        self.numbered = Some((number, (*module).clone()));
    }

    /// Compares the last form of each function with the first one: by a proof for all data, and where there is none, by
    /// running both. What is shown of the last form is shown, whatever was between. Gives the errors, each with the number of
    /// the first form that has it; [`Source::open`] says what is not shown.
    pub fn check(&mut self) -> Vec<(usize, Finding)> {
        let noted = std::mem::take(&mut self.forms);
        let Some((number, last)) = noted.last() else { return vec![] };
        // Lowering gives memory the axes that there are then.
        let axes = noted.iter().rev().map(|(_, form)| mlir::axes(mlir::borrowed(form))).find(|axes| !axes.is_empty());
        self.program.axes = axes.unwrap_or_else(|| std::mem::take(&mut self.program.axes));
        let mut program = std::mem::take(&mut self.program);
        self.take_interfaces(&mut program, &noted);
        self.program = program;
        let text = last;
        let last = self.read(last);
        // What is read has not all that there is.
        if last == self.program
            && self.source.to_string() == mlir::text_without(mlir::borrowed(text), operations::ORIGINS)
        {
            return vec![];
        }
        self.left = self.limits.steps.unwrap_or(0);
        let numbered = self.numbered.take().map(|(number, form)| (number, self.read(&form)));
        let values = last.functions.values().map(|function| function.slots.len()).sum();
        let (different, links) = (OnceCell::new(), OnceCell::new());
        let forms = LaterForms { noted: &noted, number: *number, last, values, numbered, different, links };
        let mut errors = vec![];
        let names: Vec<String> = self.program.functions.keys().cloned().collect();
        for name in names {
            let found = self.compare(&name, &forms);
            found.into_iter().for_each(|(number, finding)| self.note_open(&mut errors, number, finding));
        }
        let outside = outside::compared(&self.program, &forms.last).into_iter();
        let outside = outside.map(|other| Finding::new(other.is_error, other.name, other.message));
        outside.collect::<Vec<_>>().into_iter().for_each(|finding| self.note_open(&mut errors, *number, finding));
        self.without_unseen(&forms.last, errors)
    }

    /// The errors without those of private functions that only functions call which are shown. With those that are not shown, they
    /// are noted as unseen.
    fn without_unseen(&mut self, last: &Program, errors: Vec<(usize, Finding)>) -> Vec<(usize, Finding)> {
        let is_shown = |name: &str| self.shown.contains_key(name);
        let is_unseen = |name: &str| outside::is_unseen((&self.program, last), name, is_shown);
        let (unseen, errors): (Vec<_>, Vec<_>) =
            errors.into_iter().partition(|(_, finding)| is_unseen(&finding.function));
        let open: Vec<String> = self.open.keys().filter(|name| is_unseen(name)).cloned().collect();
        for name in unseen.into_iter().map(|(_, finding)| finding.function).chain(open) {
            self.open.remove(&name);
            self.shown.insert(name, Evidence::Unseen);
        }
        errors
    }

    /// Compares the forms of a function. Gives what is found against the last one, with the number of the first form that has
    /// it; notes how it is shown otherwise.
    fn compare(&mut self, name: &str, forms: &LaterForms) -> Option<(usize, Finding)> {
        let source = &self.program.functions[name];
        source.body.as_ref()?;
        let form = forms.last.functions.get(name).filter(|function| function.body.is_some());
        let takes_arenas = self.limits.arenas;
        let form = form.map(|function| Form { program: &forms.last, function, is_last: true, takes_arenas });
        let wrong = match form {
            Some(form) => interface::check(source, &form, self.limits.spaces).err(),
            None if source.public => Some(outside::gone(&forms.last, name)),
            None => None,
        };
        if let Some(stop) = wrong {
            let (is_error, message) = match &stop {
                Stop::Fault(what, _) => (true, what.clone()),
                _ => (false, format!("not proved: {}", reason(&stop))),
            };
            return Some((forms.number, Finding::new(is_error, name, message)));
        }
        let form = form?;
        match self.prove_form(name, forms, form) {
            Ok(obligations) => {
                self.proved.insert(name.to_owned(), obligations);
                self.shown.insert(name.to_owned(), Evidence::Proved);
                None
            }
            // The program keeps the layouts that it had inside, while its interface has those of the last form.
            Err(Unproved { why: Why::Wrong(message), kernel }) if !self.limits.interfaces => {
                let number = kernel.map_or_else(|| self.first_that_is_wrong(name, forms), |_| forms.number);
                Some((number, Finding { place: kernel.and_then(place), ..Finding::new(true, name, message) }))
            }
            Err(Unproved { why: Why::Wrong(why) | Why::Open(why), kernel }) => {
                let (number, finding) = self.execute(name, forms, form, &why)?;
                Some((number, Finding { place: finding.place.or(kernel.and_then(place)), ..finding }))
            }
        }
    }

    /// A proof that the last form of a function is the same, whose arenas are separate buffers for it.
    fn prove_form(&mut self, name: &str, forms: &LaterForms, form: Form) -> Result<Obligations, Unproved> {
        let arenas = interface::arenas(&self.program.functions[name], &form);
        let arenas = arenas.map_err(|stop| match stop {
            Stop::Fault(what, _) => Why::Wrong(what),
            stop => Why::Open(reason(&stop)),
        })?;
        let separated = arenas::separated((form.program, form.function), arenas).map_err(Why::Open)?;
        self.prove(name, forms, separated.as_ref().unwrap_or(form.function))
    }

    /// A proof that the last form of a function is the same, within its share of the steps: one kernel at a time where operations
    /// say which ones they implement, or else as a whole.
    fn prove(&mut self, name: &str, forms: &LaterForms, function: &Function) -> Result<Obligations, Unproved> {
        let is_shared = self.limits.steps.is_none();
        if is_shared {
            // What functions before have left is for those behind them.
            self.left = self.left.saturating_add(forms.share(function));
        }
        let mut looks = usize::try_from(self.left).unwrap_or(usize::MAX);
        let last = (&forms.last, function);
        let numbered = forms.numbered.as_ref();
        let numbered = numbered.and_then(|(number, form)| Some((*number, (form, form.functions.get(name)?))));
        let numbered = numbered.filter(|(_, (_, before))| has_origins(before) || has_origins(function));
        let shown = match numbered {
            Some(numbered) => self.prove_kernels(name, forms, numbered, last, &mut looks),
            None => self.prove_whole(name, forms, (forms.number, last), &mut looks).map_err(Unproved::from),
        };
        if is_shared {
            self.left = looks as u64;
        }
        shown
    }

    /// A proof that the form with numbers is the same as the first one, and then one kernel at a time, or else as a whole.
    fn prove_kernels(
        &self,
        name: &str,
        forms: &LaterForms,
        (number, numbered): (usize, (&Program, &Function)),
        last: (&Program, &Function),
        looks: &mut usize,
    ) -> Result<Obligations, Unproved> {
        let (allowed, noted) = (self.limits.flags(), self.limits.obligations);
        let mut shown = self.prove_whole(name, forms, (number, numbered), looks)?;
        let kernels = kernels::same(numbered, last, (allowed, &mut *looks, self.limits.exact_origins), noted);
        shown.extend(match kernels {
            Err(unproved) if !self.limits.exact_origins => {
                // What one kernel lacks says more than what the whole function does. What differs for some contents of
                // buffers may be the same for those that they have.
                let Unproved { why: Why::Open(why) | Why::Wrong(why), kernel } = unproved;
                proof::same(numbered, last, (allowed, looks, Pairs::All), noted).map_err(|whole| match whole {
                    Why::Open(_) => Unproved { why: Why::Open(why), kernel },
                    wrong => Unproved::from(wrong),
                })
            }
            kernels => kernels,
        }?);
        Ok(shown)
    }

    /// A proof that a form of a function is the same as the first one; where that takes too long or is not found, that each form
    /// between them is the same as the one before.
    fn prove_whole(
        &self,
        name: &str,
        forms: &LaterForms,
        (number, form): (usize, (&Program, &Function)),
        looks: &mut usize,
    ) -> Result<Obligations, Why> {
        let (allowed, noted) = (self.limits.flags(), self.limits.obligations);
        let source = (&self.program, &self.program.functions[name]);
        let shown = quick(source, form, (allowed, &mut *looks), noted);
        if !matches!(shown, Err(Why::Open(_))) {
            return shown;
        }
        let mut all = Obligations::default();
        let mut before = source;
        for link in forms.links(self, number) {
            let Some(function) = link.functions.get(name) else { continue };
            // What is not shown of one form may be of the next one.
            if let Ok(shown) = quick(before, (link, function), (allowed, &mut *looks), noted) {
                all.extend(shown);
                before = (link, function);
            }
        }
        let shown = match quick(before, form, (allowed, &mut *looks), noted) {
            Err(Why::Open(_)) => proof::same(before, form, (allowed, looks, Pairs::All), noted),
            shown => shown,
        };
        // What one form computes otherwise, a later one may do right again.
        all.extend(shown.map_err(|(Why::Open(why) | Why::Wrong(why))| Why::Open(why))?);
        Ok(all)
    }

    /// The number of the first form of a function that is not the same.
    fn first_that_is_wrong(&self, name: &str, forms: &LaterForms) -> usize {
        let source = (&self.program, &self.program.functions[name]);
        let mut looks = usize::try_from(self.left).unwrap_or(usize::MAX);
        let is_wrong = |(_, form): &&(usize, Program)| {
            form.functions.get(name).is_some_and(|function| {
                let same = proof::same(source, (form, function), (self.limits.flags(), &mut looks, Pairs::All), false);
                matches!(same, Err(Why::Wrong(_)))
            })
        };
        forms.different(self).iter().find(is_wrong).map_or(forms.number, |(number, _)| *number)
    }

    /// Runs both forms of a function of which there is no proof.
    fn execute(&mut self, name: &str, forms: &LaterForms, form: Form, why: &str) -> Option<(usize, Finding)> {
        let is_shared = self.limits.steps.is_none();
        let for_each = self.left / if is_shared { 2 } else { 1 };
        let mut left = [for_each; 2];
        let finding = self.run(name, form, why, &mut left);
        if is_shared {
            self.left = left.iter().sum();
        }
        let Some(finding) = finding else {
            self.shown.insert(name.to_owned(), Evidence::Executed);
            return None;
        };
        // Of a form that says nothing, one before it may. An error is there since the first form that has it.
        let has_run = self.outcomes.iter().any(|(of, outcome)| of.0 == name && outcome.is_ok());
        if finding.is_tried || !has_run {
            return Some((forms.number, finding));
        }
        // To know where an error is from may take longer.
        let mut rest = left;
        let first = forms.different(self).iter().find_map(|(number, form)| {
            let function = form.functions.get(name).filter(|function| function.body.is_some())?;
            if *form == forms.last {
                return Some((*number, finding.clone()));
            }
            let form = Form { program: form, function, is_last: false, takes_arenas: self.limits.arenas };
            rest = if finding.is_error { [for_each; 2] } else { rest };
            let found = self.run(name, form, "", &mut rest)?;
            found.is_error.then_some((*number, found))
        });
        Some(first.unwrap_or((forms.number, finding)))
    }

    /// Notes what is found of a function that is not shown to be the same.
    fn note_open(&mut self, errors: &mut Vec<(usize, Finding)>, number: usize, mut finding: Finding) {
        finding.place = finding.place.or_else(|| self.places.get(&finding.function).copied());
        if finding.is_error {
            errors.push((number, finding));
        } else {
            self.open.insert(finding.function.clone(), finding);
        }
    }

    /// Reads a form.
    fn read(&self, form: &Operation) -> Program {
        Program { axes: self.program.axes.clone(), ..operations::program(mlir::borrowed(form)) }
    }

    /// The forms that differ from the one before, each with its number.
    fn different(&self, forms: &[(usize, Operation<'c>)]) -> Vec<(usize, Program)> {
        let mut all: Vec<(usize, Program)> = vec![];
        for (number, form) in forms {
            let form = self.read(form);
            if form != *all.last().map_or(&self.program, |(_, form)| form) {
                all.push((*number, form));
            }
        }
        all
    }

    /// Gives what private functions of a program take and return the layouts of the last form of tensors; public ones, too, where
    /// these may change.
    fn take_interfaces(&self, program: &mut Program, forms: &[(usize, Operation<'c>)]) {
        let interfaces = forms.iter().rev().map(|(_, form)| operations::interfaces(mlir::borrowed(form)));
        let interfaces: Vec<BTreeMap<String, Vec<Type>>> = interfaces.collect();
        let is_memory = |r#type: &Type| matches!(r#type, Type::Shaped { kind: Kind::MemRef, .. });
        let is_free = |function: &Function| self.limits.interfaces || !function.public;
        for (name, function) in program.functions.iter_mut().filter(|(_, function)| is_free(function)) {
            let mut of_forms = interfaces.iter().filter_map(|form| form.get(name));
            let Some(new) = of_forms.find(|types| !types.iter().any(is_memory)) else { continue };
            let old = function.arguments.iter_mut().chain(&mut function.results);
            old.zip(new).filter(|(old, new)| old.is_but_for_layout(new)).for_each(|(old, new)| *old = new.clone());
        }
    }

    /// The findings about functions whose last form is not shown to be the same.
    pub fn open(&self) -> Vec<Finding> {
        self.open.values().cloned().collect()
    }

    /// The functions whose last form is shown to be the same, and how.
    pub fn shown(&self) -> impl Iterator<Item = (&str, Evidence)> {
        self.shown.iter().map(|(name, evidence)| (&**name, *evidence))
    }

    /// The obligations about addresses in the proofs of last forms, as a module of MLIR's dialect `smt`. Its first
    /// lines are comments: how many obligations there are, and how many have no formula.
    pub fn obligations(&self) -> String {
        let count = |of: fn(&Obligations) -> usize| self.proved.values().map(of).sum::<usize>();
        let (all, unwritten) = (count(|proof| proof.all.len()), count(|proof| proof.unwritten));
        let solvers: String = self.proved.iter().map(|(name, proof)| smt::solvers(name, &proof.all)).collect();
        format!("// obligations: {all}\n// without a formula: {unwritten}\nmodule {{\n{solvers}}}\n")
    }

    /// Runs both forms of a function of which there is no proof, each in as many steps as are left for it.
    fn run(&mut self, name: &str, form: Form, why: &str, left: &mut [u64; 2]) -> Option<Finding> {
        let finding = |is_error: bool, message: String, place: Option<usize>| {
            Some(Finding { place, ..Finding::new(is_error, name, message) })
        };
        let not_proved = |stop: &Stop| {
            let location = match stop {
                Stop::Steps => None,
                Stop::Unknown(_, at) | Stop::Fault(_, at) => place(*at),
            };
            finding(false, format!("not proved: {}; for all data: {why}", reason(stop)), location)
        };
        let (mut said, mut sizes) = (None, Vec::<Sizes>::new());
        let has_open = inputs::tried_sizes(&self.program.functions[name], &[]).is_some();
        for open in OPEN.into_iter().take(if has_open { OPEN.len() } else { 1 }) {
            for choice in 0..CHOICES {
                self.terms.choice = choice;
                let key = (name.to_owned(), open, choice);
                if !self.outcomes.contains_key(&key) {
                    let outcome = self.outcome(name, open, &mut left[0]);
                    self.outcomes.insert(key.clone(), outcome);
                }
                let (of_arguments, before) = match &self.outcomes[&key] {
                    Ok(done) => done,
                    // Other sizes and numbers may be those that the program is for.
                    Err(Stop::Fault(..)) => continue,
                    Err(stop) if sizes.is_empty() => return not_proved(stop),
                    Err(_) => continue,
                };
                let source = &self.program.functions[name];
                let after = compare::outcome(&mut self.terms, source, form, of_arguments, Some(before), &mut left[1]);
                let after = match after {
                    Ok(outcome) => outcome,
                    Err(Stop::Fault(what, at)) => return finding(true, what, place(at)),
                    Err(stop) if sizes.is_empty() => return not_proved(&stop),
                    Err(_) => continue,
                };
                match compare::compare(&self.terms, before, &after) {
                    Verdict::Same => {}
                    Verdict::Tried(what) => drop(said.get_or_insert(format!(", but tried: {what}"))),
                    Verdict::Open(what) => said = Some(format!(": {what}")),
                    Verdict::Differs(what) => return finding(true, what, None),
                }
                if sizes.last() != Some(of_arguments) {
                    sizes.push(of_arguments.clone());
                }
                if before.decided.is_empty() && after.decided.is_empty() {
                    break;
                }
            }
        }
        if sizes.is_empty() {
            return not_proved(&Stop::Fault("no sizes and numbers that were tried are those of the program".into(), 0));
        }
        let source = &self.program.functions[name];
        let tried = || inputs::tried_sizes(source, &sizes).or_else(|| inputs::tried_strides([source, form.function]));
        let what = said.or_else(|| tried().map(|tried| format!(", but tried: {tried}")))?;
        let found = finding(false, format!("not proved{what}"), None);
        found.map(|found| Finding { is_tried: true, ..found })
    }
}

/// How many steps all functions may take where no number is said, and how many more for each value of the last form. A look of a
/// proof is one of them. Of the programs of test/run, a step of a run took 0.05 to 0.17 µs and a look of a proof 0.25 to 1 µs;
/// lowering took 25 ms and 4 to 20 µs for each value. With 512-bit vectors, the looks of entry functions were 2,247 for a
/// convolution, below 300,000 for a softmax, 1,000,000 for an attention, and 1,500,000 for a block of GPT-2.
const STEPS: u64 = 1 << 21;
const STEPS_OF_A_VALUE: u64 = 128;

/// A proof in one of so many parts of the steps, of buffers that are computed of the same operations.
fn quick(
    before: (&Program, &Function),
    after: (&Program, &Function),
    (allowed, looks): (u32, &mut usize),
    noted: bool,
) -> Result<Obligations, Why> {
    let most = *looks / QUICK;
    let mut left = most;
    let shown = proof::same(before, after, (allowed, &mut left, Pairs::Signed), noted);
    *looks -= most - left;
    shown
}

/// A quick proof takes one in so many of the steps that are left. Of 30 programs from linalg and torch-mlir, those that are proved
/// directly take at most 170,000 looks, of 2^19 and more.
const QUICK: usize = 4;

fn place(location: usize) -> Option<usize> {
    Some(location).filter(|location| *location != 0)
}
