import type { Source, Wasm } from "./fst.js";

/** Load a look-up from table.fst and fst.wasm of one export; errors are those of `load` in fst.d.ts. */
export function load(table: Source | Promise<Source>, files: { wasm: Wasm | Promise<Wasm> }): Promise<Lookup>;

/**
 * A look-up. A lone surrogate is read as U+FFFD. Throws a TypeError if a word is no string, and a RangeError if it takes too many steps, or if
 * the table has no generation.
 */
export interface Lookup {
  /** The analyses of a word; the smallest weight first. */
  lookup(word: string): string[];
  /** The words of an analysis. */
  generate(analysis: string): string[];
  /** The same, with the weight of each result, or null without weights, and whether there are no more than the 4,096 that are returned. */
  analyses(word: string, options?: { generate?: boolean }): { analyses: string[]; weights: Float32Array | null; isComplete: boolean };
  /** Release the memory. Other calls throw a TypeError after it. */
  free(): void;
}
