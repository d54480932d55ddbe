"use strict";
(() => {
  const view = document.getElementById("view");
  const svg = view.querySelector("svg");
  const about = document.getElementById("about");
  const size = { w: svg.viewBox.baseVal.width, h: svg.viewBox.baseVal.height };
  let x = 0, y = 0, scale = 1, chosen = null, hold = null, moved = false;

  const show = () => { svg.style.transform = `translate(${x}px, ${y}px) scale(${scale})`; };
  const fit = () => {
    const { clientWidth: w, clientHeight: h } = view;
    scale = Math.min(w / size.w, h / size.h, 1.5);
    x = (w - size.w * scale) / 2;
    y = Math.max(0, (h - size.h * scale) / 2);
    show();
  };
  const zoom = (by, cx = view.clientWidth / 2, cy = view.clientHeight / 2) => {
    const to = Math.min(8, Math.max(0.02, scale * by));
    x = cx - (cx - x) * to / scale;
    y = cy - (cy - y) * to / scale;
    scale = to;
    show();
  };
  // A node that is reached by the keyboard is brought into sight.
  const reveal = (node) => {
    const at = node.getBoundingClientRect(), frame = view.getBoundingClientRect();
    if (at.left < frame.left || at.right > frame.right) x += frame.left + frame.width / 2 - (at.left + at.right) / 2;
    if (at.top < frame.top || at.bottom > frame.bottom) y += frame.top + frame.height / 2 - (at.top + at.bottom) / 2;
    show();
  };
  const close = () => {
    if (!chosen) return;
    chosen.classList.remove("chosen");
    chosen.setAttribute("aria-expanded", "false");
    chosen.focus();
    chosen = null;
    about.hidden = true;
  };
  const open = (node) => {
    const text = document.getElementById("about-" + node.id);
    if (!text) return;
    if (chosen) { chosen.classList.remove("chosen"); chosen.setAttribute("aria-expanded", "false"); }
    for (const other of about.querySelectorAll("section")) other.hidden = other !== text;
    about.hidden = false;
    about.scrollTop = 0;
    chosen = node;
    node.classList.add("chosen");
    node.setAttribute("aria-expanded", "true");
    reveal(node);
  };
  for (const node of svg.querySelectorAll(".node")) {
    const title = node.querySelector("title");
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    node.setAttribute("aria-expanded", "false");
    node.setAttribute("aria-label", title ? title.textContent : node.id);
    node.addEventListener("focus", () => reveal(node));
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(node); }
    });
  }
  view.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = view.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - at.left, event.clientY - at.top);
  }, { passive: false });
  view.addEventListener("pointerdown", (event) => {
    hold = { x: event.clientX - x, y: event.clientY - y, fromX: event.clientX, fromY: event.clientY };
    moved = false;
  });
  window.addEventListener("pointermove", (event) => {
    if (!hold) return;
    if (Math.hypot(event.clientX - hold.fromX, event.clientY - hold.fromY) > 4) moved = true;
    if (!moved) return;
    view.classList.add("held");
    x = event.clientX - hold.x;
    y = event.clientY - hold.y;
    show();
  });
  window.addEventListener("pointerup", () => { hold = null; view.classList.remove("held"); });
  view.addEventListener("click", (event) => {
    if (moved) return;
    const node = event.target.closest(".node");
    if (node) open(node);
  });
  const theme = (name) => { document.documentElement.dataset.theme = name; };
  const dark = () => document.documentElement.dataset.theme === "dark";
  theme(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const acts = { in: () => zoom(1.25), out: () => zoom(0.8), fit, close, theme: () => theme(dark() ? "light" : "dark") };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button) acts[button.dataset.do]();
    const link = event.target.closest("[data-node]");
    const node = link && document.getElementById(link.dataset.node);
    if (node) { open(node); node.focus(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || about.contains(event.target) && event.key !== "Escape") return;
    const step = 60;
    const keys = {
      "+": acts.in, "=": acts.in, "-": acts.out, "0": fit, Escape: close,
      ArrowLeft: () => { x += step; show(); }, ArrowRight: () => { x -= step; show(); },
      ArrowUp: () => { y += step; show(); }, ArrowDown: () => { y -= step; show(); },
    };
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  window.addEventListener("resize", fit);
  fit();
})();
