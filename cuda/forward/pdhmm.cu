// Partially determined haplotypes (docs/model.md) in float32: fast.cu with other letters, and steps behind columns.
//
// Method: as in fast.cu. A letter is a word of 16 bits (cpu/pdhmm/columns.hpp) that says which bases match it, so a row
// needs the bit of its base and its emission where that bit is not set. Behind a column in which a deletion begins or
// ends, a lane keeps the states of its rows, or takes the larger ones. What is kept lies in shared memory, where
// load_strip has left the emissions, which no row reads here.
//
// A row's states carry factors of that row alone (rows.cuh), so that a maximum is of like things. The last row and
// those behind it, which carry its sum down, take no maximum: nothing but the sum is made of them.
//
// Limits: a pair whose sum falls below kLeastSum, and rows that do not fold, go to the CPU. Haplotypes share no
// columns.

constexpr int kCrowding = K + 3 * VARYING + 5 * TALL;
constexpr int kBlocks = kCrowding <= 16 ? 12 : 8;

constexpr int kStartExponent = START_EXPONENT;
constexpr float kLeastSum = LEAST_SUM;
constexpr int kPart = 8;  // columns that are summed up apart

// Steps behind a column, as in cpu/pdhmm/columns.hpp.
constexpr uint32 kJoins = 1 << PD_STEPS, kKeeps = 2 << PD_STEPS, kFirstRow = 4 << PD_STEPS;
constexpr uint32 kSteps = kJoins | kKeeps;
enum Kept { kKeptMatch, kKeptInsertion, kKeptDeletion };

// A lane's rows beside a letter: the bit of the base, or of 16 bits more where the letters that do not match are the
// likelier ones, and the emission where the letter's bit is not set.
struct Bases {
    uint32 bit[K];
    float other[K];
    int joining;  // rows that deletions count in
    bool first;   // whether the lane has the read's first row
};

// Rows `row` to row + count - 1 of a read, from position `first` on, are those of the strip.
__device__ __forceinline__ Bases load_bases(const uint8* buffer, const Header& header, const Tables& tables,
                                            uint32 first, int count, int row, int read_rows) {
    Bases bases;
    const int own = threadIdx.x % G * K;
#pragma unroll
    for (int k = 0; k < K; ++k) {
        bases.bit[k] = 0;
        bases.other[k] = 0;
        if (own + k < count) {
            const Positions four = load_positions(buffer, header, first + own + k);
            const uint32 letter = four.bytes[0] & 255, quality = four.bytes[1] & 255;
            const bool inverted = letter != kN && tables.error[quality] > 0.75;
            bases.bit[k] = 1u << (letter + (inverted ? 16 : 0));
            bases.other[k] = float(tables.ratio[letter == kN][quality]);
        }
    }
    const int joining = read_rows - 1 - row - own;
    bases.joining = joining < 0 ? 0 : joining < K ? joining : K;
    bases.first = row + own == 0;
    return bases;
}

// One column for a lane, as `advance` of lanes.cuh, and the steps behind it, if it has any.
template <bool has_steps>
__device__ __forceinline__ void advance_bases(const Rows& rows, const Bases& bases, States& state, uint32 letter,
                                              float s, float i) {
    const uint32 both = letter | ~letter << 16;
    float* own = column_of_lane();
#pragma unroll
    for (int k = 0; k < K; ++k) {
        float m = state.s[k] * (both & bases.bit[k] ? 1.0f : bases.other[k]), d = state.d[k];
        if (has_steps) {
            float& kept_m = own[emission_at(kKeptMatch, k)];
            float& kept_i = own[emission_at(kKeptInsertion, k)];
            float& kept_d = own[emission_at(kKeptDeletion, k)];
            if (letter & kJoins && k < bases.joining) {
                m = fmaxf(m, kept_m);
                i = fmaxf(i, kept_i);
                d = fmaxf(d, kept_d);
            }
            if (letter & kKeeps) {
                const float keeps = !(letter & kFirstRow) || (bases.first && k == 0) ? 1.0f : 0.0f;
                kept_m = keeps * m;
                kept_i = keeps * i;
                kept_d = keeps * d;
            }
        }
        state.s[k] = s;
#if VARYING
        state.d[k] = multiply_add(rows.extend_deletion[k], d, m);
#else
        state.d[k] = multiply_add(float(EXTEND_DELETION), d, m);
#endif
        s = multiply_add(rows.from_insertion[k], i, multiply_add(rows.from_deletion[k], d, m));
        i = multiply_add(rows.extend_insertion[k], i, m);
    }
    state.s_below = s;
    state.i_below = i;
}

