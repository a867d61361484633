//! `OutsideSpec`: an outside program as text, `cmd=./engine name=Gold proto=a tc=15:00`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anqi_engine::{Fingerprint, Limits};
use anqi_rules::excerpt;

use anqi_play::{Clock, ClockError, seconds, write_part};

/// Which protocol a program speaks; see `docs/PROTOCOL.md`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Protocol {
    /// A: numbered lines on standard input and output.
    Numbered,
    /// B: packets over TCP; the program connects to us.
    Packets,
    /// C: the UCI dialect.
    Uci,
}

impl Protocol {
    /// A, B, UCI.
    pub const ALL: [Protocol; 3] = [Protocol::Numbered, Protocol::Packets, Protocol::Uci];

    /// `a`, `b` or `uci`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Numbered => "a",
            Protocol::Packets => "b",
            Protocol::Uci => "uci",
        }
    }
}

/// An outside program and how to treat it. Words as in other match runners; spaces go into quotes:
///
/// ```
/// use anqi_protocol::OutsideSpec;
///
/// let text = r#"cmd="./engine --table 'big one'" name=Gold proto=uci tc=0:10+0.1 option.Hash=64"#;
/// let spec: OutsideSpec = text.parse()?;
/// assert_eq!(spec.command, ["./engine", "--table", "big one"]);
/// assert_eq!(spec.to_string().parse::<OutsideSpec>()?, spec);
/// assert!("cmd=./engine tc=fast".parse::<OutsideSpec>().is_err());
/// # Ok::<(), anqi_protocol::OutsideSpecError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct OutsideSpec {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// Where it runs, if not here.
    pub dir: Option<PathBuf>,
    /// What it is called in tables, if not like its file.
    pub name: Option<String>,
    /// What it speaks.
    pub protocol: Protocol,
    /// Its clock, if it has its own.
    pub clock: Option<Clock>,
    /// `movetime`, `nodes`, `playouts` and `depth`, if it has its own.
    pub limits: Limits,
    /// Whether every game gets a fresh process.
    pub restart: bool,
    /// How much later than its clock an answer may come.
    pub margin: Duration,
    /// How long any answer may take that is not a move by the clock.
    pub patience: Duration,
    /// Options of the program, for UCI.
    pub options: Vec<(String, String)>,
}

/// The keys, for people who mistyped one.
const KEYS: &str =
    "cmd, dir, name, proto, tc, movetime, nodes, playouts, depth, restart, margin, patience, option.NAME";

impl OutsideSpec {
    /// The program with these words as its command line, everything else as usual.
    #[must_use]
    pub fn new(command: Vec<String>) -> OutsideSpec {
        OutsideSpec {
            command,
            dir: None,
            name: None,
            protocol: Protocol::Numbered,
            clock: None,
            limits: Limits::default(),
            restart: false,
            margin: Duration::from_millis(50),
            patience: Duration::from_secs(10),
            options: Vec::new(),
        }
    }

    /// Who the program is: the bytes of its executable, its command line and its options. What else it reads is not known.
    /// `None` if there is no such file.
    #[must_use]
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        let program = std::fs::File::open(self.executable()?).ok()?;
        let options: Vec<String> = self.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let words = self.command.iter().chain(&options).map(String::as_str);
        Fingerprint::of_program(program, [self.protocol.name()].into_iter().chain(words)).ok()
    }

    /// The file that is run: a path as seen from here, or a name that the system finds in its folders of programs.
    fn executable(&self) -> Option<PathBuf> {
        let program = self.command.first()?;
        if program.contains('/') {
            return Some(PathBuf::from(program));
        }
        let folders = std::env::var_os("PATH")?;
        std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
    }

    /// What it is called: its name, or its file's.
    #[must_use]
    pub fn display_name(&self) -> &str {
        let file = self.command.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
        self.name.as_deref().unwrap_or(file)
    }

    /// Whether `text` looks like one of these rather than like a player string.
    #[must_use]
    pub fn is_meant_by(text: &str) -> bool {
        words(text).is_ok_and(|words| words.iter().any(|word| word.starts_with("cmd=")))
    }
}

/// Why a text does not describe an outside program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OutsideSpecError {
    /// A quote that is not closed.
    #[error("unbalanced quotes in {0:?}")]
    Quotes(String),
    /// A word without `=`.
    #[error("{0:?} is not KEY=VALUE; spaces go into quotes, as in cmd=\"./engine -v\"")]
    Word(String),
    /// No such key.
    #[error("unknown key {0:?}, expected one of {KEYS}")]
    UnknownKey(String),
    /// A key given twice.
    #[error("key {0:?} is given twice")]
    Twice(String),
    /// A value that its key does not take.
    #[error("bad value {value:?} for {key}, expected {expected}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// What was given.
        value: String,
        /// What would do.
        expected: &'static str,
    },
    /// A bad time control.
    #[error("tc: {0}")]
    Clock(#[from] ClockError),
    /// No program.
    #[error("no program is named, expected cmd=…")]
    NoCommand,
}

impl FromStr for OutsideSpec {
    type Err = OutsideSpecError;

    fn from_str(text: &str) -> Result<OutsideSpec, OutsideSpecError> {
        OutsideSpec::from_words(&OutsideSpec::words(text)?)
    }
}

