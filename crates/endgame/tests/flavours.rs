//! What the flavours say, and how they hang together.

use std::num::NonZeroUsize;

use anqi_endgame::{Class, Distance, Ending, Flavour, Table, Tablebase, Tables, Value, Wdl, verify};
use anqi_rules::Position;

fn tables(flavour: &str, endings: impl IntoIterator<Item = Ending>) -> Tables {
    let mut tables = Tables::new(flavour.parse().expect(flavour));
    tables.build(endings, NonZeroUsize::new(2).expect("two")).expect("small endings");
    tables
}

fn endings(names: &[&str]) -> Vec<Ending> {
    names.iter().map(|name| name.parse().expect(name)).collect()
}

/// All placements of a table with their values.
fn values(table: &Table) -> impl Iterator<Item = Value> {
    let places = 0..table.index().places();
    places.filter_map(|place| Some(table.value(&table.index().placement(place)?)))
}

fn smaller<'a>(tables: &'a Tables) -> impl Fn(&Class) -> Option<&'a Table> {
    |class| tables.iter().find(|table| table.class() == class)
}

#[test]
fn values_follow_from_their_successors() {
    let four = endings(&["CC-cc", "N-ppp", "NC-rc", "PP-nn"]);
    for flavour in ["end", "conversion", "conversion-40", "conversion-7"] {
        let tables = tables(flavour, Ending::all(3).chain(four.clone()));
        for table in tables.iter() {
            let checked = verify(table, smaller(&tables)).expect("all smaller tables are there");
            let compared = checked.unwrap_or_else(|wrong| panic!("{flavour} {:?}: {wrong:?}", table.class()));
            let folded = table.class().groups().iter().any(|group| group.count == 1);
            let all = if table.class().pieces() == 2 { 1 } else { 4 } * table.index().positions();
            assert_eq!(compared, if folded { all / 4 } else { all }, "{:?}", table.class());
        }
    }
}

/// The verifier finds one wrong value among thousands: an ending under another rule has some.
#[test]
fn a_wrong_value_is_found() {
    let (right, wrong) = (tables("conversion", endings(&["NC-rc"])), tables("conversion-7", endings(&["NC-rc"])));
    let ending = endings(&["NC-rc"])[0];
    let (table, _) = wrong.table(&ending).expect("built");
    assert!(verify(table, smaller(&wrong)).expect("complete").is_ok());
    let (unlimited, _) = right.table(&ending).expect("built");
    assert!(verify(unlimited, smaller(&wrong)).expect("complete").is_err());
}

#[test]
fn outcomes_are_those_of_distances() {
    for draw in ["", "-40"] {
        let all = || Ending::all(3).chain(endings(&["NC-rc", "CC-cp"]));
        let (outcomes, conversions) =
            (tables(&format!("outcome{draw}"), all()), tables(&format!("conversion{draw}"), all()));
        for (outcome, conversion) in outcomes.iter().zip(conversions.iter()) {
            assert!(values(outcome).zip(values(conversion)).all(|(a, b)| a.wdl() == b.wdl()));
        }
    }
    let (ends, conversions) = (tables("end", Ending::all(3)), tables("conversion", Ending::all(3)));
    for (end, conversion) in ends.iter().zip(conversions.iter()) {
        assert!(values(end).zip(values(conversion)).all(|(a, b)| a.wdl() == b.wdl() && a.distance() >= b.distance()));
    }
}

/// A limit so high that nothing takes longer is none.
#[test]
fn a_high_limit_changes_nothing() {
    let ending = endings(&["NC-rc"]);
    let (without, with) = (tables("conversion", ending.clone()), tables("conversion-200", ending.clone()));
    let [without, with] = [&without, &with].map(|tables| tables.table(&ending[0]).expect("built").0);
    assert!(values(without).eq(values(with)));
}

/// Exact under a rule means: for a position with quiet plies behind it, what the limit that is left allows.
#[test]
fn quiet_plies_count() {
    let tablebase = Tablebase::solving("conversion-40".parse().expect("a flavour"), 4);
    // The rook drives the knight into a corner.
    let at = |quiet: u16| -> Position { format!("2n1/4/4/4/4/4/4/R3 r - {quiet}").parse().expect("a position") };
    let Some(Distance(plies)) = tablebase.probe(&at(0)).expect("no files").expect("small").distance() else {
        panic!("not decided")
    };
    for quiet in 0..40 {
        let judged = tablebase.judge(&at(quiet)).expect("no files").expect("small");
        assert_eq!(judged.wdl() == Wdl::Draw, quiet + plies > 40, "{quiet} {plies}");
        let actions = tablebase.actions(&at(quiet)).expect("no files").expect("small");
        assert_eq!(actions[0].value, judged, "{quiet}");
    }
}

/// Perfect play from the longest win of four pieces ends when it should.
#[test]
fn the_longest_line() {
    let tablebase = Tablebase::solving(Flavour::END, 4);
    let ending = endings(&["NC-rc"])[0];
    let tables = tables("end", [ending]);
    let (table, _) = tables.table(&ending).expect("built");
    let longest = (0..table.index().places())
        .filter_map(|place| table.index().placement(place))
        .find(|placement| table.value(placement) == Value::win(Distance(121)))
        .expect("there is one");
    // As a position of the class's own name, whose groups come in the order of the class.
    let grouping = Class::of(&ending);
    let mut setup = anqi_rules::Setup::empty(anqi_rules::BoardSize::FourByEight, anqi_rules::Ladder::Taiwan);
    for piece in ending.material().pieces() {
        let square = anqi_rules::SquareSet(longest.sets[grouping.part(piece.index())]).first().expect("a square");
        setup.pieces[square.index()] = Some(piece);
    }
    setup.turn = Some(grouping.color(longest.turn));
    let mut position = Position::try_from(setup).expect("a position");
    let mut plies = 0;
    while let Some(action) =
        tablebase.actions(&position).expect("no files").and_then(|actions| actions.first().copied())
    {
        assert_eq!(action.value.distance(), Some(Distance(121 - plies)));
        let anqi_rules::Move::Step { from, to } = action.mv else { panic!("a flip") };
        position = position.after_step(from, to);
        plies += 1;
        if position.turn().is_some_and(|turn| position.pieces(turn).is_empty()) {
            break;
        }
    }
    assert_eq!(plies, 121);
}
