//! Retrograde analysis of one class: from the ends of the game backwards, one ply of distance after the other, a block
//! of a thousand placements at a time.
//!
//! Every capture leads into a smaller class that is solved already; every other move is a step that can be taken back.
//! For each side to move there are four sets of placements:
//!
//! - `open`: not known to be won by the side to move,
//! - `lost`: known to be lost,
//! - `takes`: a capture wins at this distance or a shorter one,
//! - `yields`: no capture saves, and the longest capture that loses does so at this distance or a shorter one.
//!
//! Level by level, what was decided at the level below decides more:
//!
//! 1. What is open and takes, or can step to a lost placement of the other side, is won.
//! 2. What yields and cannot step to an open placement of the other side is lost. (A lost one is open too.)
//!
//! Only blocks next to a change are looked at. What no level has reached is drawn. With a limit on quiet plies the
//! levels end there: see [`Flavour`].

use anqi_rules::{ByColor, Color, SquareSet};
use arrayvec::ArrayVec;

use crate::block::{Neighbour, Steps, any, before, count, free};
use crate::captures::{Captures, Fixed, Promises};
use crate::index::{Block, MOST_PIECES};
use crate::outlook::{Outlook, Prospects};
use crate::table::Values;
use crate::{Class, Distance, Flavour, Index, Measure, Table, TableTally, Value};

/// Solves `class`; `smaller` gives the tables of the classes that a capture leads to, of the same flavour. `None` if it
/// has more than [`MOST_PIECES`] pieces or a smaller table is missing.
pub(crate) fn solve<'a>(
    class: &'a Class,
    flavour: Flavour,
    smaller: impl Fn(&Class) -> Option<&'a Table>,
) -> Option<Table> {
    let index = Index::new(class)?;
    let captures = Captures::new(class, flavour.measure(), smaller)?;
    let mut analysis = RetrogradeAnalysis::new(class, &index);
    match flavour.measure() {
        Measure::End => analysis.look_at_captures(&captures),
        Measure::Outcome | Measure::Conversion => analysis.look_ahead(&Outlook::new(class, &index, &captures)),
    }
    let (values, tally) = analysis.run(flavour);
    Some(Table::new(class.clone(), index, flavour, values, tally))
}

/// What is known about the placements with one side to move, by block.
struct SideState {
    open: Vec<Block>,
    lost: Vec<Block>,
    takes: Vec<Block>,
    yields: Vec<Block>,
    /// Blocks with a chance of new wins, and of new losses.
    may_win: Vec<bool>,
    may_lose: Vec<bool>,
    /// Whether the row piece and the bit piece belong to the side to move.
    row: bool,
    bit: bool,
    /// Where steps of its other pieces lead to, all blocks in one list, and where each block's part begins.
    neighbours: Vec<Neighbour>,
    begins: Vec<u32>,
}

impl SideState {
    fn steps(&self, block: usize) -> Steps<'_> {
        let part = self.begins[block] as usize..self.begins[block + 1] as usize;
        Steps { row: self.row, bit: self.bit, neighbours: &self.neighbours[part] }
    }
}

/// Bits of one row that a capture decides, waiting for their level.
#[derive(Clone, Copy)]
struct Waiting {
    row: u32,
    bits: u32,
}

/// By level.
type WaitingByLevel = Vec<Vec<Waiting>>;

struct RetrogradeAnalysis<'a> {
    index: &'a Index,
    sides: ByColor<SideState>,
    takes: ByColor<WaitingByLevel>,
    yields: ByColor<WaitingByLevel>,
}

/// Placements decided at a level.
struct Fresh {
    color: Color,
    block: usize,
    won: bool,
    bits: Block,
}

