import { macWithHyphens } from '../core/mac.ts'
import type { Platform } from './client-architecture.ts'
import type { DhcpAdvice } from './dhcp-advice.ts'
import type { PxeClient } from './pxe-client.ts'
import { isLoop, nextStage, type Stage, type StageRecord } from './stage-memory.ts'

/** Loader binaries by what firmware can start; a platform without one is not answered. */
export type LoaderFiles = Readonly<Partial<Record<Platform, string>>>

/** Names under which TFTP and HTTP serve loaders when nothing else is configured. */
export const defaultLoaderFiles: LoaderFiles = {
  bios: 'undionly.kpxe',
  'efi-ia32': 'ipxe-ia32.efi',
  'efi-x64': 'snponly.efi',
  'efi-arm32': 'snponly-arm32.efi',
  'efi-arm64': 'snponly-arm64.efi',
  'efi-riscv64': 'snponly-riscv64.efi',
  'efi-loong64': 'snponly-loong64.efi',
  // The file that a Pi 3 asks for first; later models look for theirs whatever the offer says.
  'raspberry-pi': 'bootcode.bin',
}

export interface LadderConfig {
  /** `http://192.0.2.10:8080`, without a slash at the end. */
  readonly baseUrl: string
  readonly loaders: LoaderFiles
}

/** What a client is told to fetch next. */
export type HandOut =
  /** A loader by TFTP; the name has `/` separators and no URL scheme. */
  | { readonly kind: 'file'; readonly file: string }
  /** A loader by HTTP: an absolute URL of an `.efi`. */
  | { readonly kind: 'url'; readonly url: string }
  /** The entry script, for any iPXE. */
  | { readonly kind: 'script'; readonly url: string }
  /** A PXELINUX configuration, for firmware that is a loader itself: a TFTP name, or a URL. */
  | { readonly kind: 'config'; readonly file: string }
  | { readonly kind: 'nothing'; readonly reason: NoHandOutReason }

/** The file name or URL of what is handed out. */
export function targetOf(handOut: HandOut): string | undefined {
  switch (handOut.kind) {
    case 'file':
    case 'config':
      return handOut.file
    case 'url':
    case 'script':
      return handOut.url
    case 'nothing':
      return undefined
  }
}

export type NoHandOutReason =
  | 'decision-ignore'
  | 'local-boot-silent'
  | 'loader-missing'
  /** A loader was chosen that this firmware cannot start, and there is no other. */
  | 'loader-unfit'

export interface LadderStep {
  readonly handOut: HandOut
  /** To be kept for this client; what it was when nothing was handed out. */
  readonly memory: StageRecord | undefined
  /** With this step, the same stage has been asked for so often that it is a loop. */
  readonly startsLoop: boolean
}

export interface LadderInput {
  readonly client: PxeClient
  readonly advice: DhcpAdvice
  readonly config: LadderConfig
  readonly memory: StageRecord | undefined
  readonly xid: number
  readonly now: number
}

/**
 * One step of firmware → iPXE → script. Whoever built it, an iPXE gets the script URL: the script itself finds out
 * what this build lacks. A loop is told and still answered: silence would help no machine that has nothing else to boot.
 */
export function climbLadder({ client, advice, config, memory, xid, now }: LadderInput): LadderStep {
  const handOut = chooseHandOut(client, advice, config)
  const stage = stageOf(handOut)
  if (stage === undefined) return { handOut, memory, startsLoop: false }
  const next = nextStage(memory, stage, xid, now)
  return { handOut, memory: next, startsLoop: isLoop(next) && !isLoop(memory) }
}

export function chooseHandOut(client: PxeClient, advice: DhcpAdvice, config: LadderConfig): HandOut {
  if (advice.kind === 'ignore') return nothing('decision-ignore')
  if (advice.kind === 'local' && advice.method === 'dhcp-silent') return nothing('local-boot-silent')
  if (client.loader === 'ipxe') return { kind: 'script', url: `${config.baseUrl}/boot.ipxe` }
  if (client.fetch === 'config') return { kind: 'config', file: configName(client, config) }
  return chooseLoader(client, advice.loader, config)
}

/** A host may come as BIOS today and as UEFI tomorrow (166): the loader chosen for it counts where it can be started. */
function chooseLoader(
  client: PxeClient,
  chosen: string | undefined,
  { baseUrl, loaders }: LadderConfig,
): HandOut {
  const usual = loaders[client.platform]
  if (chosen === undefined && usual === undefined) return nothing('loader-missing')
  const file = ifStartable(client, chosen) ?? ifStartable(client, usual)
  if (file === undefined) return nothing('loader-unfit')
  return client.fetch === 'http' ? { kind: 'url', url: `${baseUrl}/loaders/${file}` } : { kind: 'file', file }
}

function ifStartable(client: PxeClient, name: string | undefined): string | undefined {
  // shim and GRUB split their own name at `/` to find their second stage (26).
  const file = name?.replaceAll('\\', '/')
  return file !== undefined && canStart(client, file) ? file : undefined
}

/** HTTP Boot and UEFI take `.efi` alone; nothing else takes that. TFTP-only firmware never gets a URL (52). */
function canStart({ platform, fetch }: PxeClient, file: string): boolean {
  const isEfi = file.toLowerCase().endsWith('.efi')
  const wantsEfi = platform.startsWith('efi-') || fetch === 'http'
  return isEfi === wantsEfi && !file.includes('://')
}

/** U-Boot adds the directory of `file` to names, so it gets a whole name in option 209 and an empty `file`. */
function configName({ macs: [mac], platform }: PxeClient, { baseUrl }: LadderConfig): string {
  const name = `pxelinux.cfg/${mac === undefined ? 'default' : `01-${macWithHyphens(mac)}`}`
  return platform === 'opal' ? `${baseUrl}/${name}` : name
}

function stageOf({ kind }: HandOut): Stage | undefined {
  if (kind === 'nothing') return undefined
  return kind === 'file' || kind === 'url' ? 'loader' : kind
}

function nothing(reason: NoHandOutReason): HandOut {
  return { kind: 'nothing', reason }
}
