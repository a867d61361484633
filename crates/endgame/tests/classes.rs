//! Published and exact counts of material classes.

use std::collections::{HashMap, HashSet};

use anqi_endgame::{Class, Ending};
use anqi_rules::{Color, Ladder, Piece};

#[test]
fn counts_of_classes() {
    let counts: Vec<usize> = (2..=7).map(|pieces| Class::all(pieces).len()).collect();
    assert_eq!(counts, [5, 20, 75, 233, 709, 1998]);
}

/// Chen et al. count endings of 3 to 8 pieces; 5.82 % of them remain.
#[test]
fn classes_of_three_to_eight_pieces() {
    let endings: usize = (3..=8).map(|pieces| Ending::all(pieces).count()).sum();
    let classes: Vec<usize> = (3..=8).map(|pieces| Class::all(pieces).len()).collect();
    assert_eq!((endings, classes[5], classes.iter().sum::<usize>()), (144_158, 5348, 8383));
}

/// Every combination of revealed pieces but the 49 of one against one: 28.93 % remain.
#[test]
#[ignore = "canonises 8.5 million endings"]
fn classes_of_all_revealed_endings() {
    let mut endings = 0;
    let mut classes = HashSet::new();
    for pieces in 3..=32 {
        for ending in Ending::all(pieces) {
            endings += 1;
            classes.insert(Class::of(&ending).class);
        }
    }
    assert_eq!((endings, classes.len()), (8_497_176, 2_458_641));
}

#[test]
fn names_and_colours_do_not_matter_but_what_is_face_down_does() {
    let class = |shown: &str, pool: &str| {
        let [shown, pool] = [shown, pool].map(|text| text.parse().expect(text));
        Class::of_pieces(&shown, &pool, Ladder::Taiwan).class
    };
    assert_eq!(class("GN", "mn"), class("MN", "rn"));
    assert_eq!(class("GN", "mn"), class("gn", "MN"));
    assert_eq!(class("P", "k"), class("g", "N")); // the pawn takes the king
    assert_ne!(class("GN", "m"), class("Gm", "N"));
    assert_ne!(class("C", "p"), class("N", "p"));
    // What turns up, or is taken, is as if it had been so from the beginning.
    let (before, after) = (class("Gk", "Pn"), [class("GkP", "n"), class("Gkn", "P")]);
    let flipped = |group| before.flipped(group).map(|grouping| grouping.class);
    let all: HashSet<Class> = (0..before.groups().len()).filter_map(flipped).collect();
    assert_eq!(all, HashSet::from(after));
    let taken: HashSet<Class> = before.smaller().collect();
    assert_eq!(taken, HashSet::from([class("k", "Pn"), class("G", "Pn")]));
}

/// Equal if and only if some renaming of groups and colours makes them equal: by trying all.
#[test]
fn classes_are_equal_if_and_only_if_isomorphic() {
    type Plain = (Vec<(Color, bool, u8, u8)>, Vec<Vec<bool>>);
    /// The least of all orders and both colourings.
    fn least(class: &Class) -> Plain {
        let groups = class.groups();
        let mut orders = vec![Vec::new()];
        for _ in groups {
            let longer = |order: &Vec<usize>| -> Vec<Vec<usize>> {
                let left = (0..groups.len()).filter(|group| !order.contains(group));
                left.map(|group| [order.as_slice(), &[group]].concat()).collect()
            };
            orders = orders.iter().flat_map(longer).collect();
        }
        let plain = |(order, swap): (&Vec<usize>, bool)| {
            let color = |color: Color| if swap { color.other() } else { color };
            let nature = |&group: &usize| {
                let group = &groups[group];
                (color(group.color), group.jumps, group.count, group.pool)
            };
            let takes = |&group: &usize| order.iter().map(|&other| groups[group].takes(other)).collect();
            (order.iter().map(nature).collect(), order.iter().map(takes).collect())
        };
        orders.iter().flat_map(|order| [false, true].map(|swap| plain((order, swap)))).min().expect("an order")
    }
    for pieces in 2..=4 {
        let mut forms: HashMap<Plain, Class> = HashMap::new();
        let mut classes = HashSet::new();
        for ending in Ending::all(pieces) {
            let all: Vec<Piece> = ending.material().pieces().collect();
            // Every choice of pieces that lie face down.
            for down in 0..1_u32 << pieces {
                let side =
                    |wanted| all.iter().enumerate().filter(move |(i, _)| down >> i & 1 == wanted).map(|(_, &p)| p);
                let class = Class::of_pieces(&side(0).collect(), &side(1).collect(), Ladder::Taiwan).class;
                assert_eq!(*forms.entry(least(&class)).or_insert_with(|| class.clone()), class, "{ending} {down:b}");
                classes.insert(class);
            }
        }
        assert_eq!(forms.len(), classes.len(), "{pieces} pieces");
    }
}

#[test]
fn names_are_read_and_printed() {
    for pieces in 2..=4 {
        for ending in Ending::all(pieces) {
            assert_eq!(ending.to_string().parse(), Ok(ending));
        }
    }
    for bad in ["", "-", "N", "N-", "-p", "N-P", "n-p", "N-pp-", "KK-p", "N-pppppp", "Nx-p", "N–p", &"P-p".repeat(99)]
    {
        let error = bad.parse::<Ending>().expect_err(bad).to_string();
        assert!(error.len() < 300, "{error}");
    }
}
