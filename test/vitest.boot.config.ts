import { defineConfig } from 'vitest/config'

/** Emulated machines that boot from the network: root, QEMU and minutes. A machine keeps a processor busy. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/boot/**/*.machine.test.ts'],
    testTimeout: 700_000,
    hookTimeout: 300_000,
    pool: 'forks',
    fileParallelism: false,
    maxConcurrency: Number(process.env.BOOT_TESTS_AT_ONCE ?? 2),
  },
})
