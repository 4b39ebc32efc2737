// How far an element is scrolled and how much of it is in sight, as a Preact hook.

import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

interface Scrolled {
  readonly top: number;
  readonly height: number;
}

/** In CSS pixels; both are 0 before the first layout. A hidden tab keeps its last height. */
export function useScroll(ref: RefObject<HTMLElement | null>): Scrolled {
  const [scrolled, setScrolled] = useState<Scrolled>({ top: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const measure = (): void => {
      const { scrollTop: top, clientHeight: height } = element;
      setScrolled((old) => (height === 0 || (old.top === top && old.height === height) ? old : { top, height }));
    };
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, [ref]);
  return scrolled;
}
