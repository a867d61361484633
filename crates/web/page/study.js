// See why: chances, lines, the flip map, what is under attack, and the graph of a game.

import { button, html, percent, svg } from './dom.js';
import { t } from './words.js';

/** @typedef {import('./wire').Study} Study */
/** @typedef {NonNullable<import('./wire').Study['wdl']>} Chances */
/** @typedef {import('./words.js').Word} Word */

/** Moves listed by name; every flip is on the map anyway. */
const MOST_LINES = 6;

/** A flip is named by its square alone. @param {import('./wire').MoveInfo} info */
export const isFlip = (info) => !info.move.includes('-');

/** Three shares side by side. @param {Chances} wdl @param {string} who */
export const chancesBar = (wdl, who) => {
  const names = /** @type {Word[]} */ (['win', 'drawn', 'loss']);
  const text = `${t('chancesOf', who)}: ${names.map((name, index) => `${t(name)} ${percent(wdl[index])}`).join(', ')}`;
  const bar = html('div', { class: 'chances', role: 'img', 'aria-label': text });
  names.forEach((name, index) => {
    const part = html('span', { class: name }, wdl[index] >= 0.1 ? percent(wdl[index]) : '');
    part.style.flexGrow = String(wdl[index]);
    bar.append(part);
  });
  return html('div', {}, html('p', { class: 'note' }, text), bar);
};

/** Chances of the first player over the game. @param {Map<number, Chances>} chances @param {number} plies @param {number} at @param {(ply: number) => void} go */
export const graph = (chances, plies, at, go) => {
  const [width, height] = [320, 90];
  const x = (/** @type {number} */ ply) => (plies ? (ply / plies) * width : 0);
  const known = [...chances].sort(([a], [b]) => a - b);
  // A search is a little fond of the side to move: neighbours are averaged.
  const points = known.map(([ply, wdl], index) => {
    const next = known[index + 1];
    return /** @type {[number, Chances]} */ ([ply, next && next[0] < plies ? wdl.map((share, part) => (share + next[1][part]) / 2) : wdl]);
  });
  const area = (/** @type {(wdl: Chances) => number} */ share, /** @type {string} */ name) => {
    const line = points.map(([ply, wdl]) => `${x(ply).toFixed(1)} ${(height * (1 - share(wdl))).toFixed(1)}`);
    const [first, last] = [points[0][0], points[points.length - 1][0]];
    return svg('path', { class: name, d: `M${x(first)} ${height}L${line.join('L')}L${x(last)} ${height}Z` });
  };
  const drawing = svg('svg', {
    class: 'graph', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': t('graph'),
    click: (/** @type {MouseEvent} */ event) => {
      const box = drawing.getBoundingClientRect();
      go(Math.round(((event.clientX - box.left) / box.width) * plies));
    },
  }, svg('rect', { class: 'unknown', width, height }));
  if (points.length) drawing.append(area(() => 1, 'loss'), area(([win, draw]) => win + draw, 'drawn'), area(([win]) => win, 'win'));
  drawing.append(svg('line', { class: 'half', x1: 0, x2: width, y1: height / 2, y2: height / 2 }));
  drawing.append(svg('line', { class: 'at', x1: x(at), x2: x(at), y1: 0, y2: height }));
  return html('figure', {}, html('figcaption', {}, t('graph')), drawing);
};

/**
 * @param {Study} study @param {string[]} threats what is under attack @param {string | null} square whose flip is looked at
 * @param {(move: string) => void} show marks a move on the board
 */
export const studyPanel = (study, threats, square, show) => {
  const { nodes, depth, pv } = study.rootInfo;
  const parts = study.wdl ? [chancesBar(study.wdl, study.turn ? t(study.turn) : t('mover'))] : [];
  if (study.table) {
    const { result, plies, to, knowsDrawRule } = study.table;
    const verdict = t(/** @type {Word} */ (`table ${result}`));
    parts.push(html('p', { id: 'table-verdict' }, to ? t(/** @type {Word} */ (`table to ${to}`), verdict, plies ?? 0) : verdict));
    if (!knowsDrawRule) parts.push(html('p', { class: 'note' }, t('tableNoRule')));
  } else parts.push(html('p', { class: 'note' }, t('chancesNote')));
  if (study.trouble) parts.push(html('p', { class: 'note', role: 'alert' }, study.trouble));
  const columns = /** @type {Word[]} */ (['worth', 'win', 'drawn', 'loss']);
  const rows = study.moveInfos.slice(0, MOST_LINES).map((info) => html('tr', {},
    html('td', {}, button(info.move, () => show(info.move), { class: 'link' })),
    html('td', {}, percent(info.winrate)), ...(info.wdl ?? []).map((share) => html('td', {}, percent(share)))));
  parts.push(html('table', {}, html('caption', {}, t('lines')),
    html('thead', {}, html('tr', {}, html('th', { scope: 'col' }, t('move')), ...columns.map((word) => html('th', { scope: 'col' }, t(word))))),
    html('tbody', {}, ...rows)));
  parts.push(html('p', {}, `${t('continuation')}: ${pv.join(' ')}`));
  parts.push(html('p', {}, threats.length ? t('threats', threats.join(' ')) : t('noThreats')));
  if (study.moveInfos.some(isFlip)) parts.push(flipTable(study, square));
  parts.push(html('p', { class: 'note' }, t(study.isDuringSearch ? 'during' : 'searched', nodes.toLocaleString('en'), depth)));
  return parts;
};

/** @param {Study} study @param {string | null} square */
const flipTable = (study, square) => {
  const flip = study.moveInfos.find((info) => isFlip(info) && info.move === square);
  const section = html('div', { class: 'flip-map' }, html('h3', {}, t('flipMap')), html('p', { class: 'note' }, t('flipMapNote')));
  if (!flip) return section;
  const rows = flip.outcomes.map((outcome) => html('tr', {},
    html('td', {}, t(/** @type {Word} */ (outcome.piece))), html('td', {}, percent(outcome.probability)),
    html('td', {}, percent(outcome.winrate))));
  section.append(html('table', { id: 'flip-of' }, html('caption', {}, t('flipOf', flip.move, percent(flip.winrate))),
    html('thead', {}, html('tr', {}, html('th', { scope: 'col' }, t('piece')), html('th', { scope: 'col' }, t('chance')), html('th', { scope: 'col' }, t('worth')))),
    html('tbody', {}, ...rows)));
  return section;
};
