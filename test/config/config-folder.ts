import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type LoadConfigOptions, type LoadedConfig, loadConfig } from '../../src/config/load-config.ts'
import { type ConfigProblem, problemText } from '../../src/config/problem.ts'
import { isServiceError } from '../../src/core/errors.ts'

export interface ConfigFolder {
  readonly path: string
  write(name: string, text: string | Uint8Array): void
  load(options?: Partial<LoadConfigOptions>): LoadedConfig
}

/** A folder with these files for one test; `pilotlight.yaml` is loaded unless another file is named. */
export function configFolder(files: Readonly<Record<string, string | Uint8Array>>): ConfigFolder {
  const path = mkdtempSync(join(tmpdir(), 'pilotlight-config-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  const write = (name: string, text: string | Uint8Array) => {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  for (const [name, text] of Object.entries(files)) write(name, text)
  return {
    path,
    write,
    load: (options = {}) => loadConfig({ file: 'pilotlight.yaml', env: {}, cwd: path, ...options }),
  }
}

/** The problems of a refused configuration, as lines; a configuration that loads fails the test. */
export function problemLines(load: () => unknown): readonly string[] {
  return problemsOf(load).map(problemText)
}

export function problemsOf(load: () => unknown): readonly ConfigProblem[] {
  try {
    load()
  } catch (error) {
    if (isServiceError(error, 'CONFIG_INVALID')) return error.details.problems as ConfigProblem[]
    throw error
  }
  throw new Error('the configuration was accepted')
}

export const warningLines = (loaded: LoadedConfig): readonly string[] => loaded.warnings.map(problemText)
