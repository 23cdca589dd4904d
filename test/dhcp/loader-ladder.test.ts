import { describe, expect, it } from 'vitest'
import type { DhcpAdvice } from '../../src/dhcp/dhcp-advice.ts'
import { chooseHandOut, climbLadder, defaultLoaderFiles, type HandOut } from '../../src/dhcp/loader-ladder.ts'
import { type PxeClient, readPxeClient } from '../../src/dhcp/pxe-client.ts'
import { isLoop, loopRuns, loopWindowMs, nextStage, type StageRecord } from '../../src/dhcp/stage-memory.ts'
import { fixture, option, packetOf, request } from './support.ts'

const config = { baseUrl: 'http://192.0.2.10:8080', loaders: defaultLoaderFiles }
const live: DhcpAdvice = { kind: 'live' }

function clientOf(bytes: Uint8Array): PxeClient {
  const result = readPxeClient(packetOf(bytes))
  if (!result.client) throw new Error(result.reason)
  return result.client
}

const pxe = (o93: string): PxeClient =>
  clientOf(request({ options: `${option(53, 1)} ${option(60, 'PXEClient')} 5d 02 ${o93} ff` }))
const http = (o93: string): PxeClient =>
  clientOf(request({ options: `${option(53, 1)} ${option(60, 'HTTPClient')} 5d 02 ${o93} ff` }))
const choose = (client: PxeClient, advice: DhcpAdvice = live): HandOut =>
  chooseHandOut(client, advice, config)

describe('firmware gets the loader of its platform', () => {
  it.each([
    ['00 00', 'undionly.kpxe'],
    ['00 06', 'ipxe-ia32.efi'],
    ['00 07', 'snponly.efi'],
    ['00 09', 'snponly.efi'],
    ['00 0a', 'snponly-arm32.efi'],
    ['00 0b', 'snponly-arm64.efi'],
    ['00 1b', 'snponly-riscv64.efi'],
    ['00 27', 'snponly-loong64.efi'],
  ])('PXE %s: %s by TFTP', (o93, file) => expect(choose(pxe(o93))).toEqual({ kind: 'file', file }))

  it.each([
    ['00 10', 'snponly.efi'],
    ['00 13', 'snponly-arm64.efi'],
    ['00 1c', 'snponly-riscv64.efi'],
    ['00 07', 'snponly.efi'],
  ])('HTTP Boot %s: the absolute URL of %s', (o93, file) => {
    expect(choose(http(o93))).toEqual({ kind: 'url', url: `http://192.0.2.10:8080/loaders/${file}` })
  })

  it('or nothing, when there is no loader for it', () => {
    expect(choose(pxe('00 0c'))).toEqual({ kind: 'nothing', reason: 'loader-missing' })
    expect(chooseHandOut(pxe('00 07'), live, { ...config, loaders: {} })).toEqual({
      kind: 'nothing',
      reason: 'loader-missing',
    })
  })

  it('never a URL for TFTP firmware (case 52), nor anything but .efi for HTTP Boot', () => {
    const loaders = { 'efi-x64': 'http://192.0.2.10/x.efi', bios: 'undionly.kpxe' }
    expect(chooseHandOut(pxe('00 07'), live, { ...config, loaders })).toEqual({
      kind: 'nothing',
      reason: 'loader-unfit',
    })
    expect(chooseHandOut(http('00 00'), live, config)).toEqual({ kind: 'nothing', reason: 'loader-unfit' })
  })
})

describe('any iPXE gets the script, whoever built it', () => {
  it.each(['ipxe-bios-discover', 'ipxe-efi-discover', 'ipxe-bios-4011', 'infiniband-discover'])(
    '%s',
    (name) => {
      expect(choose(clientOf(fixture(name)))).toEqual({
        kind: 'script',
        url: 'http://192.0.2.10:8080/boot.ipxe',
      })
    },
  )

  it('a vendor’s build without a user class as well', () => {
    const bytes = request({
      options: `${option(53, 1)} ${option(60, 'PXEClient')} 5d 02 00 07 af 03 13 01 01 ff`,
    })
    expect(choose(clientOf(bytes)).kind).toBe('script')
  })

  it('even where a host names another loader', () => {
    expect(choose(clientOf(fixture('ipxe-efi-discover')), { kind: 'live', loader: 'shimx64.efi' }).kind).toBe(
      'script',
    )
  })
})

