//! Layouts that are given say the ways of all operations but for where names lie, and on which side nothing is copied: that
//! follows.

use super::problem::LayoutProblem;
use super::program::InstanceKind;
use super::ways::{AliasOf, Tied, Way};

impl LayoutProblem<'_, '_> {
    /// Among the ways of names with the chosen layouts, takes those that say where they lie.
    pub fn settle(&self, chosen: &mut [usize]) {
        let LayoutProblem { program, choices, users, .. } = self;
        let way = |chosen: &[usize], k: usize| &choices.ways[k][chosen[k]];
        let made_in = |chosen: &[usize], made: usize| {
            let by = program.made[made].by;
            (way(chosen, by).results[program.made[made].result], way(chosen, by).home)
        };
        let set = |chosen: &mut [usize], k: usize, home: Option<AliasOf>, tied: Option<Tied>| {
            let own = Way { home, tied, ..way(chosen, k).clone() };
            if let Some(found) = choices.ways[k].iter().position(|other| *other == own) {
                chosen[k] = found;
            }
        };
        for k in 0..program.instances.len() {
            let (home, tied) = (way(chosen, k).home, way(chosen, k).tied);
            if home.is_none() && tied.is_none() {
                continue;
            }
            let made = program.instances[k].operands[0];
            let (layout, of_operand) = made_in(chosen, made);
            let same = way(chosen, k).operands[0] == Some(layout);
            let stays = same && self.moved(k, way(chosen, k)).is_none();
            let there = of_operand.unwrap_or(if self.is_argument(made) { AliasOf::Argument } else { AliasOf::Near });
            let home = home.map(|_| if stays { there } else { AliasOf::Near });
            set(chosen, k, home, tied.map(|_| if same { Tied::Operand } else { Tied::Result }));
        }
        for k in (0..program.instances.len()).rev() {
            if way(chosen, k).home != Some(AliasOf::Near) {
                continue;
            }
            let made = program.instances[k].results[0];
            let [(user, _)] = users[made][..] else { continue };
            let own = Some(made_in(chosen, made).0);
            let taken = way(chosen, user);
            let stays = taken.operands[0] == own && self.moved(user, taken).is_none();
            let ends =
                matches!(program.instances[user].kind, InstanceKind::Result(_)) || taken.home == Some(AliasOf::Result);
            if stays && ends {
                let tied = way(chosen, k).tied;
                set(chosen, k, Some(AliasOf::Result), tied);
            }
        }
    }
}
