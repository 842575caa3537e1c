// What the book adds to Doxygen's pages: a tree that is open, a search through all words of all pages, and room for predictions.
// Doxygen's own search knows names alone, and no heading or word of a page.
"use strict";

// --- The tree ---

// Doxygen builds the tree when page and scripts have come, in either order.
function openGroups() {
  const arrows = document.querySelectorAll("#nav-tree-contents > ul > li > ul > li > .item .arrow");
  if (arrows.length === 0) return setTimeout(openGroups, 50);
  for (const arrow of arrows)
    if (arrow.textContent === "►") arrow.click();
  for (const image of document.querySelectorAll("#nav-sync img")) image.alt = image.title;  // Doxygen's button
}
if (window.innerWidth >= 768) window.addEventListener("load", openGroups);

// --- The search ---

const kMostResults = 12;

// How well an entry of the glossary fits the query: the word itself, its plural, or the beginning of a word that is being typed.
function glossaryScore(entry, query) {
  if (!entry.words) return 0;
  if (entry.words.includes(query)) return 200;
  if (entry.words.some(word => `${word}s` === query)) return 150;
  return entry.words.some(word => word.startsWith(query)) ? 50 : 0;
}

// Entries of the glossary that fit the query; sections whose heading has all its words, other sections that have them, and
// names. A name that is the query comes directly after the glossary.
function find(text) {
  const query = text.trim().toLowerCase().replace(/\s+/g, " ");
  if (!query) return [];
  const words = query.split(" ");
  const found = [];
  for (const entry of BOOK_SECTIONS) {
    const heading = entry.heading.toLowerCase();
    const all = `${heading} ${entry.page.toLowerCase()} ${entry.text.toLowerCase()}`;
    const inGlossary = glossaryScore(entry, query);
    if (!inGlossary && !words.every(word => all.includes(word))) continue;
    const inHeading = words.filter(word => heading.includes(word)).length;
    const elsewhere = entry.text ? 1 + inHeading : heading === query ? 100 : 0;
    found.push({entry, score: inGlossary || elsewhere});
  }
  return found.sort((a, b) => b.score - a.score).slice(0, kMostResults).map(one => one.entry);
}

function excerpt(text, query) {
  const at = Math.max(0, text.toLowerCase().indexOf(query.toLowerCase().split(/\s+/)[0]));
  const from = at < 40 ? 0 : text.indexOf(" ", at - 40) + 1;
  return (from ? "… " : "") + text.slice(from, from + 110) + (from + 110 < text.length ? " …" : "");
}

function resultsBox() {
  let box = document.getElementById("book-results");
  if (!box) {
    box = document.createElement("div");
    box.id = "book-results";
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "Search results");
    box.setAttribute("aria-live", "polite");
    box.addEventListener("keydown", moveInResults);
    document.body.append(box);
  }
  return box;
}

function closeResults() {
  resultsBox().style.display = "none";
}

function showResults(field) {
  const box = resultsBox();
  const query = field.value.trim();
  if (!query) return closeResults();
  const links = find(query).map(entry => {
    const link = document.createElement("a");
    link.href = entry.href;
    link.append(Object.assign(document.createElement("strong"), {textContent: entry.heading}));
    link.append(Object.assign(document.createElement("small"), {textContent: entry.page}));
    if (entry.text) link.append(Object.assign(document.createElement("span"), {textContent: excerpt(entry.text, query)}));
    link.addEventListener("click", closeResults);
    return link;
  });
  box.replaceChildren(...(links.length ? links : ["Nothing found."]));
  const at = document.getElementById("MSearchBox").getBoundingClientRect();
  box.style.top = `${at.bottom + 6}px`;
  box.style.left = window.innerWidth < 768 ? "8px" : `${at.left}px`;
  box.style.display = "block";
}

// Arrow keys go through the results, Escape back to the field.
function moveInResults(event) {
  const field = document.getElementById("MSearchField");
  const stops = [field, ...resultsBox().querySelectorAll("a")];
  const here = stops.indexOf(document.activeElement);
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (event.key === "Escape") {
    closeResults();
    field.focus();
  } else if (step && stops[here + step]) {
    stops[here + step].focus();
  } else {
    return;
  }
  event.preventDefault();
}

