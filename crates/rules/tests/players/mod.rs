//! Random rules, random positions, and players who bring about every ending.

use std::collections::VecDeque;

use anqi_rules::{BoardSize, Seed};
use rand_core::Rng;

use crate::mailbox::{Act, At, Mailbox, Referee};

pub(crate) const LETTERS: &str = "KGMRNCPkgmrncp";

/// Chance, from one seed.
pub(crate) struct Dice(Box<dyn Rng>);

impl Dice {
    pub(crate) fn new(purpose: &str, number: u64) -> Dice {
        Dice(Box::new(Seed::from(number).child(purpose).rng()))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0.next_u32() as usize % bound
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn pick_any<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        if choices.is_empty() { None } else { Some(self.pick(choices)) }
    }

    /// Pieces of either colour; one time in three mostly cannons.
    fn pieces(&mut self, count: usize) -> Vec<char> {
        let kinds: Vec<char> = if self.one_in(3) { "CCCCccccKGPkgp" } else { LETTERS }.chars().collect();
        (0..count).map(|_| self.pick(&kinds)).collect()
    }

    /// A preset on any board, with any army, any ladder and any draw rules.
    pub(crate) fn rules(&mut self) -> String {
        let board = self.pick(&BoardSize::ALL);
        let squares = board.squares().len() as usize;
        let preset = self.pick(&["server", "chen", "olympiad"]);
        let army: String = match self.below(3) {
            0 => String::new(),
            1 => self.pieces(squares / 2).iter().map(char::to_ascii_uppercase).collect(),
            _ => ['K', 'p'].into_iter().chain(self.pieces(squares - 2)).collect(),
        };
        let army = if army.is_empty() { army } else { format!(",army={army}") };
        let ladder = self.pick(&["", ",ladder=hongkong"]);
        let draw = self.pick(&["", "", "", ",draw=7", ",draw=30", ",draw=off"]);
        let repeat = self.pick(&["", "", ",repeat=off", ",repeat=cycle:2", ",repeat=cycle:4", ",repeat=position:2"]);
        let chase = self.pick(&["", ",chase=on"]);
        format!("{preset},board={board}{army}{ladder}{draw}{repeat}{chase}")
    }

    /// Any pieces anywhere, from a crowd to a few.
    pub(crate) fn position(&mut self, board: BoardSize) -> String {
        let squares = board.squares().len() as usize;
        let most = self.pick(&[squares, squares.min(5)]);
        let revealed = 1 + self.below(most);
        let hidden = if self.one_in(2) { 0 } else { self.below(squares - revealed + 1) };
        let mut letters = self.pieces(revealed);
        letters.resize(revealed + hidden, 'x');
        letters.resize(squares, '.');
        for last in (1..squares).rev() {
            letters.swap(last, self.below(last + 1));
        }
        let rows: Vec<String> = letters.chunks(board.files().into()).map(|row| row.iter().collect()).collect();
        let mut pool = self.pieces(hidden);
        pool.sort_by_key(|&letter| LETTERS.find(letter));
        let pool: String = if pool.is_empty() { "-".to_owned() } else { pool.into_iter().collect() };
        let quiet = if self.one_in(4) { self.below(50) } else { 0 };
        format!("{} {} {pool} {quiet}", rows.join("/"), self.pick(&["r", "b"]))
    }
}

/// Someone who mostly plays by mood, and sometimes anything.
pub(crate) struct Player {
    mood: Mood,
    plan: VecDeque<Act>,
}

#[derive(Clone, Copy)]
enum Mood {
    /// Plays anything.
    Careless,
    /// Captures whenever it can.
    Greedy,
    /// Goes there and back, again and again.
    Pacing,
    /// Flees to where it came from, and attacks whatever it can reach.
    Hunting,
}

impl Player {
    pub(crate) fn new(dice: &mut Dice) -> Player {
        let moods = [Mood::Careless, Mood::Greedy, Mood::Pacing, Mood::Pacing, Mood::Hunting, Mood::Hunting];
        Player { mood: dice.pick(&moods), plan: VecDeque::new() }
    }

    pub(crate) fn choose(&mut self, referee: &Referee, dice: &mut Dice) -> Act {
        let acts = referee.allowed();
        let liked = match self.mood {
            _ if dice.one_in(20) => None,
            Mood::Careless => None,
            Mood::Greedy => capture(referee.board(), &acts, dice),
            Mood::Pacing => self.pace(referee.board(), &acts, dice),
            Mood::Hunting => flee(referee, &acts, dice).or_else(|| attack(referee.board(), &acts, dice)),
        };
        liked.unwrap_or_else(|| dice.pick(&acts))
    }

    /// One to three steps there, the same back, five times: periods of 4, 8 and 12 plies and their multiples.
    fn pace(&mut self, board: &Mailbox, acts: &[Act], dice: &mut Dice) -> Option<Act> {
        if self.plan.is_empty() {
            let mut there = vec![dice.pick_any(&quiet_steps(board, acts))?];
            for _ in 0..dice.below(3) {
                let (_, at) = there[there.len() - 1];
                let onward: Vec<_> = board.neighbours(at).filter(|&to| board.is_empty(to)).collect();
                there.extend(dice.pick_any(&onward).map(|to| (at, to)));
            }
            let back = there.iter().rev().map(|&(from, to)| (to, from));
            let round: Vec<_> = there.iter().copied().chain(back).map(|(from, to)| Act::Step(from, to)).collect();
            self.plan = std::iter::repeat_n(round, 5).flatten().collect();
        }
        let next = self.plan.pop_front().filter(|act| acts.contains(act));
        if next.is_none() {
            self.plan.clear();
        }
        next
    }
}

type Step = (At, At);

fn quiet_steps(board: &Mailbox, acts: &[Act]) -> Vec<Step> {
    steps(acts).filter(|&(_, to)| board.is_empty(to)).collect()
}

fn steps(acts: &[Act]) -> impl Iterator<Item = Step> {
    acts.iter().filter_map(|act| if let &Act::Step(from, to) = act { Some((from, to)) } else { None })
}

fn any_of(steps: impl Iterator<Item = Step>, dice: &mut Dice) -> Option<Act> {
    dice.pick_any(&steps.collect::<Vec<_>>()).map(|(from, to)| Act::Step(from, to))
}

fn capture(board: &Mailbox, acts: &[Act], dice: &mut Dice) -> Option<Act> {
    any_of(steps(acts).filter(|&(_, to)| !board.is_empty(to)), dice)
}

/// A step out of danger, back to where the piece came from if it can be.
fn flee(referee: &Referee, acts: &[Act], dice: &mut Dice) -> Option<Act> {
    let board = referee.board();
    let in_danger = |board: &Mailbox, at| board.squares().any(|enemy| board.can_capture(enemy, at));
    let mut flights = quiet_steps(board, acts);
    flights.retain(|&(from, to)| in_danger(board, from) && !in_danger(&board.after(Act::Step(from, to), None), to));
    let home = flights.iter().copied().filter(|&(from, to)| referee.own_last() == Some(Act::Step(to, from)));
    if dice.one_in(3) { None } else { any_of(home, dice) }.or_else(|| any_of(flights.iter().copied(), dice))
}

fn attack(board: &Mailbox, acts: &[Act], dice: &mut Dice) -> Option<Act> {
    let attacks = quiet_steps(board, acts).into_iter().filter(|&(from, to)| {
        let next = board.after(Act::Step(from, to), None);
        next.squares().any(|prey| next.can_capture(to, prey))
    });
    any_of(attacks, dice)
}
