// Positions on the map: groups of projections weighted and summed, then blended with neighbours.

const WORKGROUP = 64;

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

// One thread a sample. Bindings: shares, projections (group after group), offsets, neighbours, and both ends of a pass.
const BLEND_WGSL = `
struct Settings { samples: u32, groups: u32, alpha: f32, starts: u32 }
@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> shares: array<f32>;
@group(0) @binding(2) var<storage, read> projections: array<vec2f>;
@group(0) @binding(3) var<storage, read> offsets: array<u32>;
@group(0) @binding(4) var<storage, read> neighbours: array<u32>;
@group(0) @binding(5) var<storage, read> places: array<vec2f>;
@group(0) @binding(6) var<storage, read_write> blended: array<vec2f>;

@compute @workgroup_size(${WORKGROUP})
fn blend(@builtin(global_invocation_id) id: vec3u) {
  let sample = id.x;
  if (sample >= settings.samples) { return; }
  var start = vec2f(0.0);
  for (var group = 0u; group < settings.groups; group++) {
    start += shares[group] * projections[group * settings.samples + sample];
  }
  let first = offsets[sample];
  let end = offsets[sample + 1u];
  if (settings.starts == 1u || first == end) {
    blended[sample] = start;
    return;
  }
  var sum = vec2f(0.0);
  for (var at = first; at < end; at++) { sum += places[neighbours[at]]; }
  blended[sample] = (1.0 - settings.alpha) * start + settings.alpha * sum / f32(end - first);
}
`;

// Blends on the browser's GPU. `null` where there is none that can be used.
export async function openGpuBlender(map) {
  try {
    const adapter = await navigator.gpu?.requestAdapter();
    const device = await adapter?.requestDevice();
    if (!device) return null;
    const module = device.createShaderModule({ code: BLEND_WGSL });
    const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module } });
    const { vendor, architecture, description } = adapter.info ?? {};
    const name = description || [vendor, architecture].filter(Boolean).join(" ") || "WebGPU";
    return { name, blend: (shares, alpha) => gpuBlend(device, pipeline, map, shares, alpha), lost: device.lost };
  } catch {
    return null;
  }
}

async function gpuBlend(device, pipeline, map, shares, alpha) {
  const samples = map.samples.length;
  const { STORAGE, COPY_SRC, COPY_DST, UNIFORM, MAP_READ } = GPUBufferUsage;
  const buffers = [];
  const held = (size, usage) => {
    const buffer = device.createBuffer({ size: Math.max(16, size), usage });
    buffers.push(buffer);
    return buffer;
  };
  const filled = (data, usage = STORAGE) => {
    const buffer = held(data.byteLength, usage | COPY_DST);
    if (data.byteLength) device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  };
  const settingsOf = (starts) => {
    const bytes = new DataView(new ArrayBuffer(16));
    [samples, map.groups.length].forEach((value, at) => bytes.setUint32(4 * at, value, true));
    bytes.setFloat32(8, alpha, true);
    bytes.setUint32(12, starts, true);
    return filled(bytes, UNIFORM);
  };
  try {
    const fixed = [
      Float32Array.from(shares),
      Float32Array.from(map.projections.flat(2)),
      Uint32Array.from(map.offsets),
      Uint32Array.from(map.neighbours),
    ].map((data) => filled(data));
    const ends = [0, 1].map(() => held(8 * samples, STORAGE | COPY_SRC));
    const [starting, passing] = [settingsOf(1), settingsOf(0)];
    const encoder = device.createCommandEncoder();
    for (let pass = 0; pass <= map.passes; pass++) {
      const entries = [pass ? passing : starting, ...fixed, ends[(pass + 1) % 2], ends[pass % 2]];
      const turn = encoder.beginComputePass();
      turn.setPipeline(pipeline);
      turn.setBindGroup(
        0,
        device.createBindGroup({
          layout: pipeline.getBindGroupLayout(0),
          entries: entries.map((buffer, binding) => ({ binding, resource: { buffer } })),
        }),
      );
      turn.dispatchWorkgroups(Math.ceil(samples / WORKGROUP));
      turn.end();
    }
    const read = held(8 * samples, MAP_READ | COPY_DST);
    encoder.copyBufferToBuffer(ends[map.passes % 2], 0, read, 0, 8 * samples);
    device.queue.submit([encoder.finish()]);
    await read.mapAsync(GPUMapMode.READ);
    return new Float32Array(read.getMappedRange().slice(0, 8 * samples));
  } finally {
    buffers.forEach((buffer) => buffer.destroy());
  }
}
