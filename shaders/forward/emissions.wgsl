// Emissions relative to a row's best one, in workgroup memory as [letter][row][lane]. So there is no bank conflict,
// whatever letters the lanes read.
//
// A lane reads and writes only its own column. Coefficients pass through the same memory on their way into registers,
// because they are made in a loop, and loops cannot index registers.

// needs host: W, LETTERS, STORED_ROWS
// gives: emissions

var<workgroup> emissions: array<array<array<f32, W>, STORED_ROWS>, LETTERS>;
