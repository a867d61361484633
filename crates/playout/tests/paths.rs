//! Every path plays the same games, and any way to split the work gives the same sums.

use anqi_playout::{Options, Path, Policy, Reading, Start, Summary, for_each, playout, playouts};
use anqi_rules::{Move, Position, Rules};

fn initial(rules: &str) -> Position {
    Position::initial(&rules.parse::<Rules>().expect(rules))
}

/// Positions after some random plies from `position`, and after twice as many, and so on.
fn along_a_game(mut position: Position, seed: u64) -> Vec<Position> {
    let mut state = seed;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut positions = Vec::new();
    for ply in 1..=160 {
        let moves = position.moves();
        if moves.is_empty() {
            break;
        }
        position = match moves[random(moves.len())] {
            Move::Step { from, to } => position.after_step(from, to),
            Move::Flip(square) => {
                let pool: Vec<_> = position.pool().pieces().collect();
                position.after_flip(square, pool[random(pool.len())])
            }
        };
        if ply % 20 == 0 {
            positions.push(position);
        }
    }
    positions
}

fn starts() -> Vec<Position> {
    let variants = [
        "chen",
        "chen,ladder=hongkong",
        "chen,army=CCCCCCCCPPGNMRKK",
        "chen,army=CCCCCCCCCCCCCCCC",
        "chen,board=2x2",
        "chen,board=3x2",
        "chen,board=2x4",
        "chen,board=3x4",
        "chen,board=4x4",
        "chen,board=4x4,ladder=hongkong",
    ];
    let mut starts: Vec<Position> = variants.into_iter().map(initial).collect();
    for (position, seed) in starts.clone().into_iter().zip(0..) {
        starts.extend(along_a_game(position, seed));
    }
    let texts = [
        "XXXX/XGCX/X.gX/XXM./XkpX/X.GX/XX.N/XXXP b KMRRNPPPPgmmrnncppp",
        "C1p1/4/k2R/4/c1n1/4/1C2/p2K r - 17",
        "c3/x3/P3/4/4/4/4/C2p b K 39",
        "4/4/4/4/4/4/4/K3 b -",
        "4/4/4/4/4/4/4/x2K b k",
    ];
    starts.extend(texts.iter().map(|text| text.parse::<Position>().expect(text)));
    starts
}

#[test]
fn every_path_plays_the_same_games() {
    for position in starts() {
        let start = Start::from(&position);
        for policy in Policy::ALL {
            for draw in [1, 7, 40] {
                let options = Options { policy, draw, reading: Reading::Rules };
                for path in Path::available() {
                    let mut count = 0;
                    for_each(&start, &options, 8, 1000..1100, path, |index, got| {
                        assert_eq!(
                            got,
                            playout(&start, &options, 8, index),
                            "{path} {policy} {draw} {position:?} #{index}"
                        );
                        count += 1;
                    });
                    assert_eq!(count, 100, "{path}");
                }
            }
        }
    }
}

#[test]
fn every_path_agrees_on_many_games() {
    let start = Start::from(&initial("chen"));
    for policy in Policy::ALL {
        let options = Options { policy, draw: 60, reading: Reading::Rules };
        let expected = playouts(&start, &options, 3, 0..20_000, Path::SCALAR);
        assert_eq!(expected.count(), 20_000);
        for path in Path::available() {
            assert_eq!(playouts(&start, &options, 3, 0..20_000, path), expected, "{path}");
        }
    }
}

#[test]
fn any_split_gives_the_same_sums() {
    let start = Start::from(&initial("chen"));
    let options = Options { policy: Policy::Capture, draw: 40, reading: Reading::Rules };
    for path in Path::available() {
        let whole = playouts(&start, &options, 5, 0..500, path);
        for cuts in [vec![0, 500], vec![0, 1, 17, 33, 500], vec![0, 250, 250, 499, 500]] {
            let mut sum = Summary::default();
            for cut in cuts.windows(2) {
                sum += playouts(&start, &options, 5, cut[0]..cut[1], path);
            }
            assert_eq!(sum, whole, "{path} {cuts:?}");
        }
    }
}

/// Indices are numbers like any other, up to the last one.
#[test]
fn the_end_of_the_numbers() {
    let start = Start::from(&initial("chen"));
    let options = Options { policy: Policy::Random, draw: 40, reading: Reading::Rules };
    for path in Path::available() {
        assert_eq!(playouts(&start, &options, 5, u64::MAX - 3..u64::MAX, path).count(), 3);
        assert_eq!(playouts(&start, &options, 5, 9..9, path), Summary::default());
    }
}

#[test]
fn the_paper_is_read_alike_on_every_path() {
    let start = Start::from(&initial("chen"));
    let options = Options { policy: Policy::Random, draw: 40, reading: Reading::Paper };
    let expected = playouts(&start, &options, 5, 0..50, Path::SCALAR);
    assert_eq!(playouts(&start, &options, 5, 0..50, Path::best()), expected);
}
