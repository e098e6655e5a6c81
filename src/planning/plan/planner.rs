//! Planning, whatever the layouts are: the best plan of a problem, the plan that a proof proves, and what other layouts cost.
//!
//! A problem is a network of costs, with a resource for each capacity. What its choices are is known to those who build it:
//! [tiled layouts](super::tiled), or [layouts over places](super::sharding).

use super::layout_plan::{Alternative, Doubt, LaidOut, LayoutPlan, MemoryExcess, PlannedRelayout, Unplanned};
use super::placing::Residence;
use super::planned_layout::PlannedLayout;
use super::problem::Located;
use super::program::{ArrayName, Program};
use super::space::SpaceLimit;
use crate::solver::{Certificate, CostNetwork, Marginal, NoPlan, Options, Progress, check, min_marginals, solve_from};
use std::cmp::Reverse;
use tensor_layout::places::Machine;
use tensor_layout::text::Error;

/// How many arrays an error names.
pub const MOST_NAMED: usize = 5;

/// A callback that is asked now and then whether a search may go on.
pub type GoOn<'g> = dyn FnMut(&Progress) -> bool + 'g;

/// The layouts of an array, and the variable that chooses one.
pub struct ListedLayouts {
    /// The variable.
    pub variable: usize,
    /// The layouts; `None` for one whose addresses do not fit in 64 bits.
    pub layouts: Vec<Option<PlannedLayout>>,
    /// For each choice of the variable the number of the layout.
    pub chosen: Vec<usize>,
}

/// A program whose layouts are to be planned.
pub trait Planner {
    /// The program.
    fn program(&self) -> &Program<'_>;

    /// The machine.
    fn machine(&self) -> &Machine;

    /// The problem as a network of costs.
    fn network(&self) -> &CostNetwork;

    /// The capacities, by the numbers of the network's resources.
    fn limits(&self) -> &[SpaceLimit];

    /// The capacities that were put in.
    fn capacities(&self) -> &[SpaceLimit];

    /// The array that a variable is about.
    fn array_of(&self, variable: usize) -> Option<usize>;

    /// The layouts that an array may have, the default first where there is one; `None` where nothing is chosen.
    fn listed(&self, made: usize) -> Option<ListedLayouts>;

    /// Choices to begin with. They need not be legal.
    fn start(&self, options: &Options, go_on: &mut GoOn) -> Vec<usize>;

    /// The plan that some choices are, whose cost is known.
    ///
    /// # Errors
    /// Bytes or costs do not fit in 64 bits.
    fn decode(&self, certificate: Certificate) -> Result<LayoutPlan, Unplanned>;

    /// Adds capacities of memories to those that there are, at most one for each memory space, and says whether arrays may
    /// change their memory.
    ///
    /// # Errors
    /// A capacity below 0; bytes that do not fit; [`Unplanned::Undecided`].
    fn put_limits(&mut self, limits: &[SpaceLimit], residence: Residence, go_on: &mut GoOn) -> Result<(), Unplanned>;

    /// Leaves so many bytes of a capacity to what operations bring.
    ///
    /// # Errors
    /// The errors of [`Planner::put_limits`].
    fn keep(&mut self, bytes: i64) -> Result<(), Unplanned>;

    /// Puts in capacities of the machine's memories.
    ///
    /// # Errors
    /// The machine has no such memory space, or it is limited twice; those of [`Planner::put_limits`].
    fn limit(&mut self, limits: &[SpaceLimit], residence: Residence, go_on: &mut GoOn) -> Result<(), Unplanned> {
        let known = self.machine().check_limits(limits.iter().map(|limit| limit.space));
        known.map_err(|error| Unplanned::Wrong(None, error))?;
        self.put_limits(limits, residence, go_on)
    }

    /// The same problem with capacities.
    ///
    /// # Errors
    /// The errors of [`Planner::limit`].
    fn limited(self, limits: &[SpaceLimit]) -> Result<Self, Unplanned>
    where
        Self: Sized,
    {
        self.limited_in(limits, Residence::OverTime)
    }

