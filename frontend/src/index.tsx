// The module that TensorBoard imports: render() builds the page into its frame.

import { effect } from "@preact/signals";
import { render as renderInto } from "preact";
import uplotStyle from "uplot/dist/uPlot.min.css?inline";
import { startComparing } from "./compared";
import { startPlayer } from "./actions";
import { startDiagnosing } from "./findings";
import { startSubtracting } from "./differences";
import { listenToKeys } from "./keyboard";
import { startReloading } from "./reloading";
import { bindToUrl } from "./selection";
import { startFetching } from "./state";
import style from "./style.css?inline";
import activationsStyle from "./styles/activations.css?inline";
import exportStyle from "./styles/export.css?inline";
import healthStyle from "./styles/health.css?inline";
import unitsStyle from "./styles/units.css?inline";
import weightsStyle from "./styles/weights.css?inline";
import findingsStyle from "./styles/findings.css?inline";
import runsStyle from "./styles/runs.css?inline";
import sidebarStyle from "./styles/sidebar.css?inline";
import { theme } from "./theme";
import { App } from "./views/App";

export function render(): void {
  document.documentElement.lang = "en";
  document.title = "LSTM Gates";
  const sheet = document.createElement("style");
  sheet.textContent = uplotStyle + style + sidebarStyle + healthStyle + weightsStyle + unitsStyle + runsStyle + findingsStyle + exportStyle + activationsStyle;
  document.head.append(sheet);
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
  bindToUrl();
  startFetching();
  startComparing();
  startDiagnosing();
  startSubtracting();
  startPlayer();
  startReloading();
  listenToKeys();
  renderInto(<App />, document.body);
}
