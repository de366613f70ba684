// Every pair of a batch in float32, where haplotypes of a group share columns: each shared column is computed once.
//
// A column of the forward depends on the letters to its left alone, a column of the backward on those to its right.
// The haplotypes of a group, cut in their middle, are therefore two trees: one of the prefixes of their left halves and
// one of the suffixes of their right halves. Each node is one column. A tree comes as a stream: its nodes in
// depth-first order, one byte a node. The byte has the letter, and says whether the node's parent is the node before it
// (else the states of the branch are restored), whether the states after it are saved, and whether a half ends here.
//
// The backward is the forward of the reversed read with transposed transitions (docs/model.md). Folded (rows.cuh), its
// coefficients are those of the forward, but for the extension of an insertion; from_deletion moves by a row. So a lane
// keeps its rows, and the backward walks from the last row to the first, and from the last lane to the first.
//
// With S and D what enters column s + 1 from the left half, m = E S' of that column from the right half, and D' what
// follows D, in units in which all rows' factors cancel,
//
//   P = ended + started + sum over rows (S m + from_deletion D D').
//
// `ended` is the sum of M + I of the last row over the columns of the left half, `started` the sum of m of the first
// row over those of the right half.

constexpr uint32 kLetterBits = 7, kRestore = 8, kPop = 16, kSave = 32, kLeaf = 64;

// A half starts in the middle of float32's range, so that the product of two stays within it.
constexpr int kHalfExponent = HALF_EXPONENT;
constexpr float kLeastJoined = LEAST_JOINED;

constexpr int kCrowding = K + 3 * VARYING;
constexpr int kBlocks = kCrowding <= 16 ? 16 : kCrowding <= 22 ? 12 : 8;

// Saved states of a warp: [quad][lane] of four rows' S, then of four rows' D, and the running sum.
constexpr int kSlotQuads = 2 * kQuads + 1;
constexpr int kSlot = kSlotQuads * 32;  // in quads

// The trees of a group: byte offsets of its streams, their numbers of nodes, and its first join.
struct Tree {
    uint32 forward, backward, forward_nodes, backward_nodes, forward_events, backward_events, first_join;
};

// Where a haplotype's score is made from: the join, the leaf of the forward tree and that of the backward tree.
struct Place {
    uint32 join, forward_leaf, backward_leaf;
};

// A warp's part of the scratch memory.
struct Scratch {
    Quad* stack;    // states at open branches
    Quad* leaves;   // states at the ends of left halves
    real* partial;  // [join][lane] sums over a lane's rows
    real* started;  // [backward leaf][lane]
    real* extension;  // [k][lane] extension of an insertion in the backward
};

__device__ __forceinline__ void save(Quad* slot, const real (&s)[K], const real (&d)[K], real sum) {
    slot += threadIdx.x;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const int k = 4 * q;
        slot[q * 32] = {s[k], k + 1 < K ? s[k + 1 < K ? k + 1 : 0] : 0, k + 2 < K ? s[k + 2 < K ? k + 2 : 0] : 0,
                        k + 3 < K ? s[k + 3 < K ? k + 3 : 0] : 0};
        slot[(kQuads + q) * 32] = {d[k], k + 1 < K ? d[k + 1 < K ? k + 1 : 0] : 0,
                                   k + 2 < K ? d[k + 2 < K ? k + 2 : 0] : 0, k + 3 < K ? d[k + 3 < K ? k + 3 : 0] : 0};
    }
    slot[2 * kQuads * 32].x = sum;
}

__device__ __forceinline__ void restore(const Quad* slot, real (&s)[K], real (&d)[K], real& sum) {
    slot += threadIdx.x;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const Quad a = slot[q * 32], b = slot[(kQuads + q) * 32];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            if (4 * q + r < K) {
                s[4 * q + r] = r == 0 ? a.x : r == 1 ? a.y : r == 2 ? a.z : a.w;
                d[4 * q + r] = r == 0 ? b.x : r == 1 ? b.y : r == 2 ? b.z : b.w;
            }
        }
    }
    sum = slot[2 * kQuads * 32].x;
}

