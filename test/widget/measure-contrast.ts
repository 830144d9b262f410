/** Measures each text against the nearest opaque background behind it (WCAG 2.2, 1.4.3). */
export const MEASURE_CONTRAST = `(root) => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const pixel = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (color) => {
    const [r, g, b] = pixel(color).map((v) => v / 255).map((v) =>
      v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement ?? e.getRootNode().host) {
      const color = getComputedStyle(e).backgroundColor;
      if (pixel(color)[3] === 255) return color;
    }
    return "white";
  };
  return [...root.querySelectorAll("*")]
    .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .filter((e) => e.checkVisibility())
    .map((e) => {
      const [a, b] = [luminance(getComputedStyle(e).color), luminance(behind(e))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      return { text: e.textContent.slice(0, 40), ratio };
    });
}`;
