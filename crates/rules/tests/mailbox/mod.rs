//! The rules once more, as plainly as possible: a second opinion.
//!
//! One square and one piece at a time, written from the words of the rules. No table, set or type is shared with the
//! crate but the plain fields of [`Rules`]; positions come in and go out as text.

use std::fmt;

use anqi_rules::{Repeat, Rules};

/// File and rank, from 0.
pub(crate) type At = (usize, usize);

/// What a player decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    Flip(At),
    Step(At, At),
}

/// A position: letters in an array, upper case red, `x` face down.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Mailbox {
    hong_kong: bool,
    files: usize,
    ranks: usize,
    squares: [[Option<char>; 8]; 4],
    pool: Vec<char>,
    red_moves: Option<bool>,
    quiet: u16,
}

fn is_red(piece: char) -> bool {
    piece.is_ascii_uppercase()
}

fn are_neighbours((file, rank): At, (other_file, other_rank): At) -> bool {
    file.abs_diff(other_file) + rank.abs_diff(other_rank) == 1
}

impl Mailbox {
    /// Reads `BOARD SIDE POOL [QUIET]`; the text is trusted to be well written.
    pub(crate) fn read(text: &str, hong_kong: bool) -> Mailbox {
        let fields: Vec<&str> = text.split(' ').collect();
        let rows: Vec<&str> = fields[0].split('/').collect();
        let (mut squares, mut files) = ([[None; 8]; 4], 0);
        for (row, rank) in rows.iter().rev().zip(0..) {
            files = 0;
            for letter in row.chars() {
                match letter {
                    '.' => files += 1,
                    '1'..='4' => files += letter as usize - '0' as usize,
                    _ => {
                        squares[files][rank] = Some(letter);
                        files += 1;
                    }
                }
            }
        }
        Mailbox {
            hong_kong,
            files,
            ranks: rows.len(),
            squares,
            pool: fields[2].chars().filter(|&letter| letter != '-').collect(),
            red_moves: if fields[1] == "-" { None } else { Some(fields[1] == "r") },
            quiet: fields.get(3).map_or(0, |quiet| quiet.parse().unwrap()),
        }
    }

    pub(crate) fn red_moves(&self) -> Option<bool> {
        self.red_moves
    }

    pub(crate) fn pool(&self) -> &[char] {
        &self.pool
    }

    pub(crate) fn squares(&self) -> impl Iterator<Item = At> + use<> {
        let ranks = self.ranks;
        (0..self.files).flat_map(move |file| (0..ranks).map(move |rank| (file, rank)))
    }

    pub(crate) fn neighbours(&self, at: At) -> impl Iterator<Item = At> + use<> {
        self.squares().filter(move |&other| are_neighbours(at, other))
    }

    pub(crate) fn is_empty(&self, (file, rank): At) -> bool {
        self.squares[file][rank].is_none()
    }

    pub(crate) fn revealed(&self, (file, rank): At) -> Option<char> {
        self.squares[file][rank].filter(|&letter| letter != 'x')
    }

    /// All that the side to move may do on this board.
    pub(crate) fn acts(&self) -> Vec<Act> {
        let mut acts = Vec::new();
        for from in self.squares() {
            if self.squares[from.0][from.1] == Some('x') {
                acts.push(Act::Flip(from));
            } else if self.revealed(from).is_some_and(|piece| Some(is_red(piece)) == self.red_moves) {
                acts.extend(self.squares().filter(|&to| self.can_go(from, to)).map(|to| Act::Step(from, to)));
            }
        }
        acts
    }

    /// Every capture that one side could make if it were its turn.
    pub(crate) fn captures(&self, red: bool) -> Vec<(At, At)> {
        let own = self.squares().filter(|&from| self.revealed(from).is_some_and(|piece| is_red(piece) == red));
        own.flat_map(|from| self.squares().map(move |to| (from, to))).filter(|&(a, b)| self.can_capture(a, b)).collect()
    }

    fn can_go(&self, from: At, to: At) -> bool {
        if self.is_empty(to) { are_neighbours(from, to) } else { self.can_capture(from, to) }
    }

