//! Damage of every kind at every place: an error that says where, and no other record lost.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use anqi_records::{Comment, Flaw, Format, Reader, Record, RecordDamage, RecordError, Tags, Writer};
use anqi_rules::{Deal, Game, Move, Rules, Seed};
use proptest::prelude::*;

/// A short game of nothing but its first moves.
fn game(seed: u64) -> Record {
    let rules = Rules::server();
    let deal = Deal::new(&rules, &Seed::from(seed));
    let mut game = Game::new(rules);
    for turn in 0..9 {
        let legal = game.legal_moves();
        let choice: Move = legal[(seed as usize + turn) % legal.len()];
        game.play(deal.resolve(choice).unwrap()).unwrap();
    }
    game.lose(game.seat(), anqi_rules::Termination::Time);
    let mut tags = Tags::new();
    tags.set("First", "Alice \"the cannon\"").unwrap();
    tags.set("Second", "Bob").unwrap();
    tags.set("Round", &seed.to_string()).unwrap();
    let words = Comment::new("a comment that is long enough to be wrapped, [Event] \\ {and all}").unwrap();
    Record::from_game(&game, tags).with_comments([words.clone(), words])
}

fn write(records: &[Record], format: Format) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format);
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.into_inner()
}

/// Three records, where the second begins, and where the third does.
fn three(format: Format) -> (Vec<u8>, Vec<Record>, usize, usize) {
    let written = [game(1), game(2), game(3)];
    let text = write(&written, format);
    let (one, two) = (write(&written[..1], format).len() + 1, write(&written[..2], format).len() + 1);
    let read: Vec<Record> = read(&text, format).into_iter().map(Result::unwrap).collect();
    assert_eq!(read.len(), 3);
    (text, read, one, two)
}

fn read(text: &[u8], format: Format) -> Vec<Result<Record, RecordDamage>> {
    let lines = text.split(|&byte| byte == b'\n').count() as u64;
    Reader::with_format(text, format)
        .map(|item| match item {
            Ok(entry) => {
                assert!((1..=lines).contains(&entry.line));
                Ok(entry.record)
            }
            Err(RecordError::Damaged(damage)) => {
                assert!((1..=lines).contains(&damage.line), "{damage}");
                let line = text.split(|&byte| byte == b'\n').nth(damage.line as usize - 1).unwrap();
                let shown = damage.text.trim_end_matches('…');
                assert!(String::from_utf8_lossy(line).contains(shown), "{damage}");
                assert!(damage.to_string().contains(&format!("{:?}", damage.text)));
                Err(damage)
            }
            Err(RecordError::Io(error)) => panic!("{error}"),
        })
        .collect()
}

/// The text with something done to the bytes from `at` on.
fn damaged(text: &[u8], at: usize, kind: usize) -> Vec<u8> {
    let (before, after) = text.split_at(at);
    let (put, cut): (&[u8], usize) = match kind {
        0 => (b"", 1),
        1 => (b"", 7),
        2 => (b"\n", 0),
        3 => (b"\n\n", 0),
        4 => (b"x", 1),
        5 => (b"[", 1),
        6 => (b"{", 1),
        7 => (b"}", 0),
        8 => (b"\"", 1),
        9 => (b"\\", 1),
        10 => (b"\xff\xfe", 1),
        11 => (b"9", 1),
        12 => (b"* ", 0),
        13 => (b"\0", 1),
        _ => (b" 1-0 ", 0),
    };
    [before, put, &after[cut..]].concat()
}

#[test]
fn one_damaged_record_costs_no_other() {
    let mut errors = 0;
    for format in Format::ALL {
        let (text, records, one, two) = three(format);
        // Further on, what is cut out may reach into the empty line before the third record.
        for at in one..two - 8 {
            for kind in 0..15 {
                let found = read(&damaged(&text, at, kind), format);
                errors += found.iter().filter(|item| item.is_err()).count();
                let shown = || format!("{format}, damage {kind} at {at}: {found:#?}");
                assert_eq!(found.first(), Some(&Ok(records[0].clone())), "{}", shown());
                assert_eq!(found.last(), Some(&Ok(records[2].clone())), "{}", shown());
                assert!(found.len() <= 4, "{}", shown());
            }
        }
    }
    assert!(errors > 5000, "{errors}");
}

#[test]
fn a_truncated_file_keeps_what_is_whole() {
    for format in Format::ALL {
        let (text, records, one, two) = three(format);
        for end in 0..text.len() {
            let found = read(&text[..end], format);
            let whole = usize::from(end + 2 >= one) + usize::from(end + 2 >= two);
            assert_eq!(found[..whole], records.iter().take(whole).cloned().map(Ok).collect::<Vec<_>>(), "{end}");
            assert!(found.len() <= whole + 1);
        }
    }
}

