//! What every backend's vectors have to do, lane by lane.

use crate::lanes::xoshiro::Xoshiro;
use crate::lanes::{Lanes, Row};
use crate::seed::Generator;
use crate::{bits, seed, word};

/// Compares a backend with plain numbers. To be called from a function compiled for it.
#[inline(always)]
pub(super) fn check<V: Lanes>() {
    generators_are_the_single_one::<V>();
    let mut rng = Generator::new(3, 4);
    for _ in 0..2000 {
        // Sets of all densities, the empty and the full one among them.
        let (mut sets, mut others) = (Row::default(), Row::default());
        for (set, other) in sets.0.iter_mut().zip(&mut others.0) {
            (*set, *other) = (rng.next(), rng.next());
            match *other % 8 {
                0 => *set = 0,
                1 => *set = !0,
                2 => *set &= rng.next() & rng.next(),
                3 => *set |= rng.next(),
                _ => {}
            }
        }
        operations_are_those_of_numbers::<V>(&sets, &others);
    }
}

#[inline(always)]
fn operations_are_those_of_numbers<V: Lanes>(sets: &Row, others: &Row) {
    let (a, b) = (V::load(sets), V::load(others));
    let small = |row: &Row| Row(row.0.map(|number| number >> 27));
    let (n, m) = (V::load(&small(sets)), V::load(&small(others)));
    let same = |vector: V, number: &dyn Fn(u32, u32) -> Option<u32>| {
        let mut row = Row::default();
        vector.store(&mut row);
        for lane in 0..V::WIDTH {
            let (a, b) = (sets.0[lane], others.0[lane]);
            if let Some(number) = number(a, b) {
                assert_eq!(row.0[lane], number, "lane {lane} of {a:x} and {b:x}");
            }
        }
    };
    same(a & b, &|a, b| Some(a & b));
    same(a | b, &|a, b| Some(a | b));
    same(a ^ b, &|a, b| Some(a ^ b));
    same(!a, &|a, _| Some(!a));
    same(a << 9, &|a, _| Some(a << 9));
    same(a >> 9, &|a, _| Some(a >> 9));
    same(a + b, &|a, b| Some(a.wrapping_add(b)));
    same(a - b, &|a, b| Some(a.wrapping_sub(b)));
    same(a.rotate(7), &|a, _| Some(a.rotate_left(7)));
    same(a.times_high(b), &|a, b| Some(((u64::from(a) * u64::from(b)) >> 32) as u32));
    same(a.count(), &|a, _| Some(a.count_ones()));
    same(a.nth(m), &|a, b| (b >> 27 < a.count_ones()).then(|| bits::nth(a, b >> 27)));
    same(n.square(), &|a, _| Some(1 << (a >> 27)));
    same(a.highest(), &|a, _| (a != 0 && a >> 31 == 0).then(|| 1 << a.ilog2()));
    same((a & b).next_above(a), &|a, b| Some(word::next_above((a & b).into(), a.into()) as u32));
    same(a.transposed(), &|a, _| Some(word::transposed(a)));
    same(V::pick(a.is_empty() | n.less(m), a, b), &|a, b| Some(if a == 0 || a >> 27 < b >> 27 { a } else { b }));
    same(V::pick(!a.is_empty(), a, b), &|a, b| Some(if a != 0 { a } else { b }));

    let bits = V::bits(a.is_empty());
    for lane in 0..32 {
        assert_eq!(bits >> lane & 1 == 1, lane < V::WIDTH && sets.0[lane] == 0);
    }
}

#[inline(always)]
fn generators_are_the_single_one<V: Lanes>() {
    let mut states = [Row::default(); 4];
    for lane in 0..V::WIDTH {
        for (row, word) in states.iter_mut().zip(seed::state(11, lane as u64)) {
            row.0[lane] = word;
        }
    }
    let [s0, s1, s2, s3] = &states;
    let mut vector = Xoshiro([V::load(s0), V::load(s1), V::load(s2), V::load(s3)]);
    let mut scalars: Vec<_> = (0..V::WIDTH).map(|lane| Generator::new(11, lane as u64)).collect();
    for _ in 0..1000 {
        let mut row = Row::default();
        vector.next().store(&mut row);
        for (number, scalar) in row.0.iter().zip(&mut scalars) {
            assert_eq!(*number, scalar.next());
        }
    }
}
