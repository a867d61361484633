// Checks a deal here in the page, so that no player need believe the server: BLAKE3 for promises, ChaCha8 for the deal.
// All inputs fit into one chunk of 1,024 bytes, which is all of BLAKE3 that is needed.

const IV = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const BLOCK = 64, START = 1, END = 2, ROOT = 8;
const KEYED = 16, CONTEXT = 32, MATERIAL = 64;
const PIECES = 'KGMRNCPkgmrncp';

/** @param {number} x @param {number} n */
const right = (x, n) => ((x >>> n) | (x << (32 - n))) >>> 0;

/** @param {Uint8Array} bytes @param {number} count */
const words = (bytes, count) => {
  const padded = new Uint8Array(4 * count);
  padded.set(bytes);
  const view = new DataView(padded.buffer);
  return Array.from({ length: count }, (_, index) => view.getUint32(4 * index, true));
};

/** BLAKE3 of at most 1,024 bytes. @param {number[]} key @param {Uint8Array} input @param {number} mode @returns {number[]} */
const blake3 = (key, input, mode) => {
  let chained = key;
  for (let at = 0; at === 0 || at < input.length; at += BLOCK) {
    const ends = at + BLOCK >= input.length;
    chained = compress(chained, input.subarray(at, at + BLOCK), mode | (at ? 0 : START) | (ends ? END | ROOT : 0));
  }
  return chained;
};

/** @param {number[]} key @param {Uint8Array} block @param {number} flags @returns {number[]} */
const compress = (key, block, flags) => {
  let message = words(block, 16);
  const v = [...key, ...IV.slice(0, 4), 0, 0, block.length, flags];
  const mix = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ c, /** @type {number} */ d, /** @type {number} */ x, /** @type {number} */ y) => {
    v[a] = (v[a] + v[b] + x) >>> 0; v[d] = right(v[d] ^ v[a], 16);
    v[c] = (v[c] + v[d]) >>> 0; v[b] = right(v[b] ^ v[c], 12);
    v[a] = (v[a] + v[b] + y) >>> 0; v[d] = right(v[d] ^ v[a], 8);
    v[c] = (v[c] + v[d]) >>> 0; v[b] = right(v[b] ^ v[c], 7);
  };
  for (let round = 0; round < 7; round++) {
    const m = message;
    mix(0, 4, 8, 12, m[0], m[1]); mix(1, 5, 9, 13, m[2], m[3]); mix(2, 6, 10, 14, m[4], m[5]); mix(3, 7, 11, 15, m[6], m[7]);
    mix(0, 5, 10, 15, m[8], m[9]); mix(1, 6, 11, 12, m[10], m[11]); mix(2, 7, 8, 13, m[12], m[13]); mix(3, 4, 9, 14, m[14], m[15]);
    message = PERMUTATION.map((index) => m[index]);
  }
  return Array.from({ length: 8 }, (_, index) => (v[index] ^ v[index + 8]) >>> 0);
};

/** The words of ChaCha8 with this key, one after the other. @param {number[]} key */
function* chacha8(key) {
  for (let counter = 0; ; counter++) {
    const start = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, ...key, counter, 0, 0, 0];
    const v = [...start];
    const quarter = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ c, /** @type {number} */ d) => {
      v[a] = (v[a] + v[b]) >>> 0; v[d] = right(v[d] ^ v[a], 16);
      v[c] = (v[c] + v[d]) >>> 0; v[b] = right(v[b] ^ v[c], 20);
      v[a] = (v[a] + v[b]) >>> 0; v[d] = right(v[d] ^ v[a], 24);
      v[c] = (v[c] + v[d]) >>> 0; v[b] = right(v[b] ^ v[c], 25);
    };
    for (let round = 0; round < 4; round++) {
      quarter(0, 4, 8, 12); quarter(1, 5, 9, 13); quarter(2, 6, 10, 14); quarter(3, 7, 11, 15);
      quarter(0, 5, 10, 15); quarter(1, 6, 11, 12); quarter(2, 7, 8, 13); quarter(3, 4, 9, 14);
    }
    for (let index = 0; index < 16; index++) yield (v[index] + start[index]) >>> 0;
  }
}

/** @param {string} hex */
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** @param {string} text */
const ascii = (text) => new TextEncoder().encode(text);

