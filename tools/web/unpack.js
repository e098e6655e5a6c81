"use strict";

// Decodes LZMA, as its specification says, and compiles the module. The message has the size of the module and the packed
// bytes, of which build.py chose the options: no probability depends on the position.

// The probability of a zero is a share of this.
const WHOLE = 2048;

// The bits of the byte before a literal that choose its probabilities.
const CONTEXT_BITS = 4;

// The probabilities of a length: two choices, then those of the short, the middle and the long lengths.
const [MIDDLE, SHORT_TREES, MIDDLE_TREES, LONG_TREE, LENGTHS] = [1, 2, 10, 18, 274];

// Where the probabilities of each kind begin, those of the first seven by the state: whether a match follows, whether at one of
// the last four distances and at which, whether of more than one byte.
const [IS_MATCH, IS_REPEAT, IS_SECOND, IS_THIRD, IS_FOURTH, IS_LONG, SLOTS, FAR, ALIGNED] = [0, 12, 24, 36, 48, 60, 72, 328, 443];
const MATCH_LENGTHS = 459;
const REPEAT_LENGTHS = MATCH_LENGTHS + LENGTHS;
const LITERALS = REPEAT_LENGTHS + LENGTHS;

function unpacked(size, packed) {
  const out = new Uint8Array(size);
  const probabilities = new Uint16Array(LITERALS + (768 << CONTEXT_BITS)).fill(WHOLE / 2);
  // The range, and the code in it.
  const coder = new Uint32Array([0xffffffff, new DataView(packed.buffer, packed.byteOffset).getUint32(1)]);
  let next = 5;
  let at = 0;

  function narrow() {
    if (coder[0] >= 0x1000000) return;
    coder[0] <<= 8;
    coder[1] = (coder[1] << 8) | packed[next++];
  }

  function bit(place) {
    const zero = probabilities[place];
    const bound = (coder[0] >>> 11) * zero;
    const isOne = coder[1] >= bound;
    if (isOne) {
      coder[0] -= bound;
      coder[1] -= bound;
      probabilities[place] -= zero >> 5;
    } else {
      coder[0] = bound;
      probabilities[place] += (WHOLE - zero) >> 5;
    }
    narrow();
    return isOne ? 1 : 0;
  }

  // A number of so many bits, the highest or the lowest first.
  function tree(first, bits) {
    let found = 1;
    for (let k = 0; k < bits; k++) found = (found << 1) | bit(first + found);
    return found - (1 << bits);
  }

  function turned(first, bits) {
    let [found, node] = [0, 1];
    for (let k = 0; k < bits; k++) {
      const own = bit(first + node);
      node = (node << 1) | own;
      found |= own << k;
    }
    return found;
  }

  function direct(bits) {
    let found = 0;
    for (let k = 0; k < bits; k++) {
      coder[0] >>>= 1;
      const isOne = coder[1] >= coder[0];
      if (isOne) coder[1] -= coder[0];
      found = (found << 1) | (isOne ? 1 : 0);
      narrow();
    }
    return found;
  }

  function length(first) {
    if (!bit(first)) return 2 + tree(first + SHORT_TREES, 3);
    if (!bit(first + MIDDLE)) return 10 + tree(first + MIDDLE_TREES, 3);
    return 18 + tree(first + LONG_TREE, 8);
  }

  function distance(length) {
    const slot = tree(SLOTS + Math.min(length - 2, 3) * 64, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const high = (2 | (slot & 1)) << bits;
    if (slot < 14) return high + turned(FAR + high - slot, bits);
    return high + (direct(bits - 4) << 4) + turned(ALIGNED, 4);
  }

  function literal(state, last) {
    const before = at > 0 ? out[at - 1] : 0;
    const first = LITERALS + 768 * (before >> (8 - CONTEXT_BITS));
    let found = 1;
    // Behind a match, the byte that would have gone on with it tells which probabilities are used.
    for (let match = state < 7 ? -1 : out[at - last - 1]; found < 256; ) {
      if (match < 0) {
        found = (found << 1) | bit(first + found);
        continue;
      }
      const expected = (match >> 7) & 1;
      match = (match << 1) & 255;
      const own = bit(first + ((1 + expected) << 8) + found);
      found = (found << 1) | own;
      if (own !== expected) match = -1;
    }
    out[at++] = found;
  }

  // The last four distances, the last one first.
  let last = [0, 0, 0, 0];
  for (let state = 0; at < size; ) {
    if (!bit(IS_MATCH + state)) {
      literal(state, last[0]);
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let count;
    if (!bit(IS_REPEAT + state)) {
      count = length(MATCH_LENGTHS);
      last = [distance(count), last[0], last[1], last[2]];
      state = state < 7 ? 7 : 10;
    } else {
      const number = bit(IS_SECOND + state) && 1 + (bit(IS_THIRD + state) && 1 + bit(IS_FOURTH + state));
      last.unshift(...last.splice(number, 1));
      const isLong = number > 0 || bit(IS_LONG + state);
      count = isLong ? length(REPEAT_LENGTHS) : 1;
      state = isLong ? (state < 7 ? 8 : 11) : state < 7 ? 9 : 11;
    }
    for (; count > 0; count--, at++) out[at] = out[at - last[0] - 1];
  }
  return out;
}

self.onmessage = async ({ data: { size, packed } }) => {
  self.postMessage(await WebAssembly.compile(unpacked(size, packed)));
};
