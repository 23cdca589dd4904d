import type { RenderContext, ScriptToken } from './renderer.ts'

/** What differs from boot to boot, so that a script without it can be kept. */
type Gap = 'boot-id' | ScriptToken

/** A rendered script, cut at every place where such a thing stands: one text more than there are gaps. */
export interface CutScript {
  readonly texts: readonly string[]
  readonly gaps: readonly Gap[]
  /** Every gap is for the boot id, as in most scripts. */
  readonly isPlain: boolean
}

/**
 * The stand-in that scripts are rendered with. A boot id is random, so this one comes up once in 2^132 boots, and then
 * only that boot's transfers would not be told apart.
 */
export const bootIdStandIn = '-'.repeat(22)

/** Stand-ins for tokens, of the length of a token; they open nothing. */
export const tokenStandIns: Readonly<Record<ScriptToken, string>> = {
  ignition: `${'_'.repeat(55)}_ignition`,
  installer: `${'_'.repeat(54)}_installer`,
}

const gapOf: ReadonlyMap<string, Gap> = new Map<string, Gap>([
  [bootIdStandIn, 'boot-id'],
  [tokenStandIns.ignition, 'ignition'],
  [tokenStandIns.installer, 'installer'],
])
const anyStandIn = new RegExp(`(${[...gapOf.keys()].join('|')})`)

export function cutScript(text: string): CutScript {
  const parts = text.split(anyStandIn)
  const gaps: Gap[] = []
  for (let index = 1; index < parts.length; index += 2) gaps.push(gapOf.get(parts[index] ?? '') ?? 'boot-id')
  return {
    texts: parts.filter((_, index) => index % 2 === 0),
    gaps,
    isPlain: gaps.every((gap) => gap === 'boot-id'),
  }
}

/** The script of one boot. A token is asked for only where one stands, once for each purpose. */
export function joinScript({ texts, gaps, isPlain }: CutScript, context: RenderContext): string {
  const { bootId, token } = context
  if (isPlain) return texts.join(bootId)
  const minted = new Map<ScriptToken, string>()
  const fill = (gap: Gap): string => {
    if (gap === 'boot-id') return bootId
    const known = minted.get(gap) ?? token?.(gap) ?? tokenStandIns[gap]
    minted.set(gap, known)
    return known
  }
  return texts.map((text, index) => (index === 0 ? text : fill(gaps[index - 1] ?? 'boot-id') + text)).join('')
}
