// Encode text into the ids of tokens, and decode ids, with an image that `fst export` has written. See fst.d.ts.

const [TEXT, STARTS, STATE, IDS, IDS_SPANS, OFFSETS, EARLIER, REWRITTEN, CONTENTS, SPANS_OF, FLAGS, DROPS, PATH, ROLES] = Array(14).keys();
const [IS_UNCHANGED, ENCODE, PART, TRIM, SPANS] = Array(5).keys();
const PATHS = 2 * SPANS, CALLS = PATHS + 2, HEADER = 56, SIZE_BITS = 16, PAGE = 65536, MOST = 2 ** 29 - 1, BLOCK = 16384;
const UNKNOWN = 1, SKIPPED = 2, SHORTENED = 4, BYTE = 8, WORKING = 0, BUILT = 1, KEPT = 0, COUNT = 1, BEFORE = 4;
const LONG_WORD = 1024, encoder = new TextEncoder(), decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT = { fatal: true, ignoreBOM: true }, strict = new TextDecoder("utf-8", STRICT);
const EXPORTED = "expected a file of `fst export`: bytes, a response or a URL", OTHER = "the text has characters that only the Python runtime encodes";
export { CALLS, ROLES }; // the calls and the roles of a machine follow
const isHigh = (unit) => unit >= 0xd800 && unit < 0xdc00;
const sizeAt = (text, at) => (text.codePointAt(at) > 0xffff ? 2 : 1); // of a character
const aligned = (size) => Math.ceil(size / 64) * 64;
const kindOf = (value) => (value === null ? "null" : typeof value);

// The size of a source in bytes, and a function that copies it. A file of Node.js is read by this function, without a second copy.
async function opened(promise, name) {
  let source = await promise;
  if (source instanceof URL) {
    const files = source.protocol === "file:" && globalThis.process?.getBuiltinModule?.("node:fs");
    if (files) return { size: files.statSync(source).size, copy: (place) => readFile(files, source, place) };
    source = await fetch(source);
  }
  if (typeof source?.arrayBuffer === "function") {
    const page = /html/.test(source.headers?.get("content-type")) ? " and a page of HTML" : "", address = source.url || name;
    if (page || source.ok === false) throw new TypeError(`${address} is a response with status ${source.status}${page}; ${EXPORTED}; check the address`);
    source = await source.arrayBuffer();
  }
  if (source?.byteLength === undefined) throw new TypeError(`${name} is ${kindOf(source)}; ${EXPORTED}; call load(table, { wasm })`);
  const bytes = ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source);
  return { size: bytes.length, copy: (place) => place.set(bytes) };
}

function readFile(files, source, place) {
  const file = files.openSync(source);
  try {
    for (let at = 0, read = 1; read; at += read) read = files.readSync(file, place, at, place.length - at, null);
  } finally {
    files.closeSync(file);
  }
}

async function moduleOf(promise) {
  const wasm = await promise;
  if (wasm instanceof WebAssembly.Module) return wasm;
  const { size, copy } = await opened(wasm, "wasm"), code = new Uint8Array(size);
  copy(code);
  return WebAssembly.compile(code);
}

export async function load(image, { wasm } = {}) {
  const [source, module] = await Promise.all([opened(image, "the table"), moduleOf(wasm)]);
  const { exports: kernels } = await WebAssembly.instantiate(module);
  if (!kernels.fst_abi) throw new TypeError("wasm is another module; expected the fst.wasm of `fst export`");
  return new Tokenizer(source, kernels);
}

function needText(text) {
  if (typeof text !== "string") throw new TypeError(`the text is ${kindOf(text)}; expected a string`);
}

// The ids of an iterable, as numbers.
function idsOf(ids) {
  if (typeof ids?.[Symbol.iterator] !== "function") throw new TypeError(`the ids are ${kindOf(ids)}; expected an array of integers`);
  return Array.from(ids, (id) => {
    const number = typeof id === "bigint" ? Number(id) : id;
    if (Number.isInteger(number) && number >= 0 && number < 2 ** 32) return number;
    throw new RangeError(`an id is ${typeof id === "string" ? JSON.stringify(id) : String(id)}; expected an integer from 0 to 4294967295`);
  });
}

// Stands in place of the methods of a tokenizer after `free`.
const freed = new Proxy({ free() {} }, {
  get(target, name) {
    if (name in target || typeof name === "symbol" || name === "then") return target[name];
    throw new TypeError("the tokenizer is freed; expected no call after free(); load it again");
  },
});

