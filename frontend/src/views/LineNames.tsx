// The names of a chart's lines, at their ends to the right of the plot.

import { shareOf, type Span } from "../model/figure";
import { spreadApart } from "../model/labels";
import { Swatch } from "./parts";

export interface LineName {
  readonly key: string;
  readonly text: string;
  readonly colour: string;
  /** Where the line ends on the axis; the bottom where it is nowhere. */
  readonly end: number | null;
  readonly bold?: boolean;
  /** What a click does, in words and in deed. */
  readonly title?: string;
  readonly onPick?: () => void;
}

interface Props {
  readonly names: readonly LineName[];
  /** What the names name, where that is not plain. */
  readonly heading?: string;
  readonly yRange: Span;
  /** Of the plot, in pixels. */
  readonly height: number;
}

const LINE_HEIGHT = 17;

export function LineNames({ names, heading, yRange, height }: Props) {
  const ends = names.map(({ end }) => 1 - shareOf(yRange, end ?? yRange[0]));
  const places = spreadApart(ends, LINE_HEIGHT / height, 0, 1);
  return (
    <>
      {heading && (
        <span class="line-name heading" style={{ top: `${100 * (Math.min(...places) - LINE_HEIGHT / height)}%` }}>
          {heading}
        </span>
      )}
      {names.map(({ key, text, colour, bold, title, onPick }, index) => {
        const shared = {
          class: bold ? "line-name bold" : "line-name",
          style: { top: `${100 * (places[index] ?? 0)}%` },
          "data-testid": `line-name-${key}`,
        };
        return onPick ? (
          <button key={key} type="button" title={title} onClick={onPick} {...shared}>
            <Swatch gate={key} colour={colour} />
            {text}
          </button>
        ) : (
          <span key={key} {...shared}>
            <Swatch gate={key} colour={colour} />
            {text}
          </span>
        );
      })}
    </>
  );
}
