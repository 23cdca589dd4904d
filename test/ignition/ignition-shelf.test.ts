import { describe, expect, it } from 'vitest'
import { createIgnitionShelf } from '../../src/ignition/ignition-shelf.ts'

const text = (name: string) => `{"ignition":{"version":"3.0.0"},"x":"{{ host }} ${name}"}`

describe('configs that were read', () => {
  it('are read once, as a template and as they are', () => {
    const shelf = createIgnitionShelf()
    const config = shelf.configOf(text('a'), true)
    expect(shelf.configOf(text('a'), true)).toBe(config)
    expect(shelf.configOf(text('a'), false)).not.toBe(config)
    expect(shelf.configOf('{', true)).toBeUndefined()
  })

  it('are forgotten when they are too many', () => {
    const shelf = createIgnitionShelf(2 * text('a').length)
    const first = shelf.configOf(text('a'), true)
    shelf.configOf(text('b'), true)
    expect(shelf.configOf(text('a'), true)).toBe(first)
    shelf.configOf(text('c'), true)
    expect(shelf.configOf(text('a'), true)).not.toBe(first)
  })
})
