import { bytesText, durationText, partText } from '../boot-attempts/amounts.ts'
import type { AttemptFacts, FileFacts } from '../boot-attempts/attempt-facts.ts'
import { reached } from '../boot-attempts/journey.ts'
import type { BootPattern } from './pattern.ts'

/** A live system looks at the rootfs and fetches it at once; it tries again every five seconds. */
const lookedForMs = 45_000
const fewestLooks = 3
/** curl tries again within half a minute. */
const resumesMs = 30_000
const resumesSoonMs = 10_000

function needsRootfs({ decision }: AttemptFacts): boolean {
  return decision?.files?.includes('rootfs') ?? true
}

function isUntouched(file: FileFacts | undefined): boolean {
  return file === undefined || (file.heads === 0 && isUnfetched(file))
}

function isUnfetched(file: FileFacts): boolean {
  return file.wholes === 0 && file.cuts === 0 && !file.isOpen && file.reachedBytes === 0
}

export const silentAfterKernel: BootPattern = {
  info: {
    code: 'silent-after-kernel',
    title: 'Kernel fetched, then silence',
    text: 'Kernel and initramfs went out whole, and the system in them never asked for its rootfs.',
    remedy:
      'Look at its console. "Unable to mount root fs" or "unknown-block(0,0)": the initramfs was not found; UEFI needs initrd=main among the kernel arguments. "Ran out of memory when unpacking initrd" or nothing at all: it needs 2 GiB of memory, 4 GiB for RHCOS of 4.19 and later. No console at all: name it last among the kernel arguments (console=ttyS0,115200n8). Running but silent: no network in the initramfs (rd.neednet=1 ip=dhcp, bonds and VLANs must be given as kernel arguments).',
    cases: [110, 129, 138],
  },
  match(facts, context) {
    const { journey, files } = facts
    if (context.isOver || context.quietMs < context.limitMs) return undefined
    const kernel = files.get('kernel')
    if (kernel === undefined || kernel.wholes === 0 || kernel.isOpen) return undefined
    if (!isUntouched(files.get('rootfs')) || facts.ignitionAt !== undefined) return undefined
    if (journey.level === reached.kernel && needsRootfs(facts)) {
      return {
        text: `Kernel and initramfs went out whole, and it did not ask for its rootfs in the ${durationText(context.quietMs)} after that.`,
        at: facts.lastAt,
      }
    }
    if (journey.level !== reached.files || files.get('initramfs') !== undefined) return undefined
    return {
      text: `Its kernel went out whole, and it did not ask for the initramfs in the ${durationText(context.quietMs)} after that.`,
      remedy:
        'Look at its screen: the loader could not start the kernel, or does not know initrd. A loader of another kind may (loader: of the host; pilotlight loaders); with Secure Boot the kernel must be signed for the shim.',
      at: facts.lastAt,
    }
  },
}

export const rootfsOnlyLookedAt: BootPattern = {
  info: {
    code: 'rootfs-only-looked-at',
    title: 'Rootfs looked at, never fetched',
    text: 'The system asks for the size of its rootfs (HEAD) again and again and does not fetch it.',
    remedy:
      'The initramfs has no steady network: the answers do not reach it. Give the card and the method as kernel arguments (rd.neednet=1 ip=<card>:dhcp, or a static ip=), and look at MTU, bonding (LACP) and VLAN of its switch port. Its console says "Couldn\'t establish connectivity with the server".',
    cases: [87, 128],
  },
  match({ files }, context) {
    const rootfs = files.get('rootfs')
    if (context.isOver || rootfs === undefined || rootfs.heads === 0 || !isUnfetched(rootfs)) return undefined
    const { heads, firstHeadAt = rootfs.startedAt, lastHeadAt = rootfs.lastAt } = rootfs
    const looksOn = heads >= fewestLooks && lastHeadAt - firstHeadAt >= lookedForMs
    if (!looksOn && context.quietMs < context.limitMs) return undefined
    return {
      text: `It looked at the rootfs ${heads === 1 ? 'once' : `${heads} times`} and fetched none of it.`,
      at: firstHeadAt,
    }
  },
}

export const rootfsCutOff: BootPattern = {
  info: {
    code: 'rootfs-cut-off',
    title: 'Rootfs cut off',
    text: 'The transfer of the rootfs ended before its last byte and did not go on.',
    remedy:
      'Its memory may be full: a live system needs room for the rootfs (4 GiB of memory are plenty). If others break off too, look at the network: MTU, duplex, a firewall that ends long connections. "hash mismatch" on its console: kernel, initramfs and rootfs are not of one release; let it boot again.',
    cases: [130, 138],
  },
  match({ files }, context) {
    const rootfs = files.get('rootfs')
    if (context.isOver || rootfs === undefined || rootfs.wholes > 0 || rootfs.isOpen) return undefined
    if (rootfs.cuts === 0) return undefined
    if (context.quietMs < (rootfs.cuts > 1 ? resumesSoonMs : resumesMs)) return undefined
    const { reachedBytes, totalBytes, cuts, cutAt = rootfs.lastAt } = rootfs
    const place = totalBytes === undefined ? bytesText(reachedBytes) : partText(reachedBytes, totalBytes)
    return {
      text: `The rootfs broke off at ${place}${cuts > 1 ? `, for the ${ordinal(cuts)} time` : ''}, and nothing went on.`,
      at: cutAt,
    }
  },
}

function ordinal(count: number): string {
  const last = count % 10
  const isTeen = count % 100 >= 11 && count % 100 <= 13
  const ending = isTeen ? 'th' : last === 1 ? 'st' : last === 2 ? 'nd' : last === 3 ? 'rd' : 'th'
  return `${count}${ending}`
}
