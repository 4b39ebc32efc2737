// The numbers of single units as a table, from which a unit can be kept by keyboard as well.

import { toggleUnit } from "../actions";
import type { UnitNumbers } from "../model/units";
import { asked } from "../selection";
import { NumbersDetails } from "./NumbersDetails";

interface Props {
  readonly numbers: UnitNumbers;
  readonly columns: readonly string[];
  /** By column, in the order of the units. */
  readonly values: readonly (readonly number[] | null)[];
  readonly write: (value: number, index: number) => string;
}

export function UnitTable({ numbers, columns, values, write }: Props) {
  return (
    <NumbersDetails label={`Numbers per unit: ${columns.join(", ")}`}>
      {() => (
        <>
          <thead>
            <tr>
              <th scope="col">unit</th>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {numbers.units.map((unit, index) => (
              <tr key={unit}>
                <th scope="row">
                  <button type="button" aria-pressed={asked.units.value.includes(unit)} title="Show this unit's lines" onClick={() => toggleUnit(unit)}>
                    {unit}
                  </button>
                </th>
                {values.map((column, place) => (
                  <td key={columns[place]}>{write(column?.[index] ?? NaN, index)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </>
      )}
    </NumbersDetails>
  );
}
