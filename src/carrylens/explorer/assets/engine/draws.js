// Draws: which reference question a resampled node takes its write from, the same as Python draws.
// interventions/sequences.py hashes the question's tokens and the seed with BLAKE2b, in 8 bytes.

const BLAKE_START = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const BLAKE_ORDER = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4], [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13], [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11], [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5], [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
const BLAKE_MIXES = [
  [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
];
const WORD = 0xffffffffffffffffn;

function turned(value, by) {
  return ((value >> by) | (value << (64n - by))) & WORD;
}

// The first 8 bytes' hash, as a number, of whole 64-bit words.
function blake2b64(words) {
  const state = [...BLAKE_START], nBlocks = Math.max(1, Math.ceil(words.length / 16));
  state[0] ^= 0x01010000n ^ 8n;
  for (let block = 0; block < nBlocks; block++) {
    const isLast = block === nBlocks - 1, some = words.slice(block * 16, block * 16 + 16);
    while (some.length < 16) some.push(0n);
    const v = [...state, ...BLAKE_START];
    v[12] ^= BigInt(isLast ? words.length * 8 : (block + 1) * 128);
    if (isLast) v[14] ^= WORD;
    for (let round = 0; round < 12; round++) {
      const order = BLAKE_ORDER[round % 10];
      BLAKE_MIXES.forEach(([a, b, c, d], i) => {
        v[a] = (v[a] + v[b] + some[order[2 * i]]) & WORD;
        v[d] = turned(v[d] ^ v[a], 32n);
        v[c] = (v[c] + v[d]) & WORD;
        v[b] = turned(v[b] ^ v[c], 24n);
        v[a] = (v[a] + v[b] + some[order[2 * i + 1]]) & WORD;
        v[d] = turned(v[d] ^ v[a], 16n);
        v[c] = (v[c] + v[d]) & WORD;
        v[b] = turned(v[b] ^ v[c], 63n);
      });
    }
    for (let i = 0; i < 8; i++) state[i] ^= v[i] ^ v[i + 8];
  }
  return state[0];
}

// The place in `pool`, sequences sorted by their tokens, of the one drawn for a question: never the question itself.
function drawnPlace(pool, tokens, nQuestion, seed) {
  const isSame = (other) => {
    for (let p = 0; p < nQuestion; p++) if (other[p] !== tokens[p]) return false;
    return true;
  };
  const start = pool.findIndex(isSame), same = pool.filter(isSame).length, count = pool.length - same;
  if (!count) throw new Error("The reference has no question but the one asked.");
  const words = [...Array.from(tokens.slice(0, nQuestion), BigInt), BigInt(seed)];
  const place = Number(blake2b64(words) % BigInt(count));
  return same && place >= start ? place + same : place;
}
