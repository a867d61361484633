//! `anqi assess`: how right searches are, by game records.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anqi_assess::{
    Assessment, Cache, Comparison, Condition, Draws, EvaluateError, Judge, Key, Method, Only, Place, Positions, Proofs,
    Report, Sample, Samples, Scale, Settings, Skipped, TAGS, Task, USUAL_CONDITIONS, ValuesFile, evaluate,
};
use anqi_engine::Stop;
use anqi_games::EngineSpec;
use anqi_lab::{Budget, BudgetError};
use anqi_rules::{Rules, Seed};
use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use crate::Exit;
use crate::arena::stop_on_signals;
use crate::other_games::{self, USUAL_CONDITIONS as OTHER};
use crate::output::{Output, grouped};
use crate::prove::{Prover, prove, prover};
use crate::records::{Source, for_each_record};

/// Judge searches by game records: evaluation curves and metrics, with intervals by game
///
/// Every position of every game is valued by each player with each budget, and the values are held against the
/// results of the games (Takeuchi, Kaneko & Yamaguchi). docs/ASSESS.md explains every number.
///
/// With --cache, values that are known are not worked out again: an interrupted run goes on with the same command.
#[derive(Args)]
pub(crate) struct AssessArgs {
    /// Game records, in our format or the match server's, or of chess (PGN), Go (SGF) or shogi (CSA); `-` is standard input
    #[arg(value_name = "RECORDS", required_unless_present = "values")]
    pub(crate) records: Vec<PathBuf>,
    #[command(flatten)]
    who: WhoArgs,
    #[command(flatten)]
    pub(crate) positions: PositionArgs,
    #[command(flatten)]
    analysis: AnalysisArgs,
    /// Remember values in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) cache: Option<PathBuf>,
    /// Write report.html, assessment.json, metrics.csv, curves.csv, splits.csv, comparisons.csv, values.csv and
    /// values.parquet into this folder
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Args)]
struct WhoArgs {
    /// Who values the positions: a player (see `anqi players`), or an evaluation function alone: eval:static,
    /// eval:dynamic,quiet (captures played out first); with a budget of its own if it has one: 'mc playouts=500'; again
    /// for more
    #[arg(long, value_name = "SPEC", value_parser = who)]
    player: Vec<Who>,
    /// How much each player may think about a position: playouts=500, nodes=10000, depth=3; again for more
    #[arg(long, value_name = "BUDGET")]
    budget: Vec<Budget>,
    /// An engine of another game that values the positions of PGN, SGF or CSA files: proto=uci|gtp|usi cmd=…, and
    /// nodes=, depth=, movetime=, go= (UCI, USI), ask= (GTP), option.NAME=; again for more
    #[arg(long, value_name = "DESCRIPTION", conflicts_with_all = ["player", "values", "from_comments"])]
    engine: Vec<EngineSpec>,
    /// Take the values that the records hold in their comments ([%wdl], else [%eval]; V[] in SGF, '** in CSA)
    #[arg(long, conflicts_with_all = ["player", "values"])]
    from_comments: bool,
    /// Take values from a CSV or Parquet file with columns value, result, game, ply and any tags; a tag `method` tells
    /// several searches apart; again for more
    #[arg(long, value_name = "FILE", conflicts_with_all = ["records", "player"])]
    values: Vec<PathBuf>,
}

/// A method, and its own budget if it has one.
#[derive(Clone)]
struct Who {
    method: Method,
    budget: Option<Budget>,
}

