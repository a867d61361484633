//! `anqi tune`: weights of an evaluation out of game records.

use std::path::{Path, PathBuf};

use anqi_assess::{Cache, Checked, Loss, Tuned, TunedWeights, Tuning, USUAL_CONDITIONS, Valuer, WorkError, prove};
use anqi_engine::Evaluation;
use anqi_lab::{Cast, Ended, MatchJournal, Plan, PlanFile, SeedText, Standings, read_weights_file, write_weights_file};
use anqi_report::tuned_text;
use anqi_rules::excerpt;
use anyhow::{Context, Result, bail};
use clap::Args;

use crate::Exit;
use crate::arena::{advance, stop_on_signals};
use crate::assess::{AnalysisArgs, PositionArgs, made_by, write_files};
use crate::concurrency::Concurrency;
use crate::output::{Output, write_file};
use crate::progress::Bar;
use crate::resources::resources;

/// Fit the weights of an evaluation to game records, and check the new ones by self-play
///
/// MLM makes the results most likely, LS makes the squared error of the predicted chances small (Takeuchi, Kaneko &
/// Yamaguchi, appendix). The new weights become files that a player string can name: chen:var1,weights=DIR/mlm.weights
#[derive(Args)]
pub(crate) struct TuneArgs {
    /// Game records, in our format or the match server's; `-` is standard input
    #[arg(value_name = "RECORDS", required = true)]
    records: Vec<PathBuf>,
    /// Whose weights: static, dynamic, course or hand
    #[arg(long, value_name = "NAME", value_parser = evaluation)]
    eval: Evaluation,
    /// Begin with the weights in this file, or with those of one --fit in a tune.json [default: the evaluation's own]
    #[arg(long, value_name = "FILE")]
    start: Option<PathBuf>,
    /// Fit only these weights: king,pawn [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    free: Vec<String>,
    /// What to make small: mlm, ls; again for both
    #[arg(long, value_name = "FIT", default_values = ["mlm", "ls"])]
    fit: Vec<Loss>,
    /// Play captures out first, and fit what is left
    #[arg(long)]
    quiet: bool,
    /// Share of the games that is not learnt from, for the losses and curves before and after
    #[arg(long, value_name = "SHARE", default_value = "0.2")]
    held_out: f64,
    #[command(flatten)]
    positions: PositionArgs,
    #[command(flatten)]
    analysis: AnalysisArgs,
    /// How often games are resampled for the intervals of weights
    #[arg(long, value_name = "N", default_value = "200")]
    refits: u32,
    /// Let this player play with the new weights against itself with the old ones: 'chen:var1 depth=3'
    #[arg(long, value_name = "PLAYER", requires = "output")]
    check: Option<String>,
    /// Pairs of games for each two of them
    #[arg(long, value_name = "N", default_value = "500")]
    pairs: u64,
    /// Write the weights, report.html, tune.json and the tables of `assess` into this folder
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

fn evaluation(text: &str) -> Result<Evaluation, String> {
    let found = Evaluation::from_name(text).filter(|eval| !eval.weight_names().is_empty());
    found.ok_or_else(|| format!("{:?} has no weights to fit, expected static, dynamic, course or hand", excerpt(text)))
}

pub(crate) fn run(args: &TuneArgs, out: &mut Output) -> Result<Exit> {
    let PositionArgs { seed, prove: provers, concurrency, .. } = &args.positions;
    let tuning = Tuning {
        eval: args.eval,
        start: start(args)?,
        free: Tuning::free(args.eval, &args.free)?,
        losses: [Loss::Mlm, Loss::Ls].into_iter().filter(|loss| args.fit.contains(loss)).collect(),
        quiet: args.quiet,
        held_out: args.held_out,
        refits: args.refits,
        settings: args.analysis.settings(*seed, &USUAL_CONDITIONS)?,
    };
    let mut collected = args.positions.selection().collect(&args.records, false, !provers.is_empty())?;
    let mut proofs = None;
    if !provers.is_empty() {
        let stop = stop_on_signals()?;
        let mut bar = Bar::of("positions");
        let mut watch = |name: &str, done: usize, all: usize| bar.show(name, done, all);
        let mut valuer =
            Valuer::new(Cache::default(), Concurrency::or_cores(*concurrency), *seed, &resources(), &stop, &mut watch);
        match prove(provers, &mut collected.places, &collected.all, &mut valuer) {
            Err(WorkError::Stopped) => {
                eprintln!("interrupted: without --cache nothing is kept");
                return Ok(Exit::Interrupted);
            }
            proven => proofs = Some(proven?),
        }
    }
    let (mut tuned, report, series) = tuning.run(collected, proofs, &made_by())?;
    if let Some(dir) = &args.output {
        write_files(dir, &report, &series)?;
        for fitted in &tuned.fits {
            let path = dir.join(format!("{}.weights", fitted.fit.loss));
            write_weights_file(&path, &tuned.weights_file(args.eval, fitted))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        if let Some(player) = &args.check {
            match self_play(args, dir, player, &tuned)? {
                Some(checked) => tuned.check = Some(checked),
                None => return Ok(Exit::Interrupted),
            }
        }
        write_file(&dir.join("tune.json"), |file| Ok(file.write_all(tuned.to_file()?.as_bytes())?))?;
    }
    out.print(&tuned, |text| write!(text, "{}", tuned_text(&tuned, &report)))?;
    Ok(Exit::Done)
}

/// The weights to begin with: the evaluation's own, those of a weights file, or those of an earlier fit.
fn start(args: &TuneArgs) -> Result<Vec<i32>> {
    let Some(path) = &args.start else { return Ok(args.eval.weights()) };
    let shown = path.display();
    let is_fits = path.extension().is_some_and(|extension| extension == "json");
    let (eval, weights) = if is_fits {
        let tuned = TunedWeights::read(path)?;
        let [loss] = args.fit[..] else { bail!("{shown} may hold several fits, say which: --fit mlm or --fit ls") };
        let weights = tuned.of(loss).with_context(|| format!("{shown} holds no fit {loss}"))?;
        (tuned.eval(), weights.to_vec())
    } else {
        read_weights_file(path)?
    };
    if eval != args.eval {
        bail!("{shown} holds weights of evaluation {}, not of {}", eval.name(), args.eval.name());
    }
    Ok(weights)
}

/// Everybody against everybody: the new weights and the old ones, in one player. Nothing if interrupted.
fn self_play(args: &TuneArgs, dir: &Path, player: &str, tuned: &Tuned) -> Result<Option<Vec<Checked>>> {
    let file = PlanFile {
        version: PlanFile::TODAY,
        event: Some(format!("tuned weights of {}", tuned.eval)),
        players: tuned.players(player),
        pairs: Some(args.pairs),
        seed: Some(SeedText::Text(args.positions.seed.to_string())),
        ..PlanFile::default()
    };
    let context = || format!("--check {player:?}");
    let plan = Plan::new(&file).with_context(context)?;
    let cast = Cast::new(&plan, &resources()).with_context(context)?;
    let mut journal = MatchJournal::open_or_create(&dir.join("check"), &plan)?;
    let Ended::Complete(pairs) = advance(&mut journal, args.positions.concurrency, None, &cast, &stop_on_signals()?)?
    else {
        eprintln!("interrupted: {} of {} pairs are saved; the same command goes on", journal.len(), plan.count());
        return Ok(None);
    };
    let standings = Standings::of(&journal, pairs)?;
    let checked = standings
        .summary()
        .pairings
        .into_iter()
        .enumerate()
        .map(|(number, pairing)| Checked::new(pairing.players, pairing.block, &standings.tally(number).games));
    Ok(Some(checked.collect()))
}
