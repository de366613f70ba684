// Every pair of a batch in float32, where haplotypes of a group share columns: each shared column is computed once.
//
// A column of the forward depends on the letters to its left alone, a column of the backward on those to its right. The
// haplotypes of a group, cut in their middle, are therefore two trees: one of the prefixes of their left halves and one
// of the suffixes of their right halves. Each node is one column. The root of the left tree is column 0, that of the
// right tree the column behind the last.
//
// Method: a block is one warp, and takes a tile of reads against all haplotypes of their groups, or against as many as
// the host puts into one pair of trees. `lanes` neighbouring lanes own a read, each lane K of its rows in registers
// (lanes.cuh). tree_rows.cu has made the rows; the warp loads them and makes the emissions. A tree comes as a stream:
// its nodes in depth-first order, one byte a node (cpu/packing/tree_streams.hpp). The byte has the letter, and says
// whether the states of a branch are restored before it, whether its own are saved, and whether a half ends here.
//
// Lanes follow each other: lane l is l columns behind lane 0. They never wait for each other, because all that is kept
// is a diagonal of the matrix. When lane 0 has finished the node of a branch, each lane saves what it has. When a
// branch is restored, each lane goes on with the columns that it still needs; the stream has their letters. Halves are
// joined along a diagonal, too (below). So saves, restores, leaves and joins are events of the whole warp, between
// segments in which all lanes compute. The host lists leaves and saves, so the warp knows how far away the next one is:
// until there, runs of kRun columns are unrolled and test nothing. All tiers whose lanes have K rows are one launch,
// since `lanes` is known at run time.
//
// The backward is the forward of the reversed read with transposed transitions (docs/model.md). Folded (rows.cuh), its
// coefficients are those of the forward but for the extension of an insertion; from_deletion moves by a row. So a lane
// keeps its rows, turns their order, and the backward walks from the last lane to the first. One text walks both.
//
// With TALL, a read has several strips of 32 lanes, which the warp walks one after the other. A strip's first lane
// follows the last one of the strip before it, as if all lanes were at work at once. What enters it goes through
// memory.
//
// With S and D what enters column s + 1 from the left half, m = E S' of that column from the right half, and D' what
// follows D, in units in which all rows' factors cancel,
//
//   P = ended + started + sum over rows (S m + from_deletion D D').
//
// Here s is c - l for the rows of lane l, where c is the cut: the left half stops when lane 0 has finished column c,
// and the right half when column c + 1 is the next one of lane 0, which is last there. A path may also leave the left
// half downwards, from the last row of lane l in column c - l to the first row of lane l + 1. The backward has been at
// that row in its last step: there, with I' what follows an insertion,
//
//   P += S m + from_deletion D D' + I from_insertion I',
//
// where S and I are what lane l hands to lane l + 1, and D is of its last row.
//
// `ended` is the sum of M + I of the last row over the columns of the left half, `started` the sum of m of the first
// row over those of the right half. A half starts from 2^kHalfExponent, so that the product of two is within float32's
// range. The cut depends on the haplotype alone, and each sum on the path from the root alone: a score has the same
// bits whatever shares its trees.
//
// Ladder, kernels alone on an NVIDIA H200 in GCUPS, timed as a CUDA graph: cells of the whole matrices, of which s150
// needs 1 in 2.18 and 1m 1 in 5.13. benchmarks/forward-gpu.md has the steps between, and what was tried.
//
//     what                                                                         s150   1m x 20
//     fast.cu, which computes whole matrices                                      3,942     2,865
//     leaves, joins and restores are events of the whole warp                     6,697     5,274
//     this kernel                                                                 7,650     8,288
//
// Groups of 32 x 32 of 1,024 bases, 2 strips a read: 9,100, where fast.cu makes 3,290; of 4,096 bases, 8 strips: 9,200.
//
// Many kernels side by side evict each other's instructions from the caches: 11 numbers of rows take longer than 4,
// though lanes then compute rows that no read has. More shared memory than emissions need costs up to 7%: the L1 cache
// is smaller. Runs of 16 columns cost 15%: instructions do not fit into their cache.
//
// Limits: of an item's cycles in 1m x 20, half pass in columns, and the others wait for memory. tree_rows.cu takes 0.09
// ms of 1.02, the rescue 0.07. Where haplotypes share nothing (a haplotype a group), trees reach 0.95 to 0.98 of the
// speed of whole matrices. They are not chosen by what a batch shares, since a score must have the same bits in any
// company. Pairs whose sums are below kLeastJoined go on a list for scaled.cu: 760 of the 586,140 pairs of 1m x 20,
// where fast.cu lists 280. With TALL there is no list: the host gives them to long.cu.

