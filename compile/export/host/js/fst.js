// Encode text into the ids of tokens, and decode ids, with an image that `fst export` has written. See fst.d.ts.

const [TEXT, STARTS, STATE, IDS, IDS_SPANS, OFFSETS, CONTENTS, SPANS_OF, FLAGS, DROPS, PATH, ROLES] = Array(12).keys();
const [IS_UNCHANGED, ENCODE, TRIM, SPANS] = Array(4).keys();
const PATHS = 2 * SPANS, PART = PATHS + 2, CALLS = PART + 1, HEADER = 56, SIZE_BITS = 16, PAGE = 65536, MOST = 2 ** 29 - 1, BLOCK = 4096;
const UNKNOWN = 1, SKIPPED = 2, SHORTENED = 4, BYTE = 8, WORKING = 0, BUILT = 1, KEPT = 0, COUNT = 1, BEFORE = 4;
const encoder = new TextEncoder(), decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT = { fatal: true, ignoreBOM: true }, strict = new TextDecoder("utf-8", STRICT);
const OTHER = "the text has characters that only the Python runtime encodes";
const isHigh = (unit) => unit >= 0xd800 && unit < 0xdc00, isLow = (unit) => unit >= 0xdc00 && unit < 0xe000;
const aligned = (size) => Math.ceil(size / 64) * 64;

async function bytesOf(source) {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  return new Uint8Array(source instanceof Response ? await source.arrayBuffer() : source);
}

async function instanceOf(wasm) {
  if (wasm instanceof WebAssembly.Module) return new WebAssembly.Instance(wasm);
  return (await WebAssembly.instantiate(await bytesOf(await wasm))).instance;
}

export async function load(image, { wasm }) {
  const instance = await instanceOf(await wasm);
  return new Tokenizer(await bytesOf(await image), instance.exports);
}

class Tokenizer {
  constructor(image, kernels) {
    const view = new DataView(image.buffer, image.byteOffset, image.byteLength), u32 = (at) => view.getUint32(at, true);
    const u64 = (at) => Number(view.getBigUint64(at, true));
    const isImage = image.length >= HEADER && decoder.decode(image.subarray(0, 8)) === "fstimage" && u64(24) === image.length;
    if (!isImage || u32(44) < CALLS || u32(48) !== ROLES) throw new TypeError("the image is damaged; expected a table.fst of `fst export`");
    if (view.getBigUint64(16, true) !== kernels.fst_abi()) throw new TypeError("image and module differ; expected files of one `fst export`");
    const [fields, words, calls] = [36, 40, 44].map(u32);
    const wordsAt = HEADER + 24 * fields, callsAt = wordsAt + 16 * words, rolesAt = callsAt + 8 * calls;
    this.idle = [], this.kernels = kernels, this.unit = u32(32), this.base = aligned(kernels.__heap_base.value);
    this.fields = Array.from({ length: fields }, (_, i) => [0, 8, 16].map((part) => u64(HEADER + 24 * i + part)));
    this.words = Array.from({ length: words }, (_, i) => [0, 4, 8, 12].map((part) => u32(wordsAt + 16 * i + part)));
    this.calls = Array.from({ length: calls }, (_, i) => [u32(callsAt + 8 * i), u32(callsAt + 8 * i + 4)]);
    this.roles = Array.from({ length: ROLES }, (_, i) => u32(rolesAt + 4 * i) - 1);
    this.addresses = this.fields.map(([at]) => this.base + at);
    const built = aligned(this.base + image.length);
    this.end = this.layOut(BUILT, 0, built);
    this.grow(this.end);
    new Uint8Array(kernels.memory.buffer).set(image, this.base);
    this.reserve(4096);
    for (let i = CALLS; i < calls; i++) this.run(i);
  }

  // Give addresses from `end` on to all fields of a kind; return the end of the last one.
  layOut(kind, units, end) {
    this.fields.forEach(([at, size, perUnit], i) => {
      if (at !== kind) return;
      this.addresses[i] = end;
      end += aligned(size + perUnit * units);
    });
    return end;
  }

  grow(end) {
    const missing = Math.ceil((end - this.kernels.memory.buffer.byteLength) / PAGE);
    if (missing > 0) this.kernels.memory.grow(missing);
  }

  // Lay out the working memory for texts of at most `units` units, and the words of all calls.
  reserve(units) {
    if (units > MOST) throw new RangeError(`the text has ${units} units; expected at most ${MOST}`);
    const end = this.layOut(WORKING, units, this.end);
    const used = this.kernels.memory.buffer.byteLength; // memory that grows is zero
    this.units = units, this.wordsAt = end;
    this.grow(end + 8 * this.words.length);
    const memory = this.kernels.memory.buffer, block = new Uint32Array(memory, end, 2 * this.words.length);
    new Uint8Array(memory).fill(0, this.end, Math.min(end, used));
    this.words.forEach(([field, perUnit, low, high], i) => {
      const number = field ? this.addresses[field - 1] : low + perUnit * units;
      block.set([number, perUnit || field ? 0 : high], 2 * i);
    });
    this.view();
  }

