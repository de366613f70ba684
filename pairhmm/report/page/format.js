// Numbers and alleles as text.

export const MISSING = "·";

export function formatNumber(value, digits = 0) {
  if (value === null || value === undefined) return MISSING;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const percentOf = (share) => (share === null ? null : 100 * share);

export function shortened(text, most = 14) {
  return text.length <= most ? text : `${text.slice(0, most - 5)}…(${text.length})`;
}

export function formatSeconds(seconds) {
  if (seconds < 60) return `${formatNumber(seconds, seconds < 10 ? 2 : 1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function plural(count, word, words = `${word}s`) {
  return `${formatNumber(count)} ${count === 1 ? word : words}`;
}