// The field is made again when the window's width changes; Doxygen's object that it calls stays.
function takeOverSearch() {
  searchBox.OnSearchFieldFocus = () => {  // Doxygen has written its label into the field
    const field = document.getElementById("MSearchField");
    if (field.value === searchBox.searchLabel) field.value = "";
  };
  searchBox.OnSearchSelectShow = () => {};
  searchBox.OnSearchFieldChange = event => {
    if (event.key === "Enter") resultsBox().querySelector("a")?.click();
    else if (event.key === "Escape" || event.key.startsWith("Arrow")) moveInResults(event);
    else showResults(event.target);
  };
  document.addEventListener("click", event => {
    if (!event.target.closest("#book-results, #MSearchBox")) closeResults();
  });
}
document.addEventListener("DOMContentLoaded", takeOverSearch);

// --- Reading ---

// Names break between their parts, after _ / . and ::, where a line is too short for them.
function letNamesBreak() {
  for (const code of document.querySelectorAll(".contents p code, .contents li code, .contents td code, .contents th code")) {
    if (code.children.length) continue;
    const parts = code.textContent.split(/(?<=::|[_/.](?=\w))/);
    code.replaceChildren(...parts.flatMap((part, i) => i ? [document.createElement("wbr"), part] : [part]));
  }
}
document.addEventListener("DOMContentLoaded", letNamesBreak);

// Figures have a form for phones, with letters that can be read there.
const phone = matchMedia("(max-width: 600px)");
function chooseFigures() {
  for (const image of document.querySelectorAll("img[data-narrow]")) {
    image.dataset.wide ??= image.getAttribute("src");
    image.src = phone.matches ? image.dataset.narrow : image.dataset.wide;
  }
}
document.addEventListener("DOMContentLoaded", chooseFigures);
phone.addEventListener("change", chooseFigures);

// The way past the tree for those who use the keyboard.
function addSkipLink() {
  const text = document.getElementById("doc-content");
  const link = Object.assign(document.createElement("a"), {id: "book-skip", href: "#doc-content", textContent: "Skip to the text"});
  link.addEventListener("click", event => {
    event.preventDefault();
    text.focus();
  });
  text.tabIndex = -1;
  document.body.prepend(link);
}
document.addEventListener("DOMContentLoaded", addSkipLink);

// --- Predictions ---

// The number that an answer stands for: "1.5", "1,5", "3/2", "1.5x", "24 bytes". Null when it is none. cli/predictions.cpp does the same.
function predictedNumber(answer) {
  const number = "(\\d+(?:[.,]\\d*)?|[.,]\\d+)";
  const form = new RegExp(`^\\s*${number}\\s*(?:/\\s*${number}\\s*)?(?:x|times|b|bytes?)?\\s*$`, "i");
  const parts = answer.length > 40 ? null : answer.match(form);
  if (!parts) return null;
  const value = text => Number(text.replace(",", "."));
  const divisor = parts[2] === undefined ? 1 : value(parts[2]);
  return divisor === 0 ? null : value(parts[1]) / divisor;
}

// Whether a prediction is near enough: within 2 %, or 0.05. cli/predictions.cpp does the same.
function isRightPrediction(predicted, counted) {
  return Math.abs(predicted - counted) <= Math.max(0.05, 0.02 * counted) + 1e-9;
}

const textOf = element => element.textContent.trim();

// The table of what is counted, which docs/update.py writes into a fold; undefined where the page has none.
function answersTable() {
  const headings = table => [...table.rows[0].cells].map(textOf).join();
  return [...document.querySelectorAll(".contents details table")].find(table => headings(table) === "stage,what,counted,why");
}

// The name under which the page keeps a value on this machine.
const kept = name => `prediction ${location.pathname.split("/").pop()} ${name}`;

// A cell that holds nothing but a question mark becomes a field for the reader, {input, cell, key, stage, asked}.
function predictionField(cell) {
  const stage = textOf(cell.parentElement.cells[0]);
  const asked = textOf(cell.closest("table").rows[0].cells[cell.cellIndex]);
  const input = Object.assign(document.createElement("input"), {className: "prediction", size: 5, placeholder: "?"});
  input.setAttribute("aria-label", `Your prediction: ${stage}, ${asked}`);
  const key = `${stage} ${asked}`;
  input.value = localStorage.getItem(kept(key)) ?? "";
  input.addEventListener("change", () => localStorage.setItem(kept(key), input.value));
  cell.replaceChildren(input);
  return {input, cell, key, stage, asked};
}

