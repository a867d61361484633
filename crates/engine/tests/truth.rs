//! The champion on boards that are solved: what it says of them, and whether its moves lose anything.
//!
//! `cargo test --release -p anqi-engine --test truth -- --ignored --nocapture` looks at all 2x4 boards.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::num::NonZeroUsize;

use anqi_engine::{Limits, Player, PlayerSpec, Resources, Stop};
use anqi_rules::{BoardSize, Color, Deal, Game, Ladder, Material, Rules, Seed};
use anqi_solve::{FairSet, Fraction, Solver};
use rand_core::Rng;

fn number(fraction: Fraction) -> f64 {
    *fraction.numer() as f64 / *fraction.denom() as f64
}

/// The largest error of a root, and of how many positions how many were played without loss.
#[derive(Default, Debug)]
struct Held {
    worst_root: f64,
    positions: u32,
    lossless: u32,
    lost: f64,
}

/// Looks at the start of a set's game, and at positions of random games.
fn look(set: &FairSet, root: u64, nodes: u64, positions: u32, held: &mut Held) {
    let army: Material = set.side;
    let letters: String =
        army.pieces().filter(|piece| piece.color == Color::Red).map(anqi_rules::Piece::char).collect();
    let rules: Rules = format!("chen,board=2x4,army={letters},draw=off,repeat=off").parse().unwrap();
    let mut solver = Solver::new(BoardSize::TwoByFour, Ladder::Taiwan);
    solver.solve(&Material::EMPTY, &set.army(), NonZeroUsize::new(2).unwrap()).unwrap();
    let spec: PlayerSpec = "champion".parse().unwrap();
    let mut champion: Box<dyn Player> = spec.build(Seed::from(1), &Resources::default()).unwrap();
    let mut choose = |game: &Game, nodes| champion.choose(game, &Limits::nodes(nodes), &Stop::default()).unwrap();

    let game = Game::new(rules);
    let choice = choose(&game, root);
    let truth = number(solver.probe(game.position()).unwrap().value);
    let said = f64::from(choice.score.0.clamp(-1 << 20, 1 << 20)) / f64::from(1 << 20);
    println!("{letters}: {said:.4}, in truth {truth:.4}, depth {}", choice.stats.depth);
    held.worst_root = held.worst_root.max((said - truth).abs());

    let mut rng = Seed::from(2026).rng();
    for number_of_game in 0.. {
        let (deal, mut game) = (Deal::new(&rules, &Seed::from(number_of_game)), Game::new(rules));
        while game.outcome().is_none() && game.plies().len() < 30 {
            let actions = solver.actions(game.position()).unwrap();
            // Where everything is worth the same nothing can be lost.
            let best = actions.iter().map(|(_, worth)| worth.value).max().unwrap();
            if actions.iter().any(|(_, worth)| worth.value < best) && rng.next_u32().is_multiple_of(3) {
                let choice = choose(&game, nodes);
                let worth = actions.iter().find(|(mv, _)| *mv == choice.mv).unwrap().1.value;
                held.positions += 1;
                held.lossless += u32::from(worth == best);
                held.lost += number(best - worth);
                if held.positions.is_multiple_of(positions) {
                    return;
                }
            }
            let moves = game.legal_moves();
            let mv = moves[rng.next_u32() as usize % moves.len()];
            game.play(deal.resolve(mv).unwrap()).unwrap();
        }
    }
}

fn distinct() -> Vec<FairSet> {
    FairSet::all(BoardSize::TwoByFour, Ladder::Taiwan).into_iter().filter(|set| set.side == set.like).collect()
}

#[test]
fn some_boards() {
    let mut held = Held::default();
    for set in distinct().iter().step_by(12) {
        look(set, 10_000, 2_000, 25, &mut held);
    }
    println!("{held:?}");
    assert!(held.worst_root < 1e-5 && held.lossless == held.positions, "{held:?}");
}

#[test]
#[ignore = "minutes: all 24 different games on a 2x4 board"]
fn all_boards() {
    let mut held = Held::default();
    for set in &distinct() {
        look(set, 10_000, 10_000, 400, &mut held);
    }
    println!("{held:?}");
    assert!(held.worst_root < 1e-5 && held.lossless == held.positions, "{held:?}");
}
