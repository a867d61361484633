//! Games of `random` against itself: what the referee costs.

use std::time::{Duration, Instant};

use anqi_engine::Resources;
use anqi_engine::Stop;
use anqi_lab::{Cast, MatchJournal, Plan, PlanFile, PlayedPair, play_pair};
use anyhow::Result;
use serde::Serialize;

use crate::Exit;
use crate::output::{Output, grouped};

#[derive(Serialize)]
struct RefereeRate {
    schema: &'static str,
    how: &'static str,
    games: u64,
    plies: u64,
    /// Games of average length at the rate of the best batch: others on the machine can only make it slower.
    games_per_second: f64,
    /// Of all games.
    ms_per_ply: f64,
}

/// What goes through an outside program, whatever time it takes.
const OUTSIDE_PAIRS: u64 = 500;

pub(super) fn run(time: Duration, out: &mut Output) -> Result<Exit> {
    let (resources, stop) = (Resources::default(), Stop::default());
    let plan = |player: &str| {
        let players = vec![player.to_owned(), "random".to_owned()];
        Plan::new(&PlanFile { pairs: Some(1_000_000), players, ..PlanFile::default() })
    };
    let anqi = std::env::current_exe()?;
    let inside = plan("random")?;
    let casts = |plan: &Plan| Cast::new(plan, &resources);
    let inside_cast = casts(&inside)?;
    let outside = plan(&format!("cmd=\"'{}' engine --player random --seed {{seed}}\" name=outside", anqi.display()))?;
    let outside_cast = casts(&outside)?;
    let dir = tempfile::tempdir()?;
    let mut journal = MatchJournal::open_or_create(dir.path(), &inside)?;
    let rows = [
        pair_rate("in process", time, 0, &mut |number| Ok(play_pair(&inside, number, &inside_cast, &stop)?))?,
        pair_rate("and written down", time, 0, &mut |number| {
            let pair = play_pair(&inside, number, &inside_cast, &stop)?;
            journal.append(&pair)?;
            Ok(pair)
        })?,
        pair_rate("outside, protocol A", Duration::ZERO, OUTSIDE_PAIRS, &mut |number| {
            Ok(play_pair(&outside, number, &outside_cast, &stop)?)
        })?,
    ];
    out.print(&rows, |text| {
        for row in &rows {
            let (games, rate) = (grouped(row.games), grouped(row.games_per_second as u64));
            let more = row.ms_per_ply - rows[0].ms_per_ply;
            writeln!(text, "{:<20} {games:>8} games {rate:>8} games/s  {more:+.4} ms a ply", row.how)?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// Plays pairs for a time, and at least so many.
fn pair_rate(
    how: &'static str,
    time: Duration,
    least: u64,
    play: &mut dyn FnMut(u64) -> Result<PlayedPair>,
) -> Result<RefereeRate> {
    // Short enough for one turn on a busy core.
    const BATCH: u64 = 5;
    let started = Instant::now();
    let (mut pairs, mut plies, mut best) = (0, 0, 0.0_f64);
    while started.elapsed() < time || pairs < least {
        let (begun, before) = (Instant::now(), plies);
        for number in pairs..pairs + BATCH {
            plies += play(number)?.games.iter().map(|game| game.plies().len() as u64).sum::<u64>();
        }
        pairs += BATCH;
        // In plies: the best batch must not be the one with the shortest games.
        best = best.max((plies - before) as f64 / begun.elapsed().as_secs_f64());
    }
    Ok(RefereeRate {
        schema: "anqi-bench-referee-1",
        how,
        games: 2 * pairs,
        plies,
        games_per_second: best / (plies as f64 / (2 * pairs) as f64),
        ms_per_ply: started.elapsed().as_secs_f64() * 1e3 / plies as f64,
    })
}
