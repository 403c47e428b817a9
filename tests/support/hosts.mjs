// Answer questions about an exported folder: the file named by the second argument has a JSON array of [method, argument, options]. For
// streams, the argument is an array of parts, of which all are pushed; between them, the tokenizer encodes another text.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, questions, name] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/${name}.js`));
const tok = await load(readFileSync(`${folder}/table.fst`), { wasm: readFileSync(`${folder}/fst.wasm`) });
const plain = (value) => (ArrayBuffer.isView(value) ? [...value] : value ?? null);
const all = (stream, parts) => {
  const found = parts.map((part) => (tok.encode(part.length ? "another text" : ""), stream.push(part)));
  return [...found, stream.end()].map((part) => (typeof part === "string" ? part : [...part]));
};
const answers = JSON.parse(readFileSync(questions, "utf8")).map(([method, argument, options]) => {
  try {
    if (method === "stream" || method === "decodeStream") return all(tok[method](options), argument);
    const found = tok[method](argument, options);
    return found?.constructor === Object ? Object.fromEntries(Object.entries(found).map(([name, value]) => [name, plain(value)])) : plain(found);
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
});
process.stdout.write(JSON.stringify(answers));