impl OutsideSpec {
    /// The words of a text, split at white space as a shell does.
    ///
    /// # Errors
    /// If a quote is not closed.
    pub fn words(text: &str) -> Result<Vec<String>, OutsideSpecError> {
        words(text)
    }

    /// The word as [`words`](OutsideSpec::words) reads it back, in quotes if it must be.
    #[must_use]
    pub fn quoted(word: &str) -> String {
        quoted(word)
    }

    /// Reads words that somebody has split already, such as a shell: each is `KEY=VALUE`.
    ///
    /// # Errors
    /// If one of them is not, or no program is named.
    pub fn from_words(words: &[String]) -> Result<OutsideSpec, OutsideSpecError> {
        let mut spec = OutsideSpec::new(Vec::new());
        let mut seen: Vec<&str> = Vec::new();
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| OutsideSpecError::Word(excerpt(word)))?;
            if seen.contains(&key) {
                return Err(OutsideSpecError::Twice(excerpt(key)));
            }
            seen.push(key);
            spec.set(key, value)?;
        }
        if spec.command.is_empty() { Err(OutsideSpecError::NoCommand) } else { Ok(spec) }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), OutsideSpecError> {
        match key {
            "cmd" => self.command = words(value)?,
            "dir" => self.dir = Some(PathBuf::from(value)),
            "name" => self.name = Some(value.to_owned()),
            "proto" => {
                let named = Protocol::ALL.into_iter().find(|protocol| protocol.name() == value);
                self.protocol = named.ok_or_else(|| bad("proto", value, "a, b or uci"))?;
            }
            "tc" => self.clock = Some(value.parse()?),
            "movetime" => self.limits.time = Some(duration("movetime", value)?),
            "nodes" => self.limits.nodes = Some(count("nodes", value)?),
            "playouts" => self.limits.playouts = Some(count("playouts", value)?),
            "depth" => self.limits.depth = Some(count("depth", value)?),
            "restart" => {
                self.restart = match value {
                    "on" => true,
                    "off" => false,
                    _ => return Err(bad("restart", value, "on or off")),
                }
            }
            "margin" => self.margin = duration("margin", value)?,
            "patience" => self.patience = duration("patience", value)?,
            _ => match key.strip_prefix("option.") {
                Some(name) if !name.is_empty() => self.options.push((name.to_owned(), value.to_owned())),
                _ => return Err(OutsideSpecError::UnknownKey(excerpt(key))),
            },
        }
        Ok(())
    }
}

fn bad(key: &'static str, value: &str, expected: &'static str) -> OutsideSpecError {
    OutsideSpecError::BadValue { key, value: excerpt(value), expected }
}

fn duration(key: &'static str, value: &str) -> Result<Duration, OutsideSpecError> {
    seconds(value).ok_or_else(|| bad(key, value, "seconds, to the millisecond"))
}

fn count<T: FromStr + Default + PartialOrd>(key: &'static str, value: &str) -> Result<T, OutsideSpecError> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { value.parse().ok() } else { None };
    number.filter(|number| *number > T::default()).ok_or_else(|| bad(key, value, "a number from 1 on"))
}

/// Words split at white space, as a shell does: `'…'` is literal, in `"…"` a backslash escapes.
fn words(text: &str) -> Result<Vec<String>, OutsideSpecError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            _ if character.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let inside = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some(end) if end == character => break,
                        Some('\\') if character == '"' => inside.extend(characters.next()),
                        Some(literal) => inside.push(literal),
                        None => return Err(OutsideSpecError::Quotes(excerpt(text))),
                    }
                }
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    Ok(words)
}

/// The word as [`words`] reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && c != '"' && c != '\'';
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

impl fmt::Display for OutsideSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = OutsideSpec::new(Vec::new());
        let command = self.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        write!(f, "cmd={}", quoted(&command))?;
        if let Some(dir) = &self.dir {
            write!(f, " dir={}", quoted(&dir.to_string_lossy()))?;
        }
        if let Some(name) = &self.name {
            write!(f, " name={}", quoted(name))?;
        }
        if self.protocol != usual.protocol {
            write!(f, " proto={}", self.protocol.name())?;
        }
        if let Some(clock) = &self.clock {
            write!(f, " tc={clock}")?;
        }
        if let Some(time) = self.limits.time {
            write_seconds(f, "movetime", time)?;
        }
        let counts = [
            ("nodes", self.limits.nodes),
            ("playouts", self.limits.playouts),
            ("depth", self.limits.depth.map(u64::from)),
        ];
        for (key, number) in counts {
            if let Some(number) = number {
                write!(f, " {key}={number}")?;
            }
        }
        if self.restart {
            f.write_str(" restart=on")?;
        }
        if self.margin != usual.margin {
            write_seconds(f, "margin", self.margin)?;
        }
        if self.patience != usual.patience {
            write_seconds(f, "patience", self.patience)?;
        }
        self.options.iter().try_for_each(|(name, value)| write!(f, " {}", quoted(&format!("option.{name}={value}"))))
    }
}

fn write_seconds(f: &mut fmt::Formatter<'_>, key: &str, time: Duration) -> fmt::Result {
    write!(f, " {key}={}", time.as_secs())?;
    write_part(f, time)
}