constexpr uint32 kLetterBits = 7, kRestore = 8, kPop = 16, kSave = 32, kLeaf = 64;  // of a node's byte
// A node with a flag is an event: its number, and the flags as bits from 0 on.
constexpr int kEventFlags = 16, kEventSave = kSave / kRestore, kEventLeaf = kLeaf / kRestore;
constexpr int kNever = 1 << 30;       // beyond any node
constexpr uint32 kLastJoin = 0x8000;  // of a join: the last one of its backward leaf

constexpr int kHalfExponent = HALF_EXPONENT;
constexpr float kLeastJoined = LEAST_JOINED;
constexpr int kRun = RUN;  // columns that test nothing

constexpr int kSlot = kSlotQuads * 32;  // in quads
static_assert(kSlot * sizeof(Quad) == SLOT_BYTES, "scratch memory");
static_assert(kEmissionBytes == SHARED_BYTES, "shared memory");

// A pair of trees: where its streams begin and how many nodes they have, and its first event, join and place.
struct Tree {
    uint32 forward, backward, forward_nodes, backward_nodes, forward_events, backward_events, first_join, first_place,
        places;
};

// What a haplotype's score is made from: its number in its group, its join and its leaves.
struct Place {
    uint32 haplotype, join, forward_leaf, backward_leaf;
};

// The trees of a batch (cpu/packing/tree_streams.hpp).
struct Forest {
    const Tree* trees;
    const Place* places;
    const int* events;            // nodes with a flag: kEventFlags times the node, and its flags
    const unsigned short* joins;  // the forward leaf of each join, with kLastJoin
    const uint8* streams;         // with more than `lead` zeros before and behind each
    int lead;                     // letters of the path before a node that restores, and letters behind a right leaf
};

// A warp's scratch memory, and what lies where in it, in bytes.
struct Scratch {
    uint8* memory;   // Quad[slot] states at open branches
    uint32 leaves;   // Quad[slot] what the left halves hand to the joins
    uint32 joined;   // real[join][lane] sums over a lane's rows
    uint32 started;  // real[backward leaf][lane]
    // TALL: bytes of a strip's leaves and of its joins; and two borders, float2[node], and the bytes of one
    uint32 leaves_bytes, joined_bytes, border, border_bytes;
};

__device__ __forceinline__ Quad* stack_slot(const Scratch& scratch, int level) {
    return reinterpret_cast<Quad*>(fresh(scratch.memory)) + level * kSlot;
}
__device__ __forceinline__ Quad* leaf_slot(const Scratch& scratch, int strip, uint32 leaf) {
    return reinterpret_cast<Quad*>(fresh(scratch.memory) + scratch.leaves + strip * scratch.leaves_bytes) +
           leaf * kSlot;
}
// One number a lane.
__device__ __forceinline__ real* numbers(const Scratch& scratch, uint32 at, uint32 index) {
    return reinterpret_cast<real*>(fresh(scratch.memory) + at) + index * 32;
}

// A sum of many columns, which may be nearly the same: in double.
struct RunningSum {
    double value;

    __device__ __forceinline__ void add(real term) { value += double(term); }
    __device__ __forceinline__ real rounded() const { return real(value); }
    __device__ __forceinline__ Quad saved_with(real s, real i) const {
        return {__int_as_float(__double2loint(value)), __int_as_float(__double2hiint(value)), s, i};
    }
    __device__ __forceinline__ void restore(const Quad& from) {
        value = __hiloint2double(__float_as_int(from.y), __float_as_int(from.x));
    }
};

