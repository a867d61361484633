//! What is read is printed so that it reads the same, in all grammars.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use anqi_protocol::{Clock, OutsideSpec, numbered, packets, uci};
use proptest::prelude::*;

/// True if the text could be read at all.
fn goes_round<T: FromStr + Display + Debug + PartialEq>(text: &str) -> bool
where
    T::Err: Debug,
{
    let Ok(value) = text.parse::<T>() else { return false };
    let printed = value.to_string();
    assert_eq!(printed.parse::<T>().unwrap(), value, "{text:?} printed as {printed:?}");
    true
}

fn all_go_round(text: &str) {
    goes_round::<numbered::NumberedCommand>(text);
    goes_round::<numbered::NumberedReply>(text);
    goes_round::<packets::FromServer>(text);
    goes_round::<packets::FromEngine>(text);
    goes_round::<uci::UciCommand>(text);
    goes_round::<uci::UciReply>(text);
    goes_round::<OutsideSpec>(text);
    goes_round::<Clock>(text);
}

/// Words of all the languages, so that many sentences make sense.
fn word() -> impl Strategy<Value = String> {
    const WORDS: &str = "0 1 2 3 5 6 7 8 9 10 11 12 13 15 16 17 18 name version quit boardsize move flip genmove red black unknown \
        time_settings time_setting time_left known_command num_repetition num_moves_to_draw game_over a1 a2 b8 d8 e9 K p \
        =12 ?12 = ? a0 /start /turn /flip /move uci isready position startpos fen moves b8b8G c6c7 a1a1 go wtime btime winc \
        infinite nodes depth playouts movetime movestogo setoption value id author option info score cp win pv bestmove 0000 string \
        2K1/4/4/4/4/4/4/p3 xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx r b - cmd=./a cmd=\"b name=\"x name=y proto=uci tc=1:30+0.5 \
        nodes=7 option.k=v restart=on 15:00 40/5:00 900";
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    prop_oneof![8 => prop::sample::select(words).prop_map(str::to_owned), 1 => "\\PC{0,6}", 1 => "[0-9]{1,12}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn sentences(words in prop::collection::vec(word(), 0..8)) {
        all_go_round(&words.join(" "));
    }

    #[test]
    fn anything(text in "\\PC{0,60}") {
        all_go_round(&text);
    }

    #[test]
    fn descriptions(
        command in prop::collection::vec("\\PC{1,12}", 1..4),
        name in prop::option::of("\\PC{0,12}"),
        value in "\\PC{0,12}",
        milliseconds in 0_u64..100_000,
    ) {
        let mut spec = OutsideSpec::new(command);
        spec.name = name;
        spec.margin = std::time::Duration::from_millis(milliseconds);
        spec.options.push(("an option".to_owned(), value));
        prop_assert_eq!(spec.to_string().parse::<OutsideSpec>().unwrap(), spec);
    }
}

#[test]
fn what_must_be_understood() {
    assert!(goes_round::<numbered::NumberedCommand>("15 time_setting 900000"));
    assert!(goes_round::<numbered::NumberedReply>("=7 "));
    assert!(goes_round::<packets::FromServer>("/turn 0 2"));
    assert!(goes_round::<uci::UciCommand>("position startpos moves b8b8G"));
    assert!(goes_round::<OutsideSpec>("cmd='./my engine' tc=40/15:00+2"));
    let error = "cmd=./x colour=red".parse::<OutsideSpec>().unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown key \"colour\", expected one of cmd, dir, name, proto, tc, movetime, nodes, playouts, depth, restart, margin, patience, option.NAME"
    );
}