    /// Face-down pieces cannot be captured, nor can one's own.
    pub(crate) fn can_capture(&self, from: At, to: At) -> bool {
        let (Some(attacker), Some(victim)) = (self.revealed(from), self.revealed(to)) else { return false };
        if is_red(attacker) == is_red(victim) {
            false
        } else if attacker.eq_ignore_ascii_case(&'c') && !self.hong_kong {
            self.pieces_between(from, to) == Some(1)
        } else {
            are_neighbours(from, to) && self.outranks(attacker, victim)
        }
    }

    /// How many pieces of either colour, also face-down ones, lie between two squares of one line.
    fn pieces_between(&self, a: At, b: At) -> Option<usize> {
        let between = |x: usize, y: usize| x.min(y) + 1..x.max(y);
        if a == b {
            None
        } else if a.0 == b.0 {
            Some(between(a.1, b.1).filter(|&rank| !self.is_empty((a.0, rank))).count())
        } else if a.1 == b.1 {
            Some(between(a.0, b.0).filter(|&file| !self.is_empty((file, a.1))).count())
        } else {
            None
        }
    }

    fn outranks(&self, attacker: char, victim: char) -> bool {
        let ladder = if self.hong_kong { "krncgmp" } else { "kgmrncp" };
        match (attacker.to_ascii_lowercase(), victim.to_ascii_lowercase()) {
            ('k', 'p') => false,
            ('p', 'k') => true,
            (attacker, victim) => ladder.find(attacker) <= ladder.find(victim),
        }
    }

    /// After an act of the side to move; a flip shows `shown`.
    pub(crate) fn after(&self, act: Act, shown: Option<char>) -> Mailbox {
        let mut next = self.clone();
        next.quiet = self.quiet + 1;
        match (act, shown) {
            (Act::Step(from, to), _) => {
                next.squares[from.0][from.1] = None;
                if next.squares[to.0][to.1].is_some() {
                    next.quiet = 0;
                }
                next.squares[to.0][to.1] = self.squares[from.0][from.1];
            }
            (Act::Flip(at), Some(piece)) => {
                next.squares[at.0][at.1] = Some(piece);
                next.pool.remove(self.pool.iter().position(|&letter| letter == piece).unwrap());
                next.quiet = 0;
                // The first to flip takes the colour that comes up.
                next.red_moves = self.red_moves.or(Some(is_red(piece)));
            }
            (Act::Flip(_), None) => panic!("a flip shows a piece"),
        }
        next.red_moves = next.red_moves.map(|red| !red);
        next
    }

    fn has_nothing(&self, red: bool) -> bool {
        let on_board = self.squares().filter_map(|at| self.revealed(at));
        !on_board.chain(self.pool.iter().copied()).any(|piece| is_red(piece) == red)
    }

    fn looks_like(&self, other: &Mailbox) -> bool {
        (&self.squares, &self.pool, self.red_moves) == (&other.squares, &other.pool, other.red_moves)
    }
}

impl fmt::Display for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |rank: usize| -> String {
            let letters: String = (0..self.files).map(|file| self.squares[file][rank].unwrap_or('.')).collect();
            [("....", "4"), ("...", "3"), ("..", "2"), (".", "1")]
                .into_iter()
                .fold(letters, |letters, (dots, digit)| letters.replace(dots, digit))
        };
        let rows: Vec<String> = (0..self.ranks).rev().map(row).collect();
        let side = self.red_moves.map_or("-", |red| if red { "r" } else { "b" });
        let pool = if self.pool.is_empty() { "-".to_owned() } else { self.pool.iter().collect() };
        write!(f, "{} {side} {pool}", rows.join("/"))?;
        if self.quiet > 0 { write!(f, " {}", self.quiet) } else { Ok(()) }
    }
}

/// One piece fleeing from one chaser, with nothing else played in between.
#[derive(Clone)]
struct Chase {
    chaser: At,
    prey: At,
    /// Where the prey has stood.
    used: Vec<At>,
    /// Whether it stands there for the second time.
    returned: bool,
}

/// A game: everything that was played, and the chases going on.
pub(crate) struct Referee {
    rules: Rules,
    boards: Vec<Mailbox>,
    acts: Vec<Act>,
    /// By the chasing player, first and second.
    chases: [Vec<Chase>; 2],
}

impl Referee {
    pub(crate) fn new(rules: Rules, start: Mailbox) -> Referee {
        Referee { rules, boards: vec![start], acts: Vec::new(), chases: [const { Vec::new() }; 2] }
    }

