//! One outside process: sending and receiving with a deadline on everything and a bound on all that is kept.
//!
//! There is no thread here. Whoever waits for the program waits with `poll` for all of its streams at once: for its
//! answer, for room in its input, for its standard error (read so that it never blocks, its last lines kept), and for its
//! end. A program that floods a stream nobody waits for fills its pipe and stops; it costs no memory.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;

use super::fault::Fault;
use super::peer;
use super::spec::OutsideSpec;
use super::supervisor::{self, Streams};
use crate::lines::{InputLine, LONGEST_LINE};
use crate::packets;

/// The most that a program may write before it answers.
const LONGEST_ANSWER: usize = 4 * 1024 * 1024;
/// How long after its last sign of life we wait to hear how a program ended.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How long a supervisor may take to clean up.
const BURIAL: Duration = Duration::from_secs(12);
/// How many lines of standard error are kept, and how much of each.
const TAIL: (usize, usize) = (8, 200);

#[derive(Debug)]
pub(crate) struct Process {
    supervisor: Child,
    control: UnixStream,
    /// What the supervisor has said and we have not looked at.
    reports: Vec<u8>,
    /// How the program ended, once it has.
    status: Option<String>,
    /// Where we write; `None` once it is closed.
    to: Option<OwnedFd>,
    /// When we saw that nobody reads what we write.
    unheard_since: Option<Instant>,
    /// Where we read; `None` once it is closed.
    from: Option<OwnedFd>,
    /// Streams whose content interests nobody until something goes wrong.
    aside: Vec<OwnedFd>,
    tail: Tail,
    /// What was read; from `taken` on nobody has looked at it, and up to `searched` it has no newline.
    unread: Vec<u8>,
    taken: usize,
    searched: usize,
    /// What was read since the last command was sent.
    received: usize,
    /// The last thing that was sent, for reports.
    asked: String,
    patience: Duration,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trouble {
    Deadline,
    InputClosed,
    OutputClosed,
    Ended,
    LongLine,
    LongAnswer,
}

/// What to wait for, apart from trouble.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Input,
    Output,
    Status,
}

impl Process {
    /// Starts a program that talks over its standard streams.
    pub(crate) fn start(spec: &OutsideSpec) -> Result<Process, Fault> {
        Process::spawn(spec, &spec.command).map_err(|error| cannot_start(spec, &error))?.started(spec)
    }