// What a left half hands to the joins: S, and from_deletion D one row further down, where its partner D' lies. Rows are
// in the backward's order. Behind the sum is what the last row of the lane above hands down.
// `below` is the slot of the strip below, if there is one, and `is_top` says that none is above.
__device__ __forceinline__ void save_leaf(int lanes, Quad* slot, Quad* below, bool is_top, const Rows& rows,
                                          const States& state, real sum) {
    const int lane = threadIdx.x, l = lane % lanes;
    real s[K], d[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int from = K - 1 - k, above = from > 0 ? from - 1 : 0;
        s[k] = state.s[from];
        d[k] = from > 0 ? state.d[above] * rows.from_deletion[above] : 0;
    }
    const bool is_first = l == 0 && is_top;
    if (is_first) s[K - 1] = 0;  // what starts behind the cut is in `started`
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        slot[q * 32 + lane] = four_of(s, 4 * q);
        slot[(kQuads + q) * 32 + lane] = four_of(d, 4 * q);
    }
    real* const own = reinterpret_cast<real*>(slot + 2 * kQuads * 32 + lane);
    own[0] = sum;
    if (is_first) own[1] = own[2] = own[3] = 0;  // nothing is above the first lane
    real* const next = l < lanes - 1 ? own + 4 : reinterpret_cast<real*>(below + 2 * kQuads * 32);
    if (l < lanes - 1 || (TALL && below != nullptr)) {
        next[1] = state.s_below;
        next[2] = state.d[K - 1] * rows.from_deletion[K - 1];
        next[3] = state.i_below;
    }
}

// `ended` of a left half: the sum of the read's last lane.
__device__ __forceinline__ real ended_of(const Quad* slot, int last_lane) {
    return slot[2 * kQuads * 32 + last_lane].x;
}

// A lane's part of a join, before the next column of the right half. `last` is of the column before it.
__device__ __forceinline__ real join(const Quad* slot, const Rows& rows, const States& state, const LastRow& last,
                                     uint32 letter) {
    slot += threadIdx.x;
    const Quad* own = reinterpret_cast<const Quad*>(column_of_lane() + emission_at(letter, 0));
    const Quad above = slot[2 * kQuads * 32];
    real sum =
        multiply_add(above.w, rows.from_insertion[K - 1] * last.i, multiply_add(above.z, last.d, above.y * last.m));
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const Quad emission = own[q * 32], s = slot[q * 32];
        real part = 0;
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int k = 4 * q + r < K ? 4 * q + r : 0;
            if (4 * q + r < K) part = multiply_add(state.s[k] * part_of(emission, r), part_of(s, r), part);
        }
        const Quad d = slot[(kQuads + q) * 32];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int k = 4 * q + r < K ? 4 * q + r : 0;
            if (4 * q + r < K) part = multiply_add(state.d[k], part_of(d, r), part);
        }
        sum += part;
    }
    return sum;
}

// The least and the largest value of the warp's lanes.
__device__ __forceinline__ int least_of_warp(int value) {
#if defined(PAIRHMM_EMULATED) || __CUDA_ARCH__ >= 800
    return __reduce_min_sync(FULL, value);
#else
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value = min(value, __shfl_xor_sync(FULL, value, step));
    return value;
#endif
}
__device__ __forceinline__ int most_of_warp(int value) { return -least_of_warp(-value); }

// What a half of the haplotypes is walked from.
struct Half {
    bool backward;
    real start_s, start_i;         // S and I of the first row walked, in every column
    uint32 stream, events, joins;  // the first ones
    int nodes;
    int lanes;  // of the read, in all its strips
    int ahead;  // lanes of the strips that were walked before this one
};

// What a strip hands to the next one: S and I of each step, and that of the step before it. The two take turns.
__device__ __forceinline__ float2* border_of(const Scratch& scratch, int number) {
    return reinterpret_cast<float2*>(fresh(scratch.memory) + scratch.border + number % 2 * scratch.border_bytes);
}

