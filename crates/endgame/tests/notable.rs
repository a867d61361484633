//! Mutual zugzwangs: each once, however its pieces and the board can be turned.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use anqi_endgame::{Class, Ending, Placement, Tables};
use anqi_rules::{Color, Position};

/// What reflections of a position have in common.
fn orbit(position: &Position) -> BTreeSet<String> {
    position.board().symmetries().map(|symmetry| position.transformed(symmetry).to_string()).collect()
}

#[test]
fn mutual_zugzwangs_are_no_reflections_of_each_other() {
    let counts =
        [("N-n", 120), ("P-n", 120), ("N-pp", 2), ("CC-n", 2), ("CC-np", 884), ("PP-np", 3090), ("CC-nc", 1009)];
    for (name, count) in counts {
        let ending: Ending = name.parse().expect(name);
        let mut tables = Tables::default();
        tables.build([ending], NonZeroUsize::MIN).expect("a small ending");
        let (table, _) = tables.table(&ending).expect("built");
        let class_name = table.class().name().expect("small");
        let grouping = Class::of(&class_name);
        let position = |placement: &Placement| grouping.position(&class_name, placement).expect("a placement");

        // Every place of the table, counted by orbit.
        let mut expected = BTreeSet::new();
        for place in 0..table.index().places() {
            let Some(placement) = table.index().placement(place) else { continue };
            let here = position(&placement);
            let [mine, theirs] = [here, here.after_pass()].map(|there| tables.probe(&there).expect("built").wdl());
            if mine < theirs.reversed() {
                let red_first = if here.turn() == Some(Color::Red) { here } else { here.after_pass() };
                expected.insert(orbit(&red_first));
            }
        }
        let red_first =
            |position: Position| if position.turn() == Some(Color::Red) { position } else { position.after_pass() };
        let found: Vec<BTreeSet<String>> =
            table.mutual_zugzwangs().map(|zugzwang| orbit(&red_first(position(&zugzwang.placement)))).collect();
        assert_eq!(found.len(), found.iter().collect::<BTreeSet<_>>().len(), "{name}: each once");
        assert_eq!(found.iter().collect::<BTreeSet<_>>(), expected.iter().collect::<BTreeSet<_>>(), "{name}");
        assert_eq!(found.len(), count, "{name}");
    }
}
