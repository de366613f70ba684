// The data that the page carries: base64 of raw deflate, unpacked when it is asked for.

export async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(unpacked).arrayBuffer();
}

export async function loadReport() {
  const bytes = await unpack(document.getElementById("data").textContent);
  return JSON.parse(new TextDecoder().decode(bytes));
}

// Panels are lines of one text, because an element for each panel would cost more than its bytes.
let packedPanels = null;

export function panelBytes(number) {
  packedPanels ??= document.getElementById("panels").textContent.split("\n");
  return unpack(packedPanels[number]);
}