// A walk goes from leaf to leaf. What lies between two leaves is a segment. Its length is the steps of a lane: up to
// the leaf's node, and in the backward up to the column before it in the last lane. Reads of a warp may have segments
// of different lengths: those that are done wait for the others. Before the root, where all states are zero, lanes pass
// zeros on.
__device__ __forceinline__ void walk(int lanes, const Rows& rows, const Half& half, const Forest& forest,
                                     const Scratch& scratch) {
    const bool backward = half.backward;
    const int in_strip = backward ? lanes - 1 - threadIdx.x % lanes : threadIdx.x % lanes;
    const int l = (TALL ? half.ahead : 0) + in_strip, all = TALL ? half.lanes : lanes;
    const bool is_first = in_strip == 0;
#if TALL
    const int number = half.ahead / lanes;
    const bool enters = is_first && number > 0, leaves = in_strip == lanes - 1 && half.ahead + lanes < all;
#endif
    const int before = threadIdx.x + (backward ? !is_first : -!is_first);
    const int strip = !TALL ? 0 : backward ? all / lanes - 1 - half.ahead / lanes : half.ahead / lanes;
    States state;
    clear(state);
    LastRow last = {};
    RunningSum sum = {};
    int at = 0;  // first node of the segment
    uint32 event = half.events, join_number = half.joins, level = 0, leaf = 0;
    while (__any_sync(FULL, at < half.nodes)) {
        const bool walks = at < half.nodes;
        const uint8* stream = forest.streams + half.stream + at;
        if (walks && at > 0) {
            sum.restore(restore_states(stack_slot(scratch, int(level) - 1), state));
            if (*stream & kPop) --level;
        }
        uint32 next = *(stream - l);
        // Columns that enter the first lane up to the leaf, and up to the first node that is saved.
        int length = 0, save = kNever;
        uint32 of_save = event;
        if (walks) {
            for (;; ++event) {
                const int word = forest.events[event];
                const int node = word / kEventFlags - at;
                if ((word & kEventSave) && node < save) save = node + 1, of_save = event;
                length = node + (backward ? all - 1 : 1);
                if (word & kEventLeaf) break;
            }
        }
        const auto next_save = [&] {
            for (save = kNever; ++of_save <= event;) {
                const int word = forest.events[of_save];
                if (word & kEventSave) {
                    save = word / kEventFlags - at + 1;
                    return;
                }
            }
        };
        const int steps = most_of_warp(length), full = least_of_warp(length);
        float2 entering = make_float2(half.start_s, half.start_i);
#if TALL
        const float2* const from = border_of(scratch, number + 1) + at;
        float2* const to = border_of(scratch, number) + at;
        if (enters) entering = from[0];
#endif
        const auto step = [&](int t, bool waits) {
            const uint32 byte = next;
            next = stream[(waits ? min(t + 1, length) : t + 1) - l];
            const real s_above = __shfl_sync(FULL, state.s_below, before);
            const real i_above = __shfl_sync(FULL, state.i_below, before);
            const real s = is_first ? entering.x : s_above, i = is_first ? entering.y : i_above;
#if TALL
            if (enters) entering = from[t + 1];
            if (leaves) to[t] = make_float2(state.s_below, state.i_below);
#endif
            if (waits && t >= length) return last;
            const LastRow row = advance(rows, state, byte & kLetterBits, s, i);
            sum.add(state.i_below);
            return row;
        };
        for (int t = 0; t < steps;) {
            const int stop = min(steps, least_of_warp(save));
            const int run = min(full, stop);
            if (t < run) {
                for (; t + kRun < run; t += kRun) {
#pragma unroll
                    for (int u = 0; u < kRun; ++u) step(t + u, false);
                }
                // A join needs the last column's last row, which takes registers in single steps alone.
#pragma unroll 1
                do last = step(t, false);
                while (++t < run);
            }
#pragma unroll 1
            for (; t < stop; ++t) last = step(t, true);
            if (save == t) {
                save_states(stack_slot(scratch, int(level++)), state, sum.saved_with(state.s_below, state.i_below));
                next_save();
            }
        }
        if (!walks) continue;
        if (backward) {
            const uint32 letter = next & kLetterBits;
            for (;; ++join_number) {
                const uint32 of = forest.joins[join_number];
                numbers(scratch, scratch.joined + strip * scratch.joined_bytes, join_number - half.joins)[threadIdx.x] =
                    join(leaf_slot(scratch, strip, of & (kLastJoin - 1)), rows, state, last, letter);
                if (of & kLastJoin) break;
            }
            ++join_number;
            // The last column's M of the last row.
            RunningSum started = sum;
            started.add(state.s[K - 1] * column_of_lane()[emission_at(letter, K - 1)]);
            numbers(scratch, scratch.started, leaf)[threadIdx.x] = started.rounded();
        } else {
            Quad* const below = TALL && half.ahead + lanes < all ? leaf_slot(scratch, strip + 1, leaf) : nullptr;
            save_leaf(lanes, leaf_slot(scratch, strip, leaf), below, strip == 0, rows, state, sum.rounded());
        }
        at += (backward ? length - (all - 1) + 1 + forest.lead : length) + forest.lead;
        ++leaf;
        ++event;
    }
}

