// What tree_rows.cu hands to trees.cu: the rows of each work item, ready to load, and what each of its lanes works at.
//
// The work items of all tiers whose lanes have the same number of rows are one launch of trees.cu. Their places in it
// follow from their tiers alone: an item stands where its rank divided by its tier's items says. A tier has its
// long items first, so the launch has, too.

// A tier, in the order of launches. TREE_TIER of pairhmm/backends/cuda/layout.py.
struct TreeTier {
    int64 made;        // byte offset of its launch's rows
    int64 list_first;  // its list of pairs to rescue, among all lists
    uint32 start;      // items of the tiers before it
    uint32 items;
    uint32 first_item;  // among the items of the batch
    uint32 last_read;   // one past its last read in order
    uint32 lanes, rows;
    uint32 launch_first, launch_tiers;  // the tiers of its launch
    uint32 item_bytes;                  // of a launch's item
    uint32 list;                        // which list it is
};

struct Task {
    double log_kept;
    float entry;  // dm / mm of the read's first row
    uint32 read, group, tree, tier;
    uint32 flags;
};
constexpr uint32 kNoList = 0xffffffff;    // of a tier: its pairs are not listed
constexpr uint32 kIsOwn = 1, kFolds = 2;  // of a task: whether the lane's read is its own; whether its rows fold

// After the tasks of 32 lanes: for each strip of the read, quads of rows as [array][k / 4][lane].
constexpr uint32 kTaskBytes = 32 * sizeof(Task);
enum MadeArray { kFromDeletion, kFromInsertion, kExtendInsertion, kFromBelow, kExtendDeletion };
constexpr int kCoefficients = 4 + VARYING;

__device__ __forceinline__ int rows_of(const uint8* buffer, const Header& header, uint32 read) {
    return int(words(buffer, header.read_offset)[read + 1] - words(buffer, header.read_offset)[read]);
}

// Strips of `lanes` lanes that a read takes, each lane `rows` of its rows.
__device__ __forceinline__ int strips_of(int read_rows, int lanes, int rows) {
    return (read_rows + lanes * rows - 1) / (lanes * rows);
}
