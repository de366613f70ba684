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
// What a lane counts, in one register: open branches, leaves and joins. The host sees to it that each is below 256.
constexpr uint32 kOneLeaf = 1 << 8, kOneJoin = 1 << 16;
constexpr uint32 kLastJoin = 0x8000;  // of a join: the last one of its backward leaf

constexpr int kHalfExponent = HALF_EXPONENT;
constexpr float kLeastJoined = LEAST_JOINED;
constexpr int kRun = 8;                     // columns between two looks for an event
constexpr int kSharedSlots = SHARED_SLOTS;  // of the stack, its lowest ones, are in shared memory

// A slot holds states of a warp: [quad][lane] of four rows' S, then of four rows' D, then the sum.
constexpr int kSlotQuads = 2 * kQuads + 1;
constexpr int kSlot = kSlotQuads * 32;  // in quads
static_assert(kSlot * sizeof(Quad) == SLOT_BYTES, "scratch memory");
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

// What a lane needs only between and after the walks.
struct Kept {
    double log_kept;
    float entry;
    int folds, scales;
    uint32 tree, item;
};

// A warp's scratch memory, and what lies where in it, in bytes.
struct Scratch {
    uint8* memory;      // Quad[slot] states at open branches, those in shared memory left out
    uint32 leaves;      // Quad[slot] what the left halves hand to the joins
    uint32 joined;      // real[join][lane] sums over a lane's rows
    uint32 started;     // real[backward leaf][lane]
    uint32 from_below;  // real[k][lane] extension of an insertion in the backward
    uint32 kept;        // Kept[lane]
};
static_assert(32 * sizeof(Kept) == KEPT_BYTES, "scratch memory");

// The same pointer, but the compiler does not know: it adds an offset where that is needed, and keeps no sum in
// registers meanwhile.
__device__ __forceinline__ uint8* fresh(uint8* pointer) {
#ifndef PAIRHMM_EMULATED
    asm volatile("" : "+l"(pointer));
#endif
    return pointer;
}

__device__ __forceinline__ Quad* stack_slot(const Scratch& scratch, int level) {
    if (kSharedSlots > 0 && level < kSharedSlots) {
        return reinterpret_cast<Quad*>(reinterpret_cast<uint8*>(shared) + kEmissionBytes) + level * kSlot;
    }
    return reinterpret_cast<Quad*>(fresh(scratch.memory)) + (level - kSharedSlots) * kSlot;
}
__device__ __forceinline__ Quad* leaf_slot(const Scratch& scratch, uint32 leaf) {
    return reinterpret_cast<Quad*>(fresh(scratch.memory) + scratch.leaves) + leaf * kSlot;
}
// One number a lane.
__device__ __forceinline__ real* numbers(const Scratch& scratch, uint32 at, uint32 index) {
    return reinterpret_cast<real*>(fresh(scratch.memory) + at) + index * 32;
}
__device__ __forceinline__ volatile Kept& kept_of_lane(const Scratch& scratch) {
    return reinterpret_cast<Kept*>(fresh(scratch.memory) + scratch.kept)[threadIdx.x];
}

// A sum with what its roundings have lost so far: many columns may add nearly the same.
struct RunningSum {
    real value, lost;

    __device__ __forceinline__ void add(real term) {
        const real corrected = term - lost, next = value + corrected;
        lost = (next - value) - corrected;
        value = next;
    }
};

__device__ __forceinline__ real part_of(const Quad& quad, int r) {
    return r == 0 ? quad.x : r == 1 ? quad.y : r == 2 ? quad.z : quad.w;
}

// Rows k to k + 3, and zeros beyond the last.
__device__ __forceinline__ Quad four_of(const real (&values)[K], int k) {
    return {values[k], k + 1 < K ? values[k + 1 < K ? k + 1 : 0] : 0, k + 2 < K ? values[k + 2 < K ? k + 2 : 0] : 0,
            k + 3 < K ? values[k + 3 < K ? k + 3 : 0] : 0};
}

