// Tests the tree that is made of layer ids.

import { expect, it } from "vitest";
import { layerTree, treeLines, treeOrder } from "./tree";

it("puts layers below their components and joins what has one entry", () => {
  const tree = layerTree(["encoder/rnn/layer_0/forward", "encoder/rnn/layer_0/backward", "gru_0"]);
  expect(tree).toEqual([
    {
      label: "encoder / rnn / layer_0",
      layer: null,
      children: [
        { label: "forward", layer: "encoder/rnn/layer_0/forward", children: [] },
        { label: "backward", layer: "encoder/rnn/layer_0/backward", children: [] },
      ],
    },
    { label: "gru_0", layer: "gru_0", children: [] },
  ]);
  expect(treeOrder(tree)).toEqual(["encoder/rnn/layer_0/forward", "encoder/rnn/layer_0/backward", "gru_0"]);
});

it("keeps a layer that is also the parent of another", () => {
  const tree = layerTree(["a", "a/b"]);
  expect(tree).toEqual([{ label: "a", layer: "a", children: [{ label: "b", layer: "a/b", children: [] }] }]);
  expect(treeOrder(tree)).toEqual(["a", "a/b"]);
});

it("lists its lines, and none below a folded group", () => {
  const tree = layerTree(["encoder/a", "encoder/b/c", "decoder"]);
  const lines = treeLines(tree, new Set());
  expect(lines.map(({ label, depth, layer }) => [label, depth, layer])).toEqual([
    ["encoder", 0, null],
    ["a", 1, "encoder/a"],
    ["b / c", 1, "encoder/b/c"],
    ["decoder", 0, "decoder"],
  ]);
  const folded = treeLines(tree, new Set([lines[0]?.key ?? ""]));
  expect(folded.map(({ label, isFolded, hasChildren }) => [label, isFolded, hasChildren])).toEqual([
    ["encoder", true, true],
    ["decoder", false, false],
  ]);
});
