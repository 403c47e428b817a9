// Print the ids of each line of standard input:  echo "Hello world" | node example.js
import { readFileSync } from "node:fs";
import { load } from "./fst.js";

const here = (name) => readFileSync(new URL(name, import.meta.url));
const tok = await load(here("table.fst"), { wasm: here("fst.wasm") });
for (const line of readFileSync(0, "utf8").replace(/\n$/, "").split("\n")) console.log(tok.encode(line).join(" "));
