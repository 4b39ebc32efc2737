// Chooses the line above the scrubber.

import { asked } from "../selection";
import { health, run, scalar } from "../state";
import { Select } from "./parts";

const OWN = "";

export function ScalarPicker() {
  const scalars = run.value?.scalars ?? [];
  const hasOwn = (health.state.value.value?.loss.length ?? 0) > 0;
  const chosen = scalars.findIndex(({ run: name, tag }) => name === asked.scalar.value?.run && tag === asked.scalar.value.tag);
  const { error } = scalar.state.value;
  return (
    <>
      <Select
        label="Line"
        testId="scalar"
        chosen={chosen < 0 ? OWN : String(chosen)}
        options={[
          { value: OWN, text: hasOwn ? "loss" : "no loss logged" },
          ...scalars.map(({ run: name, tag }, index) => ({ value: String(index), text: `${tag} (${name})` })),
        ]}
        onChoose={(value) => (asked.scalar.value = value === OWN ? null : (scalars[Number(value)] ?? null))}
      />
      {error && (
        <button type="button" title={error} onClick={scalar.retry}>
          Try again
        </button>
      )}
    </>
  );
}
