// A read's rows in the backward's order: the last row comes first, in its first lane.
//
// The backward is the forward of the reversed read with transposed transitions (docs/model.md). Folded (lanes.wgsl), its
// coefficients are those of the forward but for the extension of an insertion; those of deletions move by a row.

// needs host: K, EMITTED
// needs forward/emissions.wgsl: emissions
// needs forward/states.wgsl: Coefficients
// needs forward/tree_slots.wgsl: from_below_of
// gives: turn

// Lane `lane` is number `l` of its read's `lanes`. All lanes of the workgroup must call this. `below_at` is where
// `save_from_below` has put its numbers, with a barrier since.
fn turn(rows: ptr<function, Coefficients>, lane: u32, l: u32, lanes: u32, below_at: u32) {
    let is_first = l == 0u;
    let is_last = l + 1u == lanes;
    let mirror = lane - l + (lanes - 1u - l);
    // Coefficients take the way through the emissions of one letter, which registers hold meanwhile.
//#for k K
    let held$k = emissions[0][$k][lane];
//#end
    workgroupBarrier();
//#for k K
    if $ku + 1u < K || !is_last {
        emissions[0][($ku + 1u) % K][lane + ($ku + 1u) / K] = (*rows).from_deletion$k;
    }
//#end
    if is_first {
        emissions[0][0][lane] = 0.0;
    }
    workgroupBarrier();
//#for k K
    (*rows).from_deletion$k = emissions[0][K - 1u - $ku][mirror];
//#end
    workgroupBarrier();
//#for k K
    emissions[0][$k][lane] = (*rows).from_insertion$k;
//#end
    workgroupBarrier();
//#for k K
    (*rows).from_insertion$k = emissions[0][K - 1u - $ku][mirror];
    (*rows).extend_insertion$k = from_below_of(below_at, mirror, K - 1u - $ku);
//#end
    workgroupBarrier();
//#if VARYING
//#for k K
    if $ku + 1u < K || !is_last {
        emissions[0][($ku + 1u) % K][lane + ($ku + 1u) / K] = (*rows).extend_deletion$k;
    }
//#end
    if is_first {
        emissions[0][0][lane] = 0.0;
    }
    workgroupBarrier();
//#for k K
    (*rows).extend_deletion$k = emissions[0][K - 1u - $ku][mirror];
//#end
    workgroupBarrier();
//#end
//#for k K
    emissions[0][$k][lane] = held$k;
//#end
    workgroupBarrier();
    for (var letter = 0u; letter < EMITTED; letter++) {
//#for k K
        let turned$k = emissions[letter][K - 1u - $ku][mirror];
//#end
        workgroupBarrier();
//#for k K
        emissions[letter][$k][lane] = turned$k;
//#end
    }
}
