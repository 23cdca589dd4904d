import { defineConfig } from 'vitest/config'

/** What needs root or Debian packages: full disks, foreign clients. One file at a time, because they share the machine. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/system/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    pool: 'forks',
    fileParallelism: false,
  },
})
