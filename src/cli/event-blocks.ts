/** A block of lines of an event stream; one with an id alone only says which place was reached. */
export interface EventBlock {
  readonly id?: string
  readonly event?: string
  readonly data?: string
}

/** Far above what an event of ours has. */
const longestBlock = 1_048_576

/**
 * Reads `text/event-stream` (WHATWG HTML §9.2.5) as it comes, in pieces of any size. What a lost connection leaves
 * unfinished is dropped.
 * @throws Error for a block that has no end
 */
export function createBlockReader(): (piece: string) => readonly EventBlock[] {
  let rest = ''
  return (piece) => {
    rest += piece
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > longestBlock) throw new Error('an event is longer than any of ours')
    return blocks.map(readBlock)
  }
}

function readBlock(text: string): EventBlock {
  const fields: Partial<Record<'id' | 'event' | 'data', string>> = {}
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^(id|event|data)(?:: ?(.*))?$/.exec(line) ?? []
    if (name === 'data' && fields.data !== undefined) fields.data = `${fields.data}\n${value}`
    else if (name === 'id' || name === 'event' || name === 'data') fields[name] = value
  }
  return fields
}