class Tokenizer {
  constructor({ size, copy }, kernels) {
    this.idle = [], this.kernels = kernels, this.base = aligned(kernels.__heap_base.value), this.units = 0;
    this.grow(this.base + size);
    const image = new Uint8Array(kernels.memory.buffer, this.base, size), view = new DataView(image.buffer, this.base, size);
    copy(image);
    const u32 = (at) => view.getUint32(at, true), u64 = (at) => Number(view.getBigUint64(at, true));
    const isImage = size >= HEADER && decoder.decode(image.subarray(0, 8)) === "fstimage" && u64(24) === size;
    if (!isImage || u32(44) < CALLS + u32(52) || u32(48) < ROLES) throw new TypeError("the image is damaged; expected a table.fst of `fst export`");
    if (view.getBigUint64(16, true) !== kernels.fst_abi()) throw new TypeError("image and module differ; expected files of one `fst export`");
    const [unit, fields, words, calls, roles, own] = [32, 36, 40, 44, 48, 52].map(u32);
    const wordsAt = HEADER + 24 * fields, callsAt = wordsAt + 16 * words, rolesAt = callsAt + 8 * calls;
    this.unit = unit, this.own = own;
    this.fields = Array.from({ length: fields }, (_, i) => [0, 8, 16].map((part) => u64(HEADER + 24 * i + part)));
    this.words = Array.from({ length: words }, (_, i) => [0, 4, 8, 12].map((part) => u32(wordsAt + 16 * i + part)));
    this.calls = Array.from({ length: calls }, (_, i) => [u32(callsAt + 8 * i), u32(callsAt + 8 * i + 4)]);
    this.roles = Array.from({ length: roles }, (_, i) => u32(rolesAt + 4 * i) - 1);
    this.addresses = this.fields.map(([at]) => this.base + at);
    this.growth = this.fields[this.roles[REWRITTEN]]?.[2] ?? 1; // of text that is rewritten, in units for each unit
    this.begin = this.layOut(BUILT, 0, aligned(this.base + size), this.addresses);
    this.reserve(BLOCK);
    for (let i = CALLS + own; i < calls; i++) this.run(i);
  }

  // Give addresses from `end` on to all fields of a kind; return the end of the last one.
  layOut(kind, units, end, addresses) {
    this.fields.forEach(([at, size, perUnit], i) => {
      if (at !== kind) return;
      addresses[i] = end;
      end += aligned(size + perUnit * units);
    });
    return end;
  }

  grow(end) {
    const missing = Math.ceil((end - this.kernels.memory.buffer.byteLength) / PAGE);
    if (missing > 0) this.kernels.memory.grow(missing);
  }

  // Have working memory for blocks of at most `units` units. That of a stream lies before that of its tokenizer, which moves up.
  reserve(units) {
    const { tok } = this, begin = !tok || this.stop === tok.begin ? this.begin : tok.begin;
    try {
      if (units > MOST) throw new RangeError();
      if (tok) tok.move(tok.units, this.layOut(WORKING, units, begin, []) + aligned(8 * this.words.length));
      this.move(units, begin);
    } catch {
      throw new RangeError(`memory for ${units} units of text is missing; expected a shorter word`);
    }
  }

  // Move the working memory up to an address, and lay it out for blocks of at most `units` units: the fields and the words of all calls.
  move(units, begin) {
    const addresses = [...this.addresses], wordsAt = this.layOut(WORKING, units, begin, addresses), before = this.units;
    const stop = wordsAt + aligned(8 * this.words.length), used = this.kernels.memory.buffer.byteLength; // memory that grows is zero
    this.grow(stop);
    const memory = new Uint8Array(this.kernels.memory.buffer);
    for (let i = this.fields.length; i--;) {
      const [at, size, perUnit] = this.fields[i], filled = before && size + perUnit * before, place = addresses[i];
      if (at !== WORKING) continue;
      memory.copyWithin(place, this.addresses[i], this.addresses[i] + filled);
      memory.fill(0, place + filled, Math.min(place + size + perUnit * units, used));
    }
    Object.assign(this, { addresses, units, begin, stop, wordsAt });
    const block = new Uint32Array(memory.buffer, wordsAt, 2 * this.words.length);
    this.words.forEach(([field, perUnit, low, high], i) => {
      const number = field ? addresses[field - 1] : low + perUnit * units;
      block.set([number, perUnit || field ? 0 : high], 2 * i);
    });
    this.view();
  }

