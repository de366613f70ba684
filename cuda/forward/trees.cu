// Every pair of a batch in float32, where haplotypes of a group share columns: each shared column is computed once.
//
// A column of the forward depends on the letters to its left alone, a column of the backward on those to its right. The
// haplotypes of a group, cut in their middle, are therefore two trees: one of the prefixes of their left halves and one
// of the suffixes of their right halves. Each node is one column. The root of the left tree is column 0, that of the
// right tree the column behind the last.
//
// Method: a block is one warp, and takes a tile of reads against all haplotypes of their groups, or against as many as
// the host puts into one pair of trees. `lanes` neighbouring lanes own a read, each lane K of its rows in registers
// (lanes.cuh). A tree comes as a stream: its nodes in depth-first order, one byte a node
// (cpu/staging/tree_streams.hpp). The byte has the letter, and says whether the states of a branch are restored before
// it, whether its own are saved, and whether a half ends here. Lanes follow each other through the stream as they do
// through a haplotype. Each lane restores and saves its own states, at its own step. Nodes that are letters alone need
// no test: the nodes that are more (events) are known ahead, and between them a run of kRun columns is unrolled.
//
// The backward is the forward of the reversed read with transposed transitions (docs/model.md). Folded (rows.cuh), its
// coefficients are those of the forward but for the extension of an insertion; from_deletion moves by a row. So a lane
// keeps its rows, turns their order, and the backward walks from the last lane to the first. One text walks both.
//
// With S and D what enters column s + 1 from the left half, m = E S' of that column from the right half, and D' what
// follows D, in units in which all rows' factors cancel,
//
//   P = ended + started + sum over rows (S m + from_deletion D D').
//
// `ended` is the sum of M + I of the last row over the columns of the left half, `started` the sum of m of the first
// row over those of the right half. A half starts from 2^kHalfExponent, so that the product of two is within float32's
// range. The cut depends on the haplotype alone, and each sum on the path from the root alone: a score has the same
// bits whatever shares its trees.
//
// Ladder, kernels alone on an NVIDIA H200 in GCUPS: cells of the whole matrices, of which s150 needs 1 in 2.18 and 1m 1
// in 5.13.
//
//     what                                                                            s150   1m x 20
//     fast.cu, which computes whole matrices                                         3,880     2,620
//     a walk for each half, every step looks for events                              4,959     2,754
//     runs of 8 columns between events                                               4,579     4,307
//     runs of 4 (the code of two unrolled walks is too large)                        5,954         -
//     one walk for both halves, which spills registers                               5,106     4,078
//     the same with 32-bit offsets and a join that loads quad by quad, runs of 8     6,429     5,180
//     `lanes` at run time, so that a kernel serves all reads of K rows a lane        6,448     5,258
//
// (From the log of its tuning. The last one reaches 6,527 for 100 copies of 1m. Not measured yet: compensated sums, no
// spilled registers, rows of base calls loaded ahead, SHARED_SLOTS.) Bringing slots into the first-level cache ahead,
// quotients by Newton's method and unrolled loading gained nothing.
//
// Limits: for 1m, loading rows takes 23% of a tile, the walks 71%. An event is a step of every lane, one after the
// other, and waits for memory. Of 12 warps that fit a multiprocessor, 8.5 are at work on average for 20 copies of 1m,
// and 11 for 100: launches end one warp after the other. Pairs whose sums are below kLeastJoined go on a list for
// scaled.cu: 760 of the 586,140 pairs of 1m x 20, where fast.cu lists 280.

constexpr uint32 kLetterBits = 7, kRestore = 8, kPop = 16, kSave = 32, kLeaf = 64;  // of a node's byte
// What a lane counts, in one register: open branches and leaves. The host sees to it that each is below 256.
constexpr uint32 kOneLeaf = 1 << 8;
constexpr uint32 kLastJoin = 0x8000;  // of a join: the last one of its backward leaf

constexpr int kHalfExponent = HALF_EXPONENT;
constexpr float kLeastJoined = LEAST_JOINED;
constexpr int kRun = RUN;                   // columns between two looks for an event
constexpr int kSharedSlots = SHARED_SLOTS;  // of the stack, its lowest ones, are in shared memory

