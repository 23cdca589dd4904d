import { createHash } from 'node:crypto'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { ServiceError } from '../core/errors.ts'
import type { Inventory } from '../core/host.ts'
import { buildInventory } from '../core/inventory.ts'
import { buildConfig } from './build-config.ts'
import { checkAdminTls } from './check-admin-tls.ts'
import { checkConfig } from './check-config.ts'
import { ownSubnets } from './check-dhcp.ts'
import { checkHeldHosts } from './check-held-hosts.ts'
import { checkHosts } from './check-hosts.ts'
import { readLoaderSets } from './check-loader-sets.ts'
import { knownNames } from './check-settings.ts'
import type { Config } from './config.ts'
import { type ConfigPath, pathText, valueAt } from './config-path.ts'
import { formats } from './formats.ts'
import { type HostsDirectory, maxFileBytes, readHostsDirectory } from './hosts-files.ts'
import { type IgnitionTexts, readIgnitionFiles } from './ignition-files.ts'
import { inventoryParts } from './inventory-parts.ts'
import { createReporter, type LayeredData, layerData, locateProblem, type Reporter } from './layered-data.ts'
import type { ConfigOrigin } from './origin.ts'
import { applyOverlay, configFileVariable } from './overlay.ts'
import { type ConfigProblem, configInvalid, sortProblems } from './problem.ts'
import { readTextFile, reasonOf } from './read-text-file.ts'
import { readYaml } from './read-yaml.ts'
import { isReadableByOthers } from './readable-by-others.ts'
import { contentProblem, type ReferencedFile, referencedFiles } from './referenced-files.ts'
import { configSchema, type RawConfig, startDefaults } from './schema.ts'
import { readTemplateFiles, type TemplateFiles } from './template-files.ts'
import { createValidate } from './validate.ts'

export interface LoadConfigOptions {
  /** Path of the configuration file; default: `PILOTLIGHT_CONFIG`, else the start defaults without any file. */
  readonly file?: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** By path: `{ 'boot.http.listen': ':8080' }`. */
  readonly flags?: Readonly<Record<string, string | undefined>>
  /** Where relative paths of flags and variables begin. */
  readonly cwd: string
  /** Ms since the epoch; pins that ended before it are warned about. */
  readonly now?: number
  /** The last good load: hosts files that did not change are not parsed again. */
  readonly before?: LoadedConfig
}

export interface LoadedConfig {
  readonly config: Config
  readonly inventory: Inventory
  /** The origin of every single value, by path. */
  readonly origins: ReadonlyMap<string, ConfigOrigin>
  /** All values as they were written, valid and with defaults; holds secrets. For `config show`. */
  readonly raw: RawConfig
  readonly hosts: HostsDirectory
  /** Holds secrets. */
  readonly ignition: IgnitionTexts
  /** Absolute paths of everything that was read, directories too. */
  readonly files: readonly string[]
  readonly warnings: readonly ConfigProblem[]
  /** Equal for two loads exactly when nothing that was read differs. */
  readonly digest: string
}

const validateConfig = createValidate(configSchema)
const maxReferencedBytes = 1024 * 1024

/**
 * Reads the whole configuration: flag over environment over file over default. All mistakes of all files come in one
 * error, sorted, each with file, line, column, what was found and what is allowed.
 * @throws ServiceError CONFIG_INVALID with `details.problems` and `details.files`; CONFIG_UNREADABLE when the file
 *   itself cannot be read
 */
export function loadConfig(options: LoadConfigOptions): LoadedConfig {
  const { env, flags = {}, cwd, now = 0 } = options
  const named = options.file ?? (env[configFileVariable] || undefined)
  const file = named === undefined ? undefined : resolve(cwd, named)
  const display = (path: string) => displayPath(cwd, path)
  const problems: ConfigProblem[] = []
  const warnings: ConfigProblem[] = []
  const files: string[] = file === undefined ? [] : [file]
  const digest = createHash('sha256').update(JSON.stringify([env, flags]))

  const text = file === undefined ? undefined : readMainFile(file, display(file))
  const yaml = file === undefined || text === undefined ? undefined : readYaml(text, display(file))
  const failing = () => configInvalid(sortProblems(problems, files.map(display)), files)
  if (yaml !== undefined && yaml.problems.length > 0) {
    problems.push(...yaml.problems)
    throw failing()
  }

  const overlay = applyOverlay(yaml === undefined ? startDefaults : yaml.value, { env, flags })
  const layers = layerData(overlay, yaml)
  problems.push(
    ...overlay.problems,
    ...validateConfig(layers.data).map((problem) => locateProblem(problem, layers)),
  )
  warnings.push(...overlay.warnings)
  const absolute = (path: ConfigPath, written: string) =>
    resolve(baseDirectory(layers.origin(path), file, cwd), written)
  const hosts = readHosts(layers, absolute, display, options.before?.hosts, files)
  const isMainValid = problems.length === 0
  problems.push(...hosts.problems)
  warnings.push(...hosts.warnings)
  if (!isMainValid) throw failing()

  const raw = layers.data as RawConfig
  const report = createReporter(layers, problems, warnings)
  checkConfig(raw, { layers, report, now, dataDir: absolute(['dataDir'], raw.dataDir) })
  const templates = readTemplates(raw, absolute, display, report, files)
  const texts = readReferenced(raw, absolute, display, report, files)
  const config = buildConfig(raw, { env, absolute, texts, report })
  checkAdminTls(config.admin.tls, report, now)
  const loaderSets = readLoaderSets(raw, absolute, report, files)
  const ignition = readIgnitionFiles(raw, {
    hosts: hosts.files,
    absolute,
    display,
    report,
    files,
    problems,
    warnings,
  })
  const subnets = ownSubnets(raw)
  checkHosts(hosts.files, { ...knownNames(raw), now, ...(subnets && { subnets }) }, problems, warnings)
  if (problems.length > 0) throw failing()
  const inventory = buildInventory(inventoryParts({ raw, hosts, layers, absolute }))
  checkHeldHosts(hosts.files, inventory, now, warnings)

  const hostsTexts = hosts.files.map((hostsFile) => [hostsFile.path, hostsFile.text])
  digest.update(JSON.stringify([text, [...texts], hostsTexts, templates, loaderSets, [...ignition]]))
  return {
    config,
    inventory,
    ignition,
    origins: leafOrigins(raw, layers),
    raw,
    hosts,
    files,
    warnings: sortProblems(warnings, files.map(display)),
    digest: digest.digest('hex'),
  }
}

