//! What a page is shown: everything public about a game, and nothing else.

use std::collections::BTreeMap;

use anqi_play::{ColorName, JointDeal, Occupant, SeatName, SeriesGame};
use anqi_rules::{Contribution, Game, Material, Move, Piece, Ply, Position, Seat, Square, cannon_targets};
use serde::Serialize;

use crate::hosted::{FileDamage, HostedGame};
use crate::presence::Presence;

/// A game as a page sees it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct GameView {
    game: String,
    /// How many changes this server has told; a [`Change`] carries the next number.
    version: u64,
    rules: String,
    files: u8,
    ranks: u8,
    draw_at: Option<u16>,
    commitment: Option<String>,
    /// Its place in a series, if it is of one: then there is no help while it is in play.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    series: Option<SeriesGame>,
    plies: Vec<String>,
    #[serde(flatten)]
    state: State,
}

/// What a change of a game may change, but for the plies.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct State {
    /// First, then second.
    players: [PlayerView; 2],
    in_play: bool,
    /// Whether a person at the page is to move.
    your_turn: bool,
    can_take_back: bool,
    take_backs: u32,
    /// Who has offered a draw that stands.
    offer: Option<SeatName>,
    outcome: Option<OutcomeView>,
    clocks: Option<ClocksView>,
    /// Told when the game is over.
    deal: Option<DealView>,
    /// Why the game may not be on the disk.
    trouble: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    damage: Option<DamageView>,
    /// Left out if the server alone deals.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    joint: Option<JointView>,
    /// Why the game ended before it began: `expired`, `not revealed` or `withdrawn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    void: Option<String>,
    shown: PositionView,
}

/// What has changed in a game: its plies after the first `kept`, and its state.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Change {
    game: String,
    /// One more than that of the change before. A page that missed one opens the game again.
    version: u64,
    kept: usize,
    plies: Vec<String>,
    #[serde(flatten)]
    state: State,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PlayerView {
    name: String,
    person: bool,
    level: Option<usize>,
    color: Option<ColorName>,
    /// Left out where no token holds the seat, and when the game is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    presence: Option<Presence>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct OutcomeView {
    winner: Option<SeatName>,
    reason: String,
    score: &'static str,
    text: String,
}

/// Milliseconds left to the first and the second player, and whose clock runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ClocksView {
    left: [u64; 2],
    running: Option<SeatName>,
}

/// A damaged file of the game, which is left as it is.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct DamageView {
    file: String,
    /// Counted from 1, if it is known.
    line: Option<u64>,
    reason: String,
    /// Whether `go-on` makes a new game of what is before the damage.
    can_go_on: bool,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct DealView {
    seed: String,
    nonce: String,
    /// What the first and the second player have contributed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    contributions: Option<[Option<ContributionView>; 2]>,
}

/// What a player has contributed to a deal.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ContributionView {
    seed: String,
    nonce: String,
}

/// A deal that waits for contributions of players, or was made with them.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct JointView {
    /// The name of the game, to which all parts are bound.
    game: String,
    /// Those of the first and the second player, as far as they contribute.
    parts: [Option<PartView>; 2],
}

/// A player's part of a deal.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PartView {
    /// What it has committed to, if it must.
    commitment: Option<String>,
    /// What it is asked for now.
    awaits: Option<Awaited>,
    /// What it has revealed is told when the game is over.
    revealed: bool,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum Awaited {
    Commitment,
    Reveal,
}

impl JointView {
    fn of(joint: &JointDeal) -> JointView {
        let part = |seat| {
            joint.part(seat).map(|part| PartView {
                commitment: part.commitment.map(|commitment| commitment.to_string()),
                awaits: match (joint.awaits_commitment(seat), joint.awaits_reveal(seat)) {
                    (true, _) => Some(Awaited::Commitment),
                    (false, true) => Some(Awaited::Reveal),
                    (false, false) => None,
                },
                revealed: part.contribution.is_some(),
            })
        };
        JointView { game: joint.game().to_owned(), parts: Seat::ALL.map(part) }
    }
}

