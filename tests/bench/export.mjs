// Measure exported tables and libraries from npm in Node.js. export.py copies this file next to the libraries, and runs it there.
//
//   node export.mjs speed VOCABULARY FOLDER SOURCE TEXTS ROUNDS   processor time of each pass, in turns
//   node export.mjs start VOCABULARY FOLDER SOURCE NAME           processor time of import, load and first ids
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const LEAST = 50; // ms of a measurement; fast libraries repeat
const milliseconds = (before) => { const { user, system } = process.cpuUsage(before); return (user + system) / 1000; };
const [mode, vocabulary, folder, source, argument, rounds] = process.argv.slice(2);
const ranks = { gpt2: "r50k_base", cl100k_base: "cl100k_base" }[vocabulary];

async function exported(layout) {
  const { load } = await import(pathToFileURL(`${folder}/${layout}/fst.js`));
  const file = (name) => pathToFileURL(`${folder}/${layout}/${name}`);
  const tok = await load(file("table.fst"), { wasm: file("fst.wasm") });
  return (text) => tok.encode(text);
}

const libraries = {
  "fst, full": () => exported("full"),
  "fst, small": () => exported("small"),
  tiktoken: async () => {
    const { get_encoding } = await import("tiktoken");
    const encoding = get_encoding(vocabulary);
    return (text) => encoding.encode(text);
  },
  "js-tiktoken": async () => {
    const [{ Tiktoken }, { default: table }] = await Promise.all([import("js-tiktoken/lite"), import(`js-tiktoken/ranks/${vocabulary}`)]);
    const encoding = new Tiktoken(table);
    return (text) => encoding.encode(text);
  },
  "gpt-tokenizer": async () => (await import(`gpt-tokenizer/encoding/${ranks}`)).encode,
  "ai-tokenizer": async () => {
    const [{ default: Tokenizer }, encoding] = await Promise.all([import("ai-tokenizer"), import(`ai-tokenizer/encoding/${ranks}`)]);
    const tok = new Tokenizer(encoding);
    return (text) => tok.encode(text);
  },
  "@huggingface/tokenizers": async () => {
    const { Tokenizer } = await import("@huggingface/tokenizers");
    const tok = new Tokenizer(JSON.parse(readFileSync(`${source}/tokenizer.json`)), {});
    return (text) => tok.encode(text).ids;
  },
};
if (vocabulary === "gpt2") delete libraries["ai-tokenizer"]; // has no ranks of GPT-2
else delete libraries["@huggingface/tokenizers"]; // reads tokenizer.json, which this vocabulary lacks

async function start() {
  const before = process.cpuUsage(), encode = await libraries[argument]();
  const found = encode("Wolfgang is unaffable.").length;
  return { found, time: milliseconds(before) };
}

function measured(encode, texts) {
  const before = process.cpuUsage();
  let passes = 0;
  do {
    for (const text of texts) encode(text);
    passes++;
  } while (milliseconds(before) < LEAST);
  return milliseconds(before) / passes;
}

async function speed() {
  const found = {}, encoders = {}, kinds = JSON.parse(readFileSync(argument));
  for (const [name, make] of Object.entries(libraries)) encoders[name] = await make();
  for (const [kind, texts] of Object.entries(kinds)) {
    const counts = Object.entries(encoders).map(([name, encode]) => [name, texts.map((text) => encode(text).length)]);
    const times = Object.fromEntries(counts.map(([name]) => [name, []]));
    for (let round = 0; round < Number(rounds); round++) for (const [name] of counts) times[name].push(measured(encoders[name], texts));
    const differing = (row) => row.filter((count, i) => count !== counts[0][1][i]).length;
    found[kind] = Object.fromEntries(counts.map(([name, row]) => [name, { times: times[name], differing: differing(row) }]));
  }
  return found;
}

console.log(JSON.stringify(mode === "start" ? await start() : await speed()));
process.exit();
