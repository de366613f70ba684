// The published signature of a sample's tokens, by a warp. `pairhmm/map/sketch/published.py` is its meaning.
//
// Method. A lane has four slots in registers. Fewer than FEW tokens: each token is handed to all lanes, which hash it
// by the functions of their slots and keep the least values (k-hash). Otherwise each lane hashes tokens of its own by
// the first function, and minima of slots are kept in shared memory (one permutation). Then a lane fills its empty
// slots, one after the other; that another lane has more to do than its own shows only in the sum over four slots.
//
// A value of a function is four instructions: a x + b is doubled, so that its bits from 31 on are the upper word of the
// product, and a minimum of three takes the last step of the remainder along.

typedef unsigned long long uint64;

constexpr unsigned kPrime = PRIME;  // 2^31 - 1
constexpr unsigned kSlots = SLOTS;
constexpr unsigned kFew = FEW;  // at most a warp's lanes
constexpr unsigned kWarps = WARPS;
constexpr unsigned kThreads = kWarps * 32;
constexpr unsigned kSlotsOfLane = kSlots / 32;  // slots of a lane, which follow each other
constexpr unsigned kAll = 0xffffffffu, kNone = 0xffffffffu;

// Shared memory of a warp: the least value of each slot, and the values of slots that were empty.
struct Room {
    unsigned found[kSlots];
    unsigned filled[kSlots];
};

// 2 a and 2 b of the functions of a lane's slots, and of the first slot.
struct Functions {
    uint2 own[kSlotsOfLane], first;
};

__device__ __forceinline__ Functions functions_of(const uint2* __restrict__ functions, unsigned lane) {
    Functions all;
    for (unsigned i = 0; i < kSlotsOfLane; ++i) all.own[i] = functions[kSlotsOfLane * lane + i];
    all.first = functions[0];
    return all;
}

// a x + b mod 2^31 - 1, or 2^31 - 1 more.
__device__ __forceinline__ unsigned partly(uint2 function, unsigned token) {
    const uint64 doubled = uint64(function.x) * token + function.y;
    return unsigned(doubled >> 32) + (unsigned(doubled) >> 1);
}

__device__ __forceinline__ unsigned hash(uint2 function, unsigned token) {
    const unsigned value = partly(function, token);
    return min(value, value - kPrime);
}

// The slot that an empty slot asks for a value at an attempt: 1, 2, ...
__device__ __forceinline__ unsigned donor(unsigned slot, unsigned attempt) {
    unsigned mixed = slot * 0x9E3779B9u + attempt * 0x85EBCA6Bu;
    mixed = (mixed ^ mixed >> 16) * 0x7FEB352Du;
    mixed = (mixed ^ mixed >> 15) * 0x846CA68Bu;
    return (mixed ^ mixed >> 16) % kSlots;
}

// own: the sample's token of this lane's number, if it has one.
__device__ __forceinline__ void take_least(unsigned own, unsigned count, const Functions& functions,
                                           unsigned (&values)[kSlotsOfLane]) {
    for (unsigned i = 0; i < kSlotsOfLane; ++i) values[i] = kPrime;
    for (unsigned t = 0; t < count; ++t) {
        const unsigned token = __shfl_sync(kAll, own, t);
        for (unsigned i = 0; i < kSlotsOfLane; ++i) {
            const unsigned value = partly(functions.own[i], token);
            values[i] = __vimin3_u32(values[i], value, value - kPrime);
        }
    }
}

__device__ __forceinline__ void put_least(unsigned token, const Functions& functions, Room& room) {
    const unsigned value = hash(functions.first, token);
    atomicMin(&room.found[value / (kPrime / kSlots + 1)], value);
}

__device__ __forceinline__ void take_one_permutation(const unsigned* __restrict__ tokens, unsigned own, unsigned count,
                                                     const Functions& functions, unsigned lane, Room& room,
                                                     unsigned (&values)[kSlotsOfLane]) {
    for (unsigned i = 0; i < kSlotsOfLane; ++i) room.found[kSlotsOfLane * lane + i] = kNone;
    __syncwarp();
    if (lane < count) put_least(own, functions, room);
#pragma unroll 4
    for (unsigned t = lane + 32; t < count; t += 32) put_least(tokens[t], functions, room);
    __syncwarp();
    const unsigned end = kSlotsOfLane * lane + kSlotsOfLane;
    for (unsigned slot = kSlotsOfLane * lane, attempt = 0; slot < end;) {
        const unsigned value = room.found[attempt == 0 ? slot : donor(slot, attempt)];
        ++attempt;
        if (value != kNone) {
            room.filled[slot++] = value;
            attempt = 0;
        }
    }
    __syncwarp();  // the next sample may use the room
    for (unsigned i = 0; i < kSlotsOfLane; ++i) values[i] = room.filled[kSlotsOfLane * lane + i];
}

// Sketch all samples, of which a warp takes `each`, at most 32, at a time; then call use(sample, its tokens, values),
// where the values are those of slots kSlotsOfLane * lane and behind it. Tokens of a sample are read while the one
// before it is sketched: those of sample s are tokens[offsets[s] - offsets[0]] to tokens[offsets[s + 1] - offsets[0]].
template <class Use>
__device__ __forceinline__ void each_sample(const unsigned* __restrict__ tokens, const unsigned* __restrict__ offsets,
                                            unsigned samples, unsigned each, const Functions& functions, Room& room,
                                            const Use& use) {
    const unsigned lane = threadIdx.x % 32, tiles = gridDim.x * kWarps, zero = offsets[0];
    for (unsigned first = (blockIdx.x * kWarps + threadIdx.x / 32) * each; first < samples; first += tiles * each) {
        const unsigned taken = min(each, samples - first);
        const unsigned begins = offsets[first + min(lane, taken)] - zero;
        const unsigned ends = offsets[first + min(lane + 1, taken)] - zero;
        unsigned begin = __shfl_sync(kAll, begins, 0), end = __shfl_sync(kAll, ends, 0);
        unsigned next = lane < end - begin ? tokens[begin + lane] : 0;
        for (unsigned s = 0; s < taken; ++s) {
            const unsigned own = next, at = begin, count = end - begin;
            if (s + 1 < taken) {
                begin = __shfl_sync(kAll, begins, s + 1);
                end = __shfl_sync(kAll, ends, s + 1);
                next = lane < end - begin ? tokens[begin + lane] : 0;
            }
            unsigned values[kSlotsOfLane];
            if (count < kFew) {
                take_least(own, count, functions, values);
            } else {
                take_one_permutation(tokens + at, own, count, functions, lane, room, values);
            }
            use(first + s, count, values);
        }
    }
}