/** BLAKE3 in its mode for deriving keys, in hexadecimal digits. @param {string} context @param {Uint8Array} material */
const derived = (context, material) => {
  const out = blake3(blake3(IV, ascii(context), CONTEXT), material, MATERIAL);
  const view = new DataView(new ArrayBuffer(32));
  out.forEach((word, index) => view.setUint32(4 * index, word, true));
  return Array.from(new Uint8Array(view.buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** What was promised for this seed and nonce. @param {string} seed @param {string} nonce @returns {string} */
export const commitment = (seed, nonce) => derived('anqi 2026 deal commitment', bytes(seed + nonce));

/** @typedef {{ seed: string, nonce: string }} Contribution */
/** @typedef {import('./wire').SeatName} SeatName */

const SEATS = /** @type {const} */ (['first', 'second']);
/** A seat as a byte. @param {SeatName} seat */
const number = (seat) => `0${SEATS.indexOf(seat) + 1}`;

/** @param {string} hex @param {string} game */
const withName = (hex, game) => Uint8Array.from([...bytes(hex), ...ascii(game)]);

/** What a player promises for its part of a deal. @param {Contribution} own @param {SeatName} by @param {string} game */
export const commitmentOf = ({ seed, nonce }, by, game) =>
  derived('anqi 2026 contribution to a deal', withName(seed + nonce + number(by), game));

/** The seed that the server's and those of the players make. @param {string} seed @param {string} game @param {(Contribution | null)[]} parts */
export const jointSeed = (seed, game, parts) => {
  const all = SEATS.flatMap((by, index) => (parts[index] ? [number(by) + parts[index].seed] : []));
  return derived('anqi 2026 deal of several parties', withName(`${seed}0${all.length}${all.join('')}`, game));
};

/**
 * What lies under each face-down square of a start, from its seed.
 * @param {string} seed @param {import('./wire').PositionView} start @param {number} files @param {number} ranks
 * @returns {Map<string, string>}
 */
export const deal = (seed, start, files, ranks) => {
  const random = chacha8(blake3(words(bytes(seed), 8), ascii('deal'), KEYED));
  const pool = [...start.pool].sort(([a], [b]) => PIECES.indexOf(a) - PIECES.indexOf(b)).flatMap(([piece, count]) => Array(count).fill(piece));
  /** @type {Map<string, string>} */
  const dealt = new Map();
  for (let file = 0; file < files; file++) {
    for (let rank = 1; rank <= ranks; rank++) {
      if (start.board[(ranks - rank) * files + file] !== 'x') continue;
      const drawn = below(random, pool.length);
      dealt.set(`${String.fromCharCode(97 + file)}${rank}`, pool[drawn]);
      // The last piece takes its place.
      const last = pool.pop();
      if (drawn < pool.length) pool[drawn] = last;
    }
  }
  return dealt;
};

/** A number below `bound`, each equally likely (Lemire 2019). @param {Generator<number>} random @param {number} bound */
const below = (random, bound) => {
  const few = 2 ** 32 % bound;
  for (;;) {
    const product = BigInt(random.next().value) * BigInt(bound);
    if (Number(product & 0xffffffffn) >= few) return Number(product >> 32n);
  }
};

/**
 * The seed of a deal, from all its parts; an error says what does not fit. Null if it was never made.
 * @param {import('./wire').GameView} game @param {import('./seats.js').Holding} kept what this browser saw and contributed @returns {string | null}
 */
const seedOf = (game, kept) => {
  const { deal, joint } = game;
  if (!deal) throw new Error('the deal is not told yet');
  if (commitment(deal.seed, deal.nonce) !== game.commitment) throw new Error('seed and nonce do not open the fingerprint');
  if (!joint) return deal.seed;
  const parts = deal.contributions ?? [];
  for (const [index, by] of SEATS.entries()) {
    const [part, told] = [joint.parts[index], parts[index]];
    if (part?.commitment && told && commitmentOf(told, by, joint.game) !== part.commitment) throw new Error(`the ${by} player's part does not open its fingerprint`);
    if (part?.revealed && !told) throw new Error(`the ${by} player's part is missing`);
    if (part?.revealed && kept.by === by && kept.own && told && (told.seed !== kept.own.seed || told.nonce !== kept.own.nonce)) throw new Error('it was not made with what this page has contributed');
    if (kept.seen && (part?.commitment ?? null) !== kept.seen.parts[index]) throw new Error(`the ${by} player's fingerprint is not the one that was shown before`);
  }
  if (kept.seen && kept.seen.commitment !== game.commitment) throw new Error('the fingerprint is not the one that was shown before');
  return joint.parts.every((part) => !part || part.revealed) ? jointSeed(deal.seed, joint.game, parts) : null;
};

/**
 * How many flips of a finished game are those of the promised deal; an error says what is not.
 * @param {import('./wire').GameView} game @param {import('./wire').PositionView} start @param {import('./seats.js').Holding} [kept] @returns {number}
 */
export const verify = (game, start, kept = {}) => {
  const seed = seedOf(game, kept);
  const flips = game.plies.filter((ply) => ply.includes('('));
  if (seed === null && flips.length) throw new Error('pieces were turned up before the deal was made');
  const dealt = seed === null ? new Map() : deal(seed, start, game.files, game.ranks);
  for (const flip of flips)
    if (dealt.get(flip.slice(0, 2)) !== flip[3]) throw new Error(`${flip} is not what was dealt: ${dealt.get(flip.slice(0, 2))}`);
  return flips.length;
};