// What a left half hands to the joins: S, and from_deletion D one row further down, where its partner D' lies. Rows are
// in the backward's order.
__device__ __forceinline__ void save_leaf(Quad* slot, const Rows& rows, const States& state, real sum) {
    const int lane = threadIdx.x, l = lane % G;
    real* own = reinterpret_cast<real*>(slot + lane);
    real s[K], d[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int from = K - 1 - k;
        s[k] = state.s[from];
        d[k] = from > 0 ? state.d[from > 0 ? from - 1 : 0] * rows.from_deletion[from > 0 ? from - 1 : 0] : 0;
    }
    if (l == 0) s[K - 1] = 0;  // what starts behind the cut is in `started`
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const int k = 4 * q;
        slot[q * 32 + lane] = {s[k], k + 1 < K ? s[k + 1 < K ? k + 1 : 0] : 0, k + 2 < K ? s[k + 2 < K ? k + 2 : 0] : 0,
                               k + 3 < K ? s[k + 3 < K ? k + 3 : 0] : 0};
        // The last one is the lane's above to write, and the first lane has none.
        if (k + 3 < K - 1 || (k + 3 == K - 1 && l == 0)) {
            slot[(kQuads + q) * 32 + lane] = {d[k], d[k + 1 < K ? k + 1 : 0], d[k + 2 < K ? k + 2 : 0],
                                              d[k + 3 < K ? k + 3 : 0]};
        } else {
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                if (k + r < K - 1 || (k + r == K - 1 && l == 0)) own[(kQuads + q) * 128 + r] = d[k + r < K ? k + r : 0];
            }
        }
    }
    if (l < G - 1) own[(kQuads + (K - 1) / 4) * 128 + (K - 1) % 4 + 4] = state.d[K - 1] * rows.from_deletion[K - 1];
    own[2 * kQuads * 128] = sum;
}

// A lane's part of a join, before the right half's last column.
__device__ __forceinline__ real join(const Quad* slot, const States& state, uint32 letter) {
    slot += threadIdx.x;
    const Quad* own = reinterpret_cast<const Quad*>(column_of_lane() + emission_at(letter, 0));
    real sum = 0;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const Quad e = own[q * 32], a = slot[q * 32], b = slot[(kQuads + q) * 32];
        real part = 0;
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int k = 4 * q + r < K ? 4 * q + r : 0;
            if (4 * q + r < K) {
                const real m = state.s[k] * (r == 0 ? e.x : r == 1 ? e.y : r == 2 ? e.z : e.w);
                part = multiply_add(m, r == 0 ? a.x : r == 1 ? a.y : r == 2 ? a.z : a.w, part);
                part = multiply_add(state.d[k], r == 0 ? b.x : r == 1 ? b.y : r == 2 ? b.z : b.w, part);
            }
        }
        sum += part;
        asm volatile("" ::: "memory");  // else the loads of all quads come first, and registers spill
    }
    return sum;
}

// Bring a slot nearer, before lanes want it one after the other.
__device__ __forceinline__ void fetch(const Quad* slot) {
#ifndef PAIRHMM_EMULATED
#pragma unroll 1
    for (int q = 0; q < kSlotQuads; ++q) asm volatile("prefetch.global.L1 [%0];" ::"l"(slot + q * 32 + threadIdx.x));
#endif
}

struct Plain {
    static constexpr bool kEvents = false;
};
struct Eventful {
    static constexpr bool kEvents = true;
};

__device__ __forceinline__ int least_of_warp(int value) {
#pragma unroll
    for (int step = 16; step >= G; step /= 2) {
        const int other = __shfl_xor_sync(FULL, value, step);
        value = other < value ? other : value;
    }
    return value;
}