// A slot holds states of a warp: [quad][lane] of four rows' S, then of four rows' D. A slot of the stack has the sum,
// too.
constexpr int kLeafQuads = 2 * kQuads, kSlotQuads = 2 * kQuads + 1;
constexpr int kSlot = kSlotQuads * 32, kLeafSlot = kLeafQuads * 32;  // in quads
static_assert(kSlot * sizeof(Quad) == SLOT_BYTES, "scratch memory");
static_assert(kLeafSlot * sizeof(Quad) == LEAF_BYTES, "scratch memory");
static_assert(kEmissionBytes + kSharedSlots * SLOT_BYTES == SHARED_BYTES, "shared memory");

// A pair of trees: where its streams begin and how many nodes they have, and its first event, join and place.
struct Tree {
    uint32 forward, backward, forward_nodes, backward_nodes, forward_events, backward_events, first_join, first_place,
        places;
};

// What a haplotype's score is made from: its number in its group, its join and its leaves.
struct Place {
    uint32 haplotype, join, forward_leaf, backward_leaf;
};

// The trees of a batch (cpu/staging/tree_streams.hpp).
struct Forest {
    const uint2* of_group;  // [groups] a group's first pair of trees, and how many it has
    const Tree* trees;
    const Place* places;
    const int* events;            // nodes with a flag, and one beyond any node behind those of each stream
    const unsigned short* joins;  // the forward leaf of each join, with kLastJoin
    const uint8* streams;         // with 32 zeros before and behind each
};

// A warp's scratch memory, and what lies where in it, in bytes.
struct Scratch {
    uint8* memory;   // Quad[slot] states at open branches, those in shared memory left out
    uint32 leaves;   // Quad[leaf] states at the ends of left halves,
    uint32 right;    // and before the last columns of right halves
    uint32 ended;    // real[leaf][lane] sums over the columns of left halves,
    uint32 started;  // and of right halves
    uint32 letters;  // uint32[leaf][lane] letters of the right halves' last columns
    uint32 joined;   // real[join][first lane of a read]
};

// The same pointer, but the compiler does not know: it adds an offset where that is needed, and keeps no sum in
// registers meanwhile.
__device__ __forceinline__ uint8* fresh(uint8* pointer) {
#ifndef PAIRHMM_EMULATED
    asm volatile("" : "+l"(pointer));
#endif
    return pointer;
}

__device__ __forceinline__ uint32 fresh(uint32 number) {
#ifndef PAIRHMM_EMULATED
    asm volatile("" : "+r"(number));
#endif
    return number;
}

__device__ __forceinline__ Quad* stack_slot(const Scratch& scratch, int level) {
    if (kSharedSlots > 0 && level < kSharedSlots) {
        return reinterpret_cast<Quad*>(reinterpret_cast<uint8*>(shared) + kEmissionBytes) + level * kSlot;
    }
    return reinterpret_cast<Quad*>(fresh(scratch.memory)) + (level - kSharedSlots) * kSlot;
}
__device__ __forceinline__ Quad* leaf_slot(const Scratch& scratch, uint32 at, uint32 leaf) {
    return reinterpret_cast<Quad*>(fresh(scratch.memory) + at) + leaf * kLeafSlot;
}
// One number a lane.
__device__ __forceinline__ real* numbers(const Scratch& scratch, uint32 at, uint32 index) {
    return reinterpret_cast<real*>(fresh(scratch.memory) + at) + index * 32;
}

#if SUMS == 0
struct RunningSum {
    real value;
    __device__ __forceinline__ void add(real term) { value += term; }
    __device__ __forceinline__ real rounded() const { return value; }
    __device__ __forceinline__ Quad saved() const { return {value, 0, 0, 0}; }
    __device__ __forceinline__ void restore(const Quad& from) { value = from.x; }
};
#elif SUMS == 1
// A sum with what its roundings have lost so far: many columns may add nearly the same.
struct RunningSum {
    real value, lost;

    __device__ __forceinline__ void add(real term) {
        const real corrected = term - lost, next = value + corrected;
        lost = (next - value) - corrected;
        value = next;
    }
    __device__ __forceinline__ real rounded() const { return value; }
    __device__ __forceinline__ Quad saved() const { return {value, lost, 0, 0}; }
    __device__ __forceinline__ void restore(const Quad& from) {
        value = from.x;
        lost = from.y;
    }
};
#else
struct RunningSum {
    double value;
    __device__ __forceinline__ void add(real term) { value += double(term); }
    __device__ __forceinline__ real rounded() const { return real(value); }
    __device__ __forceinline__ Quad saved() const {
        return {__int_as_float(__double2hiint(value)), __int_as_float(__double2loint(value)), 0, 0};
    }
    __device__ __forceinline__ void restore(const Quad& from) {
        value = __hiloint2double(__float_as_int(from.x), __float_as_int(from.y));
    }
};
#endif

