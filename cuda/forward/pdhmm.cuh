// The letters of partially determined haplotypes (docs/model.md) as fast.cu takes them, and the steps behind columns.
//
// Method: a letter is a byte (cpu/pdhmm/columns.hpp) that says which of A C G T match it. A table in shared memory has,
// for each of these 16 sets, a bit for each row of a lane: whether its emission is the likelier one, which is 1. Rows
// whose bit is not set are multiplied by the other one. So a plain column takes the instructions of other haplotypes'
// columns. Behind a column in which a deletion begins or ends, a lane keeps the states of its rows, or takes the larger
// ones. What is kept lies in shared memory, too. The warp takes such columns one by one, and all others in runs: the
// byte says where the next one is near.
//
// A row's states carry factors of that row alone (rows.cuh), so that a maximum is of like things. The last row and
// those behind it, which carry its sum down, take no maximum: nothing but the sum is made of them.
//
// Limits: pairs whose sum falls below kLeastSum, rows that do not fold, and reads with lower-case bases go to the CPU.
// Haplotypes share no columns.

constexpr int kBlocks = BLOCKS;

constexpr uint32 kSets = 16;
constexpr int kAtOnce = 6;
constexpr uint32 kJoins = 16, kKeeps = 32, kFirstRow = 64, kNear = 128;  // of a letter, beside its set
constexpr uint32 kSteps = kJoins | kKeeps;

// What shared memory has where load_strip left the emissions: kept states, and the table of sets as [set][lane]. Behind
// it are the rows that deletions count in, and the read's first one of them.
enum { kKeptMatch, kKeptInsertion, kKeptDeletion, kTable };
constexpr uint32 kAllRows = kSets, kFirstOfRows = kSets + 1;
static_assert((LETTERS - kTable) * kQuads * 128 >= (kSets + 2) * 32, "room for the table");

// A slot has states of a warp (lanes.cuh), and what is kept of its rows.
constexpr int kKeptQuads = kTable * kQuads;
constexpr int kSlot = (kSlotQuads + kKeptQuads) * 32;  // in quads
static_assert(kSlot * sizeof(Quad) == SLOT_BYTES, "scratch memory");

struct PdPlace {
    uint32 haplotype, common;
};

// The haplotypes of an item as a tree, in depth-first order. Where later haplotypes go on from this one, lanes save
// their states. Lane l is l columns behind lane 0 then, and so it is when these states are restored.
struct Path {
    static constexpr bool kShares = !TALL;
    const volatile Task& task;
    const uint8* buffer;
    float2* memory;  // `size` for each block
    int64 size;

    __device__ __forceinline__ uint32 haplotype(uint32 place) const { return places()[place].haplotype; }

    // Restore what the haplotype has in common with the one before it. Returns how many columns this is.
    __device__ __forceinline__ int begin(States& state, float& sum) const {
        const uint32 place = task.haplotype;
        const uint32 common = kShares && place > task.first && place < task.end ? places()[place].common : 0;
        Quad* kept = reinterpret_cast<Quad*>(column_of_lane());
        if (common > 0) {
            const Quad* slot = slot_of(common);
            sum = restore_states(slot, state).x;
            for (int q = 0; q < kKeptQuads; ++q) kept[q * 32] = slot[(kSlotQuads + q) * 32 + threadIdx.x];
        } else {
            for (int q = 0; q < kKeptQuads; ++q) kept[q * 32] = {0, 0, 0, 0};
        }
        return int(common);
    }

    // Columns up to which a path goes on that has `done` of `columns`: to where the next haplotype leaves it.
    __device__ __forceinline__ int stop(int done, int columns) const { return int(branch(done + 1, columns)); }

    // Save the states behind `done` columns, if a haplotype goes on from there.
    __device__ __forceinline__ void pass(int done, const States& state, float sum) const {
        if (branch(done, 0) != done) return;
        Quad* slot = slot_of(done);
        save_states(slot, state, {sum, 0, state.s_below, state.i_below});
        const Quad* kept = reinterpret_cast<const Quad*>(column_of_lane());
        for (int q = 0; q < kKeptQuads; ++q) slot[(kSlotQuads + q) * 32 + threadIdx.x] = kept[q * 32];
    }

private:
    // Found again when needed, and in no register meanwhile.
    __device__ __forceinline__ const PdPlace* places() const {
        const uint8* const own = fresh(buffer);
        return reinterpret_cast<const PdPlace*>(own + reinterpret_cast<const Header*>(own)->places);
    }

    // The fewest columns, `least` of them or more, from which a later haplotype goes on. `none` if there are none.
    __device__ __forceinline__ uint32 branch(uint32 least, uint32 none) const {
        const PdPlace* const places = this->places();
        uint32 fewest = 0xffffffff;
        for (uint32 later = task.haplotype + 1; kShares && later < task.end && places[later].common >= least; ++later) {
            fewest = min(fewest, places[later].common);
        }
        return fewest < 0xffffffff ? fewest : none;
    }