    /// The same, and whether arrays may change their memory.
    ///
    /// # Errors
    /// The errors of [`Planner::limit`].
    fn limited_in(mut self, limits: &[SpaceLimit], residence: Residence) -> Result<Self, Unplanned>
    where
        Self: Sized,
    {
        self.limit(limits, residence, &mut |_| true)?;
        Ok(self)
    }

    /// The number of arrays for which layouts are chosen.
    fn arrays(&self) -> usize {
        self.program().made.len()
    }

    /// The best plan. `go_on` is asked now and then; when it says no, the best plan so far is taken.
    ///
    /// # Errors
    /// Why there is no plan.
    fn plan(&self, options: &Options, go_on: &mut GoOn) -> Result<LayoutPlan, Unplanned> {
        self.best(options, go_on)
    }

    /// The plan of least cost of the problem as it is.
    ///
    /// # Errors
    /// Why there is no plan.
    fn best(&self, options: &Options, go_on: &mut GoOn) -> Result<LayoutPlan, Unplanned> {
        let start = self.start(options, go_on);
        let solution = solve_from(self.network(), &start, options, go_on).map_err(|why| self.unplanned(why))?;
        self.decode(solution.certificate)
    }

    /// The best plan, and none that costs more than a known one.
    ///
    /// # Errors
    /// Why there is no plan.
    fn plan_from(&self, known: &LayoutPlan, options: &Options, go_on: &mut GoOn) -> Result<LayoutPlan, Unplanned> {
        let found = solve_from(self.network(), known.solution.choices(), options, go_on);
        self.decode(found.map_err(|why| self.unplanned(why))?.certificate)
    }

    /// The capacities of the machine that a plan exceeds, beside those that were put in. On places, none.
    fn exceeded(&self, _: &LayoutPlan) -> Vec<SpaceLimit> {
        Vec::new()
    }

    /// Whether a plan may exceed a capacity of the machine.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes.
    fn may_exceed(&self) -> Result<bool, Unplanned> {
        Ok(false)
    }

    /// The best plan in which operations have room for their smallest steps, with these, and with the bytes of the fastest
    /// memory that arrays leave for this: as many as those steps need where arrays would leave less, none where they leave
    /// enough. On places, all plans are so.
    ///
    /// # Errors
    /// Why there is no plan.
    fn plan_in_steps(&mut self, options: &Options, go_on: &mut GoOn) -> Result<LayoutPlan, Unplanned> {
        self.plan(options, go_on)
    }

    /// Puts the steps of operations into a plan, where it has none yet.
    ///
    /// # Errors
    /// A cost or the bytes of a layout do not fit in 64 bits.
    fn add_steps(&self, _: &mut LayoutPlan) -> Result<(), Unplanned> {
        Ok(())
    }

    /// The plan that a certificate proves.
    ///
    /// # Errors
    /// The error in the certificate.
    fn proved(&self, certificate: Certificate) -> Result<LayoutPlan, Unplanned> {
        self.replayed(certificate)
    }

    /// The plan that a certificate proves of the problem as it is.
    ///
    /// # Errors
    /// The error in the certificate.
    fn replayed(&self, certificate: Certificate) -> Result<LayoutPlan, Unplanned> {
        check(self.network(), &certificate).map_err(|error| Unplanned::Wrong(None, Error::new(error.to_string())))?;
        self.decode(certificate)
    }

    /// In which layouts each operation takes, makes and holds its arrays. What is made again for each use has several entries.
    ///
    /// # Errors
    /// A cost or addresses do not fit in 64 bits.
    fn laid_out(&self, plan: &LayoutPlan) -> Result<Vec<LaidOut>, Unplanned>;

    /// The cost of the layouts that the program has; `None` where they are not possible here.
    fn given(&self) -> Option<i64> {
        None
    }

