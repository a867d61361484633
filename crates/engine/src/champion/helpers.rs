//! All threads of a search but the first.

use std::ops::Range;

#[cfg(feature = "threads")]
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Without threads there are none.
#[derive(Debug)]
#[cfg(not(feature = "threads"))]
pub(super) enum Helpers {}

#[cfg(not(feature = "threads"))]
impl Helpers {
    pub(super) fn new(_: usize) -> Option<Helpers> {
        None
    }

    pub(super) fn beside<T>(&self, _: Range<u32>, _: &(impl Fn(u32) + Sync), _: impl FnOnce() -> T) -> T {
        match *self {}
    }
}

/// Threads that wait from move to move: a new one is left beside the thread that made it for milliseconds by some systems,
/// while another core is idle.
#[derive(Debug)]
#[cfg(feature = "threads")]
pub(super) struct Helpers {
    pool: ThreadPool,
    cores: Cores,
}

#[cfg(feature = "threads")]
impl Helpers {
    /// So many; none if there are none to be had.
    pub(super) fn new(count: usize) -> Option<Helpers> {
        let pool = (count > 0).then(|| ThreadPoolBuilder::new().num_threads(count).build())?.ok()?;
        Some(Helpers { cores: Cores::of(&pool), pool })
    }

    /// Runs `first` here and `other` for each number on the helpers, and waits for them all.
    pub(super) fn beside<T>(&self, numbers: Range<u32>, other: &(impl Fn(u32) + Sync), first: impl FnOnce() -> T) -> T {
        self.cores.keep_off_this_one();
        self.pool.in_place_scope(|scope| {
            numbers.for_each(|number| scope.spawn(move |_| other(number)));
            first()
        })
    }
}

/// Where helpers may run. A thread that wakes up is often left beside the one that woke it, too, until the system next looks
/// whether another core is idle. Short searches are over by then.
#[derive(Debug)]
#[cfg(all(feature = "threads", target_os = "linux"))]
struct Cores {
    helpers: Vec<rustix::thread::Pid>,
}

#[cfg(all(feature = "threads", target_os = "linux"))]
impl Cores {
    fn of(pool: &ThreadPool) -> Cores {
        Cores { helpers: pool.broadcast(|_| rustix::thread::gettid()) }
    }

    /// All helpers go elsewhere if there is a core for each thread. If the system does not let us, they run where they are.
    fn keep_off_this_one(&self) {
        use rustix::thread::{sched_getaffinity, sched_getcpu, sched_setaffinity};
        let Ok(mut cores) = sched_getaffinity(None) else { return };
        cores.unset(sched_getcpu());
        if cores.count() as usize >= self.helpers.len() {
            for helper in &self.helpers {
                let _ = sched_setaffinity(Some(*helper), &cores);
            }
        }
    }
}

#[derive(Debug)]
#[cfg(all(feature = "threads", not(target_os = "linux")))]
struct Cores;

#[cfg(all(feature = "threads", not(target_os = "linux")))]
impl Cores {
    fn of(_: &ThreadPool) -> Cores {
        Cores
    }

    fn keep_off_this_one(&self) {}
}

#[cfg(test)]
#[cfg(all(feature = "threads", target_os = "linux"))]
mod tests {
    use std::sync::mpsc;

    use rustix::thread::sched_getaffinity;

    use super::*;

    /// How many cores each of so many helpers may run on.
    fn cores_of(helpers: usize) -> Vec<u32> {
        let (sender, receiver) = mpsc::channel();
        let count = |_| sender.send(sched_getaffinity(None).unwrap().count()).unwrap();
        Helpers::new(helpers).unwrap().beside(0..helpers as u32, &count, || ());
        drop(sender);
        receiver.iter().collect()
    }

    #[test]
    fn helpers_leave_a_core_to_the_first_thread_if_there_are_enough() {
        let all = sched_getaffinity(None).unwrap().count();
        let few = all as usize - 1;
        assert!(Helpers::new(0).is_none());
        assert_eq!(cores_of(few.max(1)), vec![if few > 0 { all - 1 } else { all }; few.max(1)]);
        assert_eq!(cores_of(few + 1), vec![all; few + 1]);
    }
}
