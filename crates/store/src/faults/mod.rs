//! A disk in memory that fails, tears and loses power on demand: for tests, as SQLite does it.
//!
//! It is mounted at a path of its own; every call of this crate below that path goes to it. Its calls are counted, and one of
//! them can be made to fail. What is not forced to the medium survives a kill of the process and is lost, whole or in part and
//! in any order, by a power cut. Everything follows from a seed.

mod disk;
mod drive;

pub use disk::{DiskFault, Mount, SimulatedDisk};
pub(crate) use disk::{SimulatedFile, mounted};
pub use drive::{After, DamageTest, Damaged, MUCH_DAMAGE, Reading, SOME_DAMAGE, damage, every_fault};
