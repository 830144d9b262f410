/**
 * Makes the children of `parent` from number `from` on equal to `wanted`. A node that is the same
 * stays in its place, with its selection and its scroll position.
 */
export function replaceNodes(parent: Node, from: number, wanted: readonly Node[]): void {
  for (const [index, node] of wanted.entries()) {
    const present = parent.childNodes[from + index];
    if (!present) parent.appendChild(node);
    else replaceNode(present, node);
  }
  while (parent.childNodes.length > from + wanted.length) parent.lastChild?.remove();
}

function replaceNode(present: ChildNode, wanted: Node): void {
  if (present instanceof Text && wanted instanceof Text) {
    growText(present, wanted.data);
  } else if (isSame(present, wanted)) {
    replaceNodes(present, 0, [...wanted.childNodes]);
  } else {
    present.replaceWith(wanted);
  }
}

/** A text that grows keeps what it has, so that a selection in it lasts. */
function growText(present: Text, wanted: string): void {
  if (present.data === wanted) return;
  if (wanted.startsWith(present.data)) present.appendData(wanted.slice(present.length));
  else present.data = wanted;
}

function isSame(one: Node, other: Node): boolean {
  return one.cloneNode(false).isEqualNode(other.cloneNode(false));
}
