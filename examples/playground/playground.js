// Show the tokens of a text with a table that `fst export --target wasm` has written; ?table=FOLDER names another folder.

const PART = 300, LONGEST = 1200, AT_ONCE = 4, COLOURS = 4, BEFORE = 12, STEPS = 60;
const element = (id) => document.getElementById(id);
const [input, list, status, details] = ["text", "tokens", "status", "details"].map(element);
const blanks = { " ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍" };
const shown = (text) => text.replace(/[ \n\t\r]/g, (blank) => blanks[blank]);
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");

let tok, text = "", ids = [], offsets = [];
let drawn = 0, work = 0, selected = -1;

// ---- tokens

function encode() {
  const before = { text, ids, offsets }, start = performance.now();
  text = input.value;
  try {
    ({ ids, offsets } = tok.encodeWithOffsets(text));
    moveSpecial();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    text = "", ids = offsets = new Int32Array(), draw(0), select(-1);
    status.textContent = `Not encoded: ${error.message}`;
    return;
  }
  const time = performance.now() - start;
  const count = (number, unit) => `${number.toLocaleString("en")} ${unit}${number === 1 ? "" : "s"}`;
  status.textContent = `${count(ids.length, "token")}, ${count(text.length, "UTF-16 unit")}, ${time.toFixed(1)} ms`;
  draw(sameTokens(before));
  select(-1);
}

// Special tokens have the span 0 to 0; move it to the end of the token before.
function moveSpecial() {
  for (let i = 1; i < ids.length; i++) if (isSpecial(i)) offsets.fill(endOf(i - 1), 2 * i, 2 * i + 2);
}

const isSpecial = (i) => offsets[2 * i] === offsets[2 * i + 1];
const nameOf = (i) => (isSpecial(i) ? tok.decode([ids[i]], { skipSpecialTokens: false }) : text.slice(offsets[2 * i], endOf(i)));

// The number of tokens at the beginning that are drawn already.
function sameTokens(before) {
  let end = 0, same = 0;
  while (same < drawn && same < ids.length && ids[same] === before.ids[same]) {
    const [first, last] = [offsets[2 * same], offsets[2 * same + 1]];
    if (first !== before.offsets[2 * same] || last !== before.offsets[2 * same + 1]) break;
    if (text.slice(end, last) !== before.text.slice(end, last)) break;
    end = last, same++;
  }
  return same;
}

// Keep the parts that are the same, also in the token that follows, and draw the others, a few in each frame, so that long texts do not stop typing.
function draw(same) {
  cancelAnimationFrame(work);
  while (list.lastChild && !(list.lastChild.dataset?.end < same)) list.lastChild.remove();
  drawn = Number(list.lastChild?.dataset.end ?? 0);
  delete list.dataset.drawn;
  if (!drawn) list.append(text.slice(0, ids.length ? offsets[0] : text.length));
  drawParts();
}

function drawParts() {
  for (let parts = 0; parts < AT_ONCE && drawn < ids.length; parts++) {
    const part = document.createElement("div"), end = endOfPart(drawn);
    part.className = "part", part.dataset.end = end, part.setAttribute("role", "presentation");
    for (; drawn < end; drawn++) part.append(tokenNode(drawn), text.slice(endOf(drawn), drawn + 1 < ids.length ? offsets[2 * drawn + 2] : text.length));
    list.append(part);
  }
  if (drawn < ids.length) work = requestAnimationFrame(drawParts);
  else list.dataset.drawn = drawn;
}

// A part ends at the end of a line, unless lines are very long, and never inside a character.
function endOfPart(first) {
  const isLineEnd = (i) => text.slice(offsets[2 * i], offsets[2 * i + 2]).includes("\n");
  let end = first + 1;
  while (end < ids.length && end - first < LONGEST && (end - first < PART || !isLineEnd(end - 1))) end++;
  while (end < ids.length && offsets[2 * end] < endOf(end - 1)) end++;
  return end;
}

const endOf = (i) => (i < 0 ? 0 : offsets[2 * i + 1]);

// A character of several tokens is drawn in the first; the others are drawn as bytes.
function tokenNode(i) {
  const node = document.createElement("span"), content = text.slice(Math.max(offsets[2 * i], endOf(i - 1)), endOf(i));
  node.id = `t${i}`, node.className = `token c${i % COLOURS}`, node.dataset.id = ids[i];
  node.setAttribute("role", "option");
  node.textContent = content;
  if (content.includes("\n")) node.classList.add("newline");
  if (!content) {
    const name = isSpecial(i) ? nameOf(i) : hex(bytesOf(i));
    node.classList.add("name"), node.dataset.name = name, node.setAttribute("aria-label", name);
  } else if (!content.trim()) node.setAttribute("aria-label", shown(content));
  return node;
}

// ---- details of one token

const bytesOf = (i) => tok.tokenBytes(ids[i]) ?? new TextEncoder().encode(text.slice(offsets[2 * i], offsets[2 * i + 1]));

function select(i) {
  list.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
  selected = i;
  const node = element(`t${i}`);
  if (node) {
    node.setAttribute("aria-selected", "true"), list.setAttribute("aria-activedescendant", node.id);
    node.scrollIntoView({ block: "nearest" });
  } else list.removeAttribute("aria-activedescendant");
  explain(i);
}

