import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type IgnitionVariables, ignitionVariables } from '../../src/ignition/ignition-variables.ts'
import { parseJsonText } from '../../src/ignition/json-text.ts'
import { ignitionVersions, readIgnition } from '../../src/ignition/read-ignition.ts'

const read = (text: string, isTemplate = true, fileName = 'worker.ign') =>
  readIgnition(text, { isTemplate, fileName })
const first = (text: string, isTemplate = true) => {
  const { problems, warnings } = read(text, isTemplate)
  const [problem] = [...problems, ...warnings]
  return problem && `${problem.line}:${problem.column} ${problem.path}: ${problem.message}`
}
const hintOf = (text: string) => read(text).problems[0]?.hint
const variables: IgnitionVariables = {
  host: 'n01',
  host_name: 'n01',
  mac: '52:54:00:00:00:01',
  macs: ['52:54:00:00:00:01', '52:54:00:00:00:02'],
  labels: { motto: 'say "hi"\n\\o/', site: 'edge' },
  stream: 's',
  release: '1',
  arch: 'x86_64',
  boot_id: 'b',
  base_url: 'http://192.0.2.1',
  report_url: 'http://192.0.2.1/report/x',
}

describe('the text of an Ignition config', () => {
  it.each(ignitionVersions)('of version %s is taken', (version) => {
    const { config, problems } = read(`{ "ignition": { "version": "${version}" } }`)
    expect(problems).toEqual([])
    expect(config).toMatchObject({ version, major: version.startsWith('2') ? 2 : 3 })
  })

  it.each([
    ['', '1:1 : is empty'],
    ['  \n', '1:1 : is empty'],
    [
      '{\n  "ignition": {\n    "version": "3.4.0",\n  }\n}',
      '4:3 : cannot be read as JSON: found "}" where a key in quotes belongs',
    ],
    [
      '{\n  "ignition": { "version": "3.4.0" }',
      '2:37 : cannot be read as JSON: the text ends where a comma or } belongs',
    ],
    [
      '{ "ignition": { "version": "3.4.0" } } x',
      '1:40 : cannot be read as JSON: found "x" where the end belongs',
    ],
    [
      '{ "a": "b\n" }',
      '1:8 : cannot be read as JSON: the string that begins here does not end on its line, or has an escape that JSON does not know',
    ],
    ['{ "a": 1, "a": 2 }', '1:11 : cannot be read as JSON: the key "a" is there twice'],
    ['{\n "storage": {} }', '1:1 ignition.version: is missing, allowed: '],
    [
      '{ "ignition": {\n "version": "3.6.0-experimental" } }',
      '2:13 ignition.version: found "3.6.0-experimental", allowed: 3.0.0, ',
    ],
    ['{ "ignition": { "version": 3 } }', '1:28 ignition.version: found 3, allowed: 3.0.0, '],
    ['<!DOCTYPE html>', '1:1 : cannot be read as JSON: found "<" where { belongs'],
    ['[]', '1:1 : cannot be read as JSON: found "[" where { belongs'],
    ['#cloud-config\nusers: []', '1:1 : is for cloud-init, and CoreOS takes Ignition alone'],
    ['passwd:\n  users: []', '1:1 : is YAML, and Ignition is JSON'],
  ])('%j is refused where it is wrong', (text, message) => {
    expect(first(text)?.startsWith(message), first(text)).toBe(true)
  })

  it.each([
    ['variant: fcos\nversion: 1.5.0\n', 1],
    ['# our workers\n---\nversion: 1.5.0\nvariant: "openshift"\n', 4],
    ['{ "variant": "fcos", "version": "1.5.0" }', 1],
  ])('a Butane file is told from it: %j', (text, line) => {
    const [problem] = read(text, true, 'worker.bu').problems
    expect(problem?.message).toMatch(
      /^is a Butane config \(variant (fcos|openshift)\), and machines take Ignition$/,
    )
    expect(problem?.hint).toBe('convert it: butane --strict --files-dir . --output worker.ign worker.bu')
    expect(problem?.line).toBe(line)
  })

  it('wrong kinds of values are told with their place, all of them', () => {
    const text = `{
  "ignition": { "version": "3.4.0" },
  "storage": { "files": [{ "path": "/a", "mode": "0644" }, { "mode": 420 }] },
  "systemd": { "units": {} },
  "passwd": { "users": [{ "name": "core", "sshAuthorizedKeys": "ssh-ed25519 A" }] }
}`
    expect(read(text).problems.map(({ line, path, message }) => `${line} ${path} ${message}`)).toEqual([
      '3 storage.files[0].mode found text, allowed: a whole number',
      '3 storage.files[1].path is missing',
      '4 systemd.units found an object, allowed: a list',
      '5 passwd.users[0].sshAuthorizedKeys found text, allowed: a list',
    ])
    expect(read(text).config).toBeUndefined()
    expect(read(text).problems[0]?.hint).toBe('JSON has no octal numbers: 0644 is 420, 0600 is 384')
  })

  it('a key that Ignition does not know is a warning with the nearest one', () => {
    const { config, warnings } = read(
      '{ "ignition": { "version": "3.4.0" },\n  "systemd": { "units": [{ "name": "a.service", "enable": true }] } }',
    )
    expect(config).toBeDefined()
    expect(warnings).toEqual([
      {
        line: 2,
        column: 49,
        path: 'systemd.units[0].enable',
        message: 'Ignition does not know this key and ignores it',
        hint: 'did you mean "enabled"?',
      },
    ])
  })

  it('keys belong to their major version', () => {
    const append = '"config": { "append": [{ "source": "http://192.0.2.1/x" }] }'
    expect(read(`{ "ignition": { "version": "2.2.0", ${append} } }`).warnings).toEqual([])
    expect(read(`{ "ignition": { "version": "3.2.0", ${append} } }`).warnings).toHaveLength(1)
    expect(read('{ "ignition": { "version": "2.2.0" }, "networkd": { "units": [] } }').warnings).toEqual([])
  })

  it('null counts as absent, as it does for Ignition', () => {
    expect(
      read('{ "ignition": { "version": "3.4.0", "config": null }, "storage": { "files": null } }').problems,
    ).toEqual([])
  })

  it('no text whatever makes it throw', () => {
    const nearlyJson = fc
      .json()
      .map((text) => `{ "ignition": { "version": "3.0.0" }, "storage": ${text}, "x": {{ host }} }`)
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearlyJson), fc.boolean(), (text, isTemplate) => {
        const { config, problems } = read(text, isTemplate)
        expect(config === undefined).toBe(problems.length > 0)
      }),
    )
  })

  it('JSON is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const parsed = parseJsonText(text)
        // A key that is there twice is refused here.
        if ('root' in parsed) expect(JSON.stringify(parsed.root.value)).toBe(JSON.stringify(JSON.parse(text)))
        else expect(parsed.fault).toContain('twice')
      }),
    )
  })
})

