//! The slow and obvious version of everything, to test the fast one against: a board is an array
//! of pieces, a move is a pair of squares, and legality is spelled out case by case.

use anqi_rules::{Color, Kind, Ladder, Position, Rules, Square};

use crate::bits::Halvings;
use crate::board::DealtBoard;
use crate::narrow::{
    Avoid, AvoidCapture, Capture, CaptureAvoid, Captures, Choose, ElseTrap, Escapes, Names, Random, Then, Trap,
};
use crate::scalar::{Action, PlayoutGame};
use crate::seed::Generator;
use crate::start::PlayoutStart;
use crate::summary::{End, Playout, PlayoutResult, PlayoutSummary};
use crate::word::both;
use crate::{Path, PlayoutOptions, Policy, playouts};

/// A dealt piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Man {
    color: Color,
    rung: u8,
    dark: bool,
}

/// A dealt board and whose turn it is.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Mailbox {
    men: [Option<Man>; Square::COUNT],
    board: u32,
    ladder: Ladder,
    turn: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Act {
    Flip(usize),
    Go { from: usize, to: usize, captures: bool },
}

impl Mailbox {
    fn new(board: &DealtBoard<u64>, squares: u32, ladder: Ladder, turn: Color) -> Mailbox {
        let man = |at: usize| {
            let has = |set: u64| set >> at & 1 == 1;
            let color = if has(board.own) { turn } else { turn.other() };
            let rung = (0..3).map(|i| u8::from(has(board.planes[i])) << i).sum();
            has(board.own | board.foe).then_some(Man { color, rung, dark: has(board.dark) })
        };
        Mailbox { men: std::array::from_fn(man), board: squares, ladder, turn }
    }

    /// The neighbour of a square in a direction given as files and ranks.
    fn next(&self, at: usize, (files, ranks): (i8, i8)) -> Option<usize> {
        let (file, rank) = ((at / 8) as i8 + files, (at % 8) as i8 + ranks);
        let to = ((0..4).contains(&file) && (0..8).contains(&rank)).then(|| (file * 8 + rank) as usize)?;
        (self.board >> to & 1 == 1).then_some(to)
    }

    /// The first man in a direction.
    fn see(&self, mut at: usize, direction: (i8, i8)) -> Option<usize> {
        loop {
            at = self.next(at, direction)?;
            if self.men[at].is_some() {
                return Some(at);
            }
        }
    }

    fn acts(&self) -> Vec<Act> {
        let mut acts = Vec::new();
        for (from, man) in self.men.iter().enumerate() {
            match *man {
                Some(man) if man.dark => acts.push(Act::Flip(from)),
                Some(man) if man.color == self.turn => {
                    for direction in [(0, 1), (0, -1), (1, 0), (-1, 0)] {
                        self.steps(&mut acts, from, man, direction);
                        self.jumps(&mut acts, from, man, direction);
                    }
                }
                _ => {}
            }
        }
        acts.sort();
        acts
    }

    fn captures(&self) -> Vec<Act> {
        self.acts().into_iter().filter(|act| matches!(act, Act::Go { captures: true, .. })).collect()
    }

    /// The same board with the other side to move.
    fn turned(&self) -> Mailbox {
        Mailbox { turn: self.turn.other(), ..self.clone() }
    }

    fn after(&self, act: Act) -> Mailbox {
        let mut after = self.clone();
        after.play(act);
        after
    }

    /// Whether the side to move can capture on this square.
    fn can_capture_on(&self, at: usize) -> bool {
        self.captures().iter().any(|act| matches!(act, Act::Go { to, .. } if *to == at))
    }

    /// The moves of men that could be captured to where they could not.
    fn escapes(&self) -> Vec<Act> {
        let turned = self.turned();
        let escapes = |act: &Act| match *act {
            Act::Flip(_) => false,
            Act::Go { from, to, .. } => turned.can_capture_on(from) && !self.after(*act).can_capture_on(to),
        };
        self.acts().into_iter().filter(escapes).collect()
    }

    fn steps_and_captures(&self) -> usize {
        self.acts().iter().filter(|act| matches!(act, Act::Go { .. })).count()
    }

    /// The acts after which the other side has the fewest moves.
    fn traps(&self) -> Vec<Act> {
        let now = self.turned().steps_and_captures();
        let left = |act: &Act| match act {
            Act::Flip(_) => now,
            Act::Go { .. } => self.after(*act).steps_and_captures(),
        };
        let acts = self.acts();
        let fewest = acts.iter().map(left).min();
        acts.into_iter().filter(|act| Some(left(act)) == fewest).collect()
    }

