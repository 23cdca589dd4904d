import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { expect } from 'vitest'

const directory = resolve(import.meta.dirname, '../golden')

/** Compares a text with its golden file; `UPDATE_GOLDEN=1` rewrites the file instead, and git shows the difference. */
export function expectGolden(name: string, text: string): void {
  const path = resolve(directory, name)
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  expect(text).toBe(readFileSync(path, 'utf8'))
}
