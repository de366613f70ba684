// Emissions relative to a row's best one, [letter][row][lane]: whatever letters lanes read, there is no bank conflict. A lane
// reads and writes its own column alone; on their way into registers, which a loop can't index, coefficients pass here.
var<workgroup> emissions: array<array<array<f32, W>, STORED_ROWS>, LETTERS>;
