//! `Reading`: a value for every axis, and everything that was measured with it.

use anqi_stats::{Games, Outcomes};

use super::plan::MultiversePlan;
use super::rows::Results;
use super::template::Setting;
use crate::{MatchRow, Order, PrintedMatch};

/// A combination of values. Universes of parts in which some axes do not occur belong to every reading that agrees on the
/// others.
pub(super) struct Reading {
    pub(super) name: String,
    pub(super) setting: Setting,
    pub(super) rows: Vec<MatchRow>,
}

/// All readings with what is there of them, in the order of the plan.
pub(super) fn readings(plan: &MultiversePlan, results: &Results) -> Vec<Reading> {
    let universes = plan.universes();
    let is_within = |part: &Setting, whole: &Setting| part.iter().all(|(axis, value)| whole.get(axis) == Some(value));
    let mut settings: Vec<&Setting> = Vec::new();
    for universe in universes {
        let setting = &universe.setting;
        let is_part = |other: &Setting| other.len() > setting.len() && is_within(setting, other);
        if !settings.contains(&setting) && !universes.iter().any(|other| is_part(&other.setting)) {
            settings.push(setting);
        }
    }
    let reading = |setting: &Setting| {
        let here = universes.iter().enumerate().filter(|(_, universe)| is_within(&universe.setting, setting));
        let rows = here.flat_map(|(number, universe)| {
            (0..universe.plan.pairings().len()).filter_map(move |pairing| results.row(plan, (number, pairing)).cloned())
        });
        let name: Vec<String> = setting.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
        Reading { name: name.join(","), setting: setting.clone(), rows: rows.collect() }
    };
    settings.into_iter().map(reading).collect()
}

impl Reading {
    /// The result of two players from the point of view of the first.
    fn row(&self, player: &str, opponent: &str) -> Option<MatchRow> {
        let is = |row: &&MatchRow, one: &str, two: &str| row.player == one && row.opponent == two;
        let same = self.rows.iter().find(|row| is(row, player, opponent)).cloned();
        same.or_else(|| self.rows.iter().find(|row| is(row, opponent, player)).cloned().map(MatchRow::inverted))
    }

    /// The measured games that a printed cell counts.
    pub(super) fn games(&self, cell: &PrintedMatch) -> Option<Games> {
        let row = self.row(&cell.player, &cell.opponent)?;
        let games = match cell.order {
            Order::First => row.first(),
            Order::Both => row.games(),
        };
        (games.total() > 0).then_some(games)
    }

    /// Everything between players that meet in a printed table: in both orders, each pairing once.
    pub(super) fn rows_of(&self, cells: &[PrintedMatch]) -> Vec<MatchRow> {
        let meets = |row: &MatchRow, cell: &PrintedMatch| {
            let printed = [&cell.player, &cell.opponent];
            printed == [&row.player, &row.opponent] || printed == [&row.opponent, &row.player]
        };
        self.rows.iter().filter(|row| cells.iter().any(|cell| meets(row, cell))).cloned().collect()
    }
}
