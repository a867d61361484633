//! What a policy is to the kernels: it narrows the actions down to those that are drawn from.

use std::marker::PhantomData;

use crate::avoid::escapes;
use crate::board::{Actions, DealtBoard};
use crate::trap::traps;
use crate::word::Word;

/// A policy for any number of games at a time, hence without branches.
pub(crate) trait Narrow {
    /// Whether it is not worth a branch to go without it.
    const CHEAP: bool;

    /// The actions to draw from. There must be one if there is any action at all, for where nothing is
    /// left to draw from the game is lost.
    fn narrow<W: Word, const JUMPS: bool>(board: &DealtBoard<W>, squares: W, actions: &Actions<W>) -> Names<W>;
}

/// A policy for one game at a time.
pub(crate) trait Choose {
    /// The actions to draw from, as above.
    fn choose<const JUMPS: bool>(board: &DealtBoard<u64>, squares: u64) -> Names<u64>;
}

impl<P: Narrow> Choose for P {
    #[inline(always)]
    fn choose<const JUMPS: bool>(board: &DealtBoard<u64>, squares: u64) -> Names<u64> {
        P::narrow::<u64, JUMPS>(board, squares, &board.actions::<JUMPS>(squares))
    }
}

/// Actions to draw from, by their names: see [`Actions`].
///
/// A draw gives the number of a name. All kernels number them alike: first the steps along the
/// files, then those along the ranks, then the jumps along the files and those along the ranks;
/// each lot in the order of the view along the files, but the steps along the ranks in that of
/// their own view.
#[derive(Clone, Copy)]
pub(crate) struct Names<W> {
    /// Steps and flips.
    pub(crate) steps: W,
    /// Jumps.
    pub(crate) jumps: W,
}

impl<W: Word> Names<W> {
    /// These in the games that have any, `others` in the rest.
    #[inline(always)]
    fn or(self, others: Names<W>) -> Names<W> {
        let any = self.steps | self.jumps;
        // A choice between jumps and none is made already: it must not cost anything.
        let jumps = self.jumps | any.select(W::empty(), others.jumps);
        Names { steps: any.select(self.steps, others.steps), jumps }
    }
}

/// One thing that a policy tries.
pub(crate) trait Part {
    /// The actions that it would rather draw from, if there are any.
    fn find<W: Word, const JUMPS: bool>(board: &DealtBoard<W>, squares: W, actions: &Actions<W>) -> Names<W>;

    /// The actions there can be where it has found none.
    #[inline(always)]
    fn rest<W: Word>(actions: &Actions<W>) -> Actions<W> {
        *actions
    }
}

/// All captures.
pub(crate) struct Captures;

/// Pieces in danger go where there is none.
pub(crate) struct Escapes;

/// What the first part finds, else what the rest finds.
pub(crate) struct Then<A, B>(PhantomData<(A, B)>);

impl Part for Captures {
    #[inline(always)]
    fn find<W: Word, const JUMPS: bool>(_: &DealtBoard<W>, _: W, actions: &Actions<W>) -> Names<W> {
        Names { steps: actions.captures, jumps: actions.jumps }
    }

    #[inline(always)]
    fn rest<W: Word>(actions: &Actions<W>) -> Actions<W> {
        Actions { captures: W::empty(), others: actions.others, jumps: W::empty() }
    }
}

impl Part for Escapes {
    #[inline(always)]
    fn find<W: Word, const JUMPS: bool>(board: &DealtBoard<W>, squares: W, actions: &Actions<W>) -> Names<W> {
        escapes::<W, JUMPS>(board, squares, actions)
    }
}

impl<A: Part, B: Part> Part for Then<A, B> {
    #[inline(always)]
    fn find<W: Word, const JUMPS: bool>(board: &DealtBoard<W>, squares: W, actions: &Actions<W>) -> Names<W> {
        let found = A::find::<W, JUMPS>(board, squares, actions);
        if (found.steps | found.jumps).surely_some() {
            return found;
        }
        found.or(B::find::<W, JUMPS>(board, squares, &A::rest(actions)))
    }
}

/// [`Policy::Random`](crate::Policy::Random).
pub(crate) struct Random;

/// What a part finds, else something cheaper.
pub(crate) struct First<A, B>(PhantomData<(A, B)>);

/// [`Policy::Capture`](crate::Policy::Capture).
pub(crate) type Capture = First<Captures, Random>;

/// [`Policy::Avoid`](crate::Policy::Avoid).
pub(crate) type Avoid = First<Escapes, Random>;

/// [`Policy::CaptureAvoid`](crate::Policy::CaptureAvoid).
pub(crate) type CaptureAvoid = First<Captures, Avoid>;

/// [`Policy::AvoidCapture`](crate::Policy::AvoidCapture).
pub(crate) type AvoidCapture = First<Escapes, Capture>;

impl Narrow for Random {
    const CHEAP: bool = true;

    #[inline(always)]
    fn narrow<W: Word, const JUMPS: bool>(_: &DealtBoard<W>, _: W, actions: &Actions<W>) -> Names<W> {
        let Actions { captures, others, jumps } = *actions;
        Names { steps: captures | others, jumps }
    }
}

impl<A: Part, B: Narrow> Narrow for First<A, B> {
    const CHEAP: bool = false;

    #[inline(always)]
    fn narrow<W: Word, const JUMPS: bool>(board: &DealtBoard<W>, squares: W, actions: &Actions<W>) -> Names<W> {
        let found = A::find::<W, JUMPS>(board, squares, actions);
        if !B::CHEAP && (found.steps | found.jumps).surely_some() {
            return found;
        }
        found.or(B::narrow::<W, JUMPS>(board, squares, &A::rest(actions)))
    }
}

/// [`Policy::Trap`](crate::Policy::Trap).
pub(crate) struct Trap;

/// What a part finds, else a trap.
pub(crate) struct ElseTrap<A>(PhantomData<A>);

impl Choose for Trap {
    fn choose<const JUMPS: bool>(board: &DealtBoard<u64>, squares: u64) -> Names<u64> {
        traps::<JUMPS>(board, squares, &Random::choose::<JUMPS>(board, squares))
    }
}

impl<A: Part> Choose for ElseTrap<A> {
    fn choose<const JUMPS: bool>(board: &DealtBoard<u64>, squares: u64) -> Names<u64> {
        let actions = board.actions::<JUMPS>(squares);
        let found = A::find::<u64, JUMPS>(board, squares, &actions);
        if found.steps | found.jumps != 0 {
            return found;
        }
        traps::<JUMPS>(board, squares, &Random::narrow::<u64, JUMPS>(board, squares, &actions))
    }
}
