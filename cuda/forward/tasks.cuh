// What a read's lanes need only between two haplotypes, in fast.cu. It lies in shared memory, after the emissions, so
// that the inner loop can use the registers.

struct __align__(8) Task {
    double log_kept;
    uint32 item;
    uint32 read, first, haplotype, end, score;  // its read, its haplotypes, those left, and the next score
    float entry;                                // dm / mm of its first row
    uint16 folds, scales;
};
static_assert(sizeof(Task) == TASK_BYTES && kEmissionBytes + kReads * TASK_BYTES == SHARED_BYTES, "shared memory");