__device__ __forceinline__ real part_of(const Quad& quad, int r) {
    return r == 0 ? quad.x : r == 1 ? quad.y : r == 2 ? quad.z : quad.w;
}

// Rows k to k + 3, and zeros beyond the last.
__device__ __forceinline__ Quad four_of(const real (&values)[K], int k) {
    return {values[k], k + 1 < K ? values[k + 1 < K ? k + 1 : 0] : 0, k + 2 < K ? values[k + 2 < K ? k + 2 : 0] : 0,
            k + 3 < K ? values[k + 3 < K ? k + 3 : 0] : 0};
}

__device__ __forceinline__ void save(Quad* slot, const States& state) {
    slot += threadIdx.x;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        slot[q * 32] = four_of(state.s, 4 * q);
        slot[(kQuads + q) * 32] = four_of(state.d, 4 * q);
    }
}

__device__ __forceinline__ void restore(const Quad* slot, States& state) {
    slot += threadIdx.x;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const Quad s = slot[q * 32], d = slot[(kQuads + q) * 32];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            if (4 * q + r < K) {
                state.s[4 * q + r] = part_of(s, r);
                state.d[4 * q + r] = part_of(d, r);
            }
        }
    }
}

__device__ __forceinline__ int least_of_warp(int lanes, int value) {
#pragma unroll
    for (int step = 16; step >= lanes; step /= 2) {
        const int other = __shfl_xor_sync(FULL, value, step);
        value = other < value ? other : value;
    }
    return value;
}
__device__ __forceinline__ int most_of_warp(int lanes, int value) { return -least_of_warp(lanes, -value); }

// What a half of the haplotypes is walked from.
struct Half {
    bool backward;
    real start_s, start_i;  // S and I of the first row walked, in every column
    uint32 stream, events;  // the first ones
    int nodes, steps;       // steps: of the warp
};

// Returns the number of leaves.
__device__ __forceinline__ uint32 walk(int lanes, const Rows& rows, const Half& half, const Forest& forest,
                                       const Scratch& scratch) {
    const bool backward = half.backward;
    const int l = backward ? lanes - 1 - threadIdx.x % lanes : threadIdx.x % lanes;
    const bool is_first = l == 0;
    const int before = threadIdx.x + (backward ? !is_first : -!is_first);
    States state;
    clear(state);
    const uint32 column = half.stream - l;
    const int last = half.nodes + l;  // a zero
    uint32 next_event = half.events, counts = 0;
    RunningSum sum = {};
    uint32 next = forest.streams[column];
    const auto compute = [&](uint32 letter) {
        const real s_above = __shfl_sync(FULL, state.s_below, before);
        const real i_above = __shfl_sync(FULL, state.i_below, before);
        const real s = is_first ? half.start_s : s_above, i = is_first ? half.start_i : i_above;
        advance(rows, state, letter, s, i);
        sum.add(state.i_below);
    };
    // The next event is loaded one event before it is needed.
    int event = forest.events[next_event], event_after = forest.events[++next_event];
    for (int t = 0; t < half.steps;) {
        const int run = min(least_of_warp(lanes, event > t ? event : t), half.steps);
        for (; t + kRun <= run; t += kRun) {
            // Zeros stand behind a stream.
            const uint8* ahead = forest.streams + (column + (t < last ? t : last)) + 1;
#pragma unroll
            for (int u = 0; u < kRun; ++u) {
                const uint32 letter = next;
                next = ahead[u];
                compute(letter);
            }
        }
        // An event reaches the last lane after `lanes` steps.
        const int end = min(most_of_warp(lanes, event <= run ? event + lanes : run), half.steps);
#pragma unroll 1
        for (; t < end; ++t) {
            const uint32 byte = next;
            next = forest.streams[column + (t + 1 < last ? t + 1 : last)];
            if (byte & kRestore) {
                const Quad* slot = stack_slot(scratch, int(counts % kOneLeaf) - 1);
                restore(slot, state);
                sum.restore(slot[2 * kQuads * 32 + threadIdx.x]);
                if (byte & kPop) --counts;
            }
            const uint32 letter = byte & kLetterBits, leaf = counts / kOneLeaf;
            if ((byte & kLeaf) && backward) {
                save(leaf_slot(scratch, scratch.right, leaf), state);
                reinterpret_cast<uint32*>(numbers(scratch, scratch.letters, leaf))[threadIdx.x] = letter;
            }
            compute(letter);
            if (byte & kSave) {
                Quad* slot = stack_slot(scratch, int(counts++ % kOneLeaf));
                save(slot, state);
                slot[2 * kQuads * 32 + threadIdx.x] = sum.saved();
            }
            if (byte & kLeaf) {
                if (!backward) save(leaf_slot(scratch, scratch.leaves, leaf), state);
                numbers(scratch, backward ? scratch.started : scratch.ended, leaf)[threadIdx.x] = sum.rounded();
                counts += kOneLeaf;
            }
        }
        while (event + lanes <= t) {
            event = event_after;
            event_after = forest.events[++next_event];
        }
    }
    return counts / kOneLeaf;
}

