import type { Command } from 'commander'
import { settables } from '../config/settable.ts'

/** Set by options that every command takes. */
const globalKeys: ReadonlySet<string> = new Set(['dataDir', 'log.level'])

/** Adds a flag for every value of the configuration that a flag can set: flag over environment over file. */
export function addSettingOptions(command: Command): Command {
  command.optionsGroup('Settings (pilotlight config reference tells more):')
  for (const { key, flag, description } of settables()) {
    if (!globalKeys.has(key)) command.option(`${flag} <value>`, description)
  }
  return command
}

/** What the options of a command line set, by configuration key (`boot.http.listen`). */
export function settingFlags(options: object): Readonly<Record<string, string>> {
  const parsed = new Map<string, unknown>(Object.entries(options))
  const flags: Record<string, string> = {}
  for (const { key, flag } of settables()) {
    const value = parsed.get(optionName(flag))
    if (typeof value === 'string') flags[key] = value
  }
  return flags
}

/** `--boot-http-listen` is `bootHttpListen` among parsed options. */
function optionName(flag: string): string {
  return flag.replace(/^--/, '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}
