//! The resources of a process.

use std::sync::OnceLock;

use anqi_engine::{Resources, TimeSource};

/// What `--tables-cache` says, in MB.
static TABLES_CACHE: OnceLock<u32> = OnceLock::new();

/// Bounds what stays unpacked of tables in files. For `main`, before any [`resources`] are made.
pub(crate) fn limit_tables_cache(megabytes: u32) {
    let _ = TABLES_CACHE.set(megabytes);
}

/// What the players of this process share. What goes wrong with it while they play is printed.
pub(crate) fn resources() -> Resources {
    let resources = Resources::telling(TimeSource::default(), |notice| eprintln!("{notice}"));
    if let Some(&megabytes) = TABLES_CACHE.get() {
        resources.limit_tables_cache((megabytes as usize) << 20);
    }
    resources
}
