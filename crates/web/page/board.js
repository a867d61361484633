// The board: draws a state and tells which move a person wants. It knows no rules; what may be played is given to it.

import { svg } from './dom.js';
import { GLYPHS } from './glyphs.js';

/**
 * @typedef {import('./wire').PositionView} PositionView
 * @typedef {{
 *   files: number, ranks: number, shown: PositionView, faces: 'chinese' | 'letters', movable: boolean,
 *   hint: string | null, map: Map<string, number> | null, threats: boolean, label: (square: string, face: string, worth?: number) => string }} State
 */

const CELL = 100, EDGE = 34, RADIUS = 42;
/** A pointer that moved less than this clicked. */
const CLICK = 8;

export class Board {
  /** @param {HTMLElement} place @param {(move: string) => void} move @param {(square: string | null) => void} look */
  constructor(place, move, look) {
    this.move = move;
    this.look = look;
    /** @type {State | null} */
    this.state = null;
    /** @type {string | null} */
    this.selected = null;
    this.cursor = '';
    /** @type {{ square: string, x: number, y: number, moved: boolean, id: number } | null} */
    this.drag = null;
    this.drawn = '';
    this.root = svg('svg', { class: 'board', role: 'grid', pointerdown: this.down, pointermove: this.drags, pointerup: this.up, pointercancel: this.cancel, pointerover: this.over, keydown: this.key });
    place.append(this.root);
  }

  /** @param {State} state */
  set(state) {
    const key = `${state.shown.ply} ${state.shown.position}`;
    const fresh = key !== this.drawn && this.drawn !== '';
    if (key !== this.drawn) this.selected = null;
    this.drawn = key;
    this.state = state;
    this.draw(fresh);
  }

  /** @param {string} square */
  place(square) {
    const { ranks } = /** @type {State} */ (this.state);
    return { x: EDGE + (square.charCodeAt(0) - 97) * CELL, y: (ranks - Number(square[1])) * CELL };
  }

  /** All squares as they lie on the page. @returns {string[][]} */
  rows() {
    const { files, ranks } = /** @type {State} */ (this.state);
    return Array.from({ length: ranks }, (_, row) =>
      Array.from({ length: files }, (_, file) => `${String.fromCharCode(97 + file)}${ranks - row}`));
  }

  /** @param {string} square */
  face(square) {
    const { files, ranks, shown } = /** @type {State} */ (this.state);
    return shown.board[(ranks - Number(square[1])) * files + square.charCodeAt(0) - 97];
  }

  /** @param {boolean} animate whether the last ply is news */
  draw(animate) {
    const { files, ranks, shown, movable, hint, map, threats, label } = /** @type {State} */ (this.state);
    const focused = this.root.contains(document.activeElement);
    this.root.setAttribute('viewBox', `0 0 ${EDGE + files * CELL + 4} ${ranks * CELL + EDGE}`);
    this.root.replaceChildren();
    const targets = this.selected && movable ? shown.steps[this.selected] ?? [] : [];
    if (!this.cursor) this.cursor = `a${ranks}`;
    const touched = [shown.last?.from, shown.last?.to];
    const hinted = hint?.split('-') ?? [];
    for (const squares of this.rows()) {
      const row = svg('g', { role: 'row' });
      for (const square of squares) {
        const { x, y } = this.place(square);
        const classes = ['cell'];
        if (touched.includes(square)) classes.push('last');
        if (square === this.selected) classes.push('selected');
        if (hinted.includes(square)) classes.push('hint');
        const face = this.face(square);
        const worth = face === 'x' ? map?.get(square) : undefined;
        const cell = svg('g', {
          role: 'gridcell', 'data-square': square, class: classes.join(' '), tabindex: square === this.cursor ? 0 : -1,
          'aria-label': label(square, face, worth), 'aria-selected': square === this.selected,
        }, svg('rect', { x, y, width: CELL, height: CELL }));
        if (face !== '.') cell.append(this.piece(square, face, animate));
        if (threats && shown.threatened.includes(square))
          cell.append(svg('circle', { class: 'threat', cx: x + CELL - 14, cy: y + 14, r: 9 }));
        if (targets.includes(square)) cell.append(this.target(square, face));
        if (worth !== undefined)
          cell.append(svg('text', { class: 'worth', x: x + CELL / 2, y: y + CELL / 2 }, String(Math.round(worth * 100))));
        row.append(cell);
      }
      this.root.append(row);
    }
    if (animate && shown.last?.captured) this.root.append(this.ghost(shown.last.to, shown.last.captured));
    const jumped = this.selected ? targets.map((to) => shown.jumps[`${this.selected}-${to}`]).filter(Boolean) : [];
    for (const square of jumped) {
      const { x, y } = this.place(square);
      this.root.append(svg('circle', { class: 'jumped', cx: x + CELL / 2, cy: y + CELL / 2, r: RADIUS + 4 }));
    }
    for (let rank = 1; rank <= ranks; rank++)
      this.root.append(svg('text', { class: 'label', x: EDGE / 2, y: (ranks - rank + 0.5) * CELL, 'aria-hidden': 'true' }, rank));
    for (let file = 0; file < files; file++)
      this.root.append(svg('text', { class: 'label', x: EDGE + (file + 0.5) * CELL, y: ranks * CELL + EDGE / 2, 'aria-hidden': 'true' }, String.fromCharCode(97 + file)));
    if (focused) this.focus(this.cursor);
  }

