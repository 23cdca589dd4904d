import type { AttemptFacts, DhcpRun } from '../boot-attempts/attempt-facts.ts'
import { isInPassing } from '../boot-attempts/in-passing.ts'
import { reached } from '../boot-attempts/journey.ts'
import { visibleText } from '../visible-text.ts'
import type { BootPattern, Finding, PatternContext } from './pattern.ts'

/** EDK2 asks four times with one transaction id before it gives up. */
const wholeRun = 4
/** Its fourth wait is its longest, 32 s; it may still take an offer in it. */
const lastWaitMs = 35_000
/** From the ACK of the site's DHCP server to the first byte that is fetched; ROMs ask port 4011 for 10 s before they give up. */
const afterAckMs = 45_000

/** A run of DHCP that got our offer and led to nothing yet; `undefined` once anything was fetched. */
function idleRun(facts: AttemptFacts, { isOver, isKnown }: PatternContext): DhcpRun | undefined {
  const { journey, run } = facts
  if (isOver || run === undefined || journey.level > reached.nothing || isInPassing(facts, isKnown))
    return undefined
  return run.decision === 'local' || run.decision === 'ignore' ? undefined : run
}

/** It was offered a boot, and neither took it nor an address of somebody else. */
function wasLeftAlone(run: DhcpRun, { quietMs, limitMs }: PatternContext): boolean {
  if (run.offers === 0 || run.acknowledged > 0 || run.chosen !== undefined) return false
  return quietMs >= limitMs || (run.offers >= wholeRun && quietMs >= lastWaitMs)
}

function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`
}

function targetText({ target }: DhcpRun): string {
  return target === undefined ? 'a boot' : visibleText(target, 120)
}

export const offersNotMerged: BootPattern = {
  info: {
    code: 'offers-not-merged',
    title: 'Two offers and none taken',
    text: "The firmware got an address offer from the site's DHCP server and a boot offer from here, took neither, and asked again.",
    remedy:
      "Its firmware does not join two offers: put the boot options into the site's own DHCP server (next-server: the address of this service; file name: the loader that is offered here), or let this service give the addresses (boot.dhcp.mode: server).",
    cases: [5],
  },
  match(facts, context) {
    const run = idleRun(facts, context)
    const { addressServer } = context
    if (run?.role !== 'proxy' || addressServer === undefined || !wasLeftAlone(run, context)) return undefined
    return {
      text: `It was offered ${targetText(run)} ${times(run.offers)} and took nothing, though ${visibleText(addressServer, 60)} gives addresses here to other machines.`,
      at: run.lastAt,
    }
  },
}

export const offerNotFollowed: BootPattern = {
  info: {
    code: 'offer-not-followed',
    title: 'Offer not followed up',
    text: 'The firmware asked, got an offer from here, and neither took an address nor fetched anything.',
    remedy:
      'See that a DHCP server gives addresses in its network segment and that answers reach it (VLAN, relay, spanning tree: portfast). UEFI of 2014 to 2017 drops direct offers: set dhcpStyle: binl for the host.',
    cases: [4, 5, 7, 50],
  },
  match(facts, context) {
    const run = idleRun(facts, context)
    if (run === undefined) return undefined
    return leftAlone(run, context) ?? tookAddressOnly(run, context) ?? fetchedNothing(run, context)
  },
}

function leftAlone(run: DhcpRun, context: PatternContext): Finding | undefined {
  if (!wasLeftAlone(run, context)) return undefined
  const text = `It was offered ${targetText(run)} ${times(run.offers)} and did not follow.`
  if (run.role === 'server') {
    return {
      text,
      remedy:
        'Our answers do not reach it, or it does not like them: look at the VLAN of its port, at spanning tree (portfast) and at the relay, and at its packets with pilotlight capture. Firmware that waits for something else says so on its screen.',
      at: run.lastAt,
    }
  }
  return {
    text: `${text} No other DHCP server was seen to give it an address.`,
    remedy: `A proxy gives no addresses: see that a DHCP server does in this segment, or let this service do it (boot.dhcp.mode: server). Where one does, its UEFI drops this style of offer: set dhcpStyle: binl for ${context.name}.`,
    at: run.lastAt,
  }
}

function tookAddressOnly(run: DhcpRun, { quietMs, name }: PatternContext): Finding | undefined {
  const { chosen, via, acknowledged, chosenAt } = run
  if (chosen === undefined || via === 'http' || acknowledged > 0 || quietMs < afterAckMs) return undefined
  return {
    text: `It took the address of ${visibleText(chosen, 60)} and then fetched nothing here, though it was offered ${targetText(run)}.`,
    remedy: `The DHCP server ${visibleText(chosen, 60)} may name a boot file itself, which wins: take next-server, file name and options 43, 60, 66 and 67 out of it, or let them name this service. Old UEFI drops this style of offer: set dhcpStyle: binl for ${name}.`,
    at: chosenAt ?? run.lastAt,
  }
}

function fetchedNothing(run: DhcpRun, { quietMs, limitMs }: PatternContext): Finding | undefined {
  if (run.acknowledged === 0 || run.askedTypeZero > 0 || quietMs < limitMs) return undefined
  const port = run.via === 'http' ? 'TCP port of boot.http' : 'UDP port 69'
  return {
    text: `It was told to fetch ${targetText(run)}, and nothing of that arrived here.`,
    remedy: `See that it reaches this service by ${run.via === 'http' ? 'HTTP' : 'TFTP'} (${port}, firewall, routes; answers must come from the address that it asked). pilotlight doctor fetches every loader itself.`,
    at: run.lastAt,
  }
}

export const bootServerTypeZero: BootPattern = {
  info: {
    code: 'boot-server-type-zero',
    title: 'Asks port 4011 for type 0',
    text: 'The ROM asks port 4011 for a boot server of type 0, gets the boot file, and does not fetch it.',
    remedy:
      "Another DHCP server sends a PXE menu or discovery options: take options 43 and 60 out of the site's DHCP server, so that the offer from here is the only one with boot options.",
    cases: [7, 19, 21],
  },
  match(facts, context) {
    const run = idleRun(facts, context)
    if (run === undefined || run.askedTypeZero === 0 || context.quietMs < afterAckMs) return undefined
    return {
      text: `It asked port 4011 for boot server type 0 ${times(run.askedTypeZero)}, was told ${targetText(run)}, and did not fetch it.`,
      at: run.lastAt,
    }
  },
}

export const httpClientWithoutUrl: BootPattern = {
  info: {
    code: 'http-client-without-url',
    title: 'HTTP Boot without an URL',
    text: 'The firmware boots by HTTP, took the offer of another DHCP server, and fetched nothing by HTTP: it got no URL there, or a TFTP name.',
    remedy:
      "Let the site's DHCP server send no boot options to clients whose class begins with HTTPClient, or an absolute http:// URL of this service with option 60 HTTPClient. PXE (IPv4) in the firmware's boot menu works too.",
    cases: [51, 52],
  },
  match(facts, context) {
    const run = idleRun(facts, context)
    if (run?.via !== 'http' || run.chosen === undefined || run.acknowledged > 0) return undefined
    if (context.quietMs < afterAckMs) return undefined
    return {
      text: `It boots by HTTP and took the offer of ${visibleText(run.chosen, 60)}; ${targetText(run)} was not fetched.`,
      at: run.chosenAt ?? run.lastAt,
    }
  },
}