/// As a person writes it: `weights=` may name a file.
fn who(text: &str) -> Result<Who, String> {
    let (method, budget) = text.split_once(' ').map_or((text, None), |(method, budget)| (method, Some(budget)));
    let method = anqi_lab::with_weights_from_files(method).map_err(|error| error.to_string())?;
    let method: Method = method.parse().map_err(|error: anqi_assess::MethodError| error.to_string())?;
    let budget: Option<Budget> = budget.map(str::parse).transpose().map_err(|error: BudgetError| error.to_string())?;
    match (&method, budget) {
        (Method::Evaluation { .. }, Some(budget)) => {
            Err(format!("{method} does not search, {budget} means nothing to it"))
        }
        (Method::Player(spec), Some(budget)) if !spec.is_bounded_by(&budget.limits) => {
            Err(format!("{method} is not bounded by {budget}"))
        }
        _ => Ok(Who { method, budget }),
    }
}

#[derive(Args)]
pub(crate) struct PositionArgs {
    /// Only so many positions of each game, one out of each of as many equal stretches [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_game: Option<u32>,
    /// Only positions with this word or range of a tag, or of the ply: capture=no, hidden=8.., ply=20..60; again for more
    #[arg(long, value_name = "TAG=WORD", value_parser = only)]
    pub(crate) only: Vec<Only>,
    /// Only the first so many games
    #[arg(long, value_name = "N")]
    pub(crate) games: Option<u64>,
    /// Correct results by proof: by endgame tables (tables=on for all with up to four pieces, or tables=DIR), by a search of
    /// all there is (depth=4, nodes=10000); again for more. A position takes the result of the first proof from it on
    #[arg(long, value_name = "BY", value_parser = prover)]
    pub(crate) prove: Vec<Prover>,
    /// Judge by these rules, whatever the records say
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<Rules>,
    /// Where random choices of players, positions and resamples come from
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// How many positions at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<usize>,
}

fn only(text: &str) -> Result<Only, String> {
    let only: Only = text.parse().map_err(|error: anqi_assess::OnlyError| error.to_string())?;
    if TAGS.contains(&only.tag.as_str()) {
        return Ok(only);
    }
    Err(format!("no tag {:?}, there are: {}", anqi_rules::excerpt(&only.tag), TAGS.join(", ")))
}

#[derive(Args)]
pub(crate) struct AnalysisArgs {
    /// What becomes of drawn games: drop, half or three
    #[arg(long, default_value = "drop")]
    draws: Draws,
    /// What values mean: probability or score [default: probability if all values could be one]
    #[arg(long)]
    scale: Option<Scale>,
    /// Width of a bin [default: 0.05 of chances, about forty bins of scores]
    #[arg(long, value_name = "WIDTH")]
    delta: Option<f64>,
    /// Leave out bins with fewer positions
    #[arg(long, value_name = "N", default_value = "100")]
    thin: u64,
    /// Count values beyond this like it; proofs are beyond everything [default: the largest that is not a proof]
    #[arg(long, value_name = "VALUE")]
    clamp: Option<f64>,
    /// Draw curves by this tag, or by ply, with numbers where groups begin: capture, ply=20,40,60; again for more
    #[arg(long, value_name = "CONDITION")]
    by: Vec<Condition>,
    /// How often games are resampled for intervals
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..))]
    resamples: u32,
}

impl AnalysisArgs {
    pub(crate) fn settings(&self, seed: u64, usual: &[&str]) -> Result<Settings> {
        if let Some(clamp) = self.clamp.filter(|clamp| !clamp.is_finite() || *clamp == 0.0) {
            bail!("bad --clamp {clamp}, expected a number other than 0");
        }
        let usual = || usual.iter().map(|text| Ok(text.parse()?)).collect::<Result<Vec<Condition>>>();
        Ok(Settings {
            draws: self.draws,
            scale: self.scale,
            delta: self.delta,
            thin: self.thin,
            clamp: self.clamp.map(f64::abs),
            by: if self.by.is_empty() { usual()? } else { self.by.clone() },
            resamples: self.resamples,
            seed,
        })
    }
}

/// The values of one search.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) samples: Samples,
}

