//! Makes the sample games in `data/games`, always the same ones:
//! `cargo run -p anqi-records --example make_samples`.

use std::error::Error;
use std::path::Path;

use anqi_records::{ClockTime, Comment, Eval, Format, Permille, Reason, Record, Tags, Writer};
use anqi_rules::{Commitment, Deal, Game, Move, Ply, Position, Rules, Seed, Termination};
use rand_core::Rng;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/games");
    for (name, text) in samples()? {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}

type File = (&'static str, Vec<u8>);

/// The files by name.
pub(crate) fn samples() -> Result<Vec<File>, Box<dyn Error>> {
    let server = records("server", &SERVER)?;
    let chen = records("chen", &CHEN)?;
    let variants = records("variants", &VARIANTS)?;
    Ok(vec![
        ("server.anqi", write(&server, Format::Anqi)?),
        ("server.txt", write(&server, Format::Server)?),
        ("chen.anqi", write(&chen, Format::Anqi)?),
        ("chen.txt", write(&chen, Format::Server)?),
        ("variants.anqi", write(&variants, Format::Anqi)?),
    ])
}

/// A game to be played.
struct Plan {
    rules: &'static str,
    /// The beginning, if empty.
    start: &'static str,
    players: [Style; 2],
    /// After how many plies it stops, and why; `None` leaves it unfinished.
    stop: Option<(usize, Option<Termination>)>,
    /// How it must end, if it is to be played until it does.
    ends: Option<Termination>,
}

/// How a player chooses among the legal moves.
#[derive(Clone, Copy)]
enum Style {
    /// Any.
    Random,
    /// Any capture, or else any.
    Greedy,
    /// Back to where it came from, or else any step, or else a flip.
    Shuffler,
}

use Style::{Greedy, Random, Shuffler};

const fn plan(rules: &'static str, start: &'static str, players: [Style; 2]) -> Plan {
    Plan { rules, start, players, stop: None, ends: None }
}

const fn stopped(rules: &'static str, players: [Style; 2], plies: usize, why: Option<Termination>) -> Plan {
    Plan { rules, start: "", players, stop: Some((plies, why)), ends: None }
}

const fn no_action(rules: &'static str) -> Plan {
    Plan { ends: Some(Termination::NoAction), ..plan(rules, CORNER, [Random, Random]) }
}

const MIDDLE: &str = "1R1p/2xG/xC1x/p1mx/1x1N/gx1P/x1Px/3k r KMRPgmrc";
const ENDGAME: &str = "4/1N2/4/4/2r1/4/3p/P3 b -";
/// Two cannons that can shut the pawn in.
const CORNER: &str = "4/4/4/4/4/4/1C2/p1C1 r -";

const SERVER: [Plan; 14] = [
    plan("server", "", [Greedy, Greedy]),
    plan("server", "", [Greedy, Greedy]),
    plan("server", "", [Greedy, Random]),
    plan("server", "", [Random, Greedy]),
    plan("server", "", [Random, Random]),
    plan("server", "", [Shuffler, Shuffler]),
    plan("server", "", [Shuffler, Greedy]),
    plan("server", MIDDLE, [Greedy, Greedy]),
    plan("server", MIDDLE, [Shuffler, Shuffler]),
    plan("server", ENDGAME, [Random, Greedy]),
    no_action("server"),
    stopped("server", [Greedy, Greedy], 37, Some(Termination::Time)),
    stopped("server", [Greedy, Random], 20, Some(Termination::Forfeit)),
    stopped("server", [Random, Greedy], 45, Some(Termination::Resignation)),
];

const CHEN: [Plan; 12] = [
    plan("chen,repeat=off", "", [Greedy, Greedy]),
    plan("chen,repeat=off", "", [Greedy, Greedy]),
    plan("chen,repeat=off", "", [Greedy, Random]),
    plan("chen,repeat=off", "", [Random, Greedy]),
    plan("chen,repeat=off", "", [Random, Random]),
    plan("chen,repeat=off", "", [Shuffler, Shuffler]),
    plan("chen,repeat=off", MIDDLE, [Greedy, Greedy]),
    plan("chen,repeat=off", MIDDLE, [Random, Random]),
    plan("chen,repeat=off", ENDGAME, [Greedy, Random]),
    no_action("chen,repeat=off"),
    stopped("chen,repeat=off", [Greedy, Greedy], 60, Some(Termination::Time)),
    stopped("chen,repeat=off", [Greedy, Greedy], 51, Some(Termination::Resignation)),
];

const VARIANTS: [Plan; 12] = [
    plan("server,board=2x2", "", [Greedy, Greedy]),
    plan("server,board=3x2", "", [Greedy, Greedy]),
    plan("server,board=2x4,army=KNCP", "", [Greedy, Random]),
    plan("chen,board=3x4,repeat=off", "", [Greedy, Greedy]),
    plan("chen,board=4x4,repeat=off", "", [Random, Greedy]),
    plan("server,board=2x4,ladder=hongkong", "", [Greedy, Greedy]),
    plan("server,ladder=hongkong", "", [Greedy, Greedy]),
    plan("olympiad", "", [Shuffler, Shuffler]),
    plan("server,chase=on", "", [Greedy, Greedy]),
    plan("server,draw=20,repeat=off", MIDDLE, [Shuffler, Shuffler]),
    plan("server,board=2x4,army=KNCPppkc", "", [Greedy, Greedy]),
    stopped("olympiad", [Greedy, Greedy], 12, None),
];

impl Style {
    const fn name(self) -> &'static str {
        match self {
            Random => "random",
            Greedy => "greedy",
            Shuffler => "shuffler",
        }
    }

    fn choose(self, game: &Game, rng: &mut impl Rng) -> Option<Move> {
        let legal = game.legal_moves();
        let back = match game.plies().iter().rev().nth(1) {
            Some(&Ply::Step { from, to }) => Some(Move::Step { from: to, to: from }),
            _ => None,
        };
        let favourites: Vec<Move> = match self {
            Random => Vec::new(),
            Greedy => game.position().captures().into_iter().filter(|mv| legal.contains(mv)).collect(),
            Shuffler if back.is_some_and(|back| legal.contains(&back)) => back.into_iter().collect(),
            Shuffler => legal.iter().copied().filter(|mv| matches!(mv, Move::Step { .. })).collect(),
        };
        let choices = if favourites.is_empty() { &legal[..] } else { &favourites[..] };
        choices.get(below(rng, choices.len())).copied()
    }
}

