//! `GameSeries`: games of one person against one program. Rules, budget, order and deals are fixed before the first of them.

use anqi_engine::Resources;
use anqi_records::{TagError, Tags};
use anqi_rules::{Commitment, Seat, Seed, excerpt};
use serde::{Deserialize, Serialize};

use crate::bot::BotPolicy;
use crate::occupant::Occupant;
use crate::terms::{Secret, Terms, TermsError};

/// A series of games of one person against one program: the person moves first in half of them. All of it is public.
///
/// So were the games of B.-N. Chen, B.-J. Shen and T.-S. Hsu, "Chinese Dark Chess", ICGA Journal 33(2), 2010, section 5.4:
/// ten of every person with every program, five in each order.
///
/// The order follows from the name, which has nothing to do with the deals: those follow from a seed that is kept apart.
///
/// ```
/// use anqi_play::GameSeries;
/// use anqi_rules::Seat;
///
/// let series = GameSeries {
///     name: "0123456789abcdef".to_owned(),
///     person: "4".to_owned(),
///     rank: Some(1),
///     program: "chen:var1 movetime=30".to_owned(),
///     rules: "chen".to_owned(),
///     clock: None,
///     each: 5,
/// };
/// let first = series.numbers().filter(|&number| series.person_seat(number) == Seat::First);
/// assert_eq!((series.games(), first.count()), (10, 5));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GameSeries {
    /// The name, from which the order follows.
    pub name: String,
    /// The name of the person, or the number by which the person is known.
    pub person: String,
    /// How strong the person is, 1 for the strongest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// A player string with its budget, or a level.
    pub program: String,
    /// The rules.
    pub rules: String,
    /// The clock of each side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// How many games there are in each order.
    pub each: u32,
}

/// The place of a game in its series, as its journal and its record tell it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SeriesGame {
    /// The name of the series.
    pub series: String,
    /// Which game of it, from 1.
    pub number: u32,
    /// How many games the series has.
    pub of: u32,
    /// Who plays against the program.
    pub person: String,
    /// The person's rank, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub rank: Option<u32>,
}

/// Why no series can be played as it was asked for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SeriesError {
    /// A name that cannot stand in a table.
    #[error("{0:?} is not the name of a person, expected 1 to {most} characters on one line", most = GameSeries::LONGEST_NAME)]
    Person(String),
    /// No games, or too many.
    #[error("{0} games in each order, expected 1 to {most}", most = GameSeries::MOST_EACH)]
    Each(u32),
    /// A person in the place of the program.
    #[error("a series is played against a program, and {0:?} is none")]
    Program(String),
    /// Rules, clock or program.
    #[error(transparent)]
    Terms(#[from] TermsError),
}

impl GameSeries {
    /// The most games in each order.
    pub const MOST_EACH: u32 = 50;
    /// The most characters of a person's name.
    pub const LONGEST_NAME: usize = 40;

    /// The series as it was asked for, with texts that say everything. The files of the program must be
    /// [open](Resources::open_for).
    ///
    /// # Errors
    /// If it cannot be played.
    pub fn agreed(mut self, policy: &BotPolicy, resources: &Resources) -> Result<GameSeries, SeriesError> {
        self.person = self.person.trim().to_owned();
        let length = self.person.chars().count();
        if !(1..=GameSeries::LONGEST_NAME).contains(&length) || self.person.contains(char::is_control) {
            return Err(SeriesError::Person(excerpt(&self.person)));
        }
        if !(1..=GameSeries::MOST_EACH).contains(&self.each) {
            return Err(SeriesError::Each(self.each));
        }
        if Occupant::read(&self.program, policy).map_err(TermsError::from)?.bot().is_none() {
            return Err(SeriesError::Program(excerpt(&self.program)));
        }
        let terms = self.terms(1).with_engines(policy, resources)?;
        terms.read(policy)?;
        let program = if self.person_seat(1) == Seat::First { terms.second } else { terms.first };
        Ok(GameSeries { program, rules: terms.rules, ..self })
    }

    /// How many games it has.
    #[must_use]
    pub const fn games(&self) -> u32 {
        2 * self.each
    }

