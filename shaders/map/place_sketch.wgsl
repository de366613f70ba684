// The published signature of a sample's tokens, by a workgroup. `pairhmm/map/sketch/published.py` is its meaning.
//
// Method. An invocation has four slots. Fewer than FEW tokens: it hashes every token by the functions of its slots
// (k-hash). Otherwise it hashes tokens of its own by the first function, and minima of slots are kept in workgroup memory
// (one permutation); then it fills its empty slots, one after the other.
//
// WGSL has no products of 64 bits. With halves of 16 bits, a x = 2^32 H + 2^16 M + L, where 2^31 is 1 modulo 2^31 - 1.
// The comments of `hash` show that no sum is beyond 32 bits. That takes about 17 instructions. Outside of browsers, most
// devices have integers of 64 bits (INT64), with which it takes 5: a x + b is doubled, so that its bits from 31 on are
// the upper word of the product. The bits of signatures are the same.

// import host: PlaceParams, PRIME, SLOTS, FEW, WIDTH, TOGETHER
// export: params, OWN, Functions, functions_of, sketch, tokens_of

@group(0) @binding(0) var<uniform> params: PlaceParams;
@group(0) @binding(1) var<storage, read> given: array<u32>;  // tokens and offsets
@group(0) @binding(2) var<storage, read> table: array<vec2u>;  // a and b of each slot's function

const OWN = SLOTS / WIDTH;  // slots of an invocation, which follow each other
const NONE = 0xffffffffu;

var<workgroup> least: array<atomic<u32>, SLOTS>;
var<workgroup> filled: array<u32, SLOTS>;  // each by the invocation whose slot it is

//#if INT64
// Twice a and b, and a token.
struct Function {
    factor: u32,
    added: u32,
}

alias Token = u32;
//#else
// a = 2^16 high + low; twice the high half, which is what a product of two high halves is worth; and b.
struct Function {
    high: u32,
    low: u32,
    twice: u32,
    added: u32,
}

// The halves of a token.
struct Token {
    high: u32,
    low: u32,
}
//#end

struct Functions {
//#for i OWN_SLOTS
    own$i: Function,
//#end
    first: Function,
}

fn function_of(slot: u32) -> Function {
    let entry = table[slot];
//#if INT64
    return Function(2u * entry.x, 2u * entry.y);
//#else
    return Function(entry.x >> 16u, entry.x & 0xffffu, entry.x >> 16u << 1u, entry.y);
//#end
}

fn token_at(place: u32) -> Token {
//#if INT64
    return given[place];
//#else
    return Token(given[place] >> 16u, given[place] & 0xffffu);
//#end
}

fn functions_of(own: u32) -> Functions {
    var all: Functions;
//#for i OWN_SLOTS
    all.own$i = function_of(OWN * own + $iu);
//#end
    all.first = function_of(0u);
    return all;
}

// a x + b modulo 2^31 - 1.
fn hash(function: Function, token: Token) -> u32 {
//#if INT64
    let doubled = u64(function.factor) * u64(token) + u64(function.added);
    let value = u32(doubled >> 32u) + (u32(doubled) >> 1u);
//#else
    let bottom = function.low * token.low;
    let middle = function.high * token.low + (function.low * token.high + (bottom >> 16u));  // < 2^32 - 2^17
    let rest = ((middle & 0x7fffu) << 16u) | (bottom & 0xffffu);  // < 2^31
    let top = function.twice * token.high + (middle >> 15u) + function.added;  // < 2^32 - 4
    let folded = (top & PRIME) + (top >> 31u) + rest;  // < 2^32
    let value = (folded & PRIME) + (folded >> 31u);  // <= 2^31
//#end
    return min(value, value - PRIME);
}

// The slot that an empty slot asks for a value at an attempt: 1, 2, ...
fn donor(slot: u32, attempt: u32) -> u32 {
    var mixed = slot * 0x9E3779B9u + attempt * 0x85EBCA6Bu;
    mixed = (mixed ^ (mixed >> 16u)) * 0x7FEB352Du;
    mixed = (mixed ^ (mixed >> 15u)) * 0x846CA68Bu;
    return (mixed ^ (mixed >> 16u)) % SLOTS;
}

// Where a sample's tokens begin in `given`, and how many there are.
fn tokens_of(sample: u32) -> vec2u {
    let offset = given[params.offsets_at + sample];
    return vec2u(
        params.tokens_at + offset - given[params.offsets_at], given[params.offsets_at + sample + 1u] - offset
    );
}

// Values of the slots OWN * own and those behind it. All invocations of a workgroup have the same tokens.
fn sketch(tokens: vec2u, functions: Functions, own: u32) -> vec4u {
    var values = vec4u(PRIME);
    if tokens.y < FEW {
        // A last token that comes twice changes no minimum.
        for (var t = 0u; t < tokens.y; t += TOGETHER) {
//#for k TOGETHER
            let token$k = token_at(tokens.x + min(t + $ku, tokens.y - 1u));
//#end
//#for i OWN_SLOTS
//#for k TOGETHER
            values[$i] = min(values[$i], hash(functions.own$i, token$k));
//#end
//#end
        }
        return values;
    }
    workgroupBarrier();  // all are done with the sample before
//#for i OWN_SLOTS
    atomicStore(&least[OWN * own + $iu], NONE);
//#end
    workgroupBarrier();
    for (var t = own; t < tokens.y; t += WIDTH) {
        let value = hash(functions.first, token_at(tokens.x + t));
        atomicMin(&least[value / (PRIME / SLOTS + 1u)], value);
    }
    workgroupBarrier();
    let end = OWN * own + OWN;
    var slot = OWN * own;
    var attempt = 0u;
    while slot < end {
        var source = slot;
        if attempt > 0u {
            source = donor(slot, attempt);
        }
        let value = atomicLoad(&least[source]);
        attempt++;
        if value != NONE {
            filled[slot] = value;
            slot++;
            attempt = 0u;
        }
    }
//#for i OWN_SLOTS
    values[$i] = filled[OWN * own + $iu];
//#end
    return values;
}
