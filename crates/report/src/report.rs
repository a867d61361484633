//! `Report`: the page.

use std::fmt::{self, Display, Write as _};

use anqi_lab::{PairingResult, Plan, PlayedPair, Standings, Summary};
use anqi_stats::{Elo, Estimate, Games, Outcomes, Tally};

use crate::chart;
use crate::counts::Counts;
use crate::html::{Escaped, json_in_script};
use crate::moves::{Moves, UnplayableGame};

/// A match or tournament on one page.
#[derive(Clone, Debug)]
pub struct Report {
    plan: Plan,
    standings: Standings,
    counts: Counts,
    games: Vec<Moves>,
    most_games: usize,
}

impl Report {
    /// Nothing was played yet. At most `most_games` games, the first ones, can be replayed on the page: a game takes
    /// about three kilobytes.
    #[must_use]
    pub fn new(plan: &Plan, most_games: usize) -> Report {
        Report {
            plan: plan.clone(),
            standings: Standings::new(plan),
            counts: Counts::new(plan),
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

    /// The page.
    #[must_use]
    pub fn to_html(&self) -> String {
        let summary = self.standings.summary();
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut page, &summary);
        page
    }

    fn write(&self, page: &mut String, summary: &Summary) -> fmt::Result {
        let title = Escaped(&summary.event);
        writeln!(
            page,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>"
        )?;
        writeln!(page, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
        writeln!(page, "<meta name=\"generator\" content=\"anqi {}\">", env!("CARGO_PKG_VERSION"))?;
        writeln!(page, "<style>\n{}</style>\n</head>\n<body>\n<h1>{title}</h1>", include_str!("page.css"))?;
        self.facts(page, summary)?;
        if summary.pairs == 0 {
            writeln!(page, "<p>Nothing was played yet.</p>")?;
        } else {
            self.cross_table(page, summary)?;
            pairings(page, &summary.pairings)?;
            self.plots(page, summary)?;
            self.replays(page, summary)?;
        }
        writeln!(page, "<script>\n{}</script>\n</body>\n</html>", include_str!("page.js"))
    }

    fn facts(&self, page: &mut String, summary: &Summary) -> fmt::Result {
        let planned = self.plan.count();
        writeln!(page, "<dl class=\"facts\">")?;
        let mut fact = |name: &str, value: &dyn Display| writeln!(page, "<dt>{name}</dt><dd>{}</dd>", Escaped(value));
        fact("rules", &summary.rules)?;
        fact("seed", &summary.seed)?;
        fact("pairs", &format!("{} of {planned}", summary.pairs))?;
        fact("games", &(2 * summary.pairs))?;
        if let Some(sprt) = self.plan.sprt() {
            fact("sequential test", &sprt)?;
        }
        for contender in self.plan.contenders() {
            fact("player", contender)?;
        }
        fact("made by", &format!("anqi {}", env!("CARGO_PKG_VERSION")))?;
        writeln!(page, "</dl>")
    }

    fn cross_table(&self, page: &mut String, summary: &Summary) -> fmt::Result {
        writeln!(page, "<h2>Cross table</h2>\n<div class=\"wide\"><table>\n<thead><tr><th></th><th>player</th>")?;
        for number in 1..=summary.players.len() {
            write!(page, "<th>{number}</th>")?;
        }
        let rating = summary.ratings.as_ref().map(|_| "rating");
        let heads = ["games", "points", "score", "GS first", "GS second", "TS"].into_iter().chain(rating);
        for head in heads.chain(["failures"]) {
            write!(page, "<th>{head}</th>")?;
        }
        writeln!(page, "</tr></thead>\n<tbody>")?;
        let dash = || "–".to_owned();
        for (index, row) in summary.players.iter().enumerate() {
            write!(page, "<tr><td>{}</td><th scope=\"row\">{}</th>", index + 1, Escaped(&row.name))?;
            for against in &row.against {
                match against {
                    Some(Games([losses, draws, wins])) => {
                        write!(page, "<td title=\"won, drawn, lost\">+{wins} ={draws} −{losses}</td>")?;
                    }
                    None => write!(page, "<td class=\"none\"></td>")?,
                }
            }
            let points = row.games.half_points() as f64 / 2.0;
            let score = self.score(index).map_or_else(dash, |score| format!("{score:.3}"));
            write!(page, "<td>{}</td><td>{points:.1}</td><td>{score}</td>", row.games.total())?;
            for chen in [row.chen.gs_first, row.chen.gs_second, row.chen.ts] {
                write!(page, "<td>{}</td>", chen.map_or_else(dash, |chen| format!("{chen:.4}")))?;
            }
            if let Some(ratings) = &summary.ratings {
                write!(page, "<td>{:.0}</td>", ratings.players[index])?;
            }
            writeln!(page, "<td>{}</td></tr>", row.failures)?;
        }
        writeln!(page, "</tbody></table></div>\n<p class=\"note\">")?;
        writeln!(
            page,
            "± is half of a 95 % interval over pairs. GS and TS are Chen's scores as first player, as second"
        )?;
        writeln!(page, "player and their mean, each divided by the number of opponents.")?;
        if summary.ratings.is_some() {
            writeln!(page, "Ratings are Bradley–Terry–Davidson's on the Elo scale with mean 0, their intervals from")?;
            writeln!(page, "resampled pairs.")?;
        }
        writeln!(page, "</p>")
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

    fn plots(&self, page: &mut String, summary: &Summary) -> fmt::Result {
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
        writeln!(page, "<h2>Plots</h2>\n<div class=\"plots\">")?;
        let mut figure = |caption: &str, svg: String| {
            if svg.is_empty() {
                return Ok(());
            }
            writeln!(page, "<figure><figcaption>{caption}</figcaption>\n{svg}\n</figure>")
        };
        figure("Score over pairs, with 95 % intervals", chart::shares(&scores))?;
        if let Some(ratings) = &summary.ratings {
            let rows: Vec<_> = names().zip(ratings.players.iter().copied()).collect();
            figure("Ratings, with 95 % intervals", chart::intervals("Elo", 0.0, &rows))?;
        }
        figure("Score as first and as second player", chart::shares(&seats))?;
        figure("Lengths of the games", chart::histogram("plies", &self.counts.lengths, 25))?;
        figure("Endings", chart::bars("games", &listed(&summary.endings)))?;
        figure("Draws by reason", chart::bars("drawn games", &listed(&self.counts.draws)))?;
        writeln!(page, "</div>")
    }

    fn replays(&self, page: &mut String, summary: &Summary) -> fmt::Result {
        let (shown, all) = (self.games.len(), 2 * summary.pairs);
        if shown == 0 {
            return Ok(());
        }
        writeln!(page, "<h2>Games</h2>")?;
        if (shown as u64) < all {
            writeln!(page, "<p class=\"note\">The first {shown} of {all} games; games.anqi has them all.</p>")?;
        }
        writeln!(page, "{}", include_str!("replay.html"))?;
        writeln!(page, "<script type=\"application/json\" id=\"games\">{}</script>", json_in_script(&self.games))
    }
}

fn pairings(page: &mut String, pairings: &[PairingResult]) -> fmt::Result {
    writeln!(page, "<h2>Pairings</h2>\n<div class=\"pairings\">")?;
    for PairingResult { players: [one, two], block, luck } in pairings.iter().filter(|pairing| pairing.block.count > 0)
    {
        writeln!(page, "<section><h3>{} against {}</h3>\n<pre>{}</pre>", Escaped(one), Escaped(two), Escaped(block))?;
        if let Some(luck) = luck {
            let saved = 100.0 * luck.fixed.variance_saved;
            let (plain, adjusted, value) = (luck.plain, luck.fixed.score, Escaped(luck.value));
            writeln!(
                page,
                "<p>Score {plain:.4}, without the luck of the flips {adjusted:.4} (by {value}, variance saved {saved:.1} %)</p>"
            )?;
        }
        writeln!(page, "</section>")?;
    }
    writeln!(page, "</div>")
}
