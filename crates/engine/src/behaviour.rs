//! How each family of players plays, as one number: part of every fingerprint.
//!
//! A change of play must change the number of its family, because what was found before is another player's: values in
//! caches, games of a match that goes on. The test computes the numbers again from what the players answer; each family's
//! number stands beside its player as `BEHAVIOUR`. A new family or preset changes no number but its own.

use std::fmt::Write;

use anqi_rules::{Game, Position, Rules, Seed};

use crate::{Limits, PlayerSpec, Resources, Stop};

/// With many, few and no pieces face down, endings that tables know, small boards, the other ladder.
const POSITIONS: [(&str, &str); 7] = [
    ("server", "xxxx/xrxx/xpxp/xx2/xxRx/xN1x/xNCx/pxxM b KGGMRCPPPPkggmrnnccp"),
    ("server", "1P1p/M1C1/xGK1/xPcx/pPMx/g1nR/1xmx/GnPN b RNkmrp 7"),
    ("chen,repeat=off", "rm1p/2ng/2cP/Nm2/1PRp/1gnC/p1kP/3G b -"),
    ("server", "4/4/4/4/4/4/p2p/N3 b -"),
    ("server", "2c1/4/1x2/3K/4/gp2/xP2/R3 r np 30"),
    ("server,board=2x4", "x1Kx/1xpx r Pkkp"),
    ("olympiad,ladder=hongkong,chase=on", "1P1p/M1C1/xGK1/xPcx/pPMx/g1nR/1xmx/GnPN b RNkmrp"),
];

/// Weights for the evaluation `hand`.
const HAND: &str = "5/42/79/116/153/190/16/53/90/127/164/201/27/64/101/138/175/212/38/75/112/149/186/12/49/86/123/160/197/\
                    23/60/97/134/171/208/34/71/108/145/182/8/45/82/119/156/193/19/56/93/130/167/204/30/67/104/141";

/// What a family answers under its defaults and with its options changed, `paths` separated by spaces.
fn behaviour(player: &str, paths: &str) -> u64 {
    let resources = Resources::default();
    let mut answers = String::new();
    for path in paths.split_ascii_whitespace() {
        let text = format!("{player}{}", path.trim_start_matches('.')).replace("HAND", HAND);
        let spec: PlayerSpec = text.parse().expect(path);
        for (rules, position) in POSITIONS {
            let rules: Rules = rules.parse().expect(rules);
            let position = Position::parse(position, rules.ladder()).expect(position);
            let game = Game::from_position(rules, position).expect(path);
            let limits = if spec.plays_out() { Limits::playouts(150) } else { Limits::nodes(400) };
            let mut player = spec.build(Seed::from(11), &resources).expect(path);
            let choice = player.choose(&game, &limits, &Stop::default()).expect(path);
            let value = spec.value_of(&position, &choice);
            let (mv, score, stats, pv) = (choice.mv, choice.score, choice.stats, &choice.pv);
            writeln!(answers, "{text} {position}: {mv} {score} {pv:?} {} {} {value:.6}", stats.nodes, stats.depth)
                .expect("a string");
        }
    }
    let hash = blake3::hash(answers.as_bytes());
    u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("32 bytes"))
}

fn check(player: &str, paths: &str) {
    let (family, known) = player.parse::<PlayerSpec>().expect(player).family();
    let found = behaviour(player, paths);
    assert_eq!(
        found, known,
        "{family} plays otherwise than its BEHAVIOUR says: if that is meant, set it to {found:#018x}; its fingerprints change"
    );
}

#[test]
fn random() {
    check("random", ".");
}

#[test]
fn reference() {
    check("reference", ". ,depth=2 ,depth=3,eval=static ,depth=3,eval=course");
}

#[test]
fn chen() {
    check(
        "chen:enhance",
        ". ,below=flips ,flips=never ,flips=root ,condition=off ,flips=never,policy=move-first ,flips=never,policy=comparing \
         ,flips=never,policy=take-advantage-or-flip ,k=1 ,k=6 ,order=random,k=6 ,eval=dynamic ,eval=course ,eval=hand \
         ,eval=draw ,eval=outcome ,weights=1000/700/500/300/100/200/50 ,eval=dynamic,weights=90/80/70/60/50/40/30/20/10/5 \
         ,eval=course,weights=900/700/500/300/100/200/50/7 ,eval=hand,weights=HAND ,risk=1.5 ,risk=-2 ,clip=on ,sort=off \
         ,star1=off ,table=0 ,tables=on ,eval=situated ,worse=0.3 ,worse=0 ,quiescence=on ,below=flips,quiescence=on \
         ,flips=never,place=king ,flips=never,place=carriage ,place=both",
    );
}

#[test]
fn negascout() {
    check(
        "negascout",
        ". ,quiescence=off ,null=off ,scout=off ,decide=off ,plies=1 ,decision=shared,plies=8 ,decision=shared,sum=mean ,sum=pieces \
         ,chance=kinds ,among=all ,useless=off ,mobility=0 ,mobility=90 ,weights=900/700/500/300/100/200/50/7 ,table=0 \
         ,table=paper ,tables=on",
    );
}

#[test]
fn mcts() {
    check(
        "mcts:chance",
        ". ,nodes=group ,policy=random ,policy=avoid ,policy=capture+avoid ,policy=avoid+capture ,policy=trap \
         ,policy=capture+avoid+trap ,playout=20 ,rule=off ,playout=20,draws=lead ,draw=0 ,draw=1 ,ucb=ucb1-tuned ,explore=0.3 \
         ,explore=4 ,backup=best ,flight=8 ,share=on ,keep=on ,memory=1 ,cut=12 ,draws=lead ,minimax=0.4 ,bias=3 \
         ,cut=12,quality=0.5 ,nodes=group,cut=12,minimax=0.2,bias=1,quality=0.1 ,tables=on ,reading=paper \
         ,reading=paper,policy=random,playout=40 ,reading=paper,policy=avoid,rule=off ,playout=20,draws=graded \
         ,cut=12,draws=graded,ucb=ucb1-tuned ,playout=20,draws=graded,backup=best ,nodes=group,playout=40,draws=graded \
         ,proofs=leaf ,proofs=interrupt ,nodes=group,proofs=leaf ,nodes=group,proofs=interrupt ,flight=8,proofs=interrupt ,lanes=8 \
         ,nodes=group,lanes=32 ,lanes=8,proofs=interrupt",
    );
}

#[test]
fn flat() {
    check(
        "mc",
        ". ,average=material ,policy=capture ,policy=trap ,playout=15 ,playout=15,draws=lead ,playout=15,draws=graded \
         ,reading=paper ,reading=paper,policy=capture",
    );
}

#[test]
fn champion() {
    check(
        "champion",
        ". ,hash=1,net=off ,net=off,weights=HAND ,tables=off ,scale=300 ,lmr=0 ,lmr=9 ,pass=0 ,pass=3 ,flip=0 ,exchange=off \
         ,inner=1 ,probe=4 ,few=0 ,few=12 ,edge=0 ,fitted=off ,fitted=off,net=off,edge=900",
    );
}
