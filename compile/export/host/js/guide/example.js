// Print the tokens that may begin a text, and the states after them:  node example.js
import { load } from "./guide.js";

const guide = await load(new URL("table.fst", import.meta.url), { wasm: new URL("fst.wasm", import.meta.url) });
for (const id of guide.allowed(guide.start)) console.log(id, guide.step(guide.start, id));
