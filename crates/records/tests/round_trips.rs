//! Random records through both formats and back.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use anqi_records::{
    ClockTime, Comment, Eval, Format, GameResult, Permille, PlayedPly, Reader, Record, Tags, WriteError, Writer,
};
use anqi_rules::{Deal, Game, Position, Rules, Seat, Seed, Termination};
use proptest::prelude::*;
use rand_core::Rng;

const RULES: [&str; 6] = ["server", "chen", "olympiad", "server,board=2x4", "chen,board=4x4", "server,ladder=hongkong"];

/// A game of random legal moves, some plies of it.
fn random_game(rules: Rules, seed: u64, plies: usize) -> Game {
    let seed = Seed::from(seed);
    let deal = Deal::new(&rules, &seed);
    let mut rng = seed.child("moves").rng();
    let mut game = Game::new(rules);
    while game.outcome().is_none() && game.plies().len() < plies {
        let legal = game.legal_moves();
        let choice = legal[rng.next_u32() as usize % legal.len()];
        game.play(deal.resolve(choice).unwrap()).unwrap();
    }
    game
}

/// The same game from its middle on, as if it had started there.
fn from_the_middle(game: &Game, skipped: usize) -> Game {
    let middle = game.positions()[skipped].to_string();
    let fields: Vec<&str> = middle.split(' ').take(3).collect(); // without the quiet plies
    let start = Position::parse(&fields.join(" "), game.rules().ladder()).unwrap();
    let mut later = Game::from_position(*game.rules(), start).unwrap();
    for ply in &game.plies()[skipped..] {
        if later.play(*ply).is_err() {
            break;
        }
    }
    later
}

prop_compose! {
    fn games(rules: &'static [&'static str])(
        rules in prop::sample::select(rules),
        seed in any::<u64>(),
        plies in 0..150_usize,
        skipped in prop_oneof![Just(0.0), 0.0..1.0],
        cut in prop::option::of(prop::sample::select(vec![
            Termination::Time,
            Termination::Forfeit,
            Termination::Resignation,
            Termination::Abandoned,
            Termination::Agreement,
        ])),
    ) -> Game {
        let game = random_game(rules.parse().unwrap(), seed, plies);
        let mut game = from_the_middle(&game, (game.plies().len() as f64 * skipped) as usize);
        if let Some(why) = cut {
            let loser = (why != Termination::Agreement).then_some(game.seat());
            game.end(why.off_board(loser).unwrap());
        }
        game
    }
}

prop_compose! {
    fn comments()(
        eval in prop::option::of(any::<f64>()),
        wdl in prop::option::of((0..=500_u16, 0..=500_u16)),
        clk in prop::option::of(any::<u64>()),
        emt in prop::option::of(0..1_000_000_u64),
        text in prop_oneof![Just(String::new()), "[ -~]{0,200}", any::<String>()],
    ) -> Comment {
        let mut comment = Comment::new(&text).unwrap_or_default();
        comment.eval = eval.and_then(Eval::new);
        comment.wdl = wdl.and_then(|(win, draw)| Permille::new(win, draw, 1000 - win - draw));
        comment.clk = clk.map(ClockTime::from_millis);
        comment.emt = emt.map(ClockTime::from_millis);
        comment
    }
}

prop_compose! {
    fn records(rules: &'static [&'static str])(
        game in games(rules),
        tags in prop::collection::vec(("[A-Z][a-zA-Z0-9_]{0,8}", any::<String>()), 0..5),
        players in prop::option::of(("[ -~]{0,20}", any::<String>())),
        time in prop::option::of(prop_oneof!["[0-9]{1,6}", "[0-9]{1,3}[+]1"]),
        comments in prop::collection::vec(prop_oneof![2 => Just(Comment::default()), 1 => comments()], 0..40),
    ) -> Record {
        let mut all = Tags::new();
        // Values that a tag cannot hold are not what is tested here.
        tags.iter().for_each(|(name, value)| drop(all.set(name, value)));
        players.iter().for_each(|(first, second)| {
            drop(all.set("First", first));
            drop(all.set("Second", second));
        });
        time.iter().for_each(|time| drop(all.set("TimeControl", time)));
        Record::from_game(&game, all).with_comments(comments)
    }
}

fn read(text: &[u8]) -> Vec<Record> {
    Reader::new(text).unwrap().map(|entry| entry.unwrap().record).collect()
}

