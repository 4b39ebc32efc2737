// All style sheets, in the order in which they apply.

import uplot from "uplot/dist/uPlot.min.css?inline";
import activations from "./styles/activations.css?inline";
import charts from "./styles/charts.css?inline";
import controls from "./styles/controls.css?inline";
import equation from "./styles/equation.css?inline";
import exporting from "./styles/export.css?inline";
import findings from "./styles/findings.css?inline";
import gradients from "./styles/gradients.css?inline";
import health from "./styles/health.css?inline";
import heatmaps from "./styles/heatmaps.css?inline";
import noData from "./styles/no-data.css?inline";
import page from "./styles/page.css?inline";
import panels from "./styles/panels.css?inline";
import runs from "./styles/runs.css?inline";
import scrubber from "./styles/scrubber.css?inline";
import sidebar from "./styles/sidebar.css?inline";
import tooltip from "./styles/tooltip.css?inline";
import units from "./styles/units.css?inline";
import weights from "./styles/weights.css?inline";

const SHARED = [uplot, page, scrubber, controls, panels, heatmaps, equation, charts];
const PANELS = [gradients, tooltip, noData, sidebar, health, weights, units, runs, findings, exporting, activations];

export const styles = [...SHARED, ...PANELS].join("\n");
