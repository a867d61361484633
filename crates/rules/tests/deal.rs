//! Deals: every arrangement equally likely, the same for the same seed, and visible through flips alone.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;

use anqi_rules::{Commitment, Deal, Game, Move, Piece, Ply, Position, Rules, Seed, Square};
use rand_core::Rng;

/// All that lies face down, read through flips.
fn turn_up(position: &Position, deal: &Deal) -> Vec<Piece> {
    position.hidden().iter().filter_map(|at| deal.resolve(Move::Flip(at)).unwrap().revealed()).collect()
}

/// Something that arranges the army of a position.
type Dealer = fn(&Position, &Seed) -> Vec<Piece>;

fn fair(position: &Position, seed: &Seed) -> Vec<Piece> {
    turn_up(position, &Deal::of(position, seed))
}

/// The well-known mistake: every piece changes places with any other, so 32^32 ways fall on 32! arrangements.
fn naive(position: &Position, seed: &Seed) -> Vec<Piece> {
    let mut rng = seed.rng();
    let mut pieces: Vec<Piece> = position.pool().pieces().collect();
    for place in 0..pieces.len() {
        let other = rng.next_u32() as usize % pieces.len();
        pieces.swap(place, other);
    }
    pieces
}

fn deals<'a>(position: &'a Position, dealer: Dealer, count: u64) -> impl Iterator<Item = Vec<Piece>> + 'a {
    (0..count).map(move |number| dealer(position, &Seed::from(number)))
}

fn initial(rules: &str) -> Position {
    Position::initial(&rules.parse::<Rules>().unwrap())
}

/// How many standard deviations a sum of squares lies from what its degrees of freedom promise.
fn deviations(chi_square: f64, freedom: f64) -> f64 {
    (chi_square - freedom) / (2.0 * freedom).sqrt()
}

/// Every piece on every square.
fn places(dealer: Dealer) -> f64 {
    const DEALS: u64 = 20_000;
    let position = initial("server");
    let mut seen = [[0u32; Piece::COUNT]; Square::COUNT];
    for deal in deals(&position, dealer, DEALS) {
        for (counts, piece) in seen.iter_mut().zip(deal) {
            counts[piece.index()] += 1;
        }
    }
    let mut sum = 0.0;
    for (piece, count) in position.pool().iter() {
        let expected = DEALS as f64 * f64::from(count) / 32.0;
        sum += seen.iter().map(|counts| (f64::from(counts[piece.index()]) - expected).powi(2) / expected).sum::<f64>();
    }
    // A deal fills each square once and uses each piece up: 31 of 32 squares and 13 of 14 pieces are free, and
    // drawing without replacement spreads the counts by 32/31.
    deviations(sum * 31.0 / 32.0, 31.0 * 13.0)
}

/// Every arrangement of a whole board; the multinomial distribution, exactly.
fn arrangements(rules: &str, classes: usize, dealer: Dealer) -> f64 {
    let deals_made = 200 * classes as u64;
    let mut seen: HashMap<Vec<Piece>, u32> = HashMap::new();
    for deal in deals(&initial(rules), dealer, deals_made) {
        *seen.entry(deal).or_default() += 1;
    }
    assert_eq!(seen.len(), classes, "arrangements of {rules}");
    let sum: f64 = seen.values().map(|&count| (f64::from(count) - 200.0).powi(2) / 200.0).sum();
    deviations(sum, classes as f64 - 1.0)
}

/// Every pair of pieces on every pair of squares; the worst pair of squares counts.
fn pairs(rules: &str, dealer: Dealer) -> f64 {
    const DEALS: u64 = 60_000;
    let position = initial(rules);
    let squares = position.hidden().len() as usize;
    let dealt: Vec<Vec<Piece>> = deals(&position, dealer, DEALS).collect();
    let mut worst: f64 = 0.0;
    for (a, b) in (0..squares).flat_map(|b| (0..b).map(move |a| (a, b))) {
        let mut seen: HashMap<(Piece, Piece), f64> = HashMap::new();
        for deal in &dealt {
            *seen.entry((deal[a], deal[b])).or_default() += 1.0;
        }
        let (mut sum, mut classes) = (0.0, 0.0);
        for ((first, n), (second, m)) in
            position.pool().iter().flat_map(|x| position.pool().iter().map(move |y| (x, y)))
        {
            let left = f64::from(m) - if first == second { 1.0 } else { 0.0 };
            let expected = DEALS as f64 * f64::from(n) * left / (squares * (squares - 1)) as f64;
            let count = seen.get(&(first, second)).copied().unwrap_or_default();
            if expected > 0.0 {
                (sum, classes) = (sum + (count - expected).powi(2) / expected, classes + 1.0);
            } else {
                assert_eq!(count, 0.0, "{first:?} twice in {rules}");
            }
        }
        let deviation = deviations(sum, classes - 1.0);
        worst = if deviation.abs() > worst.abs() { deviation } else { worst };
    }
    worst
}

/// The seeds are fixed, so a fair dealer passes always: within four deviations, and not suspiciously even either.
/// The naive shuffle is far outside.
fn check(what: &str, statistic: impl Fn(Dealer) -> f64) {
    let (fair, naive) = (statistic(fair), statistic(naive));
    println!("{what}: {fair:.2} standard deviations, naive {naive:.0}");
    assert!(fair.abs() < 4.0, "{what}: a fair deal is {fair} standard deviations off");
    assert!(naive > 10.0, "{what}: the naive shuffle is only {naive} standard deviations off");
}

