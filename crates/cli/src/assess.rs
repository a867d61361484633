//! `anqi assess`: how right searches are, by game records.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anqi_assess::{
    Cache, Condition, Draws, Method, Only, Proofs, Prover, Records, Report, Scale, SearchSpec, Selection, Series,
    Settings, Skipped, TAGS, USUAL_CONDITIONS, Valued, Valuer, WorkError,
};
use anqi_engine::{Limits, Stop};
use anqi_games::{EngineSpec, OtherGames};
use anqi_play::{Budget, BudgetError};
use anqi_report::{assessment_html, assessment_text};
use anqi_rules::Rules;
use anyhow::{Context, Result, bail};
use clap::Args;

use crate::Exit;
use crate::arena::stop_on_signals;
use crate::concurrency::Concurrency;
use crate::output::{Output, grouped, write_file};
use crate::progress::Bar;
use crate::resources::resources;

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
    #[arg(long, value_name = "SPEC", value_parser = search)]
    player: Vec<SearchSpec>,
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

/// As a person writes it: `weights=` may name a file.
fn search(text: &str) -> Result<SearchSpec, String> {
    let (method, budget) = anqi_play::split_player(text);
    let method = anqi_lab::with_weights_from_files(method).map_err(|error| error.to_string())?;
    let method: Method = method.parse().map_err(|error: anqi_assess::MethodError| error.to_string())?;
    let budget = (!budget.is_empty()).then(|| budget.parse()).transpose();
    let budget: Option<Budget> = budget.map_err(|error: BudgetError| error.to_string())?;
    match (&method, budget) {
        (Method::Evaluation { .. }, Some(budget)) => {
            Err(format!("{method} does not search, {budget} means nothing to it"))
        }
        (Method::Player(spec), Some(budget)) if !spec.is_bounded_by(&budget.limits) => {
            Err(format!("{method} is not bounded by {budget}"))
        }
        _ => Ok(SearchSpec { method, budget }),
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
    #[arg(long, value_name = "BY", value_parser = Prover::from_str)]
    pub(crate) prove: Vec<Prover>,
    /// Judge by these rules, whatever the records say
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<Rules>,
    /// Where random choices of players, positions and resamples come from
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// How many positions at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<Concurrency>,
}

impl PositionArgs {
    pub(crate) fn selection(&self) -> Selection {
        let PositionArgs { rules, per_game, only, games, seed, .. } = self;
        Selection { rules: *rules, per_game: *per_game, only: only.clone(), games: *games, seed: *seed }
    }
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

/// What there is to be analysed.
struct Found {
    series: Vec<Series>,
    /// The curves that are drawn when nothing else is said.
    usual: &'static [&'static str],
    facts: Vec<(String, String)>,
    proofs: Option<Proofs>,
    skipped: Skipped,
}

pub(crate) fn run(args: &AssessArgs, out: &mut Output) -> Result<Exit> {
    let found = if args.who.values.is_empty() {
        let stop = stop_on_signals()?;
        let cache = cache(args.cache.as_deref())?;
        let saved = cache.is_saved();
        match from_records(args, cache, &stop) {
            Err(error) if is_stopped(&error) => {
                let known = "what is known is in the cache; the same command goes on";
                eprintln!("interrupted: {}", if saved { known } else { "without --cache nothing is kept" });
                return Ok(Exit::Interrupted);
            }
            found => found?,
        }
    } else if !args.positions.prove.is_empty() {
        bail!("--prove needs positions, and a file of values has none");
    } else {
        let (series, skipped) = Series::from_files(&args.who.values)?;
        Found { series, usual: &[], facts: Vec::new(), proofs: None, skipped }
    };
    let mut facts = made_by();
    facts.extend([
        ("seed".to_owned(), args.positions.seed.to_string()),
        ("draws".to_owned(), args.analysis.draws.to_string()),
        ("resamples".to_owned(), args.analysis.resamples.to_string()),
    ]);
    facts.extend(found.facts);
    let settings = args.analysis.settings(args.positions.seed, found.usual)?;
    let report = Report { proofs: found.proofs, ..Report::of(&found.series, &settings, facts, found.skipped)? };
    if let Some(dir) = &args.output {
        write_files(dir, &report, &found.series)?;
    }
    out.print(&report, |text| write!(text, "{}", assessment_text(&report)))?;
    Ok(Exit::Done)
}

fn from_records(args: &AssessArgs, cache: Cache, stop: &Stop) -> Result<Found> {
    let WhoArgs { player, engine, budget, from_comments, .. } = &args.who;
    let format = if player.is_empty() { anqi_games::format_of(&args.records, engine)? } else { None };
    let PositionArgs { prove, seed, concurrency, .. } = &args.positions;
    let selection = args.positions.selection();
    let mut bar = Bar::of("positions");
    let mut watch = |name: &str, done: usize, all: usize| bar.show(name, done, all);
    let mut valuer = Valuer::new(cache, Concurrency::or_cores(*concurrency), *seed, &resources(), stop, &mut watch);
    if let Some(format) = format {
        if args.positions.rules.is_some() || !prove.is_empty() || !selection.only.is_empty() {
            bail!("--rules, --prove and --only are for this game alone");
        }
        let limits: Vec<Limits> = budget.iter().map(|budget| budget.limits).collect();
        let engines = if *from_comments { Vec::new() } else { anqi_games::with_budgets(engine, &limits)? };
        if !from_comments && engines.is_empty() {
            bail!("nobody to value the positions: give --engine or --from-comments");
        }
        let games = OtherGames { format, files: &args.records, selection: &selection, engines: &engines };
        let valued = games.value(&mut valuer)?;
        let counts = [(format!("games of {}", format.kind()), grouped(valued.games)), positions(valued.positions)];
        let (usual, facts) = (&anqi_games::USUAL_CONDITIONS, counts.into_iter().chain(valued.restarts).collect());
        return Ok(Found { series: valued.series, usual, facts, proofs: None, skipped: valued.skipped });
    }
    if player.is_empty() && !from_comments {
        bail!("nobody to value the positions: give --player, --engine, --from-comments or --values");
    }
    let searches = SearchSpec::with_budgets(player, budget)?;
    let records = Records { files: &args.records, selection: &selection, searches: &searches, provers: prove };
    let valued = records.value(&mut valuer)?;
    let facts = vec![("games read".to_owned(), grouped(valued.games)), positions(valued.positions)];
    let Valued { series, proofs, skipped, .. } = valued;
    Ok(Found { series, usual: &USUAL_CONDITIONS, facts, proofs, skipped })
}

fn positions(count: u64) -> (String, String) {
    ("positions".to_owned(), grouped(count))
}

/// Whether it is an interruption by the user.
pub(crate) fn is_stopped(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(WorkError::Stopped))
}

