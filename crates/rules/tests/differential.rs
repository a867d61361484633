//! The crate against the mailbox: the same moves, successors and endings in more than a million random positions.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod mailbox;
mod players;

use std::collections::{BTreeMap, HashSet};

use anqi_rules::{
    Color, Deal, Game, Kind, Ladder, Move, MoveList, Piece, Ply, Position, Repeat, Rules, Seat, Seed, Square,
    SquareSet, Termination, perft,
};
use mailbox::{Act, At, Mailbox, Referee};
use players::{Dice, LETTERS, Player};

/// One game seen by both.
struct Twins {
    game: Game,
    referee: Referee,
}

impl Twins {
    fn new(rules: &str, start: Option<&str>) -> Twins {
        let rules: Rules = rules.parse().unwrap();
        let hong_kong = rules.ladder() == Ladder::HongKong;
        let (game, mailbox) = match start {
            None => (Game::new(rules), Mailbox::read(&start_text(&rules), hong_kong)),
            Some(text) => {
                let position = Position::parse(text, rules.ladder()).unwrap();
                (Game::from_position(rules, position).unwrap(), Mailbox::read(text, hong_kong))
            }
        };
        Twins { game, referee: Referee::new(rules, mailbox) }
    }

    fn play(&mut self, act: Act, shown: Option<char>) {
        self.game.play(ply(act, shown)).unwrap();
        self.referee.play(act, shown);
    }

    /// A game takes what is legal and nothing else, and an error leaves it as it was.
    fn refuse_the_rest(&mut self) {
        let legal = self.game.legal_moves();
        let (before, played) = (*self.game.position(), self.game.plies().len());
        let steps = Square::all().flat_map(|from| Square::all().map(move |to| Ply::Step { from, to }));
        let flips = Square::all().flat_map(|at| Piece::all().map(move |piece| Ply::Flip(at, piece)));
        for ply in steps.chain(flips) {
            let in_pool = ply.revealed().is_none_or(|piece| before.pool().count(piece) > 0);
            if !(legal.contains(&ply.to_move()) && in_pool) {
                assert!(self.game.play(ply).is_err(), "{ply} in {:?}", self.game);
            }
        }
        assert_eq!((*self.game.position(), self.game.plies().len()), (before, played));
    }

    /// What history decides, and all that [`compare_positions`] compares.
    fn compare(&self) {
        let (game, board) = (&self.game, self.referee.board());
        let verdict = self.referee.verdict();
        assert_eq!(game.outcome().map(|outcome| outcome.to_string()), verdict, "the end of {game:?}");

        let allowed = if verdict.is_none() { self.referee.allowed() } else { Vec::new() };
        assert_eq!(sorted(game.legal_moves()), sorted(allowed.into_iter().map(decision)), "the moves of {game:?}");

        let mover = board.red_moves().map(|red| if red { Color::Red } else { Color::Black });
        let seat = Seat::ALL[self.referee.mover()];
        assert_eq!((game.seat(), game.color_of(seat)), (seat, mover), "who is to move in {game:?}");
        assert_eq!(game.color_of(seat.other()), mover.map(Color::other), "who is to wait in {game:?}");

        compare_positions(game.position(), board);
    }
}

/// Everything that is cheap enough for every position.
fn compare_positions(position: &Position, board: &Mailbox) {
    assert_eq!(position.to_string(), board.to_string());
    assert_eq!(position.hash(), position.fresh_hash(), "the hash of {position}");

    let acts = board.acts();
    let steps = acts.iter().filter(|act| matches!(act, Act::Step(..))).count();
    assert_eq!(sorted(position.moves()), sorted(acts.iter().copied().map(decision)), "the moves of {position}");
    assert_eq!(position.count_steps() as usize, steps, "the steps of {position}");
    if let Some(mover) = position.turn() {
        let survey = position.survey();
        let mut captures = MoveList::new();
        survey.captures_into(position, &mut captures);
        assert_eq!(captures, position.captures(), "the captures of a survey of {position}");
        assert_eq!(survey.has_captures(), !captures.is_empty(), "whether {position} has captures");
        let mobility = survey.mobility;
        assert_eq!(mobility[mover] as usize, steps, "the mobility of the mover in {position}");
        assert_eq!(mobility[mover.other()], position.after_pass().count_steps(), "the other mobility in {position}");
    }
    assert_eq!(position.has_moves(), !acts.is_empty(), "whether {position} has moves");
    let in_order =
        position.captures().into_iter().chain(quiet_steps(position)).chain(position.hidden().iter().map(Move::Flip));
    assert_eq!(position.moves(), in_order.collect::<MoveList>(), "captures, quiet steps and flips of {position}");

    let captures = [true, false].map(|red| board.captures(red));
    let own = board.red_moves().map_or(&[][..], |red| &captures[usize::from(!red)]);
    let own = own.iter().map(|&(from, to)| decision(Act::Step(from, to)));
    assert_eq!(sorted(position.captures()), sorted(own), "the captures of {position}");

    for (color, captures) in Color::ALL.into_iter().zip(&captures) {
        let attacked: SquareSet = captures.iter().map(|&(_, to)| square(to)).collect();
        assert_eq!(position.attacked_by(color), attacked, "attacked by {} in {position}", color.name());
        assert_eq!(position.threatened(color.other()), attacked, "threatened by {} in {position}", color.name());
    }

    let (mut targets, mut attackers) = ([SquareSet::EMPTY; 32], [SquareSet::EMPTY; 32]);
    for mv in acts.into_iter().map(decision) {
        if let Move::Step { from, to } = mv {
            targets[from.index()] |= to.set();
        }
    }
    for &(from, to) in captures.iter().flatten() {
        attackers[square(to).index()] |= square(from).set();
    }
    for at in Square::all() {
        assert_eq!(position.targets_from(at), targets[at.index()], "targets from {at} in {position}");
        assert_eq!(position.attackers_of(at), attackers[at.index()], "attackers of {at} in {position}");
    }
}