// The joins of a pair of trees, all lanes at once. Rows are in the forward's order: row k has S and D of the left half,
// m and D' of the right half, whose slot has them in the backward's order; D of a row meets D' of the next.
__device__ __forceinline__ void join_all(int lanes, const Quad* made, const Forest& forest, uint32 join, uint32 leaves,
                                         const Scratch& scratch) {
    const int l = threadIdx.x % lanes;
    const bool has_below = l < lanes - 1;
    real from_deletion[K], of_s[K], of_d[K];
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const Quad four = made[(kFromDeletion * kQuads + q) * 32 + threadIdx.x];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            if (4 * q + r < K) from_deletion[4 * q + r] = part_of(four, r);
        }
    }
#pragma unroll
    for (int k = 0; k < K; ++k) of_s[k] = of_d[k] = 0;
    uint32 leaf = 0;
    bool is_new = true;
    for (uint32 number = 0; __any_sync(FULL, leaf < leaves); ++number) {
        const bool works = leaf < leaves;
        real sum = 0;
        if (works) {
            if (is_new) {
                const Quad* right = leaf_slot(scratch, scratch.right, leaf);
                const uint32 letter =
                    reinterpret_cast<const uint32*>(numbers(scratch, scratch.letters, leaf))[threadIdx.x];
                const Quad* own = reinterpret_cast<const Quad*>(column_of_lane() + emission_at(letter, 0));
#pragma unroll
                for (int q = 0; q < kQuads; ++q) {
                    const Quad emission = own[q * 32], s = right[q * 32 + threadIdx.x],
                               d = right[(kQuads + q) * 32 + threadIdx.x];
#pragma unroll
                    for (int r = 0; r < 4; ++r) {
                        const int k = K - 1 - (4 * q + r);
                        if (k >= 0) of_s[k >= 0 ? k : 0] = part_of(s, r) * part_of(emission, r);
                        if (k >= 1) of_d[k >= 1 ? k - 1 : 0] = part_of(d, r) * from_deletion[k >= 1 ? k - 1 : 0];
                    }
                }
                if (l == 0) of_s[0] = 0;  // what starts behind the cut is in `started`
                const real below = has_below ? reinterpret_cast<const real*>(right + (kQuads + (K - 1) / 4) * 32 +
                                                                             threadIdx.x + 1)[(K - 1) % 4]
                                             : real(0);
                of_d[K - 1] = below * from_deletion[K - 1];
            }
            const uint32 of = forest.joins[join + number];
            const Quad* left = leaf_slot(scratch, scratch.leaves, of & (kLastJoin - 1)) + threadIdx.x;
            real of_deletions = 0;
#pragma unroll
            for (int q = 0; q < kQuads; ++q) {
                const Quad s = left[q * 32], d = left[(kQuads + q) * 32];
#pragma unroll
                for (int r = 0; r < 4; ++r) {
                    const int k = 4 * q + r < K ? 4 * q + r : 0;
                    if (4 * q + r < K) sum = multiply_add(of_s[k], part_of(s, r), sum);
                    if (4 * q + r < K) of_deletions = multiply_add(of_d[k], part_of(d, r), of_deletions);
                }
            }
            sum += of_deletions;
            is_new = of & kLastJoin;
            leaf += is_new;
        }
        for (int step = 1; step < lanes; step *= 2) sum += __shfl_xor_sync(FULL, sum, step, lanes);
        if (works && l == 0) numbers(scratch, scratch.joined, number)[threadIdx.x] = sum;
    }
}