    /// What a policy draws from, part by part.
    fn drawn_from(&self, policy: Policy) -> Vec<Act> {
        for part in policy.to_string().split('+') {
            let found = match part {
                "capture" => self.captures(),
                "avoid" => self.escapes(),
                "trap" => self.traps(),
                _ => self.acts(),
            };
            if !found.is_empty() {
                return found;
            }
        }
        self.acts()
    }

    fn kind(&self, man: Man) -> Kind {
        self.ladder.kind(man.rung)
    }

    fn steps(&self, acts: &mut Vec<Act>, from: usize, man: Man, direction: (i8, i8)) {
        let Some(to) = self.next(from, direction) else { return };
        match self.men[to] {
            None => acts.push(Act::Go { from, to, captures: false }),
            Some(victim) => {
                let enemy = victim.color != man.color && !victim.dark;
                if enemy && self.ladder.takes(self.kind(man), self.kind(victim)) {
                    acts.push(Act::Go { from, to, captures: true });
                }
            }
        }
    }

    fn jumps(&self, acts: &mut Vec<Act>, from: usize, man: Man, direction: (i8, i8)) {
        if !self.ladder.cannons_jump() || self.kind(man) != Kind::Cannon {
            return;
        }
        let target = self.see(from, direction).and_then(|screen| self.see(screen, direction));
        if let Some(to) = target
            && self.men[to].is_some_and(|victim| victim.color != man.color && !victim.dark)
        {
            acts.push(Act::Go { from, to, captures: true });
        }
    }

    fn play(&mut self, act: Act) {
        match act {
            Act::Flip(at) => self.men[at].as_mut().into_iter().for_each(|man| man.dark = false),
            Act::Go { from, to, .. } => self.men[to] = self.men[from].take(),
        }
        self.turn = self.turn.other();
    }

    fn end(&self, plies: u32) -> End {
        let set = |has: &dyn Fn(Man) -> bool| {
            (0..Square::COUNT).filter(|&at| self.men[at].is_some_and(has)).map(|at| 1 << at).sum()
        };
        let planes = [0, 1, 2].map(|i| set(&|man| man.rung >> i & 1 == 1));
        let [own, foe] = [self.turn, self.turn.other()].map(|color| set(&|man| man.color == color));
        End::new(planes, own, foe, set(&|man| man.dark), plies)
    }

    fn count(&self, color: Color) -> usize {
        self.men.iter().flatten().filter(|man| man.color == color).count()
    }
}

/// What one action of the fast board stands for.
fn act(board: &DealtBoard<u64>, Action { flipped, ends }: Action) -> Act {
    let index = |set: u64| {
        assert_eq!(set, both(set as u32));
        assert_eq!((set as u32).count_ones(), 1);
        set.trailing_zeros() as usize
    };
    if flipped != 0 {
        assert_eq!(ends, 0);
        return Act::Flip(index(flipped));
    }
    let (from, to) = (ends & board.own, ends & !board.own);
    Act::Go { from: index(from), to: index(to), captures: to & board.foe != 0 }
}

/// All actions behind the names, in the order of their acts.
fn named(game: &PlayoutGame, names: &Names<u64>) -> (Vec<Act>, Vec<Action>) {
    let actions = (0..names.count()).map(|n| game.action::<Halvings>(names, n));
    let mut all: Vec<_> = actions.map(|action| (act(&game.board, action), action)).collect();
    all.sort_by_key(|&(act, _)| act);
    all.into_iter().unzip()
}

/// What each policy draws from.
fn chosen<const JUMPS: bool>(board: &DealtBoard<u64>, squares: u64) -> [(Policy, Names<u64>); 10] {
    fn by<C: Choose, const JUMPS: bool>(board: &DealtBoard<u64>, squares: u64) -> Names<u64> {
        C::choose::<JUMPS>(board, squares)
    }
    [
        (Policy::Random, by::<Random, JUMPS>(board, squares)),
        (Policy::Capture, by::<Capture, JUMPS>(board, squares)),
        (Policy::Avoid, by::<Avoid, JUMPS>(board, squares)),
        (Policy::CaptureAvoid, by::<CaptureAvoid, JUMPS>(board, squares)),
        (Policy::AvoidCapture, by::<AvoidCapture, JUMPS>(board, squares)),
        (Policy::Trap, by::<Trap, JUMPS>(board, squares)),
        (Policy::CaptureTrap, by::<ElseTrap<Captures>, JUMPS>(board, squares)),
        (Policy::AvoidTrap, by::<ElseTrap<Escapes>, JUMPS>(board, squares)),
        (Policy::CaptureAvoidTrap, by::<ElseTrap<Then<Captures, Escapes>>, JUMPS>(board, squares)),
        (Policy::AvoidCaptureTrap, by::<ElseTrap<Then<Escapes, Captures>>, JUMPS>(board, squares)),
    ]
}