pub(crate) fn run(args: &AssessArgs, out: &mut Output) -> Result<Exit> {
    let (mut skipped, mut proofs) = (Skipped::default(), None);
    let mut facts = made_by();
    facts.extend([
        ("seed".to_owned(), args.positions.seed.to_string()),
        ("draws".to_owned(), args.analysis.draws.to_string()),
        ("resamples".to_owned(), args.analysis.resamples.to_string()),
    ]);
    let (sets, usual): (Vec<Set>, &[&str]) = if args.who.values.is_empty() {
        let stop = stop_on_signals()?;
        let WhoArgs { player, engine, budget, from_comments, .. } = &args.who;
        let format = if player.is_empty() { other_games::format(&args.records, engine)? } else { None };
        let (sets, usual): (_, &[&str]) = match format {
            Some(format) => {
                let who = if *from_comments { Vec::new() } else { other_games::with_budgets(engine, budget)? };
                let mut collected = other_games::Beside { skipped: &mut skipped, facts: &mut facts };
                (other_games::from_records(format, &who, args, &stop, &mut collected)?, &OTHER)
            }
            None => (from_records(args, &stop, &mut skipped, &mut facts, &mut proofs)?, &USUAL_CONDITIONS),
        };
        match sets {
            Some(sets) => (sets, usual),
            None => return Ok(Exit::Interrupted),
        }
    } else if !args.positions.prove.is_empty() {
        bail!("--prove needs positions, and a file of values has none");
    } else {
        (from_files(&args.who.values, &mut skipped)?, &[])
    };
    let settings = args.analysis.settings(args.positions.seed, usual)?;
    let report = Report { proofs, ..analyse(&sets, &settings, facts, skipped)? };
    if let Some(dir) = &args.output {
        write_files(dir, &report, &sets)?;
    }
    out.print(&report, |text| text.write_all(report.to_text().as_bytes()))?;
    Ok(Exit::Done)
}

/// What was left out, under an error.
pub(crate) fn listed(skipped: &Skipped) -> String {
    let lines = skipped.to_string();
    if lines.is_empty() { lines } else { format!("; left out:\n{}", lines.trim_end()) }
}

/// What every output says of itself.
pub(crate) fn made_by() -> Vec<(String, String)> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    vec![
        ("made by".to_owned(), format!("anqi {}", env!("CARGO_PKG_VERSION"))),
        ("command".to_owned(), format!("anqi {}", command.join(" "))),
    ]
}

/// Everything that the sets say, alone and side by side: each with the one before it, and with the first.
pub(crate) fn analyse(
    sets: &[Set],
    settings: &Settings,
    facts: Vec<(String, String)>,
    skipped: Skipped,
) -> Result<Report> {
    let assess = |set: &Set| Assessment::new(&set.name, &set.samples, settings).with_context(|| set.name.clone());
    let assessments = sets.iter().map(assess).collect::<Result<Vec<_>>>()?;
    let mut pairs: Vec<[usize; 2]> = (1..sets.len()).flat_map(|next| [[next - 1, next], [0, next]]).collect();
    pairs.dedup();
    let compare = |&[one, two]: &[usize; 2]| {
        let (one, two) = (&sets[one], &sets[two]);
        Comparison::new([&one.name, &two.name], [&one.samples, &two.samples], settings)
    };
    // Searches without common positions are not compared.
    let comparisons = pairs.iter().filter_map(|pair| compare(pair).ok()).collect();
    Ok(Report {
        schema: Report::SCHEMA,
        title: "Search methods by game records".to_owned(),
        facts,
        proofs: None,
        skipped,
        draws: settings.draws,
        assessments,
        comparisons,
    })
}

