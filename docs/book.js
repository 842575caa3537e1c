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

// The field is made anew when the window's width changes; Doxygen's object that it calls stays.
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

// A cell that holds nothing but a question mark is for the reader to fill in; what is written there stays on this machine.
function openPredictions() {
  const cells = [...document.querySelectorAll(".contents td")].filter(cell => cell.textContent.trim() === "?");
  cells.forEach((cell, number) => {
    const key = `prediction ${location.pathname.split("/").pop()} ${number}`;
    const heading = cell.closest("table").rows[0].cells[cell.cellIndex].textContent.trim();
    const field = Object.assign(document.createElement("input"), {className: "prediction", size: 5, placeholder: "?"});
    field.setAttribute("aria-label", `Your prediction: ${cell.parentElement.cells[0].textContent.trim()}, ${heading}`);
    field.value = localStorage.getItem(key) ?? "";
    field.addEventListener("change", () => localStorage.setItem(key, field.value));
    cell.replaceChildren(field);
  });
}
document.addEventListener("DOMContentLoaded", openPredictions);