/// Every successor, and every move that anybody could think of. Says how many successors there were.
fn compare_thoroughly(position: &Position, board: &Mailbox) -> usize {
    let acts = board.acts();
    let mut successors = 0;
    for &act in &acts {
        for shown in reveals(board, act) {
            compare_positions(&after(position, ply(act, shown)), &board.after(act, shown));
            successors += 1;
        }
    }
    let legal: HashSet<Move> = acts.into_iter().map(decision).collect();
    for from in Square::all() {
        let steps = Square::all().map(|to| Move::Step { from, to });
        for mv in steps.chain([Move::Flip(from)]) {
            assert_eq!(position.is_legal(mv), legal.contains(&mv), "{mv} in {position}");
        }
    }
    successors
}

fn quiet_steps(position: &Position) -> MoveList {
    let mut steps = MoveList::new();
    position.quiet_steps_into(&mut steps);
    steps
}

fn start_text(rules: &Rules) -> String {
    let row = "x".repeat(rules.board().files().into());
    let rows = vec![row; rules.board().ranks().into()];
    let army: String = Piece::all().flat_map(|piece| vec![piece.char(); rules.army().count(piece).into()]).collect();
    format!("{} - {army}", rows.join("/"))
}

fn after(position: &Position, ply: Ply) -> Position {
    match ply {
        Ply::Flip(at, piece) => position.after_flip(at, piece),
        Ply::Step { from, to } => position.after_step(from, to),
    }
}

/// What may come up: each piece of the pool once, or nothing if it is not a flip.
fn reveals(board: &Mailbox, act: Act) -> Vec<Option<char>> {
    match act {
        Act::Flip(_) => LETTERS.chars().filter(|letter| board.pool().contains(letter)).map(Some).collect(),
        Act::Step(..) => vec![None],
    }
}

fn square((file, rank): At) -> Square {
    Square::new(file as u8, rank as u8).unwrap()
}

fn decision(act: Act) -> Move {
    match act {
        Act::Flip(at) => Move::Flip(square(at)),
        Act::Step(from, to) => Move::Step { from: square(from), to: square(to) },
    }
}

fn ply(act: Act, shown: Option<char>) -> Ply {
    match (decision(act), shown.and_then(Piece::from_char)) {
        (Move::Flip(at), Some(piece)) => Ply::Flip(at, piece),
        (Move::Flip(at), None) => panic!("a flip of {at} shows a piece"),
        (Move::Step { from, to }, _) => Ply::Step { from, to },
    }
}

fn sorted(moves: impl IntoIterator<Item = Move>) -> Vec<Move> {
    let mut moves: Vec<Move> = moves.into_iter().collect();
    moves.sort_unstable();
    moves
}

/// What was met on the way.
#[derive(Default, Debug)]
struct Tally {
    positions: usize,
    /// Positions one ply off the way.
    successors: usize,
    /// Positions in which a long chase forbids something.
    chases: usize,
    endings: BTreeMap<&'static str, usize>,
    periods: BTreeMap<u16, usize>,
}

impl Tally {
    /// Plays one game, comparing at every ply.
    fn play(&mut self, mut twins: Twins, deal: Option<&Deal>, dice: &mut Dice) {
        let mut players = [Player::new(dice), Player::new(dice)];
        for number in 0..300 {
            twins.compare();
            let position = *twins.game.position();
            if number % 40 == 10 {
                self.successors += compare_thoroughly(&position, twins.referee.board());
                twins.refuse_the_rest();
            }
            self.positions += 1;
            if twins.game.outcome().is_some() {
                break;
            }
            self.chases += usize::from(twins.game.legal_moves().len() < position.moves().len());
            let act = players[number % 2].choose(&twins.referee, dice);
            let shown = match deal {
                Some(deal) => deal.resolve(decision(act)).unwrap().revealed().map(Piece::char),
                None => dice.pick(&reveals(twins.referee.board(), act)),
            };
            twins.play(act, shown);
        }
        self.count_ending(&twins.game);
    }