// Turn a lane's rows from the forward's order into the backward's: the last row comes first.
// `made` are the rows of its strip, and `above` those of the strip above, if there is one.
__device__ __forceinline__ void turn(int lanes, Rows& rows, const Quad* made, const Quad* above_made) {
    const Rows old = rows;
    real deletion_above = __shfl_up_sync(FULL, old.from_deletion[K - 1], 1, lanes);
#if VARYING
    real extension_above = __shfl_up_sync(FULL, old.extend_deletion[K - 1], 1, lanes);
#endif
    bool is_first = threadIdx.x % lanes == 0;
#if TALL
    if (is_first && above_made != nullptr) {
        const auto last_of = [&](int array) {
            return part_of(above_made[(array * kQuads + kQuads - 1) * 32 + 31], (K - 1) % 4);
        };
        deletion_above = last_of(kFromDeletion);
#if VARYING
        extension_above = last_of(kExtendDeletion);
#endif
        is_first = false;
    }
#endif
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
__device__ __forceinline__ void load_rows(int lanes, int strip, const uint8* buffer, const Header& header,
                                          const Tables& tables, const Task& task, const Quad* made, Rows& rows) {
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
    const uint32 first = words(buffer, header.read_offset)[task.read];
    const int count = int(words(buffer, header.read_offset)[task.read + 1] - first);
#pragma unroll 1
    for (int q = 0; q < kQuads; ++q) {
        const int first_row = (strip * 32 + threadIdx.x % lanes) * K + 4 * q, last = count - 1;
        const Positions four = load_positions(buffer, header, first + min(first_row, last));
        real emission[kLetters][4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int i = first_row + r;
            const bool is_row = 4 * q + r < K && i < count;
            const int back = max(0, i - last);
            const Emissions emissions = emissions_of(buffer, header, tables, four, max(0, r - back));
#pragma unroll
            for (int s = 0; s < kLetters; ++s) emission[s][r] = is_row ? emissions.relative[s] : real(0);
        }
#pragma unroll
        for (int s = 0; s < kLetters; ++s) {
            own[(s * kQuads + q) * 32] = {emission[s][0], emission[s][1], emission[s][2], emission[s][3]};
        }
    }
}

// Score the haplotypes of a pair of trees: a read's lanes share them.
__device__ __forceinline__ void score(int lanes, int strips, const uint8* buffer, const Header& header,
                                      const Task& task, const TreeTier& tier, const Forest& forest,
                                      const Scratch& scratch, uint32* listed, uint2* list, double* scores,
                                      uint8* precision) {
    const int l = threadIdx.x % lanes, first_lane = threadIdx.x - l;
    const float start = exp2f(kHalfExponent);
    const uint32 first_haplotype = words(buffer, header.group_haplotype)[task.group];
    const Read read = {task.read, task.group, 0, 0};
    const bool folds = task.flags & kFolds;
    const Tree& tree = forest.trees[task.tree];
    const uint32 places = task.flags & kIsOwn ? tree.places : 0;
    for (uint32 p = l; p < places; p += lanes) {
        const Place place = forest.places[tree.first_place + p];
        const uint32 haplotype = first_haplotype + place.haplotype;
        real sum = numbers(scratch, scratch.started, place.backward_leaf)[first_lane] * (task.entry * start);
        sum = multiply_add(ended_of(leaf_slot(scratch, strips - 1, place.forward_leaf), first_lane + lanes - 1), start,
                           sum);
        for (int strip = 0; strip < strips; ++strip) {
            const real* joined =
                numbers(scratch, scratch.joined + strip * scratch.joined_bytes, place.join) + first_lane;
            for (int k = 0; k < lanes; ++k) sum += joined[k];
        }
        const uint32* offset = words(buffer, header.haplotype_offset) + haplotype;
        const double columns = double(offset[1] - offset[0]);
        const bool held = folds && sum >= kLeastJoined && sum < infinity();
        const size_t index = score_index(buffer, header, read, haplotype);
        scores[index] =
            held ? log10(double(sum) / columns) - 2 * kHalfExponent * LOG10_2 + task.log_kept : double(not_a_number());
        precision[index] = held ? PRECISION_FAST : PRECISION_NONE;
        // scaled.cu leaves out reads that its exponents do not hold.
        if (!held && folds && tier.list != kNoList)
            list[tier.list_first + atomicAdd(listed + tier.list, 1u)] = make_uint2(read.index, haplotype);
    }
}

// The work items of the tiers that have K rows a lane. made_memory: where tree_rows.cu has put their rows. next_item:
// zero at first. Each block has scratch_bytes of scratch_memory. listed, lists: numbers, and pairs (read, haplotype),
// for forward_scaled.
extern "C" __global__ void __launch_bounds__(32, BLOCKS)
    forward_trees(const uint8* __restrict__ buffer, const Tables* __restrict__ tables, const Tree* __restrict__ trees,
                  const Place* __restrict__ places, const int* __restrict__ events,
                  const unsigned short* __restrict__ joins, const uint8* __restrict__ streams,
                  const TreeTier* __restrict__ tiers, const uint8* __restrict__ made_memory, int64 item_bytes,
                  int64 item_count, int64 lead, uint8* scratch_memory, int64 scratch_bytes, int64 leaves_at,
                  int64 joined_at, int64 started_at, int64 border_at, int64 leaves_bytes, int64 joined_bytes,
                  int64 border_bytes, uint32* next_item, uint32* listed, uint2* lists, double* scores,
                  uint8* precision) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    const Forest forest = {trees, places, events, joins, streams, int(lead)};
    const Scratch scratch = {scratch_memory + size_t(blockIdx.x) * scratch_bytes,
                             uint32(leaves_at),
                             uint32(joined_at),
                             uint32(started_at),
                             uint32(leaves_bytes),
                             uint32(joined_bytes),
                             uint32(border_at),
                             uint32(border_bytes)};
    const auto take_item = [&] { return __shfl_sync(FULL, threadIdx.x == 0 ? atomicAdd(next_item, 1u) : 0, 0); };
    for (uint32 index = take_item(); index < item_count; index = take_item()) {
        // Found again when needed, and in no register meanwhile.
        const auto item = [&] { return made_memory + size_t(fresh(index)) * item_bytes; };
        const auto task_of = [&]() -> const Task& { return reinterpret_cast<const Task*>(item())[threadIdx.x]; };
        const auto made = [&](int strip) {
            return reinterpret_cast<const Quad*>(item() + kTaskBytes) + strip * (kCoefficients * kQuads * 32);
        };
        const int lanes = int(tiers[task_of().tier].lanes);
        const int strips = TALL ? strips_of(rows_of(buffer, header, task_of().read), lanes, K) : 1;
        {
            Rows rows;
#if !TALL
            load_rows(lanes, 0, buffer, header, *tables, task_of(), made(0), rows);
            __syncwarp();
#endif
            Half half;
            half.start_s = task_of().entry * exp2f(kHalfExponent);
            half.start_i = 0;
            half.lanes = strips * lanes;
#pragma unroll 1
            for (int number = 0; number < 2 * strips; ++number) {
                const bool turned = number >= strips;
                half.ahead = (turned ? number - strips : number) * lanes;
#if TALL
                const int strip = turned ? 2 * strips - 1 - number : number;
                load_rows(lanes, strip, buffer, header, *tables, task_of(), made(strip), rows);
                __syncwarp();
                const Quad* const above_made = strip > 0 ? made(strip - 1) : nullptr;
#else
                const int strip = 0;
                const Quad* const above_made = nullptr;
#endif
                if (turned) {
                    turn(lanes, rows, made(strip), above_made);
                    half.start_s = half.start_i = exp2f(kHalfExponent);
                }
                const Tree& tree = trees[task_of().tree];
                half.backward = turned;
                half.nodes = int(turned ? tree.backward_nodes : tree.forward_nodes);
                half.stream = turned ? tree.backward : tree.forward;
                half.joins = tree.first_join;
                half.events = turned ? tree.backward_events : tree.forward_events;
                walk(lanes, rows, half, forest, scratch);
                __syncwarp();
            }
        }
        const Task& task = task_of();
        score(lanes, strips, buffer, header, task, tiers[task.tier], forest, scratch, listed, lists, scores, precision);
        __syncwarp();
    }
}