  // Make the arrays over memory, which has grown.
  view() {
    const arrays = (roles, Type) => roles.map((role) => this.array(role, Type));
    this.text = this.array(TEXT, this.unit === 1 ? Uint8Array : Uint16Array).subarray(0, this.units);
    [this.starts, this.state, this.ids, this.idsOfSpans, this.offsets] = arrays([STARTS, STATE, IDS, IDS_SPANS, OFFSETS], Int32Array);
    this.earlier = this.array(EARLIER, Int32Array);
    [this.contents, this.flags, this.drops] = arrays([CONTENTS, FLAGS, DROPS], Uint8Array);
    this.spans = this.array(SPANS_OF, BigUint64Array);
  }

  array(role, Type) {
    const place = this.roles[role] ?? -1;
    if (place < 0) return null;
    const [, size, perUnit] = this.fields[place];
    return new Type(this.kernels.memory.buffer, this.addresses[place], Math.floor((size + perUnit * this.units) / Type.BYTES_PER_ELEMENT));
  }

  // Copy as much of a text as fits in `most` units to the memory of kernels; return the end of it in the text, and the number of units. A
  // lone surrogate becomes U+FFFD.
  put(text, at, most) {
    let end = Math.min(at + most, text.length);
    if (end < text.length && isHigh(text.charCodeAt(end - 1))) end--;
    const part = text.slice(at, end);
    if (this.unit === 1) {
      const { read, written } = encoder.encodeInto(part, most < this.units ? this.text.subarray(0, most) : this.text);
      return { end: at + read, units: written };
    }
    const whole = part.toWellFormed();
    for (let i = 0; i < whole.length; i++) this.text[i] = whole.charCodeAt(i);
    return { end, units: whole.length };
  }

  // Copy a whole text to the memory of kernels; return the number of units.
  putAll(text) {
    needText(text);
    this.reserveFor(text);
    return this.put(text, 0, this.units).units;
  }

  // Have memory for a whole text as one block.
  reserveFor(text) {
    const most = (this.unit === 1 ? 3 : 1) * text.length;
    if (most > this.units) this.reserve(most);
  }

  run(call) { return this.kernels.fst_run(this.wordsAt + 8 * this.calls[call][0]); }
  has(call) { return this.calls[call][1] > 0; }

  // Encode a text or a part of one in blocks; return the end of what is read, the number of ids, and the ids and offsets of each block, those
  // of the last one in memory that the next call overwrites. What waits after a block is read again with as much new text, so that the time is
  // linear in a word of any size.
  read(text, isLast, spans) {
    const found = { at: 0, count: 0, ids: [], offsets: [] }, perUnit = this.unit === 1 ? 3 : 1;
    for (let end = -1, waiting = 0, before = 0; end < text.length;) {
      const kept = this.state[2 * KEPT], reserved = Math.ceil(kept / this.growth), { at } = found;
      const left = perUnit * (text.length - at), least = this.has(spans + PART) ? Math.min(2 * waiting + kept, left) : left;
      if (reserved + least > this.units) this.reserve(reserved + least);
      this.state[2 * COUNT] = 0, this.state[2 * BEFORE] = before;
      const block = this.put(text, at, this.units - reserved);
      end = block.end;
      waiting = block.units - this.readBlock(block.units, spans, isLast && end === text.length ? ENCODE : PART, found.count);
      found.at = end - (waiting && this.unit === 1 ? decoder.decode(this.text.subarray(block.units - waiting, block.units)).length : waiting);
      const count = this.state[2 * COUNT], take = end < text.length ? "slice" : "subarray";
      found.count += count;
      found.ids.push((spans ? this.idsOfSpans : this.ids)[take](0, count));
      if (spans) found.offsets.push(this.offsets[take](0, 2 * count)), before += charactersOf(text, at, found.at);
    }
    return found;
  }

  // Run the kernels on a block; return the number of units that they read.
  readBlock(units, spans, call, earlier) {
    this.starts[0] = 0, this.starts[2] = units; // kernels change the starts
    if (this.has(spans + IS_UNCHANGED) && this.run(spans + IS_UNCHANGED) !== 1n) throw new RangeError(OTHER);
    const read = Number(this.run(spans + call));
    if (read < 0 || read > units) throw new RangeError(OTHER);
    if (this.earlier) this.earlier[0] = earlier;
    if (this.has(spans + TRIM)) this.run(spans + TRIM);
    return read;
  }

