// The filter box: every word must occur, in any order, in upper or lower case.

export function matchesFilter(name: string, filter: string): boolean {
  const text = name.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
