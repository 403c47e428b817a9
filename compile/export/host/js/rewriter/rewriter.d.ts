import type { Source, Wasm } from "./fst.js";

/** Load a rewriter from table.fst and fst.wasm of one export; errors are those of `load` in fst.d.ts. */
export function load(table: Source | Promise<Source>, files: { wasm: Wasm | Promise<Wasm> }): Promise<Rewriter>;

/**
 * A rewriter. A lone surrogate is read as U+FFFD. Throws a TypeError if a text is no string, and a RangeError if a text has no path through a
 * weighted transducer.
 */
export interface Rewriter {
  /** The new text. */
  rewrite(text: string): string;
  /**
   * The new text; and of each UTF-16 unit of it the index in the old text of the first unit of the characters that became it, and of the
   * unit after the last.
   */
  rewriteWithOffsets(text: string): { text: string; offsets: Int32Array };
  /** Release the memory. Other calls throw a TypeError after it. */
  free(): void;
}
