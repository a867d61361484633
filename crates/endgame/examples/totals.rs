//! Wins, draws and losses over all endings up to some number of pieces:
//! `cargo run --release -p anqi-endgame --example totals -- 4`.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use anqi_endgame::{Class, Ending, TableTally, Tables};
use anqi_rules::Color;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let most: u32 = std::env::args().nth(1).map_or(Ok(4), |text| text.parse())?;
    let threads: NonZeroUsize = std::env::args()
        .nth(2)
        .map_or_else(available_parallelism, |text| text.parse().map_err(std::io::Error::other))?;
    let mut tables = Tables::default();
    println!("pieces classes numbers wins draws losses longest");
    for pieces in 2..=most {
        let classes = Class::all(pieces);
        tables.build(classes.values().copied(), threads)?;
        let mut total = TableTally::default();
        for tally in Ending::all(pieces).filter_map(|ending| tables.tally(&ending)) {
            total += tally[Color::Red];
            total += tally[Color::Black];
        }
        let of_size = tables.iter().filter(|table| table.class().pieces() == pieces);
        let numbers: u64 = of_size.map(|table| table.index().positions()).sum();
        let TableTally { win, draw, loss, longest } = total;
        let longest = longest.map_or(0, |distance| distance.0);
        println!("{pieces} {} {numbers} {win} {draw} {loss} {longest}", classes.len());
    }
    Ok(())
}
