// Tests which pictures there are, and which of them is the start.

import { expect, it } from "vitest";
import { allPictures, pictureAt, startPicture } from "./pictures";

const picture = (step: number, key = `picture ${step}`) => ({ step, wall_time: 100 + step, key });
const list = { snapshots: [picture(10), picture(20)], first: picture(0), notes: [] };

it("allPictures has the first picture once", () => {
  expect(allPictures(list).map(({ step }) => step)).toEqual([0, 10, 20]);
  expect(allPictures({ ...list, first: picture(10, "first") }).map(({ key }) => key)).toEqual(["picture 10", "picture 20"]);
  expect(allPictures(undefined)).toEqual([]);
});

it("startPicture is the run's first record, whatever pictures stand before it", () => {
  expect(startPicture({ ...list, first: picture(10, "first") })?.key).toBe("first");
  expect(startPicture({ ...list, first: picture(15, "first") })?.key).toBe("first");
  expect(startPicture({ ...list, first: null })?.key).toBe("picture 10");
  expect(startPicture(undefined)).toBeUndefined();
});

it("pictureAt takes the last one at or before the step", () => {
  expect(pictureAt(list.snapshots, 19)?.step).toBe(10);
  expect(pictureAt(list.snapshots, 3)?.step).toBe(10);
  expect(pictureAt(list.snapshots, undefined)).toBeUndefined();
  expect(pictureAt([], 3)).toBeUndefined();
});