function explain(i) {
  details.hidden = i < 0;
  if (i < 0) return;
  element("name").textContent = shown(nameOf(i));
  element("id").textContent = ids[i];
  element("offsets").textContent = `${offsets[2 * i]} to ${offsets[2 * i + 1]}`;
  element("bytes").textContent = hex(bytesOf(i));
  const word = isSpecial(i) ? null : wordOf(i), path = word && pathOf(word);
  element("about-path").textContent = isSpecial(i) ? "A special token has no path." : path
    ? "After each character, the tokens of the word if it ended there. The last of them, in colour, is what a state of BPE means."
    : "The tokens of this word depend on the text before it, so its path cannot be shown.";
  element("path").replaceChildren(...(path ?? []));
  showStates(word);
}

// The states that the automaton passes, and the last token so far.
function showStates(word) {
  const states = word && tok.path(word);
  element("with-states").hidden = !word;
  element("about-states").textContent = states ? "After each byte or character, the number of the state, and the last token so far."
    : "This table has no automaton. An export with --layout full has one.";
  element("states").replaceChildren(...(states ?? []).map(({ symbol, state, token }) => {
    const node = item(typeof symbol === "string" ? shown(symbol) : nameOfBytes([symbol])), bytes = tok.tokenBytes(token);
    node.lastChild.append(`${state} `, ...(bytes ? [nameOfBytes(bytes)] : []));
    return node;
  }));
}

// Bytes as text, or as numbers if they are only a part of a character.
function nameOfBytes(bytes) {
  const name = new TextDecoder().decode(Uint8Array.from(bytes));
  return name.includes("\ufffd") ? hex(bytes) : shown(name);
}

// An item of a path: what is read, and a box.
function item(read) {
  const [node, label, state] = ["li", "span", "span"].map((name) => document.createElement(name));
  label.className = "read", label.textContent = `${read} →`;
  state.className = "state", node.append(label, state);
  return node;
}

// The text from the beginning of the word to its end, or a part of it if the word is long.
function wordOf(i) {
  const isJoined = (j) => j > 0 && j < ids.length && offsets[2 * j] <= endOf(j - 1) && !isSpecial(j) && !/^\s/.test(nameOf(j));
  const isInside = (j) => j > 0 && j < ids.length && offsets[2 * j] < endOf(j - 1);
  let first = i, last = i;
  while ((isJoined(first) && !isSpecial(first - 1) && i - first < BEFORE) || isInside(first)) first--;
  while ((isJoined(last + 1) && endOf(last + 1) - offsets[2 * first] <= STEPS) || isInside(last + 1)) last++;
  const word = text.slice(offsets[2 * first], endOf(last)), alone = read(word);
  const isSame = alone.length === last - first + 1 && alone.every(({ id }, place) => id === ids[first + place]);
  return isSame ? word : null;
}

// The tokens of a text, without special tokens.
function read(part) {
  const found = tok.encodeWithOffsets(part);
  return Array.from(found.ids, (id, i) => ({ id, start: found.offsets[2 * i], end: found.offsets[2 * i + 1] })).filter(({ start, end }) => start < end);
}

function pathOf(word) {
  let end = 0;
  return Array.from(word, (character) => {
    end += character.length;
    return step(character, word.slice(0, end), end === word.length);
  });
}

function step(character, part, isEnd) {
  const node = item(shown(character)), state = node.lastChild, last = document.createElement("b");
  const tokens = read(part), begin = tokens.at(-1)?.start ?? part.length;
  if (isEnd) state.classList.add("end");
  last.textContent = shown(part.slice(begin)), last.className = `c${(tokens.length + COLOURS - 1) % COLOURS}`;
  if (tokens.length) last.title = `id ${tokens.at(-1).id}`;
  state.append(tokens.filter(({ start }) => start < begin).map(({ start, end }) => `${shown(part.slice(start, end))}|`).join(""), last);
  return node;
}

// ---- events

const indexOf = (target) => Number(target.closest(".token")?.id.slice(1) ?? -1);

function move(event) {
  const after = selected + 1, before = selected - 1;
  const places = { ArrowRight: after, ArrowDown: after, ArrowLeft: before, ArrowUp: before, Home: 0, End: drawn - 1 };
  if (!(event.key in places) || !drawn || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  select(Math.min(Math.max(places[event.key], 0), drawn - 1));
}

async function copy() {
  await navigator.clipboard.writeText(`[${ids.join(", ")}]`);
  element("copy").textContent = "Copied";
  setTimeout(() => { element("copy").textContent = "Copy ids"; }, 1500);
}

function listen() {
  input.addEventListener("input", encode);
  list.addEventListener("click", ({ target }) => select(indexOf(target)));
  list.addEventListener("keydown", move);
  list.addEventListener("pointerover", ({ target, pointerType }) => pointerType === "mouse" && indexOf(target) >= 0 && explain(indexOf(target)));
  list.addEventListener("pointerleave", () => explain(selected));
  element("copy").addEventListener("click", copy);
  const showIds = () => list.classList.toggle("with-ids", element("with-ids").checked);
  element("with-ids").addEventListener("change", showIds);
  showIds();
}

async function start() {
  const folder = new URLSearchParams(location.search).get("table") ?? "table";
  if (!/^[\w-][\w.-]*$/.test(folder)) throw new Error(`the folder ${folder} is not a name; expected letters, digits, ".", "_" and "-"`);
  const { load } = await import(`./${folder}/fst.js`);
  const file = (name) => new URL(`${folder}/${name}`, location.href);
  tok = await load(file("table.fst"), { wasm: file("fst.wasm") });
  listen();
  encode();
}

start().catch((error) => {
  status.textContent = `The table cannot be loaded (${error.message}). Export one: fst export TABLE.npz --target wasm -o examples/playground/table`;
});