    /// Starts a program that is told an address and connects to it. Connections of other processes are refused.
    pub(super) fn start_connecting(spec: &OutsideSpec) -> Result<Process, Fault> {
        let launch = |error: io::Error| cannot_start(spec, &error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(launch)?;
        listener.set_nonblocking(true).map_err(launch)?;
        let address = listener.local_addr().map_err(launch)?;
        let mut command = spec.command.clone();
        command.extend([address.ip().to_string(), address.port().to_string()]);
        let mut process = Process::spawn(spec, &command).map_err(launch)?.started(spec)?;
        process.asked = format!("connect to {address}");
        let stream = process.accept(&listener, spec)?;
        stream.set_nodelay(true).and_then(|()| stream.set_nonblocking(true)).map_err(launch)?;
        // What it prints is only of interest if it fails.
        process.aside.extend(process.from.take());
        process.from = Some(stream.try_clone().map_err(launch)?.into());
        process.to = Some(stream.into());
        Ok(process)
    }

    fn spawn(spec: &OutsideSpec, command: &[String]) -> io::Result<Process> {
        let mut command = command.to_vec();
        // A path is meant as seen from here, wherever the program is going to run.
        if let Some(program) = command.first_mut()
            && program.contains('/')
            && let Some(path) = std::path::absolute(Path::new(program)).ok().as_deref().and_then(Path::to_str)
        {
            *program = path.to_owned();
        }
        let pipe = || pipe_with(PipeFlags::CLOEXEC);
        let ((input, to), (from, output), (stderr, error)) = (pipe()?, pipe()?, pipe()?);
        for ours in [&to, &from, &stderr] {
            rustix::io::ioctl_fionbio(ours, true)?;
        }
        let (supervisor, control) = supervisor::start(&command, spec.dir.as_ref(), &Streams { input, output, error })?;
        control.set_nonblocking(true)?;
        Ok(Process {
            supervisor,
            control,
            reports: Vec::new(),
            status: None,
            to: Some(to),
            unheard_since: None,
            from: Some(from),
            aside: vec![stderr],
            tail: Tail::default(),
            unread: Vec::new(),
            taken: 0,
            searched: 0,
            received: 0,
            asked: "start".to_owned(),
            patience: spec.patience,
        })
    }

    /// Waits for the supervisor's word that the program runs.
    fn started(mut self, spec: &OutsideSpec) -> Result<Process, Fault> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.report() {
                Some(report) if report == "started" => return Ok(self),
                Some(report) => {
                    let reason = report.strip_prefix("failed ").unwrap_or(&report).to_owned();
                    return Err(Fault::Launch { command: spec.command.join(" "), reason });
                }
                None if Instant::now() >= deadline || self.status.is_some() => {
                    let reason = "the supervisor does not answer".to_owned();
                    return Err(Fault::Launch { command: spec.command.join(" "), reason });
                }
                None => {
                    let mut files = [PollFd::new(&self.control, PollFlags::IN)];
                    let _ = poll(&mut files, timeout(deadline).as_ref());
                    self.read_reports();
                }
            }
        }
    }

    fn accept(&mut self, listener: &TcpListener, spec: &OutsideSpec) -> Result<TcpStream, Fault> {
        let deadline = Instant::now() + self.patience;
        let (asked, mut refused) = (self.asked.clone(), 0_u32);
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    // Two processes may both try: the program's own connection is waited for.
                    if peer::is_below(Pid::from_child(&self.supervisor), &stream)
                        .map_err(|error| cannot_start(spec, &whose_it_is(&error)))?
                    {
                        return Ok(stream);
                    }
                    refused += 1;
                    self.asked = format!("{asked} (connections of other processes, which were refused: {refused})");
                    self.tail.push(b"a connection of another process was refused\n");
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Err(self.fault(Trouble::OutputClosed, self.patience)),
            }
            if self.status.is_some() {
                return Err(self.fault(Trouble::Ended, self.patience));
            }
            if Instant::now() >= deadline {
                return Err(self.fault(Trouble::Deadline, self.patience));
            }
            let mut files = vec![PollFd::new(listener, PollFlags::IN), PollFd::new(&self.control, PollFlags::IN)];
            files.extend(self.aside.iter().map(|file| PollFd::new(file, PollFlags::IN)));
            let _ = poll(&mut files, timeout(deadline).as_ref());
            self.read_reports();
            self.drain_aside();
        }
    }

    /// Sends text as it is. `asked` is what reports call it.
    pub(crate) fn send(&mut self, asked: &str, bytes: &[u8]) -> Result<(), Fault> {
        asked.clone_into(&mut self.asked);
        self.received = 0;
        let deadline = Instant::now() + self.patience;
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = match &self.to {
                Some(to) => rustix::io::write(to, rest),
                None => Err(Errno::PIPE),
            };
            match written {
                Ok(count) => rest = &rest[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.wait(Want::Input, deadline).map_err(|trouble| match trouble {
                        Trouble::Deadline => Fault::Deaf { asked: asked.to_owned(), limit: self.patience },
                        trouble => self.fault(trouble, self.patience),
                    })?;
                }
                Err(_) => return Err(self.fault(Trouble::InputClosed, self.patience)),
            }
        }
        Ok(())
    }

    /// The next line, if it comes before the deadline, `limit` after the question.
    pub(crate) fn line(&mut self, deadline: Instant, limit: Duration) -> Result<InputLine, Fault> {
        self.try_line(deadline).map_err(|trouble| self.fault(trouble, limit))
    }

    fn try_line(&mut self, deadline: Instant) -> Result<InputLine, Trouble> {
        loop {
            if let Some(length) = self.unread[self.searched..].iter().position(|&byte| byte == b'\n') {
                let end = self.searched + length;
                let line = self.unread[self.taken..end].to_vec();
                self.taken = end + 1;
                self.searched = self.taken;
                return if line.len() > LONGEST_LINE { Err(Trouble::LongLine) } else { Ok(InputLine::from(line)) };
            }
            self.searched = self.unread.len();
            if self.searched - self.taken > LONGEST_LINE {
                return Err(Trouble::LongLine);
            }
            self.wait(Want::Output, deadline)?;
        }
    }

    /// The next packet of protocol B.
    pub(super) fn packet(&mut self, deadline: Instant, limit: Duration) -> Result<String, Fault> {
        loop {
            if let [low, high, rest @ ..] = &self.unread[self.taken..]
                && let Some(packet) = rest.get(..packets::announced([*low, *high]))
            {
                let text = String::from_utf8_lossy(packet).into_owned();
                self.taken += 2 + packet.len();
                return Ok(text);
            }
            self.wait(Want::Output, deadline).map_err(|trouble| self.fault(trouble, limit))?;
        }
    }

    /// Waits until there is something to read or room to write.
    fn wait(&mut self, want: Want, deadline: Instant) -> Result<(), Trouble> {
        loop {
            // What has ended may still have said something.
            let read = self.read_output()?;
            if read && want == Want::Output {
                return Ok(());
            }
            if self.status.is_some() && !read {
                return Err(Trouble::Ended);
            }
            if self.from.is_none() && want != Want::Status {
                return Err(self.how_it_closed(Trouble::OutputClosed));
            }
            // Whoever has stopped listening may still answer what it has heard, but not for long.
            let patience = self.unheard_since.map(|since| since + LAST_WORDS).filter(|_| want != Want::Status);
            let now = Instant::now();
            if patience.is_some_and(|patience| now >= patience) {
                return Err(Trouble::InputClosed);
            }
            if now >= deadline {
                return Err(Trouble::Deadline);
            }
            let mut files = vec![PollFd::new(&self.control, PollFlags::IN)];
            files.extend(self.from.iter().map(|file| PollFd::new(file, PollFlags::IN)));
            files.extend(self.aside.iter().map(|file| PollFd::new(file, PollFlags::IN)));
            // An error is reported even if nothing is asked: it says that the other end is closed.
            let room = if want == Want::Input { PollFlags::OUT } else { PollFlags::empty() };
            let to = self.to.as_ref().filter(|_| self.unheard_since.is_none());
            files.extend(to.map(|to| PollFd::new(to, room)));
            let has_to = to.is_some();
            match poll(&mut files, timeout(patience.map_or(deadline, |patience| patience.min(deadline))).as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return Err(Trouble::OutputClosed),
            }
            let to = files.last().filter(|_| has_to).map_or(PollFlags::empty(), PollFd::revents);
            let writable = want == Want::Input && !to.is_empty();
            if !files[0].revents().is_empty() {
                self.read_reports();
            }
            self.drain_aside();
            if to.contains(PollFlags::ERR) {
                self.unheard_since = Some(Instant::now());
            }
            if writable {
                return Ok(());
            }
        }
    }

    /// Reads what there is; true if there was something.
    fn read_output(&mut self) -> Result<bool, Trouble> {
        let Some(from) = &self.from else { return Ok(false) };
        let mut buffer = [0; 16 * 1024];
        match rustix::io::read(from, &mut buffer) {
            Ok(0) | Err(Errno::CONNRESET) => {
                self.from = None;
                Ok(false)
            }
            Ok(count) => {
                self.unread.drain(..self.taken);
                self.searched -= self.taken.min(self.searched);
                self.taken = 0;
                self.unread.extend_from_slice(&buffer[..count]);
                self.received += count;
                if self.received > LONGEST_ANSWER { Err(Trouble::LongAnswer) } else { Ok(true) }
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(_) => {
                self.from = None;
                Ok(false)
            }
        }
    }

    /// Reads a little of the streams that nobody listens to.
    fn drain_aside(&mut self) {
        let mut buffer = [0; 16 * 1024];
        let tail = &mut self.tail;
        self.aside.retain(|file| match rustix::io::read(file, &mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                tail.push(&buffer[..count]);
                true
            }
            Err(error) => matches!(error, Errno::AGAIN | Errno::INTR),
        });
    }

    fn read_reports(&mut self) {
        let mut buffer = [0; 256];
        match self.control.read(&mut buffer) {
            Ok(0) => {
                self.status.get_or_insert_with(|| "its supervisor is gone".to_owned());
            }
            Ok(count) => self.reports.extend_from_slice(&buffer[..count]),
            Err(_) => {}
        }
        if let Some(status) = self.peek_report().as_deref().and_then(|report| report.strip_prefix("ended ")) {
            self.status = Some(status.to_owned());
        }
    }

    fn peek_report(&self) -> Option<String> {
        let end = self.reports.iter().position(|&byte| byte == b'\n')?;
        Some(String::from_utf8_lossy(&self.reports[..end]).into_owned())
    }

    fn report(&mut self) -> Option<String> {
        let report = self.peek_report()?;
        self.reports.drain(..=report.len());
        self.read_reports();
        Some(report)
    }

    /// A closed stream mostly means that the program has ended; word of that may be on its way.
    fn how_it_closed(&mut self, closed: Trouble) -> Trouble {
        let deadline = Instant::now() + LAST_WORDS;
        while self.status.is_none() && Instant::now() < deadline {
            let mut files = [PollFd::new(&self.control, PollFlags::IN)];
            let _ = poll(&mut files, timeout(deadline).as_ref());
            self.read_reports();
        }
        if self.status.is_some() { Trouble::Ended } else { closed }
    }

    fn fault(&mut self, trouble: Trouble, limit: Duration) -> Fault {
        let trouble = if trouble == Trouble::InputClosed { self.how_it_closed(trouble) } else { trouble };
        let asked = self.asked.clone();
        match trouble {
            Trouble::Deadline => Fault::Silent { asked, limit },
            Trouble::InputClosed => Fault::Closed { stream: "input", asked },
            Trouble::OutputClosed => Fault::Closed { stream: "output", asked },
            Trouble::Ended => {
                self.drain_aside();
                let status = self.status.clone().unwrap_or_default();
                Fault::Crashed { status, asked, stderr: self.last_words() }
            }
            Trouble::LongLine => Fault::Flood { what: format!("a line of more than {LONGEST_LINE} bytes"), asked },
            Trouble::LongAnswer => {
                Fault::Flood { what: format!("more than {LONGEST_ANSWER} bytes without an answer"), asked }
            }
        }
    }

    pub(super) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Closes what we write to.
    pub(super) fn hang_up(&mut self) {
        if let Some(to) = self.to.take() {
            let _ = rustix::net::shutdown(to, rustix::net::Shutdown::Both);
        }
    }

    pub(super) fn last_words(&self) -> Vec<String> {
        self.tail.lines()
    }

    pub(crate) const fn has_ended(&self) -> bool {
        self.status.is_some()
    }

    /// Waits until the program has ended by itself.
    pub(crate) fn wait_for_end(&mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while self.status.is_none() && Instant::now() < deadline {
            self.taken = self.unread.len();
            self.searched = self.taken;
            if self.wait(Want::Status, deadline).is_err() {
                return;
            }
        }
    }
}

