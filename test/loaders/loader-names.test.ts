import { describe, expect, it } from 'vitest'
import { loaderPlatforms } from '../../src/core/loader.ts'
import { defaultLoaderFiles } from '../../src/dhcp/loader-ladder.ts'
import { firstLoaders, loaderNames, secureBootPairs } from '../../src/loaders/loader-names.ts'

describe('the table of loader names', () => {
  it('has each name once, with somewhere to look and what supplies it', () => {
    const names = loaderNames.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { name, candidates, remedy } of loaderNames) {
      expect(name).toMatch(/^[a-z0-9][A-Za-z0-9.-]*$/)
      expect([name, candidates.length > 0, remedy.length > 0]).toEqual([name, true, true])
    }
  })

  it('looks only below the directories that it is given', () => {
    for (const { candidates, standIns } of loaderNames) {
      for (const path of [...candidates, ...standIns])
        expect(path).toMatch(/^(?:[A-Za-z0-9_][A-Za-z0-9._-]*\/?)+$/)
    }
  })

  it("agrees with what DHCP hands out, for every firmware but a Raspberry Pi's own", () => {
    const { 'raspberry-pi': ofBoard, ...handedOut } = defaultLoaderFiles
    expect(ofBoard).toBe('bootcode.bin')
    expect(handedOut).toEqual(firstLoaders)
  })

  it('has a loader of the right platform for every firmware', () => {
    for (const platform of loaderPlatforms) {
      const row = loaderNames.find(({ name }) => name === firstLoaders[platform])
      expect([platform, row?.platform]).toEqual([platform, platform])
    }
  })

  it('has both halves of every Secure Boot pair', () => {
    for (const { platform, shim, grub } of secureBootPairs) {
      const kinds = [shim, grub].map((name) => loaderNames.find((row) => row.name === name))
      expect(kinds.map((row) => [row?.kind, row?.platform])).toEqual([
        ['shim', platform],
        ['grub', platform],
      ])
    }
  })
})
