// Positions on the map: groups of projections weighted and summed, then blended with neighbours.

// Weights that sum to 1; null where all are 0.
export function sharesOf(weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return total > 0 ? weights.map((weight) => weight / total) : null;
}

// The weighted sum of the projections, x and y in turn.
export function weightedPlaces(projections, shares) {
  const places = new Float32Array(2 * (projections[0]?.length ?? 0));
  projections.forEach((group, number) =>
    group.forEach(([x, y], sample) => {
      places[2 * sample] += shares[number] * x;
      places[2 * sample + 1] += shares[number] * y;
    }),
  );
  return places;
}

// Passes of y = (1 - alpha) start + alpha mean of the neighbours' y. A sample without neighbours stays where it starts.
export function blendedPlaces(start, { neighbours, offsets }, alpha, passes) {
  let places = start;
  for (let pass = 0; pass < passes; pass++) {
    const next = new Float32Array(start);
    for (let sample = 0; sample < offsets.length - 1; sample++) {
      const count = offsets[sample + 1] - offsets[sample];
      if (!count) continue;
      for (let axis = 0; axis < 2; axis++) {
        let sum = 0;
        for (let at = offsets[sample]; at < offsets[sample + 1]; at++) sum += places[2 * neighbours[at] + axis];
        next[2 * sample + axis] = (1 - alpha) * start[2 * sample + axis] + (alpha * sum) / count;
      }
    }
    places = next;
  }
  return places;
}
