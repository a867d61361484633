//! `MatchReport`: a match or tournament.

use anqi_lab::{PairingResult, Plan, PlayedPair, Standings, StandingsSummary};
use anqi_stats::{Elo, Estimate, Games, Outcomes, Tally};
use maud::{Markup, html};

use crate::chart;
use crate::counts::PlanCounts;
use crate::moves::{Moves, UnplayableGame};
use crate::page::{MADE_BY, facts, figure, titled};
use crate::replay::replay;

/// A match or tournament on one page.
#[derive(Clone, Debug)]
pub struct MatchReport {
    plan: Plan,
    standings: Standings,
    counts: PlanCounts,
    games: Vec<Moves>,
    most_games: usize,
}

impl MatchReport {
    /// Nothing was played yet. At most `most_games` games, the first ones, can be replayed on the page: a game takes
    /// about three kilobytes.
    #[must_use]
    pub fn new(plan: &Plan, most_games: usize) -> MatchReport {
        MatchReport {
            plan: plan.clone(),
            standings: Standings::new(plan),
            counts: PlanCounts::new(plan),
            games: Vec::new(),
            most_games,
        }
    }

    /// Counts a pair. Pairs are added in the order of the plan; what the plan does not have is passed over.
    ///
    /// # Errors
    /// If a game to be shown breaks the rules.
    pub fn add(&mut self, played: &PlayedPair) -> Result<(), UnplayableGame> {
        let Some(pair) = self.plan.pair(played.number) else { return Ok(()) };
        for record in &played.games {
            if self.games.len() < self.most_games {
                self.games.push(Moves::of(record)?);
            }
        }
        self.standings.add(played);
        self.counts.add(&pair, played);
        Ok(())
    }

    /// The pairs that were counted.
    #[must_use]
    pub const fn standings(&self) -> &Standings {
        &self.standings
    }

    /// The page.
    #[must_use]
    pub fn to_html(&self) -> String {
        let summary = self.standings.summary();
        let body = html! {
            (self.facts(&summary))
            @if summary.pairs == 0 {
                p { "Nothing was played yet." }
            } @else {
                (self.cross_table(&summary))
                (pairings(&summary.pairings))
                (self.plots(&summary))
                (self.replays(&summary))
            }
        };
        titled(&summary.event, &body)
    }

    fn facts(&self, summary: &StandingsSummary) -> Markup {
        let mut all = vec![
            ("rules", summary.rules.to_string()),
            ("seed", summary.seed.to_string()),
            ("pairs", format!("{} of {}", summary.pairs, self.plan.count())),
            ("games", (2 * summary.pairs).to_string()),
        ];
        all.extend(self.plan.sprt().map(|sprt| ("sequential test", sprt.to_string())));
        all.extend(self.plan.contenders().iter().map(|contender| ("player", contender.to_string())));
        all.push(("made by", MADE_BY.to_owned()));
        facts(all)
    }

    fn cross_table(&self, summary: &StandingsSummary) -> Markup {
        let dash = || "–".to_owned();
        let row = |(index, row): (usize, &anqi_lab::Row)| {
            let score = self.score(index).map_or_else(dash, |score| format!("{score:.3}"));
            html! {
                tr {
                    td { (index + 1) }
                    th scope="row" { (row.name) }
                    @for against in &row.against {
                        @if let Some(Games([losses, draws, wins])) = against {
                            td title="won, drawn, lost" { "+" (wins) " =" (draws) " −" (losses) }
                        } @else {
                            td.none {}
                        }
                    }
                    td { (row.games.total()) }
                    td { (format!("{:.1}", row.games.half_points() as f64 / 2.0)) }
                    td { (score) }
                    @for chen in [row.chen.gs_first, row.chen.gs_second, row.chen.ts] {
                        td { (chen.map_or_else(dash, |chen| format!("{chen:.4}"))) }
                    }
                    @if let Some(ratings) = &summary.ratings { td { (format!("{:.0}", ratings.players[index])) } }
                    td { (row.failures) }
                }
            }
        };
        html! {
            h2 { "Cross table" }
            div.wide {
                table {
                    thead {
                        tr {
                            th {}
                            th { "player" }
                            @for number in 1..=summary.players.len() { th { (number) } }
                            @for head in ["games", "points", "score", "GS first", "GS second", "TS"] { th { (head) } }
                            @if summary.ratings.is_some() { th { "rating" } }
                            th { "failures" }
                        }
                    }
                    tbody { @for numbered in summary.players.iter().enumerate() { (row(numbered)) } }
                }
            }
            p.note {
                "± is half of a 95 % interval over pairs. GS and TS are Chen's scores as first player, as second player and \
                 their mean, each divided by the number of opponents."
                @if summary.ratings.is_some() {
                    " Ratings are Bradley–Terry–Davidson's on the Elo scale with mean 0, their intervals from resampled pairs."
                }
            }
        }
    }

