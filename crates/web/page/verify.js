// Checks a deal here in the page, so that nobody need believe the server: BLAKE3 for the promise, ChaCha8 for the deal.
// All inputs fit into one block, which is all of BLAKE3 that is needed.

const IV = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const ONE_BLOCK = 1 | 2 | 8; // the chunk's start, its end, and the root
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

/** BLAKE3 of at most 64 bytes. @param {number[]} key @param {Uint8Array} input @param {number} mode @returns {number[]} */
const blake3 = (key, input, mode) => {
  let message = words(input, 16);
  const v = [...key, ...IV.slice(0, 4), 0, 0, input.length, ONE_BLOCK | mode];
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

/** What was promised for this seed and nonce. @param {string} seed @param {string} nonce @returns {string} */
export const commitment = (seed, nonce) => {
  const context = blake3(IV, ascii('anqi 2026 deal commitment'), CONTEXT);
  const out = blake3(context, bytes(seed + nonce), MATERIAL);
  const view = new DataView(new ArrayBuffer(32));
  out.forEach((word, index) => view.setUint32(4 * index, word, true));
  return Array.from(new Uint8Array(view.buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
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
 * How many flips of a finished game are those of the promised deal; an error says what is not.
 * @param {import('./wire').GameView} game @param {import('./wire').PositionView} start @returns {number}
 */
export const verify = (game, start) => {
  if (!game.deal) throw new Error('the deal is not told yet');
  if (commitment(game.deal.seed, game.deal.nonce) !== game.commitment) throw new Error('seed and nonce do not open the fingerprint');
  const dealt = deal(game.deal.seed, start, game.files, game.ranks);
  const flips = game.plies.filter((ply) => ply.includes('('));
  for (const flip of flips)
    if (dealt.get(flip.slice(0, 2)) !== flip[3]) throw new Error(`${flip} is not what was dealt: ${dealt.get(flip.slice(0, 2))}`);
  return flips.length;
};
