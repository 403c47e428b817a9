// Rewrite each line of standard input:  echo "Hello world" | node example.js
import { readFileSync } from "node:fs";
import { load } from "./rewriter.js";

const rewriter = await load(new URL("table.fst", import.meta.url), { wasm: new URL("fst.wasm", import.meta.url) });
for (const line of readFileSync(0, "utf8").replace(/\n$/, "").split("\n")) console.log(rewriter.rewrite(line));
