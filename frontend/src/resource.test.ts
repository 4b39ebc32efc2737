// Tests what a fetched value is while it is loading, ready, failed and asked anew.

import { expect, it } from "vitest";
import { resource } from "./resource";

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

it("keeps the value of the same question while it is asked again", async () => {
  const numbers = resource<number>();
  expect(numbers.state.value).toEqual({ loading: false });
  numbers.load("a", () => Promise.resolve(1));
  expect(numbers.state.value).toEqual({ loading: true, value: undefined });
  await settled();
  expect(numbers.state.value).toEqual({ loading: false, value: 1 });
  numbers.load("a", () => Promise.resolve(2));
  expect(numbers.state.value).toEqual({ loading: true, value: 1 });
  numbers.load("b", () => Promise.resolve(3));
  expect(numbers.state.value).toEqual({ loading: true, value: undefined });
});

it("takes no answer to an old question", async () => {
  const numbers = resource<number>();
  let answerLate: (value: number) => void = () => undefined;
  let aborted = false;
  numbers.load("slow", (signal) => {
    signal.addEventListener("abort", () => (aborted = true));
    return new Promise((resolve) => (answerLate = resolve));
  });
  numbers.load("fast", () => Promise.resolve(2));
  answerLate(1);
  await settled();
  expect(aborted).toBe(true);
  expect(numbers.state.value.value).toBe(2);
});

it("says what failed, and asks again on demand", async () => {
  const numbers = resource<number>();
  let attempts = 0;
  numbers.load("a", () => {
    attempts += 1;
    return attempts === 1 ? Promise.reject(new Error("Not found: no such run.")) : Promise.resolve(5);
  });
  await settled();
  expect(numbers.state.value).toEqual({ loading: false, value: undefined, error: "Not found: no such run." });
  numbers.retry();
  await settled();
  expect(numbers.state.value).toEqual({ loading: false, value: 5 });
  numbers.clear();
  expect(numbers.state.value).toEqual({ loading: false });
});

it("answers with what is at hand at once, and forgets what is still on its way", async () => {
  const numbers = resource<number>();
  let answerLate: (value: number) => void = () => undefined;
  numbers.load("slow", () => new Promise((resolve) => (answerLate = resolve)));
  numbers.answer("known", 2, () => Promise.resolve(3));
  expect(numbers.state.value).toEqual({ loading: false, value: 2 });
  answerLate(1);
  await settled();
  expect(numbers.state.value).toEqual({ loading: false, value: 2 });
  numbers.retry();
  await settled();
  expect(numbers.state.value.value).toBe(3);
});
