//! The alpha-beta family.

pub(crate) mod chen;
pub(crate) mod decision;
pub(crate) mod negascout;
pub(crate) mod ordering;
pub(crate) mod pv;
pub(crate) mod transposition;
