// Beside the maps: how long units remember.

import { count, plural, short } from "../model/format";
import { unitNames } from "../model/saturation";
import { survivalBins } from "../model/survival";
import type { UnitNumbers } from "../model/units";
import { gateColour } from "../palette";
import { theme } from "../theme";
import { SmallPanel } from "./UnitsPanel";
import { UnitTable } from "./UnitTable";

const HELP =
  "A unit has forgotten half of what it knew after so many timesteps: as many as it takes the product of its keep gate to fall below one half, the median over all timesteps to start from. " +
  "If most bars stand far left of your sequence's length, the layer cannot carry anything from its beginning to its end.";

interface Props {
  readonly numbers: UnitNumbers;
  /** Of the sequence. */
  readonly timesteps: number;
}

export function SurvivalPanel({ numbers, timesteps }: Props) {
  const bins = survivalBins(numbers, timesteps);
  if (bins.length === 0) return null;
  const most = Math.max(1, ...bins.map(({ units }) => units.length));
  const written = (value: number, index: number): string => (Number.isNaN(value) ? "NaN" : `${numbers.censored[index] ? "≥ " : ""}${short(value)}`);
  return (
    <SmallPanel title="How long units remember" testId="survival" help={HELP}>
      <div
        class="survival"
        role="img"
        aria-label={`Timesteps until half is forgotten: ${bins.map(({ text, units }) => `${text}: ${plural(units.length, "unit")}`).join(", ")}`}
      >
        {bins.map(({ text, end, units, isLonger }) => (
          <span key={text} class={isLonger ? "longer" : ""} title={`${text}${isLonger ? "" : " timesteps"}: ${units.length > 0 ? `${plural(units.length, "unit")} (${unitNames(units)})` : "no unit"}`} data-testid={`survival-${text}`}>
            <em>{units.length > 0 ? count(units.length) : ""}</em>
            <i style={{ height: `${(90 * units.length) / most}px`, ...(isLonger ? {} : { background: gateColour("forget", theme.value) }) }} />
            <b>{end}</b>
          </span>
        ))}
      </div>
      <p class="quiet">{`up to so many timesteps until half is forgotten; the sequence has ${count(timesteps)}`}</p>
      <UnitTable numbers={numbers} columns={["timesteps until half is forgotten"]} values={[numbers.survival]} write={written} />
    </SmallPanel>
  );
}
