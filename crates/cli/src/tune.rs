//! `anqi tune`: weights of an evaluation out of game records.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anqi_assess::{
    Condition, Draws, Fit, Lessons, Loss, Losses, Place, Proofs, Report, Samples, Scale, Settings, Skipped, Split,
    USUAL_CONDITIONS,
};
use anqi_engine::{Evaluation, play_out_captures};
use anqi_lab::{Ended, Journal, Plan, PlanFile, SeedText, Standings};
use anqi_rules::{Position, Seed, excerpt};
use anqi_stats::{Block, Estimate, Points, mean_by_group, sign_test};
use anyhow::{Context, Result, bail};
use clap::Args;
use rand_core::Rng;
use serde::Serialize;

use crate::Exit;
use crate::arena::{advance, stop_on_signals};
use crate::assess::{
    AnalysisArgs, Collected, Pool, PositionArgs, Set, analyse, collect, listed, made_by, sample, write_files,
    write_whole,
};
use crate::output::{Output, grouped};
use crate::prove::prove;

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
    /// Begin with the weights in this file [default: the evaluation's own]
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

#[derive(Serialize)]
struct Tuned {
    schema: &'static str,
    facts: Vec<(String, String)>,
    eval: &'static str,
    names: &'static [&'static str],
    start: Vec<i32>,
    positions: usize,
    games: usize,
    held_out_positions: usize,
    held_out_games: usize,
    fits: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proofs: Option<Proofs>,
    skipped: Skipped,
    check: Option<Vec<Checked>>,
}

/// A fit, what it says about games it has not seen, and its weights as players take them.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    fit: Fit,
    rounded: Vec<i32>,
    /// On the games that were not learnt from.
    before: Losses,
    after: Losses,
    /// How much smaller the log loss is, by games.
    gain: Option<Estimate>,
}

/// A match of the self-play check.
#[derive(Serialize)]
struct Checked {
    players: [String; 2],
    block: Block,
    /// The paper's test: how often a fair coin divides the decided games as unevenly.
    p: f64,
}

pub(crate) fn run(args: &TuneArgs, out: &mut Output) -> Result<Exit> {
    if !(0.0..1.0).contains(&args.held_out) {
        bail!("bad --held-out {}, expected a share from 0 to less than 1", args.held_out);
    }
    let (eval, names) = (args.eval, args.eval.weight_names());
    let start = start(args)?;
    let free = free(&args.free, names)?;
    let settings = args.analysis.settings(args.positions.seed, &USUAL_CONDITIONS)?;
    let mut skipped = Skipped::default();
    let Collected { mut places, all, games } = collect(&args.records, &args.positions, false, &mut skipped)?;
    let mut proofs = None;
    if !args.positions.prove.is_empty() {
        let stop = stop_on_signals()?;
        let mut pool = Pool::new(None, &args.positions, &stop)?;
        proofs = prove(&args.positions.prove, &mut places, &all, &mut pool)?;
        if proofs.is_none() {
            return Ok(Exit::Interrupted);
        }
    }
    let draws = settings.draws;
    places.retain(|place| draws != Draws::Drop || place.result != Points::Draw);
    let (mut learnt, mut held, mut seen) = (Lessons::default(), Lessons::default(), Vec::new());
    for place in places {
        let features = features(eval, &start, place.start.position(), args.quiet);
        let apart = held_out(place.game, args);
        let points = place.result.half_points() as f64 / 2.0;
        if !apart {
            learnt.push(place.game, &features, points);
        }
        // With nothing held out, everything is shown as it was learnt.
        if apart || args.held_out == 0.0 {
            held.push(place.game, &features, points);
            seen.push(place);
        }
    }
    if learnt.is_empty() || held.is_empty() {
        let few = "to learn from some and to look at others";
        bail!("too few positions in {} games {few}{}", grouped(games), listed(&skipped));
    }
    let old: Vec<f64> = start.iter().copied().map(f64::from).collect();
    let old_slope = learnt.slope(&old);
    let row = |&loss: &Loss| {
        let fit = learnt.fit(loss, &old, &free, args.refits, args.positions.seed);
        let rounded: Vec<i32> = fit.weights.iter().map(|weight| weight.value.round() as i32).collect();
        let new: Vec<f64> = rounded.iter().copied().map(f64::from).collect();
        let gain = mean_by_group(&held.gain_by_game((&old, old_slope), (&new, fit.slope)), 1000, args.positions.seed);
        Row { before: held.losses(&old, old_slope), after: held.losses(&new, fit.slope), fit, rounded, gain }
    };
    let fits: Vec<Row> = [Loss::Mlm, Loss::Ls].iter().filter(|loss| args.fit.contains(loss)).map(row).collect();
    let fitted: Vec<usize> = (0..names.len()).filter(|&place| free[place]).collect();
    let report = curves(&seen, &held, (eval, &fitted), &start, &fits, &settings)?;
    let mut tuned = Tuned {
        schema: "anqi-tune-1",
        facts: made_by(),
        eval: eval.name(),
        names,
        start,
        positions: learnt.len(),
        games: learnt.game_count(),
        held_out_positions: held.len(),
        held_out_games: held.game_count(),
        fits,
        proofs,
        skipped,
        check: None,
    };
    if let Some(dir) = &args.output {
        write_files(dir, &report.0, &report.1)?;
        for row in &tuned.fits {
            let text = weights_file(args, &tuned, row);
            write_whole(&dir.join(format!("{}.weights", row.fit.loss)), |file| Ok(file.write_all(text.as_bytes())?))?;
        }
        if let Some(player) = &args.check {
            match self_play(args, dir, player, &tuned)? {
                Some(checked) => tuned.check = Some(checked),
                None => return Ok(Exit::Interrupted),
            }
        }
        write_whole(&dir.join("tune.json"), |file| Ok(serde_json::to_writer(file, &tuned)?))?;
    }
    out.print(&tuned, |text| print(text, &tuned, &report.0))?;
    Ok(Exit::Done)
}