/// Plays along some games and compares the fast board with the mailbox ply by ply. Gives the number
/// of positions seen.
fn walk<const JUMPS: bool>(position: &Position, games: u64) -> usize {
    let start = PlayoutStart::from(position);
    let mut seen = 0;
    for index in 0..games {
        let mut rng = Generator::new(77, index);
        let mut game = PlayoutGame::deal(&start, &mut rng);
        let mut turn = Color::Red; // the colours' names do not matter
        let mut mailbox = Mailbox::new(&game.board, start.arena.squares, position.ladder(), turn);
        for _ in 0..200 {
            seen += 1;
            let squares = both(start.arena.squares);
            let (acts, all) = named(&game, &Random::choose::<JUMPS>(&game.board, squares));
            assert_eq!(acts, mailbox.acts());
            // The mailbox takes its time to think: every fourth position must do.
            for (policy, names) in chosen::<JUMPS>(&game.board, squares).into_iter().filter(|_| seen % 4 == 0) {
                assert_eq!(named(&game, &names).0, mailbox.drawn_from(policy), "{policy} {mailbox:?}");
            }
            if all.is_empty() {
                break;
            }
            let n = rng.below(all.len() as u32) as usize;
            game.apply(all[n]);
            mailbox.play(acts[n]);
            turn = turn.other();
            assert_eq!(Mailbox::new(&game.board, start.arena.squares, position.ladder(), turn), mailbox);
        }
    }
    seen
}

#[test]
fn the_names_are_the_legal_actions() {
    let initial = |rules: &str| Position::initial(&rules.parse::<Rules>().unwrap());
    let mut seen = 0;
    seen += walk::<true>(&initial("chen"), 300);
    seen += walk::<true>(&initial("chen,army=CCCCCCCCPPGNMRKK"), 200);
    seen += walk::<true>(&initial("chen,army=CCCCCCCCCCCCCCCC"), 100);
    seen += walk::<true>(&initial("chen,army=KKKKKKKKPPPPPPPP"), 100);
    seen += walk::<false>(&initial("chen,ladder=hongkong"), 200);
    for board in ["2x2", "3x2", "2x4", "3x4", "4x4"] {
        seen += walk::<true>(&initial(&format!("chen,board={board}")), 100);
        seen += walk::<false>(&initial(&format!("chen,board={board},ladder=hongkong")), 50);
    }
    assert!(seen > 100_000, "only {seen} positions");
}

/// A whole playout in the mailbox, with draws of its own.
fn slow_playout(start: &PlayoutStart, policy: Policy, limit: u32, rng: &mut Generator) -> Playout {
    let game = PlayoutGame::deal(start, rng);
    let mut mailbox = Mailbox::new(&game.board, start.arena.squares, Ladder::Taiwan, Color::Red);
    let (mut plies, mut quiet) = (u32::from(start.turn.is_none()), game.quiet);
    loop {
        let acts = mailbox.drawn_from(policy);
        let lost = acts.is_empty() || mailbox.count(mailbox.turn) == 0;
        if lost || quiet >= limit {
            return Playout { outcome: PlayoutResult::of(lost, true, plies), plies, end: mailbox.end(plies) };
        }
        let act = acts[rng.below(acts.len() as u32) as usize];
        quiet = if matches!(act, Act::Go { captures: false, .. }) { quiet + 1 } else { 0 };
        plies += 1;
        mailbox.play(act);
    }
}

#[test]
fn slow_playouts_have_the_same_statistics() {
    let start = PlayoutStart::from(&Position::initial(&Rules::chen()));
    for policy in Policy::ALL {
        let slow_count = 1000;
        let mut slow = PlayoutSummary::default();
        for index in 0..slow_count {
            slow.add(slow_playout(&start, policy, 40, &mut Generator::new(5, index)));
        }
        let options = PlayoutOptions { policy, ..PlayoutOptions::default() };
        let fast = playouts(&start, &options, 6, 0..20_000, Path::best());
        for (slow, fast) in [(slow.plies, fast.plies), (slow.left, fast.left)] {
            let tolerance = 4.0 * slow.standard_error().hypot(fast.standard_error());
            assert!((slow.mean() - fast.mean()).abs() < tolerance, "{policy}: {} {}", slow.mean(), fast.mean());
        }
        for (slow, fast) in [(slow.wins, fast.wins), (slow.draws, fast.draws)] {
            let (slow, fast) = (slow as f64 / slow_count as f64, fast as f64 / 20_000.0);
            assert!(
                (slow - fast).abs() < 4.0 * (fast * (1.0 - fast) / slow_count as f64).sqrt() + 0.01,
                "{policy}: {slow} {fast}"
            );
        }
    }
}
