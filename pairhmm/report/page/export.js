// Saves tables as text, and pictures as PNG or SVG.

import { announce, make } from "./dom.js";
import { svgOf } from "./svg.js";

// Buttons that save or copy a table. `rows` gives the texts of its cells, those of the head first.
export function tableTools(name, rows) {
  return make(
    "span",
    { class: "tools" },
    toolButton("TSV", `Save ${name} as TSV`, () => save(`${name}.tsv`, "text/tab-separated-values", tsv(rows()))),
    toolButton("CSV", `Save ${name} as CSV`, () => save(`${name}.csv`, "text/csv", csv(rows()))),
    toolButton("Copy", `Copy ${name}`, () => copy(tsv(rows()))),
  );
}

// A plain table with its buttons. `rows` are elements; `kind` is a further class.
export function plainTable(name, heads, rows, { kind = "", caption = null } = {}) {
  const table = make(
    "table",
    { class: `plain ${kind}`.trim() },
    caption,
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...rows),
  );
  const texts = () => [...table.rows].map((row) => [...row.cells].map((cell) => cell.innerText));
  return make("div", { class: "wide" }, make("div", { class: "exported" }, table, tableTools(name, texts)));
}

// Buttons that save a picture of `makeCanvas`.
export function pictureTools(canvas, name) {
  const asPng = () => canvas.toBlob((blob) => saveBlob(`${name}.png`, blob));
  const asSvg = () => save(`${name}.svg`, "image/svg+xml", svgOf(canvas));
  return make(
    "span",
    { class: "tools" },
    toolButton("PNG", `Save the picture of ${name} as PNG`, asPng),
    toolButton("SVG", `Save the picture of ${name} as SVG`, asSvg),
  );
}

const toolButton = (text, label, act) => make("button", { type: "button", "aria-label": label, onclick: act }, text);

const tsv = (rows) => rows.map((row) => row.map((text) => text.replace(/\s+/g, " ")).join("\t")).join("\n") + "\n";

const csv = (rows) => rows.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const save = (name, type, text) => saveBlob(name, new Blob([text], { type }));

function saveBlob(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name.replace(/[^\w.-]+/g, "_") });
  link.click();
  URL.revokeObjectURL(link.href);
}

// A page from a disk may not have the clipboard's newer interface.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea", { class: "unseen" });
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  announce("Copied");
}