/// What is missing from the middle of a record.
#[test]
fn a_lost_line_is_noticed() {
    for format in Format::ALL {
        let (text, records, one, two) = three(format);
        let lines: Vec<&[u8]> = text[one..two - 1].split_inclusive(|&byte| byte == b'\n').collect();
        for lost in 0..lines.len() {
            let kept: Vec<u8> =
                lines.iter().enumerate().filter(|(at, _)| *at != lost).flat_map(|(_, line)| line.to_vec()).collect();
            let found = read(&[&text[..one], &kept, b"\n", &text[two..]].concat(), format);
            assert_eq!((&found[0], &found[found.len() - 1]), (&Ok(records[0].clone()), &Ok(records[2].clone())));
            // Nobody can miss a tag, nor the server the last plies.
            let missed = lines[lost].starts_with(b"[") || format == Format::Server && lost + 2 == lines.len();
            assert_eq!(found[1].is_ok(), missed, "{}", String::from_utf8_lossy(lines[lost]));
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    for (text, message) in [
        (
            "garbage",
            "line 1: expected a record, which begins with tags such as [First \"name\"]; the line reads \"garbage\"",
        ),
        (
            "[First \"a\"]\n1. a1(k) *",
            "line 2: expected a tag, or the empty line after the tags; the line reads \"1. a1(k) *\"",
        ),
        (
            "[First \"a]\n\n*",
            "line 1: \"[First \\\"a]\" is not a tag, expected [Name \"value\"] with \\\" and \\\\ for quotes and backslashes in it; the line reads \"[First \\\"a]\"",
        ),
        ("[First \"a\"]\n[First \"b\"]\n\n*", "line 2: tag First is given twice; the line reads \"[First \\\"b\\\"]\""),
        ("[First \"a\"]\n", "line 1: the record ends after its tags; the line reads \"[First \\\"a\\\"]\""),
        ("[First \"a\"]\n\n1. a1(k)", "line 3: the record ends without a result; the line reads \"1. a1(k)\""),
        ("[First \"a\"]\n\n1. a1(k) {so", "line 3: a comment without a closing brace; the line reads \"1. a1(k) {so\""),
        (
            "[First \"a\"]\n\n{so} 1. a1(k) *",
            "line 3: a comment before the first ply; the line reads \"{so} 1. a1(k) *\"",
        ),
        (
            "[First \"a\"]\n\n1. a1(k) {\\n} *",
            "line 3: \"\\\\n\" is not an escape, expected \\} or \\\\; the line reads \"1. a1(k) {\\\\n} *\"",
        ),
        (
            "[First \"a\"]\n\n1. a1(k) 3. a2(p) *",
            "line 3: move number \"3.\" where a ply was expected; the line reads \"1. a1(k) 3. a2(p) *\"",
        ),
        (
            "[First \"a\"]\n\n1. a1(k) a2(p) 3. a3(p) *",
            "line 3: move number \"3.\" where 2. was expected; the line reads \"1. a1(k) a2(p) 3. a3(p) *\"",
        ),
        (
            "[First \"a\"]\n\n1. a1(k) * a2(p)",
            "line 3: \"a2(p)\" comes after the result; the line reads \"1. a1(k) * a2(p)\"",
        ),
        (
            "[Result \"1-0\"]\n\n1. a1(k) *",
            "line 3: tag Result says \"1-0\", but the plies end in *; the line reads \"1. a1(k) *\"",
        ),
        (
            "[PlyCount \"2\"]\n\n1. a1(k) *",
            "line 3: tag PlyCount says \"2\", but there are 1 plies; the line reads \"1. a1(k) *\"",
        ),
    ] {
        assert_eq!(text.parse::<Record>().unwrap_err().to_string(), message);
    }
}

#[test]
fn errors_of_the_servers_format_say_what_is_wrong() {
    let good = String::from_utf8(write(&[game(1)], Format::Server)).unwrap();
    for (from, to, flaw) in [
        ("INITIAL", "INITIALLY", "expected a record, which begins with INITIAL"),
        (" vs ", " against ", "expected players such as * Alice vs Bob"),
        ("* 1 2 2", "* 1 2", "expected fourteen counts, of K G M R N C P k g m r n c p"),
        (
            "* 1 2 2",
            "* 1 2 3",
            "impossible start: face-down squares: 32, but pieces in the pool KGGMMMRRNNCCPPPPPkggmmrrnnccppppp: 33",
        ),
        ("* X X X X", "* X X X", "expected four squares such as * X X - k"),
        ("* X X X X", "* X X X Q", "expected four squares such as * X X - k"),
        ("* first 0", "* first", "expected a number such as * first 0"),
        ("* time 0", "* time soon", "expected seconds such as * time 900"),
        ("* 2. ", "* 3. ", "move number \"3.\" where 2. was expected"),
        ("* 2. ", "2. ", "expected a line that begins with a star"),
        ("* 2. ", "* 2. a1-a2 ", "expected one or two plies after the number"),
        ("Wins 1.0", "Wins 0.7", "expected a result such as * NoMove Alice Wins 1.000000,0.000000"),
        ("TimeOut", "", "the record ends without a result"),
        (
            "TimeOut Alice",
            "TimeOut Bob",
            "the result names \"Bob \\\"the cannon\\\"\", but the points are \"Alice \\\"the cannon\\\"\"'s",
        ),
    ] {
        let text =
            if to.is_empty() { good[..good.find("* TimeOut").unwrap()].to_owned() } else { good.replacen(from, to, 1) };
        assert_ne!(text, good, "{from}");
        let found = read(text.as_bytes(), Format::Server);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].as_ref().unwrap_err().flaw.to_string(), flaw);
    }
}

