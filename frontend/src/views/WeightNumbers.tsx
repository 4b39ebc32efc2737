// What the statistics tell of the weights beside their pictures: the distribution of a row, and trends of its part.

import { rowName } from "../model/weightRows";
import type { Records } from "../model/records";
import { distributionRow, distributionRows } from "../shapes";
import { Distribution } from "./Distribution";
import { StepSpan } from "./StepSpan";
import { WeightTrends } from "./WeightTrends";

export function WeightNumbers({ data }: { readonly data: Records }) {
  const [rows, row] = [distributionRows.value, distributionRow.value];
  if (!row) return null;
  return (
    <div class="weight-numbers">
      <StepSpan steps={data.steps} />
      <Distribution data={data} row={row} rows={rows} name={rowName(row, data.header.layer.gates)} />
      <WeightTrends data={data} row={row} rows={rows} />
    </div>
  );
}