__device__ __forceinline__ void save(Quad* slot, const States& state, const RunningSum& sum) {
    slot += threadIdx.x;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        slot[q * 32] = four_of(state.s, 4 * q);
        slot[(kQuads + q) * 32] = four_of(state.d, 4 * q);
    }
    slot[2 * kQuads * 32] = {sum.value, sum.lost, 0, 0};
}

__device__ __forceinline__ void restore(const Quad* slot, States& state, RunningSum& sum) {
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
    const Quad last = slot[2 * kQuads * 32];
    sum = {last.x, last.y};
}

// What a left half hands to the joins: S, and from_deletion D one row further down, where its partner D' lies. Rows are
// in the backward's order.
__device__ __forceinline__ void save_leaf(int lanes, Quad* slot, const Rows& rows, const States& state, real sum) {
    const int lane = threadIdx.x, l = lane % lanes;
    real* own = reinterpret_cast<real*>(slot + lane);
    real s[K], d[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int from = K - 1 - k, above = from > 0 ? from - 1 : 0;
        s[k] = state.s[from];
        d[k] = from > 0 ? state.d[above] * rows.from_deletion[above] : 0;
    }
    if (l == 0) s[K - 1] = 0;  // what starts behind the cut is in `started`
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const int k = 4 * q;
        slot[q * 32 + lane] = four_of(s, k);
        // The lane above writes the last one. Nothing is above the first lane.
        if (k + 3 < K - 1 || (k + 3 == K - 1 && l == 0)) {
            slot[(kQuads + q) * 32 + lane] = four_of(d, k);
        } else {
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                if (k + r < K - 1 || (k + r == K - 1 && l == 0)) own[(kQuads + q) * 128 + r] = d[k + r < K ? k + r : 0];
            }
        }
    }
    const int last = (kQuads + (K - 1) / 4) * 128 + (K - 1) % 4;
    if (l < lanes - 1) own[last + 4] = state.d[K - 1] * rows.from_deletion[K - 1];
    own[2 * kQuads * 128] = sum;
}

// `ended` of a left half: the sum of the read's last lane.
__device__ __forceinline__ real ended_of(const Quad* slot, int last_lane) {
    return slot[2 * kQuads * 32 + last_lane].x;
}

// A lane's part of a join, before the right half's last column.
__device__ __forceinline__ real join(const Quad* slot, const States& state, uint32 letter) {
    slot += threadIdx.x;
    const Quad* own = reinterpret_cast<const Quad*>(column_of_lane() + emission_at(letter, 0));
    real sum = 0;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        // Without the barriers the loads of all quads come first, and registers spill.
        const Quad emission = own[q * 32], s = slot[q * 32];
        real part = 0;
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int k = 4 * q + r < K ? 4 * q + r : 0;
            if (4 * q + r < K) part = multiply_add(state.s[k] * part_of(emission, r), part_of(s, r), part);
        }
        asm volatile("" ::: "memory");
        const Quad d = slot[(kQuads + q) * 32];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int k = 4 * q + r < K ? 4 * q + r : 0;
            if (4 * q + r < K) part = multiply_add(state.d[k], part_of(d, r), part);
        }
        sum += part;
        asm volatile("" ::: "memory");
    }
    return sum;
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
    real start_s, start_i;         // S and I of the first row walked, in every column
    uint32 stream, events, joins;  // the first ones
    int nodes, steps;              // steps: of the warp
};