impl<'a> RetrogradeAnalysis<'a> {
    fn new(class: &'a Class, index: &'a Index) -> RetrogradeAnalysis<'a> {
        let side = |color| {
            let blocks = index.blocks();
            let owns = |group: usize| class.groups()[group].color == color;
            let (mut neighbours, mut begins) = (Vec::new(), vec![0]);
            let mut open = Vec::with_capacity(blocks);
            for block in 0..blocks {
                let sets = index.sets(block);
                let used: u32 = sets.iter().sum();
                open.push(free(used));
                for slot in index.slots().iter().filter(|slot| owns(slot.group)) {
                    for from in SquareSet(sets[slot.group]) {
                        for to in SquareSet(anqi_rules::neighbours(from).0 & !used) {
                            let mut sets = sets;
                            sets[slot.group] ^= from.set().0 | to.set().0;
                            let (block, fold) = index.block(&sets);
                            neighbours.push(Neighbour::new(block, fold));
                        }
                    }
                }
                begins.push(neighbours.len() as u32);
            }
            SideState {
                open,
                lost: vec![[0; 32]; blocks],
                takes: vec![[0; 32]; blocks],
                yields: vec![[0; 32]; blocks],
                may_win: vec![false; blocks],
                may_lose: vec![true; blocks],
                row: owns(index.row()),
                bit: owns(index.bit()),
                neighbours,
                begins,
            }
        };
        let sides = ByColor(Color::ALL.map(side));
        RetrogradeAnalysis { index, sides, takes: ByColor::default(), yields: ByColor::default() }
    }

    /// Puts what captures decide where it waits for its level.
    fn look_at_captures(&mut self, captures: &Captures<'_>) {
        let (row_group, bit_group) = (self.index.row(), self.index.bit());
        for block in 0..self.index.blocks() {
            let sets = self.index.sets(block);
            let mut fixed: ArrayVec<Fixed, MOST_PIECES> = ArrayVec::new();
            for (group, &set) in sets.iter().enumerate() {
                fixed.extend(SquareSet(set).iter().map(|square| Fixed { group, square: square.index() as u32 }));
            }
            let used: u32 = sets.iter().sum();
            for (row, &squares) in free(used).iter().enumerate().filter(|(_, squares)| **squares != 0) {
                fixed.push(Fixed { group: row_group, square: row as u32 });
                for color in Color::ALL {
                    let promises = captures.promises(color, &fixed, bit_group, squares);
                    self.wait(color, (block * 32 + row) as u32, squares, &promises);
                }
                fixed.pop();
            }
        }
    }

    /// The same where only outcomes count beyond a capture: all of them have level 1.
    fn look_ahead(&mut self, outlook: &Outlook<'_>) {
        for block in 0..self.index.blocks() {
            let sets = self.index.sets(block);
            for color in Color::ALL {
                let Prospects { won, drawn, lost } = outlook.prospects(color, block, &sets);
                let side = &mut self.sides[color];
                for row in 0..32 {
                    let yields = side.open[block][row] & !won[row] & !drawn[row];
                    side.yields[block][row] = yields & !lost[row];
                    let number = (block * 32 + row) as u32;
                    wait(&mut self.takes[color], 1, number, won[row]);
                    wait(&mut self.yields[color], 1, number, yields & lost[row]);
                }
            }
        }
    }

    fn wait(&mut self, color: Color, row: u32, squares: u32, promises: &Promises) {
        for square in SquareSet(promises.won) {
            wait(&mut self.takes[color], promises.win[square.index()], row, square.set().0);
        }
        let yields = squares & !promises.won & !promises.drawn;
        self.sides[color].yields[row as usize / 32][row as usize % 32] = yields & !promises.lost;
        for square in SquareSet(yields & promises.lost) {
            wait(&mut self.yields[color], promises.loss[square.index()], row, square.set().0);
        }
    }

    /// The values, and the results over all placements, each as often as it is in the table.
    fn run(mut self, flavour: Flavour) -> (Values, ByColor<TableTally>) {
        let mut values = Values::new(self.index.places());
        let mut tally: ByColor<TableTally> = ByColor::default();
        for block in 0..self.index.blocks() {
            let all = count(&self.sides[Color::Red].open[block]) * self.index.weight(block);
            tally.0.iter_mut().for_each(|tally| tally.draw += all);
        }
        let last = flavour.draw().map_or(u16::MAX / 2 - 1, |plies| plies);
        let outcomes = flavour.measure() == Measure::Outcome;
        let mut fresh = Vec::new();
        for level in 0..=last {
            self.release(level);
            for color in Color::ALL {
                self.look(color, &mut fresh);
            }
            let waiting =
                |levels: &ByColor<WaitingByLevel>| levels.0.iter().any(|levels| levels.len() > usize::from(level) + 1);
            if fresh.is_empty() && !waiting(&self.takes) && !waiting(&self.yields) {
                break;
            }
            let distance = Distance(if outcomes { 0 } else { level });
            for fresh in fresh.drain(..) {
                let value = if fresh.won { Value::win(distance) } else { Value::loss(distance) };
                if !outcomes {
                    values.set(fresh.color as usize * self.index.blocks() + fresh.block, &fresh.bits, value);
                }
                tally[fresh.color].decide(value, count(&fresh.bits) * self.index.weight(fresh.block));
                self.commit(&fresh);
            }
        }
        if outcomes {
            self.enter_outcomes(&mut values);
        }
        (values, tally)
    }

    /// Enters all outcomes at once: nobody asks when they were found.
    fn enter_outcomes(&self, values: &mut Values) {
        for color in Color::ALL {
            let side = &self.sides[color];
            for block in 0..self.index.blocks() {
                let place = color as usize * self.index.blocks() + block;
                let all = free(self.index.sets(block).iter().sum());
                let won = std::array::from_fn(|row| all[row] & !side.open[block][row]);
                values.set_outcomes(place, &won, &side.lost[block]);
            }
        }
    }

    /// Captures whose level has come.
    fn release(&mut self, level: u16) {
        for color in Color::ALL {
            let side = &mut self.sides[color];
            let take = |levels: &mut WaitingByLevel| {
                levels.get_mut(usize::from(level)).map(std::mem::take).unwrap_or_default()
            };
            for Waiting { row, bits } in take(&mut self.takes[color]) {
                let (block, row) = (row as usize / 32, row as usize % 32);
                side.takes[block][row] |= bits;
                side.may_win[block] = true;
            }
            for Waiting { row, bits } in take(&mut self.yields[color]) {
                let (block, row) = (row as usize / 32, row as usize % 32);
                side.yields[block][row] |= bits;
                side.may_lose[block] = true;
            }
        }
    }

    /// What is decided now with `color` to move.
    fn look(&mut self, color: Color, fresh: &mut Vec<Fresh>) {
        let (mut may_win, mut may_lose) = {
            let side = &mut self.sides[color];
            (std::mem::take(&mut side.may_win), std::mem::take(&mut side.may_lose))
        };
        let (side, other) = (&self.sides[color], &self.sides[color.other()]);
        for block in 0..self.index.blocks() {
            if std::mem::take(&mut may_win[block]) {
                let mut bits = before(block, &side.steps(block), &other.lost);
                for ((bits, takes), open) in bits.iter_mut().zip(&side.takes[block]).zip(&side.open[block]) {
                    *bits = (*bits | takes) & open;
                }
                if any(&bits) {
                    fresh.push(Fresh { color, block, won: true, bits });
                }
            }
            if std::mem::take(&mut may_lose[block]) {
                let mut bits = before(block, &side.steps(block), &other.open);
                for ((bits, yields), lost) in bits.iter_mut().zip(&side.yields[block]).zip(&side.lost[block]) {
                    *bits = !*bits & yields & !lost;
                }
                if any(&bits) {
                    fresh.push(Fresh { color, block, won: false, bits });
                }
            }
        }
        let side = &mut self.sides[color];
        (side.may_win, side.may_lose) = (may_win, may_lose);
    }

    /// Enters a decision, and notes which blocks it may decide in turn: those from which the other side steps here.
    fn commit(&mut self, &Fresh { color, block, won, ref bits }: &Fresh) {
        let side = &mut self.sides[color];
        if won {
            side.open[block].iter_mut().zip(bits).for_each(|(open, bits)| *open &= !bits);
        } else {
            side.lost[block].iter_mut().zip(bits).for_each(|(lost, bits)| *lost |= bits);
        }
        let other = &mut self.sides[color.other()];
        let part = other.begins[block] as usize..other.begins[block + 1] as usize;
        let flags = if won { &mut other.may_lose } else { &mut other.may_win };
        flags[block] |= other.row || other.bit;
        other.neighbours[part].iter().for_each(|neighbour| flags[neighbour.block()] = true);
    }
}

fn wait(levels: &mut WaitingByLevel, level: u16, row: u32, bits: u32) {
    if bits == 0 {
        return;
    }
    let level = usize::from(level);
    if levels.len() <= level {
        levels.resize_with(level + 1, Vec::new);
    }
    match levels[level].last_mut() {
        Some(last) if last.row == row => last.bits |= bits,
        _ => levels[level].push(Waiting { row, bits }),
    }
}
