// Keep: the list of games, import, export, a link.

import { button, html } from './dom.js';
import { t } from './words.js';

/** @typedef {{ name: string, level: number | null }} ListedPlayer */
/** @typedef {{ game: string, date: string | null, first: ListedPlayer, second: ListedPlayer, result: string, reason: string | null, plies: number, inPlay: boolean }} Listed */

/** @param {ListedPlayer} player */
const name = ({ name, level }) => (level ? t('level', level) : name === 'person' ? t('person') : name);

/** @param {(game: string) => void} open */
const listed = async (open) => {
  const response = await fetch('/api/games');
  const { games } = /** @type {{ games: Listed[] }} */ (await response.json());
  if (!games.length) return html('p', {}, t('noGames'));
  const rows = games.map((game) => html('tr', {},
    html('td', {}, game.date ?? ''),
    html('td', {}, `${name(game.first)} – ${name(game.second)}`),
    html('td', {}, game.inPlay ? t('inPlay') : game.result), html('td', {}, game.plies),
    html('td', {}, button(t('open'), () => open(game.game), { 'data-game': game.game }))));
  const head = /** @type {const} */ (['date', 'players', 'result', 'plies']);
  return html('table', { id: 'list' },
    html('thead', {}, html('tr', {}, ...head.map((word) => html('th', { scope: 'col' }, t(word))), html('td', {}))),
    html('tbody', {}, ...rows));
};

/** @param {(game: string) => void} open @param {() => void} close */
export const gamesDialog = async (open, close) => {
  const list = html('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': t('gamesTitle') }, await listed(open));
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
    const answer = await fetch('/api/games', { method: 'POST', body: text.value, headers: { 'content-type': 'text/plain' } });
    if (!answer.ok) {
      told.textContent = await answer.text();
      return;
    }
    const { games: kept, errors } = /** @type {{ games: string[], errors: string[] }} */ (await answer.json());
    if (!errors.length) return open(kept[0]);
    told.textContent = kept.length ? t('importedSome', kept.length, errors.join('; ')) : errors.join('; ');
    if (kept.length) list.replaceChildren(await listed(open));
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
