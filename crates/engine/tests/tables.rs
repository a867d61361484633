//! Players with endgame tables win what is won and hold what is drawn, against perfect play.
//!
//! `cargo test --release -p anqi-engine --test tables -- --ignored --nocapture` plays a thousand endings of five pieces,
//! with tables in the folder `ANQI_TABLES`, or built into a folder that is thrown away.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anqi_endgame::{Ending, Flavour, Tablebase, Wdl, build, classes_up_to};
use anqi_engine::{Limits, Player, PlayerSpec, Resources, Stop};
use anqi_rules::{BoardSize, Color, Game, Ladder, Move, Ply, Position, Rules, Seed, Setup, SquareSet};
use rand_core::Rng;

/// A random placement of a random ending, red to move.
fn random_position(endings: &[Ending], rng: &mut impl Rng) -> Position {
    let mut below = |n: usize| rng.next_u32() as usize % n;
    let ending = endings[below(endings.len())];
    let mut setup = Setup::empty(BoardSize::FourByEight, Ladder::Taiwan);
    let mut used = SquareSet::EMPTY;
    for piece in ending.material().pieces() {
        let free: Vec<_> = (!used).iter().collect();
        let square = free[below(free.len())];
        used |= square.set();
        setup.pieces[square.index()] = Some(piece);
    }
    Position::try_from(setup).expect("a placement")
}

/// Positions with red to move and this outcome under the draw rule of the tables.
fn positions(tablebase: &Tablebase, endings: &[Ending], outcome: Wdl, count: usize, seed: u64) -> Vec<Position> {
    let mut rng = Seed::from(seed).rng();
    let random = std::iter::repeat_with(|| random_position(endings, &mut rng));
    let fits = |position: &Position| {
        let value = tablebase.probe(position).expect("sound tables").expect("all tables are there");
        value.wdl() == outcome
    };
    random.filter(fits).take(count).collect()
}

/// A player, with tables that all of them share.
fn built(player: &str) -> Box<dyn Player> {
    static RESOURCES: LazyLock<Resources> = LazyLock::new(Resources::default);
    let spec: PlayerSpec = player.parse().expect(player);
    RESOURCES.open_for(&spec).expect("sound tables");
    spec.build(Seed::from(1), &RESOURCES).expect("all is open")
}

/// Plays red by `player` against perfect play. The outcome for red.
fn play(player: &str, limits: &Limits, tablebase: &Tablebase, rules: Rules, position: Position) -> Wdl {
    let mut game = Game::from_position(rules, position).expect("a position");
    let mut player = built(player);
    while game.outcome().is_none() {
        let mv = if game.position().turn() == Some(Color::Red) {
            player.choose(&game, limits, &Stop::default()).expect("the game is not over").mv
        } else {
            tablebase.actions(game.position()).expect("sound tables").expect("all tables are there")[0].mv
        };
        let Move::Step { from, to } = mv else { panic!("nothing is face down") };
        game.play(Ply::Step { from, to }).expect("a legal move");
    }
    match game.outcome().and_then(|outcome| outcome.winner) {
        None => Wdl::Draw,
        Some(winner) if game.color_of(winner) == Some(Color::Red) => Wdl::Win,
        Some(_) => Wdl::Loss,
    }
}

fn rules() -> Rules {
    "server".parse().expect("rules")
}

#[test]
fn what_is_won_is_won_and_what_is_drawn_is_held() {
    let tablebase = Tablebase::solving(Flavour::conversion(rules().draw()), 4);
    let endings: Vec<Ending> = Ending::all(4).collect();
    for (player, limits) in [
        ("chen:var1,tables=on", Limits::nodes(500)),
        ("negascout,tables=on", Limits::nodes(500)),
        ("champion", Limits::nodes(500)),
        ("mcts:chance,tables=on,memory=1", Limits::playouts(50)),
    ] {
        for outcome in [Wdl::Win, Wdl::Draw] {
            for position in positions(&tablebase, &endings, outcome, 30, 1) {
                assert_eq!(play(player, &limits, &tablebase, rules(), position), outcome, "{player} {position}");
            }
        }
    }
}

