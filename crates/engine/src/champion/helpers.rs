//! All threads of a search but the first.

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

/// Threads that wait from move to move: a new one is left beside the thread that made it for milliseconds by some systems,
/// while another core is idle.
#[derive(Debug)]
pub(super) struct Helpers {
    pool: ThreadPool,
    cores: Cores,
}

impl Helpers {
    /// So many; none if there are none to be had.
    pub(super) fn new(count: usize) -> Option<Helpers> {
        let pool = (count > 0).then(|| ThreadPoolBuilder::new().num_threads(count).build())?.ok()?;
        Some(Helpers { cores: Cores::of(&pool), pool })
    }

    /// Runs `first` here, beside what it starts on the helpers, and waits for them all.
    pub(super) fn scope<'a, T>(&self, first: impl FnOnce(&Scope<'a>) -> T) -> T {
        self.cores.keep_off_this_one();
        self.pool.in_place_scope(first)
    }
}

/// Where helpers may run. A thread that wakes up is often left beside the one that woke it, too, until the system next looks
/// whether another core is idle. Short searches are over by then.
#[derive(Debug)]
#[cfg(target_os = "linux")]
struct Cores {
    helpers: Vec<rustix::thread::Pid>,
}

#[cfg(target_os = "linux")]
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
#[cfg(not(target_os = "linux"))]
struct Cores;

#[cfg(not(target_os = "linux"))]
impl Cores {
    fn of(_: &ThreadPool) -> Cores {
        Cores
    }

    fn keep_off_this_one(&self) {}
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::sync::mpsc;

    use rustix::thread::sched_getaffinity;

    use super::*;

    /// How many cores each of so many helpers may run on.
    fn cores_of(helpers: usize) -> Vec<u32> {
        let (sender, receiver) = mpsc::channel();
        Helpers::new(helpers).unwrap().scope(|scope| {
            for _ in 0..helpers {
                let sender = sender.clone();
                scope.spawn(move |_| sender.send(sched_getaffinity(None).unwrap().count()).unwrap());
            }
        });
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