// Turn a lane's rows from the forward's order into the backward's: the last row comes first.
__device__ __forceinline__ void turn(int lanes, Rows& rows, const Quad* made) {
    const Rows old = rows;
    const real deletion_above = __shfl_up_sync(FULL, old.from_deletion[K - 1], 1, lanes);
#if VARYING
    const real extension_above = __shfl_up_sync(FULL, old.extend_deletion[K - 1], 1, lanes);
#endif
    const bool is_first = threadIdx.x % lanes == 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int from = K - 1 - k, above = from > 0 ? from - 1 : 0;
        rows.from_deletion[k] = from > 0 ? old.from_deletion[above] : is_first ? real(0) : deletion_above;
        rows.from_insertion[k] = old.from_insertion[from];
#if VARYING
        rows.extend_deletion[k] = from > 0 ? old.extend_deletion[above] : extension_above;
#endif
    }
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const Quad four = made[(kFromBelow * kQuads + q) * 32 + threadIdx.x];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            if (4 * q + r < K) rows.extend_insertion[K - 1 - (4 * q + r)] = part_of(four, r);
        }
    }
    real* own = column_of_lane();
#pragma unroll 1
    for (int letter = 0; letter < kLetters; ++letter) {
        real emission[K];
#pragma unroll
        for (int k = 0; k < K; ++k) emission[k] = own[emission_at(letter, k)];
#pragma unroll
        for (int k = 0; k < K; ++k) own[emission_at(letter, K - 1 - k)] = emission[k];
    }
}

// A lane's rows, which tree_rows.cu has made, and its emissions in shared memory.
__device__ __forceinline__ void load_rows(int lanes, const uint8* buffer, const Header& header, const Tables& tables,
                                          const Task& task, const Quad* made, Rows& rows) {
    made += threadIdx.x;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const Quad deletion = made[(kFromDeletion * kQuads + q) * 32],
                   insertion = made[(kFromInsertion * kQuads + q) * 32],
                   extension = made[(kExtendInsertion * kQuads + q) * 32];
#if VARYING
        const Quad of_deletion = made[(kExtendDeletion * kQuads + q) * 32];
#endif
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            if (4 * q + r < K) {
                rows.from_deletion[4 * q + r] = part_of(deletion, r);
                rows.from_insertion[4 * q + r] = part_of(insertion, r);
                rows.extend_insertion[4 * q + r] = part_of(extension, r);
#if VARYING
                rows.extend_deletion[4 * q + r] = part_of(of_deletion, r);
#endif
            }
        }
    }
    Quad* own = reinterpret_cast<Quad*>(column_of_lane());
#if EMISSIONS_AHEAD
#pragma unroll
    for (int q = 0; q < kLetters * kQuads; ++q) own[q * 32] = made[(kCoefficients * kQuads + q) * 32];
#else
    const uint32 first = words(buffer, header.read_offset)[task.read];
    const int count = int(words(buffer, header.read_offset)[task.read + 1] - first);
#pragma unroll 1
    for (int q = 0; q < kQuads; ++q) {
        real emission[kLetters][4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int i = threadIdx.x % lanes * K + 4 * q + r;
            const bool is_row = 4 * q + r < K && i < count;
            const Source source = load_source(buffer, header, first + (i < count ? i : count - 1));
            const Emissions emissions = emissions_of(source, header, tables);
#pragma unroll
            for (int s = 0; s < kLetters; ++s) emission[s][r] = is_row ? emissions.relative[s] : real(0);
        }
#pragma unroll
        for (int s = 0; s < kLetters; ++s) {
            own[(s * kQuads + q) * 32] = {emission[s][0], emission[s][1], emission[s][2], emission[s][3]};
        }
    }
#endif
}