  // Encode a text, as `read` does.
  encoded(text, spans) {
    needText(text);
    this.state.fill(0);
    return this.read(text, true, spans);
  }

  count(text) { return this.encoded(text, 0).count; }
  encodeView(text) { const { ids } = this.encoded(text, 0); return ids.length > 1 ? joined(ids, Int32Array) : ids[0]; }
  encode(text) { return joined(this.encoded(text, 0).ids, Int32Array); }

  encodeBatch(texts) {
    if (!Array.isArray(texts)) throw new TypeError(`the texts are ${kindOf(texts)}; expected an array of strings`);
    const rowSplits = new Int32Array(texts.length + 1);
    let ids = new Int32Array(BLOCK);
    texts.forEach((text, i) => {
      const row = this.encodeView(text), end = rowSplits[i + 1] = rowSplits[i] + row.length;
      if (end > ids.length) ids = joined([ids, new Int32Array(2 * end - ids.length)], Int32Array);
      ids.set(row, rowSplits[i]);
    });
    return { ids: ids.slice(0, rowSplits[texts.length]), rowSplits };
  }

  encodeWithOffsets(text) {
    if (!this.offsets || !this.has(SPANS + ENCODE)) throw new RangeError("the image has no offsets");
    const { ids, offsets } = this.encoded(text, SPANS);
    return { ids: joined(ids, Int32Array), offsets: inUnits(text, joined(offsets, Int32Array)) };
  }

  // Working memory of a stream.
  another() {
    const own = Object.assign(Object.create(this), { tok: this, units: 0 });
    own.reserve(BLOCK);
    return own;
  }

  stream() { return new Stream(this); }
  decodeStream(options) { return new DecodeStream(this, this.skipped(options)); }

  // The flags of tokens that are skipped.
  skipped({ skipSpecialTokens = true } = {}) {
    if (!this.contents) throw new RangeError("the image has no decoder");
    return UNKNOWN | (skipSpecialTokens ? SKIPPED : 0);
  }

  decode(ids, options) {
    const mask = this.skipped(options), known = idsOf(ids).filter((id) => !((this.flags[id] ?? UNKNOWN) & mask));
    let isFirst = true;
    const parts = known.map((id, i) => {
      const { bytes, isByte, isShortened } = this.content(id, isFirst);
      isFirst = isFirst && !this.content(id, false).bytes.length;
      return { bytes: i === known.length - 1 && isShortened ? bytes.subarray(0, -1) : bytes, isByte };
    });
    return runs(parts).map(textOfRun).join("");
  }

  path(text) {
    if (!this.has(PATHS)) return null;
    needText(text);
    this.reserveFor(text);
    this.encoded(text, 0), this.state.fill(0);
    const rewritten = this.has(PATHS + 1) ? this.run(PATHS + 1) : 0n, steps = Number(rewritten || this.run(PATHS));
    const found = this.array(PATH, Int32Array), characters = [...text];
    const symbolOf = (symbol) => (this.unit === 1 ? symbol : characters[symbol]);
    return Array.from({ length: steps }, (_, i) => ({ symbol: symbolOf(found[3 * i]), state: found[3 * i + 1], token: found[3 * i + 2] }));
  }

  // The bytes of a token; whether it represents a byte; whether the last byte is dropped at the end of a text.
  content(id, isFirst) {
    const span = Number(this.spans[id]), begin = Math.floor(span / 2 ** SIZE_BITS), stop = begin + (span % 2 ** SIZE_BITS);
    const bytes = this.contents.subarray(Math.min(begin + (isFirst ? this.drops[id] & 15 : this.drops[id] >> 4), stop), stop);
    return { bytes, isByte: (this.flags[id] & BYTE) > 0, isShortened: (this.flags[id] & SHORTENED) > 0 && bytes.length > 0 };
  }

  tokenBytes(id) {
    return !this.contents || (this.flags[id] ?? UNKNOWN) & UNKNOWN ? null : this.content(id, false).bytes.slice();
  }

  free() {
    for (const name of Object.keys(this)) delete this[name];
    Object.setPrototypeOf(this, freed);
  }
}