  // Make the arrays over memory, which has grown.
  view() {
    this.text = this.array(TEXT, this.unit === 1 ? Uint8Array : Uint16Array);
    this.starts = this.array(STARTS, Int32Array);
    this.state = this.array(STATE, Int32Array);
    this.ids = this.array(IDS, Int32Array);
    this.idsOfSpans = this.array(IDS_SPANS, Int32Array);
    this.offsets = this.array(OFFSETS, Int32Array);
    [this.contents, this.flags, this.drops] = [CONTENTS, FLAGS, DROPS].map((role) => this.array(role, Uint8Array));
    this.spans = this.array(SPANS_OF, BigUint64Array);
  }

  array(role, Type) {
    const place = this.roles[role];
    if (place < 0) return null;
    const [, size, perUnit] = this.fields[place];
    return new Type(this.kernels.memory.buffer, this.addresses[place], Math.floor((size + perUnit * this.units) / Type.BYTES_PER_ELEMENT));
  }

  // Copy a text to the memory of kernels; return the number of units. A lone surrogate becomes U+FFFD.
  put(text) {
    const most = this.unit === 1 ? 3 * text.length : text.length;
    if (most > this.units) this.reserve(2 * most);
    if (this.unit === 1) return encoder.encodeInto(text, this.text).written;
    for (let i = 0; i < text.length; i++) this.text[i] = text.charCodeAt(i);
    if (!text.isWellFormed()) replaceLone(this.text, text.length);
    return text.length;
  }

  run(call) {
    return this.kernels.fst_run(this.wordsAt + 8 * this.calls[call][0]);
  }

  has(call) {
    return this.calls[call][1] > 0;
  }

  // Encode a text; return the number of ids.
  encoded(text, spans) {
    const units = this.put(text);
    this.starts[2] = units;
    this.state.fill(0);
    if (this.has(spans + IS_UNCHANGED) && this.run(spans + IS_UNCHANGED) !== 1n) throw new RangeError(OTHER);
    const read = this.run(spans + ENCODE);
    if (read < 0n || read > BigInt(units)) throw new RangeError(OTHER);
    if (this.has(spans + TRIM)) this.run(spans + TRIM);
    return this.state[2 * COUNT];
  }

  count(text) {
    return this.encoded(text, 0);
  }

  encodeView(text) {
    const count = this.encoded(text, 0);
    return this.ids.subarray(0, count);
  }

  encode(text) {
    const count = this.encoded(text, 0);
    return this.ids.slice(0, count);
  }

  encodeBatch(texts) {
    const rows = texts.map((text) => this.encode(text)), rowSplits = new Int32Array(rows.length + 1);
    rows.forEach((row, i) => { rowSplits[i + 1] = rowSplits[i] + row.length; });
    const ids = new Int32Array(rowSplits[rows.length]);
    rows.forEach((row, i) => ids.set(row, rowSplits[i]));
    return { ids, rowSplits };
  }

  encodeWithOffsets(text) {
    if (!this.offsets || !this.has(SPANS + ENCODE)) throw new RangeError("the image has no offsets");
    const count = this.encoded(text, SPANS), offsets = this.offsets.slice(0, 2 * count), places = placesOf(text);
    return { ids: this.idsOfSpans.slice(0, count), offsets: places ? offsets.map((character) => places[character]) : offsets };
  }

  // Working memory of its own, at a place that does not change. That of this object moves behind it.
  another(units) {
    const own = Object.assign(Object.create(this), { addresses: [...this.addresses] });
    own.reserve(units);
    this.end = aligned(own.wordsAt + 8 * this.words.length);
    this.reserve(this.units);
    return own;
  }

  // Encode a part of a text; return the number of units that are read, and of all units.
  encodePart(text, isLast) {
    if (!this.text.length) this.view();
    const units = this.put(text);
    this.starts[2] = units, this.state[2 * COUNT] = this.state[2 * BEFORE] = 0;
    if (this.has(IS_UNCHANGED) && this.run(IS_UNCHANGED) !== 1n) throw new RangeError(OTHER);
    const read = this.run(isLast ? ENCODE : PART);
    if (read < 0n || read > BigInt(units)) throw new RangeError(OTHER);
    return [Number(read), units];
  }

  stream() {
    return new Stream(this);
  }

  decodeStream({ skipSpecialTokens = true } = {}) {
    if (!this.contents) throw new RangeError("the image has no decoder");
    return new DecodeStream(this, UNKNOWN | (skipSpecialTokens ? SKIPPED : 0));
  }

