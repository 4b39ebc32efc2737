// The numbers of a picture as a table, for those who cannot see it or want them exactly.

import { count, exact } from "../model/format";
import type { Records } from "../model/records";
import { thinned } from "../model/steps";
import { NumbersDetails } from "./NumbersDetails";

const COLUMNS = ["min", "p1", "p25", "p50", "p75", "p99", "max", "mean", "std", "zero", "nan"] as const;
const NAMES: Readonly<Record<string, string>> = { p1: "1 %", p25: "25 %", p50: "median", p75: "75 %", p99: "99 %", zero: "zeros", nan: "NaN" };

interface Props {
  readonly data: Records;
  readonly row: string;
  readonly steps: readonly number[];
  readonly name: string;
}

export function NumbersTable({ data, row, steps, name }: Props) {
  return (
    <NumbersDetails label={`Numbers of ${name}`} testId="numbers-table">
      {() => (
        <>
          <thead>
            <tr>
              <th scope="col">training step</th>
              {COLUMNS.map((column) => (
                <th key={column} scope="col">
                  {NAMES[column] ?? column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {thinned(steps).map((at) => (
              <tr key={at}>
                <th scope="row">{count(at)}</th>
                {COLUMNS.map((column) => (
                  <td key={column}>{exact(data.at(at, row, column))}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </>
      )}
    </NumbersDetails>
  );
}
