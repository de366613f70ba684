// Boxes that scroll can be focused, so that arrow keys scroll them. Those that do not scroll are no stop of the Tab key.

export function focusScrollers(root) {
  let isDue = false;
  const check = () => {
    isDue = false;
    for (const box of root.querySelectorAll(".wide")) {
      const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  const ask = () => {
    if (!isDue) requestAnimationFrame(check);
    isDue = true;
  };
  new MutationObserver(ask).observe(root, { childList: true, subtree: true, attributeFilter: ["open", "hidden"] });
  window.addEventListener("resize", ask);
}
