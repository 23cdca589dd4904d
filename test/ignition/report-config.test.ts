import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readIgnition } from '../../src/ignition/read-ignition.ts'
import { type ReportConfig, reportConfig } from '../../src/ignition/report-config.ts'
import { readReportFiles } from '../../src/runtime/render-ignition.ts'
import { templatesDirectory } from '../fakes/scripts.ts'

const files = readReportFiles(templatesDirectory)
const reportUrl = 'http://192.0.2.10/report/x'
const own = '{"ignition":{"version":"3.5.0"}}'
const made = (config: Omit<ReportConfig, 'reportUrl'>) => reportConfig({ ...config, reportUrl }, files)

describe('the config that makes a machine report', () => {
  it.each<Omit<ReportConfig, 'reportUrl'>>([
    { major: 3, system: 'live', around: { text: own } },
    { major: 3, system: 'installed', around: { url: 'https://api-int.example:22623/config/worker' } },
    { major: 3, system: 'installer' },
    { major: 2, system: 'installed', around: { text: '{"ignition":{"version":"2.2.0"}}' } },
    { major: 2, system: 'installed' },
  ])('is a good one by our own rules: %j', (config) => {
    const read = readIgnition(made(config), { isTemplate: false })
    expect([...read.problems, ...read.warnings]).toEqual([])
    expect(read.config?.major).toBe(config.major)
  })

  it('in version 2 appends, and names the file system', () => {
    const { ignition, storage } = JSON.parse(
      made({ major: 2, system: 'installed', around: { url: 'http://x/y' } }),
    )
    expect(ignition).toEqual({ version: '2.2.0', config: { append: [{ source: 'http://x/y' }] } })
    expect(storage.files.map(({ filesystem }: { filesystem: string }) => filesystem)).toEqual([
      'root',
      'root',
    ])
  })

  it('keeps the inner config byte for byte', () => {
    const text = '{ "ignition": { "version": "3.0.0" }, "x": "ä\\n" }\n'
    const { ignition } = JSON.parse(made({ major: 3, system: 'live', around: { text } }))
    const source: string = ignition.config.merge[0].source
    expect(Buffer.from(source.replace('data:;base64,', ''), 'base64').toString()).toBe(text)
  })

  it('the example that is shipped is a good config', () => {
    const example = join(import.meta.dirname, '../../deploy/examples/worker.ign')
    const read = readIgnition(readFileSync(example, 'utf8'), { isTemplate: true })
    expect([...read.problems, ...read.warnings]).toEqual([])
  })
})