fn write(records: &[Record], format: Format) -> Result<Vec<u8>, WriteError> {
    let mut writer = Writer::new(Vec::new(), format);
    records.iter().try_for_each(|record| writer.write(record))?;
    Ok(writer.into_inner())
}

/// What is left of a record in the server's format.
fn for_server(record: &Record) -> Record {
    let tags = record.tags();
    let mut left = Tags::new();
    let mut keep = |name: &str, value: Option<&str>| value.into_iter().for_each(|value| left.set(name, value).unwrap());
    keep("First", tags.get("First").filter(|name| *name != "?"));
    keep("Second", tags.get("Second").filter(|name| *name != "?"));
    keep(
        "TimeControl",
        tags.get("TimeControl").filter(|time| *time != "0" && time.bytes().all(|b| b.is_ascii_digit())),
    );
    keep(
        "Termination",
        tags.get("Termination").map(|why| match why {
            "elimination" | "no action" => "no move",
            why => why,
        }),
    );
    keep("Position", tags.get("Position"));
    Record::new(left, record.plies().iter().map(|played| PlayedPly::from(played.ply)).collect(), record.result())
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn our_format_keeps_everything(records in prop::collection::vec(records(&RULES), 0..4)) {
        let text = write(&records, Format::Anqi).unwrap();
        let again = read(&text);
        prop_assert_eq!(&again, &records);
        prop_assert_eq!(write(&again, Format::Anqi).unwrap(), text);
        for record in &records {
            prop_assert_eq!(&record.to_string().parse::<Record>().unwrap(), record);
        }
    }

    #[test]
    fn the_servers_format_keeps_what_it_can(record in records(&["server"])) {
        match write(std::slice::from_ref(&record), Format::Server) {
            Ok(text) => {
                let again = read(&text);
                prop_assert_eq!(&again, &[for_server(&record)]);
                // From here on nothing changes any more, whatever way it goes.
                let ours = write(&again, Format::Anqi).unwrap();
                prop_assert_eq!(&read(&ours), &again);
                prop_assert_eq!(write(&read(&ours), Format::Server).unwrap(), text);
            }
            Err(WriteError::Unfinished) => prop_assert_eq!(record.result(), GameResult::Unfinished),
            Err(WriteError::Players { first, second }) => {
                prop_assert!(first.contains(" vs") || second.contains("vs "), "{:?}, {:?}", first, second);
            }
            // Whose turn it is cannot be told without a step.
            Err(WriteError::Start(start)) => {
                prop_assert!(start.turn().is_some());
                prop_assert!(record.plies().iter().all(|played| played.ply.revealed().is_some()));
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn comments_go_round(comment in comments()) {
        prop_assert_eq!(comment.to_string().parse::<Comment>().unwrap(), comment);
    }

    #[test]
    fn any_text_is_a_comment_or_an_error(text in any::<String>()) {
        if let Ok(comment) = text.parse::<Comment>() {
            prop_assert_eq!(comment.to_string().parse::<Comment>().unwrap(), comment);
        }
    }
}

#[test]
fn the_servers_odd_ways_are_kept() {
    let usual = "INITIAL\n* a vs b\n* 1 2 2 2 2 2 5 1 2 2 2 2 2 5\n* X X X X\n* X X X X\n* X X X X\n* X X X X\n\
                 * X X X X\n* X X X X\n* X X X X\n* X X X X\n* first 0\n* time 900\n* 1. a1(k) a2(K)\n\
                 * TimeOut b Wins 0.000000,1.000000\n";
    let revealed = usual.replacen("X X X X", "- X K k", 1);
    for text in [
        usual.to_owned(),
        usual.replace("first 0", "first 1"),
        usual.replace("time 900", "time 0"),
        usual.replace("* a vs b", "* a vs ?").replace("TimeOut b", "TimeOut ?"),
        usual.replace("TimeOut b Wins 0.000000,1.000000", "TimeOut b wins 0,1"),
        usual.replace("TimeOut b Wins 0.000000,1.000000", "NoEatFlipDraw a Draw 0.5,0.5"),
        usual.replace("TimeOut b Wins 0.000000,1.000000", "PositionRepetitionDraw,3,4 a Draw 0.500000,0.500000"),
        usual.replace("TimeOut", "Crash"),
        usual.replace("TimeOut", "Unknown"),
        usual.replace("* 1. a1(k) a2(K)\n", ""),
        // All pieces are counted, or only those face down.
        revealed.replace("* 1 2 2 2 2 2 5 1 2 2 2 2 2 5", "* 1 2 2 2 2 2 4 1 2 2 2 2 2 5"),
        revealed.replace("* 1 2 2 2 2 2 5 1 2 2 2 2 2 5", "* 0 2 2 2 2 2 4 0 2 2 2 2 2 5"),
    ] {
        let records = read(text.as_bytes());
        assert_eq!(String::from_utf8(write(&records, Format::Server).unwrap()).unwrap(), text);
        let ours = write(&records, Format::Anqi).unwrap();
        assert_eq!(read(&ours), records);
    }
    // A tag that no longer says what the record says is not believed.
    let odd = read(usual.replace("Wins 0.000000,1.000000", "wins 0,1").as_bytes()).remove(0);
    let (mut tags, plies, _) = odd.into_parts();
    assert_eq!(tags.get("ServerResult"), Some("TimeOut b wins 0,1"));
    tags.set("Result", "1-0").unwrap();
    let changed = Record::new(tags, plies, GameResult::Won(Seat::First)).unwrap();
    let text = String::from_utf8(write(&[changed], Format::Server).unwrap()).unwrap();
    assert!(text.ends_with("* TimeOut a Wins 1.000000,0.000000\n"));
}

#[test]
fn carriage_returns_make_no_difference() {
    let records: Vec<Record> = (1..3)
        .map(|seed| {
            let mut game = random_game(Rules::server(), seed, 30);
            game.lose(Seat::First, Termination::Time);
            Record::from_game(&game, Tags::new())
        })
        .collect();
    for format in Format::ALL {
        let text = String::from_utf8(write(&records, format).unwrap()).unwrap();
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(read(windows.as_bytes()), read(text.as_bytes()));
    }
}

#[test]
fn the_side_to_move_follows_from_the_first_step() {
    let text = |plies: &str| {
        format!(
            "INITIAL\n* a vs b\n* 1 0 0 0 0 0 1 0 0 0 1 0 0 1\n* - - - -\n* - - - -\n* - - - -\n* - X K -\n\
             * - - - -\n* - r - -\n* - - X -\n* - - - -\n* first 0\n* time 900\n{plies}* TimeOut a Wins 1.000000,0.000000\n"
        )
    };
    for (plies, turn) in [
        ("* 1. c5-c6\n", "r"),
        ("* 1. b3-b4 c5-c6\n", "b"),
        ("* 1. b5(P) b3-b4\n", "r"),
        ("* 1. b5(P) c2(p)\n* 2. c2-c3\n", "b"),
        ("* 1. b5(P)\n", "r"), // for want of anything better
        ("* 1. a1-a2\n", "r"), // nothing stands there
    ] {
        let record = read(text(plies).as_bytes()).remove(0);
        assert_eq!(record.tags().get("Position"), Some(&*format!("4/4/4/1xK1/4/1r2/2x1/4 {turn} Pp")));
        assert_eq!(String::from_utf8(write(&[record], Format::Server).unwrap()).unwrap(), text(plies));
    }
}

#[test]
fn the_servers_format_refuses_what_it_would_change() {
    let refused = |text: &str| write(&[text.parse().unwrap()], Format::Server).unwrap_err().to_string();
    let beginning = "[Termination \"time\"]\n";
    for (tags, reason) in [
        ("[Rules \"server,board=2x2\"]", "the start xx/xx - KPkp"),
        ("[Rules \"server,ladder=hongkong\"]", "the start xxxx/"),
        ("[Position \"4/4/4/4/4/4/GG2/p3 b -\"]", "the start 4/4/4/4/4/4/GG2/p3 b -"),
        ("[Position \"4/4/4/4/4/4/GG2/p3 r - 7\"]", "the start 4/4/4/4/4/4/GG2/p3 r - 7"),
        ("[First \"a vs b\"]", "cannot tell \"a vs b\" from \"?\""),
    ] {
        let error = refused(&format!("{beginning}{tags}\n\n1-0\n"));
        assert!(error.contains(reason), "{error}");
    }
    assert!(refused("[First \"a\"]\n\n*").contains("without a result"));
    assert!(refused("[Termination \"a bad day\"]\n\n1-0").contains("\"a bad day\""));
    assert!(refused("[Rules \"poker\"]\n\n1-0").starts_with("tag Rules \"poker\": unknown rules"));
}