// As sum_fast of fast.cu.
__device__ __forceinline__ float sum_bases(const Rows& rows, const Bases& bases, float deletion, float first,
                                           const uint16* letters, int steps, float2* between) {
    const int l = threadIdx.x % G;
    States state;
    clear(state);
    state.s[0] = first;
    float* own = column_of_lane();
    for (int k = 0; k < K; ++k) {
        own[emission_at(kKeptMatch, k)] = own[emission_at(kKeptInsertion, k)] = own[emission_at(kKeptDeletion, k)] = 0;
    }
    const float keep = l == 0 ? 0.0f : 1.0f;
    const uint16* column = letters - l;
    float part = 0, sum = 0, result = 0;
    uint32 next = column[0];
    float2 next_entering = make_float2(deletion, 0);
#if TALL
    if (l == 0) next_entering = between[0];
#endif
    for (int t = 0, end; (end = next_end(steps, t)) > t;) {
        // Not unrolled: a column with steps takes far more instructions.
#pragma unroll 1
        while (t < end) {
            const uint32 letter = next;
            next = column[t + 1];
            const float2 entering = next_entering;
#if TALL
            if (l == 0) next_entering = between[t + 1];
#endif
            const float s = multiply_add(__shfl_up_sync(FULL, state.s_below, 1, G), keep, entering.x);
            const float i = multiply_add(__shfl_up_sync(FULL, state.i_below, 1, G), keep, entering.y);
            if (letter & kSteps) {
                advance_bases<true>(rows, bases, state, letter, s, i);
            } else {
                advance_bases<false>(rows, bases, state, letter, s, i);
            }
            part += state.i_below;
#if TALL
            if (l == G - 1) between[t - (G - 1)] = make_float2(state.s_below, state.i_below);
#endif
            if (++t % kPart == 0) {
                sum += part;
                part = 0;
            }
        }
        if (steps == t) result = sum + part;
    }
    return result;
}

// As in fast.cu.
struct __align__(8) Task {
    double log_kept;
    uint32 read, haplotype, end, score;
    uint32 folds, unused;
};
static_assert(sizeof(Task) == TASK_BYTES && kEmissionBytes + kReads * TASK_BYTES == SHARED_BYTES, "shared memory");
static_assert(LETTERS > kKeptDeletion, "room for what is kept");

// One tile of reads against some of their haplotypes: blockIdx.x is the item. The arguments are those of forward_fast,
// which has a list of pairs to rescue where this kernel leaves them unscored.
extern "C" __global__ void __launch_bounds__(32, kBlocks)
    forward_pdhmm(const uint8* __restrict__ buffer, const Tables* __restrict__ tables, const uint2* __restrict__ items,
                  int64 last_read, int64 haplotypes_each, float2* between, int64 widest, double* scores,
                  uint8* precision) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    volatile Task& task = reinterpret_cast<Task*>(reinterpret_cast<uint8*>(shared) + kEmissionBytes)[threadIdx.x / G];
    const bool writes = threadIdx.x % G == G - 1;
    {
        const uint2 item = items[blockIdx.x];
        const uint32 last = uint32(last_read), each = uint32(haplotypes_each);
        const uint32 at = item.x + threadIdx.x / G;
        const Read read = find_read(buffer, header, words(buffer, header.order)[at < last ? at : last - 1]);
        const uint32 group_end = words(buffer, header.group_haplotype)[read.group + 1];
        const uint32 first = words(buffer, header.group_haplotype)[read.group] + item.y * each;
        const uint32 end = min(first + each, group_end);
        if (writes) {
            task.read = read.index;
            task.haplotype = first;
            task.end = at < last ? end : 0;
            task.score = uint32(score_index(buffer, header, read, first));
        }
    }
    __syncwarp();
    Rows rows;
    Bases bases;
    const auto load = [&](const Read& read, int row) {
        const Strip strip = load_strip(buffer, header, *tables, read.first + row, read.rows - row, read.rows, rows);
        bases = load_bases(buffer, header, *tables, read.first + row, read.rows - row, row, read.rows);
        if (writes) {
            task.log_kept = (row == 0 ? 0.0 : task.log_kept) + strip.log_kept;
            task.folds = (row == 0 || task.folds) && strip.folds;
        }
        return strip.entry;
    };
#if TALL
    between += size_t(blockIdx.x) * (widest + 2 * G) + G;
#else
    const float entry = load(find_read(buffer, header, task.read), 0);
#endif
    while (__any_sync(FULL, task.haplotype < task.end)) {
        const bool works = task.haplotype < task.end;
        const uint32 haplotype = works ? task.haplotype : 0;
        const uint32 offset = words(buffer, header.haplotype_offset)[haplotype];
        const int columns = int(words(buffer, header.haplotype_offset)[haplotype + 1] - offset);
        const uint16* letters = reinterpret_cast<const uint16*>(buffer + header.letters) + offset;
        const float start = threadIdx.x % G == 0 ? exp2f(kStartExponent) : 0.0f;
#if TALL
        const Read read = find_read(buffer, header, task.read);
        float sum = 0;
        for (int row = 0; row < read.rows; row += G * K) {
            const float entry = load(read, row);
            float first = 0;
            if (row == 0) {
                const float deletion = __shfl_sync(FULL, entry * start, 0) / float(columns);
                first = start > 0 ? deletion : 0;
                for (int t = threadIdx.x; t < columns; t += G) between[t] = make_float2(deletion, 0);
            }
            __syncwarp();
            sum = sum_bases(rows, bases, 0, first, letters, columns + G - 1, between);
            __syncwarp();
        }
#else
        const float deletion = entry * start / float(columns);
        const float sum = sum_bases(rows, bases, deletion, deletion, letters, works ? columns + G - 1 : 0, between);
#endif
        if (works && writes) {
            const bool held = task.folds && sum >= kLeastSum && sum < infinity();
            const uint32 score = task.score;
            scores[score] =
                held ? log10(double(sum)) - kStartExponent * LOG10_2 + task.log_kept : double(not_a_number());
            precision[score] = held ? PRECISION_FAST : PRECISION_NONE;
        }
        __syncwarp();
        if (writes) {
            task.haplotype = task.haplotype + 1;
            task.score = task.score + 1;
        }
        __syncwarp();
    }
}