/// Values files, divided by their tag `method`.
fn from_files(files: &[PathBuf], skipped: &mut Skipped) -> Result<Vec<Set>> {
    let mut sets = Vec::new();
    for path in files {
        let shown = path.display();
        let file = ValuesFile::read(path).with_context(|| format!("cannot read {shown}"))?;
        skipped.extend(&file.skipped);
        let samples = file.samples;
        let stem = path.file_stem().map_or_else(|| shown.to_string(), |stem| stem.to_string_lossy().into_owned());
        let Some(methods) = samples.tag("method") else {
            sets.push(Set { name: stem, samples });
            continue;
        };
        let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, &code) in methods.codes().iter().enumerate() {
            places.entry(code).or_default().push(index);
        }
        for (code, places) in places {
            sets.push(Set { name: methods.distinct()[code as usize].clone(), samples: samples.select(&places) });
        }
    }
    if sets.iter().all(|set| set.samples.is_empty()) {
        bail!("no values in {} files{}", files.len(), listed(skipped));
    }
    Ok(sets)
}

/// Positions of records, valued; nothing if interrupted.
fn from_records(
    args: &AssessArgs,
    stop: &Stop,
    skipped: &mut Skipped,
    facts: &mut Vec<(String, String)>,
    proofs: &mut Option<Proofs>,
) -> Result<Option<Vec<Set>>> {
    let WhoArgs { player, budget, from_comments, .. } = &args.who;
    if player.is_empty() && !from_comments {
        bail!("nobody to value the positions: give --player, --engine, --from-comments or --values");
    }
    let methods = methods(player, budget)?;
    let Collected { mut places, all, games } = collect(&args.records, &args.positions, *from_comments, skipped)?;
    if places.is_empty() {
        bail!("no positions in {} games{}", grouped(games), listed(skipped));
    }
    facts.push(("games read".to_owned(), grouped(games)));
    facts.push(("positions".to_owned(), grouped(places.len() as u64)));
    let mut pool = Pool::new(args.cache.as_deref(), &args.positions, stop)?;
    if !args.positions.prove.is_empty() {
        *proofs = prove(&args.positions.prove, &mut places, &all, &mut pool)?;
        if proofs.is_none() {
            return Ok(None);
        }
    }
    if *from_comments {
        return commented(&places, skipped).map(Some);
    }
    let (asked, mut sets): (Vec<&Place>, _) = (places.iter().collect(), Vec::new());
    for (method, budget) in methods {
        let name = budget.map_or_else(|| method.to_string(), |budget| format!("{method} {budget}"));
        let Some(values) = pool.values(&asked, &method, budget, &name)? else { return Ok(None) };
        let mut samples = Samples::default();
        for (place, value) in places.iter().zip(values) {
            match value {
                Ok(value) => samples.push(sample(place, value))?,
                Err(reason) => skipped.add(&format!("position that {name} did not value"), || {
                    format!("game {}, ply {}: {reason}", place.game, place.ply)
                }),
            }
        }
        sets.push(Set { name, samples });
    }
    Ok(Some(sets))
}

/// Every method with its own budget, or with every budget that means something to it.
fn methods(players: &[Who], budgets: &[Budget]) -> Result<Vec<(Method, Option<Budget>)>> {
    let mut all = Vec::new();
    for Who { method, budget } in players {
        let Method::Player(spec) = method else {
            all.push((method.clone(), None));
            continue;
        };
        // Playouts for those who play them out, nodes and depth for the others.
        let meant = |budget: &&Budget| {
            budget.limits.playouts.is_some() == spec.plays_out() && spec.is_bounded_by(&budget.limits)
        };
        let fitting: Vec<Budget> = match budget {
            Some(own) => vec![*own],
            None => budgets.iter().filter(meant).copied().collect(),
        };
        if fitting.is_empty() {
            let kind = if spec.plays_out() { "playouts=" } else { "nodes= or depth=" };
            bail!("no budget for {spec}: give --budget {kind}");
        }
        all.extend(fitting.into_iter().map(|budget| (method.clone(), Some(budget))));
    }
    Ok(all)
}

/// What there is in records.
pub(crate) struct Collected {
    /// The positions to be valued.
    pub(crate) places: Vec<Place>,
    /// All positions, if results are to be proven.
    pub(crate) all: Vec<Place>,
    /// How many records there were.
    pub(crate) games: u64,
}