/// Whatever happens to the referee, the program and all of its children end with this.
impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.control.shutdown(std::net::Shutdown::Write);
        let deadline = Instant::now() + BURIAL;
        let mut buffer = [0; 256];
        // Its end of the socket closes when the supervisor is gone, and it goes last of all.
        while Instant::now() < deadline && !matches!(self.control.read(&mut buffer), Ok(0)) {
            let mut files = [PollFd::new(&self.control, PollFlags::IN)];
            let _ = poll(&mut files, timeout(deadline).as_ref());
        }
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
    }
}

fn cannot_start(spec: &OutsideSpec, error: &io::Error) -> Fault {
    Fault::Launch { command: spec.command.join(" "), reason: error.to_string() }
}

fn whose_it_is(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot find out which process has connected: {error}"))
}

fn timeout(deadline: Instant) -> Option<Timespec> {
    Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok()
}

/// The last lines of a stream.
#[derive(Debug, Default)]
struct Tail {
    lines: VecDeque<String>,
    open: Vec<u8>,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' {
                self.close_line();
            } else if self.open.len() < TAIL.1 {
                self.open.push(byte);
            }
        }
    }

    fn close_line(&mut self) {
        if self.lines.len() == TAIL.0 {
            self.lines.pop_front();
        }
        self.lines.push_back(String::from_utf8_lossy(&self.open).into_owned());
        self.open.clear();
    }

    fn lines(&self) -> Vec<String> {
        let open = String::from_utf8_lossy(&self.open).into_owned();
        self.lines.iter().cloned().chain((!open.is_empty()).then_some(open)).collect()
    }
}
