//! What a page is shown: everything public about a game, and nothing else.

use std::collections::BTreeMap;

use anqi_rules::{Color, Game, Material, Move, Piece, Ply, Position, Seat, Square, cannon_targets};
use serde::Serialize;

use crate::seat::Sitter;
use crate::table::Table;

/// A game as a page sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GameView<'a> {
    r#type: &'static str,
    game: &'a str,
    rules: String,
    files: u8,
    ranks: u8,
    players: [PlayerView; 2],
    plies: Vec<String>,
    in_play: bool,
    /// Whether a person at the page is to move.
    your_turn: bool,
    can_take_back: bool,
    take_backs: u32,
    draw_at: Option<u16>,
    outcome: Option<OutcomeView>,
    /// Milliseconds left to the first and the second player, and whose clock runs.
    clocks: Option<ClocksView>,
    commitment: Option<&'a str>,
    /// Told when the game is over.
    deal: Option<DealView<'a>>,
    /// Why the game may not be on the disk.
    trouble: Option<&'a str>,
    shown: PositionView,
}

#[derive(Serialize)]
struct PlayerView {
    name: String,
    person: bool,
    level: Option<usize>,
    color: Option<&'static str>,
}

#[derive(Serialize)]
struct OutcomeView {
    winner: Option<&'static str>,
    reason: String,
    score: &'static str,
    text: String,
}

#[derive(Serialize)]
struct ClocksView {
    left: [u64; 2],
    running: Option<&'static str>,
}

#[derive(Serialize)]
struct DealView<'a> {
    seed: &'a str,
    nonce: &'a str,
}

/// One position of a game.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PositionView {
    ply: usize,
    /// The highest rank first, from file a on: a piece's letter, `x` face down, `.` empty.
    board: String,
    position: String,
    turn: Option<&'static str>,
    seat: &'static str,
    quiet: u16,
    last: Option<LastView>,
    flips: Vec<String>,
    steps: BTreeMap<String, Vec<String>>,
    /// For each jump the square that is jumped over.
    jumps: BTreeMap<String, String>,
    /// Pieces of the side to move that could be captured.
    threatened: Vec<String>,
    captured: Vec<(char, u8)>,
    pool: Vec<(char, u8)>,
}

#[derive(Serialize)]
struct LastView {
    ply: String,
    from: Option<String>,
    to: String,
    captured: Option<char>,
}

impl<'a> GameView<'a> {
    pub(crate) fn of(table: &'a Table) -> GameView<'a> {
        let game = table.game();
        let person_to_move = matches!(table.to_move(), Some(Sitter::Person));
        let board = game.rules().board();
        let played_by_person = (0..game.plies().len()).any(|ply| *table.sitter(Seat::ALL[ply % 2]) == Sitter::Person);
        let deal = match (table.tag("Seed"), table.tag("DealNonce")) {
            (Some(seed), Some(nonce)) => Some(DealView { seed, nonce }),
            _ => None,
        };
        let clocks = table.clocks().map(|left| ClocksView {
            left: left.map(|left| left.as_millis() as u64),
            running: table.is_in_play().then(|| game.seat().name()),
        });
        GameView {
            r#type: "game",
            game: table.id(),
            rules: game.rules().to_string(),
            files: board.files(),
            ranks: board.ranks(),
            players: Seat::ALL.map(|seat| PlayerView::of(table, seat)),
            plies: game.plies().iter().map(ToString::to_string).collect(),
            in_play: table.is_in_play(),
            your_turn: person_to_move,
            can_take_back: table.is_in_play() && played_by_person,
            take_backs: table.take_backs(),
            draw_at: game.rules().draw(),
            outcome: game.outcome().map(|outcome| OutcomeView {
                winner: outcome.winner.map(Seat::name),
                reason: outcome.termination.to_string(),
                score: outcome.score(),
                text: outcome.to_string(),
            }),
            clocks,
            commitment: table.tag("DealCommit"),
            deal,
            trouble: table.trouble(),
            shown: PositionView::of(game, game.plies().len(), person_to_move),
        }
    }
}

impl PlayerView {
    fn of(table: &Table, seat: Seat) -> PlayerView {
        let sitter = table.sitter(seat);
        let tag = if seat == Seat::First { "First" } else { "Second" };
        PlayerView {
            name: table.tag(tag).unwrap_or("?").to_owned(),
            person: *sitter == Sitter::Person,
            level: sitter.level(),
            color: table.game().color_of(seat).map(Color::name),
        }
    }
}

impl PositionView {
    /// The position before ply number `ply`; what can be played there is told if somebody may play it.
    pub(crate) fn of(game: &Game, ply: usize, with_moves: bool) -> PositionView {
        let ply = ply.min(game.plies().len());
        let position = &game.positions()[ply];
        let moves = if with_moves { game.legal_moves().to_vec() } else { Vec::new() };
        let mut steps: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut jumps = BTreeMap::new();
        for mv in &moves {
            if let Move::Step { from, to } = *mv {
                steps.entry(from.to_string()).or_default().push(to.to_string());
                if let Some(over) = jumped(position, from, to) {
                    jumps.insert(mv.to_string(), over.to_string());
                }
            }
        }
        let flip = |mv: &Move| if let Move::Flip(square) = mv { Some(square.to_string()) } else { None };
        PositionView {
            ply,
            board: position.letters().collect(),
            position: position.to_string(),
            turn: position.turn().map(Color::name),
            seat: Seat::ALL[ply % 2].name(),
            quiet: position.quiet(),
            last: ply.checked_sub(1).map(|last| LastView::of(&game.positions()[last], game.plies()[last])),
            flips: moves.iter().filter_map(flip).collect(),
            steps,
            jumps,
            threatened: names(position.turn().map(|turn| position.threatened(turn)).into_iter().flatten()),
            captured: counts(&captured(&game.positions()[0], position)),
            pool: counts(position.pool()),
        }
    }
}

impl LastView {
    fn of(before: &Position, ply: Ply) -> LastView {
        let (from, to) = match ply {
            Ply::Flip(square, _) => (None, square),
            Ply::Step { from, to } => (Some(from.to_string()), to),
        };
        LastView { ply: ply.to_string(), from, to: to.to_string(), captured: before.piece_at(to).map(Piece::char) }
    }
}

fn names(squares: impl Iterator<Item = Square>) -> Vec<String> {
    squares.map(|square| square.to_string()).collect()
}

pub(crate) fn counts(material: &Material) -> Vec<(char, u8)> {
    material.iter().map(|(piece, count)| (piece.char(), count)).collect()
}

/// What was there at the start and is no longer.
fn captured(start: &Position, now: &Position) -> Material {
    let all = |position: &Position| position.revealed().pieces().chain(position.pool().pieces()).collect::<Material>();
    let mut gone = all(start);
    for piece in all(now).pieces() {
        gone.remove(piece);
    }
    gone
}

/// The square between, if this is a cannon's jump.
fn jumped(position: &Position, from: Square, to: Square) -> Option<Square> {
    let far = from.file().abs_diff(to.file()) + from.rank().abs_diff(to.rank()) > 1;
    let jumps = position.turn().is_some_and(|turn| position.jumpers(turn).contains(from));
    if !far || !jumps || !cannon_targets(from, position.occupied()).contains(to) {
        return None;
    }
    let between = |a: u8, b: u8, x: u8| (a.min(b)..=a.max(b)).contains(&x);
    position.occupied().iter().find(|&square| {
        square != from
            && square != to
            && between(from.file(), to.file(), square.file())
            && between(from.rank(), to.rank(), square.rank())
    })
}
