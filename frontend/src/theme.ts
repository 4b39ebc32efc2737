// The theme in use, for style sheets and for canvases.

import { watchTheme } from "./host";

export const theme = watchTheme();
