// The pictures as a table: what each row is like over the timesteps of the sample that were run.

import type { ShownSample } from "../model/activations";
import { percent, short } from "../model/format";
import { rowStatistics, type RowStatistics } from "../model/rowStatistics";
import { NumbersDetails } from "./NumbersDetails";

export function MapsTable({ sample }: { readonly sample: ShownSample }) {
  const what = sample.block > 1 ? `means of ${sample.block} timesteps` : "timesteps";
  return (
    <NumbersDetails label="Numbers of the pictures" testId="maps-table">
      {() => (
        <>
          <caption class="quiet">
            Over all units shown and all {what} of this sample that were not masked. A gate is nearly closed below 0.1 and nearly open above 0.9; beyond ±0.9
            the tanh of a candidate or hidden state is at its limits.
          </caption>
          <thead>
            <tr>
              {["row", "mean", "standard deviation", "nearly closed or within ±0.1", "nearly open or beyond ±0.9"].map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sample.rows.map((row) => (
              <Line key={row.key} name={row.name} numbers={rowStatistics(row)} />
            ))}
          </tbody>
        </>
      )}
    </NumbersDetails>
  );
}

function Line({ name, numbers }: { readonly name: string; readonly numbers: RowStatistics }) {
  const { mean, std, nearlyClosed, nearlyOpen } = numbers;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{short(mean)}</td>
      <td>{short(std)}</td>
      {[nearlyClosed, nearlyOpen].map((share, index) => (
        <td key={index}>{share === null ? "–" : percent(share)}</td>
      ))}
    </tr>
  );
}