function readMainFile(path: string, file: string): string {
  const found = readTextFile(path, maxFileBytes)
  if ('text' in found) return found.text
  throw new ServiceError('CONFIG_UNREADABLE', `the configuration file ${file} ${found.problem}`, {
    file,
    files: [path],
  })
}

/** A folder that is not there is a mistake here; what is in it is for the renderer to say. */
function readTemplates(
  raw: RawConfig,
  absolute: (path: ConfigPath, written: string) => string,
  display: (path: string) => string,
  report: Reporter,
  files: string[],
): TemplateFiles['texts'] {
  if (raw.templates === undefined) return []
  const path = ['templates', 'directory']
  const directory = absolute(path, raw.templates.directory)
  try {
    const templates = readTemplateFiles(directory)
    files.push(...templates.paths)
    return templates.texts
  } catch (cause) {
    files.push(directory)
    report.problem(path, `${display(directory)} ${reasonOf(cause)}`)
    return []
  }
}

function readReferenced(
  raw: RawConfig,
  absolute: (path: ConfigPath, text: string) => string,
  display: (path: string) => string,
  report: Reporter,
  files: string[],
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const { path, file, what } of referencedFiles(raw)) {
    const place = absolute(path, file)
    files.push(place)
    const found = readTextFile(place, maxReferencedBytes)
    const problem = 'text' in found ? contentProblem(what, found.text) : found.problem
    if (problem !== undefined) report.problem(path, `the ${what} ${display(place)} ${problem}`)
    else if ('text' in found) texts.set(pathText(path), found.text)
    if (isSecret(what) && problem === undefined && isReadableByOthers(place)) {
      report.warn(
        path,
        `every user of this machine can read the ${what} ${display(place)}`,
        `chmod o= ${display(place)}`,
      )
    }
  }
  return texts
}

function isSecret(what: ReferencedFile['what']): boolean {
  return what === 'private key file' || what === 'secret file'
}

function readHosts(
  layers: LayeredData,
  absolute: (path: ConfigPath, text: string) => string,
  display: (path: string) => string,
  before: HostsDirectory | undefined,
  files: string[],
): HostsDirectory {
  const path = ['hosts', 'directory']
  // Perhaps not valid yet; mistakes in hosts files are told together with those of the main file all the same.
  const written = valueAt(layers.data, path)
  if (typeof written !== 'string' || formats.path.problem(written) !== undefined) {
    return { files: [], problems: [], warnings: [] }
  }
  const directory = absolute(path, written)
  const hosts = readHostsDirectory({ directory, display, configuredAt: layers.position(path), before })
  files.push(directory, ...hosts.files.map((file) => file.path))
  return hosts
}

function leafOrigins(raw: unknown, layers: LayeredData): ReadonlyMap<string, ConfigOrigin> {
  const origins = new Map<string, ConfigOrigin>()
  const visit = (value: unknown, path: ConfigPath): void => {
    if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
      for (const [key, inner] of Object.entries(value))
        visit(inner, [...path, Array.isArray(value) ? Number(key) : key])
    } else {
      origins.set(pathText(path), layers.origin(path))
    }
  }
  visit(raw, [])
  return origins
}

/** A relative path in a file means beside that file; anywhere else it means where the command was typed. */
function baseDirectory(origin: ConfigOrigin, file: string | undefined, cwd: string): string {
  return origin.kind === 'file' && file !== undefined ? dirname(file) : cwd
}

/** As people would type it: relative below the working directory, absolute elsewhere. */
function displayPath(cwd: string, path: string): string {
  const short = relative(cwd, path)
  return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short
}