impl DealView {
    fn of([seed, nonce]: [String; 2], joint: Option<&JointDeal>) -> DealView {
        let told = |joint: &JointDeal, seat| {
            let contribution = joint.part(seat)?.contribution.as_ref()?;
            let Contribution { seed, nonce, .. } = contribution;
            Some(ContributionView { seed: seed.to_string(), nonce: nonce.to_string() })
        };
        let contributions = joint.map(|joint| Seat::ALL.map(|seat| told(joint, seat)));
        DealView { seed, nonce, contributions }
    }
}

/// One position of a game.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PositionView {
    ply: usize,
    /// The highest rank first, from file a on: a piece's letter, `x` face down, `.` empty.
    board: String,
    position: String,
    turn: Option<ColorName>,
    seat: SeatName,
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

#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LastView {
    ply: String,
    from: Option<String>,
    to: String,
    captured: Option<char>,
}

impl GameView {
    pub(crate) fn of(hosted: &HostedGame, version: u64) -> GameView {
        let game = hosted.game();
        let board = game.rules().board();
        GameView {
            game: hosted.id().to_owned(),
            version,
            rules: game.rules().to_string(),
            files: board.files(),
            ranks: board.ranks(),
            draw_at: game.rules().draw(),
            commitment: hosted.commitment(),
            series: hosted.series().cloned(),
            plies: game.plies().iter().map(ToString::to_string).collect(),
            state: State::of(hosted),
        }
    }

    /// The game after a change; false if changes before it are missing.
    pub(crate) fn apply(&mut self, change: &Change) -> bool {
        if change.version != self.version + 1 || change.kept > self.plies.len() {
            return false;
        }
        self.version = change.version;
        self.plies.truncate(change.kept);
        self.plies.extend_from_slice(&change.plies);
        self.state = change.state.clone();
        true
    }
}

impl Change {
    /// What has changed in a game since its plies were `before`.
    pub(crate) fn of(hosted: &HostedGame, before: &[Ply], version: u64) -> Change {
        let plies = hosted.game().plies();
        let kept = before.iter().zip(plies).take_while(|(before, now)| before == now).count();
        let plies = plies[kept..].iter().map(ToString::to_string).collect();
        Change { game: hosted.id().to_owned(), version, kept, plies, state: State::of(hosted) }
    }

    /// How many plies are as before.
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }
}

impl State {
    fn of(hosted: &HostedGame) -> State {
        let game = hosted.game();
        let person_to_move = hosted.to_move().is_some_and(Occupant::is_human);
        let clocks = hosted.clocks().map(|left| ClocksView {
            left: left.map(|left| left.as_millis() as u64),
            running: hosted.to_move().map(|_| game.seat().into()),
        });
        State {
            players: Seat::ALL.map(|seat| PlayerView::of(hosted, seat)),
            in_play: hosted.is_in_play(),
            your_turn: person_to_move,
            can_take_back: hosted.can_take_back(),
            take_backs: hosted.take_backs(),
            offer: hosted.offer().map(SeatName::from),
            outcome: game.outcome().map(|outcome| OutcomeView {
                winner: outcome.winner.map(SeatName::from),
                reason: outcome.termination.to_string(),
                score: outcome.score(),
                text: outcome.to_string(),
            }),
            clocks,
            deal: hosted.deal().map(|secret| DealView::of(secret, hosted.joint())),
            trouble: hosted.trouble().map(str::to_owned),
            damage: hosted.damage().map(|FileDamage { file, line, reason }| DamageView {
                file: file.clone(),
                line: *line,
                reason: reason.clone(),
                can_go_on: hosted.can_go_on(),
            }),
            joint: hosted.joint().map(JointView::of),
            void: hosted.void().map(|void| void.to_string()),
            shown: PositionView::of(game, game.plies().len(), person_to_move),
        }
    }
}

impl PlayerView {
    fn of(hosted: &HostedGame, seat: Seat) -> PlayerView {
        let occupant = hosted.occupant(seat);
        PlayerView {
            name: hosted.name(seat),
            person: occupant.is_human(),
            level: occupant.level(),
            color: hosted.game().color_of(seat).map(ColorName::from),
            presence: hosted.presence(seat),
        }
    }
}

impl PositionView {
    /// The position before ply number `ply`; what can be played there is told if a human may play it.
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
            turn: position.turn().map(ColorName::from),
            seat: Seat::ALL[ply % 2].into(),
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
