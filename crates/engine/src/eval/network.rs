//! The learned evaluation: a small network over what both players see, in whole numbers, so that every machine agrees.
//!
//! Each side sees the board in its own way: its pieces and the enemy's by square, the face-down squares, what is
//! in the pool, and how soon quiet play is a draw. The two views go through the same first layer; the side to move comes first. Two small layers, of which
//! there are several for different numbers of pieces, then give how likely a win, a draw and a loss are. See `training/` for how the weights are made.

use std::f32::consts::{LN_2, LOG2_E};
use std::sync::{Arc, LazyLock};

use anqi_rules::{BoardSize, Color, Ladder, Piece, Position, Square, SquareSet};
use arrayvec::ArrayVec;
use multiversion::multiversion;

use super::layer::{Layer, Path, Perspective};
use super::network_file::{self, NetworkError};

/// Own pieces by rung, the enemy's, and face down.
const CODES: usize = 15;
const FACE_DOWN: usize = 14;
/// Of each piece so many are told apart in the pool.
const MOST_OF_A_KIND: usize = 5;
/// Quiet plies that are left until the game is drawn: an input for each number that they are below.
const LEFT: [u16; 6] = [48, 32, 24, 16, 8, 4];
/// Where the inputs of the pool begin, and those of the plies left.
const POOL: usize = CODES * Square::COUNT;
const PLIES: usize = POOL + Piece::COUNT * MOST_OF_A_KIND;
/// What a view is made of.
const INPUTS: usize = PLIES + LEFT.len();
/// The first layer, for each view.
pub(super) const VIEW: usize = 256;
/// The second layer.
pub(super) const INNER: usize = 16;
/// How many there are of the layers behind the views: each for four numbers of pieces on the board.
const HEADS: usize = 8;

/// One in the first layer's numbers, and in those of the others.
pub(super) const VIEW_ONE: i16 = 255;
const WEIGHT_ONE: i32 = 64;

/// Inputs, view, inner layer, outcomes, heads, as the header of a file has them.
const SIZES: [u32; 5] = [INPUTS as u32, VIEW as u32, INNER as u32, 3, HEADS as u32];
/// How many bytes the weights have.
const BYTES: usize = 2 * VIEW * (INPUTS + 1) + HEADS * (2 * VIEW * INNER + 4 * INNER + 3 * INNER + 4 * 3);

/// Both sides' views.
type Perspectives = [Perspective; 2];

/// The weights.
#[derive(Debug)]
pub(crate) struct Network {
    inputs: Box<[Perspective; INPUTS]>,
    bias: Perspective,
    heads: Box<[Head; HEADS]>,
    path: Path,
    facts: NetworkFacts,
}

/// What is known of a network's file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NetworkFacts {
    /// BLAKE3 of the weights.
    pub hash: [u8; 32],
    /// Where the weights come from, by the header.
    pub provenance: String,
    /// Whether a header vouches for the weights; files of old have none.
    pub checked: bool,
}

/// The layers behind the views.
#[derive(Debug)]
struct Head {
    inner: Layer,
    outcome: [[i8; INNER]; 3],
    outcome_bias: [i32; 3],
}

/// What the network is shown, for the side to move, a byte each: what is on every square by [`Square::index`] (0 nothing, 1 to 7
/// own pieces by rung, 8 to 14 the enemy's, 15 face down), then how many of each piece are face down, own ones by rung first.
#[must_use]
pub fn view(position: &Position) -> [u8; Square::COUNT + Piece::COUNT] {
    let turn = position.turn().unwrap_or(Color::Red);
    let mut view = [0; Square::COUNT + Piece::COUNT];
    let code = |color, rung| if color == turn { rung } else { rung + 7 };
    for square in position.hidden() {
        view[square.index()] = 15;
    }
    for color in Color::ALL {
        for square in position.pieces(color) {
            view[square.index()] = code(color, position.rung_at(square));
        }
    }
    for (piece, count) in position.reveals() {
        let code = code(piece.color, position.ladder().rung(piece.kind));
        view[Square::COUNT - 1 + usize::from(code)] = count;
    }
    view
}

/// What the network says: numbers whose exponentials are as the chances of a win, a draw and a loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Outlook(pub(crate) [f32; 3]);

