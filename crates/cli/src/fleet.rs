//! `anqi fleet`: keys and state of machines that work together; and what all commands with `--nats` share.

use std::env;
use std::path::{Path, PathBuf};

use anqi_fleet::{
    FleetKey, FleetStatus, Login, Member, MemberSeen, NatsServer, Tell, Tls, Trusted, fleet_status, worker_lines,
};
use anqi_store::create_folders;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::Exit;
use crate::output::Output;

/// How to log in to a NATS server, and how to sign. The command line of a process is seen by all users of its machine, so
/// secrets other than those in the address come from files or the environment.
#[derive(Args, Default)]
#[command(next_help_heading = "Fleet")]
pub(crate) struct FleetArgs {
    /// Log in as this user [or: ANQI_NATS_USER]
    #[arg(long, value_name = "USER", requires = "nats")]
    nats_user: Option<String>,
    /// The user's password is in this file [or: the password itself in ANQI_NATS_PASSWORD]
    #[arg(long, value_name = "FILE", requires = "nats_user")]
    nats_password: Option<PathBuf>,
    /// Log in with the token in this file [or: the token itself in ANQI_NATS_TOKEN]
    #[arg(long, value_name = "FILE", requires = "nats")]
    nats_token: Option<PathBuf>,
    /// Log in with the seed of an NKey in this file [or: ANQI_NATS_NKEY]
    #[arg(long, value_name = "FILE", requires = "nats")]
    nats_nkey: Option<PathBuf>,
    /// Log in with a file of credentials (.creds) [or: ANQI_NATS_CREDS]
    #[arg(long, value_name = "FILE", requires = "nats")]
    nats_creds: Option<PathBuf>,
    /// Trust servers with certificates of these authorities alone (PEM), and ask for TLS
    #[arg(long, value_name = "FILE", requires = "nats")]
    tls_ca: Option<PathBuf>,
    /// Show the server this certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "nats", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate
    #[arg(long, value_name = "FILE", requires = "nats", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Sign with the key in this file, see `anqi fleet key` [default: fleet.key in ~/.config/anqi]
    #[arg(long, value_name = "FILE", requires = "nats")]
    fleet_key: Option<PathBuf>,
    /// Trust a public key, or those in a file with a `PUBLICKEY NAME` a line: a worker trusts coordinators, a coordinator
    /// trusts workers [default: fleet.trust in ~/.config/anqi]
    #[arg(long, value_name = "KEY|FILE", requires = "nats")]
    trust: Vec<String>,
}

impl FleetArgs {
    /// Who we are at a server.
    pub(crate) fn member(&self, url: &str) -> Result<Member> {
        let path = self.fleet_key.clone().unwrap_or_else(|| config("fleet.key"));
        if self.fleet_key.is_none() && !path.exists() {
            bail!(
                "there is no key in {}; make one with anqi fleet key, or name another with --fleet-key",
                path.display()
            );
        }
        let key = FleetKey::read(&path)?;
        Ok(Member { server: self.server(url)?, key, trusted: self.trusted()?, tell: tell() })
    }

    fn trusted(&self) -> Result<Trusted> {
        let mut trusted = Trusted::default();
        for text in &self.trust {
            match text.parse() {
                Ok(key) => trusted.add(key, ""),
                Err(_) => trusted.extend(Trusted::read(Path::new(text))?),
            }
        }
        let usual = config("fleet.trust");
        if self.trust.is_empty() && usual.exists() {
            trusted = Trusted::read(&usual)?;
        }
        Ok(trusted)
    }

    fn server(&self, url: &str) -> Result<NatsServer> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let file = |path: &Option<PathBuf>, name: &str| path.clone().or_else(|| variable(name).map(PathBuf::from));
        let mut server = NatsServer::new(url)?;
        let mut logins = Vec::new();
        if let Some(user) = self.nats_user.clone().or_else(|| variable("ANQI_NATS_USER")) {
            let password = match &self.nats_password {
                Some(path) => read_secret(path)?,
                None => variable("ANQI_NATS_PASSWORD").with_context(|| {
                    format!("there is no password for {user}: name a file (--nats-password) or set ANQI_NATS_PASSWORD")
                })?,
            };
            logins.push(Login::Password { user, password });
        }
        let token = match &self.nats_token {
            Some(path) => Some(read_secret(path)?),
            None => variable("ANQI_NATS_TOKEN"),
        };
        logins.extend(token.map(Login::Token));
        logins.extend(file(&self.nats_nkey, "ANQI_NATS_NKEY").map(Login::NKey));
        logins.extend(file(&self.nats_creds, "ANQI_NATS_CREDS").map(Login::Credentials));
        if logins.len() > 1 {
            bail!("there are several logins for {server}; give one: a user, a token, an NKey or credentials");
        }
        if let Some(login) = logins.pop() {
            server = server.with_login(login);
        }
        let own = self.tls_cert.clone().zip(self.tls_key.clone());
        Ok(server.with_tls(Tls { authority: self.tls_ca.clone(), own }))
    }
}

