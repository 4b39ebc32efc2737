// Draws a part of the page as it stands there onto a canvas of its own, twice as fine, for a file.

const SCALE = 2;
const MARGIN = 16;
const LINE = 20;
/** What only a pointer needs. */
const LEFT_OUT = ".tooltip, .help, .exports, script, style";

/** The element as it is drawn, below lines that say what it is of. */
export function pictureOf(element: HTMLElement, lines: readonly string[]): HTMLCanvasElement {
  const box = element.getBoundingClientRect();
  const { color, backgroundColor, fontFamily } = getComputedStyle(document.body);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil((box.width + 2 * MARGIN) * SCALE);
  canvas.height = Math.ceil((box.height + 2 * MARGIN + LINE * lines.length) * SCALE);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser gives no canvas to draw on.");
  context.fillStyle = backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(SCALE, SCALE);
  context.fillStyle = color;
  context.font = `13px ${fontFamily}`;
  lines.forEach((text, index) => context.fillText(text, MARGIN, MARGIN + LINE * (index + 0.7), box.width));
  context.translate(MARGIN - box.left, MARGIN + LINE * lines.length - box.top);
  paint(context, element);
  return canvas;
}

function paint(context: CanvasRenderingContext2D, element: Element): void {
  if (element.matches(LEFT_OUT)) return;
  const style = getComputedStyle(element);
  // Also what a closed <details> holds.
  if (!element.checkVisibility({ visibilityProperty: true }) || style.clipPath !== "none") return;
  const box = element.getBoundingClientRect();
  context.save();
  context.globalAlpha *= Number(style.opacity);
  if (element instanceof SVGElement && !(element instanceof SVGSVGElement)) paintShape(context, element, style);
  else paintBox(context, box, style);
  if (style.overflowX !== "visible" && !(element instanceof SVGElement)) {
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
  }
  if (element instanceof HTMLCanvasElement) {
    // The pixels of a matrix are its entries; those of lines are not.
    context.imageSmoothingEnabled = element.closest(".heatmap") === null;
    if (element.width > 0 && element.height > 0) context.drawImage(element, box.left, box.top, box.width, box.height);
  } else if (element instanceof HTMLSelectElement) {
    write(context, element.selectedOptions[0]?.text ?? "", box.left + 6, box, style);
  } else {
    paintBefore(context, element, box);
    for (const child of element.childNodes) {
      if (child instanceof Element) paint(context, child);
      else if (child instanceof Text && element instanceof SVGTextContentElement) paintTurnedText(context, element, child.data, style);
      else if (child instanceof Text) paintText(context, child, style);
    }
  }
  context.restore();
}

function paintBox(context: CanvasRenderingContext2D, box: DOMRect, style: CSSStyleDeclaration): void {
  const radius = Number.parseFloat(style.borderTopLeftRadius) * (style.borderTopLeftRadius.endsWith("%") ? box.width / 100 : 1);
  context.beginPath();
  context.roundRect(box.left, box.top, box.width, box.height, Math.min(radius || 0, box.width / 2, box.height / 2));
  context.fillStyle = style.backgroundColor;
  context.fill();
  const colours = style.backgroundImage.match(/rgba?\([^)]*\)/g);
  if (colours && style.backgroundImage.startsWith("linear-gradient")) {
    const bar = context.createLinearGradient(box.left, 0, box.right, 0);
    colours.forEach((colour, index) => bar.addColorStop(colours.length > 1 ? index / (colours.length - 1) : 0, colour));
    context.fillStyle = bar;
    context.fill();
  } else if (colours) {
    paintStripes(context, box, colours);
  }
  paintBorders(context, box, style);
  for (const shadow of style.boxShadow.match(/rgba?\([^)]*\)[^,]*/g) ?? []) paintRing(context, box, shadow);
}

function paintStripes(context: CanvasRenderingContext2D, box: DOMRect, colours: readonly string[]): void {
  context.save();
  context.clip();
  context.fillStyle = colours[0] ?? "";
  context.fillRect(box.left, box.top, box.width, box.height);
  context.strokeStyle = colours.at(-1) ?? "";
  context.lineWidth = 1;
  context.beginPath();
  for (let x = -box.height; x < box.width; x += 5.6) {
    context.moveTo(box.left + x, box.bottom);
    context.lineTo(box.left + x + box.height, box.top);
  }
  context.stroke();
  context.restore();
}