#[test]
fn every_piece_is_as_likely_on_every_square() {
    check("places", places);
}

#[test]
fn every_arrangement_is_as_likely() {
    check("2x2 KPkp", |dealer| arrangements("server,board=2x2", 24, dealer));
    check("3x2 KPPkpp", |dealer| arrangements("server,board=3x2", 180, dealer));
    check("3x2 KGPkgp", |dealer| arrangements("server,board=3x2,army=KGP", 720, dealer));
}

#[test]
fn every_pair_is_as_likely_on_every_pair_of_squares() {
    check("2x4 KCPPkcpp", |dealer| pairs("server,board=2x4", dealer));
}

/// Records name their seed: what follows from it must never change.
#[test]
fn seed_seven_deals_this() {
    let rules = Rules::server();
    let mut position = Position::initial(&rules);
    let deal = Deal::new(&rules, &Seed::from(7));
    for at in position.hidden() {
        if let Ok(Ply::Flip(at, piece)) = deal.resolve(Move::Flip(at)) {
            position = position.after_flip(at, piece);
        }
    }
    assert_eq!(position.to_string(), "NmRC/PpGM/cprn/Mpnm/KRgc/PCrp/NPPp/GgPk r -");
}

#[test]
fn seed_seven_is_this() {
    let seed = Seed::from(7);
    let promise = Commitment::new(&seed, &Seed::from(8));
    assert_eq!(seed.to_string(), "93a29ce15cff49077bcbcf082818e04204c529d5349afd8b50b940aba0e9a3f7");
    assert_eq!(seed.child("deal").to_string(), "2cb18974cec0701a2a5f9855588833e9f9edb93feba58b0628433018445a5f2d");
    assert_eq!(promise.to_string(), "e2605b242097b7d43a14cc06054e2e5d8bd0ca49089d97a6994054c83b3950f8");
}

#[test]
fn a_deal_covers_the_face_down_squares_only() {
    let position: Position = "xK1x/2p1/4/4/4/4/4/x2k r GGr".parse().unwrap();
    let deal = Deal::of(&position, &Seed::from(1));
    let mut dealt = turn_up(&position, &deal);
    dealt.sort();
    assert_eq!(dealt, position.pool().pieces().collect::<Vec<_>>());
    for at in Square::all().filter(|&at| !position.hidden().contains(at)) {
        assert_eq!(
            deal.resolve(Move::Flip(at)).unwrap_err().to_string(),
            format!("nothing was dealt face down on {at}")
        );
    }
    let step: Move = "b8-c8".parse().unwrap();
    assert_eq!(deal.resolve(step).unwrap().to_string(), "b8-c8"); // nothing is hidden in a step
}

#[test]
fn a_deal_follows_from_its_seed() {
    let position = initial("server");
    let deal = |seed: &Seed| turn_up(&position, &Deal::of(&position, seed));
    let seeds: Vec<Seed> = (0..100).map(Seed::from).collect();
    for (number, seed) in seeds.iter().enumerate() {
        assert_eq!(deal(seed), deal(&seed.to_string().parse().unwrap()));
        assert!(seeds[..number].iter().all(|other| deal(seed) != deal(other)));
        assert_ne!(deal(seed), deal(&seed.child("another purpose")));
    }
}

#[test]
fn a_commitment_opens_to_its_seed_and_nonce_only() {
    let seeds: Vec<Seed> = (0..20).map(Seed::from).collect();
    for (s, n) in (0..20).flat_map(|s| (0..20).map(move |n| (s, n))) {
        let commitment = Commitment::new(&seeds[s], &seeds[n]);
        let opening = |&(a, b): &(usize, usize)| commitment.opens_to(&seeds[a], &seeds[b]);
        let openings: Vec<_> = (0..20).flat_map(|a| (0..20).map(move |b| (a, b))).filter(opening).collect();
        assert_eq!(openings, [(s, n)]);
        assert!(![&seeds[s], &seeds[n]].iter().any(|seed| seed.to_string() == commitment.to_string()));
    }
}

/// Two deals that answered alike so far are the same to everybody who is not the referee.
#[test]
fn only_flips_show_the_deal() {
    let rules: Rules = "server,board=2x4".parse().unwrap();
    let start = Position::initial(&rules);
    let mut games: HashMap<Vec<Ply>, (Game, Vec<Piece>)> = HashMap::new();
    let mut alike = 0;
    for seed in (0..500).map(Seed::from) {
        let deal = Deal::new(&rules, &seed);
        let mut game = Game::new(rules);
        for number in 0..6 {
            let Some(&choice) = game.legal_moves().get(number % 3) else { break };
            game.play(deal.resolve(choice).unwrap()).unwrap();
        }
        let truth = turn_up(&start, &deal);
        if let Some((other, other_truth)) = games.get(game.plies()) {
            alike += usize::from(truth != *other_truth);
            assert_eq!(format!("{game:?}"), format!("{other:?}"));
            assert_eq!(game.legal_moves(), other.legal_moves());
        }
        games.insert(game.plies().to_vec(), (game, truth));
    }
    assert!(alike > 20, "only {alike} pairs of different deals looked alike");
}
