// What the statistics tell of the weights beside their pictures: the distribution of a row, and trends of its part.

import { rowName, shownRow, weightRows } from "../model/weightRows";
import type { Records } from "../model/records";
import { asked } from "../selection";
import { Distribution } from "./Distribution";
import { StepSpan } from "./StepSpan";
import { WeightTrends } from "./WeightTrends";

export function WeightNumbers({ data }: { readonly data: Records }) {
  const rows = weightRows(data);
  const row = shownRow(rows, asked.row.value, asked.gate.value);
  if (!row) return null;
  return (
    <div class="weight-numbers">
      <StepSpan steps={data.steps} />
      <Distribution data={data} row={row} rows={rows} name={rowName(row, data.header.layer.gates)} />
      <WeightTrends data={data} row={row} rows={rows} />
    </div>
  );
}
