import { describe, expect, it } from 'vitest'
import { judgeRedirect } from '../../src/upstream/redirect.ts'

const from = new URL('https://a.example/x/y')

describe('judgeRedirect', () => {
  it('a relative target is read against the URL that answered', () => {
    expect(judgeRedirect(from, 302, '../z', [from.href])).toEqual({
      kind: 'follow',
      url: new URL('https://a.example/z'),
    })
  })

  it('https may lead to another https host', () => {
    expect(judgeRedirect(from, 307, 'https://b.example/', [from.href]).kind).toBe('follow')
  })

  it('credentials in a target are dropped', () => {
    expect(judgeRedirect(from, 301, 'https://u:p@b.example/f#part', [])).toEqual({
      kind: 'follow',
      url: new URL('https://b.example/f'),
    })
  })

  it.each([
    ['http://a.example/', 'from https to http'],
    ['file:///etc/passwd', 'not http or https'],
    ['ftp://a.example/', 'not http or https'],
    ['https://a.example/x/y', 'circle'],
    ['https://[', 'not a URL'],
  ])('%s is refused', (location, why) => {
    const judged = judgeRedirect(from, 302, location, [from.href])
    expect(judged).toMatchObject({ kind: 'refused', why: expect.stringContaining(why) })
  })

  it('the sixth hop is refused', () => {
    const visited = [0, 1, 2, 3, 4, 5].map((hop) => `https://a.example/${hop}`)
    expect(judgeRedirect(from, 302, '/6', visited.slice(0, 5)).kind).toBe('follow')
    expect(judgeRedirect(from, 302, '/6', visited).kind).toBe('refused')
  })

  it.each([
    [200, '/x'],
    [304, '/x'],
    [300, '/x'],
    [302, undefined],
  ])('%i with Location %j is an answer like any other', (status, location) => {
    expect(judgeRedirect(from, status, location, [])).toEqual({ kind: 'none' })
  })
})