    /// The numbers of its games, in the order in which they are played.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        1..=self.games()
    }

    /// The seat that the person has in a game: the first in those games whose numbers have the smallest hashes. So the order is
    /// balanced, and the person who runs a series does not choose it.
    #[must_use]
    pub fn person_seat(&self, number: u32) -> Seat {
        let order = Seed::from([9; 32]).child(&self.name);
        let hash = |number: u32| order.child(number.to_le_bytes()).to_string();
        let own = hash(number);
        let smaller = self.numbers().filter(|&other| hash(other) < own).count();
        if smaller < self.each as usize { Seat::First } else { Seat::Second }
    }

    /// The game to be played next, if some are over.
    pub fn next(&self, is_over: impl Fn(u32) -> bool) -> Option<u32> {
        self.numbers().find(|&number| !is_over(number))
    }

    /// What is agreed for a game.
    #[must_use]
    pub fn terms(&self, number: u32) -> Terms {
        let (person, program) = ("person".to_owned(), self.program.clone());
        let (first, second) =
            if self.person_seat(number) == Seat::First { (person, program) } else { (program, person) };
        let (rules, clock) = (self.rules.clone(), self.clock.clone());
        Terms { rules, first, second, clock, series: Some(self.game(number)), ..Terms::default() }
    }

    /// The place of a game in it.
    #[must_use]
    pub fn game(&self, number: u32) -> SeriesGame {
        let (series, person) = (self.name.clone(), self.person.clone());
        SeriesGame { series, number, of: self.games(), person, rank: self.rank }
    }

    /// What decides the deal of a game in a series of this seed.
    #[must_use]
    pub fn secret(seed: &Seed, number: u32) -> Secret {
        Secret::from_seed(&seed.child(number.to_le_bytes()))
    }

    /// What is promised about all deals before the first game.
    #[must_use]
    pub fn commitments(&self, seed: &Seed) -> Vec<Commitment> {
        self.numbers().map(|number| GameSeries::secret(seed, number).commitment()).collect()
    }
}

/// The tags of a record.
const SERIES: &str = "Series";
const GAME: &str = "SeriesGame";
const PERSON: &str = "Person";
const RANK: &str = "PersonRank";

impl SeriesGame {
    /// Writes it into the tags of a record.
    pub(crate) fn record(&self, tags: &mut Tags) -> Result<(), TagError> {
        tags.set(SERIES, &self.series)?;
        tags.set(GAME, &format!("{}/{}", self.number, self.of))?;
        tags.set(PERSON, &self.person)?;
        self.rank.iter().try_for_each(|rank| tags.set(RANK, &rank.to_string()))
    }