__device__ __forceinline__ void walk(int lanes, const Rows& rows, const Half& half, const Forest& forest,
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
    RunningSum sum = {0, 0};
    uint32 next = forest.streams[column];
    const auto step = [&](int t, bool may_be_event) {
        const uint32 byte = next;
        next = forest.streams[column + (t + 1 < last ? t + 1 : last)];
        const real s_above = __shfl_sync(FULL, state.s_below, before);
        const real i_above = __shfl_sync(FULL, state.i_below, before);
        const real s = is_first ? half.start_s : s_above, i = is_first ? half.start_i : i_above;
        uint32 letter = byte;
        if (may_be_event) {
            if (byte & kRestore) {
                restore(stack_slot(scratch, int(counts % kOneLeaf) - 1), state, sum);
                if (byte & kPop) --counts;
            }
            letter = byte & kLetterBits;
            if ((byte & kLeaf) && backward) {
                uint32 of;
                do {
                    const uint32 number = counts / kOneJoin;
                    of = forest.joins[half.joins + number];
                    const real joined = join(leaf_slot(scratch, of & (kLastJoin - 1)), state, letter);
                    numbers(scratch, scratch.joined, number)[threadIdx.x] = joined;
                    counts += kOneJoin;
                } while (!(of & kLastJoin));
            }
        }
        advance(rows, state, letter, s, i);
        sum.add(state.i_below);
        if (may_be_event) {
            if (byte & kSave) save(stack_slot(scratch, int(counts++ % kOneLeaf)), state, sum);
            if (byte & kLeaf) {
                const uint32 leaf = counts / kOneLeaf % (kOneJoin / kOneLeaf);
                if (backward) {
                    numbers(scratch, scratch.started, leaf)[threadIdx.x] = sum.value;
                } else {
                    save_leaf(lanes, leaf_slot(scratch, leaf), rows, state, sum.value);
                }
                counts += kOneLeaf;
            }
        }
    };
    int event = forest.events[next_event];
    for (int t = 0; t < half.steps;) {
        const int run = min(least_of_warp(lanes, event > t ? event : t), half.steps);
        for (; t + kRun <= run; t += kRun) {
#pragma unroll
            for (int u = 0; u < kRun; ++u) step(t + u, false);
        }
        // An event reaches the last lane after `lanes` steps.
        const int end = min(most_of_warp(lanes, event <= run ? event + lanes : run), half.steps);
#pragma unroll 1
        for (; t < end; ++t) step(t, true);
        while (event + lanes <= t) event = forest.events[++next_event];
    }
}