impl Outlook {
    /// As the chances of a win, a draw and a loss are to each other.
    #[inline]
    pub(crate) fn odds(self) -> [f32; 3] {
        let [win, draw, loss] = self.0;
        [exp(win - draw), 1.0, exp(loss - draw)]
    }
}

/// The exponential, between 2^-120 and 2^120, without a branch or a division. Not the platform's: every machine agrees.
#[inline]
fn exp(x: f32) -> f32 {
    /// Beside this only whole numbers fit.
    const WHOLE: f32 = (3 << 22) as f32;
    let powers_of_two = (x * LOG2_E).clamp(-120.0, 120.0);
    let rounded = powers_of_two + WHOLE;
    let x = (powers_of_two - (rounded - WHOLE)) * LN_2;
    let square = x * x;
    let high = 1.0 / 24.0 + x * (1.0 / 120.0) + square * (1.0 / 720.0);
    let series = 1.0 + x + square * (1.0 / 2.0 + x * (1.0 / 6.0) + square * high);
    series * f32::from_bits(rounded.to_bits().wrapping_add(127) << 23)
}

/// A view of the last position that was looked at: the next one differs in a few squares.
pub(crate) struct Accumulator {
    seen: Position,
    /// See [`Network::urgency`].
    urgency: usize,
    views: Perspectives,
}

impl Network {
    /// The champion's own network: `training/README.md` says how it was made.
    pub(crate) fn own() -> Option<Arc<Network>> {
        static OWN: LazyLock<Option<Arc<Network>>> =
            LazyLock::new(|| Network::read(include_bytes!("../champion/champion.net")).ok().map(Arc::new));
        OWN.clone()
    }

    /// Reads a network from the bytes of its file.
    ///
    /// # Errors
    /// If they are something else, or damaged.
    pub(crate) fn read(bytes: &[u8]) -> Result<Network, NetworkError> {
        let contents = network_file::open(bytes, SIZES, BYTES)?;
        let network = Network::of_weights(contents.weights).ok_or(NetworkError::Damaged("the body of weights"))?;
        let facts =
            NetworkFacts { hash: contents.hash, provenance: contents.provenance.to_owned(), checked: contents.checked };
        Ok(Network { facts, ..network })
    }

    /// What is known of its file.
    pub(crate) const fn facts(&self) -> &NetworkFacts {
        &self.facts
    }

    /// Reads weights in the order of the fields, 16-bit numbers but for 8 bits in the layers behind the views and 32 for their
    /// biases, the low byte first; `None` if there are more or fewer.
    fn of_weights(bytes: &[u8]) -> Option<Network> {
        let mut reader = ByteReader(bytes);
        let mut inputs = vec![[0; VIEW]; INPUTS];
        inputs.iter_mut().try_for_each(|row| reader.fill16(row))?;
        let mut bias = [0; VIEW];
        reader.fill16(&mut bias)?;
        let heads: Vec<Head> = (0..HEADS).map(|_| Head::read(&mut reader)).collect::<Option<_>>()?;
        let (inputs, heads) = (inputs.into_boxed_slice().try_into().ok()?, heads.into_boxed_slice().try_into().ok()?);
        let facts = NetworkFacts::default();
        reader.0.is_empty().then_some(Network { inputs, bias, heads, path: Path::best(), facts })
    }

    /// Whether the network knows this kind of game.
    pub(crate) fn knows(position: &Position) -> bool {
        let usual_pool = Piece::all().all(|piece| usize::from(position.pool().count(piece)) <= MOST_OF_A_KIND);
        position.board() == BoardSize::FourByEight
            && position.ladder() == Ladder::Taiwan
            && position.turn().is_some()
            && usual_pool
    }

    /// The accumulator of a position, with many quiet plies left.
    pub(crate) fn accumulator(&self, position: &Position) -> Accumulator {
        let mut inputs = Changes::default();
        position.occupied().iter().for_each(|square| inputs.add(on_square(position, square)));
        for (piece, count) in position.reveals() {
            (0..count).for_each(|n| inputs.add(in_pool(position, piece, n)));
        }
        let mut views = [self.bias; 2];
        self.change(&mut views, &inputs, &Changes::default());
        Accumulator { seen: *position, urgency: 0, views }
    }

    /// How soon a draw comes, as far as the network tells it apart: how many of [`LEFT`] are above the quiet plies that are left.
    #[inline]
    pub(crate) fn urgency(left: u16) -> usize {
        LEFT.iter().filter(|&&most| left < most).count()
    }

