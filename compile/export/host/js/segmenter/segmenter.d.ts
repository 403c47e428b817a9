import type { Source, Wasm } from "./fst.js";

/** Load a segmenter from table.fst and fst.wasm of one export; errors are those of `load` in fst.d.ts. */
export function load(table: Source | Promise<Source>, files: { wasm: Wasm | Promise<Wasm> }): Promise<Segmenter>;

/** A segmenter. A lone surrogate is read as U+FFFD. Throws a TypeError if a text is no string. */
export interface Segmenter {
  /** The words of a text, and the characters between them. */
  segment(text: string): string[];
  /**
   * The words; the number of each word in the dictionary, below 0 if it is missing there; and of each word the index of its first UTF-16
   * unit in the text, and of the unit after its last.
   */
  segmentWithOffsets(text: string): { words: string[]; ids: Int32Array; offsets: Int32Array };
  /** The features of a word of MeCab's dictionary; null for a number without features. */
  features(id: number): string | null;
  /** Release the memory. Other calls throw a TypeError after it. */
  free(): void;
}