fn start(args: &TuneArgs) -> Result<Vec<i32>> {
    let Some(path) = &args.start else { return Ok(args.eval.weights()) };
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let (eval, weights) = Evaluation::read_weights_text(&text).with_context(|| format!("{shown}"))?;
    if eval != args.eval {
        bail!("{shown} holds weights of evaluation {}, not of {}", eval.name(), args.eval.name());
    }
    Ok(weights)
}

fn free(wanted: &[String], names: &[&str]) -> Result<Vec<bool>> {
    for name in wanted {
        if !names.contains(&name.as_str()) {
            bail!("no weight {:?}, there are: {}", excerpt(name), names.join(", "));
        }
    }
    Ok(names.iter().map(|name| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name)).collect())
}

/// How often each weight counts for the player to move, perhaps when captures have been played out.
fn features(eval: Evaluation, weights: &[i32], position: &Position, quiet: bool) -> Vec<i32> {
    if !quiet {
        return eval.features(position);
    }
    let end = eval.with(weights, |eval| play_out_captures(eval, position).1);
    let mut features = eval.features(&end);
    if end.turn() != position.turn() {
        features.iter_mut().for_each(|feature| *feature = -*feature);
    }
    features
}

/// Whether a game is one of those that are not learnt from.
fn held_out(game: u64, args: &TuneArgs) -> bool {
    let seed = Seed::from(args.positions.seed).child("held out").child(game.to_string());
    f64::from(seed.rng().next_u32()) < args.held_out * f64::from(u32::MAX)
}

/// Curves of the games that were not learnt from, before and after.
fn curves(
    places: &[Place],
    held: &Lessons,
    (eval, fitted): (Evaluation, &[usize]),
    start: &[i32],
    fits: &[Row],
    settings: &Settings,
) -> Result<(Report, Vec<Set>)> {
    // What was fitted is a condition, too: its curves are those that should move together.
    let tags: Vec<String> = fitted.iter().map(|&place| format!("{} lead", eval.weight_names()[place])).collect();
    let columns: Vec<Vec<f64>> = fitted.iter().map(|&place| held.feature(place).collect()).collect();
    let counts: Vec<Vec<f64>> =
        (0..places.len()).map(|index| columns.iter().map(|column| column[index]).collect()).collect();
    let set = |name: &str, weights: &[i32]| -> Result<Set> {
        let weights: Vec<f64> = weights.iter().copied().map(f64::from).collect();
        let mut samples = Samples::default();
        for ((place, value), counts) in places.iter().zip(held.values(&weights)).zip(&counts) {
            let mut sample = sample(place, value);
            sample.tags.extend(tags.iter().cloned().zip(counts.iter().map(ToString::to_string)));
            samples.push(sample)?;
        }
        Ok(Set { name: name.to_owned(), samples })
    };
    let mut sets = vec![set("before", start)?];
    for row in fits {
        sets.push(set(&row.fit.loss.to_string(), &row.rounded)?);
    }
    let mut settings = Settings { scale: Some(Scale::Score), ..settings.clone() };
    settings.by.extend(tags.iter().map(|tag| Condition { tag: tag.clone(), edges: Vec::new() }));
    let mut report = analyse(&sets, &settings, made_by(), Skipped::default())?;
    report.title = "An evaluation before and after tuning".to_owned();
    Ok((report, sets))
}

