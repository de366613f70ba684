// Emissions relative to a row's best one, in workgroup memory as [letter][row][lane]. So there is no bank conflict,
// whatever letters the lanes read.
//
// A lane reads and writes only its own column. Coefficients pass through the same memory on their way into registers,
// because they are made in a loop, and loops cannot index registers.
//
// Where a row has only two emissions, one is 1 (rows_qualities.wgsl). With MASKED, the other one is among the lane's
// coefficients (states.wgsl), and this memory has a bit for each row: whether a letter's emission is 1. NVIDIA's driver
// gives a multiprocessor about 48 kB of workgroup memory, which emissions of 19 rows fill with four subgroups. Masks
// leave room for as many subgroups as the registers do.

// import host: W, LETTERS
//#if MASKED
// export: masks

var<workgroup> masks: array<array<u32, W>, LETTERS>;
//#else
// import host: STORED_ROWS
// export: emissions

var<workgroup> emissions: array<array<array<f32, W>, STORED_ROWS>, LETTERS>;
//#end
