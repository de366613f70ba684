// Emissions relative to a row's best one, in workgroup memory: [letter][row][lane], so that there is no bank conflict,
// whatever letters lanes read.
//
// A lane reads and writes its own column alone. Coefficients pass through the same memory on their way into registers:
// a loop makes them, and loops cannot index registers.

// needs host: W, LETTERS, STORED_ROWS
// gives: emissions

var<workgroup> emissions: array<array<array<f32, W>, STORED_ROWS>, LETTERS>;
