import { expect, it } from 'vitest'
import { reasonTexts } from '../../src/core/reason.ts'
import { scriptText } from '../../src/render/script-text.ts'

it.each(Object.entries(reasonTexts))('G10 %s can stand in a script word for word', (_, text) => {
  const filled = text.replace(/\{\w+\}/g, 'x')
  expect(scriptText(filled)).toBe(filled)
})
