// Keep: the list of games, import, export, a link.

import { button, html } from './dom.js';
import { t } from './words.js';

/** @typedef {{ game: string, date: string | null, first: string, second: string, result: string, reason: string | null, plies: number, inPlay: boolean }} Listed */

/** @param {(game: string) => void} open @param {() => void} close */
export const gamesDialog = async (open, close) => {
  const response = await fetch('/api/games');
  const { games } = /** @type {{ games: Listed[] }} */ (await response.json());
  const rows = games.map((game) => html('tr', {},
    html('td', {}, game.date ?? ''),
    html('td', {}, `${game.first} – ${game.second}`),
    html('td', {}, game.result), html('td', {}, game.plies),
    html('td', {}, button(t('open'), () => open(game.game), { 'data-game': game.game }))));
  const head = /** @type {const} */ (['date', 'players', 'result', 'plies']);
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
    told.textContent = [kept.length ? t('imported', kept.length) : '', ...errors].filter(Boolean).join('; ');
    if (kept.length) open(kept[0]);
  };
  return [
    html('h2', {}, t('gamesTitle')),
    games.length
      ? html('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': t('gamesTitle') }, html('table', { id: 'list' },
        html('thead', {}, html('tr', {}, ...head.map((word) => html('th', { scope: 'col' }, t(word))), html('td', {}))),
        html('tbody', {}, ...rows)))
      : html('p', {}, t('noGames')),
    html('h2', {}, t('import')),
    html('p', { class: 'note' }, t('importNote')),
    text,
    html('p', {}, file, ' ', button(t('import'), send, { id: 'import' })),
    told,
    button(t('close'), close),
  ];
};