  /** @param {string} square @param {string} face @param {boolean} animate */
  piece(square, face, animate) {
    const { shown, movable } = /** @type {State} */ (this.state);
    const { x, y } = this.place(square);
    const can = movable && (face === 'x' ? shown.flips.includes(square) : square in shown.steps);
    const moving = svg('g', { class: `piece${can ? ' can' : ''}` });
    // The outer group says where, the inner one is free to be animated.
    const outer = svg('g', { transform: `translate(${x + CELL / 2} ${y + CELL / 2})` }, moving);
    moving.append(...faceOf(face, /** @type {State} */ (this.state).faces));
    if (animate && shown.last?.to === square) {
      if (shown.last.from) {
        const from = this.place(shown.last.from);
        moving.style.setProperty('--dx', `${from.x - x}px`);
        moving.style.setProperty('--dy', `${from.y - y}px`);
        moving.classList.add('arrives');
      } else moving.classList.add('turns');
    }
    return outer;
  }

  /** @param {string} square @param {string} face */
  ghost(square, face) {
    const { x, y } = this.place(square);
    const ghost = svg('g', { class: 'piece goes', 'aria-hidden': 'true' }, ...faceOf(face, /** @type {State} */ (this.state).faces));
    ghost.addEventListener('animationend', () => ghost.remove());
    return svg('g', { transform: `translate(${x + CELL / 2} ${y + CELL / 2})`, class: 'untouchable' }, ghost);
  }

  /** @param {string} square @param {string} face */
  target(square, face) {
    const { x, y } = this.place(square);
    return face === '.'
      ? svg('circle', { class: 'target', cx: x + CELL / 2, cy: y + CELL / 2, r: 14 })
      : svg('circle', { class: 'target ring', cx: x + CELL / 2, cy: y + CELL / 2, r: RADIUS + 4 });
  }

  /** @param {string} square */
  focus(square) {
    this.cursor = square;
    for (const cell of this.root.querySelectorAll('[role=gridcell]'))
      cell.setAttribute('tabindex', cell.getAttribute('data-square') === square ? '0' : '-1');
    const cell = this.root.querySelector(`[data-square=${square}]`);
    if (cell instanceof SVGElement) cell.focus({ preventScroll: true });
  }

  /** What a click or Enter on a square means. @param {string} square */
  choose(square) {
    const { shown, movable } = /** @type {State} */ (this.state);
    this.cursor = square;
    this.look(square);
    if (!movable) return;
    const from = this.selected;
    if (from && from !== square && shown.steps[from]?.includes(square)) {
      this.selected = null;
      this.draw(false);
      return this.move(`${from}-${square}`);
    }
    const again = this.selected === square;
    this.selected = null;
    if (shown.flips.includes(square)) {
      this.draw(false);
      return this.move(square);
    }
    if (square in shown.steps && !again) this.selected = square;
    this.draw(false);
  }

