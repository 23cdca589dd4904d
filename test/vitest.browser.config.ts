import { defineConfig } from 'vitest/config'

/** The page in a real browser: Debian's Chromium. One file at a time, because they share the machine. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
    fileParallelism: false,
  },
})
