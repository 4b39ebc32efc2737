// Tests the tree that is made of layer ids.

import { expect, it } from "vitest";
import { layerTree, treeOrder } from "./tree";

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
