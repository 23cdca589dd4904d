import { defineConfig } from 'vitest/config'

// Tests in test/fault, test/wire and test/load start real processes from dist/; `npm test` builds first.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text', 'text-summary'] },
  },
})
