import type { Source, Wasm } from "./fst.js";

/** Load a guide from table.fst and fst.wasm of one export; errors are those of `load` in fst.d.ts. */
export function load(table: Source | Promise<Source>, files: { wasm: Wasm | Promise<Wasm> }): Promise<Guide>;

/**
 * Token masks. A state is a number: a text begins in `start`, and `step` gives the state after each token. Throws a RangeError if a number is
 * not a state.
 */
export interface Guide {
  /** The state before the first token. */
  readonly start: number;
  /** The number of bits of a mask: 1 more than the highest id. */
  readonly size: number;
  /** The id of the token that ends a text; null if there is none. */
  readonly endId: number | null;
  /** The number of states. */
  readonly states: number;
  /** The tokens that are allowed in a state: the bit of id i is bit i % 32 of word i / 32. */
  mask(state: number): Uint32Array;
  /** The ids of these tokens, in ascending order. */
  allowed(state: number): Int32Array;
  /** The state after a token; -1 if the token is not allowed. */
  step(state: number, id: number): number;
  /** Whether a text may end in a state. */
  isFinal(state: number): boolean;
  /** Release the memory. Other calls throw a TypeError after it. */
  free(): void;
}
