// The module that TensorBoard imports: render() builds the page into its frame.

import { effect } from "@preact/signals";
import { render as renderInto } from "preact";
import { startComparing } from "./compared";
import { startPlayer } from "./actions";
import { startDiagnosing } from "./findings";
import { startSubtracting } from "./differences";
import { listenToKeys } from "./keyboard";
import { startReloading } from "./reloading";
import { bindToUrl } from "./selection";
import { startDescribing } from "./shapes";
import { startFetching } from "./state";
import { styles } from "./styles";
import { theme } from "./theme";
import { App } from "./views/App";

export function render(): void {
  document.documentElement.lang = "en";
  document.title = "LSTM Gates";
  const sheet = document.createElement("style");
  sheet.textContent = styles;
  document.head.append(sheet);
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
  bindToUrl();
  startFetching();
  startComparing();
  startDiagnosing();
  startDescribing();
  startSubtracting();
  startPlayer();
  startReloading();
  listenToKeys();
  renderInto(<App />, document.body);
}
