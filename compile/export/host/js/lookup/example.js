// Print the analyses of each word of standard input:  echo "flies" | node example.js
import { readFileSync } from "node:fs";
import { load } from "./lookup.js";

const words = await load(new URL("table.fst", import.meta.url), { wasm: new URL("fst.wasm", import.meta.url) });
for (const word of readFileSync(0, "utf8").replace(/\n$/, "").split("\n")) console.log([word, ...words.lookup(word)].join("\t"));