describe('variables in it', () => {
  const config = (inner: string) =>
    `{ "ignition": { "version": "3.4.0" },\n  "storage": { "files": [${inner}] } }`

  it('are put in as text of JSON, whatever is in them', () => {
    const text = config(
      '{ "path": "/etc/motto", "contents": { "source": "data:,{{ labels.motto }}" }, "mode": 420 }',
    )
    const rendered = read(text).config?.render(variables) ?? ''
    expect(JSON.parse(rendered).storage.files[0].contents.source).toBe('data:,say "hi"\n\\o/')
  })

  it('G12: no value of a label can leave its string', () => {
    const text = config('{ "path": "/{{ host }}", "contents": { "source": "{{ labels.motto | upcase }}" } }')
    const compiled = read(text).config
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'binary' }), (host, motto) => {
        const labels = { motto }
        const { path } = JSON.parse(compiled?.render({ ...variables, host, labels }) ?? '').storage.files[0]
        expect(path).toBe(`/${host}`)
      }),
    )
    expect(first(config('{ "path": "{{ host | raw }}" }'))).toContain('undefined filter: raw')
  })

  it('that are lists or maps are JSON by themselves', () => {
    const text = `{ "ignition": { "version": "3.4.0" }, "kernelArguments": { "shouldExist": {{ macs }} } }`
    const rendered = read(text).config?.render(variables) ?? ''
    expect(JSON.parse(rendered).kernelArguments.shouldExist).toEqual(variables.macs)
  })

  it('can be asked for: a loop and a condition', () => {
    const text = config(
      '{% for mac in macs %}{ "path": "/{{ mac }}" }{% unless forloop.last %},{% endunless %}{% endfor %}{% if labels.none %},{ "path": "/none" }{% endif %}',
    )
    const rendered = read(text).config?.render(variables) ?? ''
    expect(JSON.parse(rendered).storage.files).toHaveLength(2)
  })

  it('a label that the host lacks is an error, or what `default` says', () => {
    const needed = read(config('{ "path": "/{{ labels.rack }}" }')).config
    expect(() => needed?.render(variables)).toThrow(/labels\.rack/)
    const optional = read(config('{ "path": "/{{ labels.rack | default: "none" }}" }')).config
    expect(optional?.render(variables)).toContain('"/none"')
  })

  it('that do not exist are told with the nearest, where they stand', () => {
    const [problem] = read(config('{ "path": "/{{ hostname }}" }')).problems
    expect(problem).toMatchObject({ line: 2, column: 41, hint: 'did you mean host_name?' })
    expect(problem?.message).toMatch(/^there is no variable hostname here, allowed: host, host_name, /)
  })

  it.each(['{{.Names}}', '{{ .State.Health }}', '{% foo %}', '{{ docker }}', '{{'])(
    'what only looks like one says how to leave it alone: %s',
    (text) => {
      expect(hintOf(config(`{ "path": "/a", "contents": { "source": "data:,${text}" } }`))).toContain(
        'between {% raw %} and {% endraw %}, or the config says template: false',
      )
    },
  )

  it('are left alone between raw tags, and where the config says that it is no template', () => {
    const raw = read(config('{ "path": "/{% raw %}{{.Names}}{% endraw %}" }')).config
    expect(raw?.render(variables)).toContain('"/{{.Names}}"')
    const plain = config('{ "path": "/{{.Names}}" }')
    expect(read(plain, false).config?.render(variables)).toBe(plain)
  })

  const head = '{"ignition":{"version":"3.4.0"}}'
  it.each([
    ['nested loops', '{% for i in (1..900) %}{% for j in (1..900) %} {% endfor %}{% endfor %}'],
    ['loops around nothing', '{% for i in (1..900) %}{% for j in (1..900) %}{% endfor %}{% endfor %}'],
    ['one long loop', '{% for i in (1..999000) %} {% endfor %}'],
    ['a list too long to be one', '{% for i in (1..999000000) %} {% endfor %}'],
    [
      'a variable that doubles',
      '{% assign x = "ab" %}{% for i in (1..60) %}{% capture x %}{{ x }}{{ x }}{% endcapture %}{% endfor %}',
    ],
    ['a text that grows', `{% for i in (1..900) %}${' '.repeat(9000)}{% endfor %}`],
    ['filters on and on', '{% for i in (1..900) %}{% assign y = "a" | ljust: 9000 %}{% endfor %}'],
    ['a tag that writes values as they are', '{% cycle host %}'],
  ])('%s are refused, whatever the machine has to do besides', (_name, loops) => {
    const { config, problems } = readIgnition(`${head}${loops}`, { isTemplate: true })
    expect(config).toBeUndefined()
    expect(problems).toMatchObject([{ message: expect.stringContaining('the template cannot be used: ') }])
  })

  it('a loop over every MAC of a rack is not', () => {
    const loop = `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/macs","contents":{"source":"data:,{% for i in (1..300) %}{% for mac in macs %}{{ i }}-{{ mac }} {% endfor %}{% endfor %}"}}]}}`
    expect(readIgnition(loop, { isTemplate: true }).problems).toEqual([])
  })

  it('mistakes in JSON are told where they stand in the template, not in what it makes', () => {
    const text =
      '{ "ignition": { "version": "3.4.0" },\n  {% if host %} "a": "{{ base_url }}", {% endif %}\n  "b": "{{ report_url }}" "c": 1 }'
    expect(first(text)).toBe('3:27 : cannot be read as JSON: found "\\"" where a comma or } belongs')
  })

  it('are all described, with an example that is tried out', () => {
    for (const { text, example } of Object.values(ignitionVariables)) {
      expect(text).toMatch(/\.$/)
      expect(example).not.toBe('')
    }
  })
})
