// Keep: the list of games, import, export, a link.

import { button, html } from './dom.js';
import { ownGames } from './seats.js';
import { t } from './words.js';

/** @typedef {import('./backend.js').Backend} Backend */

/** @param {import('./wire').ListedPlayer} player */
const name = ({ name, level }) => (level ? t('level', level) : name === 'person' ? t('person') : name);

/** @param {Backend} backend @param {(game: string) => void} open */
const listed = async (backend, open) => {
  const { games } = await backend.games();
  // A public server lists no games: players know theirs.
  const own = ownGames().filter((game) => !games.some((each) => each.game === game));
  if (!games.length && !own.length) return html('p', {}, t('noGames'));
  const rows = games.map((game) => html('tr', {},
    html('td', {}, game.date ?? ''),
    html('td', {}, `${name(game.first)} – ${name(game.second)}`),
    html('td', {}, game.damaged ? t('damaged') : game.inPlay ? t('inPlay') : game.result), html('td', {}, game.plies),
    html('td', {}, button(t('open'), () => open(game.game), { 'data-game': game.game }))));
  rows.unshift(...own.map((game) => html('tr', {}, html('td'), html('td', {}, t('seatIn', game)), html('td'), html('td'),
    html('td', {}, button(t('open'), () => open(game), { 'data-game': game })))));
  const head = /** @type {const} */ (['date', 'players', 'result', 'plies']);
  return html('table', { id: 'list' },
    html('thead', {}, html('tr', {}, ...head.map((word) => html('th', { scope: 'col' }, t(word))), html('td', {}))),
    html('tbody', {}, ...rows));
};

/** @param {Backend} backend @param {(game: string) => void} open @param {() => void} close */
export const gamesDialog = async (backend, open, close) => {
  const list = html('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': t('gamesTitle') }, await listed(backend, open));
  const told = html('p', { role: 'status' });
  const text = html('textarea', { id: 'import-text', rows: 5, 'aria-label': t('importText'), spellcheck: 'false' });
  const file = html('input', {
    type: 'file', id: 'import-file', accept: '.anqi,.txt,.pgn,text/plain', 'aria-label': t('importFile'),
    change: async () => {
      const chosen = file.files?.[0];
      if (chosen) text.value = await chosen.text();
    },
  });
  const send = async () => {
    try {
      const { games: kept, errors } = await backend.keep(text.value);
      if (!errors.length) return open(kept[0]);
      told.textContent = kept.length ? t('importedSome', kept.length, errors.join('; ')) : errors.join('; ');
      if (kept.length) list.replaceChildren(await listed(backend, open));
    } catch (error) {
      told.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  return [
    html('h2', {}, t('gamesTitle')),
    list,
    html('h2', {}, t('import')),
    html('p', { class: 'note' }, t('importNote')),
    text,
    html('p', { class: 'steps' }, file, button(t('import'), send, { id: 'import' })),
    told,
    button(t('close'), close),
  ];
};
