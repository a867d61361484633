//! What `match` and `tournament` share: the plan, the folder, the run, the interruption.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::{Resources, Stop};
use anqi_fleet::{AGAIN_SHARE, FleetMatch, Member};
use anqi_lab::{
    Cast, CastError, Ended, MOST_PLAN_BYTES, MatchJournal, Plan, PlanFile, SeedText, Standings, collect, complete, run,
};
use anqi_rules::Rules;
use anqi_stats::{Sprt, Verdict};
use anqi_store::read_text;
use anyhow::{Context, Result, bail};
use clap::Args;

use crate::Exit;
use crate::concurrency::Concurrency;
use crate::fleet::FleetArgs;
use crate::output::Output;
use crate::progress::MatchBar;
use crate::resources::resources;
use crate::result;

/// What is to be played, where the command line says so.
#[derive(Args)]
pub(crate) struct PlanArgs {
    /// Pairs of games for each two players
    #[arg(long)]
    pairs: Option<u64>,
    /// Where all deals and random choices come from: a number or 64 hexadecimal digits
    #[arg(long)]
    seed: Option<String>,
    /// By which rules
    #[arg(long)]
    rules: Option<Rules>,
    /// Positions that everybody may look at for a move, unless it has a budget of its own
    #[arg(long)]
    nodes: Option<u64>,
    /// Random games for a move
    #[arg(long)]
    playouts: Option<u64>,
    /// Plies to look ahead
    #[arg(long)]
    depth: Option<u32>,
    /// Seconds for a move
    #[arg(long, value_name = "SECONDS")]
    movetime: Option<String>,
    /// A clock: MOVES/MINUTES:SECONDS+INCREMENT
    #[arg(long, value_name = "CLOCK")]
    tc: Option<String>,
    /// Stop as soon as a sequential test decides: elo0=0 elo1=5 [alpha=0.05 beta=0.05 model=normalized]
    #[arg(long, num_args = 1..=5, value_name = "FIELD=VALUE")]
    sprt: Option<Vec<String>>,
    /// What records call the event
    #[arg(long)]
    event: Option<String>,
}

/// How it is played; none of this changes a game.
#[derive(Args)]
pub(crate) struct RunArgs {
    /// Keep everything in this folder; if it holds the same match already, go on with it
    /// [default: a folder named after the match under `matches`]
    #[arg(long, conflicts_with = "resume")]
    dir: Option<PathBuf>,
    /// Go on with the match in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["pairs", "seed", "rules", "nodes", "playouts", "depth",
        "movetime", "tc", "sprt", "event"])]
    resume: Option<PathBuf>,
    /// How many pairs at a time [default: one for each core, but one if time counts]
    #[arg(long, value_name = "N", conflicts_with = "nats")]
    concurrency: Option<Concurrency>,
    #[command(flatten)]
    elsewhere: ElsewhereArgs,
    /// Exit with 3 if somebody lost on time or by misbehaving
    #[arg(long)]
    strict: bool,
    /// Exit with 4 if the sequential test accepts H0
    #[arg(long)]
    gate: bool,
}

/// Games on other machines.
#[derive(Args, Default)]
pub(crate) struct ElsewhereArgs {
    /// Let the workers of a NATS server play (see `anqi worker`)
    #[arg(long, value_name = "URL")]
    pub(crate) nats: Option<String>,
    /// Have this share of the pairs played again by another worker, if the budgets let games be repeated
    #[arg(long, value_name = "PERCENT", requires = "nats", default_value_t = 100.0 * AGAIN_SHARE, value_parser = percent)]
    again: f64,
    #[command(flatten)]
    fleet: FleetArgs,
}

/// Machines that play for us, and how much of it twice.
pub(crate) struct Elsewhere {
    member: Member,
    again: f64,
}