    /// Looks at another position.
    pub(crate) fn look(&self, accumulator: &mut Accumulator, position: &Position, urgency: usize) -> Outlook {
        self.turn_to(accumulator, position, urgency);
        let turn = position.turn().unwrap_or(Color::Red) as usize;
        let head = &self.heads[head_for(position)];
        head.outlook(head.inner.outputs(self.path, &accumulator.views[turn], &accumulator.views[1 - turn]))
    }

    fn turn_to(&self, accumulator: &mut Accumulator, position: &Position, urgency: usize) {
        let mut changed = changes(&accumulator.seen, position);
        if changed.len() > 12 {
            *accumulator = self.accumulator(position);
            changed = SquareSet::EMPTY;
        }
        let seen = &accumulator.seen;
        let (mut gone, mut come) = (Changes::default(), Changes::default());
        (changed & seen.occupied()).iter().for_each(|square| gone.add(on_square(seen, square)));
        (changed & position.occupied()).iter().for_each(|square| come.add(on_square(position, square)));
        if seen.pool() != position.pool() {
            for piece in Piece::all() {
                let (before, after) = (seen.pool().count(piece), position.pool().count(piece));
                (after..before).for_each(|n| gone.add(in_pool(position, piece, n)));
                (before..after).for_each(|n| come.add(in_pool(position, piece, n)));
            }
        }
        (urgency..accumulator.urgency).for_each(|n| gone.add([PLIES + n; 2]));
        (accumulator.urgency..urgency).for_each(|n| come.add([PLIES + n; 2]));
        self.change(&mut accumulator.views, &come, &gone);
        (accumulator.seen, accumulator.urgency) = (*position, urgency);
    }

    fn change(&self, views: &mut Perspectives, come: &Changes, gone: &Changes) {
        for (side, view) in views.iter_mut().enumerate() {
            change(view, &self.inputs, &come.0[side], &gone.0[side]);
        }
    }
}

impl Head {
    fn read(reader: &mut ByteReader<'_>) -> Option<Head> {
        let (mut rows, mut bias) = (Box::new([[0; 2 * VIEW]; INNER]), [0; INNER]);
        rows.iter_mut().try_for_each(|row| reader.fill8(row))?;
        reader.fill32(&mut bias)?;
        let mut head = Head { inner: Layer::new(rows, bias), outcome: [[0; INNER]; 3], outcome_bias: [0; 3] };
        head.outcome.iter_mut().try_for_each(|row| reader.fill8(row))?;
        reader.fill32(&mut head.outcome_bias)?;
        Some(head)
    }

    #[inline]
    fn outlook(&self, inner: [i32; INNER]) -> Outlook {
        /// What a whole number of the last layer is worth.
        const UNIT: f32 = 1.0 / (WEIGHT_ONE * VIEW_ONE as i32) as f32;
        let inner = inner.map(|sum| (sum.max(0) / WEIGHT_ONE).min(VIEW_ONE.into()));
        let outcome = |i: usize| {
            let sum: i32 = self.outcome[i].iter().zip(&inner).map(|(weight, input)| i32::from(*weight) * input).sum();
            self.outcome_bias[i].saturating_add(sum) as f32 * UNIT
        };
        Outlook([outcome(0), outcome(1), outcome(2)])
    }
}

/// Which head judges a position.
fn head_for(position: &Position) -> usize {
    (position.occupied().len().saturating_sub(1) / 4) as usize
}

/// Inputs of both sides' views that come or go.
#[derive(Default)]
struct Changes([ArrayVec<u16, { 2 * Square::COUNT + LEFT.len() }>; 2]);

impl Changes {
    fn add(&mut self, inputs: [usize; 2]) {
        for (list, input) in self.0.iter_mut().zip(inputs) {
            list.push(input as u16);
        }
    }
}

/// What stands on a square, as Red and as Black sees it.
#[inline]
fn on_square(position: &Position, square: Square) -> [usize; 2] {
    let rung = usize::from(position.rung_at(square));
    let [red, black] = if rung == 0 {
        [FACE_DOWN; 2]
    } else if position.pieces(Color::Red).contains(square) {
        [rung - 1, rung + 6]
    } else {
        [rung + 6, rung - 1]
    };
    [red * Square::COUNT + square.index(), black * Square::COUNT + square.index()]
}

