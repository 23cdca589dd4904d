import { describe, expect, it } from 'vitest'
import { bypassesProxy } from '../../src/upstream/no-proxy.ts'

describe('bypassesProxy', () => {
  it.each([
    ['http://mirror.example/', 'mirror.example'],
    ['http://a.mirror.example/', 'mirror.example'],
    ['http://a.mirror.example/', '.mirror.example'],
    ['http://mirror.example/', '.mirror.example'],
    ['http://a.mirror.example/', '*.mirror.example'],
    ['http://MIRROR.example/', 'Mirror.Example'],
    ['http://mirror.example./', 'mirror.example'],
    ['http://mirror.example:8080/', 'other.example,mirror.example:8080'],
    ['https://mirror.example/', 'mirror.example:443'],
    ['http://mirror.example/', 'mirror.example:80'],
    ['http://mirror.example/', ' x.example  mirror.example '],
    ['http://anything.example/', '*'],
    ['http://10.1.2.3/', '10.1.2.3'],
    ['http://10.1.2.3/', '10.0.0.0/8'],
    ['http://10.1.2.3:8080/', '10.0.0.0/8:8080'],
    ['http://[2001:db8::5]/', '2001:db8::/32'],
    ['http://[2001:db8::5]/', '2001:db8::5'],
    ['http://[2001:db8::5]:81/', '[2001:db8::5]:81'],
    ['http://192.0.2.7/', '0.0.0.0/0'],
    ['http://127.0.0.1:9000/', ''],
    ['http://localhost:9000/', ''],
    ['http://[::1]/', ''],
  ])('%s is fetched directly with NO_PROXY=%j', (url, list) => {
    expect(bypassesProxy(new URL(url), list)).toBe(true)
  })

  it.each([
    ['http://mirror.example/', ''],
    ['http://mirror.example/', undefined],
    ['http://notmirror.example/', 'mirror.example'],
    ['http://mirror.example.org/', 'mirror.example'],
    ['http://mirror.example:8080/', 'mirror.example:80'],
    ['http://11.1.2.3/', '10.0.0.0/8'],
    ['http://10.1.2.3/', '10.0.0.0/33'],
    ['http://10.1.2.3/', '10.0.0.0/x'],
    ['http://10.1.2.3/', '::/0'],
    ['http://10.example/', '10.0.0.0/8'],
    ['http://mirror.example/', '.'],
    ['http://mirror.example/', ',,'],
  ])('%s goes to the proxy with NO_PROXY=%j', (url, list) => {
    expect(bypassesProxy(new URL(url), list)).toBe(false)
  })
})
