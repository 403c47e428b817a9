// Cut texts into words, with an image that `fst export` has written. See segmenter.d.ts.
import { load as loaded } from "./fst.js";

export const load = async (table, files) => new Segmenter(await loaded(table, files));

class Segmenter {
  #tok;
  constructor(tok) { this.#tok = tok; }

  segment(text) { return this.segmentWithOffsets(text).words; }

  segmentWithOffsets(text) {
    const { ids, offsets } = this.#tok.encodeWithOffsets(text), whole = text.toWellFormed();
    return { words: Array.from(ids, (_, i) => whole.slice(offsets[2 * i], offsets[2 * i + 1])), ids, offsets };
  }

  features(id) { return this.#tok.tokenBytes(id) && this.#tok.decode([id]); }
  free() { this.#tok.free(); }
}
