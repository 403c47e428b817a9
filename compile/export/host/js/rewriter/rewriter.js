// Rewrite text, with an image that `fst export` has written. See rewriter.d.ts.
import { CALLS, ROLES, load as loaded } from "./fst.js";

const [NEW_TEXT, NEW_STARTS, NEW_SPANS] = Array(3).keys(), FAULT = 1;
const NONE = "the text has no path through the transducer, or paths that only the Python runtime finds; expected another text";
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const load = async (table, files) => new Rewriter(await loaded(table, files));

class Rewriter {
  #tok;
  constructor(tok) { this.#tok = tok; }

  rewrite(text) { return decoder.decode(this.#written(text, false)); }

  rewriteWithOffsets(text) {
    const bytes = this.#written(text, true), spans = this.#tok.array(ROLES + NEW_SPANS, Int32Array), found = decoder.decode(bytes);
    const places = placesOf(text.toWellFormed()), offsets = new Int32Array(2 * found.length);
    let at = 0, filled = 0;
    for (const character of found) {
      for (let i = 0; i < 2 * character.length; i++) offsets[filled++] = places[spans[2 * at + (i & 1)]];
      at += sizeOf(character);
    }
    return { text: found, offsets };
  }

  free() { this.#tok.free(); }

  // The bytes of the new text, in memory that the next call overwrites.
  #written(text, withSpans) {
    const tok = this.#tok, half = tok.own / 2;
    for (let needed = 1; needed;) {
      const units = tok.putAll(text); // may make new arrays
      tok.starts[2] = units, needed = 0;
      for (let i = withSpans ? half : 0, end = i + half; i < end && !needed; i++) needed = tok.has(CALLS + i) ? Number(tok.run(CALLS + i)) : 0;
      if (needed === FAULT || needed < 0) throw new RangeError(NONE);
      if (needed) tok.reserve(2 * needed);
    }
    return tok.array(ROLES + NEW_TEXT, Uint8Array).subarray(0, tok.array(ROLES + NEW_STARTS, Int32Array)[2]);
  }
}

// The number of bytes of a character.
function sizeOf(character) {
  const code = character.codePointAt(0);
  return 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
}

// The index in the string of the character that begins at a byte, and of the end.
function placesOf(text) {
  const places = new Int32Array(3 * text.length + 1);
  let at = 0, units = 0;
  for (const character of text) at += sizeOf(character), units += character.length, places[at] = units;
  return places;
}