describe('the loader that host, profile or decision choose', () => {
  it('counts, Secure Boot chains in their directory included (case 125)', () => {
    expect(choose(pxe('00 07'), { kind: 'chainload', loader: 'debian/shimx64.efi' })).toEqual({
      kind: 'file',
      file: 'debian/shimx64.efi',
    })
    expect(choose(http('00 10'), { kind: 'live', loader: 'debian/shimx64.efi' })).toEqual({
      kind: 'url',
      url: 'http://192.0.2.10:8080/loaders/debian/shimx64.efi',
    })
  })

  it('is written with / so that the second stage is found beside it (case 26)', () => {
    expect(choose(pxe('00 07'), { kind: 'live', loader: 'debian\\shimx64.efi' })).toMatchObject({
      file: 'debian/shimx64.efi',
    })
  })

  it('gives way when the same host comes with firmware that cannot start it (case 166)', () => {
    const advice: DhcpAdvice = { kind: 'live', loader: 'ipxe.efi' }
    expect(choose(pxe('00 07'), advice)).toMatchObject({ file: 'ipxe.efi' })
    expect(choose(pxe('00 00'), advice)).toMatchObject({ file: 'undionly.kpxe' })
    expect(choose(pxe('00 07'), { kind: 'live', loader: 'undionly.kpxe' })).toMatchObject({
      file: 'snponly.efi',
    })
  })
})

describe('the decision', () => {
  it.each(['live', 'install', 'wait', 'hold', 'chainload'] as const)('%s leads up the ladder', (kind) => {
    expect(choose(pxe('00 07'), { kind })).toMatchObject({ kind: 'file' })
  })

  it('ignore is silence, for iPXE as well', () => {
    expect(choose(pxe('00 07'), { kind: 'ignore' })).toEqual({ kind: 'nothing', reason: 'decision-ignore' })
    expect(choose(clientOf(fixture('ipxe-efi-discover')), { kind: 'ignore' }).kind).toBe('nothing')
  })

  it.each(['exit', 'exit 1', 'sanboot', 'http-404'] as const)(
    'local by "%s" needs the script, so the loader (case 122)',
    (method) => {
      expect(choose(pxe('00 00'), { kind: 'local', method })).toMatchObject({ kind: 'file' })
    },
  )

  it('local by dhcp-silent is silence; a hold still says why', () => {
    expect(choose(pxe('00 00'), { kind: 'local', method: 'dhcp-silent' })).toEqual({
      kind: 'nothing',
      reason: 'local-boot-silent',
    })
    expect(choose(pxe('00 00'), { kind: 'hold', method: 'dhcp-silent' })).toMatchObject({ kind: 'file' })
  })
})

describe('firmware that is a loader itself', () => {
  it('gets the name of its configuration: U-Boot by TFTP, petitboot by URL', () => {
    expect(choose(clientOf(fixture('u-boot-arm64-discover')))).toEqual({
      kind: 'config',
      file: 'pxelinux.cfg/01-02-00-00-a1-b2-c3',
    })
    const petitboot = clientOf(request({ options: `${option(53, 1)} 5d 02 00 0e ff` }))
    expect(choose(petitboot)).toEqual({
      kind: 'config',
      file: 'http://192.0.2.10:8080/pxelinux.cfg/01-52-54-00-ab-cd-ef',
    })
  })
})

describe('a loop', () => {
  const start = 1_000_000

  function climbTimes(times: number, xid: (run: number) => number, everyMs = 60_000): boolean[] {
    let memory: StageRecord | undefined
    return Array.from({ length: times }, (_, run) => {
      const step = climbLadder({
        client: pxe('00 07'),
        advice: live,
        config,
        memory,
        xid: xid(run),
        now: start + run * everyMs,
      })
      memory = step.memory
      expect(step.handOut.kind).toBe('file')
      return step.startsLoop
    })
  }

  it('is the same stage in run after run; it is told once, and still answered', () => {
    expect(climbTimes(loopRuns + 1, (run) => run)).toEqual([...Array(loopRuns - 1).fill(false), true, false])
  })

  it('is not four retries of one run', () => {
    expect(climbTimes(20, () => 7).some(Boolean)).toBe(false)
  })

  it('is not a machine that boots again after a while', () => {
    expect(climbTimes(20, (run) => run, loopWindowMs).some(Boolean)).toBe(false)
  })

  it('is over as soon as another stage is reached', () => {
    let record: StageRecord | undefined
    for (let run = 0; run < 20; run++) {
      record = nextStage(record, run % 2 === 0 ? 'loader' : 'script', run, start + run * 1000)
      expect(isLoop(record)).toBe(false)
    }
  })

  it('of nothing handed out is none', () => {
    const step = climbLadder({
      client: pxe('00 07'),
      advice: { kind: 'ignore' },
      config,
      memory: undefined,
      xid: 1,
      now: start,
    })
    expect(step).toEqual({ handOut: { kind: 'nothing', reason: 'decision-ignore' }, startsLoop: false })
  })
})
