// Layer ids as a tree of their components, for the list at the side.

export interface TreeNode {
  /** The components that this node adds, joined by " / ". */
  readonly label: string;
  /** The layer that this node is; null for a group. */
  readonly layer: string | null;
  readonly children: readonly TreeNode[];
}

interface Branch {
  layer: string | null;
  readonly children: Map<string, Branch>;
}

/** Ids keep their order. A group with a single entry is joined with it: encoder / rnn. */
export function layerTree(ids: readonly string[]): TreeNode[] {
  const root: Branch = { layer: null, children: new Map() };
  for (const id of ids) {
    let branch = root;
    for (const component of id.split("/")) {
      const next = branch.children.get(component) ?? { layer: null, children: new Map<string, Branch>() };
      branch.children.set(component, next);
      branch = next;
    }
    branch.layer = id;
  }
  return nodes(root);
}

/** The ids from top to bottom as the tree shows them. */
export function treeOrder(tree: readonly TreeNode[]): string[] {
  return tree.flatMap((node) => [...(node.layer === null ? [] : [node.layer]), ...treeOrder(node.children)]);
}

/** One line of the tree as it is drawn. */
export interface TreeLine {
  /** Its labels from the root on. */
  readonly key: string;
  readonly label: string;
  readonly layer: string | null;
  readonly depth: number;
  readonly hasChildren: boolean;
  readonly isFolded: boolean;
}

/** The lines from top to bottom, without what is below a folded one. */
export function treeLines(tree: readonly TreeNode[], folded: ReadonlySet<string>, depth = 0, prefix = ""): TreeLine[] {
  return tree.flatMap(({ label, layer, children }) => {
    const key = `${prefix}${label}/`;
    const hasChildren = children.length > 0;
    const isFolded = hasChildren && folded.has(key);
    const line = { key, label, layer, depth, hasChildren, isFolded };
    return isFolded ? [line] : [line, ...treeLines(children, folded, depth + 1, key)];
  });
}

function nodes(branch: Branch): TreeNode[] {
  return Array.from(branch.children, ([component, child]) => node(component, child));
}

function node(label: string, branch: Branch): TreeNode {
  const [only] = branch.children;
  if (branch.layer === null && branch.children.size === 1 && only) return node(`${label} / ${only[0]}`, only[1]);
  return { label, layer: branch.layer, children: nodes(branch) };
}
