// Assembles the WGSL text of a kernel, as pairhmm/backends/webgpu/templates.py does, which checks the templates.

/** @typedef {Record<string, number | null>} Numbers */

const NEEDS = /^\/\/ needs (\S+): (.+)$/gm;
const MARK = "//#";
const HOST = "host";

/**
 * One text: the host's declarations that are needed, all modules that `root` needs, and `root`.
 *
 * @param {string} root a module's name
 * @param {Record<string, string>} modules templates by name
 * @param {Record<string, string>} declarations WGSL by name
 * @param {Numbers} numbers values of the names in directives
 * @param {(name: string) => string} chosen the module that a name with a "*" stands for
 * @returns {string}
 */
export function assemble(root, modules, declarations, numbers, chosen) {
  /** @type {Map<string, string>} */
  const texts = new Map();
  /** @type {Set<string>} */
  const needed = new Set();
  /** @param {string} name */
  const collect = (name) => {
    const text = `${expanded(modules[name].trimEnd().split("\n"), numbers).join("\n")}\n`;
    texts.set(name, ""); // in use: modules do not need each other in circles
    for (const [, file, names] of text.matchAll(NEEDS)) {
      if (file === HOST) names.split(", ").forEach((own) => needed.add(own));
      else if (!texts.has(chosen(file))) collect(chosen(file));
    }
    texts.delete(name);
    texts.set(name, text); // behind what it needs
  };
  collect(root);
  const own = Object.entries(declarations).filter(([name]) => needed.has(name));
  const all = [...own.map(([, text]) => text), ...texts.values()].join("");
  return all.replace(/^\/\/.*\n/gm, "");
}

/** @param {string[]} lines @param {Numbers} numbers @returns {string[]} */
function expanded(lines, numbers) {
  /** @type {string[]} */
  const all = [];
  for (let at = 0; at < lines.length; at++) {
    const [verb, ...words] = directive(lines[at]);
    if (!verb) {
      all.push(lines[at]);
      continue;
    }
    const { end, middle } = block(lines, at);
    if (verb === "for") {
      const body = expanded(lines.slice(at + 1, end), numbers);
      const count = numbers[words[1]] ?? 0;
      for (let number = 0; number < count; number++) {
        all.push(...body.map((line) => numbered(line, words[0], number, count)));
      }
    } else {
      all.push(...expanded(numbers[words[0]] ? lines.slice(at + 1, middle) : lines.slice(middle + 1, end), numbers));
    }
    at = end;
  }
  return all;
}

/** The words of a directive; none for any other line. @param {string} line */
function directive(line) {
  return line.startsWith(MARK) ? line.slice(MARK.length).trim().split(/\s+/) : [];
}

/** The line that ends a block, and its "else" (the end, if it has none). @param {string[]} lines @param {number} begin */
function block(lines, begin) {
  let depth = 0;
  let middle;
  for (let at = begin; at < lines.length; at++) {
    const [verb] = directive(lines[at]);
    if (verb === "for" || verb === "if") depth++;
    if (verb === "end") depth--;
    if (verb === "else" && depth === 1) middle = at;
    if (depth === 0) return { end: at, middle: middle ?? at };
  }
  throw new Error(`no end: ${lines[begin]}`);
}

/** @param {string} line @param {string} name @param {number} number @param {number} count */
function numbered(line, name, number, count) {
  if (!line.includes(`$${name}`)) return line;
  const rows = { ".back": count - 1 - number, ".after": (number + 1) % count, "": number };
  for (const [suffix, row] of Object.entries(rows)) {
    line = line
      .replaceAll(`$${name}${suffix}.quad`, String(Math.floor(row / 4)))
      .replaceAll(`$${name}${suffix}.axis`, "xyzw"[row % 4])
      .replaceAll(`$${name}${suffix}.byte`, String(8 * (row % 4)))
      .replaceAll(`$${name}${suffix}`, String(row));
  }
  return line;
}
