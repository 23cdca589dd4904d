import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../src/core/errors.ts'
import { fromPlainError, toPlainError } from '../../src/core/plain-error.ts'

describe('errors as data', () => {
  it('keep code, message, details and causes', () => {
    const cause = Object.assign(new Error('no space'), { code: 'ENOSPC' })
    const error = new ServiceError('SPACE_INSUFFICIENT', 'full', { neededBytes: 5, gone: undefined }, cause)
    const back = fromPlainError(structuredClone(toPlainError(error)))
    expect(back).toBeInstanceOf(ServiceError)
    expect(back).toMatchObject({ code: 'SPACE_INSUFFICIENT', message: 'full', details: { neededBytes: 5 } })
    expect(back.cause).toMatchObject({ code: 'ENOSPC', message: 'no space' })
  })

  it('that lead in a circle come to an end', () => {
    const error = new Error('round')
    error.cause = error
    expect(fromPlainError(toPlainError(error)).message).toBe('round')
  })

  it('of any other kind stay errors', () => {
    expect(fromPlainError(toPlainError('just text'))).toMatchObject({ message: 'just text' })
    expect(fromPlainError(toPlainError(Object.assign(new Error('x'), { code: 'EODD' })))).toMatchObject({
      code: 'EODD',
    })
  })
})
