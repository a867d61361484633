//! Every path plays the same games, and any way to split the work gives the same sums.

use anqi_playout::{
    Feed, FeedGame, MOST_LANES, Path, Playout, PlayoutOptions, PlayoutStart, PlayoutSummary, Policy, Reading, each,
    feed, for_each, playout, playouts,
};
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
        let start = PlayoutStart::from(&position);
        for policy in Policy::ALL {
            for draw in [1, 7, 40] {
                let options = PlayoutOptions { policy, draw, ..PlayoutOptions::default() };
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

/// Games from anywhere, boards and ladders mixed, in lists of all lengths.
#[test]
fn every_path_plays_lists() {
    let starts: Vec<PlayoutStart> = starts().iter().map(PlayoutStart::from).collect();
    let mixed: Vec<(PlayoutStart, u64)> =
        (0..starts.len() as u64).map(|i| (starts[i as usize * 7 % starts.len()], i % 10)).collect();
    let sorted: Vec<(PlayoutStart, u64)> = starts.iter().copied().zip(0..).collect();
    for policy in Policy::ALL {
        for (games, cut) in [(&mixed, None), (&sorted, None), (&sorted, Some(1)), (&sorted, Some(30))] {
            let options = PlayoutOptions { policy, cut, ..PlayoutOptions::default() };
            for path in Path::available() {
                for length in [0, 1, 2, 15, 33, games.len()] {
                    let mut found = vec![None; length];
                    each(&games[..length], &options, 8, path, |place, playout| {
                        assert_eq!(found[place].replace(playout), None);
                    });
                    let expected =
                        games[..length].iter().map(|(start, index)| Some(playout(start, &options, 8, *index)));
                    assert!(found.into_iter().eq(expected), "{path} {policy} {cut:?} {length}");
                }
            }
        }
    }
}

/// A feed that has at most so many games in flight, each of which depends on those that have ended.
struct Chain {
    start: PlayoutStart,
    options: PlayoutOptions,
    flying: usize,
    most: usize,
    left: u32,
    plies: u64,
}

impl Feed for Chain {
    fn next(&mut self) -> Option<FeedGame> {
        if self.left == 0 || self.flying == self.most {
            return None;
        }
        self.left -= 1;
        self.flying += 1;
        Some(FeedGame { tag: self.plies, start: self.start, index: self.plies })
    }

    fn done(&mut self, tag: u64, found: Playout) {
        assert_eq!(found, playout(&self.start, &self.options, 3, tag));
        self.flying -= 1;
        self.plies += u64::from(found.plies);
    }
}

#[test]
fn a_feed_decides_as_it_goes() {
    let start = PlayoutStart::from(&initial("chen"));
    let options = PlayoutOptions { policy: Policy::Capture, ..PlayoutOptions::default() };
    for path in Path::available() {
        for (most, lanes) in [(1, 16), (5, 32), (16, 16), (40, 33), (1000, MOST_LANES), (1000, 1)] {
            let mut chain = Chain { start, options, flying: 0, most, left: 500, plies: 0 };
            feed(&mut chain, lanes, &options, 3, path);
            assert_eq!((chain.left, chain.flying), (0, 0), "{path} {most} {lanes}");
        }
    }
}

/// Chooses every game by all that it was told before, now and then none, and keeps everything.
struct Diary {
    starts: Vec<PlayoutStart>,
    left: u64,
    state: u64,
    entries: Vec<(u64, Option<Playout>)>,
}

impl Feed for Diary {
    fn next(&mut self) -> Option<FeedGame> {
        self.left = self.left.checked_sub(1)?;
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(self.left);
        let (tag, start) = (self.left, self.starts[(self.state >> 33) as usize % self.starts.len()]);
        self.entries.push((tag, None));
        (!self.state.is_multiple_of(50)).then_some(FeedGame { tag, start, index: self.state >> 40 })
    }

    fn done(&mut self, tag: u64, found: Playout) {
        self.state ^= tag << 20 ^ u64::from(found.plies);
        self.entries.push((tag, Some(found)));
    }
}

/// What a feed is told and asked, and in which order, is the same on every path.
#[test]
fn lanes_are_the_same_on_every_path() {
    let same_board = |position: &&Position| position.board().name() == "4x8";
    let starts = starts();
    let all: Vec<PlayoutStart> = starts.iter().map(PlayoutStart::from).collect();
    let alike = starts.iter().filter(same_board).filter(|position| position.ladder() == starts[0].ladder());
    let alike: Vec<PlayoutStart> = alike.map(PlayoutStart::from).collect();
    let cases = [
        (Policy::Random, Reading::Rules, None),
        (Policy::Capture, Reading::Rules, None),
        (Policy::Capture, Reading::Rules, Some(9)),
        (Policy::CaptureAvoid, Reading::Rules, None),
        (Policy::Trap, Reading::Rules, None),
        (Policy::Capture, Reading::Paper, None),
    ];
    for (policy, reading, cut) in cases {
        let options = PlayoutOptions { policy, cut, reading, ..PlayoutOptions::default() };
        // Where boards are mixed, games wait for another board until all others have ended.
        for (starts, lanes) in [(&alike, 1), (&alike, 7), (&alike, 16), (&alike, 32), (&alike, 45), (&all, MOST_LANES)]
        {
            let diary = |path| {
                let mut diary = Diary { starts: starts.clone(), left: 400, state: 11, entries: Vec::new() };
                feed(&mut diary, lanes, &options, 3, path);
                diary.entries
            };
            let expected = diary(Path::SCALAR);
            assert!(expected.len() > 2 * lanes, "{policy} {lanes}");
            for path in Path::available() {
                assert_eq!(diary(path), expected, "{path} {policy} {lanes}");
            }
        }
    }
}

/// One lane is one game after the other; in two lanes the shorter game ends first, and the next one begins a ply later.
#[test]
fn lanes_keep_time() {
    struct Two {
        games: Vec<FeedGame>,
        ends: Vec<u64>,
    }
    impl Feed for Two {
        fn next(&mut self) -> Option<FeedGame> {
            self.games.pop()
        }

        fn done(&mut self, tag: u64, _: Playout) {
            self.ends.push(tag);
        }
    }
    let start = PlayoutStart::from(&initial("chen"));
    let options = PlayoutOptions::default();
    let plies = |index| playout(&start, &options, 3, index).plies - 1; // the first flip comes with the deal
    let order = |lanes, path| {
        let games = (0..3).rev().map(|index| FeedGame { tag: index, start, index }).collect();
        let mut two = Two { games, ends: Vec::new() };
        feed(&mut two, lanes, &options, 3, path);
        two.ends
    };
    let first = if plies(0) <= plies(1) { 0 } else { 1 };
    let second = 1 - first;
    let (third_ends, second_ends) = (plies(first) + 1 + plies(2), plies(second));
    let lane_of_third = first;
    let third_first = (third_ends, lane_of_third) < (second_ends, second);
    let expected = if third_first { [first, 2, second] } else { [first, second, 2] };
    for path in Path::available() {
        assert_eq!(order(1, path), [0, 1, 2]);
        assert_eq!(order(2, path), expected);
    }
}

#[test]
fn every_path_agrees_on_many_games() {
    let start = PlayoutStart::from(&initial("chen"));
    for policy in Policy::ALL {
        let games = if policy.to_string().contains("trap") { 1000 } else { 20_000 };
        let options = PlayoutOptions { policy, draw: 60, ..PlayoutOptions::default() };
        let expected = playouts(&start, &options, 3, 0..games, Path::SCALAR);
        assert_eq!(expected.count(), games);
        for path in Path::available() {
            assert_eq!(playouts(&start, &options, 3, 0..games, path), expected, "{path}");
        }
    }
}

#[test]
fn any_split_gives_the_same_sums() {
    let start = PlayoutStart::from(&initial("chen"));
    let options = PlayoutOptions { policy: Policy::Capture, ..PlayoutOptions::default() };
    for path in Path::available() {
        let whole = playouts(&start, &options, 5, 0..500, path);
        for cuts in [vec![0, 500], vec![0, 1, 17, 33, 500], vec![0, 250, 250, 499, 500]] {
            let mut sum = PlayoutSummary::default();
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
    let start = PlayoutStart::from(&initial("chen"));
    let options = PlayoutOptions::default();
    for path in Path::available() {
        assert_eq!(playouts(&start, &options, 5, u64::MAX - 3..u64::MAX, path).count(), 3);
        assert_eq!(playouts(&start, &options, 5, 9..9, path), PlayoutSummary::default());
    }
}

#[test]
fn the_paper_is_read_alike_on_every_path() {
    let start = PlayoutStart::from(&initial("chen"));
    for policy in Policy::ALL {
        let options = PlayoutOptions { policy, reading: Reading::Paper, ..PlayoutOptions::default() };
        let expected = playouts(&start, &options, 5, 0..50, Path::SCALAR);
        for path in Path::available() {
            assert_eq!(playouts(&start, &options, 5, 0..50, path), expected, "{policy} {path}");
        }
    }
}
