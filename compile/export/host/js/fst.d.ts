/** A file of `fst export`: bytes, a response of `fetch`, or a URL. A URL of a file is read by Node.js 20.16 or later, without a copy. */
export type Source = ArrayBuffer | ArrayBufferView | Response | Blob | URL;

/**
 * Load a tokenizer from table.fst and fst.wasm of one export. Edge workers need a compiled module. Throws a TypeError if a file is missing or
 * damaged, or if they belong to different exports.
 */
export function load(table: Source | Promise<Source>, files: { wasm: Wasm | Promise<Wasm> }): Promise<Tokenizer>;
export type Wasm = WebAssembly.Module | Source;

/** A tokenizer. A lone surrogate is encoded as U+FFFD. Throws a TypeError if a text is no string. */
export interface Tokenizer {
  /** The ids of a text. */
  encode(text: string): Int32Array;
  /** The same ids, in memory that the next call overwrites. */
  encodeView(text: string): Int32Array;
  /** The ids of all texts; those of text i are at rowSplits[i] to rowSplits[i + 1] - 1. */
  encodeBatch(texts: string[]): { ids: Int32Array; rowSplits: Int32Array };
  /** The ids, and of each id the index of its first UTF-16 unit in the text, and of the unit after its last. */
  encodeWithOffsets(text: string): { ids: Int32Array; offsets: Int32Array };
  /** The number of ids of a text. */
  count(text: string): number;
  /** The text of ids. Numbers without a token are skipped. Throws a RangeError if one is no integer from 0 to 4294967295. */
  decode(ids: Iterable<number | bigint>, options?: { skipSpecialTokens?: boolean }): string;
  /**
   * The path of one word through the automaton: each symbol that it reads, the state after it, and the last token so far, below 0 if there
   * is none. A symbol is a byte of UTF-8, of the rewritten text if the table rewrites texts; for WordPiece, a character. At most 1,024
   * steps; null if the table has no automaton, as with `--layout small`.
   */
  path(word: string): { symbol: number | string; state: number; token: number }[] | null;
  /** The bytes that an id adds to a decoded text, other than at its beginning; null if no token has this id, or there is no decoder. */
  tokenBytes(id: number): Uint8Array | null;
  /**
   * Encode a text that arrives in parts, cut anywhere: `push` returns the ids that no later part can change, and `end` the others. A word of
   * 1,024 units or more is read again when it has doubled; until then, its ids and later ones wait. Other calls may lie between the parts.
   */
  stream(): { push(text: string): Int32Array; end(): Int32Array };
  /** Decode ids that arrive in parts: `push` returns complete characters, and `end` U+FFFD if the last character is incomplete. */
  decodeStream(options?: { skipSpecialTokens?: boolean }): { push(ids: Iterable<number | bigint>): string; end(): string };
  /** Release the memory. Other calls throw a TypeError after it. */
  free(): void;
}