fn cache(path: Option<&Path>) -> Result<Cache> {
    let cache = match path {
        Some(path) => Cache::open(path).context("cannot use the cache")?,
        None => Cache::default(),
    };
    if let (Some(path), Some(damages)) = (path, cache.damages().filter(|damages| !damages.is_empty())) {
        eprintln!("{}: {damages}; passed over, these values are worked out again", path.display());
    }
    Ok(cache)
}

/// What every output says of itself.
pub(crate) fn made_by() -> Vec<(String, String)> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    vec![
        ("made by".to_owned(), format!("anqi {}", env!("CARGO_PKG_VERSION"))),
        ("command".to_owned(), format!("anqi {}", command.join(" "))),
    ]
}

pub(crate) fn write_files(dir: &Path, report: &Report, series: &[Series]) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    write_file(&dir.join("report.html"), |file| Ok(file.write_all(assessment_html(report).as_bytes())?))?;
    write_file(&dir.join("assessment.json"), |file| Ok(serde_json::to_writer(file, report)?))?;
    write_file(&dir.join("metrics.csv"), |file| Ok(report.write_metrics_csv(file)?))?;
    write_file(&dir.join("curves.csv"), |file| Ok(report.write_curves_csv(file)?))?;
    write_file(&dir.join("splits.csv"), |file| Ok(report.write_splits_csv(file)?))?;
    write_file(&dir.join("comparisons.csv"), |file| Ok(report.write_comparisons_csv(file)?))?;
    let all = Series::together(series)?;
    write_file(&dir.join("values.csv"), |file| Ok(all.write_csv(file)?))?;
    write_file(&dir.join("values.parquet"), |file| Ok(all.write_parquet(file)?))
}
