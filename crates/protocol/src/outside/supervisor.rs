//! Nothing that an outside program starts outlives its referee, not even if the referee is killed with `kill -9`
//! and the program has hidden its children in sessions of their own.
//!
//! Between the referee and the program stands a supervisor: this very executable, run again as
//! `anqi __supervise PROGRAM …`. It declares itself a *child subreaper*, so that every descendant that loses its
//! parent becomes the supervisor's child, whatever group or session it has moved to; and it holds one end of a
//! socket whose other end only the referee holds. When that closes — on purpose, or because the kernel closes the
//! files of a dead process — the supervisor kills its whole tree, again and again until nothing is left, and goes.
//!
//! Why not something simpler? A process group or session loses whoever calls `setsid`. A parent-death signal reaches
//! children only, is tied to the *thread* that started them, and would need `unsafe`. Control groups and PID namespaces
//! need privileges, or settings that several distributions turn off. The subreaper has been in every Linux since
//! 3.4 and needs nothing but `/proc`.
//!
//! The supervisor is not in the way of the talk: it is handed the program's three standard streams over the socket
//! (`SCM_RIGHTS`), gives them to the program and keeps no copy, so that closed pipes are seen as closed. It
//! tells the referee over the socket how the program ended.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, setsid, wait};

/// The first argument of a supervisor.
const MODE: &str = "__supervise";

/// Who supervises: an executable that calls [`supervise_if_asked`] first of all.
static EXECUTABLE: OnceLock<PathBuf> = OnceLock::new();

/// To be called at the very beginning of `main` of every executable that launches outside programs: if it was
/// started as a supervisor, it is one, and ends here when its work is done.
#[must_use]
pub fn supervise_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_some_and(|mode| mode == MODE) {
        let command: Vec<OsString> = arguments.collect();
        return Some(supervise(&command));
    }
    // Also when the file has been replaced in the meantime, this is still the same program.
    let _ = EXECUTABLE.set(PathBuf::from("/proc/self/exe"));
    None
}

/// Names another executable as supervisor, for programs whose `main` is not their own, such as tests. The first call
/// counts.
pub fn supervise_with(executable: impl Into<PathBuf>) {
    let _ = EXECUTABLE.set(executable.into());
}

/// The standard streams of a program.
pub(super) struct Streams {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) error: OwnedFd,
}

/// Starts a supervisor, which starts `command`. It reports over the socket, a line each: `started`, `failed REASON`,
/// `ended STATUS`.
pub(super) fn start(command: &[String], dir: Option<&PathBuf>, streams: &Streams) -> io::Result<(Child, UnixStream)> {
    let executable = EXECUTABLE.get().ok_or_else(|| {
        io::Error::other("this executable cannot supervise: call anqi_protocol::supervise_if_asked() first in main")
    })?;
    let (ours, theirs) = UnixStream::pair()?;
    let mut supervisor = Command::new(executable);
    supervisor.arg(MODE).args(command).stdin(Stdio::from(OwnedFd::from(theirs)));
    supervisor.stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(dir) = dir {
        supervisor.current_dir(dir);
    }
    let child = supervisor.spawn()?;
    drop(supervisor); // and with it our copy of their end
    let files = [streams.input.as_fd(), streams.output.as_fd(), streams.error.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&files));
    sendmsg(&ours, &[IoSlice::new(b"*")], &mut ancillary, SendFlags::empty())?;
    Ok((child, ours))
}

/// The life of a supervisor.
fn supervise(command: &[OsString]) -> ExitCode {
    // A session of its own: Ctrl-C on the referee's terminal is the referee's business.
    let _ = setsid();
    match try_supervise(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE, // the referee sees the socket closing
    }
}

fn try_supervise(command: &[OsString]) -> io::Result<()> {
    let mut referee = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    set_child_subreaper(Some(getpid()))?;
    let [input, output, error] = receive_streams(&referee)?;
    let (program, arguments) = command.split_first().ok_or_else(|| io::Error::other("no command"))?;
    let mut engine = Command::new(program);
    engine.args(arguments).stdin(input).stdout(output).stderr(error).process_group(0);
    let spawned = engine.spawn();
    drop(engine); // and with it our copies of the streams
    let child = match spawned {
        Ok(child) => child,
        Err(error) => {
            writeln!(referee, "failed {error}")?;
            return Ok(());
        }
    };
    writeln!(referee, "started")?;
    let report = referee.try_clone()?;
    thread::spawn(move || reap(child.id(), report));
    // The referee says nothing more; this ends when its end of the socket is closed.
    let mut nothing = [0; 64];
    while !matches!(referee.read(&mut nothing), Ok(0) | Err(_)) {}
    kill_descendants();
    Ok(())
}

fn receive_streams(referee: &UnixStream) -> io::Result<[Stdio; 3]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(referee, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let files = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let files: Vec<Stdio> = files.flatten().map(Stdio::from).collect();
    files.try_into().map_err(|_| io::Error::other("no streams"))
}

/// Buries everybody, the program and all whom we have adopted, and reports the end of the program.
fn reap(engine: u32, mut report: UnixStream) {
    let engine = Pid::from_raw(engine as i32);
    while let Ok(ended) = wait(WaitOptions::empty()) {
        if let Some((pid, status)) = ended
            && Some(pid) == engine
        {
            let _ = writeln!(report, "ended {}", describe(status));
        }
    }
}

fn describe(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => "unknown".to_owned(),
    }
}

/// A tree that cannot be killed in this time hangs in the kernel.
const KILLING_TIME: Duration = Duration::from_secs(10);

/// Whoever forks while we look is found in the next round: its child is in our tree, or has become ours.
fn kill_descendants() {
    let started = Instant::now();
    while started.elapsed() < KILLING_TIME {
        let tree = descendants(getpid());
        if tree.is_empty() {
            return;
        }
        for pid in tree {
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// All who descend from `root` and are alive.
pub(super) fn descendants(root: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let processes: Vec<(Pid, Pid, bool)> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let pid = Pid::from_raw(name.to_str()?.parse().ok()?)?;
            let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
            // The name of a program stands in parentheses and may contain some.
            let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
            let alive = !matches!(fields.next()?, "Z" | "X");
            Some((pid, Pid::from_raw(fields.next()?.parse().ok()?)?, alive))
        })
        .collect();
    let mut tree = vec![root];
    let mut next = 0;
    while let Some(&parent) = tree.get(next) {
        tree.extend(processes.iter().filter(|process| process.1 == parent).map(|process| process.0));
        next += 1;
    }
    let alive = |pid: &Pid| processes.iter().any(|process| process.0 == *pid && process.2);
    tree.into_iter().skip(1).filter(alive).collect()
}
