import type { ClientFollower } from './client-follower.ts'
import type { DecideForDhcp, DhcpAdvice } from './dhcp-advice.ts'
import type { Exchange } from './exchange.ts'
import { climbLadder, type HandOut, type LoaderFiles } from './loader-ladder.ts'
import { messageType } from './option-codes.ts'
import { type PxeClient, type PxeClientResult, readPxeClient } from './pxe-client.ts'

/** One step of a boot: who asks, what was decided, and what it is told to fetch. */
export interface BootStep {
  readonly client: PxeClient
  readonly advice: DhcpAdvice
  readonly handOut: HandOut
}

export interface BootSteps {
  /** Decides for a boot client, and remembers how far it has come. */
  take(exchange: Exchange, client: PxeClient): BootStep
  /** Who asks an address server: what the packet says, or for a REQUEST that says nothing, its DISCOVER. */
  recognise(exchange: Exchange): PxeClientResult
}

export function createBootSteps({
  decide,
  loaders,
  follower,
}: {
  readonly decide: DecideForDhcp
  readonly loaders: LoaderFiles
  readonly follower: ClientFollower
}): BootSteps {
  return {
    take(exchange, client) {
      const { packet, server, now } = exchange
      exchange.client = client
      const advice = decide(client)
      const memory = follower.stageOf(exchange)
      const config = { baseUrl: server.baseUrl, loaders }
      const step = climbLadder({ client, advice, config, memory, xid: packet.xid, now })
      if (step.memory !== undefined && step.memory !== memory) follower.noteStage(exchange, step.memory)
      if (step.startsLoop) follower.tell(exchange, { type: 'loop-suspected', handOut: step.handOut.kind })
      if (client.mismatch)
        follower.tell(exchange, { type: 'client-contradicts-itself', mismatch: client.mismatch })
      return { client, advice, handOut: step.handOut }
    },
    recognise(exchange) {
      const { packet, mac } = exchange
      const result = readPxeClient(packet, mac)
      if (packet.messageType === messageType.discover) {
        follower.noteDiscover(exchange, result.client)
        return result
      }
      if (result.client || packet.messageType !== messageType.request) return result
      // Old Raspberry Pi ROMs say what they are in the DISCOVER alone (field case 42).
      const client = follower.discovererOf(exchange)
      return client === undefined ? result : { client }
    },
  }
}
