//! Matches and tournaments as text for a terminal.

use std::fmt::{self, Write as _};

use anqi_lab::{Adjusted, PairingResult, StandingsSummary};
use anqi_stats::{Elo, Estimate, Games};

/// What the games say.
#[must_use]
pub fn match_text(summary: &StandingsSummary) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, summary);
    text
}

fn write(text: &mut String, summary: &StandingsSummary) -> fmt::Result {
    match &summary.pairings[..] {
        [only] if summary.players.len() == 2 => write_match(text, only)?,
        _ => write_table(text, summary)?,
    }
    write_games(text, summary)
}

fn write_match(text: &mut String, pairing: &PairingResult) -> fmt::Result {
    writeln!(text, "{} against {}", pairing.players[0], pairing.players[1])?;
    write!(text, "{}", pairing.block)?;
    if let Some(Elo { score, .. }) = pairing.block.elo {
        writeln!(text, "Score: {}", interval(&score))?;
    }
    pairing.luck.map_or(Ok(()), |luck| write_luck(text, &luck))
}

fn write_luck(text: &mut String, luck: &Adjusted) -> fmt::Result {
    for adjusted in [luck.fitted, luck.fixed] {
        let (score, saved) = (interval(&adjusted.score), 100.0 * adjusted.variance_saved);
        writeln!(
            text,
            "Luck-adjusted: {score}, {:.2} of the luck taken out, variance saved {saved:.1} %",
            adjusted.coefficient
        )?;
    }
    Ok(())
}

fn write_table(text: &mut String, summary: &StandingsSummary) -> fmt::Result {
    let mut order: Vec<usize> = (0..summary.players.len()).collect();
    let ts = |player: &usize| summary.players[*player].chen.ts.unwrap_or(0.0);
    order.sort_by(|a, b| ts(b).total_cmp(&ts(a)));
    let width = summary.players.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(6);
    write!(
        text,
        "{:>4} {:<width$} {:>6} {:>8} {:>9} {:>6} {:>15}",
        "", "player", "games", "GS_first", "GS_second", "TS", "rating"
    )?;
    (1..=order.len()).try_for_each(|place| write!(text, " {place:>12}"))?;
    writeln!(text)?;
    for (place, &player) in order.iter().enumerate() {
        let row = &summary.players[player];
        let games: u64 = row.games.0.iter().sum();
        let rating = summary.ratings.as_ref().map(|ratings| ratings.players[player]);
        let rating = rating.map_or("–".to_owned(), |rating| format!("{:+.0} ± {:.0}", rating.value, rating.margin()));
        write!(
            text,
            "{:>4} {:<width$} {games:>6} {:>8} {:>9} {:>6} {rating:>15}",
            place + 1,
            row.name,
            share(row.chen.gs_first),
            share(row.chen.gs_second),
            share(row.chen.ts)
        )?;
        for &other in &order {
            let cell = row.against[other].map_or("–".to_owned(), |games| cell(&games));
            write!(text, " {cell:>12}")?;
        }
        writeln!(text)?;
    }
    writeln!(text, "Cells: wins-losses-draws. GS and TS are Chen's scores, averaged over the opponents.")?;
    write_pairings(text, summary, width)
}

/// What the first of a gauntlet scored against each, in the order of the plan, with the margins that pairs give. Of a round
/// robin there are too many to list.
fn write_pairings(text: &mut String, summary: &StandingsSummary, width: usize) -> fmt::Result {
    if summary.pairings.len() >= summary.players.len() {
        return Ok(());
    }
    for PairingResult { players: [one, two], block, .. } in &summary.pairings {
        let Some(Elo { score, .. }) = &block.elo else { continue };
        writeln!(text, "{one} against {two:<width$} {:>6} games {}", block.count, interval(score))?;
    }
    Ok(())
}

fn cell(games: &Games) -> String {
    format!("{}-{}-{}", games.wins(), games.losses(), games.draws())
}

fn share(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{share:.3}"))
}

fn write_games(text: &mut String, summary: &StandingsSummary) -> fmt::Result {
    let first = summary.first;
    if let Some(Elo { score, .. }) = Elo::of(&first) {
        let (wins, losses, draws) = (first.wins(), first.losses(), first.draws());
        writeln!(text, "First player: {} ({wins} wins, {losses} losses, {draws} draws)", interval(&score))?;
    }
    let mut endings: Vec<_> = summary.endings.iter().collect();
    endings.sort_by(|a, b| b.1.cmp(a.1));
    let endings: Vec<String> = endings.iter().map(|(name, count)| format!("{name} {count}")).collect();
    writeln!(text, "Endings: {}; {:.1} plies a game", endings.join(", "), summary.plies)?;
    for row in summary.players.iter().filter(|row| row.failures > 0) {
        writeln!(text, "Warning: {} lost {} games on time or by misbehaving", row.name, row.failures)?;
    }
    Ok(())
}

fn interval(estimate: &Estimate) -> String {
    format!("{:.4} ± {:.4}", estimate.value, estimate.margin())
}
