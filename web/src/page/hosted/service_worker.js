// The hosted page offline: where the network fails, what it gave last serves. Nothing but the page's own files is kept.

const KEPT = "pairhmm";
const FILES = ["./", "pairhmm.webmanifest", "icon.svg"];
const addresses = FILES.map((file) => new URL(file, self.location.href).href);

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES)));
});

self.addEventListener("fetch", (event) => {
  if (addresses.includes(event.request.url)) event.respondWith(newest(event.request));
});

async function newest(request) {
  const cache = await caches.open(KEPT);
  try {
    const answer = await fetch(request);
    if (answer.ok) await cache.put(request, answer.clone());
    return answer;
  } catch (error) {
    const kept = await cache.match(request.url);
    if (kept) return kept;
    throw error;
  }
}