// Score the haplotypes of a pair of trees: a read's lanes share them.
__device__ __forceinline__ void score(int lanes, const uint8* buffer, const Header& header, const Task& task,
                                      const TreeTier& tier, const Forest& forest, const Scratch& scratch,
                                      uint32* listed, uint2* list, double* scores, uint8* precision) {
    const int l = threadIdx.x % lanes, first_lane = threadIdx.x - l;
    const float start = exp2f(kHalfExponent);
    const uint32 first_haplotype = words(buffer, header.group_haplotype)[task.group];
    const Read read = {task.read, task.group, 0, 0};
    const bool folds = task.flags & kFolds;
    const Tree& tree = forest.trees[task.tree];
    const uint32 places = task.flags & kOwn ? tree.places : 0;
    for (uint32 p = l; p < places; p += lanes) {
        const Place place = forest.places[tree.first_place + p];
        const uint32 haplotype = first_haplotype + place.haplotype;
        real sum = numbers(scratch, scratch.started, place.backward_leaf)[first_lane] * (task.entry * start);
        sum = multiply_add(numbers(scratch, scratch.ended, place.forward_leaf)[first_lane + lanes - 1], start, sum);
        sum += numbers(scratch, scratch.joined, place.join)[first_lane];
        const uint32* offset = words(buffer, header.haplotype_offset) + haplotype;
        const double columns = double(offset[1] - offset[0]);
        const bool held = folds && sum >= kLeastJoined && sum < infinity();
        const size_t index = score_index(buffer, header, read, haplotype);
        scores[index] =
            held ? log10(double(sum) / columns) - 2 * kHalfExponent * LOG10_2 + task.log_kept : double(not_a_number());
        precision[index] = held ? PRECISION_FAST : PRECISION_NONE;
        // scaled.cu leaves out reads that its exponents do not hold.
        if (!held && folds)
            list[tier.list_first + atomicAdd(listed + tier.list, 1u)] = make_uint2(read.index, haplotype);
    }
}

// The work items of the tiers that have K rows a lane. made_memory: where tree_rows.cu has put their rows. next_item:
// zero at first. Each block has scratch_bytes of scratch_memory. listed, lists: numbers, and pairs (read, haplotype),
// for forward_scaled.
extern "C" __global__ void __launch_bounds__(32, BLOCKS)
    forward_trees(const uint8* __restrict__ buffer, const Tables* __restrict__ tables,
                  const uint2* __restrict__ trees_of_group, const Tree* __restrict__ trees,
                  const Place* __restrict__ places, const int* __restrict__ events,
                  const unsigned short* __restrict__ joins, const uint8* __restrict__ streams,
                  const TreeTier* __restrict__ tiers, const uint8* __restrict__ made_memory, int64 item_bytes,
                  int64 item_count, uint8* scratch_memory, int64 scratch_bytes, int64 leaves_at, int64 right_at,
                  int64 ended_at, int64 started_at, int64 letters_at, int64 joined_at, uint32* next_item,
                  uint32* listed, uint2* lists, double* scores, uint8* precision) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    const Forest forest = {trees_of_group, trees, places, events, joins, streams};
    const Scratch scratch = {scratch_memory + size_t(blockIdx.x) * scratch_bytes,
                             uint32(leaves_at),
                             uint32(right_at),
                             uint32(ended_at),
                             uint32(started_at),
                             uint32(letters_at),
                             uint32(joined_at)};
    for (;;) {
        uint32 index = 0;
        if (threadIdx.x == 0) index = atomicAdd(next_item, 1u);
        index = __shfl_sync(FULL, index, 0);
        if (index >= item_count) return;
        // Found again when needed, and in no register meanwhile.
        const auto item = [&] { return made_memory + size_t(fresh(index)) * item_bytes; };
        const auto task_of = [&]() -> const Task& { return reinterpret_cast<const Task*>(item())[threadIdx.x]; };
        const auto made = [&] { return reinterpret_cast<const Quad*>(item() + kTaskBytes); };
        const int lanes = int(tiers[task_of().tier].lanes);
        uint32 leaves = 0;
        {
            Rows rows;
            load_rows(lanes, buffer, header, *tables, task_of(), made(), rows);
            __syncwarp();
            Half half;
            half.start_s = task_of().entry * exp2f(kHalfExponent);
            half.start_i = 0;
#pragma unroll 1
            for (int turned = 0; turned < 2; ++turned) {
                if (turned) {
                    turn(lanes, rows, made());
                    half.start_s = half.start_i = exp2f(kHalfExponent);
                }
                const Tree& tree = trees[task_of().tree];
                half.backward = turned;
                half.nodes = int(turned ? tree.backward_nodes : tree.forward_nodes);
                half.steps = most_of_warp(lanes, half.nodes) + lanes - 1;
                half.stream = turned ? tree.backward : tree.forward;
                half.events = turned ? tree.backward_events : tree.forward_events;
                leaves = walk(lanes, rows, half, forest, scratch);
                __syncwarp();
            }
        }
        const Task& task = task_of();
        join_all(lanes, made(), forest, trees[task.tree].first_join, leaves, scratch);
        __syncwarp();
        score(lanes, buffer, header, task, tiers[task.tier], forest, scratch, listed, lists, scores, precision);
        __syncwarp();
    }
}