/// Reads records, and counts what cannot be used.
pub(crate) fn collect(
    files: &[PathBuf],
    args: &PositionArgs,
    from_comments: bool,
    skipped: &mut Skipped,
) -> Result<Collected> {
    let seed = Seed::from(args.seed).child("positions");
    let everything = Positions { rules: args.rules, per_game: None, only: Vec::new(), seed, from_comments: false };
    let wanted = Positions {
        per_game: args.per_game,
        only: args.only.clone(),
        seed: everything.seed.clone(),
        from_comments,
        ..everything
    };
    let (mut places, mut all, mut games) = (Vec::new(), Vec::new(), 0);
    for_each_record(files, |Source { file, line }, record| {
        if args.games.is_some_and(|most| games >= most) {
            return Ok(());
        }
        games += 1;
        let source = format!("{file}:{line}");
        match record {
            Ok(record) => {
                let found = wanted.of(games, &record, &source, skipped);
                if !args.prove.is_empty() && !found.is_empty() {
                    all.extend(everything.of(games, &record, &source, &mut Skipped::default()));
                }
                places.extend(found);
            }
            Err(error) => skipped.add("damaged record", || format!("{source}: {error:#}")),
        }
        Ok(())
    })?;
    Ok(Collected { places, all, games })
}

pub(crate) fn sample(place: &Place, value: f64) -> Sample {
    Sample {
        game: place.game.to_string(),
        ply: place.ply,
        value,
        result: place.result,
        tags: place.tags.iter().map(|(name, word)| ((*name).to_owned(), word.clone())).collect(),
    }
}

/// The values that the records hold themselves, a set for each who said them.
fn commented(places: &[Place], skipped: &mut Skipped) -> Result<Vec<Set>> {
    let mut sets: BTreeMap<String, Samples> = BTreeMap::new();
    for place in places {
        let Some((who, value)) = &place.comment else { continue };
        if sets.entry(who.clone()).or_default().push(sample(place, *value)).is_err() {
            skipped.add("value that is not a number", || format!("game {}, ply {}", place.game, place.ply));
        }
    }
    Ok(sets.into_iter().map(|(name, samples)| Set { name, samples }).collect())
}

/// Players at work on positions.
pub(crate) struct Pool<'a> {
    cache: Cache,
    threads: usize,
    seed: u64,
    stop: &'a Stop,
}

impl Pool<'_> {
    pub(crate) fn new<'a>(cache: Option<&Path>, args: &PositionArgs, stop: &'a Stop) -> Result<Pool<'a>> {
        let cache = match cache {
            Some(path) => Cache::open(path).with_context(|| format!("cannot use the cache {}", path.display()))?,
            None => Cache::default(),
        };
        if cache.damaged() > 0 {
            eprintln!("{} damaged lines of the cache were passed over", cache.damaged());
        }
        let threads = match args.concurrency {
            Some(0) => bail!("bad --concurrency 0, expected a number from 1 on"),
            Some(threads) => threads,
            None => thread::available_parallelism().map_or(1, usize::from),
        };
        Ok(Pool { cache, threads, seed: args.seed, stop })
    }

    /// A value for each place, or why there is none; nothing if interrupted.
    pub(crate) fn values(
        &mut self,
        places: &[&Place],
        method: &Method,
        budget: Option<Budget>,
        name: &str,
    ) -> Result<Option<Vec<Result<f64, String>>>> {
        let (player, budget_text) = (method.to_string(), budget.map(|budget| budget.to_string()).unwrap_or_default());
        let told = format!("{budget_text} seed={}", self.seed);
        let task =
            |place: &&Place| Task { key: Key::new(&place.text(), &player, &told), position: place.start.clone() };
        let tasks: Vec<_> = places.iter().map(task).collect();
        let limits = budget.unwrap_or_default().limits;
        let seed = Seed::from(self.seed).child("values");
        self.judge(&tasks, || Ok(method.judge(limits, seed.clone())), name)
    }

    /// What a judge of any game says of each task; nothing if interrupted.
    pub(crate) fn judge<J: Judge>(
        &mut self,
        tasks: &[Task<J::Position>],
        judge: impl Fn() -> Result<J, String> + Sync,
        name: &str,
    ) -> Result<Option<Vec<Result<f64, String>>>> {
        let mut progress = Progress::new(name);
        let done =
            evaluate(tasks, &mut self.cache, self.threads, self.stop, judge, |done, all| progress.say(done, all));
        progress.bar.finish_and_clear();
        match done {
            Ok(evaluated) => Ok(Some(evaluated.values)),
            Err(EvaluateError::Stopped) => {
                let saved = "what is known is in the cache; the same command goes on";
                eprintln!(
                    "interrupted: {}",
                    if self.cache.is_saved() { saved } else { "without --cache nothing is kept" }
                );
                Ok(None)
            }
            Err(error) => Err(error).with_context(|| name.to_owned()),
        }
    }
}