    /// A contender's share of the points over all its pairs.
    fn score(&self, contender: usize) -> Option<Estimate> {
        let tally = |(index, pairing): (usize, &[usize; 2])| match pairing {
            [one, _] if *one == contender => self.standings.tally(index),
            [_, two] if *two == contender => self.standings.tally(index).inverted(),
            _ => Tally::default(),
        };
        let all: Tally = self.plan.pairings().iter().enumerate().map(tally).sum();
        Elo::of(&all.pairs).map(|elo| elo.score)
    }

    fn plots(&self, summary: &StandingsSummary) -> Markup {
        let names = || summary.players.iter().map(|row| row.name.clone());
        let scores: Vec<_> = names().enumerate().filter_map(|(index, name)| Some((name, self.score(index)?))).collect();
        let seats: Vec<_> = names()
            .zip(&self.counts.seats)
            .flat_map(|(name, seats)| {
                let row = |label: &str, games: &Games| Some((format!("{name} {label}"), Elo::of(games)?.score));
                [row("first", &seats[0]), row("second", &seats[1])]
            })
            .flatten()
            .collect();
        let listed = |counts: &std::collections::BTreeMap<String, u64>| -> Vec<(String, u64)> {
            counts.iter().map(|(reason, count)| (reason.clone(), *count)).collect()
        };
        let ratings = summary.ratings.as_ref().map_or(String::new(), |ratings| {
            let rows: Vec<_> = names().zip(ratings.players.iter().copied()).collect();
            chart::intervals("Elo", 0.0, &rows)
        });
        html! {
            h2 { "Plots" }
            div.plots {
                (figure("Score over pairs, with 95 % intervals", &chart::shares(&scores)))
                (figure("Ratings, with 95 % intervals", &ratings))
                (figure("Score as first and as second player", &chart::shares(&seats)))
                (figure("Lengths of the games", &chart::histogram("plies", &self.counts.lengths, 25)))
                (figure("Endings", &chart::bars("games", &listed(&summary.endings))))
                (figure("Draws by reason", &chart::bars("drawn games", &listed(&self.counts.draws))))
            }
        }
    }

    fn replays(&self, summary: &StandingsSummary) -> Markup {
        let (shown, all) = (self.games.len(), 2 * summary.pairs);
        html! {
            @if shown > 0 {
                h2 { "Games" }
                @if (shown as u64) < all {
                    p.note { "The first " (shown) " of " (all) " games; games.anqi has them all." }
                }
                (replay(&self.games))
            }
        }
    }
}

fn pairings(pairings: &[PairingResult]) -> Markup {
    html! {
        h2 { "Pairings" }
        div.pairings {
            @for PairingResult { players: [one, two], block, luck } in pairings.iter().filter(|pairing| pairing.block.count > 0) {
                section {
                    h3 { (one) " against " (two) }
                    pre { (block) }
                    @if let Some(luck) = luck {
                        p {
                            "Score " (format!("{:.4}", luck.plain)) ", without the luck of the flips "
                            (format!("{:.4}", luck.fixed.score)) " (by " (luck.value) ", variance saved "
                            (format!("{:.1}", 100.0 * luck.fixed.variance_saved)) " %)"
                        }
                    }
                }
            }
        }
    }
}
