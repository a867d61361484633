// Series: games of a person against a program under fixed terms, with their progress, their table and their files.

import { button, html } from './dom.js';
import { t } from './words.js';

/**
 * @typedef {import('./backend.js').Backend} Backend
 * @typedef {import('./wire').SeriesView} SeriesView
 * @typedef {import('./wire').GameOfSeries} GameOfSeries
 * @typedef {import('./wire').TableRow} TableRow
 * @typedef {Extract<import('./wire').Request, { type: 'begin-series' }>} BeginSeries
 * @typedef {import('./words.js').Word} Word
 */

const RESULTS = /** @type {const} */ (['won', 'lost', 'drawn']);

/** Who moves first in a game. @param {GameOfSeries} game */
const mover = ({ first }) => t(first === 'person' ? 'personFirst' : 'programFirst');

/** How the games ended so far, for the person. @param {SeriesView} series */
const score = ({ games }) => {
  const [won, lost, drawn] = RESULTS.map((result) => games.filter((game) => game.result === result).length);
  return t('seriesScore', won, lost, drawn);
};

/** @param {SeriesView} series */
const over = ({ games }) => games.filter(({ stands }) => stands === 'over').length;

/** @param {string} id @param {Word[]} heads @param {HTMLElement[]} rows @param {Word} caption */
const table = (id, heads, rows, caption) => html('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': t(caption) },
  html('table', { id }, html('caption', {}, t(caption)),
    html('thead', {}, html('tr', {}, ...heads.map((word) => html('th', { scope: 'col' }, t(word))))), html('tbody', {}, ...rows)));

/** @param {TableRow} row */
const scores = ({ program, computerFirst, humanFirst, gsFirst, gsSecond, ts }) => {
  const counts = (/** @type {[number, number, number]} */ games) => `(${games.join(', ')})`;
  const number = (/** @type {number | null} */ value) => (value === null ? '–' : value.toFixed(4));
  const cells = [program, counts(computerFirst), counts(humanFirst), number(gsFirst), number(gsSecond), number(ts)];
  return html('tr', {}, ...cells.map((cell) => html('td', {}, cell)));
};

/** The files of a series, or of all of them. @param {Backend} backend @param {string} name */
const files = (backend, name) => html('p', {}, `${t('export')}: `,
  ...(/** @type {const} */ ([['.csv', 'seriesTableFile'], ['-games.csv', 'seriesGamesFile'], ['.anqi', 'exportOwn']])).flatMap(([end, word], index) => [
    index ? ' · ' : '', html('a', { href: backend.seriesFile(name, end), download: `anqi-series-${name}${end}` }, t(word))]));

/**
 * How the series stands, whose game the page shows, if it shows one.
 * @param {SeriesView} series @param {string | null} open @param {Backend} backend
 * @param {{ next: () => void, open: (game: string) => void }} does
 * @returns {HTMLElement[]}
 */