// Encodes a text that arrives in parts. A long word is read again when it has doubled, so that the time is linear in its size.
class Stream {
  constructor(tok) {
    this.tok = tok, this.rest = "", this.seen = 0, this.work = tok.idle.pop() ?? tok.another();
    this.work.view();
    this.work.state.fill(0);
  }

  push(text) {
    needText(text);
    return this.part(text, false);
  }

  end() {
    const ids = this.part("", true);
    this.tok.idle.push(this.work), this.work = null;
    return ids;
  }

  part(text, isLast) {
    if (!this.work) throw new TypeError("the stream has ended; expected no call after end()");
    const all = this.rest + text, end = all.length - (!isLast && isHigh(all.charCodeAt(all.length - 1))), { work } = this;
    if (!work.text.length) work.view(); // memory has grown
    if (!isLast && this.seen >= LONG_WORD && all.length + work.state[2 * KEPT] < 2 * this.seen) return this.rest = all, new Int32Array(0);
    const { at, ids } = work.read(all.slice(0, end), isLast, 0);
    this.rest = all.slice(at), this.seen = this.rest.length + work.state[2 * KEPT];
    return joined(ids, Int32Array);
  }
}

// Decodes ids that arrive in parts. Bytes that are no character yet remain in a decoder.
class DecodeStream {
  constructor(tok, mask) {
    this.tok = tok, this.mask = mask, this.isFirst = true, this.held = [], this.run = [], this.isSpoilt = false;
    this.decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  }

  push(ids) {
    return idsOf(ids).map((id) => ((this.tok.flags[id] ?? UNKNOWN) & this.mask ? "" : this.following(id))).join("");
  }

  end() { return this.ended() + this.decoder.decode(); }

  following(id) {
    const { bytes, isByte, isShortened } = this.tok.content(id, this.isFirst);
    const before = this.decoder.decode(Uint8Array.from(this.held), { stream: true });
    this.isFirst = this.isFirst && !this.tok.content(id, false).bytes.length;
    this.held = isShortened ? [bytes.at(-1)] : [];
    if (isByte) return before + this.byte(bytes[0]);
    return before + this.ended() + this.decoder.decode(isShortened ? bytes.slice(0, -1) : bytes.slice(), { stream: true });
  }

  // A byte of a run of tokens that represent bytes: the character that it completes; U+FFFD for each byte after the first malformed one.
  byte(byte) {
    this.run.push(byte);
    try {
      const text = this.isSpoilt ? this.lost() : new TextDecoder("utf-8", STRICT).decode(Uint8Array.from(this.run), { stream: true });
      if (text) this.run = [];
      return text;
    } catch {
      this.isSpoilt = true;
      return this.lost();
    }
  }

  lost() { return "\ufffd".repeat(this.run.splice(0).length); }

  // The end of a run.
  ended() { return this.isSpoilt = false, this.lost(); }
}

function joined(arrays, Type) {
  if (arrays.length === 1) return arrays[0].slice();
  const found = new Type(arrays.reduce((sum, { length }) => sum + length, 0));
  arrays.reduce((at, array) => (found.set(array, at), at + array.length), 0);
  return found;
}

// Runs of tokens that represent bytes, and of other tokens.
const runs = (parts) => parts.reduce((found, part) => {
  if (found.at(-1)?.[0].isByte === part.isByte) found.at(-1).push(part);
  else found.push([part]);
  return found;
}, []);

// If the bytes of tokens that represent bytes are not UTF-8, each becomes U+FFFD.
function textOfRun(parts) {
  try {
    return (parts[0].isByte ? strict : decoder).decode(joined(parts.map(({ bytes }) => bytes), Uint8Array));
  } catch {
    return "\ufffd".repeat(parts.length);
  }
}

// The number of characters of a part of a text.
function charactersOf(text, at, end) {
  let count = 0;
  for (; at < end; at += sizeAt(text, at)) count++;
  return count;
}

// Convert places in a text from characters to units of UTF-16. Nearly all places ascend; that of special ids is 0.
function inUnits(text, places) {
  if (!/[\ud800-\udbff]/.test(text)) return places;
  let at = 0, character = 0;
  return places.map((place) => {
    if (!place) return 0;
    for (; character < place; character++) at += sizeAt(text, at);
    for (; character > place; character--) at -= at > 1 && sizeAt(text, at - 2) === 2 ? 2 : 1;
    return at;
  });
}