// Walk a tree. `joins` has the forward leaf of each join, with kLastJoin on a backward leaf's last. `events` are the
// nodes with more than a letter, and one beyond any node.
constexpr uint32 kLastJoin = 0x8000;
constexpr int kRun = 4;
__device__ __forceinline__ void walk(const Rows& rows, bool backward, real entering_s, real entering_i,
                                     const uint8* streams, uint32 stream, int nodes, int steps, const uint32* events,
                                     uint32 first_event, const unsigned short* joins, uint32 first_join,
                                     const Scratch& scratch) {
    const int l = backward ? G - 1 - threadIdx.x % G : threadIdx.x % G;
    const int before = threadIdx.x + (backward ? (l > 0) : -(l > 0));
    States state;
    clear(state);
    const real keep = l == 0 ? 0.0f : 1.0f;
    const real enters_s = l == 0 ? entering_s : 0.0f, enters_i = l == 0 ? entering_i : 0.0f;
    const uint32 column = stream - l;
    const int last = nodes + l;  // a zero follows each stream
    int level = 0;
    uint32 leaf = 0, join_of_leaf = first_join, at_event = first_event;
    real sum = 0;
    uint32 next = streams[column];
    const auto step = [&](int t, auto kind) {
        const uint32 byte = next;
        next = streams[column + (t + 1 < last ? t + 1 : last)];
        const real from_s = __shfl_sync(FULL, state.s_below, before);
        const real from_i = __shfl_sync(FULL, state.i_below, before);
        const real s = multiply_add(from_s, keep, enters_s), i = multiply_add(from_i, keep, enters_i);
        uint32 letter = byte;
        if (kind.kEvents) {
            if (byte & kRestore) {
                restore(scratch.stack + (level - 1) * kSlot, state.s, state.d, sum);
                if (byte & kPop) --level;
            }
            letter = byte & kLetterBits;
            if ((byte & kLeaf) && backward) {
                uint32 forward;
                do {
                    forward = joins[join_of_leaf];
                    scratch.partial[(join_of_leaf - first_join) * 32 + threadIdx.x] =
                        join(scratch.leaves + (forward & (kLastJoin - 1)) * kSlot, state, letter);
                    ++join_of_leaf;
                } while (!(forward & kLastJoin));
            }
        }
        advance(rows, state, letter, s, i);
        sum += state.i_below;
        if (kind.kEvents) {
            if (byte & kSave) save(scratch.stack + level++ * kSlot, state.s, state.d, sum);
            if (byte & kLeaf) {
                if (backward) {
                    scratch.started[leaf++ * 32 + threadIdx.x] = sum;
                } else {
                    save_leaf(scratch.leaves + leaf++ * kSlot, rows, state, sum);
                }
            }
        }
    };
    int event = int(events[at_event]);
    for (int t = 0; t < steps;) {
        const int run = min(least_of_warp(event > t ? event : t), steps);
        for (; t + kRun <= run; t += kRun) {
#pragma unroll
            for (int u = 0; u < kRun; ++u) step(t + u, Plain());
        }
        const int end = min(-least_of_warp(-(event <= run ? event + G : run)), steps);
#if FETCH
        if (level > 0) fetch(scratch.stack + (level - 1) * kSlot);
        if (backward) fetch(scratch.leaves + (joins[join_of_leaf] & (kLastJoin - 1)) * kSlot);
#endif
#pragma unroll 1
        for (; t < end; ++t) step(t, Eventful());
        while (event + G <= t) event = int(events[++at_event]);
    }
}