export const seriesPanel = (series, open, backend, does) => {
  const { games, next } = series;
  const coming = next === null ? undefined : games[next - 1];
  /** @type {HTMLElement[]} */
  const parts = [html('h2', {}, t('seriesOf', series.person, series.program))];
  if (coming) {
    const isOpen = open !== null && coming.game === open;
    parts.push(html('p', { id: 'series-progress' }, `${t('seriesGame', coming.number, games.length)} · ${mover(coming)} · ${score(series)}`));
    const word = coming.stands === 'in-play' ? 'seriesGoOn' : 'seriesNext';
    if (!isOpen) parts.push(html('p', {}, button(t(word, coming.number, mover(coming)), does.next, { id: 'next-game', class: 'main' })));
    else parts.push(html('p', { class: 'note' }, t('seriesRules')));
  } else parts.push(html('p', { id: 'series-progress' }, `${t('seriesDone', over(series), games.length)} · ${score(series)}`));
  if (series.table.length) {
    parts.push(table('series-table', ['program', 'computerFirst', 'humanFirst', 'gsFirst', 'gsSecond', 'ts'], series.table.map(scores), 'seriesTable'),
      html('p', { class: 'note' }, t('seriesTableNote')), files(backend, series.series));
  }
  const result = (/** @type {GameOfSeries} */ { stands, result }) =>
    (result ? t(`series ${result}`) : stands === 'in-play' ? t('inPlay') : stands === 'unreadable' ? t('damaged') : '–');
  const rows = games.map((game) => html('tr', {},
    html('td', {}, game.number), html('td', {}, mover(game)),
    html('td', {}, result(game)), html('td', {}, game.game && game.stands === 'over' ? button(t('open'), () => does.open(/** @type {string} */ (game.game)), { id: `series-game-${game.number}` }) : ''),
    html('td', { class: 'hash' }, html('code', { title: game.commitment }, `${game.commitment.slice(0, 12)}…`))));
  parts.push(html('details', { id: 'series-games' }, html('summary', {}, t('seriesGames')),
    table('series-list', ['gameNumber', 'movesFirst', 'result', 'open', 'commitment'], rows, 'seriesGames'),
    html('p', { class: 'note' }, t('seriesFair'))));
  return parts;
};

/**
 * The form for a new series.
 * @param {string[]} players @param {string[]} rules @param {(request: BeginSeries) => void} begin
 */
const seriesForm = (players, rules, begin) => {
  const person = html('input', { id: 'series-person', required: true, maxlength: 40, autocomplete: 'off', spellcheck: 'false' });
  const rank = html('input', { id: 'series-rank', type: 'number', min: 1, max: 1000000, inputmode: 'numeric' });
  const program = html('input', { id: 'series-program', list: 'series-players', value: 'chen:var1', required: true, spellcheck: 'false' });
  const budget = html('input', { id: 'series-budget', value: 'movetime=30', spellcheck: 'false' });
  const each = html('input', { id: 'series-each', type: 'number', min: 1, max: 50, value: 5, required: true });
  const rule = html('select', { id: 'series-rules' }, ...rules.map((value) => html('option', { value, selected: value === 'chen' }, value)));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const player = [program.value, budget.value].map((text) => text.trim()).filter(Boolean).join(' ');
    begin({ type: 'begin-series', person: person.value, rank: rank.value ? Number(rank.value) : null, program: player, rules: rule.value, each: Number(each.value) });
  };
  return html('form', { id: 'series-form', submit },
    html('p', { class: 'note' }, t('seriesNote')),
    html('label', {}, t('seriesPerson'), ' ', person), html('label', {}, t('seriesRank'), ' ', rank),
    html('label', {}, t('program'), ' ', program, html('datalist', { id: 'series-players' }, ...players.map((value) => html('option', { value })))),
    html('label', {}, t('seriesBudget'), ' ', budget), html('label', {}, t('rules'), ' ', rule),
    html('label', {}, t('seriesEach'), ' ', each),
    html('button', { id: 'begin-series', class: 'main' }, t('seriesBegin')));
};

/**
 * A new series, and those that are kept here.
 * @param {Backend} backend @param {string[]} players @param {string[]} rules
 * @param {(request: BeginSeries) => void} begin @param {(series: string) => void} open @param {() => void} close
 */
export const seriesDialog = async (backend, players, rules, begin, open, close) => {
  const { series } = await backend.series();
  const rows = series.map((each) => html('tr', {},
    html('td', {}, each.person), html('td', {}, each.program), html('td', {}, t('seriesOver', over(each), each.games.length)),
    html('td', {}, button(t('open'), () => open(each.series), { 'data-series': each.series }))));
  const kept = series.length ? [table('all-series', ['person', 'program', 'result', 'open'], rows, 'seriesKept'), files(backend, 'all')] : [];
  return [html('h2', {}, t('series')), seriesForm(players, rules, begin), ...kept, button(t('close'), close)];
};