// "✓ 16.0" beside a right prediction, "✗ 16.0" beside a wrong one, "16.0" where there is none.
function markOf(field, counted) {
  const predicted = predictedNumber(field.input.value);
  const right = predicted !== null && isRightPrediction(predicted, parseFloat(counted));
  const kind = predicted === null ? "shown" : right ? "right" : "wrong";
  const mark = document.createElement("span");
  mark.className = `prediction-mark ${kind}`;
  mark.textContent = {shown: "", right: "✓ ", wrong: "✗ "}[kind] + counted;
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", {shown: "it is ", right: "right: ", wrong: "wrong: it is "}[kind] + counted);
  return mark;
}

// A row below a stage's with one sentence for each of its fields; `answers` are rows of the answers' table.
function explanationBelow(row, answers) {
  const cell = Object.assign(document.createElement("td"), {colSpan: row.cells.length});
  for (const answer of answers) {
    const sentence = document.createElement("div");
    const name = Object.assign(document.createElement("strong"), {textContent: textOf(answer.cells[1])});
    sentence.append(name, ": ", ...[...answer.cells[3].childNodes].map(node => node.cloneNode(true)));
    cell.append(sentence);
  }
  const below = Object.assign(document.createElement("tr"), {className: "prediction-why"});
  below.append(cell);
  row.after(below);
}

// The fields of a lesson whose numbers are counted: its fold opens, and each field is marked and explained, when all are filled in or
// the reader wants to be shown.
function askFields(all, table) {
  const answers = new Map([...table.rows].slice(1).map(row => [`${textOf(row.cells[0])} ${textOf(row.cells[1])}`, row]));
  const fields = all.filter(field => answers.has(field.key));  // others are in tables that nothing counts
  if (!fields.length) return;
  const fold = table.closest("details");
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  const button = Object.assign(document.createElement("button"), {type: "button", className: "prediction-button"});
  fields.at(-1).cell.closest("table").after(status, button);
  let shown = false;

  function clear() {
    document.querySelectorAll(".prediction-mark, .prediction-why").forEach(part => part.remove());
  }
  function mark() {
    clear();
    let right = 0;
    for (const row of new Set(fields.map(field => field.cell.parentElement)))
      explanationBelow(row, fields.filter(field => field.cell.parentElement === row).map(field => answers.get(field.key)));
    for (const field of fields) {
      const made = markOf(field, textOf(answers.get(field.key).cells[2]));
      right += made.classList.contains("right");
      field.cell.append(made);
    }
    status.textContent = `${right} of ${fields.length} right. What is counted is below.`;
  }
  function look() {
    const isBad = field => field.input.value.trim() !== "" && predictedNumber(field.input.value) === null;
    const bad = fields.find(isBad);
    const filled = fields.filter(field => predictedNumber(field.input.value) !== null).length;
    for (const field of fields) field.input.setAttribute("aria-invalid", isBad(field));
    if (shown || filled === fields.length) return show();
    button.textContent = "Show me";
    status.textContent = bad ? `“${bad.input.value.slice(0, 20)}” is no number. Numbers such as 16, 1.5, 3/2, 1.5x and 24 bytes are.`
        : `${filled} of ${fields.length} filled in. When all are, they are marked, and the counts open.`;
  }
  function show() {
    shown = true;
    localStorage.setItem(kept("shown"), "yes");
    table.style.display = "none";  // its sentences stand beside the fields
    fold.open = true;
    button.textContent = "Start again";
    mark();
  }
  function startAgain() {
    shown = false;
    localStorage.removeItem(kept("shown"));
    for (const field of fields) {
      localStorage.removeItem(kept(field.key));
      field.input.value = "";
    }
    clear();
    fold.open = false;
    look();
  }
  button.addEventListener("click", () => shown ? startAgain() : show());
  fold.addEventListener("toggle", () => { if (fold.open && !shown) show(); });
  for (const field of fields) field.input.addEventListener("change", look);
  shown = localStorage.getItem(kept("shown")) === "yes";
  look();
}

function openPredictions() {
  const cells = [...document.querySelectorAll(".contents td")].filter(cell => textOf(cell) === "?");
  const fields = cells.map(predictionField);
  const table = answersTable();
  if (table) askFields(fields, table);
}
document.addEventListener("DOMContentLoaded", openPredictions);
