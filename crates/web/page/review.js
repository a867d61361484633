// Learn: what each move lost, what the flips gave, and the worst moments again.

import { button, html } from './dom.js';
import { t } from './words.js';

/** @typedef {import('./wire').Review} Review */
/** @typedef {import('./wire').PlyReview} PlyReview */

/** @param {number} number */
const signed = (number) => `${number < 0 ? '−' : '+'}${Math.abs(number).toFixed(2)}`;

/** What is said about one ply, next to it in the list. @param {PlyReview} review */
export const remark = (review) => {
  const words = [];
  if (review.grade) words.push(t('gaveAway', review.loss.toFixed(2), review.best));
  if (review.luck !== null && Math.abs(review.luck) >= 0.03) words.push(t('lucky', signed(review.luck)));
  return words.join('; ');
};

/** @param {PlyReview | undefined} review */
export const mark = (review) => (review?.grade ? { mistake: '?', blunder: '??' }[review.grade] : '');

/** @param {Review} review @param {[string, string]} names @param {number | null} winner */
const verdict = ({ sides }, names, winner) => {
  if (winner === null) return t('verdict even');
  const [own, other] = [sides[winner], sides[1 - winner]];
  const [play, luck] = [other.loss - own.loss, own.luck - other.luck];
  const word = Math.max(play, luck) <= 0 ? 'verdict last' : play >= luck ? 'verdict skill' : 'verdict luck';
  return t(word, names[winner]);
};

/** @param {Review} review @param {[string, string]} names @param {number | null} winner @param {(ply: number) => void} puzzle */
export const reviewPanel = (review, names, winner, puzzle) => {
  const head = /** @type {const} */ (['side', 'blunders', 'mistakes', 'givenAway', 'luck']);
  const rows = review.sides.map((side, index) => html('tr', {}, html('th', { scope: 'row' }, names[index]),
    html('td', {}, side.blunders), html('td', {}, side.mistakes), html('td', {}, side.loss.toFixed(2)), html('td', {}, signed(side.luck))));
  const puzzles = review.puzzles.map((ply, index) => html('li', {}, button(t('puzzle', index + 1, ply + 1), () => puzzle(ply))));
  return [
    html('h3', {}, t('skillOrLuck')),
    html('p', { id: 'verdict' }, verdict(review, names, winner)),
    html('table', {}, html('thead', {}, html('tr', {}, ...head.map((word) => html('th', { scope: 'col' }, t(word))))), html('tbody', {}, ...rows)),
    html('p', { class: 'note' }, t('luckNote', review.nodes.toLocaleString('en'), review.value)),
    html('h3', {}, t('puzzles')),
    puzzles.length ? html('ul', { class: 'puzzles' }, ...puzzles) : html('p', {}, t('noPuzzles')),
  ];
};