    /// The plan that the layouts of the program are, whose bound is its own cost; `None` where it has none for this machine.
    ///
    /// # Errors
    /// The first operation that cannot have them, or why the cost does not fit.
    fn given_plan(&self) -> Result<Option<LayoutPlan>, Located> {
        Ok(None)
    }

    /// For each layout that an array may be made in, the best plan with it; an entry for each time that the array is made.
    /// Empty where no array has this name. `go_on` is asked now and then; when it says no, what is left is not decided.
    fn why(&self, name: ArrayName, options: &Options, go_on: &mut GoOn) -> Vec<Vec<Alternative>> {
        let program = self.program();
        let other = program.names.iter().find(|(own, _)| *own == name).map(|(_, made)| *made);
        let is_it = |made: &usize| (program.name(*made) == name || other == Some(*made)) && !program.is_result(*made);
        let named = (0..self.arrays()).filter(is_it);
        let listed: Vec<ListedLayouts> = named.filter_map(|made| self.listed(made)).collect();
        let variables: Vec<usize> = listed.iter().map(|own| own.variable).collect();
        let marginals = min_marginals(self.network(), &variables, options, go_on).unwrap_or_default();
        listed.into_iter().zip(marginals).map(|(own, marginals)| own.alternatives(marginals)).collect()
    }

    /// The best plan that does without a relayout: in which the operations that want it take the array as it is made. `None`
    /// where that is not asked: nothing says which operations could.
    fn without(&self, _: &PlannedRelayout, _: &Options, _: &mut GoOn) -> Option<Marginal> {
        None
    }

    /// The layouts of arguments and results of a plan that save no more than the costs may be off. `None` where all of them
    /// are default layouts, where nothing is known of that, or where the time is over.
    fn doubt(&self, _: &LayoutPlan, _: &Options, _: &mut GoOn) -> Option<Doubt> {
        None
    }

    /// Why there is no plan, with the names of the program.
    fn unplanned(&self, why: NoPlan) -> Unplanned {
        let excess = |resource: usize, moment, bytes, capacity| {
            // The bandwidth is a resource, too, and no memory.
            let space = self.limits().get(resource)?.space;
            let memory = self.machine().space_name(space);
            Some(MemoryExcess { space, memory, at: self.program().at_moment(moment), bytes, capacity })
        };
        Unplanned::of(why, excess, |resource, moment| self.largest(resource, moment))
    }

    /// The arrays that take most of a resource at a moment, each with the least that it can take, largest first.
    fn largest(&self, resource: usize, moment: i64) -> Vec<(ArrayName, i64)> {
        let then = self.network().occupancies().iter();
        let then = then.filter(|own| own.resource == resource && own.moments.contains(&moment));
        let least = |amounts: &[i64]| amounts.iter().copied().min().unwrap_or(0);
        let mut taken: Vec<(i64, usize, usize)> = then
            .filter_map(|own| Some((least(&own.amounts), own.variable, self.array_of(own.variable)?)))
            .filter(|(bytes, ..)| *bytes > 0)
            .collect();
        taken.sort_by_key(|(bytes, variable, _)| (Reverse(*bytes), *variable));
        taken.truncate(MOST_NAMED);
        taken.into_iter().map(|(bytes, _, made)| (self.program().name(made), bytes)).collect()
    }
}

impl ListedLayouts {
    /// The layouts by the cost of the best plan with each, given that with each choice.
    fn alternatives(self, marginals: Vec<Marginal>) -> Vec<Alternative> {
        let mut best = vec![Marginal::IMPOSSIBLE; self.layouts.len()];
        for (layout, marginal) in self.chosen.into_iter().zip(marginals) {
            best[layout] = best[layout].or(marginal);
        }
        let alternative =
            |(layout, best): (Option<PlannedLayout>, Marginal)| Some(Alternative { layout: layout?, best });
        let mut found: Vec<Alternative> = self.layouts.into_iter().zip(best).filter_map(alternative).collect();
        found.sort_by_key(|alternative| alternative.best.cost.unwrap_or(i64::MAX));
        found
    }
}
