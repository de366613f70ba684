// A lane's states, from its exponent to `renewed`.
let change = exponent - renewed;
let once = power_of_two(max(change, LEAST_EXPONENT));
//#for k K
s$k *= once;
d$k *= once;
//#end
below *= once;
// One factor alone may not be representable.
if change < LEAST_EXPONENT || change > MOST_EXPONENT {
    let again = power_of_two(change - clamp(change, LEAST_EXPONENT, MOST_EXPONENT));
//#for k K
    s$k *= again;
    d$k *= again;
//#end
    below *= again;
}
exponent = renewed;
