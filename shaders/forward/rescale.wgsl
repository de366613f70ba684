// The states of a lane with an exponent (scaling.wgsl): their largest one, and from one exponent to another.

// import forward/states.wgsl: States
// import forward/scaling.wgsl: LEAST_EXPONENT, MOST_EXPONENT, power_of_two
// export: largest_state, rescale

fn largest_state(states: ptr<function, States>) -> f32 {
    var found = max((*states).below.x, (*states).below.y);
//#for k K
    found = max(found, max((*states).s$k, (*states).d$k));
//#end
    return found;
}

// Multiply all states by 2^change.
fn rescale(states: ptr<function, States>, change: i32) {
    let once = power_of_two(max(change, LEAST_EXPONENT));
//#for k K
    (*states).s$k *= once;
    (*states).d$k *= once;
//#end
    (*states).below *= once;
    // One factor alone may not be representable.
    if change < LEAST_EXPONENT || change > MOST_EXPONENT {
        let again = power_of_two(change - clamp(change, LEAST_EXPONENT, MOST_EXPONENT));
//#for k K
        (*states).s$k *= again;
        (*states).d$k *= again;
//#end
        (*states).below *= again;
    }
}
