// Print the words of each line of standard input:  echo "研究生命" | node example.js
import { readFileSync } from "node:fs";
import { load } from "./segmenter.js";

const segmenter = await load(new URL("table.fst", import.meta.url), { wasm: new URL("fst.wasm", import.meta.url) });
for (const line of readFileSync(0, "utf8").replace(/\n$/, "").split("\n")) console.log(segmenter.segment(line).join(" "));
