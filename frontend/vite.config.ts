// Builds one ES module, index.js, into the Python package; TensorBoard imports it and calls render().
import { defineConfig } from "vitest/config";

export default defineConfig({
  build: {
    outDir: "../lstm_gates_plugin/static",
    emptyOutDir: true,
    target: "es2022",
    lib: { entry: "src/index.tsx", formats: ["es"], fileName: () => "index.js" },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
