// A table that sorts by its headers and filters by a line of text. Only the rows in view are elements.

import { make } from "./dom.js";
import { tableTools } from "./export.js";
import { parseFilter } from "./filter.js";
import { MISSING, formatNumber, plural } from "./format.js";

const ROW_HEIGHT = 30;
const ROWS_BEYOND = 12;
const MOST_PRINTED = 1000; // some twenty pages

// columns: {title, told, value(index), text(index), numeric, cell(index), has(index, wanted), hidden, saved(index)}; options: label,
// count, noun, onSelect, placeOf, hint, height, rowClass(index). onSelect is told of -1 where no row is left. Hidden columns are for filters and files only.
export class DataTable {
  constructor(columns, options) {
    this.allColumns = columns;
    this.columns = columns.filter(({ hidden }) => !hidden);
    this.options = options;
    this.order = Array.from({ length: options.count }, (_, index) => index);
    this.sorted = { column: -1, down: false };
    this.selected = null; // until a row is chosen
    this.drawn = "";
    this.printing = false;
    this.build();
    this.update();
    window.addEventListener("beforeprint", () => this.print(true));
    window.addEventListener("afterprint", () => this.print(false));
  }

  build() {
    const { label, count, hint, noun, height } = this.options;
    this.filter = make("input", {
      type: "search",
      placeholder: hint ?? "filter",
      "aria-label": `Filter ${label}`,
      spellcheck: "false",
      oninput: () => this.update(),
      onkeydown: ({ key }) => key === "Enter" && this.openFirst(),
    });
    this.counted = make("span", { class: "counted", "aria-live": "polite" });
    this.heads = this.columns.map((column, number) => this.makeHead(column, number));
    this.body = make("tbody");
    this.table = make(
      "table",
      { class: "data", "aria-label": label, "aria-rowcount": count + 1 },
      make("thead", {}, make("tr", {}, ...this.heads)),
      this.body,
    );
    this.scroller = make(
      "div",
      { class: "scroller", tabindex: "0", role: "region", "aria-label": label, onscroll: () => this.draw() },
      this.table,
    );
    if (height) this.scroller.style.maxHeight = height;
    this.scroller.addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.noun = noun;
    this.printed = make("p", { class: "told printed" });
    this.element = make(
      "div",
      { class: "table" },
      make(
        "div",
        { class: "filterline" },
        this.filter,
        this.counted,
        tableTools(label, () => this.texts()),
      ),
      this.printed,
      this.scroller,
    );
  }

  makeHead(column, number) {
    const button = make(
      "button",
      { type: "button", title: column.told ?? column.title, onclick: () => this.sortBy(number) },
      column.title,
      make("span", { class: "arrow", "aria-hidden": "true" }),
    );
    return make("th", { scope: "col", class: column.numeric ? "number" : null, "aria-sort": "none" }, button);
  }

  // Ascending, descending, and back to the order of the files.
  sortBy(number) {
    const { column, down } = this.sorted;
    if (column !== number) this.sorted = { column: number, down: false };
    else this.sorted = down ? { column: -1, down: false } : { column: number, down: true };
    this.update();
  }

  update() {
    const test = parseFilter(this.filter.value, this.allColumns, this.options.placeOf);
    const isWrong = typeof test === "string";
    this.filter.classList.toggle("wrong", isWrong);
    const kept = isWrong ? [] : Array.from({ length: this.options.count }, (_, index) => index).filter(test);
    const { column, down } = this.sorted;
    if (column >= 0) sortIndices(kept, this.columns[column].value, down);
    this.order = kept;
    this.counted.textContent = isWrong
      ? test
      : kept.length === this.options.count
        ? plural(kept.length, this.noun)
        : `${formatNumber(kept.length)} of ${plural(this.options.count, this.noun)}`;
    this.heads.forEach((head, number) =>
      head.setAttribute("aria-sort", number !== column ? "none" : down ? "descending" : "ascending"),
    );
    this.scroller.scrollTop = 0;
    this.drawn = "";
    // What is shown beside the list is one of its rows.
    if (this.selected !== null && !kept.includes(this.selected)) this.select(kept[0] ?? -1);
    else this.draw();
  }

  // Takes rows that came since. What is in view stays there.
  grow(count) {
    const { scrollTop } = this.scroller;
    this.options.count = count;
    this.table.setAttribute("aria-rowcount", count + 1);
    this.update();
    this.scroller.scrollTop = scrollTop;
  }

