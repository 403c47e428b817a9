// Look words up, with an image that `fst export` has written. See lookup.d.ts.
import { CALLS, ROLES, load as loaded } from "./fst.js";

const [PIECES, FOUND, WEIGHTED] = Array(3).keys(), END = -1, CUT = -2, SLOW = -3, COUNT = 2; // in 32-bit numbers
const STEPS = "the word takes so many steps that only the Python runtime looks it up; expected another word";

export const load = async (table, files) => new Lookup(await loaded(table, files));

class Lookup {
  #tok;
  constructor(tok) { this.#tok = tok; }

  lookup(word) { return this.analyses(word).analyses; }
  generate(analysis) { return this.analyses(analysis, { generate: true }).analyses; }

  analyses(word, { generate = false } = {}) {
    const tok = this.#tok, call = CALLS + generate;
    if (generate >= tok.own || !tok.has(call)) throw new RangeError("the table has no generation; compile it with --inverse");
    tok.array(ROLES + FOUND, Int32Array).fill(0);
    const units = tok.putAll(word); // may make new arrays
    tok.starts[2] = units;
    const read = tok.run(call), count = tok.array(ROLES + FOUND, Int32Array)[COUNT];
    const ids = tok.array(ROLES + PIECES, Int32Array).subarray(0, count), isWeighted = tok.array(ROLES + WEIGHTED, Uint8Array) !== null;
    if (read < 0n || read > BigInt(units) || ids.length < count || ids.includes(SLOW)) throw new RangeError(STEPS);
    const analyses = [], weights = [], floats = new Float32Array(ids.buffer, ids.byteOffset, ids.length);
    for (let i = 0, first = 0; i < count; i++) {
      if (ids[i] !== END) continue;
      analyses.push(tok.decode(ids.subarray(first, i)));
      if (isWeighted) weights.push(floats[++i]);
      first = i + 1;
    }
    return { analyses, weights: isWeighted ? Float32Array.from(weights) : null, isComplete: ids.at(-1) !== CUT };
  }

  free() { this.#tok.free(); }
}
