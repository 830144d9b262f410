/**
 * Replaces what an element shows, and keeps what the reader has there: the focus, the text of a
 * field, the choice of a form, and the place of a scroller. Things are the same when they have the
 * same `data-key`.
 */
export function replaceKeeping(target: HTMLElement, nodes: readonly Node[]): void {
  const isSame = (node: Node, at: number): boolean => node === target.childNodes[at];
  // What keeps itself up to date stays, with what the reader holds there.
  if (nodes.length > 0 && nodes.length === target.childNodes.length && nodes.every(isSame)) return;
  const root = target.getRootNode();
  const active = root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
  const focused = target.contains(active) ? keyOf(active) : undefined;
  const before = [...target.querySelectorAll<HTMLElement>("[data-key]")].map((element) => ({
    element,
    key: keyOf(element),
    left: element.scrollLeft,
  }));
  const { scrollTop } = target;
  target.replaceChildren(...nodes);
  target.scrollTop = scrollTop;
  for (const { element, key, left } of before) {
    const now = key === undefined ? undefined : findByKey(target, key);
    if (!now) continue;
    now.scrollLeft = left;
    // What is drafted was drawn with its text; see drafts.ts.
    const isDrafted = "drafted" in now.dataset;
    if (!isDrafted && isField(element) && isField(now)) now.value = element.value;
    if (!isDrafted && isChoice(element) && isChoice(now)) keepChoice(element.value, now);
    if (key !== focused) continue;
    now.focus({ preventScroll: true });
    if (isField(element) && isField(now)) {
      now.setSelectionRange(element.selectionStart, element.selectionEnd);
    }
  }
}

function keyOf(element: Element | null): string | undefined {
  return element instanceof HTMLElement ? element.dataset["key"] : undefined;
}

function findByKey(target: HTMLElement, key: string): HTMLElement | undefined {
  return [...target.querySelectorAll<HTMLElement>("[data-key]")].find(
    (element) => element.dataset["key"] === key,
  );
}

function isField(element: Element): element is HTMLInputElement | HTMLTextAreaElement {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
}

/** A choice outside a form is a filter: the address holds it, and it is drawn with its value. */
function isChoice(element: Element): element is HTMLSelectElement {
  return element instanceof HTMLSelectElement && element.form !== null;
}

/** Chooses a value where it can still be chosen. */
function keepChoice(value: string, select: HTMLSelectElement): void {
  if ([...select.options].some((option) => option.value === value)) select.value = value;
}