  // The first row that is drawn, and the row behind the last one.
  shown() {
    if (this.printing) return [0, Math.min(this.order.length, MOST_PRINTED)];
    const view = this.scroller.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT) - ROWS_BEYOND);
    return [first, Math.min(this.order.length, first + Math.ceil(view / ROW_HEIGHT) + 2 * ROWS_BEYOND)];
  }

  print(starts) {
    this.printing = starts;
    const isCut = this.order.length > MOST_PRINTED;
    this.printed.textContent = isCut ? `The first ${formatNumber(MOST_PRINTED)}; a filter brings others to paper.` : "";
    this.draw();
  }

  draw() {
    const [first, last] = this.shown();
    const key = `${first} ${last} ${this.selected}`;
    if (key === this.drawn) return;
    this.drawn = key;
    const rows = this.order.slice(first, last).map((index, offset) => this.makeRow(index, first + offset));
    this.body.replaceChildren(
      spacer(first * ROW_HEIGHT, this.columns.length),
      ...rows,
      spacer((this.order.length - last) * ROW_HEIGHT, this.columns.length),
    );
  }

  makeRow(index, place) {
    const cells = this.columns.map((column) => {
      const cell = make("td", { class: column.numeric ? "number" : null });
      const content = column.cell?.(index) ?? column.text?.(index) ?? column.value(index) ?? MISSING;
      cell.append(content);
      return cell;
    });
    const kind = this.options.rowClass?.(index) ?? null;
    const row = make("tr", { "aria-rowindex": place + 2, "data-index": index, class: kind }, ...cells);
    if (this.options.onSelect) {
      row.classList.add("choosable");
      row.setAttribute("aria-selected", index === this.selected);
      row.addEventListener("click", () => this.select(index, true));
    }
    return row;
  }

  // The cells of all rows that the filter leaves, in their order, with hidden columns: numbers as they are.
  texts() {
    const text = (column, index) => String(column.saved?.(index) ?? column.value(index) ?? "");
    return [
      this.allColumns.map(({ title }) => title),
      ...this.order.map((index) => this.allColumns.map((column) => text(column, index))),
    ];
  }

  // Shows the rows of a filter.
  follow(text) {
    this.filter.value = text;
    this.update();
    if (this.options.onSelect && this.order.length) this.select(this.order[0]);
    this.element.scrollIntoView({ block: "nearest" });
    this.filter.focus({ preventScroll: true });
  }

  // Enter in the filter opens the first row that it leaves.
  openFirst() {
    if (this.options.onSelect && this.order.length) this.goTo(this.order[0]);
  }

  // `isAimed`: the reader wants to see this row's details, rather than to go from row to row.
  select(index, isAimed = false) {
    this.selected = index;
    this.draw();
    this.options.onSelect(index, isAimed);
  }

  // Up and down go from row to row, as in a list of mails.
  onKey(event) {
    if (!this.options.onSelect || event.target !== this.scroller) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
    if (!step || !this.order.length) return;
    event.preventDefault();
    const place = this.order.indexOf(this.selected);
    const next = Math.min(this.order.length - 1, Math.max(0, place < 0 ? 0 : place + step));
    this.reveal(next);
    this.select(this.order[next]);
  }

  // Selects a row and scrolls to it.
  goTo(index) {
    this.reveal(this.order.indexOf(index));
    this.select(index, true);
  }

  // Scrolls to the row of a place in the order.
  reveal(place) {
    const top = place * ROW_HEIGHT;
    const head = 2 * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top > scrollTop + clientHeight - head) this.scroller.scrollTop = top - clientHeight + head;
  }
}

// A column of numbers. They are written with so many digits, and missing ones as such.
export const figures = (title, value, { told, digits = 0 } = {}) => ({
  title,
  told,
  numeric: true,
  value,
  text: (index) => formatNumber(value(index), digits),
});

// A figure over a bar that shows its share of the largest one.
export function bar(text, share) {
  const drawn = make("span", { class: "bar" }, text);
  drawn.style.setProperty("--share", share);
  return drawn;
}

function spacer(height, columns) {
  const cell = make("td", { colspan: columns });
  cell.style.height = `${height}px`;
  return make("tr", { class: "spacer", "aria-hidden": "true" }, cell);
}

const collator = new Intl.Collator("en", { numeric: true });

// Missing values come last in either direction. Equal values keep their order.
function sortIndices(indices, value, down) {
  const values = new Map(indices.map((index) => [index, value(index)]));
  const sign = down ? -1 : 1;
  indices.sort((one, other) => {
    const a = values.get(one);
    const b = values.get(other);
    const isMissing = (a ?? "") === "";
    if (isMissing || (b ?? "") === "") return isMissing === ((b ?? "") === "") ? one - other : isMissing ? 1 : -1;
    const difference = typeof a === "number" ? a - b : collator.compare(a, b);
    return difference ? sign * difference : one - other;
  });
}