/// A bar on a terminal, a plain line now and then elsewhere.
struct Progress {
    bar: ProgressBar,
    name: String,
    said: Instant,
}

impl Progress {
    fn new(name: &str) -> Progress {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} positions, {elapsed} + {eta}  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(name.to_owned());
        Progress { bar, name: name.to_owned(), said: Instant::now() }
    }

    fn say(&mut self, done: usize, all: usize) {
        const NOW_AND_THEN: Duration = Duration::from_secs(30);
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        if self.bar.is_hidden() && self.said.elapsed() >= NOW_AND_THEN {
            self.said = Instant::now();
            eprintln!("{done} of {all} positions  {}", self.name);
        }
    }
}

/// Writes a file that appears whole or not at all.
pub(crate) fn write_whole(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> Result<()>) -> Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = || format!("cannot write {}", path.display());
    // Everybody may read it, as far as the user's mask allows.
    let permissions = Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().permissions(permissions).tempfile_in(dir).with_context(cannot)?;
    let mut writer = BufWriter::new(file.as_file());
    // An error that says where it comes from, such as a file that was read, stays what it is.
    write(&mut writer).map_err(|error| if error.chain().len() == 1 { error.context(cannot()) } else { error })?;
    writer.flush().with_context(cannot)?;
    drop(writer);
    file.persist(path).with_context(cannot)?;
    Ok(())
}

pub(crate) fn write_files(dir: &Path, report: &Report, sets: &[Set]) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    write_whole(&dir.join("report.html"), |file| Ok(file.write_all(report.to_html().as_bytes())?))?;
    write_whole(&dir.join("assessment.json"), |file| Ok(serde_json::to_writer(file, report)?))?;
    write_whole(&dir.join("metrics.csv"), |file| Ok(report.write_metrics_csv(file)?))?;
    write_whole(&dir.join("curves.csv"), |file| Ok(report.write_curves_csv(file)?))?;
    write_whole(&dir.join("splits.csv"), |file| Ok(report.write_splits_csv(file)?))?;
    write_whole(&dir.join("comparisons.csv"), |file| Ok(report.write_comparisons_csv(file)?))?;
    let all = together(sets)?;
    write_whole(&dir.join("values.csv"), |file| Ok(all.write_csv(file)?))?;
    write_whole(&dir.join("values.parquet"), |file| Ok(all.write_parquet(file)?))
}

/// All sets as one, told apart by the tag `method`.
fn together(sets: &[Set]) -> Result<Samples> {
    let mut all = Samples::default();
    for set in sets {
        for mut sample in set.samples.iter() {
            sample.tags.retain(|(name, _)| name != "method");
            sample.tags.push(("method".to_owned(), set.name.clone()));
            all.push(sample)?;
        }
    }
    Ok(all)
}