/// A search knows how a capture ends that leads into the tables, far beyond its depth.
#[test]
fn a_search_asks_the_tables() {
    // Five pieces. If red takes the pawn, what is left is a long win; a search of two plies does not see it.
    let tablebase = Tablebase::solving(Flavour::conversion(rules().draw()), 5);
    let endings = ["GR-mnp", "KC-rpp", "RN-cpp"].map(|name| name.parse().expect(name));
    let mut checked = 0;
    for position in positions(&tablebase, &endings, Wdl::Win, 200, 7) {
        let actions = tablebase.actions(&position).expect("no files").expect("solved");
        let wins_by_capture = |mv: Move| {
            let Move::Step { from, to } = mv else { return false };
            let value = actions.iter().find(|action| action.mv == mv).map(|action| action.value.wdl());
            position.after_step(from, to).quiet() == 0 && value == Some(Wdl::Win)
        };
        if !position.moves().iter().any(|&mv| wins_by_capture(mv)) {
            continue;
        }
        let game = Game::from_position(rules(), position).expect("a position");
        for player in ["chen:var1,tables=on", "negascout,tables=on"] {
            let mut player = built(player);
            let choice = player.choose(&game, &Limits::depth(1), &Stop::default()).expect("a move");
            let value = actions.iter().find(|action| action.mv == choice.mv).map(|action| action.value.wdl());
            assert_eq!((choice.score.is_decided(), value), (true, Some(Wdl::Win)), "{position}");
        }
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn specs_with_tables() {
    for text in ["chen:var1,tables=on", "negascout,decision=complete,tables=on", "mcts:group,tables=on"] {
        assert_eq!(text.parse::<PlayerSpec>().expect(text).to_string(), text);
    }
    let resources = Resources::default();
    for named in ["chen:var1,tables=/nowhere/at/all", "champion,net=/nowhere/at/all"] {
        let spec: PlayerSpec = named.parse().expect(named);
        let error = resources.open_for(&spec).expect_err("it is not there").to_string();
        assert!(error.contains("/nowhere/at/all") && error.contains("No such file"), "{error}");
        let error = spec.build(Seed::from(1), &resources).map(drop).expect_err("it was not opened").to_string();
        assert!(error.ends_with("\"/nowhere/at/all\" was not opened"), "{error}");
    }
    assert!("champion,net=".parse::<PlayerSpec>().is_err() && "champion,tables=".parse::<PlayerSpec>().is_err());
}

/// All tables of up to five pieces, in the folder `ANQI_TABLES` or in `temporary`.
fn five_pieces(temporary: &Path) -> (PathBuf, Tablebase) {
    let dir = std::env::var_os("ANQI_TABLES").map_or_else(|| temporary.to_owned(), Into::into);
    let flavour = Flavour::conversion(rules().draw());
    let threads = NonZeroUsize::new(2).expect("two");
    let classes = classes_up_to(5).into_values();
    assert!(build(&dir, flavour, classes, threads, &Stop::default(), ()).expect("room"));
    let tablebase = Tablebase::open(&dir, flavour).expect("a folder");
    (dir, tablebase)
}

/// An edge makes what is not decided better for the side that has it, wherever in the tree it is, and nothing else. As between equals,
/// that is to say with the edge taken back, a position is worth no more than without it: draws are worth less. Without
/// reductions, which depend on what came before.
#[test]
fn an_edge_is_for_one_side() {
    const ONE: f64 = (1 << 20) as f64;
    const EDGE: f64 = 0.3;
    let endings: Vec<Ending> = Ending::all(5).collect();
    let mut rng = Seed::from(11).rng();
    let [mut fair, mut proud] = ["champion,lmr=255,edge=0", "champion,lmr=255,edge=300"].map(built);
    let mut changed = 0;
    for _ in 0..400 {
        let position = random_position(&endings, &mut rng);
        let game = Game::from_position(rules(), position).expect("a position");
        let value = |player: &mut Box<dyn Player>| player.choose(&game, &Limits::depth(3), &Stop::default());
        let (Some(fair), Some(proud)) = (value(&mut fair), value(&mut proud)) else { continue };
        let [fair, told] = [fair.score, proud.score].map(|score| f64::from(score.0) / ONE);
        let worth = if told.abs() > 1.0 || told == 0.0 { told } else { (told + EDGE) / (1.0 + told * EDGE) };
        let taken_back = if told == 0.0 { -EDGE } else { told };
        let close = 1e-4;
        assert!(taken_back <= fair + close && worth >= fair - close, "{position}: {told}, worth {worth}, for {fair}");
        changed += u32::from((told - fair).abs() > close);
    }
    assert!(changed > 20, "{changed}");
}

/// What the champion says without tables about ten thousand endings, held against the truth.
#[test]
#[ignore = "ten thousand endings of five pieces"]
fn verdicts_of_the_champion() {
    let temporary = tempfile::tempdir().expect("a folder");
    let (_, tablebase) = five_pieces(temporary.path());
    let endings: Vec<Ending> = Ending::all(5).collect();
    for nodes in [1_000, 10_000] {
        let mut rng = Seed::from(2026).rng();
        let mut player = built("champion,tables=off,edge=0");
        // By truth and by what is said: win, draw, loss.
        let mut counts = [[0; 3]; 3];
        let mut proofs = [0; 2];
        for _ in 0..10_000 {
            let position = random_position(&endings, &mut rng);
            let truth = tablebase.probe(&position).expect("sound tables").expect("all tables are there").wdl();
            let game = Game::from_position(rules(), position).expect("a position");
            let Some(choice) = player.choose(&game, &Limits::nodes(nodes), &Stop::default()) else { continue };
            let half = 1 << 19;
            let said = match choice.score.0 {
                score if score > half => Wdl::Win,
                score if score < -half => Wdl::Loss,
                _ => Wdl::Draw,
            };
            let place = |wdl| match wdl {
                Wdl::Win => 0,
                Wdl::Draw => 1,
                Wdl::Loss => 2,
            };
            counts[place(truth)][place(said)] += 1;
            if choice.score.is_decided() {
                proofs[usize::from(truth == said)] += 1;
            }
        }
        let right = counts[0][0] + counts[1][1] + counts[2][2];
        let all: u32 = counts.iter().flatten().sum();
        println!(
            "{nodes} nodes: {right} of {all} right; by truth and verdict, win, draw and loss: {counts:?}; proofs: {} right, {} wrong",
            proofs[1], proofs[0]
        );
        assert_eq!(proofs[0], 0);
        assert!(right * 4 > all * 3, "{right} of {all}");
    }
}

#[test]
#[ignore = "plays a thousand endings of five pieces"]
fn a_thousand_won_endings() {
    let temporary = tempfile::tempdir().expect("a folder");
    let (dir, tablebase) = five_pieces(temporary.path());
    let endings: Vec<Ending> = Ending::all(5).collect();
    let won = positions(&tablebase, &endings, Wdl::Win, 1000, 2026);
    let count = |player: &str, limits: &Limits| {
        let wins = won.iter().filter(|&&at| play(player, limits, &tablebase, rules(), at) == Wdl::Win).count();
        println!("{player}, {limits:?}: {wins} of {} won", won.len());
        wins
    };
    let with = |dir: &Path| format!("chen:var1,tables={}", dir.display());
    assert_eq!(count(&with(&dir), &Limits::nodes(1000)), 1000);
    for nodes in [1_000, 10_000] {
        count("chen:var1", &Limits::nodes(nodes));
        count("chen:var1,tables=on", &Limits::nodes(nodes));
    }
}
