import { defineConfig } from 'vitest/config'

/** What needs neither root nor Debian packages. Tests in test/fault and test/wire start real processes from dist/. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    exclude: ['test/system/**', 'test/browser/**', 'test/boot/**/*.machine.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text', 'text-summary'] },
  },
})
