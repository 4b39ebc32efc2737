// Sizes of elements and of the frame, as Preact hooks.

import { useLayoutEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** The element's width in CSS pixels; 0 before the first layout. A hidden tab keeps its last width. */
export function useWidth(ref: RefObject<Element | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const measure = (): void => {
      if (element.clientWidth > 0) setWidth(element.clientWidth);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}

/** Whether the element has been in sight. */
export function useSeen(ref: RefObject<Element | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element || isSeen) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref, isSeen]);
  return isSeen;
}

/** The frame's height; a hidden tab has none and keeps its last. */
export function useFrameHeight(): number {
  const [height, setHeight] = useState(window.innerHeight);
  useLayoutEffect(() => {
    const measure = (): void => {
      if (window.innerHeight > 0) setHeight(window.innerHeight);
    };
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, []);
  return height;
}