// Turn a lane's rows from the forward's order into the backward's: the last row comes first.
__device__ __forceinline__ void turn(int lanes, Rows& rows, const real* from_below) {
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
        rows.extend_insertion[k] = from_below[from * 32];
#if VARYING
        rows.extend_deletion[k] = from > 0 ? old.extend_deletion[above] : extension_above;
#endif
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

// A lane's read and trees.
struct Work {
    Read read;
    uint32 tree;
    bool is_own;  // else another lane's, which scores it, or none's
};

__device__ __forceinline__ Work find_work(int lanes, const uint8* buffer, const Header& header, const Forest& forest,
                                          uint2 item, uint32 last_read) {
    const uint32 at = item.x + threadIdx.x / lanes;
    Work work;
    work.read = find_read(buffer, header, words(buffer, header.order)[at < last_read ? at : last_read - 1]);
    const uint2 of_group = forest.of_group[work.read.group];
    work.is_own = at < last_read && item.y < of_group.y;
    work.tree = of_group.y > 0 ? of_group.x + min(item.y, of_group.y - 1) : 0;
    return work;
}

// Score the haplotypes of a pair of trees: a read's lanes share them.
__device__ __forceinline__ void score(int lanes, const uint8* buffer, const Header& header, const Work& work,
                                      const Forest& forest, const Scratch& scratch, uint32* listed, uint2* list,
                                      double* scores, uint8* precision) {
    const int l = threadIdx.x % lanes, first_lane = threadIdx.x - l;
    const float start = exp2f(kHalfExponent);
    const volatile Kept& kept = kept_of_lane(scratch);
    const float entry = __shfl_sync(FULL, float(kept.entry), 0, lanes);
    const uint32 first_haplotype = words(buffer, header.group_haplotype)[work.read.group];
    const Tree& tree = forest.trees[work.tree];
    for (uint32 p = l; work.is_own && p < tree.places; p += lanes) {
        const Place place = forest.places[tree.first_place + p];
        const uint32 haplotype = first_haplotype + place.haplotype;
        real sum = numbers(scratch, scratch.started, place.backward_leaf)[first_lane] * (entry * start);
        sum = multiply_add(ended_of(leaf_slot(scratch, place.forward_leaf), first_lane + lanes - 1), start, sum);
        const real* joined = numbers(scratch, scratch.joined, place.join) + first_lane;
        for (int k = 0; k < lanes; ++k) sum += joined[k];
        const uint32* offset = words(buffer, header.haplotype_offset) + haplotype;
        const double columns = double(offset[1] - offset[0]);
        const bool held = kept.folds && sum >= kLeastJoined && sum < infinity();
        const size_t index = score_index(buffer, header, work.read, haplotype);
        scores[index] =
            held ? log10(double(sum) / columns) - 2 * kHalfExponent * LOG10_2 + kept.log_kept : double(not_a_number());
        precision[index] = held ? PRECISION_FAST : PRECISION_NONE;
        if (!held && kept.folds && kept.scales) {
            list[atomicAdd(listed, 1u)] = make_uint2(work.read.index, haplotype);
        }
    }
}

// Tiles of reads of `lanes` lanes each. items: x is a tile's first read (an index into order), y which of its groups'
// pairs of trees it meets. last_read: one past the tier's last read in order. next_item: zero at first. Each block has
// scratch_bytes of scratch_memory. listed, list: number, and pairs (read, haplotype), for forward_scaled.
extern "C" __global__ void __launch_bounds__(32, BLOCKS)
    forward_trees(const uint8* __restrict__ buffer, const Tables* __restrict__ tables,
                  const uint2* __restrict__ trees_of_group, const Tree* __restrict__ trees,
                  const Place* __restrict__ places, const int* __restrict__ events,
                  const unsigned short* __restrict__ joins, const uint8* __restrict__ streams,
                  const uint2* __restrict__ items, int64 item_count, int64 last_read, int64 lanes_of_read,
                  uint8* scratch_memory, int64 scratch_bytes, int64 leaves_at, int64 joined_at, int64 started_at,
                  int64 from_below_at, int64 kept_at, uint32* next_item, uint32* listed, uint2* list, double* scores,
                  uint8* precision) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    const Forest forest = {trees_of_group, trees, places, events, joins, streams};
    const int lanes = int(lanes_of_read);
    const Scratch scratch = {scratch_memory + size_t(blockIdx.x) * scratch_bytes,
                             uint32(leaves_at),
                             uint32(joined_at),
                             uint32(started_at),
                             uint32(from_below_at),
                             uint32(kept_at)};
    for (;;) {
        uint32 index = 0;
        if (threadIdx.x == 0) index = atomicAdd(next_item, 1u);
        index = __shfl_sync(FULL, index, 0);
        if (index >= item_count) return;
        Rows rows;
        Half half;
        {
            const Work work = find_work(lanes, buffer, header, forest, items[index], uint32(last_read));
            const Strip strip = load_strip(lanes, buffer, header, *tables, work.read.first, work.read.rows,
                                           work.read.rows, rows, numbers(scratch, scratch.from_below, 0) + threadIdx.x);
            volatile Kept& kept = kept_of_lane(scratch);
            kept.log_kept = strip.log_kept;
            kept.entry = strip.entry;
            kept.folds = strip.folds;
            kept.scales = strip.scales;
            half.start_s = strip.entry * exp2f(kHalfExponent);
            half.start_i = 0;
            kept.tree = work.tree;
            kept.item = index;
        }
        __syncwarp();
#pragma unroll 1
        for (int turned = 0; turned < 2; ++turned) {
            if (turned) {
                turn(lanes, rows, numbers(scratch, scratch.from_below, 0) + threadIdx.x);
                half.start_s = half.start_i = exp2f(kHalfExponent);
            }
            const Tree& tree = trees[kept_of_lane(scratch).tree];
            half.joins = tree.first_join;
            half.backward = turned;
            half.nodes = int(turned ? tree.backward_nodes : tree.forward_nodes);
            half.steps = most_of_warp(lanes, half.nodes) + lanes - 1;
            half.stream = turned ? tree.backward : tree.forward;
            half.events = turned ? tree.backward_events : tree.forward_events;
            walk(lanes, rows, half, forest, scratch);
            __syncwarp();
        }
        const uint2 item = items[kept_of_lane(scratch).item];
        const Work work = find_work(lanes, buffer, header, forest, item, uint32(last_read));
        score(lanes, buffer, header, work, forest, scratch, listed, list, scores, precision);
        __syncwarp();
    }
}