/// Near enough to fair for a sample.
fn below(rng: &mut impl Rng, bound: usize) -> usize {
    rng.next_u32() as usize % bound.max(1)
}

fn records(event: &str, plans: &[Plan]) -> Result<Vec<Record>, Box<dyn Error>> {
    let mut records = Vec::new();
    for (plan, round) in plans.iter().zip(1..) {
        let mut attempts = (0_u32..).map(|attempt| {
            let seed = Seed::from(2026).child(event).child(round.to_string()).child(attempt.to_string());
            record(event, round, plan, &seed)
        });
        let wanted = |record: &Record| plan.ends.is_none_or(|why| record.reason() == Ok(Some(Reason::Exactly(why))));
        records.extend(attempts.find(|attempt| attempt.as_ref().map_or(true, wanted)).transpose()?);
    }
    Ok(records)
}

fn record(event: &str, round: u32, plan: &Plan, seed: &Seed) -> Result<Record, Box<dyn Error>> {
    let rules: Rules = plan.rules.parse()?;
    let start = if plan.start.is_empty() { Position::initial(&rules) } else { plan.start.parse()? };
    let deal = Deal::of(&start, seed);
    let mut rng = seed.child("players").rng();
    let mut game = Game::from_position(rules, start)?;
    let mut clocks = [900_000_u64; 2];
    let mut comments = Vec::new();
    while game.outcome().is_none() && plan.stop.is_none_or(|(plies, _)| game.plies().len() < plies) {
        let mover = game.seat() as usize;
        let Some(choice) = plan.players[mover].choose(&game, &mut rng) else { break };
        game.play(deal.resolve(choice)?)?;
        let spent = 1 + below(&mut rng, 2500) as u64;
        clocks[mover] -= spent;
        comments.push(comment(&game, clocks[mover], spent)?);
    }
    if let Some((_, Some(why))) = plan.stop {
        game.lose(game.seat(), why);
    }

    let nonce = seed.child("nonce");
    let mut tags = Tags::new();
    tags.set("Event", &format!("anqi samples, {event}"))?;
    tags.set("Round", &round.to_string())?;
    tags.set("First", plan.players[0].name())?;
    tags.set("Second", plan.players[1].name())?;
    tags.set("Seed", &seed.to_string())?;
    tags.set("DealCommit", &Commitment::new(seed, &nonce).to_string())?;
    tags.set("DealNonce", &nonce.to_string())?;
    tags.set("TimeControl", "900")?;
    // Every third game is enough to show comments.
    let shown = if round % 3 == 1 { comments } else { Vec::new() };
    Ok(Record::from_game(&game, tags).with_comments(shown))
}

/// What the mover might say: pieces ahead, chances, time, and a word when it is over.
fn comment(game: &Game, clock: u64, spent: u64) -> Result<Comment, Box<dyn Error>> {
    let position = game.position();
    let mover = game.seat().other();
    let ahead = game
        .color_of(mover)
        .map_or(0, |color| i64::from(position.remaining(color)) - i64::from(position.remaining(color.other())));
    let chance = |lead: i64| u16::try_from(333 + 20 * lead).unwrap_or_default();
    let words = match game.outcome() {
        Some(outcome) if outcome.winner == Some(mover) => "mine {at last}",
        Some(_) => "so be it",
        None => "",
    };
    let mut comment = Comment::new(words)?;
    comment.eval = Eval::new(ahead as f64 / 4.0);
    comment.wdl = Permille::new(chance(ahead), 334, chance(-ahead));
    comment.clk = Some(ClockTime::from_millis(clock));
    comment.emt = Some(ClockTime::from_millis(spent));
    Ok(comment)
}

fn write(records: &[Record], format: Format) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut writer = Writer::new(Vec::new(), format);
    for record in records {
        writer.write(record)?;
    }
    Ok(writer.into_inner())
}
