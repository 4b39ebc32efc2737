// The columns of the weights panel, with exact values under the pointer.

import { useMemo, useRef, useState } from "preact/hooks";
import type { WeightsHeader } from "../api";
import type { Cell } from "../heatmap";
import { count, exact, short } from "../model/format";
import { weightHeight, weightsWidth } from "../model/layout";
import { valueAt, weightMatrix } from "../model/matrix";
import { blockNumber, drawnColumns, shownColumns, sharedRange } from "../model/weightMaps";
import type { WeightBlock, WeightColumn } from "../model/weights";
import type { Payload } from "../safetensors";
import { asked } from "../selection";
import { series } from "../state";
import { Heatmap } from "./Heatmap";
import { useWidth } from "./hooks";
import { ColourBar, Facts, Swatch } from "./parts";
import { Tooltip, type TooltipContent } from "./Tooltip";

const GAP = 18;
const TALLEST = 240;
const TALLEST_ALONE = 520;

type Snapshot = Payload<WeightsHeader>;

interface Props {
  readonly now: Snapshot;
  /** Where given, the difference from it is drawn. */
  readonly before?: Snapshot;
}

interface Pointer {
  readonly block: WeightBlock;
  readonly cell: Cell;
  readonly x: number;
  readonly y: number;
}

export function WeightMaps({ now, before }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const statistics = series.weights.value;
  const columns = useMemo(() => shownColumns(now, before), [now, before]);
  const range = useMemo(() => sharedRange(columns, before ? undefined : statistics), [columns, before, statistics]);
  const drawn = drawnColumns(columns, asked.gate.value);
  const unitsKept = Math.max(...drawn.flatMap(({ blocks }) => blocks.map(({ matrix }) => matrix.columns)));
  const columnWidth = weightsWidth((width + GAP) / drawn.length - GAP, unitsKept);

  return (
    <>
      <div class="weights" ref={container} style={{ gridTemplateColumns: `repeat(${drawn.length}, minmax(0, ${columnWidth}px))`, columnGap: `${GAP}px` }}>
        {drawn.map((column) => (
          <div key={column.key} data-testid={`weights-${column.key}`}>
            <h3>
              <Swatch gate={column.key} />
              {column.name}
            </h3>
            {column.blocks.map((block) => (
              <figure key={block.array} class="map">
                <Heatmap
                  matrix={block.matrix}
                  range={range}
                  height={weightHeight(block.matrix.rows, block.matrix.columns, columnWidth, drawn.length > 1 ? TALLEST : TALLEST_ALONE)}
                  label={`${column.name} ${block.label}`}
                  testId={`weight-${block.array}`}
                  mark={pointer?.block.part === block.part ? pointer.cell : null}
                  onHover={(cell, x, y) => setPointer(cell && { block, cell, x, y })}
                />
                <figcaption class="below">
                  <span>{`${block.label} ${block.size}`}</span>
                  <span>{blockNumber(block, asked.weights.value, now.header.step, statistics)}</span>
                </figcaption>
              </figure>
            ))}
          </div>
        ))}
      </div>
      <p class="shared-range">
        <ColourBar range={range} />
        <Facts>
          {[
            before ? "one range for all gates, at this step (99th percentile)" : "one range for all gates and steps (99th percentile)",
            "rows are inputs, columns are units",
          ]}
        </Facts>
      </p>
      {pointer && <Tooltip content={contentAt(columns, pointer, now, before)} x={pointer.x} y={pointer.y} />}
    </>
  );
}

/** The same entry of all gates; for a change also both values of the one under the pointer. */
function contentAt(columns: readonly WeightColumn[], { block, cell }: Pointer, now: Snapshot, before?: Snapshot): TooltipContent {
  const written = (matrix: WeightBlock["matrix"]): string => {
    const value = valueAt(matrix, cell.row, cell.column);
    return before ? `${value > 0 ? "+" : ""}${short(value, 6)}` : exact(value, matrix.dtype);
  };
  return {
    title: `${block.label} · ${block.place(cell.row, cell.column)}`,
    lines: columns.flatMap(({ key, name, blocks }) =>
      blocks
        .filter(({ part }) => part === block.part)
        .map(({ array, matrix }) => ({ key, name, value: written(matrix), current: array === block.array })),
    ),
    more: before ? [storedValue(now, block, cell), storedValue(before, block, cell)] : [],
  };
}

function storedValue({ header, tensors }: Snapshot, { array }: WeightBlock, { row, column }: Cell): string {
  const tensor = tensors.get(array);
  const value = tensor ? valueAt(weightMatrix(tensor), row, column) : NaN;
  return `at training step ${count(header.step)}: ${exact(value, tensor?.dtype)}`;
}