/// The `n`-th of a piece in the pool, as Red and as Black sees it.
fn in_pool(position: &Position, piece: Piece, n: u8) -> [usize; 2] {
    let rung = usize::from(position.ladder().rung(piece.kind)) - 1;
    Color::ALL.map(|color| {
        let code = if piece.color == color { rung } else { rung + 7 };
        POOL + code * MOST_OF_A_KIND + usize::from(n)
    })
}

/// Squares on which two positions differ.
fn changes(a: &Position, b: &Position) -> SquareSet {
    let planes = a.planes().into_iter().zip(b.planes()).fold(0, |all, (a, b)| all | a ^ b);
    let reds = a.pieces(Color::Red).0 ^ b.pieces(Color::Red).0;
    let blacks = a.pieces(Color::Black).0 ^ b.pieces(Color::Black).0;
    SquareSet(planes | reds | blacks | a.hidden().0 ^ b.hidden().0)
}

/// Adds rows of weights to a view, and takes others away. Plain loops: closures would not be compiled for
/// the instructions chosen.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn change(view: &mut Perspective, inputs: &[Perspective; INPUTS], come: &[u16], gone: &[u16]) {
    let mut sums = *view;
    for &input in come {
        let row = &inputs[input as usize];
        for j in 0..VIEW {
            sums[j] = sums[j].wrapping_add(row[j]); // a file may hold any numbers
        }
    }
    for &input in gone {
        let row = &inputs[input as usize];
        for j in 0..VIEW {
            sums[j] = sums[j].wrapping_sub(row[j]);
        }
    }
    *view = sums;
}

/// Takes numbers off the front.
struct ByteReader<'a>(&'a [u8]);

impl ByteReader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*number)
    }

    fn fill8(&mut self, row: &mut [i8]) -> Option<()> {
        row.iter_mut().try_for_each(|place| self.take().map(|number| *place = i8::from_le_bytes(number)))
    }

    fn fill16(&mut self, row: &mut [i16]) -> Option<()> {
        row.iter_mut().try_for_each(|place| self.take().map(|number| *place = i16::from_le_bytes(number)))
    }

    fn fill32(&mut self, row: &mut [i32]) -> Option<()> {
        row.iter_mut().try_for_each(|place| self.take().map(|number| *place = i32::from_le_bytes(number)))
    }
}

#[cfg(test)]
mod tests {
    use anqi_rules::{Deal, Game, Move, Rules, Seed};
    use rand_core::Rng;

    use super::*;

    #[test]
    fn the_training_script_has_the_same_shape() {
        let shape = include_str!("../../../../training/shape.py");
        let left = LEFT.map(|left| left.to_string()).join(", ");
        for line in [
            format!(
                "SQUARES, CODES, PIECES, MOST_OF_A_KIND = {}, {CODES}, {}, {MOST_OF_A_KIND}",
                Square::COUNT,
                Piece::COUNT
            ),
            format!("LEFT = [{left}]"),
            format!("VIEW, INNER, HEADS = {VIEW}, {INNER}, {HEADS}"),
            format!("VIEW_ONE, WEIGHT_ONE = {VIEW_ONE}, {WEIGHT_ONE}"),
        ] {
            assert!(shape.lines().any(|there| there == line), "training/shape.py lacks {line:?}");
        }
    }

    fn random_network(seed: u64) -> Network {
        let mut rng = Seed::from(seed).rng();
        let mut bytes = vec![0; BYTES];
        rng.fill_bytes(&mut bytes);
        // Small numbers in the first layer, as after training.
        bytes[..2 * VIEW * (INPUTS + 1)]
            .chunks_exact_mut(2)
            .for_each(|number| number[1] = (number[0] as i8 >> 7) as u8);
        assert!(Network::read(&bytes[1..]).is_err());
        Network::read(&bytes).unwrap()
    }

