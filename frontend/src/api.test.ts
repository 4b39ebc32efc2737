// Tests how the routes are asked, and what becomes of answers that are errors.

import { afterEach, expect, it, vi } from "vitest";
import { fetchHealth, fetchRuns, fetchScalars } from "./api";

const signal = new AbortController().signal;

function answer(body: string, init: ResponseInit = {}): ReturnType<typeof vi.fn> {
  const fetched = vi.fn(() => Promise.resolve(new Response(body, init)));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

afterEach(() => vi.unstubAllGlobals());

it("asks relative to the page and encodes names", async () => {
  const fetched = answer('[[0, 1.5, "NaN"], [1, 2.5, "-Infinity"], [2, 3.5, 4]]');
  const points = await fetchScalars("a b/é#1%&x", "loss", signal);
  expect(fetched.mock.calls[0]?.[0]).toBe("./scalars?run=a+b%2F%C3%A9%231%25%26x&tag=loss");
  expect(points).toEqual([
    [0, 1.5, NaN],
    [1, 2.5, -Infinity],
    [2, 3.5, 4],
  ]);
});

it("passes on the server's own sentence", async () => {
  answer("Not found: There is no run 'x'.", { status: 404, headers: { "Content-Type": "text/plain; charset=utf-8" } });
  await expect(fetchHealth("x", signal)).rejects.toThrow("Not found: There is no run 'x'.");
});

it("does not show a page of HTML as a sentence", async () => {
  answer("<h1>Internal Server Error</h1>", { status: 500, headers: { "Content-Type": "text/html" } });
  await expect(fetchRuns(signal)).rejects.toThrow('TensorBoard answered 500 for "runs"; its terminal may say why.');
});

it("says that nobody answers, but not when the question was taken back", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  await expect(fetchRuns(signal)).rejects.toThrow("TensorBoard does not answer. Is it still running?");
  vi.stubGlobal("fetch", () => Promise.reject(new DOMException("gone", "AbortError")));
  await expect(fetchRuns(signal)).rejects.toThrow("gone");
});
