// Measure two exports of one table, which take turns; export_pairs.py runs this file.
//
//   node export_pairs.mjs speed TEXTS ROUNDS FOLDER FOLDER   processor time of each round and folder, in µs
//   node export_pairs.mjs memory TEXTS FOLDER                the size of the module's memory after texts with offsets
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [mode, texts, ...rest] = process.argv.slice(2), kinds = JSON.parse(readFileSync(texts));
const time = () => { const { user, system } = process.cpuUsage(); return user + system; };

async function loaded(folder) {
  const file = (name) => pathToFileURL(`${folder}/${name}`), { load } = await import(file("fst.js"));
  return load(file("table.fst"), { wasm: file("fst.wasm") });
}

function pass(tok, rows) {
  const begin = time();
  for (const text of rows) tok.encode(text);
  return time() - begin;
}

async function speed([rounds, ...folders]) {
  const each = await Promise.all(folders.map(loaded)), found = {};
  for (const [kind, rows] of Object.entries(kinds)) {
    for (const tok of each) for (let i = 0; i < 3; i++) pass(tok, rows);
    const turn = (round) => (round % 2 ? each.map((tok) => pass(tok, rows)) : each.toReversed().map((tok) => pass(tok, rows)).reverse());
    found[kind] = Array.from({ length: Number(rounds) }, (_, round) => turn(round));
  }
  return found;
}

async function memory([folder]) {
  const tok = await loaded(folder);
  for (const text of kinds) tok.encodeWithOffsets(text);
  return tok.kernels.memory.buffer.byteLength;
}

console.log(JSON.stringify(await (mode === "speed" ? speed : memory)(rest)));
process.exit();