    fn count_ending(&mut self, game: &Game) {
        let ending = match (game.outcome().map(|outcome| outcome.termination), game.rules().repeat()) {
            (None, _) => "unfinished",
            (Some(Termination::Elimination), _) => "elimination",
            (Some(Termination::NoAction), _) if game.position().has_moves() => "no action but a long chase",
            (Some(Termination::NoAction), _) => "no action",
            (Some(Termination::QuietPlies), _) => "quiet plies",
            (Some(Termination::Repetition { period, .. }), repeat) => {
                *self.periods.entry(period).or_default() += 1;
                if let Repeat::Cycle(_) = repeat { "the same plies" } else { "the same position" }
            }
            (Some(other), _) => panic!("nobody ends a game by {other}"),
        };
        *self.endings.entry(ending).or_default() += 1;
    }

    /// Nothing may have been missed.
    fn assert_complete(&self, positions: usize) {
        println!("{self:#?}");
        assert!(self.positions >= positions, "{self:?}");
        assert!(self.chases > 1000, "{self:?}");
        for ending in ["elimination", "no action", "quiet plies", "the same plies", "the same position"] {
            assert!(self.endings.get(ending).is_some_and(|&games| games > 100), "too little {ending:?} in {self:?}");
        }
        for period in [4, 8, 12] {
            assert!(self.periods.get(&period).is_some_and(|&games| games > 10), "too little {period} in {self:?}");
        }
    }
}

#[test]
fn agree_from_random_deals() {
    let mut tally = Tally::default();
    for number in 0..9_600 {
        let mut dice = Dice::new("deals", number);
        let twins = Twins::new(&dice.rules(), None);
        let deal = Deal::new(twins.game.rules(), &Seed::from(number));
        tally.play(twins, Some(&deal), &mut dice);
    }
    tally.assert_complete(500_000);
}

#[test]
fn agree_from_random_positions() {
    let mut tally = Tally::default();
    for number in 0..15_600 {
        let mut dice = Dice::new("positions", number);
        let rules = dice.rules();
        let start = dice.position(rules.parse::<Rules>().unwrap().board());
        tally.play(Twins::new(&rules, Some(&start)), None, &mut dice);
    }
    tally.assert_complete(500_000);
}

/// Compares every position that can come up; says how many there are.
fn explore(rules: &str) -> usize {
    let Twins { game, referee } = Twins::new(rules, None);
    let mut seen = HashSet::new();
    let mut waiting = vec![(*game.position(), referee.board().clone())];
    while let Some((position, board)) = waiting.pop() {
        let without_quiet = board.to_string().split(' ').take(3).collect::<String>();
        if !seen.insert(without_quiet) {
            continue;
        }
        compare_positions(&position, &board);
        for act in board.acts() {
            let next = |shown| (after(&position, ply(act, shown)), board.after(act, shown));
            waiting.extend(reveals(&board, act).into_iter().map(next));
        }
    }
    seen.len()
}

#[test]
fn agree_everywhere_on_two_by_two() {
    let mut compared = 0;
    for ladder in Ladder::ALL {
        for army in ["KP", "KC", "KG", "GC", "CC", "CP", "CK", "NP", "RG", "CM", "PP", "KCcp", "PCkg", "CCCk", "KPPp"] {
            compared += explore(&format!("chen,board=2x2,army={army},ladder={}", ladder.name()));
        }
    }
    println!("{compared} positions");
    assert!(compared > 20_000, "only {compared}");
}

/// Leaves at `depth`, as the mailbox counts them.
fn leaves(board: &Mailbox, depth: u32) -> u64 {
    let plies = board.acts().into_iter().flat_map(|act| reveals(board, act).into_iter().map(move |shown| (act, shown)));
    match depth {
        1 => plies.count() as u64,
        _ => plies.map(|(act, shown)| leaves(&board.after(act, shown), depth - 1)).sum(),
    }
}

#[test]
fn agree_on_the_leaves_of_every_board() {
    for (board, depth) in [("2x2", 7), ("3x2", 5), ("2x4", 4), ("3x4", 3), ("4x4", 3), ("4x8", 2)] {
        for ladder in Ladder::ALL {
            let Twins { game, referee } = Twins::new(&format!("chen,board={board},ladder={}", ladder.name()), None);
            assert_eq!(perft(game.position(), depth), leaves(referee.board(), depth), "{board} {}", ladder.name());
        }
    }
}

fn compare_capture(ladder: Ladder, attacker: Kind, victim: Kind) {
    let letter = |color, kind| Piece { color, kind }.char();
    let text = format!("{}{}/2 r -", letter(Color::Red, attacker), letter(Color::Black, victim));
    let takes = Mailbox::read(&text, ladder == Ladder::HongKong).can_capture((0, 1), (1, 1));
    assert_eq!(ladder.takes(attacker, victim), takes, "{text} on the {} ladder", ladder.name());
    let position = Position::parse(&text, ladder).unwrap();
    assert_eq!(position.is_legal("a2-b2".parse().unwrap()), takes, "{text} on the {} ladder", ladder.name());
}

#[test]
fn agree_on_who_takes_whom() {
    for ladder in Ladder::ALL {
        for attacker in Kind::ALL {
            Kind::ALL.into_iter().for_each(|victim| compare_capture(ladder, attacker, victim));
        }
    }
}