    /// The network in the obvious way, from what it is shown.
    fn slow(network: &Network, position: &Position, left: u16) -> Outlook {
        let own = view(position);
        let mut foe = own;
        for (place, code) in own.iter().enumerate().take(Square::COUNT) {
            foe[place] = match code {
                1..=7 => code + 7,
                8..=14 => code - 7,
                _ => *code,
            };
        }
        foe[Square::COUNT..].rotate_left(7);
        let mut active = Vec::new();
        for view in [own, foe] {
            let mut sums = network.bias.map(i32::from);
            let mut add = |input: usize| {
                sums.iter_mut().zip(&network.inputs[input]).for_each(|(sum, weight)| *sum += i32::from(*weight));
            };
            for (square, code) in view.iter().enumerate().take(Square::COUNT).filter(|(_, code)| **code > 0) {
                add((usize::from(*code) - 1) * Square::COUNT + square);
            }
            for (piece, count) in view[Square::COUNT..].iter().enumerate() {
                (0..usize::from(*count)).for_each(|n| add(POOL + piece * MOST_OF_A_KIND + n));
            }
            (0..6).filter(|n| left < [48, 32, 24, 16, 8, 4][*n]).for_each(|n| add(PLIES + n));
            active.extend(sums.map(|sum| sum.clamp(0, 255)));
        }
        let head = &network.heads[(position.occupied().len() as usize - 1) / 4];
        let inner: Vec<i32> = (0..INNER)
            .map(|i| {
                let sum: i32 = (0..2 * VIEW).map(|j| head.inner.weight(j, i) * active[j]).sum();
                (sum.saturating_add(head.inner.bias(i)) / 64).clamp(0, 255)
            })
            .collect();
        Outlook([0, 1, 2].map(|i| {
            let sum: i32 = (0..INNER).map(|j| i32::from(head.outcome[i][j]) * inner[j]).sum();
            sum.saturating_add(head.outcome_bias[i]) as f32 * (1.0 / (64.0 * 255.0))
        }))
    }

    #[test]
    fn eyes_that_follow_a_game_see_what_fresh_eyes_see() {
        for number in 0..20 {
            let (rules, seed, network) = (Rules::server(), Seed::from(number), random_network(number));
            let (deal, mut game, mut rng) = (Deal::new(&rules, &seed), Game::new(rules), seed.child("moves").rng());
            let mut accumulator = network.accumulator(game.position());
            while game.outcome().is_none() {
                let moves = game.legal_moves();
                let mv = moves[rng.next_u32() as usize % moves.len()];
                game.play(deal.resolve(mv).unwrap()).unwrap();
                if rng.next_u32() % 4 > 0 {
                    let left = rng.next_u32() as u16 % 60;
                    assert_eq!(
                        network.look(&mut accumulator, game.position(), Network::urgency(left)),
                        slow(&network, game.position(), left)
                    );
                }
                // What else might have come up: the same squares are face down, other pieces in the pool.
                let mv = moves[rng.next_u32() as usize % moves.len()];
                if let (Move::Flip(square), None) = (mv, game.outcome()) {
                    for (piece, _) in game.position().reveals().filter(|_| game.position().hidden().contains(square)) {
                        let other = game.position().after_flip(square, piece);
                        assert_eq!(network.look(&mut accumulator, &other, 0), slow(&network, &other, 60));
                    }
                }
            }
        }
    }

    #[test]
    fn any_numbers_are_weights() {
        for byte in [0, 0x7f, 0x80, 0xff] {
            let network = Network::read(&vec![byte; BYTES]).unwrap();
            let position = "1m2/4/1g2/g3/4/4/1c2/2P1 b -".parse().unwrap();
            let later = "1m2/4/1g2/g3/4/4/1c2/3P r -".parse().unwrap();
            let mut accumulator = network.accumulator(&position);
            for position in [position, later] {
                let odds = network.look(&mut accumulator, &position, 0).odds();
                assert!(odds.iter().all(|odds| odds.is_normal() && *odds > 0.0), "{byte}: {odds:?}");
            }
        }
    }

    #[test]
    fn there_is_an_own_network() {
        let own = Network::own().unwrap();
        assert!(own.facts().checked && own.facts().provenance.starts_with("fourth round"));
    }

    #[test]
    fn the_champions_weights_are_small_enough_for_avx2() {
        let network = Network::read(include_bytes!("../champion/champion.net")).unwrap();
        assert!(network.heads.iter().all(|head| head.inner.fits()));
    }

    #[test]
    fn odds_are_exponentials() {
        for x in (-100_000..100_000).map(|n| n as f32 / 1000.0) {
            let exact = f64::from(x).exp().clamp(0.5_f64.powi(120), 2_f64.powi(120));
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 1e-6 + 1e-7 * f64::from(x.abs()), "{x}");
        }
        assert_eq!(Outlook([-3.0, -1.0, -90.0]).odds(), [exp(-2.0), 1.0, exp(-89.0)]);
    }
}
