//! `Progress`: how much of a task is done.

/// Receives the state of a task whenever it changes: a bar, a log, or `()` for no one.
pub trait Progress {
    /// So much is done now.
    fn report(&mut self, status: &Status);
}

impl Progress for () {
    fn report(&mut self, _: &Status) {}
}

impl<F: FnMut(&Status)> Progress for F {
    fn report(&mut self, status: &Status) {
        self(status);
    }
}

/// How much of a task is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// Done by now, with what was there before.
    pub done: Amount,
    /// The part of it that was there before: it took no time, so no estimate may count it.
    pub found: Amount,
    /// The whole task.
    pub all: Amount,
}

/// An amount of work in two measures: the things to make, and what they cost, because things differ in size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Amount {
    /// Things, such as tables.
    pub items: u64,
    /// What they cost, such as positions.
    pub units: u64,
}

impl Amount {
    /// Adds one thing.
    pub fn add(&mut self, units: u64) {
        self.items += 1;
        self.units += units;
    }
}

impl Status {
    /// What is left to do.
    #[must_use]
    pub fn left(&self) -> Amount {
        Amount {
            items: self.all.items.saturating_sub(self.done.items),
            units: self.all.units.saturating_sub(self.done.units),
        }
    }

    /// What was done by the task itself.
    #[must_use]
    pub fn made(&self) -> Amount {
        Amount {
            items: self.done.items.saturating_sub(self.found.items),
            units: self.done.units.saturating_sub(self.found.units),
        }
    }

    /// Counts one more thing as done.
    pub fn add(&mut self, units: u64, was_there: bool) {
        self.done.add(units);
        if was_there {
            self.found.add(units);
        }
    }
}