// Turn a lane's rows from the forward's into the backward's: the last row comes first.
__device__ __forceinline__ void turn(Rows& rows, const real* extension) {
    Rows old = rows;
    const real above = __shfl_up_sync(FULL, rows.from_deletion[K - 1], 1, G);
#if VARYING
    const real extension_above = __shfl_up_sync(FULL, rows.extend_deletion[K - 1], 1, G);
#endif
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int from = K - 1 - k;
        rows.from_deletion[k] = from > 0 ? old.from_deletion[from > 0 ? from - 1 : 0] : threadIdx.x % G == 0 ? real(0) : above;
        rows.from_insertion[k] = old.from_insertion[from];
        rows.extend_insertion[k] = extension[from * 32];
#if VARYING
        rows.extend_deletion[k] = from > 0 ? old.extend_deletion[from > 0 ? from - 1 : 0] : extension_above;
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

// sizes: slots of the stack, forward leaves, joins and backward leaves that a warp's scratch has room for.
extern "C" __global__ void __launch_bounds__(32, kBlocks)
    forward_trees(const uint8* __restrict__ buffer, const Tables* __restrict__ tables, const uint2* __restrict__ items,
                  int64 item_count, int64 last_read, const Tree* __restrict__ trees, const uint8* __restrict__ streams,
                  const uint32* __restrict__ events,
                  const unsigned short* __restrict__ joins, const Place* __restrict__ places, uint8* scratch_memory,
                  int64 scratch_bytes, int64 stack_slots, int64 leaf_slots, int64 most_joins, int64 most_leaves,
                  uint32* next_item, uint32* listed, uint2* list, double* scores, uint8* precision) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    Scratch scratch;
    scratch.stack = reinterpret_cast<Quad*>(scratch_memory + size_t(blockIdx.x) * scratch_bytes);
    scratch.leaves = scratch.stack + stack_slots * kSlot;
    scratch.partial = reinterpret_cast<real*>(scratch.leaves + leaf_slots * kSlot);
    scratch.started = scratch.partial + most_joins * 32;
    scratch.extension = scratch.started + most_leaves * 32 + threadIdx.x;
    const int l = threadIdx.x % G;
    for (;;) {
        uint32 index = 0;
        if (threadIdx.x == 0) index = atomicAdd(next_item, 1u);
        index = __shfl_sync(FULL, index, 0);
        if (index >= item_count) return;
        const uint32 last = uint32(last_read), at = items[index].x + threadIdx.x / G;
        const bool works = at < last;
        const Read read = find_read(buffer, header, words(buffer, header.order)[works ? at : last - 1]);
        const Tree tree = trees[read.group];
        Rows rows;
        const Strip strip =
            load_strip(buffer, header, *tables, read.first, read.rows, read.rows, rows, scratch.extension);
        __syncwarp();
        const float start = exp2f(kHalfExponent);
        const auto steps_of = [&](uint32 nodes) {
            int steps = int(nodes) + G - 1;
#pragma unroll
            for (int step = 16; step >= G; step /= 2) {
                const int other = __shfl_xor_sync(FULL, steps, step);
                steps = other > steps ? other : steps;
            }
            return steps;
        };
        const int forward_steps = steps_of(tree.forward_nodes), backward_steps = steps_of(tree.backward_nodes);
#pragma unroll 1
        for (int half = 0; half < 2; ++half) {
            const bool backward = half == 1;
            if (backward) turn(rows, scratch.extension);
            walk(rows, backward, backward ? start : strip.entry * start, backward ? start : 0,
                 streams, backward ? tree.backward : tree.forward,
                 int(backward ? tree.backward_nodes : tree.forward_nodes), backward ? backward_steps : forward_steps,
                 events, backward ? tree.backward_events : tree.forward_events, joins, tree.first_join, scratch);
            __syncwarp();
        }
        // Each lane scores every G-th haplotype.
        const real entry = __shfl_sync(FULL, strip.entry, 0, G);
        const uint32 first_hap = words(buffer, header.group_haplotype)[read.group];
        const uint32 end_hap = words(buffer, header.group_haplotype)[read.group + 1];
        const int base_lane = threadIdx.x - l;
        for (uint32 h = first_hap + l; works && h < end_hap; h += G) {
            const Place place = places[h];
            float sum = scratch.started[place.backward_leaf * 32 + base_lane] * (entry * start);
            sum = multiply_add(
                reinterpret_cast<const real*>(scratch.leaves + place.forward_leaf * kSlot +
                                              2 * kQuads * 32)[4 * (base_lane + G - 1)],
                start, sum);
            for (int k = 0; k < G; ++k) sum += scratch.partial[place.join * 32 + base_lane + k];
            const uint32 columns =
                words(buffer, header.haplotype_offset)[h + 1] - words(buffer, header.haplotype_offset)[h];
            const bool held = strip.folds && sum >= kLeastJoined && sum < infinity();
            const size_t score = score_index(buffer, header, read, h);
            scores[score] = held ? log10(double(sum) / columns) - 2 * kHalfExponent * LOG10_2 + strip.log_kept
                                 : double(not_a_number());
            precision[score] = held ? PRECISION_FAST : PRECISION_NONE;
            if (!held && strip.folds && strip.scales) list[atomicAdd(listed, 1u)] = make_uint2(read.index, h);
        }
        __syncwarp();
    }
}