    // States that will be restored behind fewer columns lie in the slots before.
    __device__ __forceinline__ Quad* slot_of(uint32 columns) const {
        const PdPlace* const places = this->places();
        int before = 0;
        for (uint32 later = task.haplotype + 1; later < task.end && places[later].common > 0; ++later) {
            if (places[later].common < columns) {
                columns = places[later].common;
                ++before;
            }
        }
        return reinterpret_cast<Quad*>(fresh(memory) + blockIdx.x * size) + before * kSlot;
    }
};

struct Lane {
    Rows rows;
    float other[K];  // emission where the bit is not set

    __device__ __forceinline__ uint32* table() const { return shared + emission_at(kTable, 0) + threadIdx.x; }

    // Load the rows of a read from `row` on, as many as the lanes hold.
    __device__ __forceinline__ Strip load(const uint8* buffer, const Header& header, const Tables& tables,
                                          const Read& read, int row) {
        Strip strip = load_strip(buffer, header, tables, read.first + row, read.rows - row, read.rows, rows);
        const int first = row + threadIdx.x % G * K;
        uint32 always = 0, inverted = 0, of_base[kBases] = {};  // a bit for each row
        bool upper = true;
        float* own = column_of_lane();
#pragma unroll 1
        for (int k = 0; k < K; ++k) {
            float ratio = 0;
            if (first + k < read.rows) {
                const Positions four = load_positions(buffer, header, read.first + first + k);
                const uint32 letter = four.bytes[0] & 255, quality = four.bytes[1] & 255;
                const bool is_n = letter == kN;
                ratio = float(tables.ratio[is_n][quality]);
                always |= uint32(is_n) << k;
                inverted |= uint32(!is_n && tables.error[quality] > 0.75) << k;
                for (uint32 s = 0; s < kBases; ++s) of_base[s] |= uint32(letter == s) << k;
                upper = upper && letter <= kN;
            }
            own[emission_at(kKeptMatch, k)] = ratio;
        }
#pragma unroll
        for (int k = 0; k < K; ++k) other[k] = own[emission_at(kKeptMatch, k)];
        __syncwarp();  // no lane has emissions in the table's place any more
#pragma unroll 1
        for (uint32 set = 0; set < kSets; ++set) {
            uint32 matching = always;
            for (uint32 s = 0; s < kBases; ++s) matching |= set >> s & 1 ? of_base[s] : 0;
            table()[set * 32] = matching ^ inverted;
        }
        const int joining = max(0, min(K, read.rows - 1 - first));
        table()[kAllRows * 32] = (1u << joining) - 1;
        table()[kFirstOfRows * 32] = first == 0 && joining > 0;
        const uint32 lower = __ballot_sync(FULL, !upper) >> (threadIdx.x - threadIdx.x % G);
        strip.folds = strip.folds && !(lower & FULL >> (32 - G));
        strip.scales = false;
        return strip;
    }

    // Whether the kPart columns from this letter on are without steps in all lanes.
    __device__ __forceinline__ bool runs(uint32 letter) const { return !__any_sync(FULL, letter & kNear); }

    // One column. `in_run`: it is one of kPart without steps.
    __device__ __forceinline__ void advance(States& state, uint32 letter, float s, float i, bool in_run) const {
        if (!in_run && __any_sync(FULL, letter & kSteps)) {
            advance_with<true>(state, letter, s, i);
        } else {
            advance_with<false>(state, letter, s, i);
        }
    }

    // As `advance` of lanes.cuh.
    template <bool has_steps>
    __device__ __forceinline__ void advance_with(States& state, uint32 letter, float s, float i) const {
        uint32 matching = table()[letter % kSets * 32];
        float* own = column_of_lane();
        // Products, since a condition for each row takes more predicates than there are.
        const float joins = letter & kJoins ? 1.0f : 0.0f;
        const uint32 keeping = has_steps ? table()[(letter & kFirstRow ? kFirstOfRows : kAllRows) * 32] : 0;
#pragma unroll
        for (int k = 0; k < K; ++k) {
            float m = state.s[k], d = state.d[k];
            // So few rows at once, since ptxas may run out of its seven predicates.
            if (k % kAtOnce == 0 && k > 0) matching = fresh(matching >> kAtOnce);
            if (!(matching >> k % kAtOnce & 1)) m *= other[k];
            if (has_steps) {
                float& kept_m = own[emission_at(kKeptMatch, k)];
                float& kept_i = own[emission_at(kKeptInsertion, k)];
                float& kept_d = own[emission_at(kKeptDeletion, k)];
                m = fmaxf(m, joins * kept_m);
                i = fmaxf(i, joins * kept_i);
                d = fmaxf(d, joins * kept_d);
                if (letter & kKeeps) {
                    const float keeps = keeping >> k & 1 ? 1.0f : 0.0f;
                    kept_m = keeps * m;
                    kept_i = keeps * i;
                    kept_d = keeps * d;
                }
            }
            go_down(rows, state, k, m, d, s, i);
        }
        state.s_below = s;
        state.i_below = i;
    }
};
