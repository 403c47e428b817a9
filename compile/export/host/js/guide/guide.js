// Token masks, with an image that `fst export` has written. See guide.d.ts.
import { CALLS, ROLES, load as loaded } from "./fst.js";

const [DESCRIBE, MASK, STEP, CHECK_FINAL] = Array(4).keys(), [NUMBERS, BITS] = Array(2).keys();

export const load = async (table, files) => new Guide(await loaded(table, files));

class Guide {
  #tok;
  constructor(tok) {
    this.#tok = tok, this.states = Infinity;
    const [start, size, endId, states] = Array.from(this.#ask(DESCRIBE, -1, 0), Number);
    Object.assign(this, { start, size, endId: endId < 0 ? null : endId, states });
  }

  mask(state) {
    this.#ask(MASK, state, 0);
    return this.#tok.array(ROLES + BITS, Uint32Array).slice();
  }

  allowed(state) {
    const mask = this.mask(state);
    return Int32Array.from(Array(this.size).keys()).filter((id) => mask[id >> 5] >>> (id & 31) & 1);
  }

  step(state, id) {
    if (!Number.isInteger(id)) throw new RangeError(`an id is ${String(id)}; expected an integer`);
    return Number(this.#ask(STEP, state, id)[0]);
  }

  isFinal(state) { return this.#ask(CHECK_FINAL, state, 0)[1] === 1n; }
  free() { this.#tok.free(); }

  // The numbers after a call with two numbers.
  #ask(call, state, id) {
    if (!Number.isInteger(state) || state < -1 || state >= this.states) throw this.#wrong(`a state is ${String(state)}`);
    const numbers = this.#tok.array(ROLES + NUMBERS, BigInt64Array);
    numbers[0] = BigInt(state), numbers[1] = BigInt(id);
    if (this.#tok.run(CALLS + call) !== 0n) throw this.#wrong(`the image refuses state ${state}`);
    return numbers;
  }

  #wrong(problem) { return new RangeError(`${problem}; expected an integer from -1 to ${this.states - 1}, from start or step()`); }
}