  decode(ids, { skipSpecialTokens = true } = {}) {
    if (!this.contents) throw new RangeError("the image has no decoder");
    const mask = UNKNOWN | (skipSpecialTokens ? SKIPPED : 0), known = [...ids].filter((id) => id < this.flags.length && !((this.flags[id] ?? UNKNOWN) & mask));
    let isFirst = true;
    const parts = known.map((id, i) => {
      const { bytes, isByte, isShortened } = this.content(id, isFirst);
      isFirst = isFirst && !this.content(id, false).bytes.length;
      return { bytes: i === known.length - 1 && isShortened ? bytes.subarray(0, -1) : bytes, isByte };
    });
    return parts.some(({ isByte }) => isByte) ? runs(parts).map(textOfRun).join("") : decoder.decode(joined(parts));
  }

  path(text) {
    if (!this.has(PATHS)) return null;
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
    this.kernels = this.text = this.ids = null;
  }
}

// Encodes a text that arrives in parts.
class Stream {
  constructor(tok) {
    this.tok = tok, this.rest = "", this.work = tok.idle.pop() ?? tok.another(16 * BLOCK);
    if (!this.work.text.length) this.work.view();
    this.work.state.fill(0);
  }

  push(text) {
    const ids = [];
    for (let at = 0; at < text.length; at += BLOCK) this.part(text.slice(at, at + BLOCK), false).forEach((id) => ids.push(id));
    return Int32Array.from(ids);
  }

  end() {
    const ids = this.part("", true);
    this.tok.idle.push(this.work), this.work = null;
    return ids;
  }

  part(text, isLast) {
    if (!this.work) throw new TypeError("the stream has ended; expected no call after end()");
    const all = this.rest + text, end = all.length - (!isLast && isHigh(all.charCodeAt(all.length - 1))), { work } = this;
    if (3 * all.length + work.state[2 * KEPT] > work.units) return this.grow(), this.part(text, isLast);
    const part = all.slice(0, end), [read, units] = work.encodePart(part, isLast);
    const left = work.unit === 1 ? decoder.decode(work.text.subarray(read, units)) : part.slice(read);
    this.rest = left + all.slice(end);
    return work.ids.slice(0, work.state[2 * COUNT]);
  }

  // Continue with more memory.
  grow() {
    const { work, tok } = this, own = tok.another(2 * work.units), memory = new Uint8Array(tok.kernels.memory.buffer);
    tok.fields.forEach(([at, size, perUnit], i) => {
      if (at === WORKING) memory.copyWithin(own.addresses[i], work.addresses[i], work.addresses[i] + size + perUnit * work.units);
    });
    tok.idle.push(work), this.work = own;
  }
}

// Decodes ids that arrive in parts. Bytes that are no character yet remain in a decoder.
class DecodeStream {
  constructor(tok, mask) {
    this.tok = tok, this.mask = mask, this.isFirst = true, this.held = [], this.run = [], this.isSpoilt = false;
    this.decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  }

  push(ids) {
    return Array.from(ids, (id) => ((this.tok.flags[id] ?? UNKNOWN) & this.mask ? "" : this.following(id))).join("");
  }

  end() {
    return this.ended() + this.decoder.decode();
  }

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

  lost() {
    return "\ufffd".repeat(this.run.splice(0).length);
  }

  // The end of a run.
  ended() {
    return this.isSpoilt = false, this.lost();
  }
}

function joined(parts) {
  const found = new Uint8Array(parts.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let at = 0;
  for (const { bytes } of parts) found.set(bytes, at), at += bytes.length;
  return found;
}

// Runs of tokens that represent bytes, and of other tokens.
function runs(parts) {
  const found = [];
  for (const part of parts) {
    if (found.length && found.at(-1)[0].isByte === part.isByte) found.at(-1).push(part);
    else found.push([part]);
  }
  return found;
}

// If bytes are not UTF-8, each becomes U+FFFD.
function textOfRun(parts) {
  try {
    return strict.decode(joined(parts));
  } catch {
    return "\ufffd".repeat(parts.length);
  }
}

function replaceLone(units, length) {
  for (let i = 0; i < length; i++) {
    if (isHigh(units[i]) && i + 1 < length && isLow(units[i + 1])) i++;
    else if (isHigh(units[i]) || isLow(units[i])) units[i] = 0xfffd;
  }
}

// The index in the string of each character, and of the end; null if every character is one unit.
function placesOf(text) {
  const characters = [...text];
  if (characters.length === text.length) return null;
  const places = new Int32Array(characters.length + 1);
  characters.forEach((character, i) => { places[i + 1] = places[i] + character.length; });
  return places;
}
