// Which of the chosen files is what (src/page/files.js).

import assert from "node:assert/strict";
import { test } from "node:test";

import { ChosenFiles, givenUrl } from "../src/page/files.js";

/** @param {string[]} names */
const given = (...names) => names.map((name) => ({ name, data: name, size: 1 }));

test("indexes go with their files, by either of their names", () => {
  const files = new ChosenFiles();
  assert.deepEqual(files.add(given("a.bam", "a.bam.bai", "b.BAM", "b.bai", "c.cram", "c.cram.crai")), []);
  const pairs = files.inputs().alignments.map(({ name, index }) => [name, index]);
  assert.deepEqual(pairs, [
    ["a.bam", "a.bam.bai"],
    ["b.BAM", "b.bai"],
    ["c.cram", "c.cram.crai"],
  ]);
  assert.equal(files.missing("alignments"), "");
});

test("a reference has two indexes, and another one takes its place", () => {
  const files = new ChosenFiles();
  files.add(given("old.fa", "old.fa.fai"));
  files.add(given("ref.fa.gz", "ref.fa.gz.fai", "ref.fa.gz.gzi"));
  const expected = { name: "ref.fa.gz", fasta: "ref.fa.gz", fai: "ref.fa.gz.fai", gzi: "ref.fa.gz.gzi" };
  assert.deepEqual(files.inputs().reference, expected);
  assert.deepEqual(files.strays(), []);
});

test("what is missing is named", () => {
  const files = new ChosenFiles();
  assert.match(files.missing("reference"), /FASTA/);
  files.add(given("a.bam", "b.cram", "c.bam.bai"));
  assert.equal(files.missing("alignments"), "Index missing: a.bam.bai; Index missing: b.cram.crai");
  assert.deepEqual(
    files.strays().map(({ name }) => name),
    ["c.bam.bai"],
  );
});

test("a file of another kind is one line, and is not taken", () => {
  const files = new ChosenFiles();
  assert.equal(files.add(given("notes.txt", "a.bam")).length, 1);
  assert.deepEqual([...files.byName.keys()], ["a.bam"]);
});

test("files leave with their indexes", () => {
  const files = new ChosenFiles();
  files.add(given("a.bam", "a.bam.bai"));
  files.remove("a.bam");
  assert.equal(files.byName.size, 0);
});

test("an address has the name at the end of its path", () => {
  assert.equal(givenUrl("https://host/folder/a%20b.bam?token=1").name, "a b.bam");
});