    pub(crate) fn board(&self) -> &Mailbox {
        &self.boards[self.boards.len() - 1]
    }

    /// 0 if the first player is to move, 1 if the second.
    pub(crate) fn mover(&self) -> usize {
        self.acts.len() % 2
    }

    /// The last ply but one: the mover's own last.
    pub(crate) fn own_last(&self) -> Option<Act> {
        self.acts.len().checked_sub(2).map(|last| self.acts[last])
    }

    /// What the side to move may do if the game goes on.
    pub(crate) fn allowed(&self) -> Vec<Act> {
        let mut acts = self.board().acts();
        acts.retain(|&act| !self.is_long_chase(act));
        acts
    }

    /// Once the fleeing piece has returned, the chaser may not attack it again on the next move.
    fn is_long_chase(&self, act: Act) -> bool {
        let Act::Step(from, to) = act else { return false };
        self.rules.chase()
            && self.chases[self.mover()].iter().any(|chase| {
                chase.returned && chase.chaser == from && self.board().after(act, None).can_capture(to, chase.prey)
            })
    }

    pub(crate) fn play(&mut self, act: Act, shown: Option<char>) {
        let next = self.board().after(act, shown);
        match act {
            Act::Step(from, to) if self.board().is_empty(to) => self.follow_chases(&next, from, to),
            _ => self.chases = [const { Vec::new() }; 2], // a flip or a capture breaks every chase
        }
        self.boards.push(next);
        self.acts.push(act);
    }

    fn follow_chases(&mut self, next: &Mailbox, from: At, to: At) {
        let mover = self.mover();
        // Seen as a flight: chases of any other piece are broken.
        let fled_from = &mut self.chases[1 - mover];
        fled_from.retain(|chase| chase.prey == from);
        for chase in fled_from {
            chase.returned = chase.used.contains(&to);
            chase.used.push(to);
            chase.prey = to;
        }
        // Seen as an attack: it goes on with a chase, or begins one for each piece attacked.
        let earlier = std::mem::take(&mut self.chases[mover]);
        let attack = |prey: At| match earlier.iter().find(|chase| (chase.chaser, chase.prey) == (from, prey)) {
            Some(chase) => Chase { chaser: to, ..chase.clone() },
            None => Chase { chaser: to, prey, used: vec![prey], returned: false },
        };
        self.chases[mover] = next.squares().filter(|&at| next.can_capture(to, at)).map(attack).collect();
    }

    /// How the game ended, in the words of the crate. Losses come before draws.
    pub(crate) fn verdict(&self) -> Option<String> {
        let board = self.board();
        let seats = ["first", "second"];
        let (mover, waiting) = (seats[self.mover()], seats[1 - self.mover()]);
        if board.red_moves.is_some_and(|red| board.has_nothing(red)) {
            Some(format!("{waiting} wins (elimination)"))
        } else if board.red_moves.is_some_and(|red| board.has_nothing(!red)) {
            Some(format!("{mover} wins (elimination)"))
        } else if self.allowed().is_empty() {
            Some(format!("{waiting} wins (no action)"))
        } else if self.rules.draw().is_some_and(|limit| board.quiet >= limit) {
            Some("draw (quiet plies)".to_owned())
        } else {
            let (times, period) = match self.rules.repeat() {
                Repeat::Off => None,
                Repeat::Cycle(times) => self.cycle(times.into()).map(|period| (times, period)),
                Repeat::Position(times) => self.recurrence(times.into()).map(|period| (times, period)),
            }?;
            Some(format!("draw (repetition {times}x{period})"))
        }
    }

    /// The period, if the last plies are the same plies so many times in a row since the last flip or capture.
    fn cycle(&self, times: usize) -> Option<usize> {
        let quiet = usize::from(self.board().quiet).min(self.acts.len());
        (1..=quiet / times).find(|&period| {
            let tail = &self.acts[self.acts.len() - times * period..];
            tail.chunks(period).all(|plies| plies == &tail[..period])
        })
    }

    /// How long ago the position last looked the same, if it does so for the last of so many times.
    fn recurrence(&self, times: usize) -> Option<usize> {
        let now = self.boards.len() - 1;
        let same: Vec<usize> = (0..=now).filter(|&then| self.boards[then].looks_like(&self.boards[now])).collect();
        if same.len() >= times { Some(now - same[same.len() - 2]) } else { None }
    }
}