fn weights_file(args: &TuneArgs, tuned: &Tuned, row: &Row) -> String {
    let loss = row.fit.loss.to_string();
    format!(
        "# {loss} over {} positions of {} games, from {}\n# 95 % by games: {}\n{}",
        tuned.positions,
        tuned.games,
        tuned.start.iter().map(ToString::to_string).collect::<Vec<_>>().join("/"),
        row.fit.weights.iter().map(|weight| format!("{weight:.0}")).collect::<Vec<_>>().join(", "),
        args.eval.weights_text(&row.rounded)
    )
}

/// Everybody against everybody: the new weights and the old ones, in one player. Nothing if interrupted.
fn self_play(args: &TuneArgs, dir: &Path, player: &str, tuned: &Tuned) -> Result<Option<Vec<Checked>>> {
    let (spec, rest) = player.split_once(' ').unwrap_or((player, ""));
    let with = |name: &str, weights: &[i32]| {
        let list: Vec<String> = weights.iter().map(ToString::to_string).collect();
        format!("{spec},weights={} name={name} {rest}", list.join("/"))
    };
    let new = tuned.fits.iter().map(|row| with(&row.fit.loss.to_string(), &row.rounded));
    let file = PlanFile {
        event: Some(format!("tuned weights of {}", tuned.eval)),
        players: new.chain([with("before", &tuned.start)]).collect(),
        pairs: Some(args.pairs),
        seed: Some(SeedText::Text(args.positions.seed.to_string())),
        ..PlanFile::default()
    };
    let plan = Plan::new(&file).with_context(|| format!("--check {player:?}"))?;
    let mut journal = Journal::open_or_create(&dir.join("check"), &plan)?;
    let Ended::Complete(pairs) = advance(&mut journal, args.positions.concurrency, None)? else {
        eprintln!("interrupted: {} of {} pairs are saved; the same command goes on", journal.len(), plan.count());
        return Ok(None);
    };
    let summary = Standings::of(&journal, pairs)?;
    let checked = summary.summary().pairings.into_iter().enumerate().map(|(number, pairing)| {
        let games = summary.tally(number).games;
        Checked { players: pairing.players, block: pairing.block, p: sign_test(games.wins(), games.losses()) }
    });
    Ok(Some(checked.collect()))
}

fn print(text: &mut dyn Write, tuned: &Tuned, report: &Report) -> std::io::Result<()> {
    writeln!(
        text,
        "{} positions of {} games learnt from, {} positions of {} games held out\n",
        grouped(tuned.positions as u64),
        grouped(tuned.games as u64),
        grouped(tuned.held_out_positions as u64),
        grouped(tuned.held_out_games as u64)
    )?;
    write!(text, "{:<14} {:>8}", tuned.eval, "before")?;
    tuned.fits.iter().try_for_each(|row| write!(text, " {:>18}", row.fit.loss.to_string()))?;
    writeln!(text)?;
    for (place, name) in tuned.names.iter().enumerate() {
        write!(text, "{name:<14} {:>8}", tuned.start[place])?;
        for row in &tuned.fits {
            write!(text, " {:>18}", format!("{:.0}", row.fit.weights[place]))?;
        }
        writeln!(text)?;
    }
    for row in &tuned.fits {
        write!(
            text,
            "\n{}: log loss {:.5} → {:.5}, Brier {:.5} → {:.5} on the games held out",
            row.fit.loss, row.before.log_loss, row.after.log_loss, row.before.brier, row.after.brier
        )?;
        if let Some(gain) = row.gain {
            write!(text, "; log loss smaller by {:.5} [{:.5}, {:.5}]", gain.value, gain.low, gain.high)?;
        }
    }
    writeln!(text, "\n\nMean distance of conditioned curves from the total curve, and what noise would make")?;
    for assessment in &report.assessments {
        let splits: Vec<_> =
            assessment.curves.iter().filter_map(|curve| Some((curve.positions as f64, curve.split?))).collect();
        let all: f64 = splits.iter().map(|(positions, _)| positions).sum();
        let mean = |part: &dyn Fn(&Split) -> f64| {
            splits.iter().map(|(positions, split)| positions / all * part(split)).sum::<f64>()
        };
        writeln!(
            text,
            "{:<8} {:.4} (noise {:.4}), {} of {} curves split",
            assessment.name,
            mean(&|split| split.distance),
            mean(&|split| split.noise),
            splits.iter().filter(|(_, split)| split.p_holm < 0.05).count(),
            splits.len()
        )?;
    }
    for checked in tuned.check.iter().flatten() {
        writeln!(text, "\n{} against {}\n{}", checked.players[0], checked.players[1], checked.block)?;
        writeln!(text, "sign test over decided games: p = {:.4}", checked.p)?;
    }
    if let Some(proofs) = &tuned.proofs {
        write!(text, "\n{proofs}")?;
    }
    if !tuned.skipped.is_empty() {
        write!(text, "\nLeft out\n{}", tuned.skipped)?;
    }
    Ok(())
}
