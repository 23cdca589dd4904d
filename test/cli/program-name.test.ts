import { describe, expect, it } from 'vitest'
import { programName, shellWord } from '../../src/cli/program-name.ts'

describe('how to call the program from any directory', () => {
  it.each([
    ['found by the shell', '/usr/local/bin/pilotlight', '/usr/local/bin:/usr/bin', 'pilotlight'],
    ['not found by the shell', '/opt/bin/pilotlight', '/usr/bin', '/opt/bin/pilotlight'],
    [
      'of npm, whose folder is in the path of its scripts alone',
      '/srv/x/node_modules/.bin/pilotlight',
      '/srv/x/node_modules/.bin:/usr/bin',
      '/srv/x/node_modules/.bin/pilotlight',
    ],
    ['in a clone', '/home/me/pilotlight/dist/main.js', '/usr/bin', 'node /home/me/pilotlight/dist/main.js'],
    ['in a clone with a blank', '/home/my code/dist/main.js', '', "node '/home/my code/dist/main.js'"],
  ])('%s', (_, script, searchPath, name) => {
    expect(programName({ script, searchPath })).toBe(name)
  })

  it('a word keeps its meaning in a shell', () => {
    expect(shellWord('/srv/a-b_c.yaml')).toBe('/srv/a-b_c.yaml')
    expect(shellWord("it's $HOME")).toBe("'it'\\''s $HOME'")
    expect(shellWord('')).toBe("''")
  })
})
