import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createGroupIndex } from '../../src/core/group-index.ts'
import { makeGroup } from '../fakes/machines.ts'

const named = (name: string, labels: Record<string, string>) => makeGroup({ name, labels })
const namesOf = (groups: ReturnType<typeof named>[], labels: Record<string, string>) =>
  createGroupIndex(groups)
    .groupsOf({ labels })
    .map(({ name }) => name)

describe('the groups of a host', () => {
  it('are those whose every label it carries, in their order', () => {
    const groups = [
      named('rack', { site: 'edge', rack: '1' }),
      named('other-rack', { site: 'edge', rack: '2' }),
      named('site', { site: 'edge' }),
      named('all', {}),
    ]
    expect(namesOf(groups, { site: 'edge', rack: '1', row: 'a' })).toEqual(['rack', 'site', 'all'])
    expect(namesOf(groups, {})).toEqual(['all'])
    expect(namesOf([], { site: 'edge' })).toEqual([])
  })

  it('do not mix up a label with its value, nor with what every object has', () => {
    expect(namesOf([named('a', { x: 'yz' })], { xy: 'z' })).toEqual([])
    expect(namesOf([named('a', { constructor: 'x' })], {})).toEqual([])
  })

  it('are found as by looking at each of them', () => {
    const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2', '3'))
    fc.assert(
      fc.property(fc.array(labels, { maxLength: 30 }), labels, (all, host) => {
        const groups = all.map((each, index) => named(`g${index}`, { ...each }))
        const wanted = groups.filter((group) =>
          Object.entries(group.labels).every(([label, value]) => host[label] === value),
        )
        expect(createGroupIndex(groups).groupsOf({ labels: host })).toEqual(wanted)
      }),
    )
  })
})
