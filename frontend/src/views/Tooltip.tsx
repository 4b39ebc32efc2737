// The exact values under the pointer.

import { Swatch } from "./parts";

export interface TooltipLine {
  readonly key: string;
  readonly name: string;
  readonly value: string;
  /** What the value was made of, on a line of its own. */
  readonly made?: string;
  readonly current?: boolean;
  /** Where the name is not that of a gate or state. */
  readonly colour?: string;
}

export interface TooltipContent {
  readonly title: string;
  readonly lines: readonly TooltipLine[];
  readonly more?: readonly string[];
}

interface Props {
  readonly content: TooltipContent;
  readonly x: number;
  readonly y: number;
}

const WIDTH = 250;
const DISTANCE = 16;
/** Two lines of title, and the border; then one line each. */
const HEADER = 54;
const LINE = 19;

export function Tooltip({ content, x, y }: Props) {
  const made = content.lines.filter((line) => line.made).length;
  const height = HEADER + LINE * (content.lines.length + made + (content.more?.length ?? 0));
  const left = x + DISTANCE + WIDTH > window.innerWidth ? x - DISTANCE - WIDTH : x + DISTANCE;
  const top = Math.max(4, Math.min(y + DISTANCE, window.innerHeight - height - 4));
  return (
    <div class="tooltip" role="status" style={{ left: `${left}px`, top: `${top}px`, width: `${WIDTH}px` }} data-testid="tooltip">
      <strong data-testid="tooltip-title">{content.title}</strong>
      <dl>
        {content.lines.map(({ key, name, value, made: parts, current, colour }) => (
          <div key={key} class={current ? "current" : ""}>
            <dt>
              <Swatch gate={key} colour={colour} />
              {name}
            </dt>
            <dd data-testid={`tooltip-${key}`}>{value}</dd>
            {parts && (
              <dd class="made" data-testid={`tooltip-made-${key}`}>
                {parts}
              </dd>
            )}
          </div>
        ))}
      </dl>
      {content.more?.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}