function paintBorders(context: CanvasRenderingContext2D, { left, top, right, bottom }: DOMRect, style: CSSStyleDeclaration): void {
  const sides = [
    ["top", left, top, right, top],
    ["right", right, top, right, bottom],
    ["bottom", left, bottom, right, bottom],
    ["left", left, top, left, bottom],
  ] as const;
  for (const [side, x1, y1, x2, y2] of sides) {
    const width = Number.parseFloat(style.getPropertyValue(`border-${side}-width`));
    const kind = style.getPropertyValue(`border-${side}-style`);
    if (!(width > 0) || kind === "none") continue;
    const inside = (width / 2) * (side === "top" || side === "left" ? 1 : -1);
    const [dx, dy] = side === "left" || side === "right" ? [inside, 0] : [0, inside];
    context.strokeStyle = style.getPropertyValue(`border-${side}-color`);
    context.lineWidth = width;
    context.setLineDash(kind === "dashed" ? [3 * width, 2 * width] : []);
    context.beginPath();
    context.moveTo(x1 + dx, y1 + dy);
    context.lineTo(x2 + dx, y2 + dy);
    context.stroke();
  }
  context.setLineDash([]);
}

/** A shadow without blur, as the cross-hair has: a line around the box. */
function paintRing(context: CanvasRenderingContext2D, box: DOMRect, shadow: string): void {
  const colour = /rgba?\([^)]*\)/.exec(shadow)?.[0] ?? "";
  const [x, y, blur, spread = 0] = Array.from(shadow.replace(colour, "").matchAll(/-?[\d.]+(?=px)/g), Number);
  if (x || y || blur || !spread) return;
  const out = (shadow.includes("inset") ? -spread : spread) / 2;
  context.strokeStyle = colour;
  context.lineWidth = spread;
  context.strokeRect(box.left - out, box.top - out, box.width + 2 * out, box.height + 2 * out);
}

function paintShape(context: CanvasRenderingContext2D, element: SVGElement, style: CSSStyleDeclaration): void {
  if (!(element instanceof SVGGeometryElement)) return;
  const matrix = element.getScreenCTM();
  if (!matrix) return;
  const path = new Path2D();
  path.addPath(outline(element), matrix);
  if (style.fill !== "none") {
    context.save();
    context.globalAlpha *= Number(style.fillOpacity);
    context.fillStyle = style.fill;
    context.fill(path);
    context.restore();
  }
  if (style.stroke === "none") return;
  context.strokeStyle = style.stroke;
  context.lineWidth = Number.parseFloat(style.strokeWidth);
  context.setLineDash(style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(/[ ,]+/).map(Number.parseFloat));
  context.stroke(path);
}

function outline(element: SVGGeometryElement): Path2D {
  const at = (name: string): number => Number(element.getAttribute(name) ?? 0);
  if (element instanceof SVGPathElement) return new Path2D(element.getAttribute("d") ?? "");
  const path = new Path2D();
  if (element instanceof SVGCircleElement) path.arc(at("cx"), at("cy"), at("r"), 0, 2 * Math.PI);
  else if (element instanceof SVGRectElement) path.rect(at("x"), at("y"), at("width"), at("height"));
  else if (element instanceof SVGLineElement) {
    path.moveTo(at("x1"), at("y1"));
    path.lineTo(at("x2"), at("y2"));
  } else if (element instanceof SVGPolylineElement || element instanceof SVGPolygonElement) {
    for (const { x, y } of element.points) path.lineTo(x, y);
    if (element instanceof SVGPolygonElement) path.closePath();
  }
  return path;
}

/** The text that a style sheet puts before an element. */
function paintBefore(context: CanvasRenderingContext2D, element: Element, box: DOMRect): void {
  const style = getComputedStyle(element, "::before");
  const text = /^"(.*)"$/.exec(style.content)?.[1];
  const first = element.getClientRects()[0] ?? box;
  if (text) write(context, text, first.left, first, style);
}

/** Text in an SVG may be turned. */
function paintTurnedText(context: CanvasRenderingContext2D, element: SVGTextContentElement, text: string, style: CSSStyleDeclaration): void {
  const matrix = element.getScreenCTM();
  if (!matrix || text.trim() === "") return;
  const { x, y } = element.getStartPositionOfChar(0);
  context.save();
  context.transform(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f);
  context.font = fontOf(style);
  context.fillStyle = style.fill;
  context.fillText(text, x, y);
  context.restore();
}

function fontOf(style: CSSStyleDeclaration): string {
  return `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
}

function paintText(context: CanvasRenderingContext2D, node: Text, style: CSSStyleDeclaration): void {
  const range = document.createRange();
  const lines: { text: string; box: DOMRect }[] = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+\s*|^\s+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getClientRects()[0];
    const last = lines.at(-1);
    if (!box) continue;
    if (last && Math.abs(last.box.top - box.top) < 1) last.text += word;
    else lines.push({ text: word, box });
  }
  for (const { text, box } of lines) write(context, text.trimEnd(), box.left, box, style);
}

function write(context: CanvasRenderingContext2D, text: string, x: number, box: DOMRect, style: CSSStyleDeclaration): void {
  context.font = fontOf(style);
  context.fillStyle = style.color;
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = context.measureText(text);
  context.fillText(text, x, box.top + (box.height - above - below) / 2 + above);
}