impl ElsewhereArgs {
    /// Those who play elsewhere, if they do.
    pub(crate) fn open(&self) -> Result<Option<Elsewhere>> {
        let open = |url: &String| Ok(Elsewhere { member: self.fleet.member(url)?, again: self.again / 100.0 });
        self.nats.as_ref().map(open).transpose()
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 100".to_owned())
}

impl PlanArgs {
    /// A plan with what the command line says instead of what it said.
    pub(crate) fn over(&self, mut file: PlanFile) -> PlanFile {
        let text = |key: &str, value: Option<String>| value.map(|value| format!("{key}={value}"));
        let words: Vec<String> = [
            text("nodes", self.nodes.map(|nodes| nodes.to_string())),
            text("playouts", self.playouts.map(|playouts| playouts.to_string())),
            text("depth", self.depth.map(|depth| depth.to_string())),
            text("movetime", self.movetime.clone()),
            text("tc", self.tc.clone()),
        ]
        .into_iter()
        .flatten()
        .collect();
        let set = |place: &mut Option<String>, value: Option<String>| *place = value.or(place.take());
        set(&mut file.budget, (!words.is_empty()).then(|| words.join(" ")));
        set(&mut file.rules, self.rules.map(|rules| rules.to_string()));
        set(&mut file.sprt, self.sprt.as_ref().map(|fields| fields.join(" ").replace(',', " ")));
        set(&mut file.event, self.event.clone());
        file.pairs = self.pairs.or(file.pairs);
        file.seed = self.seed.clone().map(SeedText::Text).or(file.seed);
        file
    }
}

/// Reads a plan, and says on standard error what it means otherwise than a command line would.
pub(crate) fn read_plan_file(path: &Path) -> Result<PlanFile> {
    let text = read_text(path, MOST_PLAN_BYTES).with_context(|| format!("cannot read {}", path.display()))?;
    let file: PlanFile = text.parse().with_context(|| path.display().to_string())?;
    for (text, meant) in file.outdated() {
        let plan = path.display();
        eprintln!(
            "{plan}: {text:?} is {meant:?} in a plan without a version; version = 2 reads it as a command line does"
        );
    }
    Ok(file)
}

/// Plays a plan, or what is missing of it, and prints the result.
pub(crate) fn play(command: &str, file: &PlanFile, args: &RunArgs, out: &mut Output) -> Result<Exit> {
    let resources = resources();
    // Other machines have files and programs of their own.
    let elsewhere = args.elsewhere.open()?;
    let cast_of = |plan: &Plan| cast(plan, elsewhere.as_ref(), &resources);
    let mut journal = match &args.resume {
        Some(dir) => MatchJournal::open(dir)?,
        None => {
            let plan = Plan::new(file)?;
            let dir = args.dir.clone().unwrap_or_else(|| usual_dir(&plan));
            if !dir.exists() {
                // A mistyped command leaves no folder behind.
                cast_of(&plan)?;
            }
            MatchJournal::open_or_create(&dir, &plan)?
        }
    };
    let plan = journal.plan().clone();
    if args.gate && plan.sprt().is_none() {
        bail!("--gate needs a sequential test: --sprt elo0=0 elo1=5");
    }
    let ended = match complete(&journal)? {
        // What was played needs nobody to play it.
        Some(pairs) if elsewhere.is_none() => Ended::Complete(pairs),
        _ => advance(&mut journal, args.concurrency, elsewhere.as_ref(), &cast_of(&plan)?, &stop_on_signals()?)?,
    };
    match ended {
        Ended::Stopped => {
            // The first pairs without a gap: whoever counted all that are over would count short games too often.
            let counted = journal.missing().next().unwrap_or(plan.count());
            if counted > 0 {
                result::print(command, &Standings::of(&journal, counted)?, &journal.file(), out)?;
            }
            let (done, all, dir) = (journal.len(), plan.count(), shell(journal.dir()));
            eprintln!(
                "interrupted: {done} of {all} pairs are saved, the first {counted} are counted; continue with\n  anqi \
                 {command} --resume {dir}"
            );
            Ok(Exit::Interrupted)
        }
        Ended::Complete(pairs) => {
            let games = journal.write_games(pairs)?;
            let report = crate::report::write_complete(&journal, pairs)?;
            result::print(command, report.standings(), &games, out)?;
            Ok(exit(args, report.standings()))
        }
    }
}

/// Who plays a plan, here or on other machines, which have programs of their own.
pub(crate) fn cast(plan: &Plan, elsewhere: Option<&Elsewhere>, resources: &Resources) -> Result<Cast, CastError> {
    if elsewhere.is_none() { Cast::new(plan, resources) } else { Cast::elsewhere(plan, resources) }
}

/// Plays what is missing in a journal, here or elsewhere, until it is complete or `stop` is raised, which it is then, too.
pub(crate) fn advance(
    journal: &mut MatchJournal,
    concurrency: Option<Concurrency>,
    elsewhere: Option<&Elsewhere>,
    cast: &Cast,
    stop: &Stop,
) -> Result<Ended> {
    let plan = journal.plan().clone();
    let threads =
        if plan.is_reproducible() { Concurrency::or_cores(concurrency) } else { Concurrency::or_one(concurrency) };
    let mut progress = MatchBar::new(&plan);
    if !journal.damages().is_empty() {
        progress.note(&format!("{}: {}; played again", journal.file().display(), journal.damages()));
    }
    let ended = match elsewhere {
        None => run(journal, threads.get(), cast, stop, |event| progress.watch(event)),
        Some(Elsewhere { member, again }) => {
            let how = FleetMatch { dir: journal.dir().to_owned(), again: *again };
            let play = |plan: &_, missing| anqi_fleet::play_elsewhere(member, &how, plan, cast, missing, stop);
            collect(journal, cast, stop, |event| progress.watch(event), play)
        }
    };
    drop(progress);
    let ended = ended?;
    if let (Some(elsewhere), Ended::Complete(_)) = (elsewhere, &ended)
        && let Err(error) = anqi_fleet::clear(&elsewhere.member, &Arc::new(plan), cast)
    {
        eprintln!("the queue was not cleared: {error}");
    }
    Ok(ended)
}

fn exit(args: &RunArgs, standings: &Standings) -> Exit {
    let verdict = |sprt: Sprt| sprt.verdict(sprt.llr(&standings.tally(0).pairs));
    if args.strict && standings.failures() > 0 {
        Exit::Forfeited
    } else if args.gate && standings.plan().sprt().map(verdict) == Some(Verdict::H0) {
        Exit::Rejected
    } else {
        Exit::Done
    }
}

/// A folder that no other plan has and that a person recognises.
fn usual_dir(plan: &Plan) -> PathBuf {
    let plain = |name: &str| -> String {
        name.chars().map(|c| if c.is_alphanumeric() || c == '.' { c } else { '-' }).take(30).collect()
    };
    let names: Vec<String> = plan.contenders().iter().take(2).map(|contender| plain(&contender.name)).collect();
    let more = plan.contenders().len() - names.len();
    let more = if more > 0 { format!("-and-{more}") } else { String::new() };
    Path::new("matches").join(format!("{}{more}-{}", names.join("-vs-"), &plan.id()[..8]))
}

/// A path as a shell takes it.
pub(crate) fn shell(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A second Ctrl-C within this time is the first once more: `timeout` and some shells signal a process and its group.
const ONE_SIGNAL: Duration = Duration::from_millis(300);

/// Raises a flag after so many seconds, if there is such a limit.
pub(crate) fn raise_after(stop: &Stop, seconds: Option<u64>) {
    match seconds {
        None => {}
        Some(0) => stop.raise(),
        Some(seconds) => {
            let stop = stop.clone();
            thread::spawn(move || {
                thread::sleep(Duration::from_secs(seconds));
                stop.raise();
            });
        }
    }
}

/// A flag that the first Ctrl-C (or a polite kill) raises: games under way are dropped, since they can be played again,
/// and everything else is saved already. The second ends the process at once.
pub(crate) fn stop_on_signals() -> Result<Stop> {
    // A process can listen once; whoever asks again gets the same.
    static LISTENING: Mutex<Option<Stop>> = Mutex::new(None);
    let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stop) = &*listening {
        return Ok(stop.clone());
    }
    let stop = Stop::default();
    let (raised, mut first) = (stop.clone(), None);
    ctrlc::set_handler(move || {
        if first.get_or_insert_with(Instant::now).elapsed() > ONE_SIGNAL {
            process::exit(130);
        }
        raised.raise();
    })
    .context("cannot listen for Ctrl-C")?;
    *listening = Some(stop.clone());
    Ok(stop)
}
