//! Solved games and positions as text: what flips and other actions are worth.

use anqi_rules::{Color, Move, Position};
use anqi_solve::{Fraction, Orbit, SolvedGame, Worth, decimal};
use anqi_stats::Grouped;

use anqi_experiment::Dots;

use crate::sets::SetsPicture;

/// The first flips of one game, of which so many positions were solved.
#[must_use]
pub fn solved_game_text(game: &SolvedGame, positions: u64) -> String {
    let orbits = game.orbits();
    let best = orbits.iter().map(|orbit| orbit.worth.value).max().unwrap_or_default();
    let mut text = format!(
        "{} {}: {} positions solved\nthe player who flips first gets {best} ({:+.4})\n\n",
        game.board.name(),
        game.set,
        Grouped(positions),
        decimal(best)
    );
    let rows = orbits.iter().map(|orbit| (squares(orbit), orbit.worth));
    text += &worths("flip", &rows.collect::<Vec<_>>());
    text
}

/// The first flips of all games of a board.
#[must_use]
pub fn solved_games_text(games: &[SolvedGame]) -> String {
    let board = games.first().map_or("", |game| game.board.name());
    let mut rows = Vec::new();
    for game in games {
        rows.extend(game.orbits().iter().map(|orbit| (format!("{} {}", game.set, squares(orbit)), orbit.worth)));
    }
    let classes = firsts(games).count();
    format!("{board}: {} fair sets of {classes} classes\n\n{}", games.len(), worths("set and flip", &rows))
}

/// A position with what its actions are worth to the player to move.
#[must_use]
pub fn solved_position_text(position: &Position, worth: &Worth, actions: &[(Move, Worth)]) -> String {
    let mover = position.turn().map_or("the player who flips first", Color::name);
    let rows: Vec<(String, Worth)> = actions.iter().map(|(mv, worth)| (mv.to_string(), *worth)).collect();
    let value = worth.value;
    format!("{position}: {mover} gets {value} ({:+.4})\n\n{}", decimal(value), worths("action", &rows))
}

impl SetsPicture {
    /// Of all games of a board: a row for the first set of each class.
    #[must_use]
    pub fn of(games: &[SolvedGame]) -> SetsPicture {
        let row = |game: &SolvedGame| {
            let like = games.iter().filter(|other| other.like == game.like).count();
            let label = if like == 1 { game.set.to_string() } else { format!("{} and {} more", game.set, like - 1) };
            let point = |orbit: &Orbit| (orbit.squares[0].to_string(), decimal(orbit.worth.value));
            Dots { label, points: game.orbits().iter().map(point).collect() }
        };
        let rows: Vec<Dots> = firsts(games).map(row).collect();
        let board = games.first().map_or_else(String::new, |game| game.board.name().to_owned());
        SetsPicture { board, sets: games.len(), classes: rows.len(), rows }
    }
}

/// The first game of each class.
fn firsts(games: &[SolvedGame]) -> impl Iterator<Item = &SolvedGame> {
    games.iter().filter(|game| game.like == Some(game.set))
}

fn squares(orbit: &Orbit) -> String {
    orbit.squares.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn exactly(fraction: Option<Fraction>) -> String {
    fraction.map_or_else(String::new, |fraction| fraction.to_string())
}

/// A line for each, with columns as wide as needed.
fn worths(title: &str, rows: &[(String, Worth)]) -> String {
    let mut lines = vec![[title, "value", "", "win", "draw", "loss"].map(str::to_owned)];
    lines.extend(rows.iter().map(|(name, worth)| {
        let shown = format!("{:+.4}", decimal(worth.value));
        let [win, draw, loss] = [worth.win(), worth.draw, worth.loss()].map(exactly);
        [name.clone(), worth.value.to_string(), shown, win, draw, loss]
    }));
    let widths: Vec<usize> =
        (0..6).map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use anqi_rules::{BoardSize, Ladder};
    use anqi_solve::Solver;

    use super::*;

    #[test]
    fn a_game_is_a_table_with_a_line_for_equal_squares() {
        let mut solver = Solver::with_split(BoardSize::ThreeByTwo, Ladder::Taiwan);
        let game = SolvedGame::solve("KPP".parse().unwrap(), &mut solver, NonZeroUsize::MIN).unwrap();
        assert_eq!(
            solved_game_text(&game, solver.positions()),
            "3x2 KPP: 14,396 positions solved\n\
             the player who flips first gets 1/3 (+0.3333)\n\n\
             flip         value             win  draw   loss\n\
             a1 a2 c1 c2   1/45  +0.0222  23/45     0  22/45\n\
             b1 b2          1/3  +0.3333  59/90  1/45  29/90\n"
        );
    }

    #[test]
    fn all_games_of_a_board_are_a_picture() {
        let games = SolvedGame::solve_all(BoardSize::TwoByTwo, NonZeroUsize::MIN).unwrap();
        let picture = SetsPicture::of(&games);
        assert_eq!((picture.sets, picture.classes), (27, 5));
        assert_eq!(picture.rows[0].label, "PP and 4 more"); // NN RR MM GG
        assert!(solved_games_text(&games).starts_with("2x2: 27 fair sets of 5 classes\n"));
    }
}
