import { expect, test } from 'vitest'
import { cutText, wrapText } from '../../../src/cli/output/wrap.ts'

test('a sentence is broken between words', () => {
  expect(wrapText('what keeps machines from booting', 14)).toEqual(['what keeps', 'machines from', 'booting'])
})

test('a word that is too long is cut, and nothing is lost', () => {
  expect(wrapText('a 0123456789ab b', 5)).toEqual(['a', '01234', '56789', 'ab b'])
})

test.each([0, -3, 1])('a width of %d still makes lines', (width) => {
  expect(wrapText('ab c', width)).toEqual(['a', 'b', 'c'])
})

test('no text is one empty line', () => {
  expect(wrapText('', 10)).toEqual([''])
})

test('characters count, not their bytes', () => {
  expect(cutText('äöü', 3)).toBe('äöü')
  expect(cutText('äöüß', 3)).toBe('äö…')
  expect(cutText('😀😀', 1)).toBe('…')
  expect(cutText('ab', 0)).toBe('')
})