#[test]
fn huge_records_are_refused_and_passed_over() {
    let small = game(1).to_string();
    let header = "[First \"a\"]\n\n1. a1(k) ";
    let huge = [
        format!("{header}{{{}}} *", "long ".repeat(50_000).replace("g l", "g\nl")),
        format!("{header}{{{}}} *", "x".repeat(1 << 17)),
        format!("{header}{{{}}} *", "many words\n".repeat(2 << 20)),
        format!("[First \"a\"]\n\n{} *", "a1-a2\n".repeat(70_000)),
        format!("{}\n*", (0..300).map(|n| format!("[T{n} \"\"]\n")).collect::<String>()),
        format!("[First \"a\"]\n\n{}", "{}\n".repeat(1 << 16)),
    ];
    for record in huge {
        let text = format!("{small}\n{record}\n\n{small}");
        let found: Vec<bool> = read(text.as_bytes(), Format::Anqi).iter().map(Result::is_ok).collect();
        assert_eq!(found, [true, false, true], "{}", &record[..40]);
    }
    let many = format!("{}* 1-0", (1..40_000).map(|n| format!("* {n}. a1-a2 a2-a1\n")).collect::<String>());
    let head: String = String::from_utf8(write(&[game(1)], Format::Server))
        .unwrap()
        .lines()
        .take(13)
        .map(|line| format!("{line}\n"))
        .collect();
    let found = read(format!("{head}{many}").as_bytes(), Format::Server);
    assert!(matches!(&found[..], [Err(RecordDamage { flaw: Flaw::ManyPlies(_), .. })]), "{found:?}");
}

#[test]
fn much_of_nothing_is_quickly_read() {
    for nothing in ["\n", "x\n", "[\n", "* \n", "{}", "INITIAL\n", "[A \"\"]\n\n"] {
        let text = nothing.repeat(4_000_000 / nothing.len());
        let reader = Reader::new(text.as_bytes()).unwrap();
        assert!(reader.into_iter().all(|item| item.is_err()), "{nothing:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Format::detect(&bytes);
        Format::ALL.into_iter().for_each(|format| drop(read(&bytes, format)));
        prop_assert!(Reader::new(&bytes[..]).unwrap().count() <= bytes.len());
    }

    #[test]
    fn nearly_records_are_read_without_panic(pieces in proptest::collection::vec(
        prop::sample::select(vec!["[", "]", "\"", "\\", "{", "}", "[First \"a\"]", "\n", "\n\n", " ", "1.", "2.", "a1(k)", "a1-a2",
            "[%eval 1]", "[%clk 0:00:01]", "[%wdl", "1-0", "*", "* ", "INITIAL\n", "* a vs b\n", "* 1 2 2 2 2 2 5 1 2 2 2 2 2 5\n",
            "* X X X X\n", "* first 0\n", "* time 900\n", "* 1. a1(k)\n", "* NoMove a Wins 1,0\n", "暗", "\r\n", "\u{feff}"]), 0..60)
    ) {
        let text = pieces.concat();
        for format in Format::ALL {
            for record in read(text.as_bytes(), format).into_iter().flatten() {
                prop_assert_eq!(record.to_string().parse::<Record>().unwrap(), record);
            }
        }
    }
}
