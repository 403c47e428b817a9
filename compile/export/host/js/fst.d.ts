/** A table.fst: bytes, or a response of `fetch`. */
export type Image = ArrayBuffer | Uint8Array | Response;

/** The fst.wasm of the same export. Edge workers need a compiled module. */
export type Wasm = WebAssembly.Module | ArrayBuffer | Uint8Array | Response;

/** Load a tokenizer. Throws a TypeError if the image is damaged, or belongs to another module. */
export function load(image: Image | Promise<Image>, options: { wasm: Wasm | Promise<Wasm> }): Promise<Tokenizer>;

/** A tokenizer. A lone surrogate is encoded as U+FFFD. */
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
  /** The text of ids; numbers that are not ids are skipped. */
  decode(ids: ArrayLike<number> & Iterable<number>, options?: { skipSpecialTokens?: boolean }): string;
  /**
   * The path of one word through the automaton: each symbol that it reads, the state after it, and the last token so far, below 0 if there
   * is none. A symbol is a byte of UTF-8, of the rewritten text if the table rewrites texts; for WordPiece, a character. At most 1,024
   * steps; null if the table has no automaton, as with `--layout merges`.
   */
  path(word: string): { symbol: number | string; state: number; token: number }[] | null;
  /** The bytes that an id adds to a decoded text, other than at its beginning; null if no token has this id, or there is no decoder. */
  tokenBytes(id: number): Uint8Array | null;
  /**
   * Encode a text that arrives in parts, cut anywhere: `push` returns the ids that no later part can change, and `end` the others. Other calls
   * may lie between the parts.
   */
  stream(): { push(text: string): Int32Array; end(): Int32Array };
  /** Decode ids that arrive in parts: `push` returns complete characters, and `end` U+FFFD if the last character is incomplete. */
  decodeStream(options?: { skipSpecialTokens?: boolean }): { push(ids: Iterable<number>): string; end(): string };
  /** Release the memory. */
  free(): void;
}
