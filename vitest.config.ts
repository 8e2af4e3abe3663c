import { configDefaults, defineConfig } from "vitest/config";

/** The whole fault matrix takes a minute or two; `npm run test:conformance` plays it, and its result is kept and checked. */
const MATRIX = "test/conformance/sandbox.*.test.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(process.env.CONFORMANCE ? [] : [MATRIX])],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
