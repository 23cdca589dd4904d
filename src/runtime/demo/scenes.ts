import { tellAdminsPart } from './admin-scenes.ts'
import { pinnedMac } from './demo-configuration.ts'
import type { SampleRelease } from './sample-release.ts'
import { stopOneMachine, tellWhatWasSeen } from './seeing-scenes.ts'
import { startSimulatedFirmware } from './simulated-firmware.ts'
import { type Arch, boot, type DemoStage, isOf, showFetches } from './stage.ts'

const bareMac = '52:54:00:00:00:03'

/** The chapters of the demo; each statement in them is checked. */
export async function tellDemo(stage: DemoStage): Promise<void> {
  const { story, service, upstream, releases } = stage
  const [oldest, older, newest] = releases
  if (oldest === undefined || older === undefined || newest === undefined)
    throw new Error('three releases are needed')

  story.chapter('The service follows it: fetch, check SHA-256 and signature, publish complete sets')
  await sync(stage)
  for (const arch of ['x86_64', 'aarch64'] as const) {
    story.check(`${arch}: current is ${older.release}`, (await currentOf(stage, arch)) === older.release)
  }

  story.chapter('A bare machine is switched on: DHCP beside the site, the loader by TFTP, then iPXE')
  await bootBareMachine(stage, older)
  // What is wrong with it shows after some seconds; until then there is enough to tell.
  await stopOneMachine(stage)

  story.chapter('A node boots, and the stream moves on while it does')
  let moved = false
  const first = await boot(stage, 'x86_64', {
    onFetched: async ({ what }) => {
      if (what !== 'kernel' || moved) return
      moved = true
      upstream.moveTo(newest.release)
      await sync(stage)
      story.tell(
        `the node has its kernel; meanwhile the stream moved to ${newest.release}, fetched and current`,
      )
    },
  })
  showFetches(story, first)
  story.check(
    `the running boot stayed on ${older.release}: all digests are that release's`,
    isOf(first, older, 'x86_64'),
  )
  story.check(`${newest.release} is current now`, (await currentOf(stage, 'x86_64')) === newest.release)

  story.chapter('The next boot gets the new release, on both architectures')
  story.check(`x86_64 boots ${newest.release}`, isOf(await boot(stage, 'x86_64'), newest, 'x86_64'))
  story.check(
    `aarch64 boots ${newest.release}, its gzip kernel unpacked for iPXE`,
    isOf(await boot(stage, 'aarch64'), newest, 'aarch64'),
  )

  story.chapter(`A host pinned to ${oldest.release}, which the stream no longer names`)
  const pinned = await boot(stage, 'x86_64', { mac: pinnedMac })
  story.check(
    `it boots exactly ${oldest.release}, found through the release index`,
    isOf(pinned, oldest, 'x86_64'),
  )
  const explanation = await service.operations.explain({ mac: pinnedMac, arch: 'x86_64' })
  story.tell(`why: ${explanation.reasons.map(({ text }) => text).join('; ')}`)

  await tellAdminsPart(stage, oldest, newest)

  story.chapter('The upstream breaks: it answers 503 with a web page')
  upstream.setBroken(true)
  const broken = await service.operations.sync({})
  story.check('the refresh failed and says why', broken.streams[0]?.outcome === 'failed')
  story.tell(broken.streams[0]?.message ?? '')
  story.check('nodes boot all the same', isOf(await boot(stage, 'x86_64'), newest, 'x86_64'))
  story.check('the service is ready', (await service.operations.readiness()).ready)
  upstream.setBroken(false)

  story.chapter(`The stream is taken back to ${older.release}`)
  upstream.moveTo(older.release)
  await sync(stage)
  story.check(
    'one refresh alone does not take it back',
    (await currentOf(stage, 'x86_64')) === newest.release,
  )
  await sync(stage)
  story.check('a second one confirms it', (await currentOf(stage, 'x86_64')) === older.release)
  story.check(
    'nothing had to be fetched again',
    [...upstream.served.values()].every((count) => count === 1),
  )

  const isBareShown = stage.wire !== undefined && service.tftpAddresses().length > 0
  await tellWhatWasSeen(stage, {
    mac: isBareShown ? bareMac : pinnedMac,
    release: isBareShown ? older.release : oldest.release,
  })
}

/** From the first DHCP packet to the kernel. The machine's address comes from the site's DHCP server, as in real life. */
async function bootBareMachine(stage: DemoStage, release: SampleRelease): Promise<void> {
  const { story, service, loader, wire } = stage
  const tftpPort = service.tftpAddresses()[0]?.port
  if (wire === undefined || tftpPort === undefined) {
    story.tell('left out: this machine has no loopback that carries DHCP')
    return
  }
  const firmware = await startSimulatedFirmware({
    mac: bareMac,
    client: wire.client,
    dhcpServer: { address: '127.0.0.1', port: wire.ports.server },
    tftpPort,
  })
  const { offer, loaderOffer } = firmware
  story.check(
    `DISCOVER from UEFI x64: the offer names ${offer.bootFile} and leaves addresses to the site`,
    offer.bootFile === loader.name && offer.address === undefined && offer.vendorClass === 'PXEClient',
  )
  story.check(
    `TFTP brings ${loader.name} whole, ${loader.bytes.length} bytes in ${firmware.loader.milliseconds.toFixed(0)} ms`,
    firmware.loader.sha256 === loader.sha256,
  )
  const entry = `${service.bootUrl}/boot.ipxe`
  story.check(`DISCOVER from iPXE: the offer is ${loaderOffer.bootFile}`, loaderOffer.bootFile === entry)
  const booted = await boot(stage, 'x86_64', {
    mac: bareMac,
    baseUrl: (loaderOffer.bootFile ?? '').replace(/\/boot\.ipxe$/, ''),
  })
  showFetches(story, booted)
  story.check(`it boots ${release.release}: all digests are that release's`, isOf(booted, release, 'x86_64'))
}

async function sync({ service, story }: DemoStage): Promise<void> {
  const report = await service.operations.sync({})
  for (const { name, outcome, message, bootimages } of report.streams) {
    const ready = bootimages.filter(({ state }) => state === 'ready').length
    story.tell(`stream ${name}: ${message ?? outcome}, ${ready} of ${bootimages.length} bootimages ready`)
  }
}

async function currentOf({ service }: DemoStage, arch: Arch): Promise<string | undefined> {
  const [stream] = await service.operations.streams()
  return stream?.architectures.find((entry) => entry.arch === arch)?.current
}