  /** @param {Event} event @returns {string | null} */
  squareOf(event) {
    const cell = event.target instanceof Element ? event.target.closest('[data-square]') : null;
    return cell?.getAttribute('data-square') ?? null;
  }

  /** @param {PointerEvent} event */
  down = (event) => {
    const square = this.squareOf(event);
    if (!square || event.button !== 0) return;
    this.drag = { square, x: event.clientX, y: event.clientY, moved: false, id: event.pointerId };
  };

  /** @param {PointerEvent} event */
  drags = (event) => {
    const drag = this.drag;
    if (!drag || drag.id !== event.pointerId || !this.state) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < CLICK) return;
    if (!this.state.movable || !(drag.square in this.state.shown.steps)) return;
    if (!drag.moved) {
      drag.moved = true;
      this.selected = drag.square;
      this.draw(false);
      this.root.setPointerCapture(event.pointerId);
    }
    const piece = this.root.querySelector(`[data-square=${drag.square}] .piece`);
    const scale = this.root.getBoundingClientRect().width / (EDGE + this.state.files * CELL + 4);
    piece?.setAttribute('transform', `translate(${dx / scale} ${dy / scale})`);
    piece?.closest('[role=row]')?.append(/** @type {Element} */ (piece.closest('[data-square]')));
    piece?.classList.add('dragged');
  };

  /** @param {PointerEvent} event */
  up = (event) => {
    const drag = this.drag;
    this.drag = null;
    if (!drag || drag.id !== event.pointerId) return;
    if (!drag.moved) return this.choose(drag.square);
    const under = document.elementsFromPoint(event.clientX, event.clientY)
      .map((element) => element.closest('[data-square]')?.getAttribute('data-square'))
      .find((square) => square && square !== drag.square);
    this.selected = drag.square;
    if (under && this.state?.shown.steps[drag.square]?.includes(under)) return this.choose(under);
    this.selected = null;
    this.draw(false);
  };

  /** Pointing at a square of the flip map is looking at it. @param {PointerEvent} event */
  over = (event) => {
    const square = this.squareOf(event);
    if (square && this.state?.map && !this.drag) this.look(square);
  };

  cancel = () => {
    this.drag = null;
    this.selected = null;
    if (this.state) this.draw(false);
  };

  /** @param {KeyboardEvent} event */
  key = (event) => {
    const steps = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] });
    const step = steps[event.key];
    if (step && this.state) {
      const file = this.cursor.charCodeAt(0) - 97 + step[0], rank = Number(this.cursor[1]) + step[1];
      if (file >= 0 && file < this.state.files && rank >= 1 && rank <= this.state.ranks) {
        this.focus(`${String.fromCharCode(97 + file)}${rank}`);
        this.look(this.cursor);
      }
    } else if (event.key === 'Enter' || event.key === ' ') this.choose(this.cursor);
    else if (event.key === 'Escape') this.cancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

/** A piece around the origin. @param {string} face @param {'chinese' | 'letters'} faces @returns {SVGElement[]} */
export const faceOf = (face, faces) => {
  if (face === 'x') return [svg('circle', { class: 'back', r: RADIUS }), svg('circle', { class: 'back-ring', r: RADIUS - 9 })];
  const color = face === face.toUpperCase() ? 'red' : 'black';
  const sign = faces === 'chinese'
    ? svg('path', { class: `sign ${color}`, d: GLYPHS[face], transform: 'translate(-27 -27) scale(.54)' })
    : svg('text', { class: `sign ${color}`, y: 2 }, face.toUpperCase());
  return [svg('circle', { class: 'disc', r: RADIUS }), svg('circle', { class: `rim ${color}`, r: RADIUS - 6 }), sign];
};