/// The first line of a file with a secret.
fn read_secret(path: &Path) -> Result<String> {
    let bytes = anqi_store::read_small(path, 1 << 16).with_context(|| path.display().to_string())?;
    let text = String::from_utf8(bytes).ok().and_then(|text| text.lines().next().map(|line| line.trim().to_owned()));
    text.filter(|text| !text.is_empty()).with_context(|| format!("{}: its first line is empty", path.display()))
}

/// Prints what the operator should know.
fn tell() -> Tell {
    Tell::new(|line| eprintln!("{line}"))
}

/// A file of the user's configuration.
fn config(name: &str) -> PathBuf {
    let from = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = from("XDG_CONFIG_HOME")
        .or_else(|| from("APPDATA"))
        .or_else(|| from("HOME").map(|home| home.join(".config")))
        .unwrap_or_default();
    folder.join("anqi").join(name)
}

/// Keys and state of machines that work together (see `anqi worker`)
#[derive(Args)]
pub(crate) struct FleetCommandArgs {
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(Subcommand)]
enum FleetCommand {
    /// Make a key for this machine and print its public part, by which other machines trust it
    ///
    /// The file is for its owner alone and is never overwritten. Of a file that is there the public part is printed with
    /// --show.
    Key(KeyArgs),
    /// Show the machines at a server, what is queued, what was refused and who is excluded
    Status(Box<StatusArgs>),
}

#[derive(Args)]
struct KeyArgs {
    /// The file [default: fleet.key in ~/.config/anqi]
    file: Option<PathBuf>,
    /// Print the public part of a key that is there
    #[arg(long)]
    show: bool,
}

#[derive(Args)]
struct StatusArgs {
    /// The server: nats://HOST:4222, nats://USER:PASSWORD@HOST:4222, nats://TOKEN@HOST:4222, or tls:// for TLS
    #[arg(long, value_name = "URL")]
    nats: String,
    #[command(flatten)]
    fleet: FleetArgs,
}

#[derive(Serialize)]
struct KeyMade {
    schema: &'static str,
    file: String,
    public: String,
}

#[derive(Serialize)]
struct StatusRead {
    schema: &'static str,
    #[serde(flatten)]
    status: FleetStatus,
}

pub(crate) fn run(args: &FleetCommandArgs, out: &mut Output) -> Result<Exit> {
    match &args.command {
        FleetCommand::Key(args) => key(args, out),
        FleetCommand::Status(args) => status(args, out),
    }
}

fn key(args: &KeyArgs, out: &mut Output) -> Result<Exit> {
    let path = args.file.clone().unwrap_or_else(|| config("fleet.key"));
    let key = if args.show {
        FleetKey::read(&path)?
    } else {
        if let Some(folder) = path.parent() {
            create_folders(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        let key = FleetKey::new()?;
        key.write_new(&path)?;
        key
    };
    let made =
        KeyMade { schema: "anqi-fleet-key-1", file: path.display().to_string(), public: key.public().to_string() };
    out.print(&made, |text| writeln!(text, "{}", made.public))?;
    Ok(Exit::Done)
}

fn status(args: &StatusArgs, out: &mut Output) -> Result<Exit> {
    let status = fleet_status(&args.fleet.server(&args.nats)?, &args.fleet.trusted()?, &tell())?;
    let read = StatusRead { schema: "anqi-fleet-status-1", status };
    out.print(&read, |text| {
        let FleetStatus { queued, taken, results, members, unknown } = &read.status;
        writeln!(text, "{queued} items queued, {taken} of them with a worker; {results} results on the server")?;
        if *unknown > 0 {
            writeln!(text, "{unknown} machines that are not trusted here (--trust)")?;
        }
        members.iter().try_for_each(|member| lines(member).iter().try_for_each(|line| writeln!(text, "{line}")))
    })?;
    Ok(Exit::Done)
}

/// What a machine says of itself, for people.
fn lines(MemberSeen { name, key, age, status }: &MemberSeen) -> Vec<String> {
    let (key, role, version) = (&key[..8], &status.role, &status.version);
    let work = match &status.job {
        Some(job) => format!("{} of {} {} ({}…)", job.done, job.all, job.title, &job.key[..job.key.len().min(8)]),
        None => format!("{} pairs, {} tables", status.pairs, status.tables),
    };
    let mut lines = vec![format!("{role} {name} ({key}…), anqi {version}, {age} s ago: {work}")];
    lines.extend(status.refused.iter().map(|(reason, count)| format!("  refused {count} messages: {reason}")));
    lines.extend(worker_lines(&status.workers).iter().map(|line| format!("  {line}")));
    lines
}
