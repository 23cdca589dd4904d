import { describe, expect, it } from 'vitest'
import { tokenLength } from '../../src/boot/boot-tokens.ts'
import { placeholderBootId } from '../../src/boot/placeholder-boot-id.ts'
import type { BootId } from '../../src/core/boot-event.ts'
import { bootIdStandIn, cutScript, joinScript, tokenStandIns } from '../../src/render/cut-script.ts'

const bootId = 'BBBBBBBBBBBBBBBBBBBBBB' as BootId
const baseUrl = 'http://192.0.2.10'
const text = `kernel a?boot=${bootIdStandIn} x=${tokenStandIns.ignition} y=${tokenStandIns.installer}\ninitrd b?boot=${bootIdStandIn} z=${tokenStandIns.ignition}\n`

describe('a script that is cut at what differs from boot to boot', () => {
  it('is put together with the boot id and each token, minted once', () => {
    const asked: string[] = []
    const token = (purpose: string) => {
      asked.push(purpose)
      return `<${purpose}>`
    }
    expect(joinScript(cutScript(text), { baseUrl, bootId, token })).toBe(
      `kernel a?boot=${bootId} x=<ignition> y=<installer>\ninitrd b?boot=${bootId} z=<ignition>\n`,
    )
    expect(asked).toEqual(['ignition', 'installer'])
  })

  it('without a token asks for none', () => {
    const token = () => {
      throw new Error('minted for nobody')
    }
    const plain = `a ${bootIdStandIn} b`
    expect(joinScript(cutScript(plain), { baseUrl, bootId, token })).toBe(`a ${bootId} b`)
    expect(joinScript(cutScript('nothing'), { baseUrl, bootId, token })).toBe('nothing')
  })

  it('keeps its length where nobody mints: HEAD tells that of GET, and shows a stand-in that opens nothing', () => {
    const shown = joinScript(cutScript(text), { baseUrl, bootId: placeholderBootId })
    expect(shown.length).toBe(text.length)
    for (const standIn of Object.values(tokenStandIns)) {
      expect(standIn).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(standIn.length).toBe(tokenLength)
      expect(shown).toContain(standIn)
    }
  })
})
