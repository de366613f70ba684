// What a filter line means: words that some cell contains, `column<30`, `type=SNV`, and places such as chr1:100-200.

const CONDITION = /^([^<>=!:]+)(<=|>=|!=|<|>|=)(.*)$/;
const PLACE = /^(.+):([\d,]+)(?:-([\d,]+))?$/;

const COMPARE = {
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

const simple = (text) =>
  String(text)
    .toLowerCase()
    .replace(/[\s/_]+/g, "");

// A test of a row index, or a text that says what cannot be understood.
export function parseFilter(line, columns, placeOf) {
  const tests = [];
  for (const word of line.trim().split(/\s+/).filter(Boolean)) {
    const test = conditionTest(word, columns) ?? placeTest(word, placeOf) ?? wordTest(word, columns);
    if (typeof test === "string") return test;
    tests.push(test);
  }
  return (index) => tests.every((test) => test(index));
}

function conditionTest(word, columns) {
  const found = CONDITION.exec(word);
  if (!found) return null;
  const [, name, sign, wanted] = found;
  const column =
    columns.find((one) => simple(one.title) === simple(name)) ??
    columns.find((one) => simple(one.title).startsWith(simple(name)));
  if (!column) return `no column ${name}`;
  if (sign in COMPARE) {
    const number = Number(wanted);
    if (wanted === "" || Number.isNaN(number)) return `${word}: not a number`;
    return (index) => {
      const value = column.value(index);
      return typeof value === "number" && COMPARE[sign](value, number);
    };
  }
  const same = (index) => simple(column.value(index) ?? "") === simple(wanted) || Boolean(column.has?.(index, wanted));
  return sign === "=" ? same : (index) => !same(index);
}

function placeTest(word, placeOf) {
  const found = placeOf && PLACE.exec(word);
  if (!found) return null;
  const first = Number(found[2].replaceAll(",", ""));
  const last = found[3] ? Number(found[3].replaceAll(",", "")) : first;
  return (index) => {
    const [chrom, pos] = placeOf(index);
    return chrom === found[1] && pos >= first && pos <= last;
  };
}

function wordTest(word, columns) {
  const wanted = word.toLowerCase();
  return (index) =>
    columns.some((column) =>
      String(column.value(index) ?? "")
        .toLowerCase()
        .includes(wanted),
    );
}
