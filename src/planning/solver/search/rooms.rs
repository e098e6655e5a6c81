//! The moments at which capacity was exceeded so far, and the amount that each choice takes there.
//!
//! Most moments never matter, so local search measures a plan at these first. [`Rooms::admit`] measures it at all
//! moments of the model, and adds the worst ones.

use super::model::WorkingNetwork;

/// A set of moments; see the head of the file.
#[derive(Clone)]
pub struct Rooms {
    /// Numbers of moments of the model, in the order of their addition.
    pub moments: Vec<u32>,
    /// The capacity left for amounts that depend on choices.
    pub room: Vec<i64>,
    /// For each variable, the moments here at which it is live, and the offset of its amounts in `amounts`.
    pub held: Vec<Vec<(u32, usize)>>,
    pub amounts: Vec<i64>,
}

impl Rooms {
    pub fn new(model: &WorkingNetwork) -> Rooms {
        Rooms { moments: Vec::new(), room: Vec::new(), held: vec![Vec::new(); model.names.len()], amounts: Vec::new() }
    }

    /// The use of a plan at each moment of the model.
    pub fn usage(model: &WorkingNetwork, plan: &[u32]) -> Vec<i64> {
        let mut change = vec![0i64; model.moments.len() + 1];
        for (holds, choice) in model.holds.iter().zip(plan) {
            for hold in holds {
                let amount = model.amounts[hold.amounts + *choice as usize];
                change[hold.moments.start as usize] += amount;
                change[hold.moments.end as usize] -= amount;
            }
        }
        let mut sum = 0;
        change.pop();
        change.iter_mut().for_each(|change| {
            sum += *change;
            *change = sum;
        });
        change
    }

    /// Whether a plan fits at all moments of the model. If not, adds the worst moment of each stretch over capacity (at
    /// most 8).
    pub fn admit(&mut self, model: &WorkingNetwork, plan: &[u32]) -> bool {
        let usage = Rooms::usage(model, plan);
        let mut worst: Option<(i64, u32)> = None;
        let mut found = Vec::new();
        for (at, (moment, used)) in model.moments.iter().zip(&usage).enumerate() {
            let excess = used - moment.room;
            if excess <= 0 {
                found.extend(worst.take());
            } else if worst.is_none_or(|(most, _)| excess > most) {
                worst = Some((excess, at as u32));
            }
        }
        found.extend(worst);
        found.sort_by_key(|(excess, at)| (std::cmp::Reverse(*excess), *at));
        let fits = found.is_empty();
        for (_, at) in found.into_iter().take(8) {
            self.add(model, at);
        }
        fits
    }

    /// Adds a moment of the model, and returns its number here.
    pub fn add(&mut self, model: &WorkingNetwork, moment: u32) -> usize {
        if let Some(at) = self.moments.iter().position(|other| *other == moment) {
            return at;
        }
        let number = self.moments.len() as u32;
        self.moments.push(moment);
        self.room.push(model.moments[moment as usize].room);
        for (variable, holds) in model.holds.iter().enumerate() {
            let size = model.pairwise.size(variable as u32);
            let mut at = None;
            for hold in holds.iter().filter(|hold| hold.moments.contains(&moment)) {
                let start = *at.get_or_insert_with(|| {
                    self.amounts.resize(self.amounts.len() + size, 0);
                    self.amounts.len() - size
                });
                let from = &model.amounts[hold.amounts..hold.amounts + size];
                self.amounts[start..start + size].iter_mut().zip(from).for_each(|(sum, amount)| *sum += amount);
            }
            if let Some(start) = at {
                self.held[variable].push((number, start));
            }
        }
        number as usize
    }

    /// The use of a plan at the moments here.
    pub fn used(&self, plan: &[u32]) -> Vec<i64> {
        let mut used = vec![0; self.moments.len()];
        for (held, choice) in self.held.iter().zip(plan) {
            for (moment, start) in held {
                used[*moment as usize] += self.amounts[start + *choice as usize];
            }
        }
        used
    }
}