    /// What a record says; `None` if its game is of no series.
    ///
    /// # Errors
    /// With the tag that is missing or cannot be read.
    pub fn of_record(tags: &Tags) -> Result<Option<SeriesGame>, String> {
        let Some(series) = tags.get(SERIES) else { return Ok(None) };
        let wrong = |name: &str, expected: &str| match tags.get(name) {
            Some(text) => format!("tag {name} says {:?}, expected {expected}", excerpt(text)),
            None => format!("tag {name} is missing, expected {expected}"),
        };
        let place = tags.get(GAME).and_then(|text| text.split_once('/'));
        let place = place.and_then(|(number, of)| Some((number.parse::<u32>().ok()?, of.parse::<u32>().ok()?)));
        let place = place.filter(|(number, of)| (1..=*of).contains(number) && *of <= 2 * GameSeries::MOST_EACH);
        let (number, of) = place.ok_or_else(|| wrong(GAME, "a game and how many there are, such as 4/10"))?;
        let person = tags.get(PERSON).ok_or_else(|| wrong(PERSON, "a name"))?;
        let rank = tags.get(RANK).map(|text| text.parse().map_err(|_| wrong(RANK, "a whole number"))).transpose()?;
        Ok(Some(SeriesGame { series: series.to_owned(), number, of, person: person.to_owned(), rank }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, each: u32) -> GameSeries {
        GameSeries {
            name: name.to_owned(),
            person: "Alice".to_owned(),
            program: "chen:var1 depth=2".to_owned(),
            rules: "chen".to_owned(),
            each,
            ..GameSeries::default()
        }
    }

    /// Half of the games in each order, for any name and length; no place of the first half has the same order in all series.
    #[test]
    fn orders_are_balanced_and_differ() {
        let mut firsts = [0_u32; 10];
        for name in 0..400 {
            for each in if name < 4 { &[1, 2, 5, GameSeries::MOST_EACH][..] } else { &[5] } {
                let each = *each;
                let series = series(&format!("{name:016x}"), each);
                let first: Vec<u32> =
                    series.numbers().filter(|&number| series.person_seat(number) == Seat::First).collect();
                assert_eq!((first.len() as u32, series.games()), (each, 2 * each));
                if each == 5 {
                    first.iter().for_each(|&number| firsts[number as usize - 1] += 1);
                }
            }
        }
        // 200 expected; five standard deviations are 50.
        assert!(firsts.iter().all(|&count| (150..=250).contains(&count)), "{firsts:?}");
    }

    /// Orders are told in files that other versions read, so they stay what they are.
    #[test]
    fn an_order_and_its_deals_stay_what_they_are() {
        let series = series("0123456789abcdef", 5);
        let order: String =
            series.numbers().map(|number| if series.person_seat(number) == Seat::First { 'h' } else { 'c' }).collect();
        assert_eq!(order, "hhhcchccch");
        let seed = Seed::from(7);
        let commitments = series.commitments(&seed);
        assert_eq!(commitments.len(), 10);
        let third = GameSeries::secret(&seed, 3);
        assert!(commitments[2].opens_to(third.seed(), third.nonce()));
        assert_eq!(commitments[2].to_string(), "a75b1939f761c71989d798c7d35bf08b783b8da3000a3e71484b08343ece8880");
        assert!(commitments.iter().enumerate().all(|(at, one)| !commitments[at + 1..].contains(one)));
    }

    #[test]
    fn the_next_game_is_the_first_that_is_not_over() {
        let series = series("a", 2);
        assert_eq!(series.next(|_| false), Some(1));
        assert_eq!(series.next(|number| number != 3), Some(3));
        assert_eq!(series.next(|_| true), None);
    }

    #[test]
    fn what_is_agreed_says_everything_or_what_is_wrong() {
        let (policy, resources) = (BotPolicy::page(2), Resources::default());
        for name in ["a", "b", "c", "d"] {
            let agreed = GameSeries { person: " Alice ".to_owned(), ..series(name, 5) }.agreed(&policy, &resources);
            let agreed = agreed.unwrap();
            assert_eq!((agreed.person.as_str(), agreed.rules.as_str()), ("Alice", "chen,repeat=position:3"));
            assert_eq!(agreed.clone().agreed(&policy, &resources).unwrap(), agreed);
            for number in agreed.numbers() {
                let terms = agreed.terms(number);
                let seat = agreed.person_seat(number);
                let texts = [terms.first.as_str(), terms.second.as_str()];
                assert_eq!((texts[seat as usize], texts[seat.other() as usize]), ("person", agreed.program.as_str()));
            }
        }
        let refused = |change: &dyn Fn(&mut GameSeries)| {
            let mut series = series("a", 5);
            change(&mut series);
            series.agreed(&policy, &resources).unwrap_err().to_string()
        };
        let long = "x".repeat(41);
        assert_eq!(
            refused(&|s| s.person = " ".into()),
            "\"\" is not the name of a person, expected 1 to 40 characters on one line"
        );
        assert!(refused(&|s| s.person.clone_from(&long)).contains("expected 1 to 40 characters"));
        assert!(refused(&|s| s.person = "a\nb".into()).contains("\"a\\nb\""));
        assert_eq!(refused(&|s| s.each = 0), "0 games in each order, expected 1 to 50");
        assert_eq!(refused(&|s| s.each = 51), "51 games in each order, expected 1 to 50");
        assert_eq!(
            refused(&|s| s.program = "person".into()),
            "a series is played against a program, and \"person\" is none"
        );
        assert!(refused(&|s| s.program = "chen:var9".into()).contains("chen:var9"));
        assert!(refused(&|s| s.rules = "go".into()).contains("\"go\""));
        assert!(refused(&|s| s.clock = Some("fast".into())).contains("\"fast\""));
    }

    #[test]
    fn a_place_goes_into_tags_and_comes_back() {
        for rank in [None, Some(2)] {
            let place = SeriesGame { rank, ..series("0123456789abcdef", 5).game(4) };
            let mut tags = Tags::new();
            place.record(&mut tags).unwrap();
            assert_eq!(SeriesGame::of_record(&tags), Ok(Some(place.clone())));
            for (name, value, problem) in [
                (GAME, "4", "tag SeriesGame says \"4\", expected a game and how many there are, such as 4/10"),
                (GAME, "11/10", "tag SeriesGame says \"11/10\", expected"),
                (GAME, "0/10", "tag SeriesGame says \"0/10\", expected"),
                (GAME, "1/4000000000", "tag SeriesGame says \"1/4000000000\", expected"),
                (RANK, "first", "tag PersonRank says \"first\", expected a whole number"),
            ] {
                let mut tags = tags.clone();
                tags.set(name, value).unwrap();
                let error = SeriesGame::of_record(&tags).unwrap_err();
                assert!(error.contains(problem), "{error}");
            }
            tags.remove(PERSON);
            assert_eq!(SeriesGame::of_record(&tags), Err("tag Person is missing, expected a name".to_owned()));
        }
        assert_eq!(SeriesGame::of_record(&Tags::new()), Ok(None));
    }
}
