//! Collectives: operations in which several devices take part.

/// An exchange between devices that all run the same program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The kind of exchange.
    pub exchange: Exchange,
    /// The number of devices.
    pub devices: i64,
    /// The devices that take part together, in the order of their parts. In a permutation each group is a source and a
    /// target.
    pub groups: Vec<Vec<i64>>,
    /// The sizes of each block, where blocks are exchanged.
    pub blocks: Vec<Vec<i64>>,
}

/// The exchange between the devices of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Each gets the operands of all, concatenated along a dimension.
    Gather {
        /// The dimension.
        dim: usize,
    },
    /// Each gets the operands of all, combined one by one.
    Reduce,
    /// Each gets the operands of all, combined by a computation that takes all arrays of two devices at once.
    ReduceTogether,
    /// The operands of all are combined, and each gets its part along a dimension.
    ReduceScatter {
        /// The dimension.
        dim: usize,
    },
    /// Each gets one part from each: parts along a dimension, or without one whole operands, one for each device of a
    /// group.
    AllToAll {
        /// The dimension.
        dim: Option<usize>,
    },
    /// Each gets the operands of the first of its group; devices in no group get zeros.
    Broadcast,
    /// Each target gets the operands of its source; all others get zeros.
    Permute,
    /// Each target gets blocks of its source's inputs, and writes them into its outputs. Operands: the inputs, as many
    /// outputs, then one scalar for each block and dimension: first the starts of all blocks in the inputs of the
    /// source, then their starts in the outputs of the target.
    PermuteBlocks {
        /// The number of blocks of each input. The list of pairs is cut into as many sets.
        sets: usize,
    },
    /// Rows move to places given by operands: input, old output, offsets and counts of sent rows, offsets in the
    /// receivers' outputs, counts of received rows.
    Ragged,
}

/// The reason why groups do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// The label in [`Operation::check`](crate::operations::operation::Operation::check).
    pub rule: &'static str,
    /// The group, and the entry in it; `None` if the list as a whole does not fit.
    pub entry: Option<(usize, usize)>,
    /// The rest of a sentence: `must be .., found ..`.
    pub must: String,
}

impl Exchange {
    /// Whether each device must be in a group.
    fn wants_all(self) -> bool {
        !matches!(self, Exchange::Broadcast | Exchange::Permute | Exchange::PermuteBlocks { .. })
    }

    /// Whether all groups must have the same size.
    fn wants_equal(self) -> bool {
        !matches!(self, Exchange::Broadcast | Exchange::Permute | Exchange::PermuteBlocks { .. })
            && !matches!(self, Exchange::Reduce | Exchange::ReduceTogether)
    }

    /// Checks groups of devices numbered from 0 to before `count`; `name` is their noun, such as `replica`.
    ///
    /// # Errors
    /// The first entry that does not fit.
    pub fn fits(self, groups: &[Vec<i64>], count: i64, name: &str) -> Result<(), Misfit> {
        match self {
            Exchange::Permute => return pairs(groups, count, name),
            Exchange::PermuteBlocks { sets } => return sets_of_pairs(groups, sets, count, name),
            _ => {}
        }
        let mut seen = std::collections::BTreeSet::new();
        let size = groups.first().map_or(0, Vec::len);
        for (g, group) in groups.iter().enumerate() {
            for (k, device) in group.iter().enumerate() {
                in_range((g, k), *device, count, name)?;
                if !seen.insert(*device) {
                    let must = format!("must be a {name} that is in no group before, found {device}");
                    return Err(Misfit { rule: "groups_c2", entry: Some((g, k)), must });
                }
            }
            if self.wants_equal() && group.len() != size {
                let must = format!("must have groups of as many as the first has, {size}, found {}", group.len());
                return Err(Misfit { rule: "groups_c3", entry: Some((g, 0)), must });
            }
        }
        let missing = || (0..count).find(|device| !seen.contains(device));
        match missing().filter(|_| self.wants_all()) {
            Some(device) => {
                let must = format!("must have each of {count} in a group, found none with {name} {device}");
                Err(Misfit { rule: "groups_c4", entry: None, must })
            }
            None => Ok(()),
        }
    }
}

fn in_range(entry: (usize, usize), device: i64, count: i64, name: &str) -> Result<(), Misfit> {
    if (0..count).contains(&device) {
        return Ok(());
    }
    let must = format!("must be a {name} below {count}, found {device}");
    Err(Misfit { rule: "groups_c1", entry: Some(entry), must })
}

/// Checks each set of pairs.
fn sets_of_pairs(groups: &[Vec<i64>], sets: usize, count: i64, name: &str) -> Result<(), Misfit> {
    let Some(length) = groups.len().checked_div(sets).filter(|length| length * sets == groups.len()) else {
        let must = format!("must have as many pairs for each of {sets} blocks, found {} in all", groups.len());
        return Err(Misfit { rule: "groups_c6", entry: None, must });
    };
    groups.chunks(length.max(1)).enumerate().try_for_each(|(set, groups)| {
        pairs(groups, count, name).map_err(|misfit| {
            let entry = misfit.entry.map(|(group, k)| (set * length + group, k));
            Misfit { entry, ..misfit }
        })
    })
}

/// Checks that no device is the source, or the target, of two pairs.
fn pairs(groups: &[Vec<i64>], count: i64, name: &str) -> Result<(), Misfit> {
    let mut seen = [const { std::collections::BTreeSet::new() }; 2];
    for (g, group) in groups.iter().enumerate() {
        let [_, _] = group[..] else {
            let must = format!("must be a source and a target, found {}", group.len());
            return Err(Misfit { rule: "groups_c5", entry: Some((g, 0)), must });
        };
        for (k, device) in group.iter().enumerate() {
            in_range((g, k), *device, count, name)?;
            if !seen[k].insert(*device) {
                let what = ["source", "target"][k];
                let must = format!("must be a {what} of one pair, found {device} in a second");
                return Err(Misfit { rule: "groups_c2", entry: Some((g, k)), must });
            }
        }
    }
    Ok(())
}
