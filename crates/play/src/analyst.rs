//! `Analyst`: thinks for hints, studies, reviews and teaching. What its scores mean in won games is measured.

use anqi_endgame::TableError;
use anqi_engine::{
    Candidate, Chances, Choice, Limits, PlayerSpec, Resources, Score, SpecError, TablesOption, chances,
    chances_in_tables, expected,
};
use anqi_rules::{Game, Move, Seed};
use anqi_task::Stop;

use crate::analysis::{Analysis, TableProof, rounded};

/// The player, but for its tables.
const ANALYST: &str = "champion,hash=32";

/// Thinks about positions, and knows the tables of endings.
#[derive(Clone, Debug)]
pub struct Analyst {
    spec: PlayerSpec,
    tables: TablesOption,
    resources: Resources,
}

/// A name of tables that cannot stand in a player string.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("cannot use endgame tables: {0}")]
pub struct AnalystError(#[from] SpecError);

impl Analyst {
    /// A study is repeated with so many nodes, each with more than all before: every answer is a pure function of the game,
    /// and the last costs a third more than it would alone.
    pub const STAGES: [u64; 5] = [4000, 20_000, 100_000, 500_000, 2_000_000];

    /// Up to four pieces are solved when they are met; more are looked up in the tables of this name, if
    /// `resources` have them by the time it thinks.
    ///
    /// # Errors
    /// If the name cannot stand in a player string.
    pub fn new(folder: Option<&str>, resources: &Resources) -> Result<Analyst, AnalystError> {
        let tables = folder.map_or(TablesOption::On, |folder| TablesOption::Folder(folder.to_owned()));
        let spec: PlayerSpec = format!("{ANALYST},tables={}", folder.unwrap_or("on")).parse()?;
        Ok(Analyst { spec: spec.impartial(), tables, resources: resources.clone() })
    }

    /// The player that thinks, whose files the caller opens.
    #[must_use]
    pub fn spec(&self) -> &PlayerSpec {
        &self.spec
    }

    /// Thinks about every move of a position once: a pure function of the game and its arguments.
    #[must_use]
    pub fn think(&self, game: &Game, nodes: u64, stop: &Stop) -> Option<Choice> {
        self.spec.build(Seed::from(1), &self.resources).ok()?.analyse(game, &Limits::nodes(nodes), stop)
    }

    /// What is proven about a position with few pieces and nothing face down.
    ///
    /// # Errors
    /// If a table cannot be read.
    pub fn proof(&self, game: &Game) -> Result<Option<TableProof>, TableError> {
        TableProof::of(game, &self.tables, &self.resources)
    }

    /// What it has thought, with shares of four digits. The player is named without its folder of tables.
    #[must_use]
    pub fn analysis(&self, game: &Game, choice: &Choice) -> Analysis {
        let position = game.position();
        let analysis = Analysis::new(ANALYST.to_owned(), game, choice).proven(self.proof(game));
        let in_tables = analysis.table.is_some();
        let of_move = |candidate: &Candidate| Some(chances_in_tables(position, compared(candidate.score), in_tables));
        let of_outcome = |score| Some(chances(position, compared(score)));
        let mut analysis = analysis.meaning(choice, of_move, of_outcome).with_every_outcome(position);
        analysis.wdl = Some(analysis.table.map_or_else(|| Analyst::value_of(game, choice), |table| table.chances()));
        analysis.rounded()
    }

    /// The chances of the side to move, of four digits.
    #[must_use]
    pub fn value_of(game: &Game, choice: &Choice) -> Chances {
        let best = choice.candidates.iter().find(|candidate| candidate.mv == choice.mv);
        chances(game.position(), best.map_or(choice.score, |candidate| candidate.score)).map(rounded)
    }
}

/// A score among others. A draw that the search sees is worth less in games than its score says, because it saves a side
/// that is behind; but beside worse moves it is the better one.
fn compared(score: Score) -> Score {
    if score == Score::DRAW { Score(1) } else { score }
}

/// The expected score of a move of `game`, of which `choice` is what the analyst thinks; nothing if it was stopped
/// before it had looked at every move.
#[must_use]
pub fn worth(game: &Game, choice: &Choice, mv: Move) -> Option<f64> {
    let candidate = choice.candidates.iter().find(|candidate| candidate.mv == mv)?;
    Some(expected(game.position(), compared(candidate.score)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZeroUsize;
    use std::path::Path;

    use anqi_endgame::Flavour;
    use anqi_records::{Reader, replay};
    use anqi_rules::{Position, Rules};

    use super::*;
    use crate::analysis::Proven;

    #[test]
    fn a_study_maps_every_flip_and_adds_up() {
        let position: Position = "4/4/4/4/4/4/xx2/Rxp1 r krP".parse().unwrap();
        let game = Game::from_position(Rules::server(), position).unwrap();
        let analyst = Analyst::new(None, &Resources::default()).unwrap();
        let choice = analyst.think(&game, Analyst::STAGES[0], &Stop::default()).unwrap();
        let analysis = analyst.analysis(&game, &choice);
        let flips: Vec<_> = analysis.move_infos.iter().filter(|info| !info.outcomes.is_empty()).collect();
        assert_eq!(flips.len(), 3);
        for flip in flips {
            let all: f64 = flip.outcomes.iter().map(|outcome| outcome.probability).sum();
            assert!((all - 1.0).abs() < 1e-3);
        }
        assert!((analysis.wdl.unwrap().iter().sum::<f64>() - 1.0).abs() < 1e-3);
    }

    /// The first stage is long enough for an opinion of every move in every position of real games, and of all that a
    /// flip may show.
    #[test]
    fn every_move_has_a_worth_from_the_first_stage_on() {
        let analyst = Analyst::new(None, &Resources::default()).unwrap();
        let text = fs::read_to_string("../../data/games/server.anqi").unwrap();
        for entry in Reader::new(text.as_bytes()).unwrap().take(2) {
            let mut game = replay(&entry.unwrap().record, None).unwrap().game;
            while game.take_back().is_some() {
                let choice = analyst.think(&game, Analyst::STAGES[0], &Stop::default()).unwrap();
                let analysis = analyst.analysis(&game, &choice);
                for mv in game.legal_moves() {
                    assert!(worth(&game, &choice, mv).is_some(), "{mv} in {}", game.position());
                }
                let outcomes = analysis.move_infos.iter().flat_map(|info| &info.outcomes);
                assert!(outcomes.into_iter().all(|outcome| outcome.winrate.is_some()));
                assert!(analysis.root_info.depth > 0 || analysis.table.is_some());
            }
        }
    }

    /// Where one move alone holds a draw nobody has to search, and still everything is said.
    #[test]
    fn a_draw_that_one_move_holds_is_known_move_by_move() {
        let analyst = Analyst::new(None, &Resources::default()).unwrap();
        let game = Game::from_position(Rules::server(), "4/4/4/4/4/4/g3/N2P r -".parse().unwrap()).unwrap();
        let choice = analyst.think(&game, Analyst::STAGES[0], &Stop::default()).unwrap();
        for mv in game.legal_moves() {
            assert_eq!(worth(&game, &choice, mv).unwrap() > 0.1, mv == choice.mv, "{mv}");
        }
    }

    fn proof(analyst: &Analyst, rules: &str, position: &str) -> Option<(Proven, Option<u16>, bool)> {
        let game = Game::from_position(rules.parse().unwrap(), position.parse().unwrap()).unwrap();
        let proof = analyst.proof(&game).unwrap()?;
        if proof.result != Proven::Draw {
            assert_eq!(
                Analyst::value_of(&game, &analyst.think(&game, Analyst::STAGES[0], &Stop::default()).unwrap()),
                proof.chances()
            );
        }
        Some((proof.result, proof.plies, proof.knows_draw_rule))
    }

    #[test]
    fn tables_prove_endings() {
        let analyst = Analyst::new(None, &Resources::default()).unwrap();
        let of = |position| proof(&analyst, "server", position);
        assert_eq!(of("4/4/4/4/4/4/4/Kg2 r -"), Some((Proven::Win, Some(1), true)));
        assert_eq!(of("4/4/4/4/4/4/p2p/N3 b -"), Some((Proven::Draw, None, true)));
        assert_eq!(of("4/4/4/4/4/4/4/Kgx1 r p"), None);
        // Fig. 7 of Chen, Shen & Hsu has five pieces, and no folder is given.
        assert_eq!(of("1m2/4/1g2/g3/4/4/1c2/2P1 b -"), None);
    }

    fn opened(folder: &Path) -> Analyst {
        let resources = Resources::default();
        let analyst = Analyst::new(folder.to_str(), &resources).unwrap();
        resources.open_for(analyst.spec()).unwrap();
        analyst
    }

    #[test]
    fn tables_of_a_folder_prove_more() {
        const FIG_7: &str = "1m2/4/1g2/g3/4/4/1c2/2P1 b -";
        let ending = "P-ggmc".parse().unwrap();
        for (flavour, expected) in [
            (Flavour::END, (Proven::Win, Some(13), false)),
            (Flavour::conversion(Some(40)), (Proven::Win, Some(13), true)),
        ] {
            let dir = tempfile::tempdir().unwrap();
            anqi_endgame::build(dir.path(), flavour, [ending], NonZeroUsize::MIN, &Stop::default(), ()).unwrap();
            let analyst = opened(dir.path());
            assert_eq!(proof(&analyst, "chen", FIG_7), Some(expected));
            // A damaged table is told.
            for entry in fs::read_dir(dir.path()).unwrap() {
                fs::write(entry.unwrap().path(), "damaged").unwrap();
            }
            let analyst = opened(dir.path());
            let game = Game::from_position(Rules::chen(), FIG_7.parse().unwrap()).unwrap();
            let choice = analyst.think(&game, Analyst::STAGES[0], &Stop::default()).unwrap();
            let analysis = analyst.analysis(&game, &choice);
            assert!(analysis.table.is_none() && analysis.trouble.is_some());
        }
    }
}
